# SPDX-License-Identifier: Apache-2.0

"""Margins of a motion: used fractions of each joint's travel, velocity, effort and power.

Margins apply to planned, simulated and recorded motions. They are computed from sampled histories,
so the first violation is the first sample beyond a limit; `check_limits` finds the exact time in a
plan. Messages are generated from data for JSON, so that they can also describe runs read from a
file.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from robodyn.algorithms.motors import LIMIT_TOLERANCE
from robodyn.algorithms.travel import travel_limits, travel_positions
from robodyn.arrays import ArrayLike, BoolArray, FloatArray
from robodyn.checks import as_array, as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation

# Condition number above which the nodes report an error, too.
CONDITION_LIMIT = 1000.0


@dataclass(frozen=True)
class Margin:
    """Extreme values of one quantity of a joint in a motion, compared with its limits.

    Attributes:
        joint: name of the joint; empty for the condition number.
        quantity: `position`, `velocity`, `effort`, `power` or `condition number`.
        lowest, highest: extremes of the motion, in the units of the joint.
        lower, upper: limits; infinite without a limit.
        time: time [s] at which the value is nearest to a limit, or furthest beyond it; without
            limits, time of the largest magnitude.
        used: used fraction of the limit; for a position, of the travel from its middle. 1 means
            that the limit is reached. NaN without a limit; infinite if a value is missing or was
            cut, or if the limit is 0 (a motor has no torque beyond its highest speed).
        cut: whether the quantity is an effort that was reduced to the limit.
    """

    joint: str
    quantity: str
    lowest: float
    highest: float
    lower: float
    upper: float
    time: float
    used: float
    cut: bool = False

    @property
    def is_exceeded(self) -> bool:
        """Whether the motion exceeds the limit."""
        return bool(self.used > 1.0 + LIMIT_TOLERANCE)


@dataclass(frozen=True)
class Margins:
    """Comparison of a motion with all limits of a mechanism.

    Attributes:
        rows: margins of position, velocity, effort and power of each driven joint, of the positions
            of passive joints with limits, and of the condition number.
        first: margin that is exceeded first, and the time [s] at which it is; None if all limits
            hold.
    """

    rows: tuple[Margin, ...]
    first: tuple[Margin, float] | None

    @property
    def hold(self) -> bool:
        """Whether the whole motion is within every limit."""
        return self.first is None

    @property
    def tightest(self) -> Margin | None:
        """Margin with the largest used fraction; None if the mechanism has no limits."""
        limited = [row for row in self.rows if np.isfinite(row.used)]
        return max(limited, key=lambda row: row.used, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the margins as a dictionary for JSON.

        Returns:
            `hold`, whether all limits hold; `first`, the first violation; `tightest`, the margin
            with the largest used fraction; and `rows`, the list from `to_list`.
        """
        rows = dict(zip(self.rows, self.to_list(), strict=True))
        first = None
        if self.first is not None:
            row, time = self.first
            first = {"joint": row.joint, "quantity": row.quantity, "time": time}
        tightest = self.tightest
        return {
            "hold": self.hold,
            "first": first,
            "tightest": None if tightest is None else rows[tightest],
            "rows": list(rows.values()),
        }

    def to_list(self) -> list[dict[str, Any]]:
        """Return a list of dictionaries for JSON, one per margin; missing limits are None."""
        return [
            asdict(row)
            | {name: _finite(getattr(row, name)) for name in ("lower", "upper", "used")}
            | {"broken": row.is_exceeded}
            for row in self.rows
        ]


def margins(
    mechanism: Mechanism,
    time: ArrayLike,
    positions: ArrayLike,
    velocities: ArrayLike,
    efforts: ArrayLike,
    condition_numbers: ArrayLike,
    max_condition: float = np.inf,
    *,
    cut: bool = False,
    passive_positions: ArrayLike | None = None,
) -> Margins:
    """Compare a sampled motion with the limits of a mechanism.

    Args:
        mechanism: mechanism with the limits.
        time: (N,) [s] times of the samples.
        positions, velocities, efforts: (N, n) histories of the driven joints; NaN (for example, no
            efforts at a singularity) counts as beyond every limit.
        condition_numbers: (N,) condition numbers of the Jacobian.
        max_condition: largest permitted condition number; see `condition_limit`.
        cut: whether the efforts were limited, so that an effort at its limit means that a larger
            one was requested.
        passive_positions: (N, p) positions of the p passive joints with limits, see
            `passive_positions_of`; None if unknown.

    Returns:
        The extreme values of every quantity with their limits, and the first violation.

    Raises:
        InvalidInput: arrays have the wrong shapes or are empty.
    """
    when = as_array("time", time, (), "s").reshape(-1)
    n, count = len(mechanism.joint_names), len(when)
    q = _history("positions", positions, (count, n))
    v = _history("velocities", velocities, (count, n))
    f = _history("efforts", efforts, (count, n))
    number = _history("condition_numbers", condition_numbers, (count,))
    if not count:
        raise InvalidInput("the motion has no samples, expected at least one", value=time)
    limit = max_condition
    if limit != np.inf:
        limit = as_scalar("max_condition", limit, at_least=1.0)
    rows, used_rows = [], []
    # a missing rate exceeds its own limit already
    limits = mechanism.drives.effort_limits_at(np.nan_to_num(v))
    least, largest = (np.clip(ends, -limits, limits) for ends in mechanism.drives.effort_ranges.T)
    for j, joint in enumerate(mechanism.joint_names):
        lower, upper = mechanism.position_limits[j]
        velocity = mechanism.velocity_limits[j]
        columns = (
            ("position", q[:, j], lower, upper),
            ("velocity", v[:, j], -velocity, velocity),
            ("effort", f[:, j], least[:, j], largest[:, j]),
            ("power", f[:, j] * v[:, j], -np.inf, np.inf),
        )
        for quantity, values, low, high in columns:
            full = np.abs(values) >= limits[:, j] if cut and quantity == "effort" else None
            row, used = _margin(joint, quantity, when, values, low, high, full)
            rows.append(row)
            used_rows.append(used)
    passive = travel_limits(mechanism)[n:] if passive_positions is not None else ()
    given = np.empty((count, 0)) if passive_positions is None else passive_positions
    for values, (name, _, low, high) in zip(
        _history("passive_positions", given, (count, len(passive))).T, passive, strict=True
    ):
        row, used = _margin(name, "position", when, values, low, high)
        rows.append(row)
        used_rows.append(used)
    row, used = _margin("", "condition number", when, number, -np.inf, limit)
    rows.append(row)
    used_rows.append(used)
    broken = np.array(used_rows) > 1.0 + LIMIT_TOLERANCE  # (rows, N)
    if not broken.any():
        return Margins(tuple(rows), None)
    first = int(broken.any(axis=0).argmax())
    return Margins(tuple(rows), (rows[int(broken[:, first].argmax())], float(when[first])))


def passive_positions_of(mechanism: Mechanism, configurations: FloatArray) -> FloatArray:
    """Return the positions (N, p) [rad or m] of the p passive joints with limits.

    Args:
        mechanism: mechanism with the joints.
        configurations: (N, nq) configurations of the mechanism.
    """
    return travel_positions(mechanism, configurations)[..., len(mechanism.joint_names) :]


def condition_limit(mechanism: Mechanism) -> float:
    """Return the default limit of the condition number for motions of a mechanism.

    For mechanisms whose actuators act in parallel on one body, it is 1000, from which on nodes
    report an error, because the actuators cannot hold the body near a singularity. For others, it
    is infinite: an arm can pass through singular configurations.
    """
    return CONDITION_LIMIT if presentation.has_legs(mechanism) else np.inf


def _margin(
    joint: str,
    quantity: str,
    when: FloatArray,
    values: FloatArray,
    lower: ArrayLike,
    upper: ArrayLike,
    full: BoolArray | None = None,
) -> tuple[Margin, FloatArray]:
    """Return the margin of a quantity, and the used fractions (N,) of its limits.

    A limit is one number or (N,). `full` (N,) marks samples whose effort was clipped to the limit.
    """
    low, high = (np.broadcast_to(np.asarray(v, dtype=float), values.shape) for v in (lower, upper))
    used = _used_fractions(values, low, high)
    if full is not None:
        used[full] = np.inf
    limited = bool(np.isfinite(low).any() or np.isfinite(high).any())
    known = values[~np.isnan(values)]
    where = int(used.argmax()) if limited else int(np.nan_to_num(np.abs(values)).argmax())
    row = Margin(
        joint,
        quantity,
        float(known.min()) if known.size else np.nan,
        float(known.max()) if known.size else np.nan,
        float(low[where]),
        float(high[where]),
        float(when[where]),
        float(used[where]) if limited else np.nan,
        full is not None and bool(full.any()),
    )
    return row, used


def _used_fractions(values: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return used fractions (N,) of limits: 1 at a limit, 0 midway between two limits."""
    both = np.isfinite(lower) & np.isfinite(upper)
    low, high = np.where(both, lower, -1.0), np.where(both, upper, 1.0)
    half, away = 0.5 * (high - low), np.abs(values - 0.5 * (high + low))
    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.where(half > 0.0, away / half, np.where(away > 0.0, np.inf, 1.0))
    single = np.where(
        np.isfinite(upper),
        _fraction_of_limit(values, upper),
        np.where(np.isfinite(lower), _fraction_of_limit(-values, -lower), 0.0),
    )
    fractions = np.where(both, between, single)
    limited = np.isfinite(lower) | np.isfinite(upper)
    return np.where(np.isnan(values) & limited, np.inf, fractions)


def _fraction_of_limit(values: FloatArray, limit: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(limit > 0.0, values / limit, np.where(values > limit, np.inf, 0.0))


def _history(name: str, values: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise InvalidInput(f"{name} has shape {array.shape}, expected {shape}", value=values)
    return array


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def margin_lines(found: dict[str, Any]) -> list[str]:
    """Format margins as lines of text for a terminal.

    Args:
        found: result of `Margins.to_dict`.

    Returns:
        One line if all limits hold; otherwise a summary and a line for each exceeded limit.
    """
    broken = [row for row in found["rows"] if row["broken"]]
    if not broken:
        tightest = found["tightest"]
        if tightest is None:
            return ["limits                 the model has no limits"]
        return [f"limits                 all hold; nearest: {row_text(tightest)}"]
    first = found["first"]
    lines = [
        f"limits                 {len(broken)} exceeded, first {_subject(first)} "
        f"at t = {first['time']:.3f} s"
    ]
    return lines + [f"  {row_text(row)}" for row in broken]


def row_text(row: dict[str, Any]) -> str:
    """Format one margin from `Margins.to_list` as a line of text.

    Example: `velocity of joint1, 90 % (-1.8 to 0.3 of 2)`.
    """
    lower, upper = row["lower"], row["upper"]
    one_sided = lower is None or (upper is not None and lower == -upper)
    limit = _number(upper) if one_sided else f"{_number(lower)} to {_number(upper)}"
    fraction = "no value"
    if row["used"] is not None:
        fraction = f"{100.0 * row['used']:.0f} %"
    elif row.get("cut"):
        fraction = "cut to the limit"
    elif lower == upper == 0.0:
        fraction = "beyond the highest speed of its motor, at which it has no torque"
    span = f"{_number(row['lowest'])} to {_number(row['highest'])}"
    return f"{_subject(row)}, {fraction} ({span} of {limit})"


def _subject(row: dict[str, Any]) -> str:
    return f"{row['quantity']} of {row['joint']}" if row["joint"] else str(row["quantity"])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
