# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The controls that only a simulation in this process has: path, speed, hand, payload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.poses import pose_from_rpy, rpy_from_pose
from robodyn.view.controls import Coordinates
from robodyn.view.live import BY_HAND
from robodyn.view.payload import moving_mass

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.view.live import LiveSimulation
    from robodyn.view.page import Page
    from robodyn.view.snapshot import Snapshot


ANGLE = 45.0


class LiveControls:
    """Adds the controls of a live simulation to a page, and keeps them up to date.

    Attributes:
        handles: viser's, by what they are for.
    """

    def __init__(self, page: Page, live: LiveSimulation) -> None:
        gui = page.gui
        self._page, self._live = page, live
        with gui.add_folder("Path"):
            path = gui.add_dropdown("Fly", (*live.paths, BY_HAND), initial_value=live.path)
            repeat = gui.add_checkbox("Repeat", live.repeat)
            speed = gui.add_slider("Speed", 0.1, 3.0, 0.1, min(max(live.speed, 0.1), 3.0))
        self._coordinates = _coordinates(gui, live)
        with gui.add_folder("Payload"):
            share = 2.0 if live.mechanism.kind == "stewart" else 0.25
            most = float(np.ceil(share * moving_mass(live.mechanism)))
            payload = gui.add_slider("Mass [kg]", 0.0, most, most / 100.0, 0.0)
            known = gui.add_checkbox(
                "Known", True, hint="whether the controller's model has the payload, too"
            )
        self.handles: dict[str, Any] = {
            "path": path,
            "repeat": repeat,
            "speed": speed,
            "payload": payload,
            "known": known,
            "coordinates": self._coordinates.sliders,
        }
        self._shown = ""
        self._connect()

    def update(self, snapshot: Snapshot) -> None:
        """Follow what the simulation does by itself; called some times a second."""
        live = self._live
        if live.path != self._shown:
            self._shown = live.path
            self.handles["path"].value = live.path
            self._page.scene.plan(live.body_poses)
        if live.path != BY_HAND:
            self._coordinates.show(snapshot)

    def _connect(self) -> None:
        live, handles = self._live, self.handles

        @handles["path"].on_update  # type: ignore[untyped-decorator]
        def _(event: Any) -> None:
            if event.client is not None:
                live.choose(event.target.value)

        @handles["repeat"].on_update  # type: ignore[untyped-decorator]
        def _(event: Any) -> None:
            live.repeat = event.target.value

        @handles["speed"].on_update  # type: ignore[untyped-decorator]
        def _(event: Any) -> None:
            live.speed = event.target.value

        def load(_: Any) -> None:
            live.set_payload(handles["payload"].value, handles["known"].value)

        handles["payload"].on_update(load)
        handles["known"].on_update(load)


def _coordinates(gui: Any, live: LiveSimulation) -> Coordinates:
    mechanism = live.mechanism
    if mechanism.kind != "stewart":
        limits = np.clip(mechanism.position_limits, -np.pi, np.pi)
        kinds = [joint.kind for joint in mechanism.model.joints]  # type: ignore[attr-defined]
        turns = np.array([kind != "prismatic" for kind in kinds])
        unit = np.where(turns, 180.0 / np.pi, 1.0)
        labels = tuple(f"{i} [{'°' if turn else 'm'}]" for i, turn in enumerate(turns, start=1))
        return Coordinates(
            gui,
            labels,
            limits[:, 0] * unit,
            limits[:, 1] * unit,
            lambda values: live.steer(values / unit),
            lambda snapshot: snapshot.configuration * unit,
        )

    def values_of(pose: FloatArray) -> FloatArray:
        xyz, rpy = rpy_from_pose(pose)
        return np.concatenate([xyz, np.rad2deg(rpy)], axis=-1)

    reach = 0.5 * mechanism.size
    places = [mechanism.home[None]]
    places += [
        path.sample(np.linspace(0.0, path.duration, 20)).configuration
        for path in live.paths.values()
    ]
    seen = values_of(np.concatenate(places))
    margin = np.array([reach] * 3 + [ANGLE] * 3)
    home = values_of(mechanism.home)
    return Coordinates(
        gui,
        ("x [m]", "y [m]", "z [m]", "roll [°]", "pitch [°]", "yaw [°]"),
        np.floor(10.0 * np.minimum(seen.min(axis=0), home - margin)) / 10.0,
        np.ceil(10.0 * np.maximum(seen.max(axis=0), home + margin)) / 10.0,
        lambda values: live.steer(pose_from_rpy(values[:3], np.deg2rad(values[3:]))),
        lambda snapshot: values_of(snapshot.configuration),
    )
