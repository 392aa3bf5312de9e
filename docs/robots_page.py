# SPDX-License-Identifier: Apache-2.0

"""The page that docs/make_robots.py writes."""

from __future__ import annotations

from typing import Any

_HEAD = """\
# Public robots

Descriptions that others publish, loaded as they are, compared with Pinocchio and moved. Made by
`python docs/make_robots.py FOLDER`, where the folder holds checkouts of the repositories; none of
their files is part of this package. [Other formats](formats.md) have a page of their own.

- **Pinocchio**: the largest difference of inverse dynamics at {states} random states, relative to
  the largest torque, without friction and armature.
- **Joint goal**: from home, with every joint turned, in {duration:g} s under computed torque with
  the description's own limits of effort; the largest joint error half a second later.
- **Pose goal**: from there along a straight line of the tip to another pose; how far from it the
  tip is half a second later.
- **Friction**: the damping and the Coulomb friction that the maker describes, in the plant and in
  the control; `none` where the goals are missed with it. Steps of {step:g} s.
- **Nodes**: both goals by topic (`goal_joints`, `goal_pose`) through trajectory_planner,
  inverse_dynamics and forward_simulator in lockstep, the errors likewise.

{good} of {all} robots load, agree to {tolerance:g} and reach both goals; {nodes} reach them through
the nodes, too.

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
    text += "".join(_row(row) for row in rows)
    text += "\n## Where they come from\n\n| robot | repository | file | how it is loaded |\n"
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
    return f"| {robot.title} | {link} | `{robot.file}` | {', '.join(how) or 'as it is'} |\n"
