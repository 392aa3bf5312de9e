# SPDX-License-Identifier: Apache-2.0

"""Models from YAML and URDF: equal for equal content, with clear rejections."""

import copy
import warnings
from pathlib import Path

import numpy as np
import pytest
from serial_arms import arm_from_urdf, arm_from_yaml, random_urdf

from robodyn.errors import ModelError, UnphysicalInertia, UnphysicalInertiaWarning
from robodyn.formats import expand_xacro

ROOT = Path(__file__).parents[4]
LINK = {"joint": "revolute", "d": 0.1, "a": 0.3, "alpha": 0.4, "mass": 2.0,
        "com": [0.1, 0.0, 0.0], "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}  # fmt: skip


def document(*links, **top):
    return {"type": "serial", "name": "arm", "links": [dict(LINK, **link) for link in links], **top}


@pytest.mark.parametrize("name", ["puma560", "stanford_arm"])
def test_a_bundled_model_is_the_same_in_both_formats(bundled, name):
    text = expand_xacro(ROOT / "urdf" / f"{name}.urdf.xacro")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        from_urdf = arm_from_urdf(text)
    from_yaml = bundled(name)
    assert from_urdf == from_yaml
    assert from_urdf.joint_names == from_yaml.joint_names
    assert from_urdf.model.tip_link == from_yaml.model.tip_link
    altered = from_yaml.with_payload(1e-9)
    assert altered != from_yaml


def test_the_bundled_arms_are_of_sound_size(bundled):
    puma, stanford = bundled("puma560"), bundled("stanford_arm")
    for arm in (puma, stanford):
        q = np.clip(arm.home, *arm.position_limits.T)
        assert (q == arm.home).all()
        assert (np.abs(arm.gravity(q)) < arm.effort_limits).all()
        assert np.linalg.norm(arm.forward_kinematics(q)[:3]) < 2.0
    assert [joint.kind for joint in stanford.chain.joints].count("prismatic") == 1


def test_the_unphysical_tensors_of_the_puma_are_reported():
    from robodyn.formats import read_yaml

    puma = read_yaml(ROOT / "robodyn" / "bundled" / "puma560.yaml")
    with pytest.warns(UnphysicalInertiaWarning) as caught:
        arm_from_yaml(puma)
    assert ["link1" in str(caught[0].message), "link3" in str(caught[1].message)] == [True, True]
    with pytest.raises(UnphysicalInertia, match="link1"):
        arm_from_yaml(puma, strict=True)


def turn(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    x = np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])
    z = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    return x if axis == "x" else z


def shift(x=0.0, z=0.0):
    out = np.eye(4)
    out[[0, 2], 3] = x, z
    return out


@pytest.mark.parametrize("convention", ["standard_dh", "modified_dh"])
def test_the_tip_is_where_the_product_of_the_rows_puts_it(rng, convention):
    offset, fixed, a, alpha, q = rng.uniform(-1, 1, (5, 4))
    kinds = [str(kind) for kind in rng.choice(["revolute", "prismatic"], 4)]
    links, T = [], np.eye(4)
    for i, kind in enumerate(kinds):
        slides = kind == "prismatic"
        theta, d = (fixed[i], offset[i] + q[i]) if slides else (offset[i] + q[i], fixed[i])
        across, along = shift(x=a[i]) @ turn("x", alpha[i]), turn("z", theta) @ shift(z=d)
        T = T @ (along @ across if convention == "standard_dh" else across @ along)
        rest = {"theta": fixed[i], "d": 0.0} if slides else {"theta": 0.0, "d": fixed[i]}
        links.append({"joint": kind, "a": a[i], "alpha": alpha[i], "offset": offset[i], **rest})
    links = [{key: v if key == "joint" else float(v) for key, v in link.items()} for link in links]
    pose = arm_from_yaml(document(*links, convention=convention)).forward_kinematics(q)
    assert np.allclose(pose[:3], T[:3, 3], atol=1e-13)
    x, y, z, w = pose[3:]
    assert np.allclose(4 * w * np.array([x, y, z]), (T - T.T)[[2, 0, 1], [1, 2, 0]], atol=1e-13)


def test_rigid_links_merge_and_the_axis_may_have_any_length(rng):
    text = random_urdf(rng, 3)
    doubled = arm_from_urdf(text)
    mass = sum(link.mass for link in doubled.chain.links)
    assert mass > 0.0
    for joint in doubled.chain.joints:
        assert np.linalg.norm(joint.axis) == pytest.approx(1.0)


def test_motors_survive_the_urdf(rng):
    arm = arm_from_urdf(random_urdf(rng, 3))
    for joint in arm.chain.joints:
        assert joint.armature > 0.0
        assert joint.friction[0] != joint.friction[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mass": None}, r"arm.yaml: links\[1\].mass is missing"),
        ({"mass": -1.0}, r"links\[1\].mass is -1.0, expected a number of at least 0"),
        ({"inertia": None}, r"links\[1\].inertia is missing"),
        ({"inertia": [[1, 0.2, 0], [0, 1, 0], [0, 0, 1]]}, r"links\[1\].inertia .*symmetric"),
        ({"joint": "floating"}, r"links\[1\].joint is 'floating', expected one of revolute"),
        ({"theta": 0.3}, r"links\[1\].theta is 0.3, expected 0.*links\[1\].offset"),
        ({"joint": "prismatic"}, r"links\[1\].d is 0.1, expected 0"),
        ({"friction": -2}, r"links\[1\].friction is -2"),
        ({"friction": [1, -2]}, r"links\[1\].friction .*\[forward, backward\]"),
        ({"limits": {"position": [1, -1]}}, r"links\[1\].limits.position .*lower <= upper"),
        ({"limits": {"effort": 0}}, r"links\[1\].limits.effort is 0"),
        ({"damp": 1}, r"unknown field links\[1\].damp; did you mean 'damping'"),
    ],
)
def test_a_wrong_yaml_field_is_named(change, message):
    with pytest.raises(ModelError, match=message):
        arm_from_yaml(document({}, change))


def test_no_links_and_unknown_conventions_are_refused():
    with pytest.raises(ModelError, match=r"links .*at least one"):
        arm_from_yaml(document())
    with pytest.raises(ModelError, match="convention is 'dh', expected one of standard_dh"):
        arm_from_yaml(document({}, convention="dh"))
    with pytest.raises(ModelError, match="home"):
        arm_from_yaml(document({}, home=[0.0, 0.0]))
    with pytest.raises(ModelError, match=r"arm.yaml: home puts joint 'joint1' at 3, outside"):
        arm_from_yaml(document({"limits": {"position": [-1, 1]}}, home=[3.0]))
    with pytest.raises(ModelError, match="two joints are named 'j'"):
        arm_from_yaml(document({"name": "j"}, {"name": "j"}))


INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    "</inertial>"
)


def two_joints(second='type="revolute"', inside="", last=INERTIAL, more=""):
    return (
        f'<robot name="r"><link name="a"/><link name="b">{INERTIAL}</link>'
        f'<link name="c">{last}</link>'
        '<joint name="one" type="revolute"><parent link="a"/><child link="b"/>'
        '<limit effort="0" velocity="0" lower="-1" upper="2"/></joint>'
        f'<joint name="two" {second}><parent link="b"/><child link="c"/>{inside}</joint>'
        f"{more}</robot>"
    )


def test_a_limit_of_zero_means_none_was_stated():
    arm = arm_from_urdf(two_joints())
    assert np.isinf(arm.effort_limits).all()
    assert np.isinf(arm.velocity_limits).all()
    assert arm.position_limits.tolist() == [[-1.0, 2.0], [-np.inf, np.inf]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (two_joints('type="floating"'), "joint 'two' is floating"),
        (two_joints('type="planar"'), "joint 'two' is planar"),
        (two_joints(inside='<mimic joint="one"/>'), "joint 'two' mimics 'one'"),
        (two_joints(inside='<dynamics damping="-1"/>'), "arm.urdf: joint 'two': damping is -1"),
        (
            two_joints(inside='<limit lower="2" upper="1" effort="1" velocity="1"/>'),
            r"arm.urdf: joint 'two': position limits are \[2.0, 1.0\]",
        ),
        (two_joints(inside='<robodyn armature="-1"/>'), "'two': <robodyn> armature is '-1'"),
        (two_joints(inside='<robodyn armature="1_0"/>'), "<robodyn> armature is '1_0'"),
        (two_joints(inside='<robodyn mass="1"/>'), "unknown attribute 'mass'"),
        (
            two_joints(
                more=f'<link name="d">{INERTIAL}</link><joint name="three" type="revolute">'
                '<parent link="b"/><child link="d"/></joint>'
            ),
            "several chains of 2 joints, to 'c', 'd'",
        ),
        ('<robot name="r"><link name="a"/></robot>', "no movable joint"),
    ],
)
def test_a_description_that_is_no_chain_is_refused_by_name(text, message):
    with pytest.raises(ModelError, match=message):
        arm_from_urdf(text)


def test_links_are_chosen_by_name():
    text = two_joints()
    assert arm_from_urdf(text, tip_link="b", hold_branches=True).joint_names == ("one",)
    assert arm_from_urdf(text, base_link="b").joint_names == ("two",)
    with pytest.raises(ModelError, match="'two' is movable and not part of the chain to 'b'"):
        arm_from_urdf(text, tip_link="b")
    with pytest.raises(ModelError, match="no link is named 'z'; expected one of 'a', 'b', 'c'"):
        arm_from_urdf(text, tip_link="z")
    with pytest.raises(ModelError, match="'a' is not a descendant of link 'c'"):
        arm_from_urdf(text, base_link="c", tip_link="a")


def test_a_held_branch_is_carried_along():
    text = two_joints()
    held = arm_from_urdf(text, tip_link="b", hold_branches=True)
    assert held.chain.links[0].mass == 2.0
    assert copy.deepcopy(held.model) == held.model
