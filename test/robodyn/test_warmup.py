# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Nothing is compiled, or read from disk, any more once a node has warmed up."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import importlib, sys, warnings
import numpy as np
from numba.core.dispatcher import Dispatcher
import robodyn as rd
import robodyn
from robodyn.numerics.compiler import PACKAGE, compiled_sources
from robodyn.analysis.lookahead import look_ahead
from robodyn.analysis.slowing import SpeedScale
from robodyn.control import TrajectoryFollower, joint_motion
from robodyn.mechanisms.stewart.estimation import PlatformEstimator, twist_covariance_in_body
from robodyn.mechanisms.stewart.estimation import warm_up_estimating
from robodyn.poses import twist_in_base, twist_in_body
from robodyn.trajectories import SampledTrajectory, knot_times
from robodyn.warmup import warm_up, warm_up_watching

def made():
    found = set()
    for source in compiled_sources():
        path = source.relative_to(PACKAGE.parent).with_suffix("").parts
        module = importlib.import_module(".".join(path).removesuffix(".__init__"))
        for name, value in vars(module).items():
            if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__:
                found.update((f"{module.__name__}.{name}", str(sig)) for sig in value.overloads)
    return found

warnings.simplefilter("ignore")
model, path = sys.argv[1:]
mechanism = rd.load(model)
warm_up(mechanism)
warm_up_watching(mechanism)
if mechanism.kind == "stewart":
    warm_up_estimating(mechanism)
before = made()
assert before, "no kernel was called"

path = rd.load_path(path, mechanism)
times = knot_times(path.duration, path.switching_times, 0.01)
sampled = SampledTrajectory(mechanism, times, path.sample(times))
rest = np.zeros(len(mechanism.joint_names))
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
        follower.command(3_000_000 * k, configuration, velocity, rest)
joint_motion(mechanism, sampled, times)
scale = SpeedScale(mechanism, 50.0, 1000.0)
scale.follow(sampled)
for k in range(10):
    configuration, velocity, _ = sampled.sample(0.013 * k)
    mechanism.condition_number(configuration, 0.3)
    mechanism.singular_values(configuration)
    scale.at(13_000_000 * k, configuration, velocity)
look_ahead(mechanism, sampled)
if mechanism.kind == "stewart":
    estimator = PlatformEstimator(mechanism)
    for k in range(10):
        configuration, velocity, _ = sampled.sample(0.001 * k)
        lengths = mechanism.joint_positions(configuration)
        rates = mechanism.joint_velocities(configuration, velocity) if k % 2 else None
        found = estimator.update(1_000_000 * k, lengths, rates)
        twist_covariance_in_body(found.pose, found.twist_covariance)
        mechanism.leg_joint_states(found.pose, found.twist)
for name, signature in sorted(made() - before):
    print(name, signature)
"""


@pytest.mark.parametrize(("model", "path"), [("stewart_dasgupta", "III"), ("puma560", "puma")])
def test_what_is_called_in_flight_has_been_called_before(model, path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, model, path],
        capture_output=True,
        text=True,
        timeout=300.0,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
