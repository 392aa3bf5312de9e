# SPDX-License-Identifier: Apache-2.0

"""Messages about a gripper at the end of an arm use the words of the interface."""

import pytest
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app
from robodyn.loading import use_options
from robodyn.mechanism import as_launch_argument, as_parameter

pytestmark = pytest.mark.filterwarnings("ignore::robodyn.errors.MissingInertiaWarning")
INERTIAL = """<inertial><mass value="1"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>"""


def arm(last: str, child: str, kind: str = "prismatic", mimic: str = "", beside: str = "") -> str:
    """Two joints, a flange, and a third joint behind it; another that mimics it, or is beside."""
    links = "".join(
        f'<link name="{name}">{INERTIAL}</link>' for name in ("base", "one", "two", child)
    )

    def joint(name: str, parent: str, below: str, kind: str, more: str = "") -> str:
        return (
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{below}"/>'
            f'<axis xyz="0 1 0"/><origin xyz="0 0 0.3"/>'
            f'<limit lower="-1" upper="1" velocity="1" effort="50"/>{more}</joint>'
        )

    joints = (
        joint("first", "base", "one", "revolute")
        + joint("second", "one", "two", "revolute")
        + joint("flange_joint", "two", "flange", "fixed")
        + joint(last, "flange", child, kind)
    )
    if mimic:
        links += f'<link name="{mimic}">{INERTIAL}</link>'
        joints += joint(mimic, "flange", mimic, kind, f'<mimic joint="{last}"/>')
    if beside:
        links += f'<link name="{beside}">{INERTIAL}</link>'
        joints += joint(f"to_{beside}", "flange", beside, kind)
    return f'<robot name="arm">{links}<link name="flange"/>{joints}</robot>'


GRIPPERS = {
    "finger": arm("left_finger_joint", "left"),
    "gripper": arm("gripper", "moving_part", "revolute"),
    "jaw": arm("joint3", "jaw_link", "revolute"),
    "knuckle": arm("knuckle_1", "left"),
    # in French, as a maker has it
    "pair": arm("joint_base_to_mors_1", "mors_1", beside="mors_2"),
    "mimicked": arm("joint3", "left", mimic="right"),
}


@pytest.mark.parametrize("name", GRIPPERS)
def test_a_finger_is_no_joint_of_the_arm_unless_it_is_named(name):
    with pytest.raises(rd.ModelError, match=r"tip_link='flange'.*hold_branches=True"):
        rd.load(GRIPPERS[name])
    held = rd.load(GRIPPERS[name], tip_link="flange", hold_branches=True)
    assert held.joint_names == ("first", "second")


def test_the_tip_behind_a_finger_can_be_asked_for():
    assert len(rd.load(GRIPPERS["finger"], tip_link="left").joint_names) == 3


def test_the_last_link_of_an_arm_may_be_called_after_its_gripper():
    assert len(rd.load(arm("wrist_rotate", "gripper_link", "revolute")).joint_names) == 3


@pytest.mark.parametrize(
    ("spelling", "advice"),
    [
        (as_parameter, "the parameter tip_link: flange, with the parameter hold_branches: true"),
        (as_launch_argument, "tip_link:=flange, with hold_branches:=true"),
    ],
)
def test_nodes_and_launch_files_advise_what_they_offer(spelling, advice):
    use_options(spelling=spelling)
    with pytest.raises(rd.ModelError, match=advice):
        rd.load(GRIPPERS["finger"])
    use_options(tip_link="flange", hold_branches=True, spelling=spelling)
    assert len(rd.load(GRIPPERS["finger"]).joint_names) == 2


@pytest.mark.slow
def test_commands_take_what_their_errors_advise(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(GRIPPERS["finger"])
    refused = CliRunner().invoke(app, ["check", str(file)])
    assert refused.exit_code == 1
    assert "--tip-link flange, with --hold-branches" in refused.output
    for command in (
        ["check"],
        ["simulate", "--control-rate", "100"],
        ["analyze", "--path", "demo"],
    ):
        taken = CliRunner().invoke(
            app, [*command, str(file), "--tip-link", "flange", "--hold-branches"]
        )
        assert taken.exit_code == 0, taken.output
