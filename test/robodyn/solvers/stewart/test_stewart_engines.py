# SPDX-License-Identifier: Apache-2.0

"""Comparison with Pinocchio and MuJoCo: their trees, closed by projection, on random mechanisms."""

from dataclasses import dataclass

import numpy as np
import pytest
from stewart_mechanisms import random_motion, random_platform, relative

pytest.importorskip("mujoco")
pytest.importorskip("pinocchio")
from six_legs import six_legs

from benchmarks.engine_trees import MujocoTree, PinocchioTree


@dataclass
class ClosedChain:
    """A tree's dynamics in the coordinates of the platform, everything from its own Jacobians."""

    H: np.ndarray
    mass_matrix: np.ndarray
    bias: np.ndarray
    required: np.ndarray
    leg_velocity: np.ndarray
    leg_acceleration: np.ndarray


def closed_chain(tree, pose, twist, accel):
    """Close the tree: tips on the platform's points, and no spin on a spherical base.

    With K qd = [0; twist] the tree's velocity is qd = G twist, and its acceleration follows from
    K qdd = [0; accel] - K' qd. Forces are projected with G', friction added as what its rates do.
    """
    tree.place(pose)
    tips = [tree.jacobian(frame) for frame in tree.tips]
    points = [tree.jacobian(frame) for frame in tree.points]
    spins = [i for i, joint in enumerate(tree.platform.base_joint) if joint == "spherical"]
    s = tree.platform.leg_motion(pose).direction
    rows = [tip[:3] - point[:3] for tip, point in zip(tips, points, strict=True)]
    rows += [(s[i] @ tips[i][3:])[None] for i in spins]
    K = np.vstack([*rows, tree.jacobian(tree.reference)])
    assert K.shape == (tree.size, tree.size)
    inverse = np.linalg.inv(K)
    G = inverse[:, -6:]
    qd = G @ twist

    frames = [*tree.tips, *tree.points, tree.reference]
    drifts = tree.drifts(frames, qd)
    drift = [drifts[i][:3] - drifts[6 + i][:3] for i in range(6)]
    drift += [np.array([s[i] @ drifts[i][3:]]) for i in spins]
    drift = np.concatenate([*drift, drifts[-1]])
    still = -inverse @ drift
    qdd = G @ accel + still

    def friction():
        total = np.zeros(tree.size)
        for i, leg in enumerate(six_legs(tree.platform).legs):
            leg_turn, platform_turn = tips[i][3:], points[i][3:]
            total += leg.damping.universal * leg_turn.T @ leg_turn @ qd
            total[tree.sliders[i]] += leg.damping.prismatic * qd[tree.sliders[i]]
            relative_turn = leg_turn - platform_turn
            total += leg.damping.spherical * relative_turn.T @ relative_turn @ qd
        return total

    return ClosedChain(
        H=G[tree.sliders].T,
        mass_matrix=G.T @ tree.mass_matrix() @ G,
        bias=G.T @ (tree.inverse_dynamics(qd, still) + friction()),
        required=G.T @ (tree.inverse_dynamics(qd, qdd) + friction()),
        leg_velocity=np.array([tip[3:] @ qd for tip in tips]),
        leg_acceleration=np.array([tip[3:] @ qdd + drifts[i][3:] for i, tip in enumerate(tips)]),
    )


@pytest.mark.parametrize("engine", [PinocchioTree, MujocoTree])
@pytest.mark.parametrize("base_joint", ["universal", "spherical", "mixed"])
def test_agrees_with_another_engine(engine, base_joint, rng):
    platform = random_platform(rng, "universal" if base_joint == "universal" else "spherical")
    if base_joint == "mixed":
        joints = rng.permutation(["universal"] * 3 + ["spherical"] * 3).tolist()
        platform = type(platform)(platform.model, joints)
    tree = engine(platform)
    for pose, twist, accel, wrench in zip(*random_motion(rng, platform, (4,)), strict=True):
        other = closed_chain(tree, pose, twist, accel)
        legs = platform.leg_motion(pose, twist, accel)
        assert relative(legs.angular_velocity, other.leg_velocity) < 1e-9
        assert relative(legs.angular_acceleration, other.leg_acceleration) < 1e-9
        assert relative(platform.jacobian(pose), other.H) < 1e-9
        assert relative(platform.mass_matrix(pose), other.mass_matrix) < 1e-9
        assert relative(platform.bias(pose, twist), other.bias) < 1e-9
        forces = np.linalg.solve(other.H, other.required - wrench)
        assert relative(platform.inverse_dynamics(pose, twist, accel, wrench), forces) < 1e-9
        back = platform.forward_dynamics(pose, twist, forces, wrench)
        assert relative(back, accel) < 1e-9
