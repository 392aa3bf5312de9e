# SPDX-License-Identifier: Apache-2.0

"""Predictive cueing beside the washout with its best scale, on the same inputs and platform.

    python -m benchmarks.motion_cueing [--inputs step slalom flight] [--recording FILE]
    python -m benchmarks.motion_cueing --hours 0.5 --cases 500 [--seed 1]

The washout is the preset "driving"; its `force_gain` is tuned on the input by a bounded search, for
the least error of perceived specific force. Both keep to the limits of the legs. With `--hours` or
`--cases` the limits are tried instead: random inputs at full scale, and worst cases of three
seconds each (jumps from one extreme to another, saw-teeth, forces that turn round where a leg is at
its edge), each beginning where the one before has left the platform. The worst values are reported.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize_scalar

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.extras import require_extra
from robodyn.motion_base.machine.limits import DriveLimits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from robodyn.motion_base.cueing.ride import Ride

    Inputs = Iterator[np.ndarray]

REST = np.array([0.0, 0.0, 9.81])
HEAD = np.array([0.0, 0.0, 1.1])
DT = 0.02
TRIALS = 6
# Of forces [m/s^2] and rates [rad/s].
FULL = np.array([10.0] * 3 + [1.0] * 3)


def step() -> rd.VehicleMotion:
    """Four seconds of 3 m/s^2 forward, then a brake of 4 m/s^2, each reached in 0.3 s."""
    times = np.arange(0.0, 16.0, DT)
    force = np.tile(REST, (len(times), 1))

    def since(start: float) -> np.ndarray:
        return np.clip((times - start) / 0.3, 0.0, 1.0)

    force[:, 0] += 3.0 * (since(2.0) - since(6.0)) - 4.0 * (since(9.0) - since(12.0))
    return rd.VehicleMotion(times, force, np.zeros_like(force))


def slalom(side: float = 4.0, frequency: float = 0.3) -> rd.VehicleMotion:
    """At 20 m/s, so much [m/s^2] to each side, so many times a second."""
    times = np.arange(0.0, 24.0, DT)
    on = np.clip((times - 2.0) / 2.0, 0.0, 1.0) * np.clip((22.0 - times) / 2.0, 0.0, 1.0)
    push = side * np.sin(2.0 * np.pi * frequency * times) * on
    force, rate = np.tile(REST, (len(times), 1)), np.zeros((len(times), 3))
    force[:, 1] += push
    rate[:, 2] = push / 20.0
    return rd.VehicleMotion(times, force, rate)


def quick_slalom() -> rd.VehicleMotion:
    """Quicker and weaker."""
    return slalom(3.0, 0.5)


def flight() -> rd.VehicleMotion:
    """Take-off, turns and turbulence of JSBSim's c172x."""
    with require_extra("flight", "the flight needs JSBSim", "jsbsim"):
        from robodyn.motion_base.cueing.flight import Flight

        made = Flight(DT)
    rows = [(made.time, *made.step()) for _ in range(round(70.0 / DT))]
    times, forces, rates = (np.array(each) for each in zip(*rows, strict=True))
    return rd.VehicleMotion(times, forces, rates)


def rough_flight() -> rd.VehicleMotion:
    """Banked twice as steeply, and soon, in severe turbulence."""
    from robodyn.motion_base.cueing import flight as module

    begun = module.BANK, module.SEVERITY
    module.BANK, module.SEVERITY = ((0.0, 0.0), (30.0, -0.5), (42.0, 0.5), (56.0, 0.0)), 6
    try:
        return flight()
    finally:
        module.BANK, module.SEVERITY = begun


def error(ride: Ride) -> float:
    """[m/s^2] root of the mean square of the perceived force's error, all axes together."""
    return float(np.linalg.norm(ride.perceived_force_error))


def compare(m: rd.Mechanism, inputs: dict[str, rd.VehicleMotion]) -> None:
    """Print the table of docs/motion_cueing.md."""
    print("| input | washout: scale | force | rotation | predictive: force | rotation | force |")
    print("|---|---|---|---|---|---|---|")
    preset = rd.WashoutParameters.preset("driving")
    for name, vehicle in inputs.items():

        def washed(gain: float, vehicle: rd.VehicleMotion = vehicle) -> Ride:
            return rd.ride(m, vehicle, replace(preset, force_gain=gain), head=HEAD, dt=DT)

        found = minimize_scalar(
            lambda gain: error(washed(gain)), bounds=(0.1, 1.2), method="bounded",
            options={"maxiter": TRIALS},
        )  # fmt: skip
        best = washed(found.x)
        ours = rd.ride(m, vehicle, rd.PredictiveParameters(), head=HEAD, dt=DT)
        rotation = (np.linalg.norm(each.perceived_rate_error) for each in (best, ours))
        of_best, of_ours = rotation
        less = 100.0 * (error(ours) / error(best) - 1.0)
        print(
            f"| {name} | {found.x:.2f} | {error(best):.3f} | {of_best:.3f} | "
            f"{error(ours):.3f} | {of_ours:.3f} | {less:.0f} % |",
            flush=True,
        )


def random_inputs(random: np.random.Generator, hours: float, dt: float) -> Inputs:
    """Forces and rates (6,) at full scale, each held for 3 to 150 steps."""
    for _ in range(round(hours * 3600.0 / dt / 76.0)):
        row = random.uniform(-1.0, 1.0, 6) * FULL
        for _ in range(random.integers(3, 150)):
            yield row


def worst_cases(random: np.random.Generator, count: int, dt: float, used: np.ndarray) -> Inputs:
    """Three kinds of cases in turn; `used` (1,) of half its range by the joint nearest its end."""
    times = np.arange(0.0, 3.0, dt)
    for case in range(count):
        row, period = random.choice([-1.0, 1.0], 6) * FULL, random.uniform(0.1, 3.0, 6)
        turned = False
        for t in times:
            if case % 3 == 0:
                yield row * (1.0 if t < period[0] else -1.0)
            elif case % 3 == 1:
                yield row * (2.0 * (t / period % 1.0) - 1.0)
            else:
                at_edge = bool(used[0] > 0.97)
                row, turned = -row if at_edge and not turned else row, at_edge
                yield row * (random.random(6) < 0.5 if t == 0.0 else 1.0)


def try_limits(m: rd.Mechanism, given: argparse.Namespace) -> None:
    """Print the worst shares of limits, and times of a step."""
    limits, dt = DriveLimits.of(m), given.dt
    middle, half = limits.positions.mean(axis=1), 0.5 * np.ptp(limits.positions, axis=1)
    violent = rd.WashoutParameters(force_gain=1.0, rotation_gain=1.0, tilt_rate=0.3)
    for name in given.algorithms:
        random, times = np.random.default_rng(given.seed), []
        worst, used = np.zeros(4), np.zeros(1)
        cueing = (
            rd.ClassicalWashout(m, dt, violent, HEAD)
            if name == "classical"
            else rd.PredictiveCueing(m, dt, head=HEAD)
        )
        q, joints = m.home, []
        inputs = random_inputs(random, given.hours, dt), worst_cases(random, given.cases, dt, used)
        for row in chain(*inputs):
            begun = time.perf_counter()
            cueing.step(REST + row[:3], row[3:])
            times.append(time.perf_counter() - begun)
            joints.append(cueing.joints)
            used[0] = (np.abs(joints[-1].positions - middle) / half).max()
        for part in np.array_split(np.array(joints), max(len(joints) // 1000, 1)):
            motion = motions.motion_of_joints(m, *np.moveaxis(part, 1, 0), q)
            q = motion.configuration[-1]
            positions, rates, changes = motions.driven_motion(m, *motion)
            fractions = (
                np.abs(positions - middle) / half, np.abs(rates) / limits.rates,
                np.abs(changes) / limits.accelerations,
                np.abs(m.inverse_dynamics(*motion)) / m.drives.effort_limits_at(rates),
            )  # fmt: skip
            worst = np.maximum(worst, [fraction.max() for fraction in fractions])  # NaN stays NaN
        spent = 1e3 * np.quantile(times, [0.5, 0.99, 1.0])
        print(
            f"{m.name} {name}: {len(times)} steps; length, rate, acceleration, force at most "
            f"{np.round(worst, 4)} of the limits; {spent[0]:.2f} ms a step, 99 % within "
            f"{spent[1]:.2f}, at most {spent[2]:.1f}",
            flush=True,
        )


INPUTS = {each.__name__: each for each in (step, slalom, flight, quick_slalom, rough_flight)}


def main() -> None:
    """Compare, or try the limits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="motion_platform")
    parser.add_argument("--inputs", nargs="+", default=list(INPUTS), choices=list(INPUTS))
    parser.add_argument("--recording", help="of a vehicle, to be compared, too")
    parser.add_argument("--hours", type=float, default=0.0, help="of random input, to try limits")
    parser.add_argument("--cases", type=int, default=0, help="worst cases, to try limits")
    parser.add_argument("--dt", type=float, default=DT, help="of a step when limits are tried [s]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--algorithms", nargs="+", default=["classical", "predictive"])
    given = parser.parse_args()
    m = rd.load(given.model)
    if given.hours or given.cases:
        try_limits(m, given)
    else:
        inputs = {name: INPUTS[name]() for name in given.inputs}
        if given.recording:
            inputs["recording"] = rd.read_vehicle(given.recording)
        compare(m, inputs)


if __name__ == "__main__":
    main()
