"""Laws of mechanics that hold for every kind, without reference numbers."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robodyn.algorithms import motions, stepping
from robodyn.errors import UnderActuated

# Differences of order 6.
STEP = 1e-3
WEIGHTS = {1: 45.0, -1: -45.0, 2: -9.0, -2: 9.0, 3: 1.0, -3: -1.0}


@pytest.fixture
def smooth(actuated):
    """The actuated without friction: its energy is lost to nothing."""
    return actuated.without_friction()


def along(m, state, time):
    """Configuration and velocity a short time along a motion, to second order."""
    q, v, a = state
    return m.advance(q, time * v + 0.5 * time**2 * a), v + time * a


def slope(quantity):
    """The derivative by time of what `quantity` is at a time, at zero."""
    return sum(weight * quantity(k * STEP) for k, weight in WEIGHTS.items()) / (60.0 * STEP)


def body_twist(m, state):
    """Twist (6,) of the platform or the tip, by differences of its pose."""
    back = Rotation.from_quat(m.body_pose(state.configuration)[3:]).inv()

    def place(time):
        pose = m.body_pose(along(m, state, time)[0])
        return np.concatenate([pose[:3], (Rotation.from_quat(pose[3:]) * back).as_rotvec()])

    return slope(place)


def test_the_mass_matrix_is_symmetric_and_positive(mechanism, states):
    M = mechanism.mass_matrix(states(mechanism, (5,)).configuration)
    scale = np.abs(M).max()
    np.testing.assert_allclose(M, np.swapaxes(M, -1, -2), rtol=0.0, atol=1e-12 * scale)
    assert (np.linalg.eigvalsh(M) > 0.0).all()


def test_kinetic_energy_is_that_of_the_mass_matrix(mechanism, states):
    q, v, _ = states(mechanism, (5,))
    kinetic = mechanism.energy(q, v)[0]
    expected = 0.5 * np.einsum("ni,nij,nj->n", v, mechanism.mass_matrix(q), v)
    np.testing.assert_allclose(kinetic, expected, rtol=1e-10)


def test_forward_dynamics_undoes_inverse_dynamics(smooth, states, rng):
    q, v, a = states(smooth, (5,))
    wrench = rng.normal(size=(5, 6))
    again = smooth.forward_dynamics(q, v, smooth.inverse_dynamics(q, v, a, wrench), wrench)
    np.testing.assert_allclose(again, a, rtol=1e-7, atol=1e-8)


def test_power_is_the_rate_of_energy(smooth, states, rng):
    """Of efforts and of a wrench on the body; the energy is differentiated along the motion."""
    for _ in range(3):
        state, wrench = states(smooth), rng.normal(size=6)
        rate = slope(lambda time, at=state: sum(smooth.energy(*along(smooth, at, time))))
        efforts = smooth.inverse_dynamics(*state, wrench)
        powers = efforts * smooth.joint_velocities(state.configuration, state.velocity)
        loads = wrench * body_twist(smooth, state)
        scale = np.abs(powers).sum() + np.abs(loads).sum() + abs(rate)
        assert abs(powers.sum() + loads.sum() - rate) < 1e-8 * scale


def test_power_is_the_rate_of_energy_where_motors_are_few(under_actuated, states, rng):
    """Of the motion that follows from efforts and a wrench on the body."""
    smooth = under_actuated.without_friction()
    for _ in range(3):
        (q, v, _), wrench = states(smooth), rng.normal(size=6)
        efforts = rng.uniform(-1.0, 1.0, len(smooth.joint_names))
        state = type(states(smooth))(q, v, smooth.forward_dynamics(q, v, efforts, wrench))
        rate = slope(lambda time, at=state: sum(smooth.energy(*along(smooth, at, time))))
        powers = efforts * smooth.joint_velocities(q, v)
        loads = wrench * body_twist(smooth, state)
        scale = np.abs(powers).sum() + np.abs(loads).sum() + abs(rate)
        assert abs(powers.sum() + loads.sum() - rate) < 1e-8 * scale


def test_efforts_that_too_few_motors_would_need_are_refused(under_actuated, states):
    q, v, a = states(under_actuated)
    with pytest.raises(UnderActuated, match="do not determine the mechanism"):
        under_actuated.inverse_dynamics(q, v, a)
    with pytest.raises(UnderActuated, match="do not determine the mechanism"):
        under_actuated.inverse_dynamics_derivatives(q, v, a)
    with pytest.raises(UnderActuated, match="do not determine the mechanism"):
        under_actuated.gravity(q)
    with pytest.raises(UnderActuated, match="do not determine the mechanism"):
        motions.motion_of_joints(under_actuated, *motions.driven_motion(under_actuated, q, v, a))
    out = np.empty(len(under_actuated.joint_names))
    assert not under_actuated.solver.unchecked.inverse_dynamics(q, v, a, out)


def test_friction_takes_energy_and_never_gives_any(actuated, states):
    """Driving a motion needs at least the power that it needs without friction."""
    q, v, a = states(actuated, (50,))
    rates = actuated.joint_velocities(q, v)
    smooth = actuated.without_friction()
    more = actuated.inverse_dynamics(q, v, a) - smooth.inverse_dynamics(q, v, a)
    power = (more * rates).sum(axis=-1)
    assert (power > -1e-9 * np.abs(more * rates).max(initial=1.0)).all()


def test_efforts_are_affine_in_acceleration_with_the_mass_matrix_as_slope(smooth, states):
    """F(a) - F(0), felt by the mechanism, is M a: the two differ by what maps efforts."""
    q, v, a = states(smooth, (5,))
    difference = smooth.inverse_dynamics(q, v, a) - smooth.inverse_dynamics(q, v, 0.0 * a)
    power = np.einsum("ni,ni->n", difference, smooth.joint_velocities(q, v))
    expected = np.einsum("ni,nij,nj->n", v, smooth.mass_matrix(q), a)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(power, expected, rtol=1e-8, atol=1e-9 * scale)


def test_bias_is_what_efforts_balance_without_acceleration(smooth, states):
    q, v, _ = states(smooth, (5,))
    efforts = smooth.inverse_dynamics(q, v, np.zeros_like(v))
    power = np.einsum("ni,ni->n", efforts, smooth.joint_velocities(q, v))
    expected = np.einsum("ni,ni->n", v, smooth.bias(q, v))
    scale = np.abs(expected).max()
    np.testing.assert_allclose(power, expected, rtol=1e-8, atol=1e-9 * scale)


def test_rates_of_the_joints_are_derivatives_of_their_positions(mechanism, states):
    for _ in range(3):
        state = states(mechanism)
        found = slope(
            lambda time, at=state: mechanism.joint_positions(along(mechanism, at, time)[0])
        )
        rates = mechanism.joint_velocities(state.configuration, state.velocity)
        np.testing.assert_allclose(found, rates, rtol=1e-8, atol=1e-9)


def test_driven_motion_is_the_derivative_of_the_rates(mechanism, states):
    state = states(mechanism)
    motion = motions.driven_motion(mechanism, *state)
    found = slope(lambda time: mechanism.joint_velocities(*along(mechanism, state, time)))
    np.testing.assert_allclose(motion.accelerations, found, rtol=1e-7, atol=1e-8)


def test_difference_undoes_advance(mechanism, states, rng):
    q = states(mechanism).configuration
    step = 0.02 * rng.uniform(-1.0, 1.0, mechanism.coordinates.velocity_size)
    moved = mechanism.advance(q, step)
    np.testing.assert_allclose(mechanism.difference(q, moved), step, rtol=0.0, atol=1e-9)
    unchecked = mechanism.solver.unchecked.difference(q, moved)
    np.testing.assert_allclose(unchecked, step, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(mechanism.difference(q, q), 0.0, atol=1e-12)


def test_the_positions_of_driven_joints_lead_back_to_the_configuration(actuated, states):
    q, v, a = states(actuated)
    near = actuated.advance(q, np.full(actuated.coordinates.velocity_size, 1e-3))
    motion = motions.driven_motion(actuated, q, v, a)
    found = actuated.assemble(motion.positions, near)
    np.testing.assert_allclose(actuated.difference(q, found), 0.0, atol=1e-7)
    again = motions.motion_of_joints(actuated, *motion, near)
    np.testing.assert_allclose(again.velocity, v, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(again.acceleration, a, rtol=1e-4, atol=1e-4)


def test_energy_is_conserved_where_nothing_drives(mechanism):
    """A twentieth of a second of falling from rest, by steps of order 4."""
    smooth = mechanism.without_friction()
    q, v = smooth.home, np.zeros(smooth.coordinates.velocity_size)
    effort, wrench = np.zeros(len(smooth.joint_names)), np.zeros(6)
    before = sum(smooth.energy(q, v))
    q, v = stepping.step(smooth, q, v, effort, wrench, 2e-4, 250)
    kinetic, potential = smooth.energy(q, v)
    assert kinetic > 0.0
    assert abs(kinetic + potential - before) < 1e-7 * kinetic


def test_the_coriolis_matrix_takes_no_energy(mechanism, states):
    """C v are the velocity terms of the bias, and Mdot - 2 C is skew."""
    smooth, still = mechanism.without_friction(), np.zeros(mechanism.coordinates.velocity_size)
    for _ in range(3):
        q, v, _ = state = states(mechanism)
        C = mechanism.coriolis_matrix(q, v)
        scale = np.abs(C).max()
        terms = smooth.bias(q, v) - smooth.bias(q, still)
        np.testing.assert_allclose(C @ v, terms, rtol=0.0, atol=1e-9 * scale)
        rate = slope(lambda time, at=state: mechanism.mass_matrix(along(mechanism, at, time)[0]))
        skew = rate - 2.0 * C
        np.testing.assert_allclose(skew, -skew.T, rtol=0.0, atol=1e-7 * scale)
    many = states(mechanism, (2, 3))
    together = mechanism.coriolis_matrix(many.configuration, many.velocity)
    alone = mechanism.coriolis_matrix(many.configuration[1, 2], many.velocity[1, 2])
    np.testing.assert_allclose(together[1, 2], alone, rtol=0.0, atol=1e-9 * np.abs(alone).max())
