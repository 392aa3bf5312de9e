# SPDX-License-Identifier: Apache-2.0

"""Linkages between motors and joints: an ankle on two motors, behind a knee of its own."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput, SingularConfiguration

BODY = (
    '<inertial><origin xyz="0.01 0.02 -0.03"/><mass value="{m}"/>'
    '<inertia ixx="1e-3" iyy="1.2e-3" izz="1.1e-3" ixy="0" ixz="0" iyz="0"/></inertial>'
)
# Cranks about y on the shin, rods with a universal and a ball joint to the foot [m].
SEATS = {"1": (0.045, 0.21), "2": (-0.045, 0.15)}
CRANK, HEEL = 0.055, -0.06


def link(name, mass):
    return f'<link name="{name}">{BODY.format(m=mass) if mass else ""}</link>'


def joint(name, parent, child, axis, xyz="0 0 0"):
    return (
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/></joint>'
    )


def ankle():
    parts = [
        link("base", 0) + link("shin", 3) + link("cross", 0) + link("foot", 1),
        joint("knee", "base", "shin", "0 1 0"),
        joint("pitch", "shin", "cross", "0 1 0"),
        joint("roll", "cross", "foot", "1 0 0"),
    ]
    for i, (y, z) in SEATS.items():
        parts += [
            link(f"crank{i}", 0.1) + link(f"u{i}", 0) + link(f"rod{i}", 0.05),
            joint(f"motor{i}", "shin", f"crank{i}", "0 1 0", f"0 {y} {z}"),
            joint(f"rod{i}_1", f"crank{i}", f"u{i}", "1 0 0", f"{-CRANK} 0 0"),
            joint(f"rod{i}_2", f"u{i}", f"rod{i}", "0 1 0"),
            f'<constraint name="tip{i}" type="spherical"><parent link="rod{i}"/>'
            f'<parent_origin xyz="{HEEL + CRANK} 0 {0.02 - z}"/><child link="foot"/>'
            f'<child_origin xyz="{HEEL} {y} 0.02"/></constraint>',
        ]
    driven = '<robodyn type="closed_loop" actuated_joints="knee,motor1,motor2"/>'
    return f'<robot name="leg">{"".join(parts)}{driven}</robot>'


def motor_angle(side, pitch, roll):
    """In closed form: the crank's end is a rod away from the heel's point."""
    y, z = SEATS[side]
    (cp, sp), (cr, sr) = ((np.cos(a), np.sin(a)) for a in (pitch, roll))
    turn = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]]) @ [[1, 0, 0], [0, cr, -sr], [0, sr, cr]]
    way = turn @ [HEEL, y, 0.02] - [0, y, z]
    rod = np.hypot(HEEL + CRANK, 0.02 - z)
    # CRANK (cos, sin) . (-x, z) of the way, as the crank points to -x at zero
    expected = (way @ way + CRANK**2 - rod**2) / (2.0 * CRANK)
    middle = np.arctan2(way[2], -way[0])
    half = np.arccos(expected / np.hypot(way[0], way[2]))
    return min((middle + half, middle - half), key=abs)


@pytest.fixture(scope="module")
def leg():
    return rd.load(ankle())


@pytest.fixture(scope="module")
def linkage(leg):
    return rd.transmission(leg, ["motor1", "motor2"], ["pitch", "roll"])


def test_positions_are_those_of_the_closed_form_both_ways(linkage, rng):
    at = rng.uniform([-0.5, -0.3], [0.4, 0.3], (20, 2))
    expected = [[motor_angle(side, *angles) for side in "12"] for angles in at]
    motors = linkage.motor_positions(at)
    np.testing.assert_allclose(motors, expected, atol=1e-9)
    np.testing.assert_allclose(linkage.joint_positions(motors), at, atol=1e-9)


# Of the ankle like G1's of feidedao/Parallel_Ankle_Joint [m], cranks about x: shaft, crank's end,
# where the rod ends on the foot at zero; and pitch and roll [rad] by its own code.
G1_ROLL_AXIS = np.array([0.0, 0.0, -0.01756])
G1 = {
    "1": np.array([[0.035, 0, 0.15087], [0.035, 0.01653, 0.1469], [0.022, 0.015, -0.00956]]),
    "2": np.array([[0.0395, 0, 0.21587], [0.0395, -0.01636, 0.21125], [0.022, -0.015, -0.00956]]),
}
G1_ANGLES = [
    ([-0.5, 0.2], [0.8846265394349387, -0.5485956303683397]),
    ([0.4, -0.2], [-0.9366068318908167, 0.3697499040752813]),
    ([0.1, 0.15], [-0.0060139569426756745, 0.2964420322483381]),
]


def test_positions_are_those_of_a_published_ankle():
    def text(vector):
        return " ".join(map(repr, vector.tolist()))

    parts = [
        link("shin", 3) + link("cross", 0) + link("foot", 1),
        joint("pitch", "shin", "cross", "0 1 0"),
        joint("roll", "cross", "foot", "1 0 0", text(G1_ROLL_AXIS)),
    ]
    for i, (shaft, end, heel) in G1.items():
        parts += [
            link(f"crank{i}", 0.1) + link(f"u{i}", 0) + link(f"rod{i}", 0.05),
            joint(f"motor{i}", "shin", f"crank{i}", "1 0 0", text(shaft)),
            joint(f"rod{i}_1", f"crank{i}", f"u{i}", "1 0 0", text(end - shaft)),
            joint(f"rod{i}_2", f"u{i}", f"rod{i}", "0 1 0"),
            f'<constraint name="tip{i}" type="spherical"><parent link="rod{i}"/>'
            f'<parent_origin xyz="{text(heel - end)}"/><child link="foot"/>'
            f'<child_origin xyz="{text(heel - G1_ROLL_AXIS)}"/></constraint>',
        ]
    driven = '<robodyn type="closed_loop" actuated_joints="motor1,motor2"/>'
    m = rd.load(f'<robot name="g1">{"".join(parts)}{driven}</robot>')
    ours = rd.transmission(m, ["motor1", "motor2"], ["pitch", "roll"])
    angles, motors = (np.array(part) for part in zip(*G1_ANGLES, strict=True))
    np.testing.assert_allclose(ours.motor_positions(angles), motors, atol=1e-9)
    np.testing.assert_allclose(ours.joint_positions(motors), angles, atol=1e-9)


def test_rates_are_the_derivative_and_power_balances(linkage, rng):
    at = rng.uniform([-0.5, -0.3], [0.4, 0.3], (5, 2))
    rates, efforts = rng.normal(size=(2, 5, 2))
    step = 1e-6
    change = linkage.motor_positions(at + step * rates) - linkage.motor_positions(at - step * rates)
    found = linkage.motor_rates(at, rates)
    np.testing.assert_allclose(found, change / (2.0 * step), atol=1e-7)
    np.testing.assert_allclose(linkage.joint_rates(at, found), rates, rtol=1e-12)
    torques = linkage.motor_efforts(at, efforts)
    power = (efforts * rates).sum(axis=1)
    np.testing.assert_allclose((torques * found).sum(axis=1), power, rtol=0, atol=1e-12)
    np.testing.assert_allclose(linkage.joint_efforts(at, torques), efforts, rtol=1e-12)


def test_inertia_is_the_kinetic_energy_of_what_moves(leg, linkage, rng):
    """With the foot, and without: cranks, rods and rotors alone."""
    at = np.array([0.2, -0.1])
    geared = type(leg)(leg.model.driven_by({"motor1": rd.Actuator(rotor_inertia=1e-5,
                                                                  gear_ratio=30)}))  # fmt: skip
    rotor = rd.transmission(geared, ["motor1", "motor2"], ["pitch", "roll"])
    J = linkage.jacobian(at)
    added = rotor.inertia(at) - linkage.inertia(at)
    np.testing.assert_allclose(added, 1e-5 * 30**2 * np.outer(J[0], J[0]), rtol=1e-9)
    q = linkage.configuration(at)
    rates = rng.normal(size=2)
    u = np.zeros(leg.mobility)
    for name, rate in zip(("motor1", "motor2"), linkage.motor_rates(at, rates), strict=True):
        u[leg.independent_joints.index(name)] = rate
    kinetic, _ = leg.energy(q, u)
    assert 0.5 * rates @ linkage.inertia(at, load=True) @ rates == pytest.approx(kinetic, rel=1e-10)
    foot = next(each for each in leg.model.links if each.name == "foot")
    bare = linkage.inertia(at, load=True) - linkage.inertia(at)
    about_roll = foot.inertia[0, 0] + foot.mass * (foot.com[1] ** 2 + foot.com[2] ** 2)
    assert bare[1, 1] == pytest.approx(about_roll, rel=1e-9)


def test_an_invalid_transmission_is_refused_by_name(leg):
    for motors, joints, reported in (
        (["motor1", "motor2"], ["pitch", "knee"], "joint 'knee' moves by itself while the motors"),
        (["motor1"], ["pitch"], "joint 'pitch' moves with 'motor2'"),
        (["motor1", "motor1"], ["pitch", "roll"], "motor1.*pitch.*roll"),
        (["motor3", "motor2"], ["pitch", "roll"], "no joint 'motor3'"),
    ):
        with pytest.raises(InvalidInput, match=reported):
            rd.transmission(leg, motors, joints)
    with pytest.raises(InvalidInput, match="of the kind 'serial', expected a mechanism"):
        rd.transmission(rd.load("puma560"), ["joint1"], ["joint2"])


@pytest.mark.slow
def test_a_dead_center_is_singular():
    """A crank in line with its rod moves its slider no more."""
    parts = [
        *(link(name, 1) for name in ("base", "crank", "rod", "piston")),
        joint("motor", "base", "crank", "0 1 0"),
        joint("pin", "crank", "rod", "0 1 0", "0.1 0 0"),
        '<joint name="slide" type="prismatic"><parent link="base"/><child link="piston"/>'
        '<origin xyz="0.3 0 0.1"/><axis xyz="1 0 0"/><limit effort="0" velocity="0"/></joint>'
        '<constraint name="end" type="spherical"><parent link="rod"/>'
        '<parent_origin xyz="0.25 0 0"/><child link="piston"/></constraint>'
        '<robodyn type="closed_loop" actuated_joints="motor"/>',
    ]
    text = f'<robot name="r">{"".join(parts)}</robot>'
    engine = rd.transmission(rd.load(text), ["motor"], ["slide"])
    at = engine.joint_positions([0.1])
    force = engine.joint_efforts(at, [1.0])
    assert np.isfinite(force).all()
    reach = np.sqrt(0.35**2 - 0.1**2) - 0.3
    with pytest.raises((SingularConfiguration, rd.NoSolution)):
        engine.motor_efforts([reach + 1e-3], [1.0])
