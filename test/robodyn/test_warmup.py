# SPDX-License-Identifier: Apache-2.0

"""Nothing is compiled, or read from disk, any more once a node has warmed up."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
import importlib, sys, warnings
from pathlib import Path
import numpy as np
from robodyn.numerics.numba_compat import Dispatcher
import robodyn as rd
import robodyn
from robodyn.numerics.kernel_keys import compiled_sources
from robodyn.control.lookahead import look_ahead
from robodyn.control.slowing import SpeedScale
from robodyn.control import TrajectoryFollower, joint_motion
from robodyn.algorithms import Encoders, conditioning, needs_estimator, state_estimator
from robodyn.presentation.presentation import floating_poses
from robodyn.loading import kind_of
from robodyn.poses import twist_in_base, twist_in_body
from robodyn.trajectories import SampledTrajectory, knot_times
from robodyn.warmup import warm_up, warm_up_watching

def made():
    found = set()
    for source in compiled_sources():
        path = source.relative_to(Path(rd.__file__).parents[1]).with_suffix("").parts
        module = importlib.import_module(".".join(path).removesuffix(".__init__"))
        for name, value in vars(module).items():
            if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__:
                # what was on disk already counts as well: elsewhere it may not be
                entries = value.entry().overloads if hasattr(value, "entry") else ()
                signatures = [*value.overloads, *entries]
                found.update((f"{module.__name__}.{name}", str(sig)) for sig in signatures)
    return found

warnings.simplefilter("ignore")
model, path = sys.argv[1:]
mechanism = rd.load(model)
warm_up(mechanism)
warm_up_watching(mechanism)
if needs_estimator(mechanism):
    state_estimator(mechanism, None, Encoders()).warm_up()
path = rd.load_path(path, mechanism)
times = knot_times(path.duration, path.switching_times, 0.01)
motion = path.sample(times)
before = made()
assert before, "no kernel was called"

sampled = SampledTrajectory(mechanism, times, motion)
nothing = np.zeros(6)
for options in ({}, {"mode": "feedforward"}, {"mode": "gravity_compensation"}, {"predicts": True}):
    follower = TrajectoryFollower(mechanism, **options)
    for k in range(40):
        if k in (0, 10):
            follower.follow(sampled)
        if k == 20:
            follower.scale = 0.5
        configuration, velocity, _ = sampled.sample(0.003 * k)
        if mechanism.kind == "stewart":
            velocity = twist_in_base(configuration, twist_in_body(configuration, velocity))
        follower.command(3_000_000 * k, configuration, velocity, nothing)
joint_motion(mechanism, sampled, times)
scale = SpeedScale(mechanism, 50.0, 1000.0)
scale.follow(sampled)
for k in range(10):
    configuration, velocity, _ = sampled.sample(0.013 * k)
    mechanism.condition_number(configuration, 0.3)
    conditioning.singular_values(mechanism, configuration)
    scale.at(13_000_000 * k, configuration, velocity)
look_ahead(mechanism, sampled)
if needs_estimator(mechanism):
    estimator = state_estimator(mechanism, None, Encoders())
    for k in range(10):
        configuration, velocity, _ = sampled.sample(0.001 * k)
        readings = mechanism.joint_positions(configuration)
        rates = mechanism.joint_velocities(configuration, velocity) if k % 2 else None
        found = estimator.update(1_000_000 * k, readings, rates)
        estimator.twist_covariance_in_body(found)
        mechanism.joint_states(found.configuration, found.velocity)
        floating_poses(mechanism, found.configuration)
for name, signature in sorted(made() - before):
    print(name, signature)
"""


@pytest.mark.parametrize(
    ("model", "path"), [("stewart_dasgupta", "III"), ("puma560", "puma"), ("delta", "demo")]
)
def test_warmup_calls_everything_that_is_called_in_flight(model, path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, model, path],
        capture_output=True,
        text=True,
        # that of a test that hangs: where nothing is compiled yet this compiles all of a kind
        timeout=1800.0,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
