# SPDX-License-Identifier: Apache-2.0

"""Selection of driven joints: by a file's actuators, by the caller, and by default."""

import json
import warnings

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import LeftOutWarning
from robodyn.loading import describe, read, use_options
from robodyn.mechanism import on_command_line

MASS, POLE, LENGTH, G = 2.0, 0.3, 0.4, 9.81


def link(name, mass=1.0, com="0 0 0"):
    return (
        f'<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/><inertia '
        'ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def joint(parent, child, kind="revolute", axis="0 1 0", more="", xyz="0 0 0.2"):
    return (
        f'<joint name="to_{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>'
        f'<limit lower="-2" upper="2" effort="20" velocity="9"/>{more}</joint>'
    )


def robot(*parts):
    return f'<robot name="r">{"".join(parts)}</robot>'


def transmission(name):
    return f'<transmission name="t_{name}"><joint name="{name}"/></transmission>'


def control(*names, interface="effort"):
    joints = (
        f'<joint name="{name}"><command_interface name="{interface}"/></joint>' for name in names
    )
    return f'<ros2_control name="c" type="system">{"".join(joints)}</ros2_control>'


CART_POLE = (
    link("rail"),
    link("cart", MASS),
    link("pole", POLE, f"0 0 {LENGTH}"),
    joint("rail", "cart", "prismatic", "1 0 0", xyz="0 0 0"),
    joint("cart", "pole", xyz="0 0 0"),
)


@pytest.mark.parametrize(
    "transmissions",
    [
        transmission("to_cart"),
        control("to_cart"),
        control("to_cart", interface="position"),
        control("to_cart", interface="velocity") + transmission("to_cart"),
    ],
    ids=["transmission", "effort", "position", "both"],
)
def test_a_cart_pole_with_one_motor_has_one(transmissions):
    """A passive pole falls: for a small angle its hinge bears no torque."""
    cart = rd.load(robot(*CART_POLE, transmissions))
    assert cart.joint_names == ("to_cart",)
    assert cart.effort_limits.tolist() == [20.0]
    angle = 0.3
    state = cart.home.copy()
    state[cart.structure.joint_names.index("to_pole")] = angle
    rates = cart.forward_dynamics(state, np.zeros(2), [0.0])
    # about the hinge (I + m l^2) angle'' + m l cos(angle) x'' = m g l sin(angle), and of both
    inertia = 1e-4 + POLE * LENGTH**2
    M = [[MASS + POLE, POLE * LENGTH * np.cos(angle)], [POLE * LENGTH * np.cos(angle), inertia]]
    expected = np.linalg.solve(M, [0.0, POLE * G * LENGTH * np.sin(angle)])
    order = [cart.independent_joints.index(name) for name in ("to_cart", "to_pole")]
    np.testing.assert_allclose(np.asarray(rates)[order], expected, rtol=1e-9)
    with pytest.raises(rd.UnderActuated, match="to_pole still move"):
        cart.inverse_dynamics(state, np.zeros(2), np.zeros(2))


def test_a_file_that_says_nothing_of_motors_or_says_it_of_all_is_an_arm():
    for reported in ("", transmission("to_cart") + transmission("to_pole")):
        assert rd.load(robot(*CART_POLE, reported)).kind == "serial"


def test_driven_overrides_what_the_file_says():
    one = robot(*CART_POLE, transmission("to_cart"))
    arm = rd.load(one, driven=["to_cart", "to_pole"])
    assert (arm.kind, arm.joint_names) == ("serial", ("to_cart", "to_pole"))
    assert rd.load(robot(*CART_POLE), driven="to_pole").joint_names == ("to_pole",)
    with pytest.raises(
        rd.ModelError, match=r"driven: 'to_cat' is not a joint .*'to_cart', 'to_pole'"
    ):
        rd.load(one, driven=["to_cat"])
    with pytest.raises(rd.ModelError, match=r"no actuator drives 'to_pole'.*driven="):
        rd.load(one, kind="serial")


def test_driven_is_an_option_of_a_process_too():
    use_options(driven="to_pole , ", spelling=on_command_line)
    assert rd.load(robot(*CART_POLE)).joint_names == ("to_pole",)
    use_options()
    assert rd.load(robot(*CART_POLE)).joint_names == ("to_cart", "to_pole")


@pytest.mark.parametrize("name", ["puma560", "stewart_symmetric", "fivebar"])
def test_any_kind_of_file_can_have_joints_that_are_not_driven(name):
    whole = rd.load(name)
    part = whole.joint_names[:-1]
    some = rd.load(name, driven=part)
    assert some.kind == "closed_loop"
    assert some.joint_names == part
    rest = np.zeros(some.mobility)
    with pytest.raises(rd.UnderActuated):
        some.inverse_dynamics(some.home, rest, rest)


def test_a_tree_with_passive_joints_is_taken_whole():
    """Two legs on a body that nothing holds: neither of them is left out."""
    text = robot(
        link("world"), link("body"), link("left"), link("right"),
        joint("world", "body", "prismatic", "0 0 1"), joint("body", "left"), joint("body", "right"),
        control("to_left", "to_right"),
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = rd.load(text)
    assert tree.joint_names == ("to_left", "to_right")
    assert tree.mobility == 3


FORK = (
    link("base"), link("arm"), link("hand", 0.5), link("other"), link("far"), link("plate", 0.7),
    joint("base", "arm"), joint("arm", "hand"), joint("base", "other"), joint("other", "far"),
    joint("hand", "plate", "fixed"),
)  # fmt: skip


def test_tip_link_names_omitted_joints_and_keeps_what_moves_along(tmp_path):
    path = tmp_path / "fork.urdf"
    path.write_text(robot(*FORK, *(transmission(f"to_{n}") for n in ("arm", "hand", "far"))))
    with pytest.warns(LeftOutWarning) as reported:
        arm = rd.load(path, tip_link="hand")
    assert len(reported) == 1
    assert "ignored links 'other', 'far' and the actuators of joints 'to_far'" in str(
        reported[0].message
    )
    assert arm.bodies[-1].mass == pytest.approx(0.5 + 0.7)
    use_options(tip_link="hand")
    assert "'other', 'far'" in describe(*read(str(path), False), str(path))["left_out"][0]


def test_a_motor_of_a_joint_that_is_held_is_named():
    text = robot(
        link("base"), link("arm"), link("hand"), link("thumb"),
        joint("base", "arm"), joint("arm", "hand"), joint("hand", "thumb"),
        control("to_arm", "to_hand", "to_thumb"),
    )  # fmt: skip
    with pytest.warns(LeftOutWarning, match="ignored the actuators of joints 'to_thumb'"):
        arm = rd.load(text, tip_link="hand", hold_branches=True)
    assert arm.bodies[-1].mass == 2.0


CHAINED = (
    link("base"), link("a"), link("b"), link("c"),
    joint("base", "a"),
    joint("a", "b", more='<mimic joint="to_a" multiplier="2" offset="0.1"/>'),
    joint("b", "c", more='<mimic joint="to_b" multiplier="-3" offset="0.2"/>'),
)  # fmt: skip


def test_a_mimic_of_a_mimic_is_a_product_of_ratios():
    """And the motor on it, or on what it follows, moves all of them."""
    q = 0.07
    for driven, own in (("to_a", q), ("to_b", 2 * q + 0.1), ("to_c", -3 * (2 * q + 0.1) + 0.2)):
        hand = rd.load(robot(*CHAINED, control(driven)), kind="closed_loop")
        assert (hand.joint_names, hand.mobility) == ((driven,), 1)
        state = hand.assemble([own])
        found = dict(zip(hand.structure.joint_names, state, strict=True))
        assert found["to_a"] == pytest.approx(q)
        assert found["to_b"] == pytest.approx(2 * q + 0.1)
        assert found["to_c"] == pytest.approx(-3 * (2 * q + 0.1) + 0.2)


def test_a_motor_behind_a_ratio_does_the_same_power():
    first, last = (
        rd.load(robot(*CHAINED, control(name)), kind="closed_loop") for name in ("to_a", "to_c")
    )
    q = 0.07
    rest = np.zeros(1)
    efforts = [
        float(m.inverse_dynamics(m.assemble([own]), rest, rest)[0])
        for m, own in ((first, q), (last, -3 * (2 * q + 0.1) + 0.2))
    ]
    assert efforts[0] == pytest.approx(-6.0 * efforts[1], rel=1e-9)


def test_a_second_motor_on_coupled_joints_is_left_out_by_name():
    with pytest.warns(LeftOutWarning, match="'to_b': ignored its actuator.*'to_a'"):
        hand = rd.load(robot(*CHAINED, control("to_a", "to_b")), kind="closed_loop")
    assert hand.joint_names == ("to_a",)


def test_joints_that_follow_each_other_in_a_circle_are_refused():
    circle = robot(*CHAINED[:4], *(
        joint(parent, child, more=f'<mimic joint="to_{other}"/>')
        for parent, child, other in (("base", "a", "b"), ("a", "b", "c"), ("b", "c", "b"))
    ))  # fmt: skip
    with pytest.raises(rd.ModelError, match=r"mimic joints .* form a cycle"):
        rd.load(circle, kind="closed_loop")


def test_fingers_alike_are_no_halves_of_a_loop():
    names = [("rod", "tip"), ("rod_2", "tip_2")]
    parts = [link("palm")]
    for number, (middle, end) in enumerate(names):
        parts += [
            link(middle), link(end),
            joint("palm", middle, xyz=f"0 {0.04 * number} 0"), joint(middle, end),
        ]  # fmt: skip
    with pytest.raises(rd.ModelError, match="several chains of 2 joints"):
        rd.load(robot(*parts))
    # in one place they would be
    with pytest.raises(rd.ModelError, match="two halves of a loop"):
        rd.load(robot(*parts).replace("0 0.04 0", "0 0.0 0"))


def test_an_unknown_ending_is_refused_with_all_that_are_read(tmp_path):
    path = tmp_path / "robot.sdx"
    path.write_text("<sdf/>")
    with pytest.raises(rd.ModelError) as refused:
        rd.load(path)
    for ending in (".urdf", ".xacro", ".sdf", ".xml", ".yaml", ".yml"):
        assert ending in str(refused.value)


def test_an_arm_starts_where_its_ros2_control_does():
    text = robot(*FORK[:3], *FORK[6:8]).replace(
        "</robot>",
        '<ros2_control name="c" type="system"><joint name="to_hand"><state_interface '
        'name="position"><param name="initial_value">0.4</param></state_interface></joint>'
        "</ros2_control></robot>",
    )
    assert rd.load(text).home.tolist() == [0.0, 0.4]


@pytest.mark.slow
def test_check_says_what_is_left_out_and_takes_driven_joints(tmp_path):
    from typer.testing import CliRunner

    from robodyn.cli import app

    path = tmp_path / "fork.urdf"
    path.write_text(robot(*FORK, *(transmission(f"to_{n}") for n in ("arm", "hand", "far"))))
    run = CliRunner().invoke(app, ["check", str(path), "--tip-link", "hand"])
    assert "left out: " in run.output
    assert "'to_far'" in " ".join(run.output.split())
    words = ["check", str(path), "--tip-link", "hand", "--driven", "to_arm", "--json"]
    found = json.loads(CliRunner().invoke(app, words).stdout)
    assert [joint["name"] for joint in found["joints"]] == ["to_arm"]
    assert len(found["left_out"]) == 1


def test_actuators_of_a_gripper_alone_leave_the_arm_driven():
    """As the URDF of Baxter has it: transmissions of its grippers, none of its arms."""
    text = robot(
        link("base"), link("upper"), link("fore"), link("finger", 0.1),
        joint("base", "upper"), joint("upper", "fore"), joint("fore", "finger", "prismatic"),
        transmission("to_finger"),
    )  # fmt: skip
    with pytest.warns(UserWarning, match="'to_finger'.*all joints of the requested chain"):
        arm = rd.load(text, tip_link="fore", hold_branches=True)
    assert arm.joint_names == ("to_upper", "to_fore")
    # the part that a file has actuators for is driven by these
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hand = rd.load(text, tip_link="finger")
    assert hand.joint_names == ("to_finger",)
