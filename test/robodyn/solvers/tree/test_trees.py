# SPDX-License-Identifier: Apache-2.0

"""Trees of joints that close no loop, on a base that stands or floats: hands, legged robots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from machines import INERTIAL, JOINT, walker
from typer.testing import CliRunner

import robodyn as rd
from robodyn.algorithms import gravity_vector
from robodyn.errors import LeftOutWarning, ModelError, UnderActuated
from robodyn.loading import use_options
from robodyn.poses import rotation_matrix
from robodyn.presentation import presentation


@pytest.fixture(scope="module")
def floating():
    return rd.load(walker(), base="moving")


def states(m, rng, count=4):
    q = np.stack([m.advance(m.home, step) for step in rng.uniform(-1, 1, (count, m.mobility))])
    return q, *rng.uniform(-1.0, 1.0, (2, count, m.mobility))


def test_a_whole_tree_is_driven_without_a_tip():
    with pytest.raises(ModelError, match="kind='closed_loop'"):
        rd.load(walker())  # as an arm: several chains
    m = rd.load(walker(), kind="closed_loop")
    assert (m.mobility, len(m.joint_names), m.structure.loose) == (6, 6, ())
    rest = np.zeros(6)
    efforts = m.inverse_dynamics(m.home, rest, rest)
    np.testing.assert_allclose(m.forward_dynamics(m.home, rest, efforts), 0.0, atol=1e-9)


def test_pinocchio_agrees_on_a_floating_base(floating, rng):
    pin = pytest.importorskip("pinocchio")
    theirs = pin.buildModelFromXML(walker(), pin.JointModelFreeFlyer())
    data = theirs.createData()
    assert floating.frames[0] == "world"
    names = [name for name in theirs.names if name in floating.joint_names]
    own = [floating.independent_joints.index(name) for name in names]
    base = [k for k in range(floating.mobility) if k not in own]
    for q, v, a in zip(*states(floating, rng), strict=True):
        R = rotation_matrix(q[:7])
        angles = dict(zip(floating.joint_names, floating.joint_positions(q), strict=True))
        # velocities of theirs are in the trunk's axes
        T = np.zeros((12, 12))
        T[:3, base[:3]] = T[3:6, base[3:]] = R.T
        T[range(6, 12), own] = 1.0
        turning = np.zeros(12)
        turning[:3] = -R.T @ np.cross(v[base[3:]], v[base[:3]])
        at = np.array([*q[:7], *(angles[name] for name in names)])
        expected = T.T @ pin.rnea(theirs, data, at, T @ v, T @ a + turning)
        found = floating.free_efforts(q, v, a)
        np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
        M = pin.crba(theirs, data, at)
        M = T.T @ (np.triu(M) + np.triu(M, 1).T) @ T
        np.testing.assert_allclose(floating.mass_matrix(q), M, atol=1e-12 * np.abs(M).max())


@pytest.mark.parametrize("effort", [0.0, 3.0])
def test_a_falling_robot_keeps_its_momentum(floating, rng, effort):
    """Motors push parts of it against each other; only its weight changes its momentum."""
    q, v, _ = (part[0] for part in states(floating, rng))
    run = rd.simulate(
        floating, rd.ConstantEffort(effort * rng.uniform(-1.0, 1.0, 6)), duration=0.2,
        dt=5e-4, initial=(q, v), end_stops=None,
    )  # fmt: skip
    p = floating.momentum(run.configuration, run.velocity)
    weight = presentation.moving_mass(floating) * gravity_vector(floating)
    fallen = p[0, :3] + run.time[:, None] * weight
    np.testing.assert_allclose(p[:, :3], fallen, atol=1e-6)
    com = floating.center_of_mass(run.configuration)
    spin = p[:, 3:] - np.cross(com, p[:, :3])
    np.testing.assert_allclose(spin, np.broadcast_to(spin[0], spin.shape), atol=1e-6)


def test_a_joint_that_nothing_drives_is_named(floating):
    rest = np.zeros(floating.mobility)
    with pytest.raises(UnderActuated, match="base: fixed") as caught:
        floating.inverse_dynamics(floating.home, rest, rest)
    assert len(caught.value.joints) == 6


def test_a_base_is_held_where_home_has_it(floating):
    """On a hillside, joints bear another weight than on level ground."""
    tilted = (0.5, -0.2, 1.0, np.sin(0.3), 0.0, 0.0, np.cos(0.3))
    home = floating.model.with_home({"world_to_trunk": tilted})
    held, rest = rd.ClosedLoop(home.with_base("fixed")), np.zeros(6)
    assert (held.frames[0], held.mobility) == ("world", 6)
    np.testing.assert_allclose(held.link_pose(held.home, "trunk"), tilted, atol=1e-15)
    level = rd.load(walker(), kind="closed_loop").model
    turned = replace(level, gravity=rotation_matrix(np.array(tilted)).T @ level.gravity)
    np.testing.assert_allclose(
        held.inverse_dynamics(held.home, rest, rest),
        rd.ClosedLoop(turned).inverse_dynamics(held.home, rest, rest),
        atol=1e-12,
    )


def test_a_base_is_chosen_once(floating):
    assert floating.model.with_base("moving") is floating.model
    fixed = rd.load(walker(), kind="closed_loop").model
    assert fixed.with_base("fixed") is fixed
    assert rd.load(walker("world"), base="moving").frames == ("odom", "right2_link")
    again = rd.load(walker(), base="moving").model.with_base("fixed")
    assert rd.ClosedLoop(again).mobility == 6


def test_a_massless_root_is_the_world(tmp_path):
    text = walker().replace('<robot name="walker">', '<robot name="walker"><link name="map"/>'
                            '<joint name="stands" type="fixed"><parent link="map"/>'
                            '<child link="trunk"/><origin xyz="0 0 1"/></joint>')  # fmt: skip
    m = rd.load(text, base="moving")
    assert (m.frames[0], m.mobility) == ("map", 12)
    np.testing.assert_allclose(m.link_pose(m.home, "trunk")[:3], [0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ({"base": "loose"}, "fixed or moving"),
        ({"base": "moving", "kind": "serial"}, "kind='closed_loop'"),
        ({"kind": "hand"}, "kind is 'hand'"),
    ],
)
def test_other_words_are_refused(options, reported):
    with pytest.raises(ModelError, match=reported):
        rd.load(walker(), **options)


def test_nothing_of_a_tree_is_idle():
    """Though a vehicle can turn about the axle of two wheels that stand still, and none drives."""
    body = INERTIAL.format(0.0, 1.0)
    text = f'<robot name="cart"><link name="frame">{body}</link>'
    for name, place in (("left", "0 0.3 0"), ("right", "0 -0.3 0"), ("mast", "0.2 0 0.3")):
        text += f"""<link name="{name}_link">{body}</link><joint name="{name}" type="continuous">
          <parent link="frame"/><child link="{name}_link"/><origin xyz="{place}"/>
          <axis xyz="0 1 0"/></joint>"""
    m = rd.load(f"{text}</robot>", base="moving", driven="mast")
    assert m.mobility == 9
    assert m.structure.idle == ()


def test_files_read_again_have_the_same_coordinates(floating, tmp_path, rng):
    """The base's first, though the file that it was read from has no world."""
    q, v, a = (part[0] for part in states(floating, rng))
    expected = floating.free_efforts(q, v, a)
    for ending in (".urdf", ".sdf", ".yaml"):
        rd.save(floating, tmp_path / f"m{ending}")
        again = rd.load(tmp_path / f"m{ending}", kind="closed_loop")
        assert again.independent_joints == floating.independent_joints
        np.testing.assert_allclose(again.free_efforts(q, v, a), expected, rtol=1e-12, atol=1e-12)


def test_mimic_and_transmission_of_fixed_joints_are_ignored():
    """As reduced models of makers do: talos_reduced, kinova."""
    grip = """<joint name="grip" type="fixed"><parent link="left2_link"/><child link="finger"/>
      <mimic joint="left0"/></joint><link name="finger"/>"""
    moved = "".join(f'<transmission name="{n}"><joint name="{n}"/></transmission>'
                    for n in ("left0", "left1", "grip"))  # fmt: skip
    text = walker().replace("</robot>", f"{grip}{moved}</robot>")
    with pytest.warns(LeftOutWarning) as reported:
        m = rd.load(text, kind="closed_loop")
    assert m.joint_names == ("left0", "left1")
    left_out = " ".join(str(each.message) for each in reported)
    assert "<transmission> of joint 'grip', which is fixed" in left_out
    assert "<mimic> of joint 'grip', which is fixed" in left_out


def test_an_arm_let_go_floats(rng):
    """A bundled arm has a base, too; its weight is that of the fixed one."""
    arm, m = rd.load("stanford_arm"), rd.load("stanford_arm", base="moving")
    q = np.concatenate([m.home[:7], arm.home])
    rest = np.zeros(m.mobility)
    weights = dict(zip(m.independent_joints, m.free_efforts(q, rest, rest), strict=True))
    held = arm.inverse_dynamics(arm.home, rest[:6], rest[:6])
    np.testing.assert_allclose([weights[name] for name in arm.joint_names], held, atol=1e-11)
    total = [value for name, value in weights.items() if name.endswith(".z")]
    np.testing.assert_allclose(total, 9.81 * presentation.moving_mass(m), rtol=1e-12)


def test_a_floating_body_beside_a_tree_is_no_platform():
    """Its prismatic joints are not six legs, and it carries none of them."""
    text = walker().replace("</robot>", '<joint name="loose" type="floating"><parent link="trunk"/>'
                            f'<child link="cube"/></joint><link name="cube">'
                            f"{INERTIAL.format(0.0, 1.0)}</link></robot>")  # fmt: skip
    m = rd.load(text, kind="closed_loop")
    assert (m.kind, m.mobility) == ("closed_loop", 12)
    with pytest.raises(ModelError, match="chain"):
        rd.load(text)  # an arm, then


def test_the_command_line_takes_them(tmp_path):
    from robodyn.cli import app

    file = tmp_path / "walker.urdf"
    file.write_text(walker())
    for options, reported in ((["--kind", "closed_loop"], "mobility 6"),
                          (["--base", "moving"], "under-actuated: 6 driven")):  # fmt: skip
        result = CliRunner().invoke(app, ["check", str(file), *options])
        assert result.exit_code == 0, result.output
        assert reported in " ".join(result.output.split())
    use_options()


@pytest.mark.slow
def test_a_tree_that_is_too_large_is_refused():
    text = '<robot name="caterpillar"><link name="trunk"/>'
    for n in range(110):
        text += JOINT.format("leg", n, "revolute", "trunk", 0.1 * n, "1 0 0")
        text += f'<link name="leg{n}_link">{INERTIAL.format(0.1, 1.0)}</link>'
    with pytest.raises(ModelError, match="110 degrees of freedom"):
        rd.load(f"{text}</robot>", kind="closed_loop")
