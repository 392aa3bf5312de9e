# SPDX-License-Identifier: Apache-2.0

"""Write docs/robots.md: public robots loaded, compared with Pinocchio, and moved.

    python docs/make_robots.py FOLDER --nodes

FOLDER holds checkouts of the repositories in docs/public_robots.py, each under its own name. The
robots' files stay there; the page holds what was found. One robot after the other takes a process
of its own; what it found is kept in FOLDER/robots.json, from which `--resume` goes on.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
from public_robots import ROBOTS, PublicRobot
from robots_page import page

import robodyn as rd
from robodyn.algorithms.description import gravity_vector
from robodyn.control import TrajectoryFollower
from robodyn.formats.ros_packages import PATH_VARIABLE
from robodyn.formats.xacro_text import expand_xacro
from robodyn.formats.yaml_text import read_text
from robodyn.simulation import Plant
from robodyn.trajectories.straight import plan_straight
from robodyn.trajectories.tip_line import plan_tip_line

STATES, TOLERANCE = 20, 1e-12
# A goal is reached if it is missed by less at its time [rad or m], [m], [rad].
JOINT_ERROR, POSITION_ERROR, ANGLE_ERROR = 2e-3, 1e-3, 2e-3
REACHED = "reached, "
# The planner rejects tip paths with condition numbers of 1000 and above.
SINGULAR = 500.0
FRICTION = "as described"
DURATION, CONTROL, STEP = 3.0, 0.004, 0.0005


@dataclass
class Row:
    """Results for a robot; texts describe failures."""

    robot: PublicRobot
    joints: int = 0
    difference: float = np.nan
    joint_goal: str = ""
    pose_goal: str = ""
    friction: str = ""
    nodes: str = ""
    problem: str = ""

    @property
    def good(self) -> bool:
        """Loaded, equal to Pinocchio, and moved to both goals."""
        agrees = self.difference < TOLERANCE
        return agrees and all(
            goal.startswith(REACHED) for goal in (self.joint_goal, self.pose_goal)
        )


def examine(folder: Path, robot: PublicRobot, nodes: bool) -> Row:
    """Load a robot, compare it, and move it."""
    warnings.simplefilter("ignore")  # inertias of others are theirs
    row = Row(robot)
    source = folder / robot.repository.split("/")[1] / robot.file
    try:
        arm = load(source, robot)
        row.joints = len(arm.joint_names)
        row.difference = difference(arm, source, robot.arguments)
    except rd.RobodynError as error:
        row.problem = " ".join(str(error).split()).replace(str(folder), "")
        return row
    weak = too_weak(arm)
    if weak:
        row.joint_goal = row.pose_goal = weak
        return row
    bent = bent_configuration(arm)
    for row.friction, moved in ((FRICTION, arm), ("none", arm.without_friction())):
        row.joint_goal = attempt(partial(joint_goal, moved, bent))
        row.pose_goal = attempt(partial(pose_goal, moved, bent))
        if row.good:
            break
    if nodes:
        friction = row.friction == FRICTION
        row.nodes = attempt(partial(nodes_goals, source, robot, moved, bent, friction))
    return row


def too_weak(arm: Any) -> str:
    """Name the joint that cannot hold the arm at home within its limit; empty if none."""
    rest = np.zeros(len(arm.home))
    needed, limits = np.abs(arm.inverse_dynamics(arm.home, rest, rest)), arm.effort_limits
    worst = int(np.argmax(needed / limits))
    if needed[worst] <= limits[worst]:
        return ""
    return (
        f"no: the effort limit of {arm.joint_names[worst]} is {limits[worst]:.3g} N m, but holding "
        f"the arm at home requires {needed[worst]:.3g} N m"
    )


def load(source: Path, robot: PublicRobot) -> Any:
    """The arm that is moved."""
    return rd.load(
        source,
        tip_link=robot.tip or None,
        base_link=robot.base or None,
        hold_branches=robot.hold_branches,
        xacro_args=robot.arguments or None,
    )


def attempt(move: Any) -> str:
    """Return the result of a motion, or why there is none."""
    try:
        return str(move())
    except rd.RobodynError as error:
        return f"no: {' '.join(str(error).split())[:160]}"


def difference(arm: Any, source: Path, arguments: dict[str, str]) -> float:
    """Largest relative difference from Pinocchio, without friction and armature."""
    text = expand_xacro(source, arguments) if source.suffix == ".xacro" else read_text(source)
    whole = pinocchio.buildModelFromXML(text)
    keep = [whole.getJointId(name) for name in arm.joint_names]
    others = [i for i in range(1, whole.njoints) if i not in keep]
    model = pinocchio.buildReducedModel(whole, others, pinocchio.neutral(whole))
    model.gravity.linear = np.asarray(gravity_vector(arm))
    data = model.createData()
    random = np.random.default_rng(0)
    worst = 0.0
    for _ in range(STATES):
        q, qd, qdd = random.normal(size=(3, len(arm.joint_names)))
        theirs_q, v, a = pinocchio.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        places = []
        for name, *values in zip(arm.joint_names, q, qd, qdd, strict=True):
            joint = model.joints[model.getJointId(name)]
            at = joint.idx_q
            if joint.nq == 2:  # a continuous joint is a point on a circle
                theirs_q[at : at + 2] = np.cos(values[0]), np.sin(values[0])
            else:
                theirs_q[at] = values[0]
            v[joint.idx_v], a[joint.idx_v] = values[1:]
            places.append(joint.idx_v)
        theirs = pinocchio.rnea(model, data, theirs_q, v, a)[places]
        ours = arm.inverse_dynamics(q, qd, qdd, friction=False, armature=False)
        worst = max(worst, float(np.abs(ours - theirs).max() / np.abs(theirs).max()))
    return worst


def bent_configuration(arm: Any) -> Any:
    """A configuration with every joint off home, where many arms are singular."""
    home, limits = arm.home, arm.position_limits
    steps = 0.35 + 0.05 * np.arange(len(home))
    turns = np.array([unit == "rad" for unit in arm.drives.units])
    steps = np.where(turns, steps, 0.05)
    room = np.minimum(limits[:, 1] - home, 4.0) - np.minimum(home - limits[:, 0], 4.0)
    way = np.where(room >= 0.0, 1.0, -1.0) * steps
    return np.clip(home + way, limits[:, 0], limits[:, 1])


def joint_goal(arm: Any, goal: Any) -> str:
    """Move from home to a configuration; the largest error at the end."""
    plan = plan_straight(arm, arm.home, goal, duration=DURATION, profile="quintic")
    reached = follow(arm, plan, arm.home)
    error = float(np.abs(reached - goal).max())
    return f"{REACHED}{error:.1e} rad" if error < JOINT_ERROR else f"no: {error:.3g} rad off"


def pose_near(arm: Any, start: Any) -> Any:
    """A pose of the tip that the arm reaches from a configuration with small turns.

    Where these lead close to a singularity, which the planner refuses, they are smaller ones.
    """
    units = np.array([unit == "rad" for unit in arm.drives.units])
    turns = np.where(units, 0.12, 0.02) * np.where(np.arange(len(start)) % 2, -1.0, 1.0)
    limits = arm.position_limits
    fraction = 1.0
    while True:
        near = np.clip(start + fraction * turns, limits[:, 0], limits[:, 1])
        if fraction < 0.1 or float(arm.condition_number(near)) < SINGULAR:
            return arm.body_pose(near)
        fraction *= 0.5


def nodes_goals(source: Path, robot: PublicRobot, arm: Any, bent: Any, friction: bool) -> str:
    """Send the goals by topic, through the nodes."""
    from robots_nodes import through_the_nodes

    parameters = {
        "model": str(source),
        "xacro_args": " ".join(f"{name}:={value}" for name, value in robot.arguments.items()),
        "base_link": robot.base,
        "tip_link": robot.tip,
        "hold_branches": robot.hold_branches,
        "friction": friction,
    }
    try:
        joint, away, angle = through_the_nodes(parameters, arm, bent, pose_near(arm, bent))
    except (TimeoutError, RuntimeError) as error:
        return f"no: {error}"
    good = joint < JOINT_ERROR and away < POSITION_ERROR and angle < ANGLE_ERROR
    return f"{REACHED if good else 'no: '}{joint:.1e} rad; {away:.1e} m, {angle:.1e} rad"


def pose_goal(arm: Any, start: Any) -> str:
    """Move the tip along a straight line to a pose; how far from it the tip ends."""
    goal = pose_near(arm, start)
    plan = plan_tip_line(arm, start, goal, duration=DURATION, profile="quintic")
    tip = arm.body_pose(follow(arm, plan, start))
    away = float(np.linalg.norm(tip[:3] - goal[:3]))
    angle = 2.0 * float(np.arccos(np.clip(abs(tip[3:] @ goal[3:]), 0.0, 1.0)))
    if away < POSITION_ERROR and angle < ANGLE_ERROR:
        return f"{REACHED}{away:.1e} m, {angle:.1e} rad"
    return f"no: {1e3 * away:.3g} mm, {angle:.3g} rad off"


def follow(arm: Any, plan: Any, start: Any) -> Any:
    """The configuration in which a plant ends that follows a plan under computed torque."""
    plant = Plant(arm, start, dt=STEP)
    follower = TrajectoryFollower(arm, "computed_torque", 400.0, 40.0)
    follower.follow(plan, 0)
    for step in range(round((plan.duration + 0.5) / CONTROL)):
        now = round(step * CONTROL * 1e9)
        command = follower.command(now, plant.configuration, plant.velocity)
        assert command is not None
        plant.hold(command.required, round(CONTROL / STEP))
    return plant.configuration


def main() -> None:
    """Examine every robot and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with a checkout of each repository")
    parser.add_argument("--nodes", action="store_true", help="move them through the nodes, too")
    parser.add_argument("--resume", action="store_true", help="go on where a run was cut short")
    parser.add_argument("--only", default="", help="robots whose title has this, and no page")
    given = parser.parse_args()
    folder = given.folder.resolve()
    repositories = sorted({robot.repository.split("/")[1] for robot in ROBOTS})
    os.environ[PATH_VARIABLE] = os.pathsep.join(str(folder / name) for name in repositories)
    kept = folder / "robots.json"
    known = json.loads(kept.read_text()) if given.resume and kept.exists() else {}
    robots = [robot for robot in ROBOTS if given.only in robot.title]
    rows = []
    # options for loading a model apply to the whole process
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        for count, robot in enumerate(robots, 1):
            started = time.monotonic()
            if robot.title in known:
                row = Row(**known[robot.title] | {"robot": robot})
            else:
                row = pool.apply(examine, (folder, robot, given.nodes))
                known[robot.title] = asdict(row) | {"robot": robot.title}
            rows.append(row)
            if not given.only:
                kept.write_text(json.dumps(known, indent=1))
            took = time.monotonic() - started
            sys.stderr.write(
                f"{count}/{len(robots)} {robot.title} ({took:.0f} s): {format_progress(row)}\n"
            )
    if not given.only:
        (Path(__file__).parent / "robots.md").write_text(page(rows), encoding="utf-8")


def format_progress(row: Row) -> str:
    """A row in a line."""
    found = f"{row.difference:.1e}; {row.joint_goal}; {row.pose_goal}; friction {row.friction}"
    return row.problem or (f"{found}; nodes {row.nodes}" if row.nodes else found)


if __name__ == "__main__":
    main()
