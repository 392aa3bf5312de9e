# SPDX-License-Identifier: Apache-2.0

"""Plots of the last seconds: efforts, condition number and specific forces."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation
from robodyn.presentation.nouns import nouns_of
from robodyn.view import colors
from robodyn.view.snapshot import Snapshot

WINDOW = 10.0
# Larger condition numbers are clipped in the plot, to keep the axis legible.
HIGHEST_CONDITION = 1e5
_LEGS, _JOINTS = "Leg forces [N], positive if pushing", "Joint efforts [N m, N]"
# Least width of an axis: ticks of nearly constant values would all read the same.
_LEAST = {
    "auto": True,
    "range": {
        "min": {"pad": 0.1, "soft": -1.0, "mode": 1},
        "max": {"pad": 0.1, "soft": 1.0, "mode": 1},
    },
}
_LINE = {"stroke": "#e6e8eb", "width": 1}


class Rows:
    """Buffer of the samples of several curves over the last seconds.

    It is cleared when time goes back.
    """

    def __init__(self) -> None:
        self._rows: deque[FloatArray] = deque()

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, time: float, *values: float) -> None:
        """Append a sample of all curves at a time [s], unless that time was added already."""
        if self._rows and time <= self._rows[-1][0]:
            if time == self._rows[-1][0]:
                return
            self._rows.clear()
        self._rows.append(np.array([time, *values]))
        while self._rows[0][0] < time - WINDOW:
            self._rows.popleft()

    def columns(self) -> FloatArray:
        """Return the samples as an array (1 + n, N): times [s], then n curves."""
        return np.ascontiguousarray(np.array(self._rows).T)


class Plots:
    """Live plots of the actuators' efforts and of the condition number.

    Args:
        gui: viser's GUI, inside the container for the plots.
        mechanism: mechanism to show.
        warn, error: thresholds of the condition number.
    """

    def __init__(self, gui: Any, mechanism: Mechanism, warn: float, error: float) -> None:
        count = len(mechanism.joint_names)
        self._rows = Rows()
        self._thresholds = warn, error
        noun = nouns_of(mechanism).joint
        lines = [_series(f"{noun} {i + 1}", colors.of_actuator(i)) for i in range(count)]
        self._efforts = gui.add_uplot(
            tuple(np.zeros(1) for _ in range(count + 1)),
            ({"label": "t"}, *lines),
            title=_LEGS if presentation.has_legs(mechanism) else _JOINTS,
            height=320,
            visible=False,  # until there is an effort
            **_axes(_LEAST),
        )
        self._condition = gui.add_uplot(
            tuple(np.ones(1) for _ in range(4)),
            (
                {"label": "t"},
                _series("condition number", colors.INK, 2.0),
                {**_series(f"warn {warn:g}", colors.WARN), "dash": (6, 4)},
                {**_series(f"error {error:g}", colors.ERROR), "dash": (6, 4)},
            ),
            title="Condition number",
            height=270,
            **_axes({"distr": 3, "log": 10}),
        )

    def add(self, snapshot: Snapshot) -> None:
        """Append the efforts and the condition number of a snapshot to the curves."""
        number = min(snapshot.condition_number, HIGHEST_CONDITION)
        self._rows.add(snapshot.time, *snapshot.effort, number)

    def send(self) -> None:
        """Send the curves to the browser; may be called less often than `add`."""
        if len(self._rows) < 2:
            return
        times, *efforts, number = self._rows.columns()
        warn, error = (np.full(len(times), threshold) for threshold in self._thresholds)
        self._efforts.data = (times, *efforts)
        if not self._efforts.visible and np.any(efforts):
            self._efforts.visible = True
        self._condition.data = (times, number, warn, error)


class RidePlots:
    """Plots of specific force in a vehicle and on the motion platform, over the last seconds.

    Args:
        gui: viser's GUI, inside the container for the plots.
    """

    def __init__(self, gui: Any) -> None:
        self._rows = Rows()
        self._begun: float | None = None
        self._plots = [
            gui.add_uplot(
                tuple(np.zeros(1) for _ in range(3)),
                (
                    {"label": "t"},
                    _series("in the vehicle", colors.INK),
                    _series("felt", colors.of_actuator(1), 2.0),
                ),
                title=f"Specific force {axis} [m/s^2]",
                height=190,
                order=number - 3.0,
                **_axes(_LEAST),
            )
            for number, axis in enumerate(("forward", "to the left", "up"))
        ]

    def add(self, time: float, vehicle: FloatArray, felt: FloatArray) -> None:
        """Append a sample of both specific forces to the curves.

        Args:
            time: time [s].
            vehicle: (3,) [m/s^2] specific force in the vehicle.
            felt: (3,) [m/s^2] specific force on the platform.
        """
        self._begun = time if self._begun is None else self._begun
        self._rows.add(time - self._begun, *vehicle, *felt)

    def send(self) -> None:
        """Send the curves to the browser; may be called less often than `add`."""
        columns = self._rows.columns()
        for k, plot in enumerate(self._plots):
            plot.data = (columns[0], columns[1 + k], columns[4 + k])


def _series(label: str, color: tuple[int, int, int], width: float = 1.6) -> dict[str, Any]:
    return {"label": label, "stroke": colors.css(color), "width": width, "points": {"show": False}}


def _axes(scale: dict[str, Any]) -> dict[str, Any]:
    axis = {"grid": _LINE, "ticks": {**_LINE, "size": 4}, "font": "11px sans-serif"}
    x = {**axis, "size": 26, "label": "t [s]", "labelSize": 16, "labelFont": "11px sans-serif"}
    return {
        "scales": {"x": {"time": False}, "y": scale},
        "axes": (x, {**axis, "size": 50}),
        "padding": (10, 16, 0, 0),
    }
