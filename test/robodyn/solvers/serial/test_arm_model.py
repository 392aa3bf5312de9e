# SPDX-License-Identifier: Apache-2.0

"""The model that an arm is made of: which ones are chains, and what an arm has in one place."""

from dataclasses import replace

import numpy as np
import pytest
from serial_arms import arm_from_yaml

import robodyn as rd
from robodyn.algorithms import comparison
from robodyn.errors import ModelError
from robodyn.model import Mimic, Placement
from robodyn.solvers.serial.chain import with_tip

LINK = {"joint": "revolute", "a": 0.4, "mass": 1.0, "com": [0, 0, 0], "inertia": np.eye(3).tolist()}


def planar(**options):
    return arm_from_yaml({"type": "serial", "name": "planar", "links": [LINK, LINK]} | options)


def follower(model):
    joints = list(model.joints)
    joints[1] = replace(joints[1], mimic=Mimic(joints[0].name))
    return replace(model, joints=tuple(joints), driven=model.driven[:1])


@pytest.mark.parametrize(
    "changed",
    [
        lambda model: replace(model, driven=model.driven[:1]),
        lambda model: replace(model, driven=model.driven[::-1]),
        lambda model: replace(model, joints=model.joints[::-1]),
        lambda model: replace(model, tip_link=model.joints[0].child),
        follower,
        lambda model: rd.load("delta").model,
    ],
)
def test_a_model_that_is_no_chain_of_driven_joints_is_refused(changed):
    with pytest.raises(ModelError, match=r"no open chain .* closed_loop"):
        rd.SerialArm(changed(planar().model))


def test_an_arm_has_rotors_as_armatures_and_payloads_on_the_last_link():
    arm = planar()
    motor = rd.Actuator(rotor_inertia=1e-4, gear_ratio=50.0, coulomb=0.5)
    driven = rd.SerialArm(arm.model.driven_by({"joint2": motor}))
    assert driven.chain.joints[1].armature == motor.reflected_inertia
    assert driven.chain.joints[1].drive.rotor_inertia == 0.0
    loaded = arm.with_payload(2.0, [0.1, 0.0, 0.0])
    assert loaded.chain.links[-1].mass == 3.0
    assert [link.mass for link in loaded.model.links] == [0.0, 1.0, 3.0, 0.0]
    assert rd.SerialArm(loaded.model) == loaded


def test_names_of_an_arm_and_its_links_do_not_count_in_comparisons():
    arm, other = planar(), planar(base_link="link1", tip_link="link2")
    assert other.frames == ("link1", "link2")
    assert arm == other
    assert comparison.differences(arm, other) == []
    assert comparison.differences(arm, other.with_payload(1.0)) != []
    links = tuple(replace(link, name=f"my {link.name}") for link in arm.model.links)
    joints = tuple(
        replace(joint, parent=f"my {joint.parent}", child=f"my {joint.child}")
        for joint in arm.model.joints
    )
    renamed = replace(arm.model, links=links, joints=joints, tip_link="my tool0")
    assert rd.SerialArm(renamed) == arm


def test_a_tip_in_the_frame_of_the_last_link_needs_no_link_of_its_own():
    arm = planar()
    bare = with_tip(arm.model, Placement(), "link2")
    assert [joint.name for joint in bare.joints] == ["joint1", "joint2"]
    named = with_tip(arm.model, Placement(), "tool0")
    assert rd.SerialArm(bare) == rd.SerialArm(named)
    assert rd.SerialArm(bare) != arm
    moved = with_tip(bare, Placement(translation=[0.1, 0.0, 0.0]), "link2")
    assert rd.SerialArm(moved).frames == rd.SerialArm(bare).frames
    assert [joint.child for joint in moved.joints] == ["link1", "link2_body", "link2"]
