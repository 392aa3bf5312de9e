# SPDX-License-Identifier: Apache-2.0

"""Web page with scene, plots and status of a mechanism, updated thirty times a second.

viser runs callbacks of controls in separate threads; controlled objects must be thread-safe. An
event without a client was caused by the program itself and is ignored.
"""

from __future__ import annotations

import html
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.algorithms.conditioning import condition_text
from robodyn.arrays import FloatArray
from robodyn.control.conditioning import ConditionLevel, weakest_direction
from robodyn.mechanism.mechanism import Mechanism
from robodyn.poses import rpy_from_pose
from robodyn.presentation import Figure, presentation
from robodyn.view import colors
from robodyn.view.plots import Plots, RidePlots
from robodyn.view.scene import Scene
from robodyn.view.snapshot import Snapshot, Source

RATE = 30.0
# Text and plots are sent with every third update only, to save bandwidth.
SLOW = 3
# Largest width of a phone's window in pixels.
NARROW = 760
STANDARD_GRAVITY = 9.81
_DIRECTIONS = {
    f"{sign}{axis}": (index, 1.0 if sign == "+" else -1.0)
    for index, axis in enumerate("xyz")
    for sign in "+-"
}


class ViewerPage:
    """Web page that shows a moving mechanism: 3D scene, plots and status.

    Args:
        server: server from `serving.serve`; the page does not stop it.
        mechanism, figure: mechanism to show, and its figure for the scene.
        source: source of the mechanism's states, such as a simulation.
        warn, error: thresholds of the condition number for colors and warnings.

    Attributes:
        scene, plots, status: parts of the page.
        gui: viser's GUI, to which controls can be added.
        run: buttons for play, pause and reset; invisible if there is nothing to pause.
        push: controls of `add_push`, None without them; invisible if nothing can be pushed.
        updates: number of updates sent.
        shown: last snapshot sent.
    """

    def __init__(
        self,
        server: Any,
        mechanism: Mechanism,
        figure: Figure,
        source: Source,
        *,
        warn: float = 100.0,
        error: float = 1000.0,
    ) -> None:
        self._server, self._source, self._mechanism = server, source, mechanism
        self.gui = server.gui
        self.updates = 0
        self.shown: Snapshot | None = None
        self._more: list[Callable[[Snapshot], None]] = []
        self._framed = False
        self.push: Any = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="page", daemon=True)
        self.gui.configure_theme(show_logo=False, show_share_button=False)
        self.gui.set_panel_label(mechanism.name)
        self.gui.main_panel.dock_left()
        self.gui.main_panel.set_width(310)
        self.status = Status(self.gui, mechanism, warn, error)
        self.run = run = self.gui.add_button_group("Run", ("Play", "Pause", "Reset"))

        @run.on_click  # type: ignore[untyped-decorator]
        def _(event: Any) -> None:
            choice = event.target.value
            if choice == "Reset":
                source.reset()
            else:
                source.set_playing(choice == "Play")

        self.scene = Scene(server, mechanism, figure)
        panel = self.gui.add_panel()
        self._beside = panel.add_tab("Plots")
        with self._beside:
            self.plots = Plots(self.gui, mechanism, warn, error)
        panel.dock_right()
        panel.set_width(400)
        server.on_client_connect(lambda client: _title_for_phones(client, mechanism.name))

    def add_push(self, push: Callable[[FloatArray], None]) -> None:
        """Add controls that push the body along an axis of the base frame.

        Args:
            push: called with the wrench (6,) [N, N m] in the base frame when the button is pressed.
                A slider sets the force.
        """
        weight = STANDARD_GRAVITY * presentation.moving_mass(self._mechanism)
        step = 10.0 ** np.floor(np.log10(max(weight, 1e-6)) - 1.0)
        largest = float(np.ceil(3.0 * weight / step) * step)
        self.push = self.gui.add_folder("Push")
        with self.push:
            direction = self.gui.add_dropdown("Direction", tuple(_DIRECTIONS), initial_value="+x")
            force = self.gui.add_slider(
                "Force [N]", 0.0, largest, float(step), float(np.round(0.25 * weight / step) * step)
            )
            button = self.gui.add_button("Push for 0.3 s")

        @button.on_click  # type: ignore[untyped-decorator]
        def _(_: Any) -> None:
            axis, sign = _DIRECTIONS[direction.value]
            wrench = np.zeros(6)
            wrench[axis] = sign * force.value
            push(wrench)

    def add_ride(self) -> RidePlots:
        """Add plots of the specific force in a vehicle and on the platform; return them."""
        with self._beside:
            return RidePlots(self.gui)

    def add_listener(self, update: Callable[[Snapshot], None]) -> None:
        """Register a function that updates further controls from the shown state.

        It is called with every third snapshot, ten times a second.
        """
        self._more.append(update)

    def update(self) -> None:
        """Show the current state of the source."""
        snapshot = self._source.snapshot()
        with self._server.atomic():
            if snapshot is None:
                if self.shown is None and self.updates == 0:
                    self.status.update(None)
            else:
                self._show(snapshot)
            self.shown = snapshot
            self.updates += 1

    def _show(self, snapshot: Snapshot) -> None:
        self.scene.update(snapshot)
        self.plots.add(snapshot)
        if not self._framed:
            self.scene.frame_view()
            self._framed = True
        if self.updates % SLOW == 0:
            self.status.update(snapshot)
            self.plots.send()
            self.scene.send_trace()
            for update in self._more:
                update(snapshot)

    def start(self) -> None:
        """Start a thread that updates the page thirty times a second."""
        self._thread.start()

    def close(self) -> None:
        """Stop the thread that updates the page."""
        self._ended.set()
        if self._thread.is_alive():  # Ctrl-C may have come before it began
            self._thread.join()

    def _run(self) -> None:
        due = time.monotonic()
        while not self._ended.is_set():
            self.update()
            due = max(due + 1.0 / RATE, time.monotonic() - 1.0 / RATE)
            self._ended.wait(max(due - time.monotonic(), 0.0))


def _title_for_phones(client: Any, name: str) -> None:
    """On an upright screen, note in the panel's title that a tap hides the controls.

    On a phone, viser opens the controls expanded and provides no message to collapse them.
    """
    # a phone's screen may have as many pixels as a desktop's: it is taller than wide
    if client.camera.image_width <= max(NARROW, client.camera.image_height):
        client.gui.set_panel_label(f"{name} (tap: show or hide)")


_BANNER = (
    "position:fixed;top:14px;left:50%;transform:translateX(-50%);z-index:50;max-width:46vw;"
    "padding:8px 18px;border-radius:6px;color:white;font:600 15px sans-serif;text-align:center;"
    "box-shadow:0 2px 8px rgba(0,0,0,.3);background:"
)
_TABLE = "font:min(13px,2.9vw)/1.5 ui-monospace,monospace;padding:2px 14px 6px;white-space:pre"


class Status:
    """Text with time, pose and condition number of the state, and a warning banner.

    Args:
        gui: viser's GUI, inside the container for the text.
        mechanism: mechanism to show.
        warn, error: thresholds of the condition number.
    """

    def __init__(self, gui: Any, mechanism: Mechanism, warn: float, error: float) -> None:
        self._mechanism = mechanism
        self._level = ConditionLevel(warn, error)
        self._text = gui.add_html("")
        self._banner = gui.add_html("", visible=False)
        self._problem = ""

    @property
    def banner(self) -> str:
        """Text of the warning shown in the banner; empty if there is none."""
        return self._problem

    def update(self, snapshot: Snapshot | None) -> None:
        """Show the values and warnings of a snapshot, or that there is no state yet."""
        if snapshot is None:
            self._text.content = f'<div style="{_TABLE}">waiting for a state</div>'
            return
        self._level.update(snapshot.condition_number)
        self._text.content = f'<div style="{_TABLE}">{html.escape(self._numbers(snapshot))}</div>'
        text, color = self._warning(snapshot)
        if text != self._problem:
            self._banner.content = (
                f'<div role="alert" style="{_BANNER}{colors.css(color)}">{html.escape(text)}</div>'
            )
            self._banner.visible = bool(text)
            self._problem = text

    def _numbers(self, snapshot: Snapshot) -> str:
        xyz, rpy = rpy_from_pose(snapshot.body_pose)
        degrees = np.rad2deg(rpy).round(1) + 0.0  # avoids a negative zero
        state = snapshot.status or ("running" if snapshot.playing else "paused")
        rows = [
            f"{state:<8} t = {snapshot.time:7.3f} s",
            "x y z  " + " ".join(f"{value:7.3f}" for value in xyz.round(3) + 0.0) + " m",
            "r p y  " + " ".join(f"{value:7.1f}" for value in degrees) + " °",
            f"condition number {condition_text(snapshot.condition_number)}",
        ]
        return "\n".join(rows)

    def _warning(self, snapshot: Snapshot) -> tuple[str, tuple[int, int, int]]:
        if snapshot.message:
            return snapshot.message, colors.ERROR
        if not self._level.level:
            return "", colors.WARN
        near = ("Near a singularity", "Singular")[self._level.level - 1]
        try:
            weakest = weakest_direction(self._mechanism, snapshot.configuration)[1]
        except (ArithmeticError, ValueError):
            weakest = "unknown"
        # without the number, which changes too fast for a banner and is in the text block
        text = f"{near}: weakest direction is {weakest}"
        return text, (colors.WARN, colors.ERROR)[self._level.level - 1]
