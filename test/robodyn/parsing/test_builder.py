# SPDX-License-Identifier: Apache-2.0

"""The builder that every reader fills: what it refuses, orders and derives."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest

import robodyn as rd
from robodyn.model import Drives, Joint, Link, Mimic, ModelBuilder


def gripper() -> ModelBuilder:
    """Two fingers, of which the right one follows the left one."""
    builder = ModelBuilder("gripper", "gripper.txt")
    builder.add(Link("palm"), Link("left", 0.1), Link("right", 0.1))
    builder.add(
        Joint("open", "prismatic", "palm", "left", effort=5.0),
        Joint("follow", "prismatic", "palm", "right", mimic=Mimic("open", -1.0)),
    )
    return builder


def test_twins_are_refused_with_the_source():
    builder = gripper()
    for twin in (Link("left"), Joint("open", "fixed", "palm", "left")):
        with pytest.raises(rd.ModelError, match=rf"gripper.txt: two .*named '{twin.name}'"):
            builder.add(twin)


def test_parts_stay_behind_those_that_they_were_made_with():
    builder = gripper()
    builder.add(Link("tip"))
    builder.reorder(links=["right", "palm", "left"])
    assert [*builder.links] == ["right", "tip", "palm", "left"]


def test_the_actuator_of_a_follower_is_its_leaders():
    builder = gripper()
    builder.drives = Drives.of(["follow"])
    assert builder.actuated == ("open", "follow")
    model = builder.model()
    assert model.driven == ("follow",)
    leader = next(joint for joint in model.joints if joint.name == "open")
    assert leader.mimic == Mimic("follow", -1.0, 0.0)


def test_gravity_is_stated_in_the_axes_of_the_base_link():
    builder = ModelBuilder("tilted", "tilted.txt")
    builder.add(Link("floor"), Link("plate"), Link("arm", 1.0))
    turned = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # about x
    from robodyn.model import Placement

    builder.add(
        Joint("mount", "fixed", "floor", "plate", Placement(turned)),
        Joint("hinge", "revolute", "plate", "arm"),
    )
    builder.base_link, builder.gravity = "plate", (0.0, -9.81, 0.0)
    np.testing.assert_allclose(builder.model().gravity, [0.0, 0.0, -9.81], atol=1e-15)


SDF = """<sdf version="1.9"><model name="pendulum"><link name="bob"><inertial><mass>2</mass>
  <inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia></inertial></link>
  <joint name="hinge" type="revolute"><parent>world</parent><child>bob</child>
  <axis><xyz>0 1 0</xyz></axis></joint></model></sdf>"""
MJCF = """<mujoco><worldbody><body name="bob"><joint name="hinge" axis="0 1 0"/>
  <inertial pos="0 0 0" mass="2" diaginertia=".1 .1 .1"/></body></worldbody>
  <actuator><motor joint="hinge"/></actuator></mujoco>"""


@pytest.mark.parametrize("text", [SDF, MJCF], ids=["sdf", "mjcf"])
def test_other_formats_need_no_parser_of_urdf(text, monkeypatch):
    if text is MJCF and find_spec("mujoco") is None:
        pytest.skip("MJCF needs mujoco")
    monkeypatch.setitem(sys.modules, "urdf_parser_py.urdf", None)
    arm = rd.load(text)
    assert arm.mass_matrix([0.0]) == pytest.approx(0.1, abs=1e-15)
