# SPDX-License-Identifier: Apache-2.0

"""Visual and collision geometry is part of a model, for any file format."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import LeftOutWarning

INERTIAL = """<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial>"""
# A tool on a flange, each with shapes of its own.
ROBOT = f"""<robot name="r">
  <material name="steel"><color rgba="0.5 0.6 0.7 1"/></material>
  <link name="base"><visual><geometry><box size="0.4 0.3 0.2"/></geometry>
    <material name="steel"/></visual></link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <origin xyz="0 0 0.2"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <link name="arm">{INERTIAL}
    <visual name="tube"><origin xyz="0.1 0 0" rpy="0 1.5707963267948966 0"/>
      <geometry><cylinder radius="0.02" length="0.2"/></geometry>
      <material name="red"><color rgba="1 0 0 0.5"/></material></visual>
    <collision><geometry><sphere radius="0.3"/></geometry></collision></link>
  <joint name="flange" type="fixed"><parent link="arm"/><child link="tool"/>
    <origin xyz="0.2 0 0" rpy="0 0 0.5"/></joint>
  <link name="tool"><visual><origin xyz="0.1 0 0"/><geometry>
    <mesh filename="package://maker/tool.stl" scale="0.001 0.001 0.001"/></geometry></visual></link>
</robot>"""
ENDINGS = (".urdf", ".sdf")


def shapes_of(model, kind="visuals"):
    """(link, place (4, 4), form, color) of all shapes."""
    return [
        (link.name, shape.at.matrix, shape.form, shape.material and shape.material.color)
        for link in model.links
        for shape in getattr(link, kind)
    ]


def same(found, expected):
    assert [each[0] for each in found] == [each[0] for each in expected]
    assert [each[2:] for each in found] == [each[2:] for each in expected]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one[1], other[1], atol=1e-14)


@pytest.fixture
def tree():
    return rd.load(ROBOT, kind="closed_loop")


def test_a_tree_has_the_shapes_of_its_links(tree):
    base, tube, tool = shapes_of(tree.model)
    assert (base[0], base[2].size, base[3]) == ("base", (0.4, 0.3, 0.2), (0.5, 0.6, 0.7, 1.0))
    assert (tube[2].kind, tube[2].size, tube[3]) == ("cylinder", (0.02, 0.2), (1.0, 0, 0, 0.5))
    np.testing.assert_allclose(tube[1][:3, 2], [1.0, 0.0, 0.0], atol=1e-15)
    assert (tool[0], tool[2].file) == ("tool", "package://maker/tool.stl")
    assert tool[2].scale == (0.001, 0.001, 0.001)
    ((link, _, form, color),) = shapes_of(tree.model, "collisions")
    assert (link, form.kind, form.size, color) == ("arm", "sphere", (0.3,), None)


def test_an_arm_has_the_shapes_of_all_that_moves_with_its_links():
    """The tool is fixed to the arm's link, so it is drawn on it, where it is."""
    _, tube, tool = shapes_of(rd.load(ROBOT).model)
    assert (tube[0], tool[0]) == ("arm", "arm")
    c, s = np.cos(0.5), np.sin(0.5)
    np.testing.assert_allclose(tool[1][:3, 3], [0.2 + 0.1 * c, 0.1 * s, 0.0], atol=1e-15)
    np.testing.assert_allclose(tool[1][:2, 0], [c, s], atol=1e-15)


@pytest.mark.parametrize("kind", ["serial", "closed_loop"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_saved_model_keeps_its_visuals(kind, ending, tmp_path):
    m = rd.load(ROBOT, kind=kind)
    rd.save(m, tmp_path / f"m{ending}")
    again = rd.load(tmp_path / f"m{ending}")
    same(shapes_of(again.model), shapes_of(m.model))


def test_variants_of_a_model_keep_its_visuals(tree):
    for variant in (
        tree.with_payload(0.3),
        tree.without_friction(),
        rd.with_gravity(tree, [0, 0, 0]),
    ):
        same(shapes_of(variant.model), shapes_of(tree.model))


def test_a_capsule_is_a_cylinder_with_round_ends_where_a_format_has_none(tmp_path):
    capsule = ROBOT.replace("cylinder", "capsule")
    m = rd.load(capsule, kind="closed_loop")
    assert shapes_of(m.model)[1][2].kind == "capsule"
    rd.save(m, tmp_path / "m.urdf")
    again = rd.load(tmp_path / "m.urdf", kind="closed_loop")
    tube, *ends = [shape for shape in shapes_of(again.model) if shape[0] == "arm"]
    assert tube[2].size == (0.02, 0.2)
    assert [end[2].size for end in ends] == [(0.02,), (0.02,)]
    np.testing.assert_allclose([end[1][0, 3] for end in ends], [0.0, 0.2], atol=1e-15)
    rd.save(m, tmp_path / "m.sdf")
    assert "<capsule>" in (tmp_path / "m.sdf").read_text()


@pytest.mark.skipif(find_spec("mujoco") is None, reason="MJCF needs mujoco")
def test_meshes_that_an_mjcf_does_not_have_are_named(tree, tmp_path):
    with pytest.warns(LeftOutWarning, match=r"1 meshes of visuals.*package://maker/tool.stl"):
        rd.save(tree, tmp_path / "m.xml")
    again = rd.load(tmp_path / "m.xml", kind="closed_loop")
    same(shapes_of(again.model), shapes_of(tree.model)[:2])


def test_a_shape_that_cannot_be_read_changes_no_motion():
    with pytest.warns(LeftOutWarning, match="visual of link 'arm': cylinder of size"):
        m = rd.load(ROBOT.replace('length="0.2"', 'length="0"'))
    assert m == rd.load(ROBOT)
