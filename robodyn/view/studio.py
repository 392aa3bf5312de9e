# SPDX-License-Identifier: Apache-2.0

"""Complete pages with controls for a simulation in real time and for a recording."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.presentation import Figure, presentation
from robodyn.view.live import BY_HAND, LiveSimulation
from robodyn.view.page import ViewerPage
from robodyn.view.replay import Replay
from robodyn.view.snapshot import Snapshot

# Range of the sliders about home: angles in degrees, lengths relative to the mechanism's size.
ANGLE, REACH = 45.0, 0.5


def open_studio(
    server: Any, live: LiveSimulation, figure: Figure
) -> tuple[ViewerPage, LiveControls]:
    """Create a page with controls for a simulation in real time.

    The caller starts page and simulation.

    Args:
        server: server of the page.
        live: simulation to show and to control.
        figure: figure of the mechanism.

    Returns:
        The page and its controls.
    """
    page = ViewerPage(server, live.mechanism, figure, live)
    controls = LiveControls(page, live)
    page.add_push(live.push)
    page.add_listener(controls.update)
    return page, controls


def open_projector(server: Any, recording: Replay, figure: Figure) -> ViewerPage:
    """Create a page that plays a recording, with controls for speed and time.

    The caller starts the page.

    Args:
        server: server of the page.
        recording: playback to show.
        figure: figure of the mechanism.

    Returns:
        The page.
    """
    page = ViewerPage(server, recording.mechanism, figure, recording)
    with page.gui.add_folder("Recording"):
        _add_speed(page.gui, recording)
        where = page.gui.add_slider("Time [s]", 0.0, max(recording.duration, 0.01), 0.01, 0.0)
    start = recording.snapshot().time

    @where.on_update  # type: ignore[untyped-decorator]
    def _(event: Any) -> None:
        if event.client is not None:
            recording.seek(event.target.value)

    def show(snapshot: Snapshot) -> None:
        where.value = round(snapshot.time - start, 2)

    page.add_listener(show)
    page.update()
    page.scene.plan(recording.body_poses)
    return page


def _add_speed(gui: Any, source: LiveSimulation | Replay) -> Any:
    slider = gui.add_slider("Speed", 0.1, 3.0, 0.1, min(max(source.speed, 0.1), 3.0))

    @slider.on_update  # type: ignore[untyped-decorator]
    def _(event: Any) -> None:
        source.speed = event.target.value

    return slider


class LiveControls:
    """Controls of a simulation on a page: path, speed, manual motion, payload.

    Attributes:
        sliders: viser's sliders of the position variables; angles in degrees.
    """

    def __init__(self, page: ViewerPage, live: LiveSimulation) -> None:
        gui, mechanism = page.gui, live.mechanism
        self._page, self._live, self._shown = page, live, ""
        with gui.add_folder("Path"):
            self._path = gui.add_dropdown("Follow", (*live.paths, BY_HAND), initial_value=live.path)
            repeat = gui.add_checkbox("Repeat", live.repeat)
            _add_speed(gui, live)
        variables = presentation.variables(mechanism).items()
        units = {name: each.unit for name, each in variables if each.role == "position"}
        self._scale = np.array([180.0 / np.pi if unit == "rad" else 1.0 for unit in units.values()])
        named = mechanism.coordinates.is_pose
        self._low, self._high = (_ranges_about_home if named else _joint_ranges)(live, self._scale)
        labels = (
            f"{name if named else number} [{'°' if unit == 'rad' else 'm'}]"
            for number, (name, unit) in enumerate(units.items(), start=1)
        )
        with gui.add_folder("Move by hand"):
            self.sliders = [
                gui.add_slider(label, float(a), float(b), _step(b - a), float(0.5 * (a + b)))
                for label, a, b in zip(labels, self._low, self._high, strict=True)
            ]
        with gui.add_folder("Payload"):
            most = float(np.ceil(presentation.largest_payload(mechanism)))
            payload = gui.add_slider("Mass [kg]", 0.0, most, most / 100.0, 0.0)
            known = gui.add_checkbox(
                "In the model", True, hint="whether the controller's model includes the payload"
            )

        @self._path.on_update  # type: ignore[untyped-decorator]
        def _(event: Any) -> None:
            if event.client is not None:
                live.choose(event.target.value)

        @repeat.on_update  # type: ignore[untyped-decorator]
        def _(event: Any) -> None:
            live.repeat = event.target.value

        def steer(event: Any) -> None:
            if event.client is not None:
                values = np.array([slider.value for slider in self.sliders])
                live.steer(presentation.configuration_of(mechanism, values / self._scale))

        def load(_: Any) -> None:
            live.set_payload(payload.value, known.value)

        for slider in self.sliders:
            slider.on_update(steer)
        payload.on_update(load)
        known.on_update(load)

    def update(self, snapshot: Snapshot) -> None:
        """Move the controls to the state of the simulation.

        The page calls this ten times a second.
        """
        live = self._live
        if live.path != self._shown:
            self._shown = self._path.value = live.path
            self._page.scene.plan(live.body_poses)
        if live.path == BY_HAND:
            return
        values = presentation.values_of(live.mechanism, snapshot.configuration) * self._scale
        values = np.clip(values, self._low, self._high)
        for slider, value in zip(self.sliders, values, strict=True):
            if abs(slider.value - value) >= 0.5 * slider.step:
                slider.value = round(float(value) / slider.step) * slider.step


def _joint_ranges(live: LiveSimulation, scale: FloatArray) -> FloatArray:
    """Return slider ranges (2, n): the joint limits, clipped to +/- pi [rad or m]."""
    mechanism = live.mechanism
    known = dict(zip(mechanism.joint_names, mechanism.position_limits, strict=True))
    free = np.array([-np.inf, np.inf])
    ends = np.array([known.get(name, free) for name in mechanism.independent_joints])
    return np.asarray(np.clip(ends, -np.pi, np.pi).T * scale)


def _ranges_about_home(live: LiveSimulation, scale: FloatArray) -> FloatArray:
    """Return slider ranges (2, n) that cover all paths and a neighborhood of home."""
    mechanism = live.mechanism
    places = [mechanism.home[None]]
    places += [
        path.sample(np.linspace(0.0, path.duration, 20)).configuration
        for path in live.paths.values()
    ]
    seen = presentation.values_of(mechanism, np.concatenate(places)) * scale
    margin = np.where(scale == 1.0, REACH * mechanism.size, ANGLE)
    home = presentation.values_of(mechanism, mechanism.home) * scale
    low = np.floor(10.0 * np.minimum(seen.min(axis=0), home - margin))
    return np.array([low, np.ceil(10.0 * np.maximum(seen.max(axis=0), home + margin))]) / 10.0


def _step(span: float) -> float:
    """Return a slider's step: the largest power of ten up to 1/100 of its range."""
    return float(10.0 ** np.floor(np.log10(max(span, 1e-6) / 100.0)))
