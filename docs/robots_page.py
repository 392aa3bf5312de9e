# SPDX-License-Identifier: Apache-2.0

"""The page that docs/make_robots.py writes."""

from __future__ import annotations

from typing import Any

_STIFFNESS = """\

## Stiffness of joints

Few manufacturers publish the stiffness of their joints. The known values are:

| robot | joints | stiffness [N m/rad] | source |
|---|---|---|---|
| Baxter, left arm | `left_s0`, `left_s1`, `left_e0`, `left_e1` | 843 | published models |
| | `left_w0`, `left_w1`, `left_w2` | 250 | |
| Cassie | shins | 1500 | [simulator](https://github.com/osudrl/cassie-mujoco-sim) |
| | heels | 1250 | |

Cassie's file describes its springs, so they are part of the loaded model. A URDF cannot describe
the stiffness of drives; `with_drive_stiffness([843.0] * 4 + [250.0] * 3)` adds the stiffness of
Baxter's arm. With the motors locked and the arm stretched out at home, the first two modes are at
2.2 Hz, and the rated payload of 2.2 kg lowers the gripper by 60 mm. [Stiffness and
vibration](stiffness.md) describes these functions.
"""

_HEAD = """\
# Public robots

This page lists public robot descriptions that robodyn loads without changes to their published
files, and how to load each one. Every arm is compared with Pinocchio and moved to two goals. To
load one, clone its repository and use the file and the arguments of the [last
table](#sources-of-the-files):

```bash
git clone https://github.com/Gepetto/example-robot-data
robodyn check example-robot-data/robots/ur_description/urdf/ur5_robot.urdf
```

`python docs/make_robots.py FOLDER` generates the tables; the folder contains checkouts of the
repositories. None of their files is part of this package. [Public files of other
formats](formats.md) covers MJCF and SDF.

The columns of the table:

- **Pinocchio**: largest difference of the inverse dynamics at {states} random states, relative to
  the largest torque, without friction and the reflected inertia of motors (armature).
- **Joint goal**: all joints move from home to a goal within {duration:g} s, with computed torque
  and the effort limits of the description. The number is the largest joint error half a second
  later.
- **Pose goal**: the tip then moves along a straight line to another pose. The numbers are its
  position and orientation errors half a second later.
- **Friction**: `as described` if plant and controller include the damping and Coulomb friction of
  the description. If the robot misses the goals with this friction, both neglect it, and the entry
  is `none`. The simulation has steps of {step:g} s.
- **Nodes**: the same goals, sent as messages (`goal_joints`, `goal_pose`) to trajectory_planner,
  inverse_dynamics and forward_simulator in lockstep. The numbers are the errors after the joint
  goal and after the pose goal, as in the two columns before.

{good} of {all} robots load, agree with Pinocchio within {tolerance:g} and reach both goals; {nodes}
also reach them through the nodes.

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
