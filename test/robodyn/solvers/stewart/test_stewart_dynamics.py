# SPDX-License-Identifier: Apache-2.0

"""Laws of dynamics for any mechanism: power, symmetry, invariance."""

from dataclasses import replace

import numpy as np
import pytest
from finite_differences import along, derivatives
from scipy.spatial.transform import Rotation
from six_legs import Damping, six_legs, with_legs
from stewart_mechanisms import bodies_in_motion, random_motion, random_platform, relative

import robodyn as rd
from robodyn.model import Body
from robodyn.solvers.stewart.formulations import Formulation
from robodyn.solvers.stewart.kernels import published as stewart_published

BASE_JOINTS = ("universal", "spherical")


@pytest.fixture(params=BASE_JOINTS)
def platform(request, rng):
    return random_platform(rng, request.param)


def dissipation(platform, legs, twist):
    """Power that friction takes, from the joints' rates alone."""
    W, w = legs.angular_velocity, twist[..., None, 3:]
    damping = [leg.damping for leg in six_legs(platform).legs]
    universal, prismatic, spherical = (
        np.array([getattr(d, name) for d in damping])
        for name in ("universal", "prismatic", "spherical")
    )
    return (
        universal * (W**2).sum(-1) + prismatic * legs.rate**2 + spherical * ((W - w) ** 2).sum(-1)
    ).sum(-1)


def test_power_balance(rng, platform):
    """Actuators + wrench = change of kinetic and potential energy + dissipation."""
    for pose, twist, accel, wrench in zip(*random_motion(rng, platform, (10,)), strict=True):
        forces = platform.inverse_dynamics(pose, twist, accel, wrench)
        legs = platform.leg_motion(pose, twist, accel)
        supplied = forces @ legs.rate + wrench @ twist
        parts = [supplied, -dissipation(platform, legs, twist)]
        for body, T, W, A, v, a in bodies_in_motion(platform, pose, twist, accel):
            inertia = T @ body.inertia @ T.T
            parts.append(-body.mass * v @ (a - platform.model.gravity))
            parts.append(-W @ (inertia @ A + np.cross(W, inertia @ W)))
        assert abs(sum(parts)) < 1e-10 * np.abs(parts).max()


def test_the_work_of_gravity_is_the_change_of_potential_energy(rng, platform):
    pose, twist, accel, _ = random_motion(rng, platform)
    curve = along(platform, pose, twist, accel)
    rate, _ = derivatives(lambda t: platform.energy(curve(t), np.zeros(6)).potential)
    assert twist @ platform.bias(pose, np.zeros(6)) == pytest.approx(rate, rel=1e-9, abs=1e-7)


def test_energy_is_that_of_thirteen_bodies(rng, platform):
    pose, twist, accel, _ = random_motion(rng, platform)
    kinetic = 0.0
    for body, T, W, _, v, _ in bodies_in_motion(platform, pose, twist, accel):
        inertia = T @ body.inertia @ T.T
        kinetic += 0.5 * (body.mass * v @ v + W @ inertia @ W)
    assert platform.energy(pose, twist).kinetic == pytest.approx(kinetic, rel=1e-12)


def test_closed_form_equals_the_recursion(rng, platform):
    """H F + wrench = M accel + bias, each computed on its own."""
    pose, twist, accel, wrench = random_motion(rng, platform, (20,))
    forces = platform.inverse_dynamics(pose, twist, accel, wrench)
    left = (platform.jacobian(pose) @ forces[..., None])[..., 0] + wrench
    right = (platform.mass_matrix(pose) @ accel[..., None])[..., 0] + platform.bias(pose, twist)
    assert relative(left, right) < 1e-12


def test_lagranges_equation(rng, platform):
    """M' v - d(v'Mv/2)/dq gives the velocity terms: the bias from derivatives of M alone.

    An angular velocity is no derivative of coordinates, which adds L x w (Boltzmann, Hamel).
    """
    pose, twist, _, _ = random_motion(rng, platform)
    rest, still = np.zeros(6), np.zeros(6)
    curve = along(platform, pose, twist, still)
    momentum_rate, _ = derivatives(lambda t: platform.mass_matrix(curve(t)) @ twist)
    gradient = np.empty(6)
    for j, direction in enumerate(np.eye(6)):
        line = along(platform, pose, direction, still)
        slope, _ = derivatives(
            lambda t, line=line: 0.5 * twist @ platform.mass_matrix(line(t)) @ twist
        )
        gradient[j] = slope
    momentum = platform.mass_matrix(pose) @ twist
    gradient[3:] -= np.cross(momentum[3:], twist[3:])
    expected = momentum_rate - gradient + platform.bias(pose, rest)
    assert relative(platform.without_friction().bias(pose, twist), expected) < 1e-9


def test_turning_everything_turns_nothing(rng, platform):
    """The forces do not know which way the base frame points, if gravity turns with it."""
    turn = Rotation.random(random_state=int(rng.integers(2**31)))
    shift = rng.normal(size=3)
    Q, model = turn.as_matrix(), six_legs(platform)
    legs = tuple(
        replace(leg, base=Q @ leg.base + shift, universal_axis=Q @ leg.universal_axis)
        for leg in model.legs
    )
    turned = rd.StewartPlatform(
        replace(model, legs=legs, gravity=Q @ model.gravity, home=None).model(),
        platform.base_joint,
    )
    pose, twist, accel, wrench = random_motion(rng, platform, (5,))
    both = np.kron(np.eye(2), Q)
    quaternion = (turn * Rotation.from_quat(pose[:, 3:])).as_quat()
    there = np.hstack([pose[:, :3] @ Q.T + shift, quaternion])
    motion = (there, twist @ both.T, accel @ both.T, wrench @ both.T)
    forces = platform.inverse_dynamics(pose, twist, accel, wrench)
    assert relative(turned.inverse_dynamics(*motion), forces) < 1e-11
    M = both @ platform.mass_matrix(pose) @ both.T
    assert relative(turned.mass_matrix(there), M) < 1e-12
    for here, then in zip(
        platform.reactions(pose, twist, accel, wrench), turned.reactions(*motion), strict=True
    ):
        np.testing.assert_allclose(then, here @ Q.T, atol=1e-10 * max(np.abs(here).max(), 1.0))
    assert platform.linearize(pose[0]).growth_rate == pytest.approx(
        turned.linearize(there[0]).growth_rate, rel=1e-7, abs=1e-7
    )


def test_legs_without_mass_and_friction_are_massless(rng, platform):
    nothing = Body(0.0, np.zeros(3), np.zeros((3, 3)))
    legs = tuple(
        replace(leg, lower=nothing, upper=nothing, damping=Damping())
        for leg in six_legs(platform).legs
    )
    bare = with_legs(platform, legs)
    motion = random_motion(rng, platform, (5,))
    massless = platform.inverse_dynamics(*motion, formulation="massless")
    for formulation in ("exact", "massless", "dasgupta1998"):
        forces = bare.inverse_dynamics(*motion, formulation=formulation)
        assert relative(forces, massless) < 1e-13


def test_a_formulation_that_departs_from_nothing_is_exact(rng):
    """The kernel of the printed formulations, all its switches off, is the exact one."""
    platform = random_platform(rng)
    motion = random_motion(rng, platform, (5,))
    exact = platform.inverse_dynamics(*motion)
    out, status = np.empty((5, 6)), np.zeros(5, dtype=np.int64)
    stewart_published.all_as_printed(
        platform.solver.legs, platform.solver.body, *motion, Formulation().codes, out, status
    )
    assert relative(out, exact) < 1e-13


def test_the_1998_formulation_is_right_for_6_sps_but_for_its_shift(rng):
    """Between spherical joints the paper's W.s = 0 holds and no moment acts at the base."""
    platform = random_platform(rng, base_joint="spherical")
    motion = random_motion(rng, platform, (5,))
    exact = platform.inverse_dynamics(*motion)
    mended = platform.inverse_dynamics(*motion, formulation=Formulation(spin="none", moment="leg"))
    assert relative(mended, exact) < 1e-13
    printed = platform.inverse_dynamics(*motion, formulation="dasgupta1998")
    assert relative(printed, exact) > 1e-6
