# SPDX-License-Identifier: Apache-2.0

"""What limits a time-optimal motion where: the limit that is used up the most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.planning.time_optimal.motion import Limited

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.planning.kernels.intervals import Intervals
    from robodyn.planning.time_optimal.limits import Limits
    from robodyn.planning.time_optimal.terms import Along

# Of a limit: what is used up by less does not limit.
USED = 0.98
# Of the duration: what limits for less is left out.
BRIEF = 1e-3


def limiting(
    mechanism: Mechanism,
    path: Along,
    problem: Intervals,
    limits: Limits,
    middle: tuple[FloatArray, FloatArray],
    times: FloatArray,
    changes: tuple[list[str], FloatArray] | None = None,
) -> list[Limited]:
    """What limits a motion, in time order.

    Args:
        mechanism: what moves.
        path: along what, in N intervals.
        problem: what limits it there.
        limits: the limits themselves.
        middle: squares (N,) of the speed and accelerations (N,) in the middle of the intervals.
        times: (N + 1,) [s] of their ends.
        changes: names of limited rates of change, and what is used of each (N, names).
    """
    names, used = _used(mechanism, path, problem, limits, *middle)
    if changes is not None:
        names, used = names + changes[0], np.concatenate([used, changes[1]], axis=1)
    which = used.argmax(axis=1)
    which[used[np.arange(len(used)), which] < USED] = -1
    starts = np.flatnonzero(np.concatenate([[True], np.diff(which) != 0]))
    found: list[Limited] = []
    for first, last in zip(starts, [*starts[1:].tolist(), len(which)], strict=True):
        begin, end = float(times[first]), float(times[last])
        if end - begin < BRIEF * times[-1]:
            continue
        what = names[which[first]] if which[first] >= 0 else ""
        if found and found[-1].what == what:
            found[-1] = found[-1]._replace(end=end)
        elif what:
            found.append(Limited(begin, end, what))
    return found


def _used(
    mechanism: Mechanism,
    path: Along,
    problem: Intervals,
    limits: Limits,
    square: FloatArray,
    acceleration: FloatArray,
) -> tuple[list[str], FloatArray]:
    """Names of limits, and what is used of each (N, names) in the middle of the intervals."""
    speed = np.sqrt(square)[:, None]
    acceleration = acceleration[:, None]
    A, B, C, D, S, G, rate = np.moveaxis(problem.terms[:, 1], -1, 0)
    value = A * acceleration + B * square[:, None] + C * speed + D + S / (1.0 + G * square[:, None])
    joints = len(mechanism.joint_names)
    available = limits.curves.at(rate[:, :joints] * speed)
    upper, lower = problem.upper.copy(), problem.lower.copy()
    upper[:, :joints] = np.minimum(upper[:, :joints], available)
    lower[:, :joints] = np.maximum(lower[:, :joints], -available)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(value > 0.0, value / upper, value / lower)
    effort = np.nan_to_num(shares[:, :joints], nan=0.0, posinf=1.0)
    middle = path.rates[:, path.rates.shape[1] // 2]
    fast = np.abs(middle) * speed / limits.velocity
    names = [f"effort of {name}" for name in mechanism.joint_names]
    names += [f"rate of {name}" for name in mechanism.joint_names]
    columns = [effort, fast]
    accelerated = np.flatnonzero(np.isfinite(limits.acceleration))
    names += [f"acceleration of {mechanism.joint_names[i]}" for i in accelerated]
    columns.append(shares[:, joints:])
    tip = path.tip[:, path.tip.shape[1] // 2, None] * speed / limits.tip_speed
    return [*names, "speed of the tip"], np.concatenate([*columns, tip], axis=1)
