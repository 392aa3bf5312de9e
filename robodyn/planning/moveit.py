# SPDX-License-Identifier: Apache-2.0

"""MoveIt configuration packages for mechanisms that are not trees of joints.

MoveIt plans for trees of joints. The coordinates of the tip's pose (`TipJoints`) form such a tree,
limited to a box of coordinates about home in which every tested pose can be reached. The node
`inverse_dynamics` executes the planned trajectories.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import yaml

from robodyn.algorithms import conditioning, motions
from robodyn.algorithms.travel import within_travel
from robodyn.analysis.bisection import bisect
from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.errors import KinematicsError, OutputError
from robodyn.formats.output_file import write_text
from robodyn.formats.xml_elements import document_text
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.tip_joints import NAMES, TipJoints

# Largest distance from home, relative to the mechanism's size or in [rad], and its steps.
FURTHEST, ANGLE, STEPS = 2.0, 1.2, 24
# Number of random poses that are tested in a box besides its corners, and largest number of
# halvings of the box.
TRIED, HALVINGS, SEED = 200, 7, 26
# Fraction of the joints' rate limits that is used, and the time [s] to accelerate to it.
FRACTION, RISE = 0.95, 0.5
GROUP = "tip"
ORDER = (0, 1, 2, 5, 4, 3)  # of the chain: yaw turns first
TEMPLATES = Path(__file__).with_name("templates")


def moveit(
    mechanism: Mechanism,
    folder: str | Path,
    *,
    condition_limit: float = 100.0,
    force: bool = False,
) -> list[Path]:
    """Write a MoveIt configuration package for a mechanism.

    Args:
        mechanism: mechanism of any kind whose body's pose determines its configuration.
        folder: output folder; created if it does not exist.
        condition_limit: largest condition number of the Jacobian in the box of tip coordinates
            about home.
        force: overwrite existing files.

    Returns:
        Paths of the files written.

    Raises:
        InvalidInput: the body's pose does not determine the configuration.
        OutputError: a package exists already, or cannot be written.
    """
    limit = as_scalar("condition_limit", condition_limit, above=1.0)
    tip, root = TipJoints(mechanism), Path(folder)
    there = root / "package.xml"
    if there.exists() and not force:
        raise OutputError(
            f"{there} exists; choose another folder, or overwrite it with --force", value=str(there)
        )
    box = reachable_box(tip, limit)
    rates = _rate_limits(tip, box)
    package = f"{mechanism.name}_moveit_config"
    names, node = list(tip.independent_joints), "inverse_dynamics"
    limits = {
        name: {
            "has_velocity_limits": True, "max_velocity": float(rate),
            "has_acceleration_limits": True, "max_acceleration": float(rate / RISE),
        }
        for name, rate in zip(names, rates, strict=True)
    }  # fmt: skip
    solver = {"kinematics_solver": "kdl_kinematics_plugin/KDLKinematicsPlugin",
              "kinematics_solver_search_resolution": 0.005, "kinematics_solver_timeout": 0.05,
              "position_only_ik": max(tip.rows) < 3}  # fmt: skip
    controllers = {
        "moveit_controller_manager":
            "moveit_simple_controller_manager/MoveItSimpleControllerManager",
        "moveit_simple_controller_manager": {
            "controller_names": [node],
            node: {"type": "FollowJointTrajectory", "action_ns": "follow_joint_trajectory",
                   "default": True, "joints": names},
        },
        "trajectory_execution": {"allowed_execution_duration_scaling": 1.2,
                                 "allowed_goal_duration_margin": 1.0},
    }  # fmt: skip
    texts = {
        f"config/{mechanism.name}.urdf.xacro": document_text(_urdf(tip, box, rates)),
        f"config/{mechanism.name}.srdf": document_text(_srdf(tip)),
        "config/kinematics.yaml": yaml.safe_dump({GROUP: solver}, sort_keys=False),
        "config/joint_limits.yaml": yaml.safe_dump(
            {"default_velocity_scaling_factor": 1.0, "default_acceleration_scaling_factor": 1.0,
             "joint_limits": limits}, sort_keys=False
        ),
        "config/moveit_controllers.yaml": yaml.safe_dump(controllers, sort_keys=False),
    }  # fmt: skip
    for file in ("launch/move_group.launch.py", "package.xml", "CMakeLists.txt"):
        template = (TEMPLATES / f"{Path(file).name}.in").read_text(encoding="utf-8")
        texts[file] = template.format(name=mechanism.name, package=package)
    return [write_text(root / file, text) for file, text in texts.items()]


def reachable_box(tip: TipJoints, condition_limit: float) -> FloatArray:
    """Find a box about home in which all tested tip poses can be reached.

    A pose passes the test if its configuration is within the joint limits, the condition number of
    the Jacobian is below `condition_limit`, and the Jacobian's determinant has the same sign as at
    home. Each tip coordinate is first extended alone until a pose fails; then all ranges are
    shortened by a common factor until all tested poses pass.

    Returns:
        Lower and upper end (n, 2) [m or rad] of each of the n coordinates of the tip.
    """
    m, rng = tip.mechanism, np.random.default_rng(SEED)
    home, count = tip.positions(m.home), len(tip.rows)
    sign = conditioning.determinant(m, m.home)

    def inside(values: FloatArray) -> bool:
        try:
            rest = np.zeros((1, count))
            found = motions.motion_of_independent(tip, values[None], rest, rest, m.home)
            q = found.configuration[0]
            determinant = conditioning.determinant(m, q)
            return bool(
                within_travel(m, q)
                and m.condition_number(q) < condition_limit
                and (sign is None or determinant is None or (determinant > 0) == (sign > 0))
            )
        except KinematicsError:
            return False

    ways = np.zeros((count, 2))
    for k, row in enumerate(tip.rows):
        furthest = FURTHEST * m.size if row < 3 else ANGLE
        for end, sense in enumerate((-1.0, 1.0)):
            for step in np.arange(1, STEPS + 1) / STEPS * furthest:
                if not inside(home + sense * step * np.eye(count)[k]):
                    break
                ways[k, end] = sense * step
    corners = np.array(np.meshgrid(*ways)).reshape(count, -1).T
    tried = np.concatenate([corners, rng.uniform(ways[:, 0], ways[:, 1], (TRIED, count))])
    fraction, _ = bisect(
        lambda fraction: all(inside(home + fraction * way) for way in tried), 0.0, 1.0, HALVINGS
    )
    return home[:, None] + fraction * ways


def _rate_limits(tip: TipJoints, box: FloatArray) -> FloatArray:
    """Compute rate limits (k,) of tip coordinates that may be reached all at once."""
    m, count = tip.mechanism, len(tip.rows)
    places = np.array(np.meshgrid(*box)).reshape(count, -1).T
    used = np.zeros(count)
    for place in places:
        for k in range(count):
            rate = np.eye(count)[k][None]
            motion = motions.motion_of_independent(tip, place[None], rate, 0.0 * rate, m.home)
            driven = m.joint_velocities(motion.configuration[0], motion.velocity[0])
            used[k] = max(used[k], float(np.max(np.abs(driven) / m.velocity_limits)))
    return np.where(used > 0.0, FRACTION / count / np.maximum(used, 1e-9), 1.0)


def _urdf(tip: TipJoints, box: FloatArray, rates: FloatArray) -> ElementTree.Element:
    base, end = tip.mechanism.frames
    robot = ElementTree.Element("robot", name=tip.mechanism.name)
    ElementTree.SubElement(robot, "link", name=base)
    chain, parent = [row for row in ORDER if row in tip.rows], base
    for row in chain:
        k = tip.rows.index(row)
        child = end if row == chain[-1] else f"{end}_by_{NAMES[row]}"
        ElementTree.SubElement(robot, "link", name=child)
        joint = ElementTree.SubElement(
            robot, "joint", name=tip.independent_joints[k],
            type="prismatic" if row < 3 else "revolute",
        )  # fmt: skip
        ElementTree.SubElement(joint, "parent", link=parent)
        ElementTree.SubElement(joint, "child", link=child)
        axis = " ".join("1" if k == row % 3 else "0" for k in range(3))
        ElementTree.SubElement(joint, "axis", xyz=axis)
        lower, upper, velocity = (repr(float(value)) for value in (*box[k], rates[k]))
        ElementTree.SubElement(joint, "limit", lower=lower, upper=upper, velocity=velocity,
                               effort="0")  # fmt: skip
        parent = child
    return robot


def _srdf(tip: TipJoints) -> ElementTree.Element:
    base, end = tip.mechanism.frames
    robot = ElementTree.Element("robot", name=tip.mechanism.name)
    group = ElementTree.SubElement(robot, "group", name=GROUP)
    ElementTree.SubElement(group, "chain", base_link=base, tip_link=end)
    state = ElementTree.SubElement(robot, "group_state", name="home", group=GROUP)
    home = tip.positions(tip.mechanism.home)
    for name, value in zip(tip.independent_joints, home, strict=True):
        ElementTree.SubElement(state, "joint", name=name, value=repr(float(value)))
    return robot
