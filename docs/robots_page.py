# SPDX-License-Identifier: Apache-2.0

"""The page that docs/make_robots.py writes."""

from __future__ import annotations

from typing import Any

_STIFFNESS = """\

## Stiffness of joints

Few manufacturers publish the joint stiffness of their robots. The known values are:

| robot | joints | stiffness [N m/rad] | source |
|---|---|---|---|
| Baxter, left arm | `left_s0`, `left_s1`, `left_e0`, `left_e1` | 843 | published models |
| | `left_w0`, `left_w1`, `left_w2` | 250 | |
| Cassie | shins | 1500 | [simulator](https://github.com/osudrl/cassie-mujoco-sim) |
| | heels | 1250 | |

Cassie's file describes the springs of the robot, so the loaded model includes them. A URDF cannot
describe the stiffness of drives. For Baxter's arm,
`with_drive_stiffness([843.0] * 4 + [250.0] * 3)` adds the stiffness to the model. With locked
motors and the arm stretched out at home, the first two vibration modes are at 2.2 Hz, and the rated
payload of 2.2 kg lowers the gripper by 60 mm. [Stiffness and vibration](stiffness.md) describes how
to compute modes and deflections. """

_HEAD = """\
# Public robots

This page lists public robot descriptions and shows how to load each one. robodyn loads the
published files without changes. The inverse dynamics of every arm are compared with Pinocchio, and
a simulation moves the arm to two goals. To load a robot, clone its repository and use the file and
the arguments of the [last table](#sources-of-the-files):

```bash
git clone https://github.com/Gepetto/example-robot-data
robodyn check example-robot-data/robots/ur_description/urdf/ur5_robot.urdf
```

`python docs/make_robots.py FOLDER` generates the tables from repositories that are checked out in
`FOLDER`. robodyn does not include any of the robot descriptions.
[Public files of other formats](formats.md) covers MJCF and SDF.

The columns of the table:

- **Pinocchio**: largest difference from the inverse dynamics of Pinocchio at {states} random
  states, relative to the largest torque. Friction and the reflected inertia of motors (armature)
  are excluded.
- **Joint goal**: result of a motion of all joints from home to a goal within {duration:g} s, under
  computed torque with the effort limits of the description. The number is the largest joint error
  half a second after the end of the motion. The simulation uses steps of {step:g} s.
- **Pose goal**: result of a motion of the tip along a straight line to another pose, after the
  motion to the joint goal. The numbers are the position and orientation errors of the tip half a
  second after the end of the motion.
- **Friction**: `as described` if plant and controller include the damping and Coulomb friction of
  the description. If the robot does not reach the goals with this friction, plant and controller
  neglect the friction, and the entry is `none`.
- **Nodes**: result of the same motions with trajectory_planner, inverse_dynamics and
  forward_simulator in lockstep. The nodes receive the goals as messages (`goal_joints`,
  `goal_pose`). The numbers are the errors after the joint goal and after the pose goal, as in the
  previous two columns.

Of {all} robots, {good} load, agree with Pinocchio within {tolerance:g} and reach both goals. With
the nodes, {nodes} robots reach both goals.

| robot | joints | Pinocchio | friction | joint goal | pose goal | nodes |
|---|---|---|---|---|---|---|
"""


def page(rows: list[Any]) -> str:
    """The page of the rows that docs/make_robots.py found."""
    from make_robots import DURATION, REACHED, STATES, STEP, TOLERANCE

    text = _HEAD.format(
        states=STATES,
        duration=DURATION,
        tolerance=TOLERANCE,
        step=STEP,
        good=sum(row.good for row in rows),
        all=len(rows),
        nodes=sum(row.nodes.startswith(REACHED) for row in rows),
    )
    text += "".join(_row(row) for row in rows) + _STIFFNESS
    text += "\n## Sources of the files\n\n| robot | repository | file | arguments |\n"
    text += "|---|---|---|---|\n" + "".join(_source(row.robot) for row in rows)
    return text


def _row(row: Any) -> str:
    cells = [
        f"{row.difference:.1e}",
        row.friction or "–",
        row.joint_goal,
        row.pose_goal,
        row.nodes or "–",
    ]
    if row.problem:
        cells = [f"refused: {row.problem}", "–", "–", "–", "–"]
    return f"| {row.robot.title} | {row.joints or '–'} | {' | '.join(cells)} |\n"


def _source(robot: Any) -> str:
    how = [f"`{name}:={value}`" for name, value in robot.arguments.items()]
    how += [f"`base_link={robot.base!r}`"] if robot.base else []
    how += [f"`tip_link={robot.tip!r}`"] if robot.tip else []
    how += ["`hold_branches=True`"] if robot.hold_branches else []
    link = f"[{robot.repository}](https://github.com/{robot.repository})"
    return f"| {robot.title} | {link} | `{robot.file}` | {', '.join(how) or 'no arguments'} |\n"
