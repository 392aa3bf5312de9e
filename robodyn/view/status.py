# SPDX-License-Identifier: Apache-2.0

"""Text on a page: time, pose, condition number, and a warning banner."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.analysis.conditioning import ConditionLevel, weakest_direction
from robodyn.poses import rpy_from_pose
from robodyn.view import colors

if TYPE_CHECKING:
    from robodyn.mechanisms.mechanism import Mechanism
    from robodyn.view.snapshot import Snapshot

_BANNER = (
    "position:fixed;top:14px;left:50%;transform:translateX(-50%);z-index:50;max-width:46vw;"
    "padding:8px 18px;border-radius:6px;color:white;font:600 15px sans-serif;text-align:center;"
    "box-shadow:0 2px 8px rgba(0,0,0,.3);background:"
)
_TABLE = "font:13px/1.5 ui-monospace,monospace;padding:2px 14px 6px;white-space:pre"


class Status:
    """A text block in the panel, and a banner across the page.

    Args:
        gui: viser's, in the container for the text.
        mechanism: what is shown.
        warn, error: thresholds of the condition number.
    """

    def __init__(self, gui: Any, mechanism: Mechanism, warn: float, error: float) -> None:
        self._mechanism = mechanism
        self._level = ConditionLevel(warn, error)
        self._text = gui.add_html("")
        self._banner = gui.add_html("", visible=False)
        self._said = ""

    @property
    def banner(self) -> str:
        """The warning shown, without markup; empty if none."""
        return self._said

    def update(self, snapshot: Snapshot | None) -> None:
        """Show a snapshot."""
        if snapshot is None:
            self._text.content = f'<div style="{_TABLE}">waiting for a state</div>'
            return
        self._level.update(snapshot.condition_number)
        self._text.content = f'<div style="{_TABLE}">{html.escape(self._numbers(snapshot))}</div>'
        said, color = self._warning(snapshot)
        if said != self._said:
            self._banner.content = (
                f'<div role="alert" style="{_BANNER}{colors.css(color)}">{html.escape(said)}</div>'
            )
            self._banner.visible = bool(said)
            self._said = said

    def _numbers(self, snapshot: Snapshot) -> str:
        xyz, rpy = rpy_from_pose(snapshot.body_pose)
        degrees = np.rad2deg(rpy).round(1) + 0.0  # no negative zero
        state = "running" if snapshot.playing else "paused"
        rows = [
            f"{state:<8} t = {snapshot.time:7.3f} s",
            "x y z  " + " ".join(f"{value:7.3f}" for value in xyz.round(3) + 0.0) + " m",
            "r p y  " + " ".join(f"{value:7.1f}" for value in degrees) + " °",
            f"condition number {snapshot.condition_number:.4g}",
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
        return f"{near}: weakest is {weakest}", (colors.WARN, colors.ERROR)[self._level.level - 1]
