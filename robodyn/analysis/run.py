# SPDX-License-Identifier: Apache-2.0

"""History of a finished run, with largest efforts, tracking errors and status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.algorithms.conditioning import condition_text
from robodyn.algorithms.effort_terms import formulations, nan_where_singular
from robodyn.algorithms.tracking import tracking_of
from robodyn.analysis.as_json import as_json
from robodyn.analysis.margins import (
    Margins,
    condition_limit,
    margin_lines,
    margins,
    passive_positions_of,
)
from robodyn.analysis.study import ends, peak_dynamic_fraction
from robodyn.arrays import FloatArray
from robodyn.errors import writing
from robodyn.formats.csv_text import write_columns
from robodyn.formats.output_file import write_text
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation.nouns import nouns_of
from robodyn.trajectories.base import Motion

# Noun of a driven joint, title and format of the largest efforts, by their key in a summary.
_EFFORTS = {
    "peak_force": ("leg", "peak force [N]", ".1f"),
    "peak_torque": ("joint", "peak torque [N m]", ".2f"),
    "peak_effort": ("joint", "peak effort [N m, N]", ".2f"),
}
_THOUSANDTHS = {"position": "mm", "orientation": "mrad", "joints": "mrad or mm"}


@dataclass(frozen=True)
class RunHistory:
    """History of a run, sampled at each control instant.

    Attributes:
        mechanism: mechanism that moved.
        path, mode: names of path and control mode in the summary.
        time: (N,) [s] from the start of the path.
        configuration, velocity: (N, nq), (N, nv) measured values.
        effort: (N, n) [N or N m] efforts applied from each instant to the next.
        desired: planned motion at the same times.
        stopped: reason for an early end; empty if the run was completed.
        real_time_factor: simulated seconds per second of wall-clock time.
        warnings: messages, in order.
        friction: whether the joints had the friction of the model.
    """

    mechanism: Mechanism
    path: str
    mode: str
    time: FloatArray
    configuration: FloatArray
    velocity: FloatArray
    effort: FloatArray
    desired: Motion
    stopped: str = ""
    real_time_factor: float = 0.0
    warnings: list[str] = field(default_factory=list)
    friction: bool = True

    @cached_property
    def error(self) -> FloatArray:
        """Displacement (N, nv) [m or rad] from the planned to the measured configuration."""
        return self.mechanism.difference(self.desired.configuration, self.configuration)

    @cached_property
    def massless(self) -> FloatArray:
        """Efforts (N, n) [N or N m] that the same motion requires with massless legs.

        They are computed from the acceleration that the applied efforts cause, so effort - massless
        is the contribution of the legs' inertia and friction (Dasgupta 1998, eq. 42). They are NaN
        where no solution exists, and (N, 0) for a mechanism without legs.
        """
        if "massless" not in formulations(self.mechanism):
            return np.empty((len(self.time), 0))
        m, q, v, f = self.mechanism, self.configuration, self.velocity, self.effort
        accel = nan_where_singular(m.forward_dynamics, (q, v, f), v.shape[1:])
        # measured efforts may be so large that the accelerations overflow
        known = np.isfinite(accel).all(axis=1)
        inverse: Any = m.inverse_dynamics  # accepts the argument `formulation`
        massless = partial(inverse, formulation="massless")
        rows = np.full_like(f, np.nan)
        rows[known] = nan_where_singular(massless, (q[known], v[known], accel[known]), f.shape[1:])
        return rows

    @cached_property
    def condition_number(self) -> FloatArray:
        """Condition number (N,) of the Jacobian at the measured configurations."""
        return self.mechanism.condition_number(self.configuration)

    def margins(self, max_condition: float | None = None) -> Margins:
        """Compare the measured motion with the limits of the mechanism.

        Args:
            max_condition: largest permitted condition number; by default that of `condition_limit`.

        Returns:
            The margins; an effort at its limit counts as a violation, because a larger one was
            requested.
        """
        q, v = self.configuration, self.velocity
        return margins(
            self.mechanism,
            self.time,
            self.mechanism.joint_positions(q),
            self.mechanism.joint_velocities(q, v),
            self.effort,
            self.condition_number,
            condition_limit(self.mechanism) if max_condition is None else max_condition,
            cut=True,
            passive_positions=passive_positions_of(self.mechanism, q),
        )

    @property
    def peak_dynamic_fraction(self) -> FloatArray:
        """Largest fraction (n,) of each leg's force that is due to its mass and friction.

        Instants at which the force is near zero do not count; see `study.peak_dynamic_fraction`.
        """
        return peak_dynamic_fraction(self.effort, self.massless)

    @property
    def status(self) -> str:
        """`completed`, or a message with the reason for an early end."""
        if self.stopped:
            return self.stopped
        tracking = tracking_of(self.mechanism)
        lost = np.flatnonzero(tracking.is_lost(self.error))
        if lost.size:
            return (
                f"left the path at t = {self.time[lost[0]]:.3f} s: more than {tracking.bounds} off"
            )
        return "completed"

    def summary(self) -> dict[str, Any]:
        """Return the contents of `summary.json` as a dictionary."""
        return {
            "status": self.status,
            "model": self.mechanism.name,
            "path": self.path,
            "mode": self.mode,
            **({} if self.friction else {"friction": False}),
            **self._peaks(),
            "condition_number": ends(self.condition_number, self.time),
            "duration": float(self.time[-1]),
            "samples": len(self.time),
            "real_time_factor": self.real_time_factor,
            "warnings": [*self.warnings, *self._saturations()],
            "margins": self.margins().to_dict(),
        }

    def _saturations(self) -> list[str]:
        """Return a warning message for each actuator that was at its limit."""
        limits = self.mechanism.effort_limits
        at_limit = np.abs(self.effort) >= limits
        return [
            f"WARN {name} at its effort limit of {limits[i]:g} for {at_limit[:, i].sum()} of "
            f"{len(self.time)} samples, first at t = {self.time[at_limit[:, i].argmax()]:.3f} s"
            for i, name in enumerate(self.mechanism.joint_names)
            if at_limit[:, i].any()
        ]

    def _peaks(self) -> dict[str, Any]:
        tracking = tracking_of(self.mechanism)
        peaks: dict[str, Any] = {
            nouns_of(self.mechanism).peak_effort: np.abs(self.effort).max(axis=0).tolist()
        }
        if self.massless.shape[1]:
            peaks["peak_dynamic_fraction"] = self.peak_dynamic_fraction.tolist()
        if tracking.by_coordinate:
            peaks["peak_error"] = np.abs(self.error).max(axis=0).tolist()
        return peaks | {"tracking": tracking.largest(self.error)}

    def write(self, folder: Path | str) -> Path:
        """Write `summary.json` and `history.csv` to a folder; create it if necessary.

        Returns:
            The path of `summary.json`.

        Raises:
            OutputError: the folder or a file in it cannot be written.
        """
        path = Path(folder) / "summary.json"
        with writing(folder):
            path.parent.mkdir(parents=True, exist_ok=True)
        joints, coordinates = self.mechanism.joint_names, self.mechanism.coordinates
        position = coordinates.configuration_names
        write_columns(
            path.with_name("history.csv"),
            [
                ("time", self.time),
                *zip(position, self.configuration.T, strict=True),
                *zip(coordinates.columns("velocity", "rate"), self.velocity.T, strict=True),
                *zip(_with_prefix("planned", position), self.desired.configuration.T, strict=True),
                *zip(_with_prefix("effort", joints), self.effort.T, strict=True),
                # empty for mechanisms without legs
                *zip(_with_prefix("massless", joints), self.massless.T, strict=False),
                ("condition_number", self.condition_number),
            ],
        )
        return write_text(path, as_json(self.summary()) + "\n")


def _with_prefix(prefix: str, names: Iterable[str]) -> list[str]:
    return [f"{prefix}_{name}" for name in names]


def summary_text(summary: dict[str, Any]) -> str:
    """Format the summary of a run as a few lines of text for a terminal."""
    condition = summary["condition_number"]
    without = "" if summary.get("friction", True) else " without friction"
    lines = [
        f"{summary['model']}{without}, path {summary['path']}, {summary['mode']}: "
        f"{summary['status']}",
        *_peak_lines(summary),
        f"condition number       {condition_text(condition['min'])} to "
        f"{condition_text(condition['max'])}"
        f" (at t = {condition['time_of_max']:.3f} s)",
        f"real-time factor       {summary['real_time_factor']:.2f} over {summary['duration']:g} s",
        *(margin_lines(summary["margins"]) if "margins" in summary else ()),
        f"warnings raised        {len(summary['warnings'])}",
        *(f"  {text}" for text in summary["warnings"]),
    ]
    return "\n".join(lines)


def _peak_lines(summary: dict[str, Any]) -> list[str]:
    key = next(key for key in _EFFORTS if key in summary)
    noun, title, form = _EFFORTS[key]
    lines = [
        _row(noun, range(1, len(summary[key]) + 1), "d"),
        _row(title, summary[key], form),
    ]
    if "peak_dynamic_fraction" in summary:
        lines.append(_row("peak dynamic fraction", summary["peak_dynamic_fraction"], ".3f"))
    if "peak_error" in summary:
        lines.append(_row("peak error [mrad, mm]", np.multiply(summary["peak_error"], 1e3), ".4f"))
    sizes = (f"{size * 1e3:.4f} {_THOUSANDTHS[part]}" for part, size in summary["tracking"].items())
    return [*lines, f"largest tracking error {', '.join(sizes)}"]


def _row(name: str, values: Iterable[float], form: str) -> str:
    return f"{name:22s}" + "".join(f" {value:>9{form}}" for value in values)
