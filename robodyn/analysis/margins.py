# SPDX-License-Identifier: Apache-2.0

"""How much of its limits a motion uses: stroke, rate, effort, power, conditioning, joint by joint.

The same for a motion that is planned, one that was simulated and one that was recorded: it takes
histories, one row a time. `check_limits` finds the first violation of a plan exactly; here it is
the first row that is beyond a limit. Texts are made from plain data, of a run that is over or of
one read from a file.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, BoolArray, FloatArray
from robodyn.checks import as_array, as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanisms import presentation
from robodyn.mechanisms.mechanism import Mechanism

# Beyond a limit by less than this share of it is rounding: a motion may run along its limit.
ROUNDING = 1e-9
# Beyond it the nodes report an error, too.
CONDITION_LIMIT = 1000.0


@dataclass(frozen=True)
class Margin:
    """What a motion makes of one limit of one joint.

    Attributes:
        joint: its name; empty for the condition number.
        quantity: `position`, `velocity`, `effort`, `power` or `condition number`.
        lowest, highest: of the motion, in the joint's units.
        lower, upper: the limits, infinite where there is none.
        time: [s] of the row that is nearest to a limit, or furthest beyond it; where there is
            none, of the largest value.
        used: share of the limit that is used, of a position that of the travel from its middle;
            1 is the limit, NaN without one, infinite if a value is missing or was cut, or if
            the limit is 0: a motor has no torque beyond its highest speed.
        cut: whether an effort was cut to the limit.
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
    def broken(self) -> bool:
        """Whether the motion is beyond the limit."""
        return bool(self.used > 1.0 + ROUNDING)


@dataclass(frozen=True)
class Margins:
    """All limits of a mechanism against one motion.

    Attributes:
        rows: position, velocity, effort and power of each driven joint, the positions of passive
            joints that have limits, then the condition number.
        first: the limit broken first, and the time [s] at which it is; None where all hold.
    """

    rows: tuple[Margin, ...]
    first: tuple[Margin, float] | None

    @property
    def hold(self) -> bool:
        """Whether the motion keeps to every limit."""
        return self.first is None

    @property
    def tightest(self) -> Margin | None:
        """The limit of which the largest share is used; None where the mechanism has no limits."""
        limited = [row for row in self.rows if np.isfinite(row.used)]
        return max(limited, key=lambda row: row.used, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON: whether all hold, the first violation, the tightest, all rows."""
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
        """One mapping a row, for JSON; None stands for a limit that is not given."""
        return [
            asdict(row)
            | {name: _finite(getattr(row, name)) for name in ("lower", "upper", "used")}
            | {"broken": row.broken}
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
    """Hold the histories of a motion against a mechanism's limits.

    Args:
        mechanism: with its limits.
        time: (N,) [s].
        positions, velocities, efforts: (N, n) of the driven joints; NaN where there is none (no
            efforts at a singularity) counts as beyond every limit.
        condition_numbers: (N,).
        max_condition: largest condition number allowed; see `condition_limit`.
        cut: the efforts were cut to their limits, so one that is at its limit was asked for more.
        passive_positions: (N, k - n) of the passive joints that have limits, see
            `passive_positions_of`; None if they are not known.

    Raises:
        InvalidInput: histories of other shapes, or no rows.
    """
    when = as_array("time", time, (), "s").reshape(-1)
    n, count = len(mechanism.joint_names), len(when)
    q = _history("positions", positions, (count, n))
    v = _history("velocities", velocities, (count, n))
    f = _history("efforts", efforts, (count, n))
    number = _history("condition_numbers", condition_numbers, (count,))
    if not count:
        raise InvalidInput("a motion of no rows has no margins", value=time)
    limit = max_condition
    if limit != np.inf:
        limit = as_scalar("max_condition", limit, at_least=1.0)
    rows, beyond = [], []
    # a missing rate is beyond its own limit already
    limits = mechanism.effort_limits_at(np.nan_to_num(v))
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
            beyond.append(used)
    passive = mechanism.travel_limits[n:] if passive_positions is not None else ()
    given = np.empty((count, 0)) if passive_positions is None else passive_positions
    for values, (name, _, low, high) in zip(
        _history("passive_positions", given, (count, len(passive))).T, passive, strict=True
    ):
        row, used = _margin(name, "position", when, values, low, high)
        rows.append(row)
        beyond.append(used)
    row, used = _margin("", "condition number", when, number, -np.inf, limit)
    rows.append(row)
    beyond.append(used)
    broken = np.array(beyond) > 1.0 + ROUNDING  # (rows, N)
    if not broken.any():
        return Margins(tuple(rows), None)
    first = int(broken.any(axis=0).argmax())
    return Margins(tuple(rows), (rows[int(broken[:, first].argmax())], float(when[first])))


def passive_positions_of(mechanism: Mechanism, configurations: FloatArray) -> FloatArray:
    """Positions (N, k - n) of passive joints that have limits, at configurations (N, nq)."""
    return mechanism.travel(configurations)[..., len(mechanism.joint_names) :]


def condition_limit(mechanism: Mechanism) -> float:
    """The largest condition number that counts as within limits where none is stated.

    The threshold of errors where the actuators act side by side on one body: near a singularity
    they cannot hold it. Infinite elsewhere, an arm passes through singular configurations.
    """
    return CONDITION_LIMIT if presentation.acts_along_legs(mechanism) else np.inf


def _margin(
    joint: str,
    quantity: str,
    when: FloatArray,
    values: FloatArray,
    lower: ArrayLike,
    upper: ArrayLike,
    full: BoolArray | None = None,
) -> tuple[Margin, FloatArray]:
    """A row, and the share (N,) of the limit that each value uses; that of `full` ones is lost.

    Limits are one for all rows, or one for each (N,); the row has those of its time.
    """
    low, high = (np.broadcast_to(np.asarray(v, dtype=float), values.shape) for v in (lower, upper))
    used = _shares(values, low, high)
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


def _shares(values: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """0 at the middle of the limits, 1 at either; of a single limit, the share of it."""
    both = np.isfinite(lower) & np.isfinite(upper)
    low, high = np.where(both, lower, -1.0), np.where(both, upper, 1.0)
    half, away = 0.5 * (high - low), np.abs(values - 0.5 * (high + low))
    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.where(half > 0.0, away / half, np.where(away > 0.0, np.inf, 1.0))
    single = np.where(
        np.isfinite(upper),
        _of_one(values, upper),
        np.where(np.isfinite(lower), _of_one(-values, -lower), 0.0),
    )
    shares = np.where(both, between, single)
    limited = np.isfinite(lower) | np.isfinite(upper)
    return np.where(np.isnan(values) & limited, np.inf, shares)


def _of_one(values: FloatArray, limit: FloatArray) -> FloatArray:
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
    """A few lines for the screen.

    Args:
        found: as `Margins.to_dict` has it.
    """
    broken = [row for row in found["rows"] if row["broken"]]
    if not broken:
        tightest = found["tightest"]
        if tightest is None:
            return ["limits                 none are given"]
        return [f"limits                 all hold; nearest: {row_text(tightest)}"]
    first = found["first"]
    lines = [
        f"limits                 {len(broken)} broken, first {_subject(first)} "
        f"at t = {first['time']:.3f} s"
    ]
    return lines + [f"  {row_text(row)}" for row in broken]


def row_text(row: dict[str, Any]) -> str:
    """What a motion makes of one limit: `velocity of joint1, 90 % (-1.8 to 0.3 of 2)`."""
    lower, upper = row["lower"], row["upper"]
    one_sided = lower is None or (upper is not None and lower == -upper)
    limit = _number(upper) if one_sided else f"{_number(lower)} to {_number(upper)}"
    share = "no value"
    if row["used"] is not None:
        share = f"{100.0 * row['used']:.0f} %"
    elif row.get("cut"):
        share = "cut to it"
    elif lower == upper == 0.0:
        share = "beyond the highest speed of its motor, which has none left"
    span = f"{_number(row['lowest'])} to {_number(row['highest'])}"
    return f"{_subject(row)}, {share} ({span} of {limit})"


def _subject(row: dict[str, Any]) -> str:
    return f"{row['quantity']} of {row['joint']}" if row["joint"] else str(row["quantity"])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
