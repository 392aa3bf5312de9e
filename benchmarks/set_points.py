# SPDX-License-Identifier: Apache-2.0

"""Set-points against Ruckig's: time to a goal, lag behind a moving target, time a tick.

`python -m benchmarks.set_points`: the table of docs/machine.md, with `pip install ruckig`; without
it, this package's numbers alone.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress

import numpy as np

from robodyn.motion_base.machine.limits import DriveLimits
from robodyn.motion_base.machine.set_points import SetPoints

DT, CASES, JOINTS = 0.002, 500, 6


def limits(n: int, rate: float, acceleration: float, jerk: float) -> DriveLimits:
    """Of joints without ends."""
    most = (np.full(n, value) for value in (rate, acceleration, jerk))
    return DriveLimits(np.tile([-np.inf, np.inf], (n, 1)), *most)


def ruckig_input(ruckig, own, state, target):
    """Return the input of Ruckig."""
    given = ruckig.InputParameter(len(own.rates))
    given.max_velocity, given.max_acceleration, given.max_jerk = map(list, own.rows)
    names = ("position", "velocity", "acceleration")
    for name, now, then in zip(names, state, target, strict=True):
        setattr(given, f"current_{name}", list(now))
        setattr(given, f"target_{name}", list(then))
    return given


def to_rest(ruckig, rng) -> np.ndarray:
    """Compute the extra time (CASES,) [s] relative to Ruckig's, from random states to goals."""
    more = []
    while len(more) < CASES:
        own = limits(1, *rng.uniform([0.5, 2.0, 20.0], [2.0, 8.0, 100.0]))
        rate, change, jerk = own.rows[:, 0]
        v, a = rng.uniform(-0.7, 0.7, 2) * [rate, change]
        if abs(v + 0.5 * a * abs(a) / jerk) > rate:
            continue  # it cannot keep to the rate
        joints = SetPoints(own, DT, [0.0])
        joints.state = np.array([[0.0], [v], [a]])
        target = np.array([[rng.uniform(-2.0, 2.0)], [0.0], [0.0]])
        best = ruckig.Trajectory(1)
        ruckig.Ruckig(1).calculate(ruckig_input(ruckig, own, joints.state, target), best)
        ticks = 0
        while np.abs(joints.state - target).max() > 1e-6:
            joints.take(*joints.next_state(target))
            ticks += 1
        more.append(ticks * DT - best.duration)
    return np.array(more)


def ruckig_steps(ruckig, own, state):
    """Return a function from a target (3, n) to the positions of Ruckig's next step."""
    planner = ruckig.Ruckig(JOINTS, DT)
    given = ruckig_input(ruckig, own, state, state)
    answer = ruckig.OutputParameter(JOINTS)

    def step(target: np.ndarray) -> np.ndarray:
        given.target_position, given.target_velocity, given.target_acceleration = map(list, target)
        planner.update(given, answer)
        answer.pass_to_input(given)
        return np.array(answer.new_position)

    return step


def behind(ruckig) -> list[tuple[float, float]]:
    """Largest lag [rad] behind six sines and time a tick [us], of each generator."""
    own, count = limits(JOINTS, 1.0, 4.0, 40.0), 4000
    joints = SetPoints(own, DT, np.zeros(JOINTS))

    def step(target: np.ndarray) -> np.ndarray:
        joints.take(*joints.next_state(target))
        return joints.state[0]

    steps = [step] if ruckig is None else [step, ruckig_steps(ruckig, own, joints.state)]
    lag, taken = np.zeros((len(steps), count)), np.zeros(len(steps))
    phase = np.arange(JOINTS)
    for k in range(count):
        t, size, w = (k + 1) * DT, 0.2, 2.0
        angle = w * t + phase
        target = size * np.array([np.sin(angle), w * np.cos(angle), -(w**2) * np.sin(angle)])
        for n, each in enumerate(steps):
            begun = time.thread_time()
            found = each(target)
            taken[n] += time.thread_time() - begun
            lag[n, k] = np.abs(found - target[0]).max()
    return list(zip(lag[:, count // 2 :].max(axis=1), 1e6 * taken / count, strict=True))


if __name__ == "__main__":
    ruckig = None
    with suppress(ImportError):
        import ruckig
    longer = missing = "Ruckig is not installed"
    if ruckig is not None:
        more = to_rest(ruckig, np.random.default_rng(0))
        longer = f"{more.mean() / DT:.2f} (at most {more.max() / DT:.2f})"
    (lag, tick), *peer = behind(ruckig)
    their_lag, their_tick = (
        (f"{peer[0][0]:.1e} rad", f"{peer[0][1]:.0f} us") if peer else (missing, missing)
    )
    sys.stdout.write(
        "| | this | Ruckig |\n|---|---|---|\n"
        f"| to rest from {CASES} random states, longer than the optimum, ticks of 2 ms | "
        f"{longer} | {0 if peer else missing} |\n"
        f"| lag behind six sines of 0.2 rad at 2 rad/s, seen every tick | {lag:.1e} rad | "
        f"{their_lag} |\n"
        f"| a tick of six joints | {tick:.0f} us | {their_tick} |\n"
        "| never beyond the ends of a joint, whatever its state | yes | targets only |\n"
        "| where ROS is | part of this package | no Python package: pip |\n"
    )
