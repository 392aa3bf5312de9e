# SPDX-License-Identifier: Apache-2.0

"""Identification of hidden parameters, over many seeds of noise.

FILE gets a line of JSON for each model and seed; those that it has are not run again, so that a
long run may be interrupted. It takes some five seconds a seed.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.identification.recording import Recording
from robodyn.simulation.sensor import Sensor
from robodyn.trajectories.fourier import FourierSeries, FourierTrajectory

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray

RATE, DURATION, NOISE, ENCODER = 100.0, 8.0, 0.01, 1e-7
# How far a motion reaches [rad or m], and the period [s] at which the nodes control such a machine.
MODELS = {"puma560": (0.5, 0.01), "delta": (0.2, 0.005), "stewart_symmetric": (0.03, 0.005)}
# Recordings of different motions that one identification has.
RECORDINGS = 3
# Number of seeds with simulated runs under control as well, which take longer.
FLOWN = 10


def motion(m: Any, rng: Any, reach: float) -> FourierTrajectory:
    """A random motion about home."""
    rest = np.zeros(m.coordinates.velocity_size)
    center = motions.independent_motion(m, m.home, rest, rest).positions
    size = reach / np.arange(1, 6)[:, None]
    sine, cosine = rng.uniform(-1.0, 1.0, (2, 5, len(center))) * size
    return FourierTrajectory(m, FourierSeries(DURATION, 1.0, center, sine, cosine))


def recorded(m: Any, path: Any, rng: Any) -> tuple[Recording, FloatArray]:
    """A motion as it would be recorded, and the deviation of its efforts' noise."""
    times = np.arange(0.0, DURATION, 1.0 / RATE)
    states = path.sample(times)
    efforts = m.inverse_dynamics(*states)
    noise = NOISE * efforts.std(axis=0)
    at = m.joint_positions(states.configuration)
    at = at + ENCODER * rng.normal(size=at.shape)
    return Recording.from_arrays(m, times, at, efforts + noise * rng.normal(size=at.shape)), noise


def tracked(truth: Any, model: Any, path: Any, period: float, seed: int) -> float:
    """Root mean square error with which computed torque by a model makes the true one follow.

    The loop has what the recordings have: sampled every `period` [s], efforts held in between,
    positions with the encoders' noise and rates that are differences of these.
    """
    law = rd.ComputedTorque(model)
    sensor = Sensor(truth, ENCODER, np.sqrt(2.0) * ENCODER / period, seed=seed)

    def control(
        time: float, configuration: FloatArray, velocity: FloatArray, trajectory: Any
    ) -> FloatArray:
        return law(time, *sensor.measure(configuration, velocity), trajectory)

    run = rd.simulate(truth, control, path, dt=1e-3, control_dt=period)
    expected = path.sample(run.time)
    error = truth.joint_positions(run.configuration) - truth.joint_positions(expected.configuration)
    return float(np.sqrt((error**2).mean()))


def one(name: str, seed: int, flown: bool) -> dict[str, Any]:
    """Identify a model that is perturbed by up to 30 % from noisy recordings."""
    reach, period = MODELS[name]
    truth: Any = rd.load(name)
    rng = np.random.default_rng(seed)
    paths = [motion(truth, rng, reach) for _ in range(RECORDINGS)]
    other = motion(truth, rng, reach)
    own = truth.parameters
    factors = np.repeat(rng.uniform(0.7, 1.3, len(own.bodies)), 10)
    rest = rng.uniform(0.7, 1.3, len(own.values) - len(factors))
    given = rd.with_parameters(truth, own.values * np.concatenate([factors, rest]))
    result = rd.identify(given, [recorded(truth, path, rng)[0] for path in paths])
    found = result.parameters
    unseen, noise = recorded(truth, other, rng)
    check = result.validate([unseen])[0]
    [(samples, _)] = result.predict(unseen)
    left = (truth.inverse_dynamics(*samples.motion) - samples.effort)[samples.kept]
    line = {
        "model": name,
        "seed": seed,
        "deviations": ((found.values - found.of(truth)) / found.deviations).round(3).tolist(),
        "filtered": (check.rmse / noise).tolist(),
        "unfiltered": (check.rmse_unfiltered / noise).tolist(),
        "true_unfiltered": (np.sqrt((left**2).mean(axis=0)) / noise).tolist(),
    }
    if flown:
        line["tracking"] = [
            tracked(truth, model, other, period, seed) for model in (result.mechanism, truth, given)
        ]
    return line


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The lines that a file has; none if there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def lines(path: Path, seeds: int) -> list[dict[str, Any]]:
    """The lines of a file, those that it lacks made and added; seed by seed."""
    done = lines_of(path)
    have = {(line["model"], line["seed"]) for line in done}
    for seed in range(seeds):
        for name in MODELS:
            if (name, seed) not in have:
                line = one(name, seed, seed < FLOWN)
                with path.open("a") as file:
                    file.write(json.dumps(line) + "\n")
                done.append(line)
    return [line for line in done if line["seed"] < seeds]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="gets the lines")
    parser.add_argument("seeds", nargs="?", type=int, default=100, help="of each model")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    made = lines(given.file, given.seeds)
    sys.stdout.write(f"{len(made)} lines in {given.file}\n")
