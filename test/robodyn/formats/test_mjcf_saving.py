# SPDX-License-Identifier: Apache-2.0

"""Models saved as MJCF: the same inverse dynamics when read again, and MuJoCo's agrees."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import OutputError, UnphysicalInertiaWarning
from robodyn.poses import quaternion_of_rotation, rotation_matrix
from robodyn.solvers.tree.closing import joint_motion, tangent

mujoco = pytest.importorskip("mujoco")

pytestmark = pytest.mark.filterwarnings(f"ignore::{UnphysicalInertiaWarning.__module__}."
                                        f"{UnphysicalInertiaWarning.__name__}")  # fmt: skip
# of the others, papers print inertias that no rigid body has
NAMES = [name for name in rd.models() if name not in ("stewart_dasgupta", "puma560")]


def saved(m, path):
    rd.save(m, path)
    return rd.load(path)


def states(m, rng, count=3):
    """Closed configurations, velocities and accelerations near home."""
    for _ in range(count):
        nv = m.coordinates.velocity_size
        q = m.advance(m.home, rng.uniform(-0.05, 0.05, nv) * min(1.0, 2.0 * m.size))
        yield q, *rng.uniform(-1.0, 1.0, (2, nv))


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_model_has_the_same_inverse_dynamics(name, tmp_path, rng):
    m = rd.load(name)
    again = saved(m, tmp_path / "m.xml")
    assert again == m
    assert (again.kind, again.joint_names) == (m.kind, m.joint_names)
    np.testing.assert_allclose(again.home, m.home, atol=1e-9)
    np.testing.assert_allclose(again.effort_limits, m.effort_limits)
    assert again.actuators == m.actuators
    for state in states(m, rng):
        expected = m.inverse_dynamics(*state)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(
            again.inverse_dynamics(*state), expected, rtol=1e-12, atol=1e-12 * scale
        )


def motion_in_mujoco(model, loop, q, v, a):
    """Data of MuJoCo in a motion of the loop, and MuJoCo's rates by those of the tree."""
    data, tree = mujoco.MjData(model), loop.structure.tree
    spread, balls = np.zeros((model.nv, tree.rates)), []
    for n in range(model.njnt):
        name, kind = model.joint(n).name or f"joint{n}", mujoco.mjtJoint(model.jnt_type[n])
        at, dof = model.jnt_qposadr[n], model.jnt_dofadr[n]
        own = next(j for j in loop.model.joints if j.name == name)
        place, seat = tree.position_of[name], own.at
        if own.kind != "floating":
            data.qpos[at] = q[place]
            spread[dof, tree.rate_of[name]] = 1.0 if own.mimic is None else own.mimic.multiplier
            continue
        first = loop.structure.rate_names.index(f"{name}.x")
        R = rotation_matrix(np.array([0, 0, 0, *q[place + 3 : place + 7]]))
        if kind == mujoco.mjtJoint.mjJNT_BALL:
            data.qpos[at : at + 4] = np.roll(quaternion_of_rotation(R), 1)
            balls.append((model.jnt_bodyid[n], slice(dof, dof + 3), slice(first + 3, first + 6)))
            continue
        data.qpos[at : at + 3] = seat.translation + seat.rotation @ q[place : place + 3]
        turned = seat.rotation @ R
        data.qpos[at + 3 : at + 7] = np.roll(quaternion_of_rotation(turned), 1)
        spread[dof : dof + 3, first : first + 3] = np.eye(3)
        spread[dof + 3 : dof + 6, first + 3 : first + 6] = turned.T  # in the body's axes
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    for body, dofs, turn in balls:
        spread[dofs, turn] = data.body(body).xmat.reshape(3, 3).T
    rates, changes = joint_motion(loop, q, v, a)
    data.qvel, data.qacc = spread @ rates, spread @ changes
    mujoco.mj_comVel(model, data)
    for body, dofs, turn in balls:  # MuJoCo's axes rotate with the body, ours with the base
        twist = np.zeros(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, twist, 0)
        data.qacc[dofs] -= spread[dofs, turn] @ np.cross(twist[:3], rates[turn])
    return data, spread


@pytest.mark.parametrize("name", NAMES)
def test_mujoco_agrees(name, tmp_path, rng):
    """Its inverse dynamics of the tree, projected on what the loops leave free.

    Rotors' spin and friction in closures it does not have. Its accelerations with equalities as
    stiff as it has them come near to ours.
    """
    m = rd.load(name).without_actuators().without_friction()
    rd.save(m, tmp_path / "m.xml")
    loop = rd.load(tmp_path / "m.xml", kind="closed_loop")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    model.eq_solimp[:, :2] = 0.9999
    free = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    for u in rng.uniform(-0.03, 0.03, (2, loop.mobility)) * min(1.0, 2.0 * loop.size):
        q = loop.advance(loop.home, u)
        v, a = rng.uniform(-1.0, 1.0, (2, loop.mobility))
        data, spread = motion_in_mujoco(model, loop, q, v, a)
        changes = data.qacc.copy()
        model.opt.disableflags = int(free)
        mujoco.mj_inverse(model, data)
        expected = (spread @ tangent(loop, q)).T @ data.qfrc_inverse
        found = loop.free_efforts(q, v, a)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())
        model.opt.disableflags = 0
        data.ctrl = loop.inverse_dynamics(q, v, a)
        mujoco.mj_forward(model, data)
        near = data.qacc - changes
        assert np.abs(near).max() < 0.02 * np.abs(data.qacc_smooth).max()


def test_a_leg_with_a_rod_on_ball_joints_and_springs_has_the_efforts_of_mujoco(rng):
    """The rod spins about its own axis without effect; a hinge of the loop has the spring."""
    text = """<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>
      <body name="pelvis"><freejoint/><geom size=".1"/>
      <body name="hip" pos="0 .1 0"><joint name="hip" axis="0 1 0"/><geom size=".04"/>
      <body name="rod" pos="0 .02 .05" euler="0 15 5"><joint name="rod" type="ball"/>
        <geom type="capsule" size=".01" fromto="0 0 0 .4 0 0"/></body>
      <body name="shin" pos=".1 0 0"><joint name="knee" axis="0 1 0" stiffness="150" springref="5"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>
      <body name="heel" pos=".3 0 0"><joint name="heel" axis="0 1 0" stiffness="120"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .1 0 -.1"/></body></body></body></body>
      </worldbody><equality><connect body1="rod" body2="heel" anchor=".4 0 0"/></equality>
      <actuator><motor joint="hip"/></actuator></mujoco>"""
    loop, model = rd.load(text, kind="closed_loop"), mujoco.MjModel.from_xml_string(text)
    assert loop.mobility == 8
    model.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    for q, v, a in states(loop, rng):
        data, spread = motion_in_mujoco(model, loop, q, v, a)
        mujoco.mj_inverse(model, data)
        expected = (spread @ tangent(loop, q)).T @ data.qfrc_inverse
        found = loop.free_efforts(q, v, a)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


def test_models_that_mujoco_cannot_express_are_refused(tmp_path):
    with pytest.raises(OutputError, match="'link1': MuJoCo rejects moments"):
        rd.save(rd.load("puma560"), tmp_path / "m.xml")


def test_feet_without_mass_keep_their_inertia(tmp_path, rng):
    """As solo's and bolt's have it, whose feet are fixed to their legs."""
    reported = '<inertia ixx="1e-3" iyy="2e-3" izz="2e-3" ixy="0" ixz="0" iyz="0"/>'
    m = rd.load(
        f"""<robot name="leg"><link name="hip"/><joint name="knee" type="revolute">
      <parent link="hip"/><child link="shank"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="1" effort="5" velocity="5"/></joint>
      <link name="shank"><inertial><origin xyz="0.1 0 0"/><mass value="0.2"/>{reported}</inertial>
      </link>
      <joint name="ankle" type="fixed"><parent link="shank"/><child link="foot"/>
      <origin xyz="0.2 0 0" rpy="0 0 0.4"/></joint>
      <link name="foot"><inertial><mass value="0"/>{reported}</inertial></link></robot>""",
        kind="closed_loop",
    )
    again = saved(m, tmp_path / "m.xml")
    np.testing.assert_allclose(again.mass_matrix(again.home), m.mass_matrix(m.home), rtol=1e-11)


def test_fixed_links_may_have_inertias_that_mujoco_refuses(tmp_path, rng):
    """As talos and anymal have them, of a camera or a hatch: they count as their body's.

    Nor does MuJoCo take shapes without a size, as upkie has them, which are not drawn.
    """
    wrong = '<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="1e-3" ixz="1e-3" iyz="1e-3"/>'
    fixed = (
        f"""<joint name="on_{name}" type="fixed"><parent link="{parent}"/><child link="{name}"/>
      <origin xyz="0.2 0 0.1" rpy="0.5 0 0.4"/></joint><link name="{name}"><inertial>
      <origin xyz="0 0.1 0"/><mass value="0.1"/>{wrong}</inertial></link>"""
        for name, parent in (("lens", "camera"), ("camera", "shank"))
    )
    m = rd.load(
        f"""<robot name="leg"><link name="hip"/><joint name="knee" type="revolute">
      <parent link="hip"/><child link="shank"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="1" effort="5" velocity="5"/></joint>
      <link name="shank"><visual><geometry><cylinder radius="0" length="0.1"/></geometry></visual>
      <inertial><mass value="2"/>
      <inertia ixx="1e-2" iyy="1e-2" izz="1e-2" ixy="0" ixz="0" iyz="0"/></inertial></link>
      {"".join(fixed)}</robot>""",
        kind="closed_loop",
    )
    again = saved(m, tmp_path / "m.xml")
    for state in states(m, rng):
        expected = m.inverse_dynamics(*state)
        np.testing.assert_allclose(again.inverse_dynamics(*state), expected, rtol=1e-12)
