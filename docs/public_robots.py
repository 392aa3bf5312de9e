# SPDX-License-Identifier: Apache-2.0

"""Public robots: the repository, the file and the loading arguments of each.

None of the files is part of this package: docs/make_robots.py takes a folder with checkouts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

DATASET = "Daniella1/urdf_files_dataset"
GEPETTO = "Gepetto/example-robot-data"
UR = "UniversalRobots/Universal_Robots_ROS2_Description"
FRANKA = "frankarobotics/franka_description"
KORTEX = "Kinovarobotics/ros2_kortex"
XARM = "xArm-Developer/xarm_ros2"


@dataclass(frozen=True)
class PublicRobot:
    """Public description of a robot.

    Attributes:
        title: of the robot.
        repository: on GitHub; its checkout is the folder of the same name.
        file: in the repository.
        tip: the link that is moved, where the file leaves a choice; a gripper's fingers otherwise
            would be joints of the arm.
        base: the link the arm starts from, where it is not the root.
        hold_branches: whether joints that branch off the chain are held.
        arguments: of a xacro file.
    """

    title: str
    repository: str
    file: str
    tip: str = ""
    base: str = ""
    hold_branches: bool = False
    arguments: dict[str, str] = field(default_factory=dict)


def _ur(size: str) -> PublicRobot:
    words = {"name": "ur", "ur_type": size}
    return PublicRobot(size.upper(), UR, "urdf/ur.urdf.xacro", "tool0", arguments=words)


def _franka(name: str, title: str) -> PublicRobot:
    file, words = f"robots/{name}/{name}.urdf.xacro", {"hand": "false"}
    return PublicRobot(title, FRANKA, file, f"{name}_link8", arguments=words)


def _xarm(dof: int, title: str, **more: str) -> PublicRobot:
    words = {"dof": str(dof), **more}
    file = "xarm_description/urdf/xarm_device.urdf.xacro"
    return PublicRobot(title, XARM, file, "link_eef", arguments=words)


def _dataset(title: str, file: str, **how: str) -> PublicRobot:
    return PublicRobot(title, DATASET, f"urdf_files/{file}", **how)  # type: ignore[arg-type]


_SCHUNK = "random/xacro_generated/schunk_modular_robotics/schunk_description/urdf"

ROBOTS = (
    *(_ur(size) for size in ("ur3e", "ur5e", "ur10e", "ur16e", "ur20", "ur30", "ur3", "ur10")),
    _franka("fr3", "Franka Research 3"),
    _franka("fer", "Franka Emika Robot (Panda)"),
    _franka("fp3", "Franka Production 3"),
    PublicRobot(
        "Kinova Gen3", KORTEX, "kortex_description/robots/gen3_2f85.urdf", "gen3_end_effector_link",
        hold_branches=True,
    ),
    PublicRobot(
        "Kinova Gen3 lite", KORTEX, "kortex_description/robots/gen3_lite.urdf",
        "end_effector_link", hold_branches=True,
    ),
    _xarm(6, "UFACTORY xArm 6"),
    _xarm(7, "UFACTORY xArm 7"),
    _xarm(6, "UFACTORY Lite 6", robot_type="lite"),
    PublicRobot(
        "Unitree Z1", GEPETTO, "robots/z1_description/urdf/z1.urdf", "link06", hold_branches=True
    ),
    PublicRobot(
        "TALOS, left arm", GEPETTO, "robots/talos_data/robots/talos_left_arm.urdf",
        "wrist_left_ft_tool_link", hold_branches=True,
    ),
    PublicRobot(
        "Reach Robotics Bravo 7", GEPETTO, "robots/bravo7_description/urdf/bravo7_no_ee.urdf"
    ),
    PublicRobot("UR5 (ROS 1)", GEPETTO, "robots/ur_description/urdf/ur5_robot.urdf"),
    PublicRobot(
        "Kinova Jaco 2", GEPETTO, "robots/kinova_description/robots/kinova.urdf",
        "j2s6s200_end_effector", hold_branches=True,
    ),
    PublicRobot(
        "TIAGo, arm", GEPETTO, "robots/tiago_description/robots/tiago.urdf", "arm_tool_link",
        "torso_lift_link", hold_branches=True,
    ),
    PublicRobot(
        "Baxter, left arm", GEPETTO, "robots/baxter_description/urdf/baxter.urdf", "left_gripper",
        "torso", hold_branches=True,
    ),
    _dataset("KUKA LBR iiwa 7 R800", "matlab/iiwa_description/urdf/kukaIiwa7.urdf"),
    _dataset("KUKA LBR iiwa 14 R820", "drake/iiwa_description/urdf/iiwa14_no_collision.urdf"),
    _dataset("KUKA KR 16-2", "ros-industrial/kuka/kuka_kr16_support/urdf/kr16_2.urdf"),
    _dataset("KUKA KR 120 R2500", "ros-industrial/kuka/kuka_kr120_support/urdf/kr120r2500pro.urdf"),
    _dataset("KUKA KR 210 L150", "ros-industrial/kuka/kuka_kr210_support/urdf/kr210l150.urdf"),
    _dataset("ABB IRB 120", "matlab/abb_irb120_support/urdf/abbIrb120.urdf"),
    _dataset(
        "ABB IRB 1200-5/0.9",
        "ros-industrial/xacro_generated/abb/abb_irb1200_support/urdf/irb1200_5_90.urdf",
    ),
    _dataset("Yaskawa SIA10D",
             "ros-industrial/motoman/motoman_sia10d_support/urdf/sia10d.urdf"),
    _dataset("Stäubli RX160", "ros-industrial/staubli/staubli_rx160_support/urdf/rx160.urdf"),
    _dataset("Schunk LWA 4P", f"{_SCHUNK}/schunk_lwa4p.urdf"),
    _dataset("Schunk LWA 4D", f"{_SCHUNK}/schunk_lwa4d.urdf"),
    _dataset("Kinova Gen3 (MATLAB)", "matlab/kortex_description/urdf/kinovaGen3.urdf"),
)  # fmt: skip
