# SPDX-License-Identifier: Apache-2.0

"""Descriptions that others sent: text only, and none that opens a file."""

from __future__ import annotations

import pytest

import robodyn as rd
from robodyn.formats import received_description

URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
MJCF = """<mujoco>{}<worldbody><body name="arm"><joint name="j" axis="0 0 1"/>
<geom size="0.1"/></body></worldbody><actuator><motor joint="j"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    "text", ["", "  ", "/etc/passwd", "puma560", "~/robot.urdf.xacro", "x<a/>"]
)
def test_a_path_or_a_name_is_no_description(text):
    with pytest.raises(rd.ModelError, match="topic: expected the text"):
        received_description(text, "topic")


@pytest.mark.parametrize(
    "part",
    [
        '<include file="{}"/>',
        '<asset><mesh name="a" file="{}"/></asset>',
        '<asset><texture name="a" type="cube" fileright="{}"/></asset>',
        '<asset><hfield name="a" file="{}" size="1 1 1 1"/></asset>',
        '<asset><model name="a" file="{}"/></asset>',
        "<!-- > --><include  file = '{}' />",
    ],
)
def test_mjcf_that_names_files_is_refused(tmp_path, part):
    secret = tmp_path / "secret.xml"
    secret.write_text("<mujoco/>")
    with pytest.raises(rd.ModelError, match="names the file"):
        received_description(MJCF.format(part.format(secret)), "topic")


def test_a_complete_description_is_loaded_from_text():
    assert received_description(URDF, "topic") == URDF
    assert received_description("\ufeff\n <!-- a --><sdf/>", "topic").endswith("<sdf/>")
    pytest.importorskip("mujoco")
    assert rd.load(received_description(MJCF.format(""), "topic")).joint_names == ("j",)


@pytest.mark.parametrize("data", ["not json", "[1]", "[" * 100_000, "NaN"])
def test_our_own_text_in_mjcf_that_is_no_json_object_is_refused(data):
    pytest.importorskip("mujoco")
    custom = f'<custom><text name="robodyn" data="{data}"/></custom>'
    with pytest.raises(rd.ModelError, match="robodyn"):
        rd.load(MJCF.format(custom))
