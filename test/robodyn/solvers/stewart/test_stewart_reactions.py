# SPDX-License-Identifier: Apache-2.0

"""Reactions close Newton's and Euler's equations of every single body."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from six_legs import six_legs
from stewart_mechanisms import random_motion, random_platform

import robodyn as rd


@pytest.fixture(params=["universal", "spherical"])
def platform(request, rng):
    return random_platform(rng, request.param)


def inertial(body, frame, omega, alpha):
    """Rate of change of a body's angular momentum about its center of mass."""
    inertia = frame @ body.inertia @ frame.T
    return inertia @ alpha + np.cross(omega, inertia @ omega)


def test_every_body_is_in_balance(rng, platform):
    pose, twist, accel, wrench = random_motion(rng, platform)
    model, g = six_legs(platform), platform.model.gravity
    forces = platform.inverse_dynamics(pose, twist, accel, wrench)
    found = platform.reactions(pose, twist, accel, wrench)
    legs = platform.leg_motion(pose, twist, accel)
    R = Rotation.from_quat(pose[3:]).as_matrix()
    w, alpha = twist[3:], accel[3:]
    scale = np.abs(forces).max()

    on_platform, about_platform = wrench[:3].copy(), wrench[3:].copy()
    for i, leg in enumerate(model.legs):
        s, L = legs.direction[i], legs.length[i]
        W, A = legs.angular_velocity[i], legs.angular_acceleration[i]
        y = np.cross(leg.universal_axis, s) / np.linalg.norm(np.cross(leg.universal_axis, s))
        T = np.stack([s, y, np.cross(s, y)], axis=-1)
        tip_friction = leg.damping.spherical * (W - w)  # of the leg on the platform
        base_friction = leg.damping.universal * W  # of the leg on the base
        sliding = leg.damping.prismatic * legs.rate[i] * s  # of the upper on the lower part
        between = found.prismatic_force[i] + forces[i] * s - sliding  # lower on upper part

        rd = T @ leg.lower.com
        ad = np.cross(A, rd) + np.cross(W, np.cross(W, rd))
        force = found.universal_force[i] - between + leg.lower.mass * (g - ad)
        np.testing.assert_allclose(force, 0.0, atol=1e-10 * scale)
        # About the base point; the forces between the parts act on the line of the leg there.
        moment = found.universal_moment[i] - found.prismatic_moment[i] - base_friction
        moment += np.cross(rd, leg.lower.mass * (g - ad)) - inertial(leg.lower, T, W, A)

        ru = L * s + T @ leg.upper.com
        au = np.cross(A, ru) + np.cross(W, np.cross(W, ru))
        au += legs.acceleration[i] * s + 2.0 * legs.rate[i] * np.cross(W, s)
        force = between + found.spherical_force[i] + leg.upper.mass * (g - au)
        np.testing.assert_allclose(force, 0.0, atol=1e-10 * scale)
        upper = found.prismatic_moment[i] + np.cross(L * s, found.spherical_force[i])
        upper += np.cross(ru, leg.upper.mass * (g - au)) - tip_friction
        upper -= inertial(leg.upper, T, W, A)
        if platform.base_joint[i] == "spherical":
            # What friction exerts about the leg's own axis drives the spin that is left out.
            upper -= (upper @ s) * s
            moment -= (moment @ s) * s
        np.testing.assert_allclose(upper, 0.0, atol=1e-10 * scale)
        np.testing.assert_allclose(moment, 0.0, atol=1e-10 * scale)

        on_platform -= found.spherical_force[i]
        about_platform += tip_friction
        about_platform -= np.cross(R @ leg.platform, found.spherical_force[i])

    r = R @ model.platform.com
    ag = accel[:3] + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
    on_platform += model.platform.mass * (g - ag)
    about_platform += np.cross(r, model.platform.mass * (g - ag))
    about_platform -= inertial(model.platform, R, w, alpha)
    np.testing.assert_allclose(on_platform, 0.0, atol=1e-10 * scale)
    np.testing.assert_allclose(about_platform, 0.0, atol=1e-10 * scale)


def test_joints_bear_only_what_they_can(rng, platform):
    pose, twist, accel, wrench = random_motion(rng, platform, (5,))
    found = platform.reactions(pose, twist, accel, wrench)
    s = platform.leg_motion(pose).direction
    k = np.array([leg.universal_axis for leg in six_legs(platform).legs])
    y = np.cross(k, s)
    scale = np.abs(found.universal_moment).max() + 1.0
    # the prismatic joint takes no force along the leg, the universal none of its moments about
    # its own axes, and a spherical base no moment at all
    assert np.abs((found.prismatic_force * s).sum(-1)).max() < 1e-10 * scale
    assert np.abs((found.universal_moment * k).sum(-1)).max() < 1e-12 * scale
    assert np.abs((found.universal_moment * y).sum(-1)).max() < 1e-12 * scale
    if platform.base_joint[0] == "spherical":
        np.testing.assert_array_equal(found.universal_moment, 0.0)


def test_the_ground_carries_the_weight_at_rest(rng, platform):
    pose, *_ = random_motion(rng, platform)
    rest = np.zeros(6)
    found = platform.reactions(pose, rest, rest)
    model = six_legs(platform)
    mass = model.platform.mass + sum(leg.lower.mass + leg.upper.mass for leg in model.legs)
    np.testing.assert_allclose(
        found.universal_force.sum(axis=0), -mass * model.gravity, rtol=1e-9, atol=1e-9 * mass
    )


def test_on_a_base_that_moves_the_platform_is_in_balance(rng):
    """The legs' forces at its joints move the platform alone: legs without masses."""
    m = rd.load("stewart_symmetric").without_friction()
    base = rd.BaseMotion(*rng.normal(size=(3, 3)) * [[5.0], [1.0], [3.0]])
    pose = m.advance(m.home, 0.05 * rng.normal(size=6))
    twist, accel, wrench = rng.normal(size=(3, 6))
    alone = m.inverse_dynamics(pose, twist, accel, wrench, "massless", base=base)
    needed = m.jacobian(pose) @ alone
    forces = -m.reactions(pose, twist, accel, wrench, base=base).spherical_force
    R = Rotation.from_quat(pose[3:]).as_matrix()
    arms = np.array([R @ leg.platform for leg in six_legs(m).legs])
    near = {"rtol": 0.0, "atol": 1e-10 * np.abs(needed).max()}
    np.testing.assert_allclose(forces.sum(axis=0), needed[:3], **near)
    np.testing.assert_allclose(np.cross(arms, forces).sum(axis=0), needed[3:], **near)
    still = m.reactions(pose, twist, accel, wrench).spherical_force
    assert np.abs(forces + still).max() > 1.0
