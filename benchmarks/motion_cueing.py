# SPDX-License-Identifier: Apache-2.0

"""Predictive cueing beside the washout with its best scale, on the same inputs and platform.

    python -m benchmarks.motion_cueing [--hours 1]

The washout is the preset "driving"; its `force_gain` is tuned on the input by a bounded search, for
the least error of perceived specific force. Both keep to the limits of the legs. With `--hours` the
limits are tried instead: random inputs at full scale, whose worst values are told.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize_scalar

import robodyn as rd
from robodyn.extras import needing
from robodyn.motion_base.limits import DriveLimits

if TYPE_CHECKING:
    from robodyn.motion_base.ride import Ride

REST = np.array([0.0, 0.0, 9.81])
HEAD = np.array([0.0, 0.0, 1.1])
DT = 0.02
TRIALS = 6


def step() -> rd.VehicleMotion:
    """Four seconds of 3 m/s^2 forward, then a brake of 4 m/s^2, each reached in 0.3 s."""
    times = np.arange(0.0, 16.0, DT)
    force = np.tile(REST, (len(times), 1))

    def since(start: float) -> np.ndarray:
        return np.clip((times - start) / 0.3, 0.0, 1.0)

    force[:, 0] += 3.0 * (since(2.0) - since(6.0)) - 4.0 * (since(9.0) - since(12.0))
    return rd.VehicleMotion(times, force, np.zeros_like(force))


def slalom() -> rd.VehicleMotion:
    """At 20 m/s, 4 m/s^2 to each side, 0.3 times a second."""
    times = np.arange(0.0, 24.0, DT)
    on = np.clip((times - 2.0) / 2.0, 0.0, 1.0) * np.clip((22.0 - times) / 2.0, 0.0, 1.0)
    side = 4.0 * np.sin(0.6 * np.pi * times) * on
    force, rate = np.tile(REST, (len(times), 1)), np.zeros((len(times), 3))
    force[:, 1] += side
    rate[:, 2] = side / 20.0
    return rd.VehicleMotion(times, force, rate)


def flight() -> rd.VehicleMotion:
    """Take-off, turns and turbulence of JSBSim's c172x."""
    with needing("flight", "the flight needs JSBSim", "jsbsim"):
        from robodyn.motion_base.flight import Flight

        made = Flight(DT)
    rows = [(made.time, *made.step()) for _ in range(round(70.0 / DT))]
    times, forces, rates = (np.array(each) for each in zip(*rows, strict=True))
    return rd.VehicleMotion(times, forces, rates)


def error(ride: Ride) -> float:
    """[m/s^2] root of the mean square of the perceived force's error, all axes together."""
    return float(np.linalg.norm(ride.perceived_force_error))


def compare(m: rd.Mechanism) -> None:
    """Print the table of docs/motion_cueing.md."""
    print("| input | washout: scale | force | rotation | predictive: force | rotation | force |")
    print("|---|---|---|---|---|---|---|")
    preset = rd.WashoutParameters.preset("driving")
    for make in (step, slalom, flight):
        vehicle = make()

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
            f"| {make.__name__} | {found.x:.2f} | {error(best):.3f} | {of_best:.3f} | "
            f"{error(ours):.3f} | {of_ours:.3f} | {less:.0f} % |",
            flush=True,
        )


def try_limits(m: rd.Mechanism, hours: float) -> None:
    """Print the worst shares of limits, and times of a step."""
    random, limits = np.random.default_rng(0), DriveLimits.of(m)
    middle, half = limits.positions.mean(axis=1), 0.5 * np.ptp(limits.positions, axis=1)
    violent = rd.WashoutParameters(force_gain=1.0, rotation_gain=1.0, tilt_rate=0.3)
    for cueing in (
        rd.ClassicalWashout(m, 0.01, violent, HEAD),
        rd.PredictiveCueing(m, 0.01, head=HEAD),
    ):
        worst, times, left, row = np.zeros(4), [], 0, np.zeros(6)
        for _ in range(round(hours * 360_000)):
            if left == 0:
                left = int(random.integers(3, 300))
                row = random.uniform(-1.0, 1.0, 6) * ([10.0] * 3 + [1.0] * 3)
            left -= 1
            begun = time.perf_counter()
            cue = cueing.step(REST + row[:3], row[3:])
            times.append(time.perf_counter() - begun)
            lengths, rates, changes = m.driven_motion(*cue)
            shares = (
                np.abs(lengths - middle) / half, np.abs(rates) / limits.rates,
                np.abs(changes) / limits.accelerations,
                np.abs(m.inverse_dynamics(*cue)) / m.effort_limits_at(rates),
            )  # fmt: skip
            worst = np.maximum(worst, [share.max() for share in shares])
        spent = 1e3 * np.quantile(times, [0.5, 0.99, 1.0])
        print(
            f"{type(cueing).__name__}: length, rate, acceleration, force at most "
            f"{np.round(worst, 4)} of the limits; {spent[0]:.2f} ms a step, 99 % within "
            f"{spent[1]:.2f}, at most {spent[2]:.1f}",
            flush=True,
        )


def main() -> None:
    """Compare, or try the limits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="motion_platform")
    parser.add_argument("--hours", type=float, default=0.0, help="of random input, to try limits")
    given = parser.parse_args()
    m = rd.load(given.model)
    if given.hours:
        try_limits(m, given.hours)
    else:
        compare(m)


if __name__ == "__main__":
    main()
