# SPDX-License-Identifier: Apache-2.0

"""Controls of a simulation in this process: path, speed, motion by hand, payload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.view.controls import Coordinates
from robodyn.view.live import BY_HAND

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.view.live import LiveSimulation
    from robodyn.view.page import Page
    from robodyn.view.snapshot import Snapshot


# Range of the sliders about home: degrees of angles, sizes of the mechanism.
ANGLE, REACH = 45.0, 0.5


class LiveControls:
    """Adds the controls of a live simulation to a page, and keeps them up to date.

    Attributes:
        handles: viser's handles by name.
    """

    def __init__(self, page: Page, live: LiveSimulation) -> None:
        gui = page.gui
        self._page, self._live = page, live
        with gui.add_folder("Path"):
            path = gui.add_dropdown("Follow", (*live.paths, BY_HAND), initial_value=live.path)
            repeat = gui.add_checkbox("Repeat", live.repeat)
            speed = gui.add_slider("Speed", 0.1, 3.0, 0.1, min(max(live.speed, 0.1), 3.0))
        self._coordinates = _coordinates(gui, live)
        with gui.add_folder("Payload"):
            most = float(np.ceil(live.mechanism.largest_payload))
            payload = gui.add_slider("Mass [kg]", 0.0, most, most / 100.0, 0.0)
            known = gui.add_checkbox(
                "Known", True, hint="whether the controller's model includes the payload"
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
        """Show the state of the simulation; called a few times a second."""
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
    """Sliders of the position variables, angles in degrees."""
    mechanism = live.mechanism
    variables = mechanism.variables.items()
    units = {name: each.unit for name, each in variables if each.role == "position"}
    scale = np.array([180.0 / np.pi if unit == "rad" else 1.0 for unit in units.values()])
    named = mechanism.coordinates.is_pose
    labels = tuple(
        f"{name if named else number} [{'°' if unit == 'rad' else 'm'}]"
        for number, (name, unit) in enumerate(units.items(), start=1)
    )
    low, high = _ranges_about_home(live, scale) if named else _joint_ranges(mechanism, scale)
    return Coordinates(
        gui,
        labels,
        low,
        high,
        lambda values: live.steer(mechanism.configuration_of(values / scale)),
        lambda snapshot: mechanism.values_of(snapshot.configuration) * scale,
    )


def _joint_ranges(mechanism: Mechanism, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The limits of the independent joints, half a turn or 3 m at most, as of those not driven."""
    known = dict(zip(mechanism.joint_names, mechanism.position_limits, strict=True))
    free = np.array([-np.inf, np.inf])
    ends = np.array([known.get(name, free) for name in mechanism.independent_joints])
    limits = np.clip(ends, -np.pi, np.pi)
    return limits[:, 0] * scale, limits[:, 1] * scale


def _ranges_about_home(live: LiveSimulation, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What the paths need, and at least a range about home."""
    mechanism = live.mechanism
    places = [mechanism.home[None]]
    places += [
        path.sample(np.linspace(0.0, path.duration, 20)).configuration
        for path in live.paths.values()
    ]
    seen = mechanism.values_of(np.concatenate(places)) * scale
    margin = np.where(scale == 1.0, REACH * mechanism.size, ANGLE)
    home = mechanism.values_of(mechanism.home) * scale
    return (
        np.floor(10.0 * np.minimum(seen.min(axis=0), home - margin)) / 10.0,
        np.ceil(10.0 * np.maximum(seen.max(axis=0), home + margin)) / 10.0,
    )
