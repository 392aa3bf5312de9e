# SPDX-License-Identifier: Apache-2.0

"""Page for manual design: sliders for a machine's dimensions, and a verdict on each requirement."""

from __future__ import annotations

import html
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.designing.catalog import CatalogActuator
from robodyn.designing.evaluate import evaluate
from robodyn.designing.evaluation import Evaluation
from robodyn.designing.families import Family
from robodyn.designing.requirements import Requirements
from robodyn.errors import RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation
from robodyn.view import colors
from robodyn.view.scene import Scene
from robodyn.view.snapshot import snapshot_of

IDEAL = "ideal"
# Positions of a slider between its ends.
POSITIONS = 200
_GOOD = (34, 139, 84)
_LINE = "margin:3px 14px;padding-left:8px;font:13px/1.35 sans-serif;overflow-wrap:anywhere"
_TABLE = "font:12px/1.5 ui-monospace,monospace;padding:4px 14px;white-space:pre"


class DesignEditor:
    """Page that evaluates a machine whenever a user changes one of its dimensions.

    Args:
        server: viser server.
        family: family of machines, whose bounds are the ranges of the sliders.
        requirements: requirements that each machine is evaluated against.
        catalog: actuators to choose from, besides ideal ones without limits.

    Attributes:
        sliders: viser's sliders, by the name of the dimension; angles in degrees.
        actuator: viser's dropdown of actuators.
        evaluation: last evaluation; None if the dimensions define no machine.
    """

    def __init__(
        self,
        server: Any,
        family: Family,
        requirements: Requirements,
        catalog: Sequence[CatalogActuator] = (),
    ) -> None:
        self._server, self._family, self._requirements = server, family, requirements
        self._catalog = {row.name: row for row in catalog}
        self._has_changed, self._is_ending = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="design editor", daemon=True)
        self._is_framed = False
        self.evaluation: Evaluation | None = None
        gui = server.gui
        gui.configure_theme(show_logo=False, show_share_button=False)
        gui.set_panel_label(f"{family.name}: {requirements.source or 'requirements'}")
        gui.main_panel.dock_left()
        gui.main_panel.set_width(380)
        with gui.add_folder("Dimensions"):
            self.sliders = {
                name: self._slider(name, *family.bounds[name]) for name in family.bounds
            }
            self.actuator = gui.add_dropdown(
                "Actuator", (IDEAL, *self._catalog), initial_value=IDEAL
            )
        self._verdicts, self._needs = gui.add_html(""), gui.add_html("")
        for control in (*self.sliders.values(), self.actuator):
            control.on_update(lambda _: self._has_changed.set())

    @property
    def parameters(self) -> dict[str, float]:
        """Current dimensions [m, rad] of the machine, by name."""
        return {
            name: float(slider.value / self._scale(name)) for name, slider in self.sliders.items()
        }

    def start(self) -> None:
        """Start a thread that evaluates the machine now and after each change."""
        self._has_changed.set()
        self._thread.start()

    def close(self) -> None:
        """Stop the thread that evaluates the machine."""
        self._is_ending.set()
        self._has_changed.set()
        if self._thread.is_alive():
            self._thread.join()

    def update(self) -> None:
        """Evaluate the machine with the current dimensions, and show the result."""
        actuator = self._catalog.get(self.actuator.value)
        continuous = np.inf if actuator is None else actuator.continuous_effort
        try:
            machine = self._family.mechanism(self.parameters, self._requirements, actuator)
            self.evaluation = evaluate(
                machine, self._requirements, variants={}, continuous_effort=continuous
            )
        except RobodynError as error:
            self.evaluation = None
            self._verdicts.content, self._needs.content = _line(f"NO: {error}", colors.ERROR), ""
            return
        with self._server.atomic():
            self._verdicts.content = _verdict_lines(self.evaluation)
            self._needs.content = _needs_table(self.evaluation)
            self._draw(machine)

    def _run(self) -> None:
        while True:
            self._has_changed.wait()
            if self._is_ending.is_set():
                return
            self._has_changed.clear()
            self.update()

    def _slider(self, name: str, low: float, high: float) -> Any:
        scale = self._scale(name)
        low, high = scale * low, scale * high
        step = 10.0 ** np.floor(np.log10((high - low) / POSITIONS))
        unit = "m" if scale == 1.0 else "°"
        middle = round(0.5 * (low + high), 2)
        label = f"{name.replace('_', ' ')} [{unit}]"
        return self._server.gui.add_slider(label, low, high, float(step), float(middle))

    def _scale(self, name: str) -> float:
        """Return the factor from SI units to the unit of a slider (degrees for angles)."""
        return 180.0 / np.pi if name in self._family.angles else 1.0

    def _draw(self, machine: Mechanism) -> None:
        scene = Scene(self._server, machine, presentation.figure(machine))
        home = machine.home
        still = machine.difference(home, home)
        effort = machine.inverse_dynamics(home, still, still)
        scene.update(snapshot_of(machine, 0.0, home, effort, playing=False))
        if not self._is_framed:
            scene.frame_view()
            self._is_framed = True


def _line(text: str, color: tuple[int, int, int]) -> str:
    edge = f"border-left:4px solid {colors.css(color)}"
    return f'<div style="{_LINE};{edge}">{html.escape(text)}</div>'


def _verdict_lines(e: Evaluation) -> str:
    """Return the verdicts on all requirements as HTML, unmet requirements first."""
    failed = [_line(f"NO: {v.text}", colors.ERROR) for v in e.verdicts if not v.satisfied]
    return "".join(failed + [_line(v.text, _GOOD) for v in e.verdicts if v.satisfied])


def _needs_table(e: Evaluation) -> str:
    need, m = e.needed, e.mechanism
    unit, effort = m.drives.units[0], m.drives.effort_units[0]
    rows = [
        ("stroke", need.stroke, unit), ("speed", need.speed, f"{unit}/s"),
        ("peak effort", need.peak_effort, effort),
        ("continuous", need.continuous_effort, effort), ("peak power", need.peak_power, "W"),
    ]  # fmt: skip
    lines = [f"{name:<12}{np.max(values):>10.4g} {unit}" for name, values, unit in rows]
    return f'<div style="{_TABLE}">' + html.escape("\n".join(lines)) + "</div>"
