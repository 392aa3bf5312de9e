# SPDX-License-Identifier: Apache-2.0

"""Simulations: loops that stay closed, energy that stays, and passages through singularities."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from random_mechanisms import parallel, random_state

import robodyn as rd
from robodyn.algorithms import Motion, conditioning, stepping
from robodyn.simulation import is_compiled
from robodyn.solvers.tree.closing import joint_rates
from robodyn.solvers.tree.conditions import force_condition, motion_condition
from robodyn.trajectories import SampledTrajectory

FOLDER = Path(__file__).parents[3] / "reference" / "closed_loops"


@pytest.fixture
def fivebar():
    return rd.load(FOLDER / "fivebar.urdf").without_friction()


def energy(mechanism, q, u):
    return sum(mechanism.energy(q, u))


@pytest.mark.parametrize(
    ("name", "start", "duration"), [("fivebar", [0.2, -0.1], 0.2), ("delta", [0.3, -0.2, 0.5], 0.2)]
)
def test_energy_errs_by_the_order_of_the_integrator(name, start, duration):
    """Half the step, a sixteenth of the error; loops closed throughout."""
    mechanism = rd.load(FOLDER / f"{name}.urdf").without_friction()
    q, u, rest = mechanism.home, np.array(start), np.zeros(len(start))
    before = energy(mechanism, q, u)
    errors = []
    for dt in (1e-3, 5e-4):
        after = stepping.step(mechanism, q, u, rest, np.zeros(6), dt, round(duration / dt))
        errors.append(energy(mechanism, *after) - before)
        assert mechanism.structure.equations.relative_residual(after[0]) < 1e-12
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.1)


@pytest.mark.slow
def test_loops_stay_closed_for_a_minute(fivebar):
    """In steps of a millisecond, over and over through singularities of type 2."""
    q, u, sides = fivebar.home, np.array([1.0, -2.0]), []
    for _ in range(60):
        q, u = stepping.step(fivebar, q, u, np.zeros(2), np.zeros(6), 1e-3, 1000)
        sides.append(np.sign(conditioning.determinant(fivebar, q)))
        assert fivebar.structure.equations.relative_residual(q) < 1e-12
    assert np.count_nonzero(np.diff(sides)) > 5


def test_a_joint_that_no_motor_drives_sticks_while_others_move():
    """A rusty elbow makes a four-bar of a five-bar, to the integrator's order and no further."""
    loop = rd.load("fivebar")
    joints = (
        replace(joint, friction=np.full(2, 50.0)) if joint.name == "left_elbow" else joint
        for joint in loop.model.joints
    )
    rusty = rd.ClosedLoop(replace(loop.model, joints=tuple(joints)))
    elbow, drifts = rusty.all_joint_names.index("left_elbow"), []
    for dt in (2e-3, 1e-3):
        q, u = rusty.home, np.zeros(2)
        for push in (0.2, -0.3, 0.1):
            q, u = stepping.step(rusty, q, u, [push, 0.0], np.zeros(6), dt, round(0.3 / dt))
        assert np.abs(joint_rates(rusty, q, u)[elbow]) < 1e-12
        assert np.abs(q - rusty.home).max() > 0.2
        drifts.append(abs(q[elbow] - rusty.home[elbow]))
    assert drifts[0] < 1e-7
    assert drifts[1] < drifts[0] / 12.0


@pytest.mark.slow
def test_friction_only_takes_energy_where_coordinates_change():
    """Let go, a five-bar that rubs in every joint falls through singularities, and loses energy."""
    loop = rd.load("fivebar")
    joints = (replace(joint, friction=np.full(2, 0.01)) for joint in loop.model.joints)
    rubbing = rd.ClosedLoop(replace(loop.model, joints=tuple(joints)))
    q, u, sides = rubbing.home, np.array([1.0, -2.0]), set()
    before = energy(rubbing, q, u)
    for _ in range(120):
        q, u = stepping.step(rubbing, q, u, np.zeros(2), np.zeros(6), 1e-4, 250)
        after = energy(rubbing, q, u)
        assert after < before
        before = after
        sides.add(float(np.sign(conditioning.determinant(rubbing, q))))
        assert rubbing.structure.equations.relative_residual(q) < 1e-12
    assert sides == {-1.0, 1.0}


@pytest.mark.slow
def test_a_five_bar_swings_through_singularities_of_type_2(fivebar):
    """Let go, it falls to where its rods align and on to the other side, energy conserved."""
    q, u = fivebar.home, np.array([1.0, -2.0])
    before, configurations, worst = energy(fivebar, q, u), [], 0.0
    for _ in range(480):
        q, u = stepping.step(fivebar, q, u, np.zeros(2), np.zeros(6), 1e-4, 62)
        configurations.append(q)
        worst = max(worst, fivebar.structure.equations.relative_residual(q))
    sides = conditioning.side(fivebar, np.array(configurations))
    determinants = conditioning.determinant(fivebar, np.array(configurations))
    np.testing.assert_allclose(np.abs(sides), np.abs(determinants), atol=1e-9)
    assert set(np.sign(sides)) == set(np.sign(determinants)) == {-1.0, 1.0}
    assert np.abs(np.diff(sides)).max() < 0.2 * np.abs(sides).max()  # changes sign through zero
    assert worst < 1e-12
    assert abs(energy(fivebar, q, u) - before) < 1e-5 * abs(before)


def test_at_a_singularity_forward_dynamics_goes_on_and_inverse_dynamics_does_not(fivebar):
    """Rods in one line: the tip gives way although both motors are locked."""
    q = aligned(fivebar)
    assert force_condition(fivebar, q) > 1e9
    assert motion_condition(fivebar, q) < 1e3
    rest = np.zeros(2)
    with pytest.raises(rd.SingularConfiguration):
        fivebar.inverse_dynamics(q, rest, rest)
    change = fivebar.forward_dynamics(q, rest, np.array([0.5, -0.2]))
    assert np.isfinite(change).all()
    # the same motion a moment later, by simulation
    after, rate = stepping.step(fivebar, q, rest, np.array([0.5, -0.2]), np.zeros(6), 1e-6, 100)
    assert np.abs(rate / 1e-4 - change).max() < 1e-2 * np.abs(change).max()
    assert fivebar.structure.equations.relative_residual(after) < 1e-12


def aligned(fivebar):
    """A configuration in which the two distal rods are in line."""
    low, high = None, None
    q, u = fivebar.home, np.array([1.0, -2.0])
    for _ in range(400):
        before = q
        q, u = stepping.step(fivebar, q, u, np.zeros(2), np.zeros(6), 1e-4, 50)
        if np.sign(conditioning.determinant(fivebar, q)) != np.sign(
            conditioning.determinant(fivebar, before)
        ):
            low, high = before, q
            break
    assert low is not None
    # between the two, by closing from ever nearer guesses: the one whose rods align
    equations, sign = fivebar.structure.equations, np.sign(conditioning.determinant(fivebar, low))
    for _ in range(200):
        middle = equations.close(0.5 * (low + high)).q
        if np.sign(conditioning.determinant(fivebar, middle)) == sign:
            low = middle
        else:
            high = middle
        if np.abs(low - high).max() < 1e-15:
            break
    return middle


@pytest.mark.parametrize("name", ["delta", "redundant_3rrr"])
def test_computed_torque_follows_a_path_of_the_independent_joints(name):
    """Planned, flown and simulated by the code that serves every kind."""
    mechanism = rd.load(FOLDER / f"{name}.urdf")
    start = mechanism.home
    goal = mechanism.advance(start, np.array([0.1, -0.08, 0.12]))
    trajectory = SampledTrajectory(
        mechanism, [0.0, 0.5, 1.0], Motion(np.array([start, goal, start]), *np.zeros((2, 3, 3)))
    )
    controller = rd.ComputedTorque(mechanism, kp=400.0, kv=40.0)
    assert is_compiled(mechanism, controller)
    result = rd.simulate(mechanism, controller, trajectory, dt=1e-3, control_dt=2e-3)
    assert not result.events
    end = trajectory.sample(result.time[-1]).configuration
    assert np.abs(mechanism.difference(result.configuration[-1], end)).max() < 1e-3
    left = [mechanism.structure.equations.relative_residual(q) for q in result.configuration]
    assert max(left) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["spherical", "revolute", "universal"])
def test_random_mechanisms_stay_closed_and_keep_their_energy(rng, kind):
    mechanism = parallel(rng, [kind] * 3).mechanism().without_friction()
    q, u, _, _ = random_state(mechanism, rng)
    u = u / max(1.0, np.abs(joint_rates(mechanism, q, u)).max())
    n, before = len(mechanism.joint_names), energy(mechanism, q, u)
    coarse, fine = (stepped(mechanism, q, u, n, steps) for steps in (200, 800))
    for after in (coarse, fine):
        assert mechanism.structure.equations.relative_residual(after[0]) < 1e-12
    lost, left = (abs(energy(mechanism, *after) - before) for after in (coarse, fine))
    assert left < max(1e-9, 0.05 * lost)  # of fourth order, near a singularity, too


def stepped(mechanism, q, u, n, steps):
    """0.02 s on, in so many steps, without efforts."""
    return stepping.step(mechanism, q, u, np.zeros(n), np.zeros(6), 0.02 / steps, steps)
