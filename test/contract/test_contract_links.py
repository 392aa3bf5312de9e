# SPDX-License-Identifier: Apache-2.0

"""Links of every kind: where they are, how they move, and the momentum and mass of all of them."""

import pickle

import numpy as np
import pytest

import robodyn as rd
import robodyn.poses
from robodyn.errors import InvalidInput

STEP = 2e-3


def slope(function):
    """Derivative at zero of a function of one number, by differences of order 6."""
    weights = enumerate((3 / 4, -3 / 20, 1 / 60), start=1)
    return sum(w * (function(k * STEP) - function(-k * STEP)) for k, w in weights) / STEP


def test_the_tip_is_a_link(mechanism, states):
    q, v, a = states(mechanism, (3,))
    tip = mechanism.frames[1]
    assert tip in rd.link_names(mechanism)
    np.testing.assert_allclose(mechanism.link_pose(q, tip), mechanism.body_pose(q), atol=1e-13)
    J = mechanism.twist_jacobian(q)
    assert mechanism.link_jacobian(q, tip).shape == J.shape
    scale = np.abs(J).max()
    np.testing.assert_allclose(mechanism.link_jacobian(q, tip), J, atol=1e-10 * scale)
    base = mechanism.frames[0]
    np.testing.assert_allclose(mechanism.link_twist(q, v, base), 0.0, atol=1e-12)
    np.testing.assert_allclose(mechanism.link_acceleration(q, v, a, base), 0.0, atol=1e-9)


def test_points_of_links_move_as_their_twists_and_accelerations_say(mechanism, states, rng):
    q, v, a = states(mechanism)
    v = 0.3 * v
    for link in rng.choice(rd.link_names(mechanism), 4, replace=False).tolist():
        offset = 0.2 * rng.normal(size=3)

        def position(t, link=link, offset=offset):
            pose = mechanism.link_pose(mechanism.advance(q, t * v + 0.5 * t * t * a), link)
            return pose[:3] + rd.poses.rotation_matrix(pose) @ offset

        def velocity(t, link=link, offset=offset):
            at = mechanism.advance(q, t * v)
            return mechanism.link_twist(at, v, link, offset)

        twist = mechanism.link_twist(q, v, link, offset)
        size = 1.0 + np.abs(twist).max()
        np.testing.assert_allclose(twist[:3], slope(position), atol=1e-8 * size)
        # along the line of displacements the velocity stays the same
        found = mechanism.link_acceleration(q, v, np.zeros_like(a), link, offset)
        scale = 1.0 + np.abs(found).max()
        np.testing.assert_allclose(found, slope(velocity), atol=1e-6 * scale)
        J = mechanism.link_jacobian(q, link, offset)
        whole = mechanism.link_acceleration(q, v, a, link, offset)
        np.testing.assert_allclose(whole - found, J @ a, atol=1e-9 * scale)


def test_links_have_the_energy_of_the_mass_matrix(described, states):
    m = described.without_actuators()
    q, v, _ = states(m)
    energy = 0.0
    for body, link in zip(m.bodies, m.solver.body_links, strict=True):
        R = rd.poses.rotation_matrix(m.link_pose(q, link))
        twist = m.link_twist(q, v, link, body.com)
        spin = R.T @ twist[3:]
        energy += 0.5 * body.mass * twist[:3] @ twist[:3] + 0.5 * spin @ body.inertia @ spin
    np.testing.assert_allclose(energy, 0.5 * v @ m.mass_matrix(q) @ v, rtol=1e-9)


def test_momentum_is_that_of_the_centre_of_mass(mechanism, states):
    q, v, _ = states(mechanism)
    mass = sum(body.mass for body in mechanism.bodies)
    speed = slope(lambda t: mechanism.center_of_mass(mechanism.advance(q, t * v)))
    momentum = mechanism.momentum(q, v)
    np.testing.assert_allclose(momentum[:3], mass * speed, atol=1e-7 * np.abs(momentum).max())


def test_frames_that_are_added_move_with_their_link(mechanism, states, rng):
    q, v, _ = states(mechanism, (2,))
    tip = mechanism.frames[1]
    at = rd.pose_from_rpy([0.1, -0.2, 0.3], [0.4, 0.5, -0.6])
    m = mechanism.with_frame("camera", tip, at).with_frame("lens", "camera", at)
    assert rd.link_names(m)[-2:] == ("camera", "lens")
    assert "camera" not in rd.link_names(mechanism)
    expected = rd.poses.composed_pose(mechanism.link_pose(q, tip), at)
    for same in (m, pickle.loads(pickle.dumps(m)), m.with_payload(0.1), m.without_friction()):
        found = same.link_pose(q, "camera")
        np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-12)
    twice = rd.poses.composed_pose(expected, at)
    np.testing.assert_allclose(np.abs(m.link_pose(q, "lens")), np.abs(twice), atol=1e-12)
    np.testing.assert_allclose(
        m.link_twist(q, v, "camera"), mechanism.link_twist(q, v, tip, at[:3]), atol=1e-10
    )
    with pytest.raises(InvalidInput, match="has a link or frame 'camera' already"):
        m.with_frame("camera", tip, at)
    with pytest.raises(InvalidInput, match="has no link 'nowhere'"):
        m.with_frame("hat", "nowhere", at)
    with pytest.raises(InvalidInput, match="has no link 'nowhere'"):
        mechanism.link_pose(q, "nowhere")
    with pytest.raises(InvalidInput, match="offset"):
        mechanism.link_jacobian(q, tip, [0.0, np.nan, 0.0])
