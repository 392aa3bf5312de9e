# SPDX-License-Identifier: Apache-2.0

"""The efforts of the compiled control are those of inverse dynamics, at every instant, of any kind.

Told by the law as it is written, not by the controller's class: a fault of theirs would be shared.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import Motion
from robodyn.simulation import is_compiled
from robodyn.solvers.tree.integration import Simulation
from robodyn.trajectories import SampledTrajectory

LOOPS = Path(__file__).parents[2] / "reference" / "closed_loops"
OTHERS = ("hexaglide.yaml", "redundant_3rrr.urdf", "stewart_tree.urdf", "ups_ballscrew.urdf")
KP, KV = 150.0, 22.0


@pytest.fixture(scope="module", params=(*rd.models(), *OTHERS))
def mechanism(request):
    known = request.param in rd.models()
    return rd.load(request.param if known else LOOPS / request.param)


def rubbing(mechanism, rng):
    """Return the mechanism with direction-dependent dry friction in every driven joint."""
    names, values = mechanism.parameters.names, np.array(mechanism.parameters.values)
    rest = np.zeros(mechanism.coordinates.velocity_size)
    scale = 0.1 * np.abs(mechanism.inverse_dynamics(mechanism.home, rest, rest + 1.0)).max()
    for k, name in enumerate(names):
        if ".coulomb" in name:
            values[k] = scale * rng.uniform(0.5, 1.0)
    return rd.with_parameters(mechanism, values)


def there_and_back(mechanism, rng, duration=0.3, reach=0.02):
    """Knots of a motion whose joints turn round in its middle, and some of them elsewhere."""
    size = mechanism.coordinates.velocity_size
    aside = rng.uniform(-reach, reach, (2, size))
    aside[1, ::2] *= -1.0
    knots = [mechanism.home]
    knots += [mechanism.advance(mechanism.home, step) for step in aside]
    rates = np.zeros((4, size))
    rates[1] = rng.normal(size=size) * 0.2 * reach / duration
    motion = Motion(np.array([*knots, mechanism.home]), rates, np.zeros((4, size)))
    return SampledTrajectory(mechanism, np.linspace(0.0, duration, 4), motion)


def assert_obeys_the_law(mechanism, plan, run):
    """Lee, Chung, Mudge and Turney, eq. 4.1 and 4.4; dry friction of the planned motion.

    Returns the efforts (K - 1, n); the last row of a run repeats those before.
    """
    desired = plan.sample(run.time[:-1])
    q, v = run.configuration[:-1], run.velocity[:-1]
    error = mechanism.difference(q, desired.configuration)
    change = desired.acceleration + KV * (desired.velocity - v) + KP * error
    smooth = mechanism.without_dry_friction()
    friction = mechanism.inverse_dynamics(*desired) - smooth.inverse_dynamics(*desired)
    asked = smooth.inverse_dynamics(q, v, change) + friction
    np.testing.assert_allclose(run.effort[:-1], asked, rtol=0.0, atol=1e-9 * np.abs(asked).max())
    return asked


@pytest.mark.parametrize("rubs", [False, True])
def test_computed_torque_at_every_instant(mechanism, rng, rubs):
    """Started beside the plan, as from there errors and rates change their signs, too."""
    given = rubbing(mechanism, rng) if rubs else mechanism.without_dry_friction()
    control = rd.ComputedTorque(given, KP, KV)
    plan = there_and_back(given, rng)
    size = given.coordinates.velocity_size
    start = given.advance(given.home, rng.uniform(-2e-3, 2e-3, size)), np.zeros(size)
    assert is_compiled(given, control)
    run = rd.simulate(
        given, control, plan, 1e-3, 2e-3, initial=start, limit_efforts=False, end_stops=None
    )
    if rubs:  # joints do turn round, in the plan and in the run
        for rates in (plan.sample(run.time).velocity, run.velocity):
            joints = given.joint_velocities(run.configuration, rates)
            assert (np.diff(np.sign(joints), axis=0) != 0.0).any(axis=0).all()
    assert_obeys_the_law(given, plan, run)


@pytest.mark.slow
def test_through_where_an_elimination_does_not_serve(monkeypatch):
    """A slide of a hexaglide moves past where the pivots of home vanish, which no motion feels."""
    loop = rd.load(LOOPS / "hexaglide.yaml")
    goal = loop.advance(loop.home, [0.0, -0.26, 0.0, 0.0, 0.0, 0.0])
    motion = Motion(np.array([loop.home, goal]), *np.zeros((2, 2, 6)))
    plan = SampledTrajectory(loop, [0.0, 1.5], motion)
    control, changes, proceed = rd.ComputedTorque(loop, KP, KV), [], Simulation._continue
    monkeypatch.setattr(Simulation, "_continue", lambda *own: changes.append(own) or proceed(*own))
    run = rd.simulate(loop, control, plan, 1e-3, 1e-3, duration=1.5)
    assert changes
    asked = assert_obeys_the_law(loop, plan, run)
    # a smooth motion of a smooth mechanism: no effort jumps once it moves
    assert np.abs(np.diff(asked[1:], axis=0)).max() < 0.05 * np.abs(asked).max()


def test_a_model_with_more_equations_than_the_plant(rng):
    """The control knows of a second ball joint beside each one: nothing moves otherwise."""
    loop, closures = rd.load("hexapod_rotary"), []
    for one in loop.model.closures:
        closures += [one, replace(one, name=f"{one.name}_twin", damping=0.0)]
    model = rd.ClosedLoop(replace(loop.model, closures=tuple(closures)))
    control, plan = rd.ComputedTorque(model, KP, KV), there_and_back(loop, rng)
    assert is_compiled(loop, control)
    run = rd.simulate(loop, control, plan, 1e-3, 2e-3)
    assert_obeys_the_law(loop, plan, run)


def test_redundant_motors_share_within_their_limits(rng):
    """If one of four motors is too weak for its part, the others take it over."""
    loop = rd.load(LOOPS / "redundant_3rrr.urdf").without_dry_friction()
    control, plan = rd.ComputedTorque(loop, KP, KV), there_and_back(loop, rng, reach=0.1)
    usual = np.abs(rd.simulate(loop, control, plan, 1e-3, 2e-3).effort).max(axis=0)
    weak = int(usual.argmax())
    joints = (
        replace(joint, effort=0.8 * usual[weak]) if joint.name == loop.joint_names[weak] else joint
        for joint in loop.model.joints
    )
    loop = rd.ClosedLoop(replace(loop.model, joints=tuple(joints)))
    run = rd.simulate(loop, rd.ComputedTorque(loop, KP, KV), plan, 1e-3, 2e-3)
    asked = assert_obeys_the_law(loop, plan, run)
    assert np.isclose(np.abs(asked[:, weak]), 0.8 * usual[weak]).any()
