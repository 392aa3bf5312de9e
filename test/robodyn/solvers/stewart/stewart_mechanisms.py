# SPDX-License-Identifier: Apache-2.0

"""Mechanisms and motions to test with: the reference ones, and random ones with every asymmetry."""

import json
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation
from six_legs import Damping, Leg, SixLegs, six_legs

import robodyn as rd
from robodyn.model import Body

GOLDEN = json.loads((Path(__file__).parents[3] / "reference" / "golden.json").read_text())


def platform_of(params, home=None):
    legs = tuple(
        Leg(
            base=params["b"][i],
            platform=params["p"][i],
            universal_axis=params["k"][i],
            lower=Body(params["md"][i], params["rd0"][i], params["Id"][i]),
            upper=Body(params["mu"][i], params["ru0"][i], params["Iu"][i]),
            damping=Damping(params["Cu"][i], params["Cp"][i], params["Cs"][i]),
        )
        for i in range(6)
    )
    body = Body(params["M"], params["R0"], params["Ip"])
    return rd.StewartPlatform(
        SixLegs("golden", body, legs, np.array(params["g"]), home=home).model()
    )


def dasgupta():
    home = np.array([0.2, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])
    return platform_of(GOLDEN["stewart_dasgupta"]["params"], home)


def motion_of(state):
    """Pose, twist and acceleration of a state in golden.json; absent parts are zero."""
    quaternion = Rotation.from_matrix(state["R"]).as_quat()
    zero = [0.0] * 3
    return (
        np.concatenate([state["t"], quaternion]),
        np.concatenate([state.get("v", zero), state.get("w", zero)]),
        np.concatenate([state.get("a", zero), state.get("al", zero)]),
    )


def random_body(rng, mass, com, spread, symmetric=False):
    """Inertia of a cloud of points: physical by construction."""
    if symmetric:
        axial, across = spread**2 * rng.uniform(0.5, 1.0), spread**2 * rng.uniform(1.0, 2.0)
        return Body(mass, [com[0], 0.0, 0.0], mass * np.diag([axial, across, across]))
    points = rng.normal(scale=spread, size=(6, 3))
    points -= points.mean(axis=0)
    squares = (points[:, :, None] * points[:, None, :]).mean(axis=0)
    return Body(mass, com, mass * (np.trace(squares) * np.eye(3) - squares))


def radial(angle):
    return np.array([np.cos(angle), np.sin(angle), 0.0])


def random_platform(rng, base_joint="universal", friction=True):
    """A platform of everyday size; legs, axes, masses and friction all differ."""
    around = np.arange(6) * np.pi / 3.0
    legs = []
    for i in range(6):
        turn_b = around[i] + rng.uniform(0.1, 0.4) * (-1) ** i
        turn_p = around[i] - rng.uniform(0.1, 0.4) * (-1) ** i
        axis = radial(turn_b) + rng.normal(scale=0.4, size=3)
        symmetric = base_joint == "spherical"
        legs.append(
            Leg(
                base=rng.uniform(0.6, 0.9) * radial(turn_b) + rng.normal(scale=0.05, size=3),
                platform=rng.uniform(0.3, 0.5) * radial(turn_p) + rng.normal(scale=0.05, size=3),
                universal_axis=axis * rng.uniform(0.5, 3.0),
                lower=random_body(
                    rng,
                    rng.uniform(2, 6),
                    [rng.uniform(0.2, 0.4), *rng.normal(scale=0.08, size=2)],
                    0.1,
                    symmetric,
                ),
                upper=random_body(
                    rng,
                    rng.uniform(1, 4),
                    [-rng.uniform(0.2, 0.4), *rng.normal(scale=0.08, size=2)],
                    0.08,
                    symmetric,
                ),
                damping=Damping(*rng.uniform(1.0, 30.0, size=3)) if friction else Damping(),
            )
        )
    body = random_body(rng, rng.uniform(20, 80), rng.normal(scale=0.1, size=3), 0.25)
    gravity = rng.normal(scale=6.0, size=3)
    home = np.array([0.0, 0.0, 0.8, 0.0, 0.0, 0.0, 1.0])
    return rd.StewartPlatform(
        SixLegs("random", body, tuple(legs), gravity, home).model(), base_joint
    )


def random_motion(rng, platform, shape=()):
    """Poses around home, far from singular ones, and brisk twists, accelerations, wrenches."""
    poses = np.empty((int(np.prod(shape)), 7))
    expected = np.arange(len(poses))
    while expected.size:
        steps = rng.normal(size=(len(expected), 6)) * np.repeat([0.1, 0.25], 3)
        drawn = platform.advance(platform.home, steps)
        poses[expected] = drawn
        good = (platform.condition_number(drawn) < 100.0) & _clear(platform, drawn)
        expected = expected[~good]
    poses = poses.reshape(*shape, 7)
    twist = rng.normal(scale=1.5, size=(*shape, 6))
    accel = rng.normal(scale=8.0, size=(*shape, 6))
    wrench = rng.normal(size=(*shape, 6)) * np.repeat([200.0, 50.0], 3)
    return poses, twist, accel, wrench


def _clear(platform, poses):
    """At which poses (N, 7) no leg comes near its fixed universal axis."""
    k = np.array([leg.universal_axis for leg in six_legs(platform).legs])
    sine = np.linalg.norm(np.cross(k, platform.leg_motion(poses).direction), axis=-1)
    return sine.min(axis=-1) > 0.3


def bodies_in_motion(platform, pose, twist, accel):
    """Of all thirteen bodies: the body, its frame, W, A, and its center's velocity, acceleration.

    From the legs' W and A alone, which are tested against differences of the geometry.
    """
    model, legs = six_legs(platform), platform.leg_motion(pose, twist, accel)
    R = Rotation.from_quat(pose[3:]).as_matrix()
    v, w, a, alpha = twist[:3], twist[3:], accel[:3], accel[3:]

    def carried(v, a, W, A, r):
        return v + np.cross(W, r), a + np.cross(A, r) + np.cross(W, np.cross(W, r))

    zero = np.zeros(3)
    yield model.platform, R, w, alpha, *carried(v, a, w, alpha, R @ model.platform.com)
    for i, leg in enumerate(model.legs):
        s, W, A = legs.direction[i], legs.angular_velocity[i], legs.angular_acceleration[i]
        y = np.cross(leg.universal_axis, s)
        y /= np.linalg.norm(y)
        T = np.stack([s, y, np.cross(s, y)], axis=-1)
        yield leg.lower, T, W, A, *carried(zero, zero, W, A, T @ leg.lower.com)
        tip = carried(v, a, w, alpha, R @ leg.platform)
        yield leg.upper, T, W, A, *carried(*tip, W, A, T @ leg.upper.com)


def relative(found, expected):
    """Largest error against the largest expected number."""
    expected = np.asarray(expected)
    return np.abs(found - expected).max() / np.abs(expected).max()
