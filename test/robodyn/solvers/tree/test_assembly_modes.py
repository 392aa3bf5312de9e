# SPDX-License-Identifier: Apache-2.0

"""All the ways to put a mechanism together, against counts known from elsewhere."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.model import Closure, Joint, Link, Model, Placement
from robodyn.solvers.tree.closing import assembly_modes

Z = np.array([0.0, 0.0, 1.0])


def at(*xyz):
    return Placement(np.eye(3), np.array([*xyz, *[0.0] * (3 - len(xyz))], dtype=float))


def solid(name):
    return Link(name, 1.0, np.array([0.1, 0.0, 0.0]), np.diag([0.01, 0.02, 0.02]))


def three_rpr(base, plate):
    """A triangle on three sliding legs in the plane; the tree goes through the first leg."""
    links, joints = [Link("base")], []
    along = np.array([1.0, 0.0, 0.0])
    for i, corner in enumerate(base):
        links += [Link(f"turn{i}"), solid(f"rod{i}")]
        joints += [
            Joint(f"r{i}", "continuous", "base", f"turn{i}", at(*corner), axis=Z),
            Joint(f"p{i}", "prismatic", f"turn{i}", f"rod{i}", at(), axis=along),
        ]
    links.append(solid("plate"))
    joints.append(Joint("c0", "continuous", "rod0", "plate", at(), axis=Z))
    closures = tuple(
        Closure(f"c{i}", "spherical", f"rod{i}", "plate", at(), at(*(plate[i] - plate[0])))
        for i in (1, 2)
    )
    return links, joints, closures


def modes_by_angle(base, plate, lengths, steps=20001):
    """Count the assembly modes of the triangle by one equation in its angle.

    Subtracting two circles leaves two linear equations for the position; put into the third they
    leave a function of the angle, whose changes of sign are counted.
    """
    angle = np.linspace(-np.pi, np.pi, steps)
    c, s = np.cos(angle), np.sin(angle)
    arms = [
        np.array([c * b[0] - s * b[1] - a[0], s * b[0] + c * b[1] - a[1]])
        for a, b in zip(base, plate, strict=True)
    ]
    (a, b), (e, f) = (2.0 * (arm - arms[0]) for arm in arms[1:])
    known = [
        lengths[i] ** 2 - lengths[0] ** 2 - (arms[i] ** 2).sum(0) + (arms[0] ** 2).sum(0)
        for i in (1, 2)
    ]
    determinant = a * f - b * e
    x, y = known[0] * f - known[1] * b, a * known[1] - e * known[0]
    left = (
        (x + arms[0][0] * determinant) ** 2
        + (y + arms[0][1] * determinant) ** 2
        - (lengths[0] * determinant) ** 2
    )
    return int((np.sign(left[1:]) != np.sign(left[:-1])).sum())


@pytest.mark.slow
def test_a_planar_platform_has_its_six_modes():
    """Six is the most that a 3-RPR can have; with these dimensions all are real."""
    base = np.array([[0.0, 0.0], [1.0, 0.0], [0.63, 1.0]])
    plate = np.array([[0.0, 0.0], [0.95, 0.0], [0.02, 0.63]])
    lengths = np.array([1.05, 0.91, 0.9])
    assert modes_by_angle(base, plate, lengths) == 6
    links, joints, closures = three_rpr(base, plate)
    home = (("r0", (0.9,)), ("p0", (1.05,)), ("p1", (0.9,)), ("p2", (0.9,)), ("r2", (-2.0,)))
    legs = ("p0", "p1", "p2")
    mechanism = rd.ClosedLoop(
        Model(
            name="3rpr", links=tuple(links), joints=tuple(joints), closures=closures, driven=legs,
            tip_link="plate", home=home,
        )
    )  # fmt: skip
    result = assembly_modes(mechanism, lengths)
    assert len(result.configurations) == 6
    assert result.unseen == 0.0
    assert result.hits.min() >= 1
    assert result.hits.sum() == result.converged
    for q in result.configurations:
        assert mechanism.structure.equations.relative_residual(q) < 1e-11
    np.testing.assert_allclose(mechanism.joint_positions(result.configurations), [lengths] * 6)
    np.testing.assert_array_equal(mechanism.assemblies(lengths), result.configurations)


def test_a_five_bar_has_two():
    loop = rd.load("fivebar")
    found = loop.assemblies(loop.joint_positions(loop.home))
    assert len(found) == 2
    np.testing.assert_allclose(found[0], loop.home, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stewart_symmetric", "hexapod_rotary"])
def test_legs_half_a_turn_round_are_not_other_modes(name):
    """A leg on a universal joint fits twice; the platform does not care."""
    loop = rd.load(name, kind="closed_loop")
    result = assembly_modes(loop, loop.joint_positions(loop.home), searches=20)
    poses = loop.body_pose(result.configurations)
    for n, pose in enumerate(poses):
        others = np.delete(poses, n, axis=0)
        turned = np.minimum(np.abs(others - pose), np.abs(others + pose))[:, 3:].max(axis=1)
        moved = np.abs(others - pose)[:, :3].max(axis=1)
        assert np.maximum(moved, turned).min(initial=1.0) > 1e-6
    home = loop.body_pose(loop.home)
    assert np.abs(poses[0] - home).max() < 1e-9
