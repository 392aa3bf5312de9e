# SPDX-License-Identifier: Apache-2.0

"""A payload is a body of the platform: it loads it as an external wrench of its inertia would."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from six_legs import six_legs
from stewart_mechanisms import random_body, random_motion, random_platform, relative

from robodyn.errors import ModelError


def wrench_of(body, gravity, pose, twist, accel):
    """Return the wrench of a moving body, fixed to the platform: weight and inertia."""
    R = Rotation.from_quat(pose[3:]).as_matrix()
    w, a, alpha = twist[3:], accel[:3], accel[3:]
    r, J = R @ body.com, R @ body.inertia @ R.T
    force = body.mass * (gravity - a - np.cross(alpha, r) - np.cross(w, np.cross(w, r)))
    moment = np.cross(r, force) - J @ alpha - np.cross(w, J @ w)
    return np.concatenate([force, moment])


@pytest.fixture
def payload(rng):
    return random_body(rng, rng.uniform(1.0, 50.0), rng.normal(scale=0.3, size=3), 0.2)


def test_a_payload_loads_the_platform_as_its_weight_and_inertia_do(platform, payload, rng):
    loaded = platform.with_payload(payload.mass, payload.com, payload.inertia)
    motion, wrench = (values := random_motion(rng, platform))[:3], values[3]
    extra = wrench_of(payload, platform.model.gravity, *motion)
    expected = platform.inverse_dynamics(*motion, wrench + extra)
    assert relative(loaded.inverse_dynamics(*motion, wrench), expected) < 1e-11


def test_forward_dynamics_with_a_payload_is_the_inverse_of_its_inverse(platform, payload, rng):
    loaded = platform.with_payload(payload.mass, payload.com, payload.inertia)
    pose, twist, accel, wrench = random_motion(rng, platform)
    forces = loaded.inverse_dynamics(pose, twist, accel, wrench)
    assert relative(loaded.forward_dynamics(pose, twist, forces, wrench), accel) < 1e-9


def test_a_point_mass_needs_no_tensor(platform, rng):
    com = rng.normal(size=3)
    pose, twist, _, _ = random_motion(rng, platform)
    gain = platform.with_payload(3.0, com).energy(pose, twist).kinetic
    gain = gain - platform.energy(pose, twist).kinetic
    r = Rotation.from_quat(pose[3:]).apply(com)
    speed = twist[:3] + np.cross(twist[3:], r)
    assert gain == pytest.approx(1.5 * speed @ speed, rel=1e-9)


def test_payloads_add_up_in_any_order(platform, rng):
    first, second = (random_body(rng, 5.0, rng.normal(size=3), 0.2) for _ in range(2))
    one, other = platform, platform
    for body in (first, second):
        one = one.with_payload(body.mass, body.com, body.inertia)
    for body in (second, first):
        other = other.with_payload(body.mass, body.com, body.inertia)
    np.testing.assert_allclose(
        six_legs(one).platform.inertia, six_legs(other).platform.inertia, rtol=1e-12
    )
    np.testing.assert_allclose(six_legs(one).platform.com, six_legs(other).platform.com, rtol=1e-12)


def test_no_payload_changes_nothing(platform):
    unloaded = six_legs(platform.with_payload(0.0, [1.0, 2.0, 3.0])).platform
    body = six_legs(platform).platform
    np.testing.assert_array_equal(unloaded.com, body.com)
    np.testing.assert_array_equal(unloaded.inertia, body.inertia)
    assert unloaded.mass == body.mass


def test_the_rest_of_the_mechanism_stays(rng):
    platform = random_platform(rng, "spherical")
    loaded = platform.with_payload(3.0)
    assert loaded.base_joint == platform.base_joint
    unloaded = replace(six_legs(loaded), platform=six_legs(platform).platform)
    assert unloaded == six_legs(platform)
    assert loaded.joint_names == platform.joint_names
    np.testing.assert_array_equal(loaded.home, platform.home)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((-1.0,), "payload: mass is -1.0, must be at least 0"),
        ((np.nan,), "payload: mass is nan"),
        ((1.0, [0.0, 0.0]), r"payload: com has shape \(2,\)"),
        ((1.0, [0, 0, np.inf]), r"payload: com\[2\] is inf"),
        ((1.0, [0, 0, 0], np.triu(np.ones((3, 3)))), "payload: inertia is not symmetric"),
        ((1.0, [0, 0, 0], np.ones(3)), "payload: inertia has shape"),
    ],
)
def test_a_payload_that_is_no_rigid_body_is_refused(paper_platform, arguments, text):
    with pytest.raises(ModelError, match=text):
        paper_platform.with_payload(*arguments)
