# SPDX-License-Identifier: Apache-2.0

"""The tip where none is named, and homes at which the driven joints determine nothing."""

from __future__ import annotations

import re

import numpy as np
import pytest

import robodyn as rd

LINK = """<link name="{0}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>
  <origin xyz="{4}"/><axis xyz="{5}"/>{6}</joint>"""


def four_bar(*, extra=""):
    """Crank, coupler and rocker; more links after the loop."""
    links = "".join(map(LINK.format, ("crank", "coupler", "rocker")))
    joints = [
        ("motor", "continuous", "base", "crank", "0 0 0", "0 1 0", ""),
        ("knee", "continuous", "crank", "coupler", "0 0 0.2", "0 1 0", ""),
        ("pin", "continuous", "base", "rocker", "0.5 0 0", "0 1 0", ""),
    ]
    return (
        f'<robot name="bar4"><link name="base"/>{links}'
        + "".join(JOINT.format(*joint) for joint in joints)
        + """<constraint name="closed" type="revolute"><parent link="coupler"/>
          <parent_origin xyz="0.5 0 0.1"/><parent_axis xyz="0 1 0"/><child link="rocker"/>
          <child_origin xyz="0 0 0.3"/><child_axis xyz="0 1 0"/></constraint>"""
        + extra
        + "</robot>"
    )


def on(link, parent, kind="fixed", at="0 0 0.1", mimic=""):
    return LINK.format(link) + JOINT.format(f"{link}_joint", kind, parent, link, at, "0 1 0", mimic)


TABLE, ROTOR = on("table", "base", at="1 0 0"), on("rotor", "base", "continuous", "0 0.1 0",
    '<mimic joint="motor" multiplier="-3"/>')  # fmt: skip


@pytest.mark.parametrize(
    ("extra", "tip"),
    [
        ("", "rocker"),
        (TABLE, "rocker"),
        (ROTOR, "rocker"),
        (on("tool", "coupler") + TABLE, "tool"),
        (on("tool", "coupler") + ROTOR + TABLE, "tool"),
        (on("camera", "rocker", at="0 0 0.4") + on("tool", "coupler"), "tool"),
    ],
)
def test_the_tip_is_the_end_that_moves_most(extra, tip):
    m = rd.load(four_bar(extra=extra), driven="motor")
    assert m.model.tip_link == tip
    assert np.linalg.norm(m.jacobian(m.home)) > 0.01


def test_a_tip_that_is_named_stays(tmp_path):
    extra = on("tool", "coupler") + TABLE
    assert rd.load(four_bar(extra=extra), driven="motor", tip_link="table").frames[1] == "table"
    named = four_bar(extra=extra + '<robodyn tip_link="table"/>')
    assert rd.load(named, driven="motor").frames[1] == "table"
    (tmp_path / "m.urdf").write_text(four_bar(extra=extra))
    (tmp_path / "m.yaml").write_text("{type: closed_loop, urdf: m.urdf, actuated_joints: [motor]}")
    assert rd.load(tmp_path / "m.yaml").frames[1] == "tool"
    rd.save(rd.load(tmp_path / "m.yaml"), tmp_path / "again.urdf")
    assert rd.load(tmp_path / "again.urdf").frames[1] == "tool"


def slider(tmp_path, home):
    """A slider-crank at its dead center, driven by the slide."""
    joints = [
        ("crank", "continuous", "base", "crank", "0 0 0", "0 1 0", ""),
        ("rod", "continuous", "crank", "rod", "0.1 0 0", "0 1 0", ""),
        ("slide", "prismatic", "base", "slide", "0.5 0 0", "1 0 0", ""),
    ]
    text = (
        '<robot name="slider"><link name="base"/>'
        + "".join(map(LINK.format, ("crank", "rod", "slide")))
        + "".join(JOINT.format(*joint) for joint in joints)
        + """<constraint name="pin" type="revolute"><parent link="rod"/>
          <parent_origin xyz="0.4 0 0"/><parent_axis xyz="0 1 0"/><child link="slide"/>
          <child_axis xyz="0 1 0"/></constraint></robot>"""
    )
    (tmp_path / "s.urdf").write_text(text)
    file = tmp_path / "s.yaml"
    file.write_text(
        f"{{type: closed_loop, urdf: s.urdf, tip_link: slide, actuated_joints: [slide]{home}}}"
    )
    return file


def test_a_singular_home_is_named_with_one_that_serves(tmp_path):
    with pytest.raises(rd.ModelError, match="home is singular") as refused:
        rd.load(slider(tmp_path, ""))
    suggested = re.search(r"home: \{\w+: [-.\d]+\}", str(refused.value))
    assert rd.load(slider(tmp_path, f", {suggested[0]}")).mobility == 1
