# SPDX-License-Identifier: Apache-2.0

"""MJCF: MuJoCo's own dynamics of the tree, closures, drives, and refusals by name."""

import re
import warnings

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import gravity_vector
from robodyn.errors import LeftOutWarning, ModelError
from robodyn.formats import root_tag
from robodyn.parsing.mjcf.reader import read_mjcf
from robodyn.presentation import presentation
from robodyn.solvers.tree.closing import joint_motion, tangent

mujoco = pytest.importorskip("mujoco")

ARM = """<mujoco model="arm">
  <compiler angle="degree"/>
  <option gravity="0.3 -0.4 -9.7"/>
  <worldbody>
    <body name="turret" pos="0 0 0.4" euler="0 90 0">
      <joint name="pan" axis="-1 0 0.2" ref="20" armature="0.3" stiffness="30" springref="35"/>
      <geom type="box" size="0.1 0.1 0.2" pos="0.05 0 0.02"/>
      <body name="boom" pos="0.2 0 0" quat="0.9 0.1 0.4 -0.1">
        <joint name="lift" pos="0.05 0.02 0" axis="0 1 0" range="-90 100"/>
        <joint name="reach" type="slide" axis="1 0 1" ref="0.1" range="-0.2 0.3"
          stiffness="200" springref="0.03"/>
        <inertial pos="0.1 0 0.03" mass="2" fullinertia="0.02 0.03 0.04 0.001 0.002 -0.003"/>
        <geom type="mesh" mesh="absent"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="pan" gear="50" ctrllimited="true" ctrlrange="-2 2"/>
    <position joint="lift" kp="100" forcelimited="true" forcerange="-80 80"/>
    <motor joint="reach"/>
  </actuator>
</mujoco>"""
# MuJoCo itself needs the mesh that is absent; ours does not
COMPLETE = ARM.replace('<geom type="mesh" mesh="absent"/>', "")
WITH_MESH = ARM.replace(
    "<worldbody>", '<asset><mesh name="absent" file="no.stl"/></asset><worldbody>'
)

LOOP = """<mujoco model="loop">
  <worldbody>
    <body name="crank">
      <joint name="a" axis="0 0 2" armature="0.01"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
      <body name="rod" pos="0.3 0 0" euler="0 0 20">
        <joint name="b" axis="0 0 1" ref="15" stiffness="3" springref="-10"/>
        <geom type="box" size="0.2 0.02 0.01" pos="0.2 0 0.03"/>
      </body>
    </body>
    <body name="rocker" pos="0.6 -0.3 0">
      <joint name="c" axis="0 0 1" pos="0.01 0 0"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0 0.4 0"/>
      <body name="flap" pos="0 0.2 0">
        <joint name="d" axis="1 0 0" stiffness="2"/>
        <geom type="sphere" size="0.05" pos="0 0 0.2"/>
      </body>
    </body>
  </worldbody>
  <equality>
    <connect name="pin" body1="rod" body2="rocker" anchor="0.4 0.05 0"/>
    <joint name="geared" joint1="d" joint2="c" polycoef="0.1 -2 0 0 0"/>
  </equality>
  <actuator><motor joint="a"/></actuator>
  <keyframe><key qpos="0.1 0.2 0 0"/></keyframe>
</mujoco>"""


def engine(text):
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    return model, mujoco.MjData(model)


def test_an_arm_has_mujocos_inverse_dynamics_and_needs_no_meshes(rng):
    """Joints with `ref`, springs, two on one body, anchors off the origin, any gravity."""
    arm = rd.load(WITH_MESH)
    assert arm.kind == "serial"
    assert arm.joint_names == ("pan", "lift", "reach")
    np.testing.assert_allclose(arm.effort_limits, [100.0, 80.0, np.inf])
    model, data = engine(COMPLETE)
    for _ in range(3):
        q, qd, qdd = rng.uniform(-0.5, 0.5, (3, 3))
        data.qpos, data.qvel, data.qacc = q, qd, qdd
        mujoco.mj_inverse(model, data)
        efforts = arm.inverse_dynamics(q, qd, qdd)
        np.testing.assert_allclose(efforts, data.qfrc_inverse, rtol=1e-10, atol=1e-10)
        pose = arm.forward_kinematics(q)
        boom = data.body("boom")
        np.testing.assert_allclose(pose[:3], boom.xpos, atol=1e-12)
        assert abs(pose[3:] @ np.roll(boom.xquat, -1)) == pytest.approx(1.0, abs=1e-12)


def test_a_loop_has_the_dynamics_of_mujocos_tree_projected(rng):
    """With a hinge that follows another, springs, and home at the first keyframe."""
    mechanism = rd.load(LOOP)
    assert mechanism.kind == "closed_loop"
    assert (mechanism.mobility, mechanism.structure.rank) == (1, 2)
    assert mechanism.joint_names == ("a",)
    q = mechanism.home
    names = mechanism.structure.joint_names
    assert q[names.index("a")] == pytest.approx(0.1)
    assert q[names.index("d")] == pytest.approx(0.1 - 2.0 * q[names.index("c")])
    model, data = engine(LOOP)
    u, change = rng.normal(size=(2, 1))
    rates, changes = joint_motion(mechanism, q, u, change)
    # MuJoCo has the follower as a coordinate of its own
    spread = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -2.0]])
    order = [mechanism.structure.rate_names.index(name) for name in "abc"]
    data.qpos = [q[names.index(name)] for name in "abcd"]
    data.qvel, data.qacc = spread @ rates[order], spread @ changes[order]
    mujoco.mj_inverse(model, data)
    expected = (spread @ tangent(mechanism, q)[order]).T @ data.qfrc_inverse
    np.testing.assert_allclose(mechanism.inverse_dynamics(q, u, change), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("-2 0 0 0", "-2 1 0 0", "'geared': polynomial"),
        ('joint2="c" ', "", "'geared'.*joint"),
        ('<motor joint="a"/>', "", "no joint is driven; .* in MJCF, an <actuator>"),
        ("<equality>", "<equality><nonsense/>", "MuJoCo rejects the model: .*nonsense"),
    ],
)  # fmt: skip
def test_unsupported_mjcf_elements_are_refused_by_name(old, new, name):
    text = LOOP.replace(old, new)
    with pytest.raises(ModelError, match=name) as caught:
        rd.load(text)
    assert "\n" not in str(caught.value)


def test_a_tendon_over_joints_that_nothing_couples_leaves_them_passive():
    """As in hands whose last two joints one motor draws."""
    text = """<mujoco><worldbody><body name="p"><joint name="a"/><geom size=".1"/>
      <body name="q" pos="1 0 0"><joint name="b" axis="0 1 0"/><geom size=".1"/>
      <body name="r" pos="1 0 0"><joint name="c" axis="0 1 0"/><geom size=".1"/></body></body>
      </body></worldbody>
      <tendon><fixed name="t"><joint joint="b" coef="1"/><joint joint="c" coef="1"/>
      </fixed></tendon><actuator><motor joint="a"/><motor name="drawn" tendon="t"/></actuator>
      </mujoco>"""
    with pytest.warns(
        LeftOutWarning, match="ignored actuator 'drawn', .* joints 'b', 'c' are passive"
    ):
        m = rd.load(text)
    assert (m.joint_names, m.structure.loose) == (("a",), ("b", "c"))
    with pytest.warns(LeftOutWarning, match="drawn"):
        assert rd.load(text, driven="a,b,c").joint_names == ("a", "b", "c")


def test_inertia_and_friction_of_free_joints_are_left_out():
    text = """<mujoco><worldbody><body name="base"><joint name="free" type="free" armature="1"
      damping="2" frictionloss="3"/><geom size=".1"/><body name="p" pos="1 0 0"><joint name="a"/>
      <geom size=".1"/></body></body></worldbody><actuator><motor joint="a"/></actuator></mujoco>"""
    with pytest.warns(LeftOutWarning, match="armature and frictionloss and damping of a free"):
        assert rd.load(text).mobility == 7


def test_the_range_of_a_ball_joint_is_left_out_with_a_warning_that_names_it():
    text = """<mujoco><worldbody><body name="base"><joint name="a"/><geom size=".1"/>
      <body name="p" pos="1 0 0"><joint name="ball" type="ball" range="0 0.5"/>
      <geom size=".1"/></body></body></worldbody><actuator><motor joint="a"/></actuator></mujoco>"""
    with pytest.warns(LeftOutWarning, match="joint 'ball': ignored range"):
        assert rd.load(text).mobility == 4


def test_a_spring_of_a_tendon_over_one_joint_is_that_joints_beside_its_own(rng):
    tendon = """<tendon><fixed stiffness="7" springlength="0.3"><joint joint="lift" coef="-2"/>
      </fixed><fixed stiffness="11"><joint joint="pan" coef="3"/></fixed></tendon><actuator>"""
    text = COMPLETE.replace("<actuator>", tendon, 1)
    arm, (model, data) = rd.load(text), engine(text)
    q, qd, qdd = data.qpos, data.qvel, data.qacc = rng.uniform(-0.5, 0.5, (3, 3))
    mujoco.mj_inverse(model, data)
    np.testing.assert_allclose(arm.inverse_dynamics(q, qd, qdd), data.qfrc_inverse, rtol=1e-10)


@pytest.mark.parametrize(
    ("tendon", "ignored"),
    [
        # stiffness (length - rest) coefficient, with a = 0.1 and c = 0 at home
        ('<fixed name="t" stiffness="40" springlength="0.3"><joint joint="a" coef="1"/>'
         '<joint joint="c" coef="-2"/></fixed>', "40.*lack -8 at 'a', 16 at 'c'"),
        ('<fixed name="t" stiffness="40" springlength="-.1 .3"><joint joint="a" coef="1"/>'
         '</fixed>', "range of lengths.* 40; .*lack nothing"),
        ('<fixed name="t" stiffness="40 3" springlength=".3"><joint joint="a" coef="1"/>'
         '</fixed>', "nonlinear part"),
    ],
)  # fmt: skip
def test_springs_of_tendons_that_are_left_out_are_named_with_the_error(tendon, ignored):
    text = LOOP.replace("<actuator>", f"<tendon>{tendon}</tendon><actuator>", 1)
    with pytest.warns(LeftOutWarning, match=f"tendon 't': ignored .*{ignored}"):
        rd.load(text)


def test_springs_of_ball_joints_resist_their_rotation_vector(tmp_path, rng):
    """The efforts of MuJoCo by the power of every motion, and those of the energy."""
    text = """<mujoco><worldbody><body name="base"><joint name="a" axis="0 1 0"/><geom size=".1"/>
      <body name="p" pos=".4 0 0" euler="20 30 40"><joint name="ball" type="ball" pos="0 0 -.1"
      stiffness="30"/><geom size=".1" pos="0 .2 .1"/></body></body></worldbody>
      <actuator><motor joint="a"/></actuator></mujoco>"""
    m, (model, data) = rd.load(text), engine(text)
    rd.save(m, tmp_path / "m.xml")
    assert rd.load(tmp_path / "m.xml") == m
    still, h = np.zeros(4), 1e-4
    for size in (1e-9, 0.3, 1.0, 1.5):
        q = m.advance(m.home, size * rng.uniform(-1.0, 1.0, 4))
        x, y, z, w = q[4:]
        data.qpos, data.qvel, data.qacc = [q[0], w, x, y, z], still, still
        mujoco.mj_inverse(model, data)
        base, rod = (m.link_jacobian(q, name)[3:] for name in ("base", "p"))
        rates = np.eye(4)
        rates[1:] = data.body("p").xmat.reshape(3, 3).T @ (rod - base)  # of the ball, in the rod
        efforts = m.bias(q, still)
        np.testing.assert_allclose(efforts, rates.T @ data.qfrc_inverse, rtol=1e-9, atol=1e-9)
        slope = [
            m.energy(m.advance(q, d), still).potential - m.energy(m.advance(q, -d), still).potential
            for d in h * np.eye(4)
        ]
        np.testing.assert_allclose(efforts, np.array(slope) / (2.0 * h), atol=1e-6)


def test_a_file_without_contacts_and_springs_is_read_without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_mjcf(LOOP.replace("<worldbody>", UNTOUCHED))


UNTOUCHED = '<option><flag contact="disable"/></option><worldbody>'
PLATE = """<mujoco>{}<worldbody><body name="plate"><joint name="a" axis="1 0 0"/>
  <geom type="box" size=".3 .3 .01" {}/><body name="arm" pos="0 0 .1"><joint name="b"/>
  <geom size=".03"/></body></body><body name="ball" pos="0 0 .05"><freejoint/><geom size=".03"/>
  </body></worldbody><actuator><motor joint="a"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("before", "of_plate", "pairs"),
    [
        ("", "", 2),
        ("", 'contype="0" conaffinity="0"', 1),
        ('<option><flag filterparent="disable"/></option>', "", 3),
        ('<contact><exclude body1="plate" body2="ball"/></contact>', "", 1),
        (UNTOUCHED.removesuffix("<worldbody>"), "", 0),
    ],
)
def test_contacts_that_mujoco_would_have_are_named(before, of_plate, pairs):
    """Plate, arm and ball: by default all but the arm and the plate below it."""
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        rd.load(PLATE.format(before, of_plate))
    texts = [str(each.message) for each in reported if "contacts" in str(each.message)]
    assert len(texts) == bool(pairs)
    assert not pairs or f"between {pairs} pair" in texts[0]


WELDED = """<mujoco><worldbody>
  <body name="crank"><inertial pos="0 0 .1" mass="1" diaginertia=".01 .012 .01"/>
    <joint name="crank" axis="0 1 0"/><body name="coupler" pos="0 0 .2">
    <inertial pos=".25 0 0" mass="1" diaginertia=".01 .02 .02"/><joint name="cc" axis="0 1 0"/>
    <site name="s1" pos=".5 0 .1"/></body></body>
  <body name="rocker" pos=".5 0 0"><inertial pos="0 0 .15" mass="1" diaginertia=".01 .011 .01"/>
    <joint name="rocker" axis="0 1 0"/><body name="end" pos="0 0 .3">
    <inertial pos="0 0 .01" mass=".1" diaginertia=".001 .001 .001"/><joint name="end" axis="0 1 0"/>
    <site name="s2"/></body></body>
  </worldbody><equality>{}</equality><actuator><motor joint="crank"/></actuator></mujoco>"""


def equality_rows(model, data):
    """Jacobian (rows, nv) of MuJoCo's equalities."""
    rows = np.zeros((data.nefc, model.nv))
    for column, unit in enumerate(np.eye(model.nv)):
        out = np.zeros(data.nefc)
        mujoco.mj_mulJacVec(model, data, out, unit)
        rows[:, column] = out
    return rows[data.efc_type[: data.nefc] == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)]


@pytest.mark.parametrize(
    "equality",
    [
        '<weld body1="coupler" body2="end"/>',
        '<weld site1="s1" site2="s2"/>',
        '<weld site1="s1" site2="s2" torquescale="0"/>',
        '<weld body1="coupler" body2="end" torquescale="0" anchor="0 0 0"/>',
        '<weld body1="coupler" body2="end" anchor="0 0 .02" torquescale="0.5"/>',
        '<connect site1="s1" site2="s2"/>',
        '<connect body1="coupler" body2="end" anchor=".5 0 .1"/>',
        '<weld site1="s1" site2="s2" active="false"/>',
    ],
)
def test_welds_and_connects_leave_the_freedoms_of_mujocos_own_equalities(equality):
    model = mujoco.MjModel.from_xml_string(WELDED.format(equality))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rows = equality_rows(model, data)
    freedoms = model.nv - np.linalg.matrix_rank(rows, tol=1e-9)
    made = rd.load(WELDED.format(equality), kind="closed_loop")
    assert made.mobility + len(made.structure.idle_names) == freedoms


def test_disable_flags_of_mjcf_are_read_or_named():
    flags = '<option><flag {}="disable"/></option><worldbody>'
    weightless = rd.load(COMPLETE.replace("<worldbody>", flags.format("gravity")))
    assert gravity_vector(weightless).tolist() == [0.0, 0.0, 0.0]
    open_ = rd.load(LOOP.replace("<worldbody>", flags.format("equality")), kind="closed_loop")
    assert not open_.model.closures
    with pytest.warns(LeftOutWarning, match="damper"):
        rd.load(COMPLETE.replace("<worldbody>", flags.format("damper")))


BOMBS = {
    "replicate": '<replicate count="100000000" offset="0 0 1"><body><geom size="1"/></body>'
    "</replicate>",
    "nested replicates": '<replicate count="3000"><replicate count="3000"><body><geom size="1"/>'
    "</body></replicate></replicate>",
    "composite": '<composite type="cable" count="1000000 1 1" size="1" prefix="x"><geom size=".1"/>'
    "</composite>",
    "deep": "<body>" * 5000 + "</body>" * 5000,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_mjcf_that_would_expand_beyond_bounds_is_refused_first(bomb, tmp_path):
    inner = tmp_path / "inner.xml"
    inner.write_text(f"<mujoco><worldbody>{BOMBS[bomb]}</worldbody></mujoco>")
    outer = tmp_path / "outer.xml"
    outer.write_text('<mujoco><include file="inner.xml"/></mujoco>')
    for source in (inner.read_text(), inner, outer):
        with pytest.raises(ModelError):
            rd.load(source)


@pytest.mark.parametrize(
    "text",
    ["not json", "[1]", "5", '{"links": 5}', '{"closures": [{"constraint": {}}]}', "[" * 5000,
     '{"joints": {"j": 5}}', '{"joints": 5}', '{"base_link": 5}', '{"robot": []}',
     '{"joints": {"j": {"params": {"a": 1}}}}', '{"joints": {"j": {"limit": {"effort": "x"}}}}',
     '{"closures": {}}', '{"links": [1]}', '{"unknown": 1}', "{}"],
)  # fmt: skip
def test_our_own_text_in_a_file_is_refused_unless_it_is_ours(text):
    data = text.replace('"', "&quot;")
    file = f"""<mujoco><custom><text name="robodyn" data="{data}"/></custom><worldbody><body>
      <joint name="j"/><geom size=".1"/></body></worldbody></mujoco>"""
    if text == "{}":
        assert rd.load(file).joint_names == ("j",)
        return
    with pytest.raises(ModelError, match="robodyn"):
        rd.load(file)


def test_a_file_is_distinguished_from_a_urdf_by_its_root():
    for text, root in (
        ('<?xml version="1.0"?><!-- <a> --><mujoco/>', "mujoco"),
        ("<!DOCTYPE robot>\n<robot name='mujoco'/>", "robot"),
        ("no xml", ""),
    ):
        assert root_tag(text) == root


CART = """<mujoco model="cart">
  <worldbody>
    <body name="cart">
      <joint name="slider" type="slide" axis="1 0 0" range="-1 1"/>
      <geom type="box" size="0.2 0.1 0.1"/>
      <body name="pole">
        <joint name="hinge" axis="0 1 0"/>
        <geom type="capsule" size="0.04" fromto="0 0 0 0 0 0.6"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="slider" gear="100" ctrllimited="true" ctrlrange="-3 3"/></actuator>
</mujoco>"""


def test_joints_without_an_actuator_are_passive(rng):
    """A cart-pole accelerates as in MuJoCo, under the one effort that it has."""
    cart = rd.load(CART)
    assert cart.joint_names == ("slider",)
    assert cart.effort_limits.tolist() == [300.0]
    model, data = engine(CART)
    order = [cart.independent_joints.index(name) for name in ("slider", "hinge")]
    for _ in range(3):
        q, v, effort = rng.uniform(-0.5, 0.5, 2), rng.uniform(-1, 1, 2), rng.uniform(-300, 300)
        data.qpos, data.qvel, data.ctrl = q, v, [effort / 100.0]
        mujoco.mj_forward(model, data)
        velocity = np.empty(2)
        velocity[order] = v
        found = cart.forward_dynamics(q, velocity, [effort])
        np.testing.assert_allclose(found[order], data.qacc, rtol=1e-9)


# At home the rod and the link behind `c` are in line, so that `a` and `b` alone do not determine it
SPRUNG = """<mujoco model="sprung">
  <worldbody>
    <body name="thigh"><joint name="a" axis="0 1 0"/><geom type="box" size=".1 .02 .02"/>
      <body name="shin" pos=".3 0 0"><joint name="b" axis="0 1 0" stiffness="40" springref="10"/>
        <geom type="box" size=".1 .02 .02"/>
        <body name="heel" pos=".3 0 .1"><joint name="c" axis="0 1 0" stiffness="30" springref="20"/>
          <geom type="box" size=".05 .02 .02"/>
    </body></body></body>
    <body name="rod" pos=".6 0 .5"><joint name="d" axis="0 1 0"/>
      <geom type="box" size=".02 .02 .1"/></body>
  </worldbody>
  <equality><connect body1="rod" body2="heel" anchor="0 0 -.3"/></equality>
  <actuator><motor joint="a"/></actuator>
</mujoco>"""


def test_passive_joints_that_are_singular_at_home_leave_the_choice_to_others(rng):
    """A leg with springs as in walking robots: it accelerates as MuJoCo's tree with its closure."""
    with pytest.warns(LeftOutWarning, match="contacts"):
        loop = rd.load(SPRUNG)
    assert loop.independent_joints == ("a", "c")
    model = mujoco.MjModel.from_xml_string(SPRUNG)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    inertia, rows = np.zeros((model.nv, model.nv)), equality_rows(model, data)
    for column, unit in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, inertia[column], unit)
    system = np.block([[inertia, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    for effort in rng.normal(0.0, 5.0, 3):
        forces = data.qfrc_passive - data.qfrc_bias + effort * np.eye(model.nv)[0]
        push = np.concatenate([forces, np.zeros(len(rows))])
        expected = np.linalg.lstsq(system, push, rcond=None)[0][0]
        found = loop.joint_jacobian(loop.home) @ loop.forward_dynamics(loop.home, [0, 0], [effort])
        np.testing.assert_allclose(found, [expected], rtol=1e-9)


GRIPPER = """<mujoco model="gripper">
  <worldbody>
    <body name="arm">
      <joint name="turn" axis="0 1 0"/>
      <geom type="sphere" size="0.1"/>
      <body name="left" pos="0.1 0 0">
        <joint name="left" type="slide" axis="0 1 0" range="0 0.1"/>
        <geom type="sphere" size="0.03"/>
      </body>
      <body name="right" pos="0.1 0 0">
        <joint name="right" type="slide" axis="0 -1 0" range="0 0.1"/>
        <geom type="sphere" size="0.03"/>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="left" joint2="right"/></equality>
  <actuator>
    <motor joint="turn"/>
    <position joint="left" kp="10" forcelimited="true" forcerange="-5 5"/>
  </actuator>
</mujoco>"""


def test_a_motor_on_a_joint_that_is_coupled_to_another_stays():
    """It is the joint's own; the other follows it."""
    whole = rd.load(GRIPPER, kind="closed_loop")
    assert whole.joint_names == ("turn", "left")
    assert whole.mobility == 2
    assert whole.effort_limits.tolist() == [np.inf, 5.0]
    state = dict(zip(whole.structure.joint_names, whole.assemble([0.2, 0.03]), strict=True))
    assert state["right"] == pytest.approx(0.03)
    with pytest.warns(LeftOutWarning, match="ignored the actuators of joints 'left'"):
        rd.load(GRIPPER, tip_link="arm", hold_branches=True)


KEYFRAME = '<keyframe><key qpos="0.5 -0.3 0.2"/></keyframe></mujoco>'


def test_the_first_keyframe_is_an_arms_home(tmp_path):
    text = COMPLETE.replace("</mujoco>", KEYFRAME)
    assert rd.load(text).home.tolist() == [0.5, -0.3, 0.2]
    # without one it is as near to zero as the limits allow
    bent = COMPLETE.replace('range="-90 100"', 'range="-90 -45"')
    np.testing.assert_allclose(rd.load(bent).home, [0.0, -np.pi / 4, 0.0])


def test_an_arm_is_drawn_with_its_joints_and_efforts(tmp_path):
    """As `robodyn view` does: by the joints of the URDF that the file becomes."""
    from robodyn.loading import robot_description
    from robodyn.view import arrow_lengths, figure_of, reference_effort

    path = tmp_path / "arm.xml"
    path.write_text(COMPLETE)
    for source in (path, COMPLETE):
        arm = rd.load(source)
        figure = figure_of(source, arm)
        assert set(arm.joint_names) <= {joint.name for joint in figure.joints}
        frames = np.tile(np.eye(4), (len(figure.links), 1, 1))
        lengths = arrow_lengths(arm, np.ones(arm.n), reference_effort(arm))
        arrows = presentation.effort_arrows(arm, figure, frames, arm.home, lengths)
        assert np.isfinite(arrows).all()
        text = robot_description(source, arm, ros2_control=True)
        assert "<hardware>" in text
        assert rd.load(text).joint_names == arm.joint_names


PLAIN = """<mujoco><worldbody>
  <body name="one"><joint name="a" axis="0 1 0"/>
    <geom type="capsule" size=".02" fromto="0 0 0 0 0 .3" mass="1" contype="0"/>
    <body name="two" pos="0 0 .3"><joint name="b" axis="0 1 0"/>
      <geom type="capsule" size=".02" fromto="0 0 0 0 0 .3" mass="1" contype="0"/></body></body>
  </worldbody><actuator>{}<motor joint="b" ctrlrange="-2 2" gear="4"/></actuator></mujoco>"""


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "actuator_armature"), reason="MuJoCo 3.15 or newer")
def test_rotor_and_damping_of_an_actuator_are_reflected_to_its_joint_as_in_mujoco(rng):
    text = PLAIN.format('<motor joint="a" gear="3" armature="0.5" damping="2"/>')
    arm, model = rd.load(text), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for _ in range(3):
        data.qpos[:], data.qvel[:], data.qacc[:] = rng.normal(size=(3, 2))
        mujoco.mj_inverse(model, data)
        efforts = arm.inverse_dynamics(data.qpos, data.qvel, data.qacc)
        np.testing.assert_allclose(efforts, data.qfrc_inverse, rtol=1e-9)


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ('<damper joint="a" kv="2" ctrlrange="0 1"/>', "'actuator0': ignored their servo laws"),
        ('<motor joint="a" delay="0.01" nsample="3"/>', "'actuator0': ignored their servo laws"),
        ('<pid joint="a" kp="3" input="pos vel"/>', "'actuator0': ignored their servo laws"),
        (
            '<motor joint="a" damping="2 1"/>',
            "'actuator0': ignored the nonlinear part of its damping",
        ),
    ],
)
def test_what_an_actuator_has_besides_a_motor_is_named(inside, words):
    try:
        mujoco.MjModel.from_xml_string(PLAIN.format(inside))
    except ValueError as error:
        pytest.skip(f"this release of MuJoCo does not have it: {error}")
    with pytest.warns(LeftOutWarning, match=re.escape(words)):
        arm = rd.load(PLAIN.format(inside))
    assert arm.effort_limits[1] == 8.0  # also where the first actuator has two controls


def test_a_damping_that_is_not_linear_is_named():
    text = PLAIN.format('<motor joint="a"/>').replace('name="a"', 'name="a" damping="1 0.3"')
    with pytest.warns(LeftOutWarning, match="'a': ignored the nonlinear part of its damping"):
        rd.load(text)


# As grippers have it: one actuator on the mean of two coupled drivers.
SPLIT = GRIPPER.replace(
    "<equality>",
    '<tendon><fixed name="split" damping="2" limited="true" range="0.02 0.05">'
    '<joint joint="left" coef="0.5"/><joint joint="right" coef="0.5"/></fixed></tendon><equality>',
).replace('joint="left" kp="10"', 'tendon="split" kp="10" gear="3"')


def test_an_actuator_on_a_tendon_over_coupled_joints_drives_the_one_that_leads():
    with pytest.warns(LeftOutWarning, match="'actuator1': ignored their servo laws"):
        whole = rd.load(SPLIT, kind="closed_loop")
    assert whole.joint_names == ("turn", "right")
    assert whole.effort_limits.tolist() == [np.inf, 15.0]  # 3 (0.5 + 0.5) 5 N
    joint = next(j for j in whole.model.joints if j.name == "right")
    assert joint.damping == 2.0
    np.testing.assert_allclose(joint.position, [0.02, 0.05])


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        ('tendon="split"', 'site="s"', "'actuator1': it drives a site"),
        ('<equality><joint joint1="left" joint2="right"/></equality>', "", "'split': it has d"),
        ('<motor joint="turn"/>', '<muscle joint="turn" lengthrange="-1 1"/>', "its gain is"),
        ('<joint joint1="left"', '<tendon tendon1="split"/><joint joint1="left"', "equality.*fix"),
    ],
)  # fmt: skip
def test_unsupported_tendons_and_actuators_are_refused_by_name(old, new, reported):
    text = SPLIT.replace('<body name="left"', '<site name="s"/><body name="left"')
    assert old in text
    with pytest.raises(ModelError, match=reported):
        rd.load(text.replace(old, new))


def test_an_equality_of_tendons_couples_joints():
    text = SPLIT.replace(
        '<joint joint1="left" joint2="right"/>', '<tendon tendon1="a" tendon2="b" polycoef="0 2"/>'
    ).replace(
        "<tendon><fixed",
        '<tendon><fixed name="a"><joint joint="left" coef="4"/></fixed>'
        '<fixed name="b"><joint joint="right" coef="-1"/></fixed><fixed',
        1,
    )  # fmt: skip
    whole = rd.load(text, kind="closed_loop")
    left = next(j for j in whole.model.joints if j.name == "left")
    assert (left.mimic.joint, left.mimic.multiplier) == ("right", -0.5)


BALL = """<mujoco><worldbody><body name="base" pos="0 0 1"><freejoint name="free"/>
  <geom size="0.1"/><body name="arm" pos="0 0 0.2"><joint name="ball" type="ball"/>
  <geom size="0.1" pos="0 0 0.3"/><body name="hand" pos="0 0 0.5">
  <joint name="turn" axis="1 0 0"/><geom size="0.1" pos="0 0 0.1"/></body></body></body></worldbody>
  <actuator><motor joint="turn"/></actuator>
  <keyframe><key qpos="9 9 9 1 0 0 0 1 0 0 0 0"/>
  <key name="home" qpos="0.1 0.2 1.3 0.6 0.8 0 0 0.8 0 0.6 0 0.3"/></keyframe></mujoco>"""


def test_the_keyframe_home_places_what_floats(tmp_path):
    """Free joints by the pose from where the file has them, balls by their turn."""
    m = rd.load(BALL)
    named = dict(zip(("free", "ball", "turn"), np.split(m.home, [7, 14]), strict=True))
    np.testing.assert_allclose(named["free"], [0.1, 0.2, 0.3, 0.8, 0, 0, 0.6], atol=1e-12)
    np.testing.assert_allclose(named["ball"], [0, 0, 0, 0, 0.6, 0, 0.8], atol=1e-9)
    np.testing.assert_allclose(named["turn"], [0.3])
    rd.save(m, tmp_path / "m.xml")
    again = rd.load(tmp_path / "m.xml")
    np.testing.assert_allclose(again.home, m.home, atol=1e-9)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    np.testing.assert_allclose(model.key_qpos[0], [0.1, 0.2, 1.3, 0.6, 0.8, 0, 0,
                                                   0.8, 0, 0.6, 0, 0.3], atol=1e-9)  # fmt: skip


def test_a_yaml_file_says_what_drives_an_mjcf(tmp_path):
    (tmp_path / "loop.xml").write_text(LOOP.replace('<motor joint="a"/>', ""))
    (tmp_path / "loop.yaml").write_text(
        "type: closed_loop\nurdf: loop.xml\nactuated_joints: [c]\nhome: {a: 0.1, b: 0.2}\n"
    )
    assert rd.load(tmp_path / "loop.yaml").joint_names == ("c",)
