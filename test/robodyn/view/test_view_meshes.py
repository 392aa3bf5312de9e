# SPDX-License-Identifier: Apache-2.0
"""Meshes of a URDF in the live view and in RViz: package://, file:// and beside the file."""

from types import SimpleNamespace

import numpy as np
import pytest
from urdf_figure import figure_from_urdf

import robodyn as rd
from robodyn.cli.view import replay
from robodyn.formats import package_folders
from robodyn.loading import robot_description
from robodyn.view import figure_of

pytest.importorskip("trimesh")

TETRAHEDRON = """v 0 0 0
v 1 0 0
v 0 2 0
v 0 0 3
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""
ROBOT = """<robot name="r"><link name="base"/>
  <link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><origin xyz="0 0 0.5"/>
    <geometry><mesh filename="{name}" scale="0.1 0.1 0.1"/></geometry>
    <material name="red"><color rgba="1 0 0 1"/></material></visual></link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def stl(path):
    """Return the tetrahedron as an ASCII STL file."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
    lines = ["solid t"]
    for face in ([0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]):
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x} {y} {z}" for x, y, z in corners[face]]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid t"]))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("AMENT_PREFIX_PATH", "ROBODYN_PACKAGE_PATH"):
        monkeypatch.delenv(name, raising=False)
    package = tmp_path / "maker_robot"
    (package / "meshes").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>maker_robot</name></package>")
    (package / "meshes" / "arm.obj").write_text(TETRAHEDRON)
    stl(package / "meshes" / "arm.stl")
    return package


@pytest.mark.parametrize("suffix", ["obj", "stl"])
@pytest.mark.parametrize(
    "way", ["package://maker_robot/meshes/", "meshes/", "file", "package:///meshes/"]
)
def test_a_mesh_is_drawn_where_it_is(folder, way, suffix):
    way = (folder / "meshes").as_uri() + "/" if way == "file" else way
    file = folder / "arm.urdf"
    file.write_text(ROBOT.format(name=f"{way}arm.{suffix}"))
    arm = rd.load(file)
    figure = figure_of(file, arm)
    assert figure.remarks == ()
    (shape,) = figure.shapes
    assert (shape.link, shape.kind, shape.color) == ("arm", "mesh", (1.0, 0.0, 0.0))
    assert shape.mesh.vertices.max(axis=0) == pytest.approx([0.1, 0.2, 0.3])
    assert len(shape.mesh.faces) == 4
    assert shape.place[2, 3] == 0.5
    # RViz finds it without the package being installed
    found = (folder / "meshes" / f"arm.{suffix}").as_uri()
    assert f'filename="{found}"' in robot_description(file, arm)


def test_a_package_of_a_sourced_ros_2_keeps_its_name(folder, monkeypatch):
    fraction = folder.parent / "prefix" / "share"
    fraction.mkdir(parents=True)
    (fraction / "maker_robot").symlink_to(folder)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(fraction.parent))
    file = folder / "arm.urdf"
    file.write_text(ROBOT.format(name="package://maker_robot/meshes/arm.obj"))
    assert "package://maker_robot/meshes/arm.obj" in robot_description(file, rd.load(file))


@pytest.mark.parametrize("way", ["file", "package://maker_robot/../elsewhere/", "../elsewhere/"])
def test_a_received_description_leaves_no_folder_of_packages(folder, monkeypatch, way):
    """By a link, by `..` in a package, or from the working folder."""
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "arm.obj").write_text(TETRAHEDRON)
    monkeypatch.setenv("ROBODYN_PACKAGE_PATH", str(folder))
    monkeypatch.chdir(folder)
    text = ROBOT.format(name=f"{elsewhere.as_uri()}/arm.obj" if way == "file" else f"{way}arm.obj")
    arm = rd.load(text)
    (remark,) = figure_of(text, arm, package_folders()).remarks[:1]
    assert "arm.obj is outside the folders" in remark
    for allowed in ((*package_folders(), elsewhere), None):
        assert [shape.kind for shape in figure_of(text, arm, allowed).shapes] == ["mesh"]


def test_a_recording_names_no_mesh_outside_the_folders_of_packages(folder, monkeypatch, capsys):
    """The writer of a bag controls its page, unless a model is given."""
    text = ROBOT.format(name=f"{(folder / 'meshes').as_uri()}/arm.obj")
    arm = rd.load(text)
    run = SimpleNamespace(
        source=text, mechanism=arm, replay=SimpleNamespace(duration=1.0, mechanism=arm)
    )
    drawn = []
    monkeypatch.setattr("robodyn.view.read_run", lambda bag, model: run)
    monkeypatch.setattr("robodyn.view.serve", lambda *_: None)
    monkeypatch.setattr("robodyn.view.studio.open_projector", lambda *given: drawn.append(given[2]))
    monkeypatch.setattr("robodyn.cli.view._show", lambda *_: None)
    monkeypatch.setenv("ROBODYN_PACKAGE_PATH", str(folder.parent / "nowhere"))
    replay("a_bag")
    replay("a_bag", model="arm.urdf")
    assert [[shape.kind for shape in each.shapes if shape.mesh] for each in drawn] == [[], ["mesh"]]
    assert "arm.obj is outside the folders" in capsys.readouterr().err


def test_a_received_sdf_names_no_mesh_outside_the_folders_of_packages(folder):
    text = (
        "<sdf version='1.9'><model name='m'><link name='base'/><link name='arm'><visual name='v'>"
        f"<geometry><mesh><uri>{(folder / 'meshes').as_uri()}/arm.obj</uri></mesh></geometry>"
        "</visual></link><joint name='j' type='revolute'><parent>base</parent><child>arm</child>"
        "<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper><effort>1</effort>"
        "<velocity>1</velocity></limit></axis></joint></model></sdf>"
    )
    arm = rd.load(text)
    assert any(shape.mesh for shape in figure_of(text, arm).shapes)
    assert not any(shape.mesh for shape in figure_of(text, arm, ()).shapes)


@pytest.mark.parametrize("way", ["package://maker_robot/meshes/", "file"])
def test_a_received_description_has_the_meshes_of_packages(folder, monkeypatch, way):
    monkeypatch.setenv("ROBODYN_PACKAGE_PATH", str(folder))
    way = (folder / "meshes").as_uri() + "/" if way == "file" else way
    text = ROBOT.format(name=f"{way}arm.obj")
    figure = figure_of(text, rd.load(text), package_folders())
    assert [shape.kind for shape in figure.shapes] == ["mesh"]


@pytest.mark.parametrize("name", ["file:///" + "a" * 10_000, "http://[", "file:///%00", "\\", ".."])
def test_invalid_mesh_locations_are_reported(name):
    (remark,) = figure_from_urdf(ROBOT.format(name=name)).remarks
    assert "meshes not drawn: 1" in remark


def test_missing_meshes_are_reported_and_the_rest_is_drawn(folder):
    text = ROBOT.format(name="package://nowhere/arm.obj")
    figure = figure_from_urdf(text, "arm.urdf", folder / "arm.urdf")
    assert figure.shapes == ()
    (remark,) = figure.remarks
    assert "meshes not drawn: 1" in remark
    assert "'nowhere' was not found" in remark
    (folder / "meshes" / "arm.obj").write_text("")
    damaged = figure_from_urdf(ROBOT.format(name="meshes/arm.obj"), "arm.urdf", folder / "arm.urdf")
    assert "arm.obj" in damaged.remarks[0]
