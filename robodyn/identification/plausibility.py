# SPDX-License-Identifier: Apache-2.0

"""Plausibility of recorded positions: units, turns, and motion."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import check_choice
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism

PositionUnit = Literal["", "rad", "m", "deg", "mm"]
UNITS: tuple[str, ...] = get_args(PositionUnit)
# The other unit of a revolute joint, degrees, and of a prismatic one, millimeters.
OTHER = {"rad": ("deg", np.pi / 180.0, "degrees"), "m": ("mm", 1e-3, "millimeters")}
# Angle [rad] about zero beyond which a joint without limits counts as in degrees.
LARGEST_ANGLE = 6.0 * np.pi
# Range [m or rad], and multiple of its noise, below which a joint counts as at rest.
REST_RANGE, NOISE = {"rad": 1e-3, "m": 1e-4}, 6.0


def convert_to_model_units(
    m: Mechanism,
    position: FloatArray,
    velocity: FloatArray | None,
    unit: str,
    source: str,
    notes: list[str],
) -> tuple[FloatArray, FloatArray | None]:
    """Convert joint readings (N, n) to the mechanism's units, signs and zeros.

    `position` and `velocity` (None if not recorded) are the readings, and `unit` their unit, or
    empty for SI units. A remark about positions beyond the limits is added to `notes`.

    Returns:
        Positions and velocities (N, n) [m or rad, m/s or rad/s]; None for missing velocities.

    Raises:
        InvalidInput: the unit is unknown, or the readings are plausible only in another unit.
    """
    if unit:
        check_choice("position_unit", unit, UNITS[1:])
    scale = np.array([OTHER[u][1] if unit == OTHER[u][0] else 1.0 for u in m.drives.units])
    where = m.drives.signs * scale * position + m.drives.offsets
    if not unit:
        refuse_other_units(m, position, where, source)
    low, high = m.position_limits.T
    slack = 1e-3 + 0.01 * np.where(np.isfinite(high - low), high - low, 0.0)
    exceeds = ((where < low - slack) | (where > high + slack)).any(axis=0)
    if exceeds.any():
        excesses = (
            f"{m.joint_names[j]} {where[:, j].min():.4g} to {where[:, j].max():.4g} "
            f"(limits {low[j]:.4g} to {high[j]:.4g})"
            for j in np.flatnonzero(exceeds)
        )
        notes.append(f"positions exceed the model's limits: {', '.join(excesses)}")
    return where, None if velocity is None else m.drives.signs * scale * velocity


def refuse_other_units(m: Mechanism, position: FloatArray, where: FloatArray, source: str) -> None:
    """Reject readings that are plausible only in degrees or millimeters.

    Args:
        m: mechanism with the joints.
        position: (N, n) readings.
        where: (N, n) joint positions [m or rad] of the mechanism if the readings are in SI units.
        source: name of the readings in messages.

    Raises:
        InvalidInput: readings are plausible only in another unit; the message names it.
    """
    for kind, (other, factor, words) in OTHER.items() if len(position) else ():
        joints = [j for j, unit in enumerate(m.drives.units) if unit == kind]
        scaled = m.drives.signs * factor * position + m.drives.offsets
        low, high = m.position_limits.T
        bounded = np.isfinite(low) & np.isfinite(high)
        # a margin of half the range, as limits of models are often rough
        margin = np.where(bounded, 0.5 * (high - low), 0.0)
        low = np.where(bounded, low - margin, -LARGEST_ANGLE if kind == "rad" else -np.inf)
        high = np.where(bounded, high + margin, LARGEST_ANGLE if kind == "rad" else np.inf)
        outside = [j for j in joints if where[:, j].min() < low[j] or where[:, j].max() > high[j]]
        inside = all(scaled[:, j].min() > low[j] and scaled[:, j].max() < high[j] for j in joints)
        if outside and inside:
            names = ", ".join(m.joint_names[j] for j in outside)
            worst = max(outside, key=lambda j: float(np.abs(position[:, j]).max()))
            raise InvalidInput(
                f"{source}: positions of {names} reach {np.abs(position[:, worst]).max():.4g}, far "
                f"beyond the model's limits in {kind}: if they are in {words}, set "
                f"position_unit={other!r} (--position-unit {other})",
                value=float(np.abs(position[:, worst]).max()),
            )


def unwrap_angles(m: Mechanism, position: FloatArray, notes: list[str]) -> FloatArray:
    """Remove jumps by a whole turn from recorded joint positions (N, n).

    Positions of prismatic joints are not changed. A remark about each joint with jumps is added to
    `notes`.

    Returns:
        Positions (N, n) [m or rad] with continuous angles.
    """
    out: FloatArray = position.copy()
    for joint, unit in enumerate(m.drives.units):
        jumps = int(np.count_nonzero(np.abs(np.diff(position[:, joint])) > np.pi))
        if unit == "rad" and jumps:
            out[:, joint] = np.unwrap(position[:, joint])
            times = "once" if jumps == 1 else f"{jumps} times"
            notes.append(
                f"{m.joint_names[joint]}: its position jumped by a turn {times} and was unwrapped"
            )
    return out


def refuse_standstill(m: Mechanism, position: FloatArray, source: str, notes: list[str]) -> None:
    """Add a note about joints that do not move; reject readings if no joint moves.

    Raises:
        InvalidInput: no joint moves.
    """
    still = [
        name
        for name, unit, where in zip(m.joint_names, m.drives.units, position.T, strict=True)
        if _span(where) < max(REST_RANGE[unit], NOISE * _noise(where))
    ]
    if len(still) == len(m.joint_names):
        elsewhere = "".join(f"{note}; " for note in notes if "`topic` selects" in note)
        widest = max(_span(where) for where in position.T)
        units = " or ".join(dict.fromkeys(m.drives.units))
        raise InvalidInput(
            f"{source}: no joint moves; the largest range of motion is {widest:.2g} ({units});"
            f" {elsewhere}record a motion of all joints, such as an exciting trajectory",
            value=source,
        )
    if still:
        notes.append(
            f"{', '.join(still)} did not move: parameters that depend on their motion cannot be "
            "identified"
        )


def _span(where: FloatArray) -> float:
    low, high = np.percentile(where, [1.0, 99.0])
    return float(high - low)


def _noise(where: FloatArray) -> float:
    """Estimate the standard deviation of a signal's noise from its third differences.

    The motion itself contributes little to third differences.
    """
    differences = np.diff(where, 3)
    return float(np.median(np.abs(differences)) / (0.6745 * np.sqrt(20.0)))
