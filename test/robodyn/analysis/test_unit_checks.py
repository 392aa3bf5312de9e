# SPDX-License-Identifier: Apache-2.0

"""Numbers in another unit than SI: doubted by `robodyn check`, in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import robodyn as rd
from robodyn.analysis import unit_warnings

MODELS = dict.fromkeys(rd.models())


def changed(model, name, **changes):
    links = tuple(replace(each, **changes) if each.name == name else each for each in model.links)
    return replace(model, links=links)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_no_number_of_a_bundled_model_is_doubted(name):
    assert unit_warnings(rd.load(name).model) == []


@pytest.fixture(scope="module")
def arm():
    """A model of three bodies in line, as large as a real arm."""
    body = '<inertial><origin xyz="0 0 0.2"/><mass value="2"/><inertia ixx="0.03" ixy="0" ixz="0" '
    body += 'iyy="0.028" iyz="0" izz="0.004"/></inertial>'
    limit = '<limit lower="-3" upper="3" effort="100" velocity="3"/>'
    links, joints = '<link name="l0"/>', ""
    for n in (1, 2, 3):
        links += f'<link name="l{n}">{body}</link>'
        joints += f'<joint name="j{n}" type="revolute"><parent link="l{n - 1}"/>'
        joints += f'<child link="l{n}"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>{limit}</joint>'
    return rd.load(f'<robot name="arm">{links}{joints}</robot>').model


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"inertia": np.diag([30000.0, 28000.0, 4000.0])}, ["122", "kg mm^2"]),
        ({"inertia": np.eye(3), "mass": 0.1}, ["3.162 m"]),
        ({"mass": 2000.0}, ["grams", "kg/m^3"]),
        ({"com": np.array([0.0, 0.0, 200.0])}, ["199.6 m", "millimeters"]),
    ],
)
def test_a_link_in_another_unit_is_doubted(arm, changes, words):
    found = unit_warnings(changed(arm, "l2", **changes))
    assert len(found) == 1
    assert all(word in found[0] for word in ("'l2'", *words))


def test_all_links_in_grams_are_doubted(arm):
    heavy = arm
    for n in (1, 2, 3):
        heavy = changed(heavy, f"l{n}", mass=2000.0)
    assert len(unit_warnings(heavy)) == 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"position": np.array([-180.0, 180.0])}, ["28.6 turns", "degrees"]),
        ({"velocity": 180.0}, ["28.6 turns", "deg/s"]),
        ({"kind": "prismatic", "position": np.array([0.0, 300.0])}, ["millimeters"]),
        ({"kind": "prismatic", "velocity": 250.0}, ["mm/s"]),
    ],
)
def test_limits_in_another_unit_are_doubted(arm, changes, words):
    joints = tuple(replace(j, **changes) if j.name == "j2" else j for j in arm.joints)
    found = unit_warnings(replace(arm, joints=joints))
    assert len(found) == 1
    assert all(word in found[0] for word in ("'j2'", *words))


def test_points_of_mass_and_thin_rods_are_not_doubted(arm):
    for moments in ([0.0, 0.0, 0.0], [0.03, 0.03, 0.0], [1e-9, 1e-9, 1e-18]):
        assert unit_warnings(changed(arm, "l2", inertia=np.diag(moments))) == []
