# SPDX-License-Identifier: Apache-2.0

"""Panels of a page for a machine: its state, commands and target pose, and motion cueing."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import shorten
from robodyn.motion_base.cueing.parameters import PRESETS
from robodyn.view import colors
from robodyn.view.page import ViewerPage

# Services by the label of their button.
REQUESTS = {
    "Engage": "joint_commander/engage",
    "Start path": "trajectory_planner/start",
    "Freeze": "joint_commander/freeze",
    "Park": "joint_commander/park",
    "Reset": "joint_commander/reset",
}
# Parameters of a washout by the labels of their controls.
TUNED = {
    "Force gain": "force_gain",
    "Rotation gain": "rotation_gain",
    "Force washout": "force_washout",
}
# Range of a control, relative to the value in the preset; a gain may be zero.
LEAST, MOST = 0.1, 3.0
_STYLE = (
    "margin:2px 14px 8px;padding:4px 10px;border-radius:6px;color:white;font:600 15px sans-serif"
)
_NOTE = "margin:0 14px 8px;font:13px/1.4 sans-serif;overflow-wrap:anywhere"
_CALM = {"engaged": (34, 139, 84), "fault": colors.ERROR}
# States that have a reason.
NAMED = ("freezing", "frozen", "fault")


class MachinePanel:
    """Panel with the state of a machine and buttons for commands, and axes at its target pose.

    Args:
        page: page to extend.
        request: called with the name of a service when its button is pressed.
    """

    def __init__(self, page: ViewerPage, request: Callable[[str], None]) -> None:
        self._scene = page.scene
        with page.gui.add_folder("Machine"):
            self._text = page.gui.add_html("")
            self._why, self._vehicle = page.gui.add_html(""), page.gui.add_html("")
            buttons = page.gui.add_button_group("Command", tuple(REQUESTS))

        @buttons.on_click  # type: ignore[untyped-decorator]
        def _(event: Any) -> None:
            request(REQUESTS[event.target.value])

        self.state = ""
        self.buttons = buttons

    def show(self, state: str) -> None:
        """Show the state of the machine, such as `engaged`."""
        self.state = state = shorten(state, 40)
        if state not in NAMED:
            self.explain("")
        color = colors.css(_CALM.get(state, (90, 98, 110)))
        self._text.content = f'<div style="{_STYLE};background:{color}">{html.escape(state)}</div>'

    def explain(self, text: str) -> None:
        """Show the reason for the machine's state; an empty string removes it."""
        self._why.content = _note(text)

    def show_vehicle(self, text: str) -> None:
        """Show the state of the vehicle or telemetry that moves the machine."""
        self._vehicle.content = _note(text)

    def show_target(self, pose: FloatArray) -> None:
        """Show the target pose (7,) in the base frame."""
        self._scene.mark(pose)


class CueingPanel:
    """Panel with controls for the washout: preset, and parameters relative to this preset.

    Args:
        page: page to extend.
        values: current values of `preset` and of the parameters in `TUNED`, by name; None stands
            for the preset's value.
        change: called with the new values, as in `CueingPanel.values`, when a control has moved.
        save: called with the values when the save button is pressed.
    """

    def __init__(
        self,
        page: ViewerPage,
        values: Mapping[str, Any],
        change: Callable[[dict[str, Any]], None],
        save: Callable[[dict[str, Any]], None],
    ) -> None:
        gui, own = page.gui, PRESETS[values["preset"]]
        with gui.add_folder("Cueing"):
            self._preset = gui.add_dropdown("Preset", tuple(PRESETS), values["preset"])
            self._sliders = {}
            for label, name in TUNED.items():
                now, least = values[name], 0.0 if name.endswith("gain") else LEAST
                factor = 1.0 if now is None else float(np.mean(now) / np.mean(own.of_axes(name)))
                first = min(max(factor, least), MOST)
                self._sliders[name] = gui.add_slider(
                    label, least, MOST, 0.05, first, hint="factor relative to the preset"
                )
            button = gui.add_button("Save to YAML")
        for control in (self._preset, *self._sliders.values()):
            control.on_update(lambda _: change(self.values))
        button.on_click(lambda _: save(self.values))

    @property
    def values(self) -> dict[str, Any]:
        """Selected `preset`, and the value of each parameter per axis, by name."""
        preset = PRESETS[self._preset.value]
        found: dict[str, Any] = {"preset": self._preset.value}
        for name, slider in self._sliders.items():
            found[name] = (slider.value * preset.of_axes(name)).round(6).tolist()
        return found


def _note(text: str) -> str:
    labels = html.escape(shorten(text, 300))
    return f'<div style="{_NOTE}">{labels}</div>' if labels else ""
