# SPDX-License-Identifier: Apache-2.0

"""Parts keep clear of each other by the collision bodies of their model."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.planning.paths import Clearance

LINK = """<link name="{name}"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><sphere radius="0.5"/></geometry></visual>
  <collision><geometry><sphere radius="{radius}"/></geometry></collision></link>
<joint name="{name}_slide" type="prismatic"><parent link="base"/><child link="{name}"/>
  <origin xyz="{x} 0 0"/><axis xyz="1 0 0"/>
  <limit lower="-1" upper="1" effort="10" velocity="1"/></joint>"""
CARRIAGES = '<robot name="two"><link name="base"/>{}{}</robot>'.format(
    LINK.format(name="left", radius=0.1, x=0.0), LINK.format(name="right", radius=0.2, x=1.0)
)


def test_two_carriages_are_apart_by_their_collision_bodies():
    """Their visuals are larger, and would touch."""
    carriages = rd.load(CARRIAGES, kind="closed_loop")
    clearance = Clearance(carriages, 0.05)
    _, distance, least, parts = clearance.closest(np.zeros(2))
    assert distance == pytest.approx(1.0 - 0.1 - 0.2, abs=1e-15)
    assert (least, parts[:14]) == (0.05, "left and right")
    near, far = clearance.margins(np.array([[0.3, -0.3], [-0.1, 0.1]])) * carriages.size
    assert near == pytest.approx(0.1 - 0.05, abs=1e-14)
    assert far == pytest.approx(0.9 - 0.05, abs=1e-14)
