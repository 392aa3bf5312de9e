# SPDX-License-Identifier: Apache-2.0

"""Checks of an evaluation against requirements, each with an explanatory sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from robodyn.algorithms.conditioning import condition_text
from robodyn.algorithms.motors import LIMIT_TOLERANCE
from robodyn.arrays import FloatArray
from robodyn.designing.evaluation import DriveRequirements, MotionEvaluation, Verdict
from robodyn.designing.machine_motion import MachineMotion
from robodyn.designing.requirements import Requirements
from robodyn.mechanism.mechanism import Mechanism


class _Worst(NamedTuple):
    """Value closest to its limit or farthest beyond it, with the motion and joint."""

    value: float
    limit: float
    motion: str
    joint: str


def verdicts(
    m: Mechanism,
    requirements: Requirements,
    found: Sequence[MachineMotion],
    rows: Sequence[MotionEvaluation],
    need: DriveRequirements,
    accuracy: FloatArray | None,
    continuous_effort: float,
    frequencies: FloatArray | None,
) -> tuple[Verdict, ...]:
    """Check the results of an evaluation against the requirements.

    Returns:
        A verdict on each requirement that applies, with value, limit and a sentence; those on the
        drives come first.
    """
    return (
        *_reach(rows),
        *_drives(m, requirements, found, rows),
        *_continuous(m, need, continuous_effort),
        *_limits(requirements, rows, accuracy, frequencies),
    )


def _reach(rows: Sequence[MotionEvaluation]) -> Iterator[Verdict]:
    worst = min(rows, key=lambda row: row.reached)
    missing = 1.0 - worst.reached
    text = "all poses are reached"
    if missing > 0.0:
        text = (
            f"{_motion_name(worst.name)} is not reached at {100.0 * missing:.3g} % of its "
            "instants: the mechanism cannot reach these poses, or no efforts can hold it there"
        )
    yield Verdict("reach", worst.reached, 1.0, "", missing, worst.name, "", text)
    across = [row.name for row in rows if row.crosses]
    text = "no motion passes through a singularity"
    if across:
        motion = _motion_name(across[0])
        text = f"{motion} passes through a singularity: the drives cannot hold the body"
    yield Verdict("singularity", float(len(across)), 0.0, "", 10.0 * len(across),
                  across[0] if across else "", "", text)  # fmt: skip


def _drives(
    m: Mechanism,
    requirements: Requirements,
    found: Sequence[MachineMotion],
    rows: Sequence[MotionEvaluation],
) -> Iterator[Verdict]:
    units = dict(zip(m.joint_names, m.drives.units, strict=True))
    margins = requirements.margins
    lower, upper = m.position_limits.T
    low = np.array([row.positions[:, 0] for row in rows]) - margins.stroke
    high = np.array([row.positions[:, 1] for row in rows]) + margins.stroke
    sizes = np.where(np.isfinite(upper - lower), upper - lower, 1.0)
    for name, values, ends, sense, what in (
        ("shortest", low, lower, -1.0, "goes down to"),
        ("longest", high, upper, 1.0, "goes up to"),
    ):
        worst = _worst(m, rows, values, np.broadcast_to(ends, values.shape), sense)
        unit: str = units[worst.joint]
        size = float(sizes[m.joint_names.index(worst.joint)])
        statement = (
            f"{worst.joint} {what} {_number(worst.value)} {unit} in {_motion_name(worst.motion)}"
        )
        yield _verdict(name, worst, unit, sense, size, statement)
    speeds = margins.speed * np.array([row.speed for row in rows])
    worst = _worst(m, rows, speeds, np.broadcast_to(m.velocity_limits, speeds.shape), 1.0)
    unit = f"{units[worst.joint]}/s"
    statement = f"{worst.joint} needs {_number(worst.value)} {unit} in {_motion_name(worst.motion)}"
    yield _verdict("speed", worst, unit, 1.0, worst.limit, statement)
    worst, rate = _efforts(m, requirements, found, rows)
    unit = "N" if units[worst.joint] == "m" else "N m"
    speed = f" at {_number(round(rate, 4))} {units[worst.joint]}/s"
    at = speed if m.drives.has_torque_speed_curve else ""
    statement = (
        f"{worst.joint} needs {_number(worst.value)} {unit}{at} in {_motion_name(worst.motion)}"
    )
    yield _verdict("effort", worst, unit, 1.0, max(worst.limit, 0.1 * worst.value), statement)


def _continuous(m: Mechanism, need: DriveRequirements, limit: float) -> Iterator[Verdict]:
    if np.isfinite(limit):
        j = int(np.nan_to_num(need.continuous_effort).argmax())
        value, unit = float(need.continuous_effort[j]), m.drives.effort_units[j]
        worst = _Worst(value, limit, "", m.joint_names[j])
        statement = f"{worst.joint} needs {_number(value)} {unit} continuously"
        yield _verdict("continuous_effort", worst, unit, 1.0, limit, statement)


def _efforts(
    m: Mechanism,
    requirements: Requirements,
    found: Sequence[MachineMotion],
    rows: Sequence[MotionEvaluation],
) -> tuple[_Worst, float]:
    """Find the effort that is closest to the motor's limit at the velocity there.

    Returns:
        The effort with its limit, and the velocity [m/s or rad/s].
    """
    margins = requirements.margins
    best, fraction, at = _Worst(np.nan, np.inf, rows[0].name, m.joint_names[0]), -1.0, 0.0
    for each, row in zip(found, rows, strict=True):
        every = each.all
        rate = margins.speed * np.nan_to_num(every.rate)
        effort = margins.force * np.nan_to_num(every.effort)
        has = m.drives.effort_limits_at(rate)
        low, high = (np.clip(ends, -has, has) for ends in m.drives.effort_ranges.T)
        limit = np.where(effort < 0.0, -low, high)
        used = np.abs(effort)
        if np.isfinite(limit).any():
            used = used / np.maximum(limit, 1e-300)
        k, j = np.unravel_index(int(used.argmax()), used.shape)
        if used[k, j] > fraction:
            best = _Worst(abs(float(effort[k, j])), float(limit[k, j]), row.name, m.joint_names[j])
            fraction, at = float(used[k, j]), abs(float(rate[k, j]))
    return best, at


def _worst(
    m: Mechanism,
    rows: Sequence[MotionEvaluation],
    values: FloatArray,
    limits: FloatArray,
    sense: float,
) -> _Worst:
    """Find the value (motions, joints) with the least margin to its limit.

    `sense` is 1 for upper and -1 for lower limits.
    """
    margins = sense * (values - limits)
    unlimited = not np.isfinite(limits).any()
    ranked = np.nan_to_num(sense * values if unlimited else margins, nan=-np.inf)
    k, j = (int(index) for index in np.unravel_index(int(ranked.argmax()), ranked.shape))
    return _Worst(float(values[k, j]), float(limits[k, j]), rows[k].name, m.joint_names[j])


def _limits(
    requirements: Requirements, rows: Sequence[MotionEvaluation], accuracy: FloatArray | None,
    frequencies: FloatArray | None,
) -> Iterator[Verdict]:  # fmt: skip
    limits = requirements.limits
    worst = max(rows, key=lambda row: row.condition_number)
    condition = condition_text(worst.condition_number)
    statement = f"the condition number is {condition} in {_motion_name(worst.name)}"
    yield _limit("condition_number", worst.condition_number, limits.condition_number, "", 1.0,
                 worst.name, statement)  # fmt: skip
    angles = [(angle, row.name, joint) for row in rows for joint, angle in row.joint_angles.items()]
    if angles:
        angle, motion, joint = max(angles)
        statement = f"{joint} turns by {_number(angle)} rad from home in {_motion_name(motion)}"
        yield _limit("joint_angle", angle, limits.joint_angle, "rad", 1.0, motion, statement, joint)
    for name, what, sense, pick in (
        ("leg_clearance", "two legs are {} m apart", -1.0, min),
        ("payload_clearance", "the payload is {} m away from a leg", -1.0, min),
        (
            "footprint_radius",
            "the farthest joint on the base is {} m from the z axis of the base frame",
            1.0,
            max,
        ),
        ("height", "the machine is {} m high", 1.0, max),
        ("floor", "the lowest point of the machine is at {} m", -1.0, min),
    ):
        attribute = {"height": "highest", "floor": "lowest"}.get(name, name)
        values = [(getattr(row.space, attribute), row.name) for row in rows]
        value, motion = pick(values)
        limit = getattr(limits, name)
        if not np.isfinite(limit) or np.isnan(value) or (sense < 0.0 and limit == 0.0
                                                         and name != "floor"):  # fmt: skip
            continue
        where = "" if name == "footprint_radius" else f" in {_motion_name(motion)}"
        statement = what.format(_number(value)) + where
        yield _limit(name, value, limit, "m", sense, motion, statement)
    if accuracy is not None:
        for name, unit, part, what in (
            ("position_error", "m", accuracy[:3], "position"),
            ("angle_error", "rad", accuracy[3:], "orientation"),
        ):
            value = float(part.max())
            statement = f"the standard deviation of the body's {what} is {_number(value)} {unit}"
            yield _limit(name, value, getattr(limits, name), unit, 1.0, "", statement)
    if frequencies is not None:
        value, least = float(frequencies[0]), requirements.natural_frequency
        statement = f"the first natural frequency is {_number(value)} Hz"
        yield _limit("natural_frequency", value, -np.inf if least is None else least, "Hz", -1.0,
                     "", statement)  # fmt: skip


def _limit(
    name: str, value: float, limit: float, unit: str, sense: float, motion: str, statement: str,
    joint: str = "",
) -> Verdict:  # fmt: skip
    return _verdict(
        name, _Worst(value, limit, motion, joint), unit, sense, abs(limit) or 1.0, statement
    )


def _verdict(
    name: str, worst: _Worst, unit: str, sense: float, size: float, statement: str
) -> Verdict:
    """Create the verdict on a value with a limit.

    `statement` is the beginning of its sentence, to which the limit is added. `sense` is 1 for
    upper and -1 for lower limits.
    """
    value, limit, motion, joint = worst
    named = f" {unit}" if unit else ""
    if not np.isfinite(limit):
        return Verdict(
            name, value, limit, unit, 0.0, motion, joint, f"{statement}; no limit is given"
        )
    margins = sense * (value - limit)
    excess = margins / size if np.isfinite(size) and size > 0.0 else margins
    excess = np.inf if np.isnan(value) else excess if excess > LIMIT_TOLERANCE else min(excess, 0.0)
    side, verb = ("at most", "allowed") if sense > 0.0 else ("at least", "required")
    text = f"{statement}; {side} {_number(limit)}{named} is {verb}"
    if excess > 0.0:
        text += f", {'exceeded' if sense > 0.0 else 'missed'} by {_number(abs(margins))}{named}"
    return Verdict(name, value, limit, unit, float(excess), motion, joint, text)


def _motion_name(motion: str) -> str:
    return "the poses at rest" if motion == "poses" else f"motion {motion!r}"


def _number(value: float) -> str:
    """Format a number with four significant digits, without an exponent up to 1e6."""
    return f"{float(f'{value:.4g}'):g}"
