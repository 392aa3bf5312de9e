# SPDX-License-Identifier: Apache-2.0

"""Overconstrained loops that move: the rank is computed, joints are not counted."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.algorithms import stepping
from robodyn.model import Closure, Joint, Link, Model, Placement

X, Y, Z = np.eye(3)


def placed(xyz, turn=None):
    return Placement(np.eye(3) if turn is None else turn.as_matrix(), np.array(xyz, dtype=float))


def mechanism(joints, closures, driven, home, tip):
    """Of joints (name, parent, child, place, axis) and hinges between links."""
    names = ["base", *(child for _, _, child, _, _ in joints)]
    links = [
        Link(name, 1.0, np.array([0.1, 0.02, 0.03]), np.diag([0.02, 0.03, 0.04])) for name in names
    ]
    return rd.ClosedLoop(
        Model(
            name="overconstrained",
            links=tuple(links),
            joints=tuple(
                Joint(name, "continuous", parent, child, place, axis=axis)
                for name, parent, child, place, axis in joints
            ),
            closures=tuple(
                Closure(f"hinge{n}", "revolute", a, b, at, child_at, axis=axis, child_axis=other)
                for n, (a, at, axis, b, child_at, other) in enumerate(closures)
            ),
            driven=driven,
            tip_link=tip,
            home=tuple((name, (value,)) for name, value in home.items()),
        )
    )


def bennett():
    """Four hinges in space: lengths as the sines of the twists."""
    a, b, twist = 0.5, 0.3, np.radians(40.0)
    other = np.arcsin(b * np.sin(twist) / a)
    first, second = Rotation.from_euler("x", twist), Rotation.from_euler("x", other)
    joints = [
        ("j1", "base", "l1", placed([0, 0, 0]), Z),
        ("j2", "l1", "l2", placed([a, 0, 0], first), Z),
        ("j3", "l2", "l3", placed([b, 0, 0], second), Z),
    ]
    closing = ("base", placed([-b, 0, 0]), second.inv().apply(Z))
    hinge = (*closing, "l3", placed([a, 0, 0]), first.apply(Z))
    return mechanism(joints, [hinge], ("j1",), {"j1": 1.0, "j2": -1.2, "j3": 1.0}, "l3"), 2


def sarrus():
    """Two pairs of plates at right angles, which take a plate straight up."""
    joints, home = [], {}
    for n, turn in enumerate((0.0, np.pi / 2)):
        about = Rotation.from_euler("z", turn)
        foot = placed(about.apply([0.3, 0, 0]), about)
        joints += [
            (f"a{n}", "base", f"lower{n}", foot, Y),
            (f"b{n}", f"lower{n}", f"upper{n}", placed([0, 0, 0.4]), Y),
        ]
        home |= {f"a{n}": 0.5, f"b{n}": -1.0}
    joints.append(("c0", "upper0", "plate", placed([0, 0, 0.4]), Y))
    hinge = ("plate", placed([-0.3, 0.3, 0]), X, "upper1", placed([0, 0, 0.4]), -Y)
    return mechanism(joints, [hinge], ("a0",), home | {"c0": 0.5}, "plate"), 4


def parallelogram(angle):
    """With a third bar, which only parallel bars of equal length allow."""
    joints = [
        ("k1", "base", "bar1", placed([0, 0, 0]), Z),
        ("m", "bar1", "coupler", placed([0.4, 0, 0]), Z),
        ("k2", "base", "bar2", placed([0.3, 0, 0]), Z),
        ("k3", "base", "bar3", placed([0.7, 0, 0]), Z),
    ]
    hinges = [
        ("coupler", placed([x, 0, 0]), Z, f"bar{n}", placed([0.4, 0, 0]), Z)
        for n, x in ((2, 0.3), (3, 0.7))
    ]
    home = {"k1": angle, "m": -angle, "k2": angle, "k3": angle}
    return mechanism(joints, hinges, ("k1",), home, "coupler"), 3


@pytest.mark.parametrize(
    "make", [bennett, sarrus, lambda: parallelogram(1.0)], ids=["bennett", "sarrus", "three bars"]
)
def test_an_overconstrained_mechanism_has_one_freedom_that_moves(make, rng):
    """Their equations are many, their freedom is one; dynamics undo each other along it."""
    loop, rank = make()
    assert (loop.mobility, loop.structure.rank, loop.structure.idle) == (1, rank, ())
    assert not loop.structure.loose
    q = loop.home
    for step in rng.uniform(-0.1, 0.1, 3):
        q = loop.advance(q, [step])
        assert loop.structure.equations.relative_residual(q) < 1e-11
        rate, change = rng.normal(size=(2, 1))
        effort = loop.inverse_dynamics(q, rate, change)
        np.testing.assert_allclose(loop.forward_dynamics(q, rate, effort), change, rtol=1e-9)
    moved, rate = stepping.step(loop, q, np.zeros(1), np.zeros(1), np.zeros(6), 1e-3, 300)
    assert loop.structure.equations.relative_residual(moved) < 1e-11
    before, after = (sum(loop.energy(*state)[:2]) for state in ((q, np.zeros(1)), (moved, rate)))
    assert abs(after - before) < 1e-6 * (1.0 + abs(before))


def test_sarrus_goes_straight():
    loop, _ = sarrus()
    start = loop.body_pose(loop.home)
    moved = loop.body_pose(loop.advance(loop.home, [0.3]))
    assert abs(moved[2] - start[2]) > 0.05
    np.testing.assert_allclose(moved[[0, 1, 3, 4, 5]], start[[0, 1, 3, 4, 5]], atol=1e-12)


def test_bars_in_line_do_not_hide_the_freedom():
    """With all bars in line the rank drops, and rounding next to it suggests a higher one."""
    loop, rank = parallelogram(0.0)
    assert (loop.mobility, loop.structure.rank) == (1, rank)
