# SPDX-License-Identifier: Apache-2.0

"""Changes of assembly mode that meet no singularity, of a robot known for them.

The planar 3-RPR robot of Innocenti and Parenti-Castelli (1992), "Singularity-free evolution from
one configuration to another in serial and fully-parallel manipulators", ASME Mechanisms Conference,
at a tenth of its size in meters: at leg lengths of 1.498, 1.538 and 1.2 m it has six assembly
modes, three on either side of the singular surface.
"""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import conditioning
from robodyn.planning.paths import Bounds, Budget, PlanningProblem, TreeSearch, space_of

FEET = np.array([[0.0, 0.0], [1.591, 0.0], [0.0, 1.0]])
# sides of the platform: from corner 1 to 2, from 2 to 3 and from 3 to 1
SIDES = 1.704, 1.654, 2.084
LENGTHS = 1.498, 1.538, 1.2
STEP, REACH, CONDITION = 0.02, 0.6, 1000.0


def corners():
    """Corners (3, 2) of the platform in its own frame."""
    a, b, c = SIDES
    x = (a * a + c * c - b * b) / (2.0 * a)
    return np.array([[0.0, 0.0], [a, 0.0], [x, np.sqrt(c * c - x * x)]])


def link(name):
    return (
        f'<link name="{name}"><inertial><mass value="0.1"/>'
        '<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def joint(name, kind, parent, child, xy, axis, limit=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xy[0]} {xy[1]} 0"/><axis xyz="{axis}"/>{limit}</joint>'
    )


def urdf():
    ends = '<limit effort="100" velocity="1" lower="0.3" upper="5"/>'
    parts = ['<robot name="three_rpr">', link("base_link"), link("platform")]
    for k, foot in enumerate(FEET):
        parts += [link(f"tube{k}"), link(f"rod{k}")]
        parts.append(joint(f"foot{k}", "continuous", "base_link", f"tube{k}", foot, "0 0 1"))
        parts.append(joint(f"leg{k}", "prismatic", f"tube{k}", f"rod{k}", (0, 0), "1 0 0", ends))
    parts.append(joint("wrist", "continuous", "rod0", "platform", (0, 0), "0 0 1"))
    for k in (1, 2):
        x, y = corners()[k]
        parts.append(
            f'<constraint name="tip{k}" type="revolute"><parent link="platform"/>'
            f'<parent_origin xyz="{x} {y} 0"/><parent_axis xyz="0 0 1"/>'
            f'<child link="rod{k}"/><child_axis xyz="0 0 1"/></constraint>'
        )
    return "\n".join([*parts, "</robot>"])


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """The robot, described so that it closes with its platform at (0.6, 1) m, turned by -0.3."""
    folder, turn = tmp_path_factory.mktemp("three_rpr"), -0.3
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    way = np.array([0.6, 1.0]) + corners() @ R.T - FEET
    home = {f"foot{k}": float(np.arctan2(y, x)) for k, (x, y) in enumerate(way)}
    home |= {f"leg{k}": float(np.hypot(x, y)) for k, (x, y) in enumerate(way)}
    home["wrist"] = turn - home["foot0"]
    (folder / "three_rpr.urdf").write_text(urdf())
    file = folder / "three_rpr.yaml"
    lines = ", ".join(f"{name}: {value:.9f}" for name, value in home.items())
    file.write_text(
        f"type: closed_loop\nurdf: three_rpr.urdf\ntip_link: platform\nhome: {{{lines}}}\n"
    )
    return rd.load(file)


@pytest.fixture(scope="module")
def modes(robot):
    return robot.assemblies(LENGTHS, searches=60)


def sides(robot, configurations):
    """(N,) the determinant of the legs' lines, which is zero where they meet in one point."""
    poses = robot.body_pose(configurations)
    turn = 2.0 * np.arctan2(poses[:, 5], poses[:, 6])[:, None]
    x, y = corners().T
    tips = [x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn)]
    way = np.stack([tip + poses[:, k, None] for k, tip in enumerate(tips)], axis=-1) - FEET
    unit = way / np.linalg.norm(way, axis=-1, keepdims=True)
    moment = FEET[:, 0] * unit[..., 1] - FEET[:, 1] * unit[..., 0]
    return np.linalg.det(np.concatenate([unit, moment[..., None]], axis=-1))


def test_the_mechanism_has_six_assemblies_three_on_either_side(robot, modes):
    assert len(modes) == 6
    np.testing.assert_allclose(robot.joint_positions(modes), np.tile(LENGTHS, (6, 1)), atol=1e-9)
    assert sorted(np.sign(sides(robot, modes))) == [-1, -1, -1, 1, 1, 1]
    assert np.ptp(np.sign(sides(robot, modes) * conditioning.side(robot, modes))) == 0


def test_no_path_joins_two_sides_and_that_is_certain(robot, modes):
    one, other = (modes[np.argmax(sign * sides(robot, modes))] for sign in (1, -1))
    with pytest.raises(rd.NoPath, match="two assembly modes of the same") as refused:
        rd.plan_path(robot, one, other)
    assert refused.value.certain


@pytest.mark.slow
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_assembly_is_changed_without_meeting_a_singularity(robot, modes, side):
    start, goal = modes[np.sign(sides(robot, modes)) == side][:2]
    bounds = Bounds(robot, CONDITION, 0.0, 1.0, True)
    space = space_of(robot, start, goal)
    question = PlanningProblem(space, bounds, start, goal, STEP)
    search = TreeSearch(question, question.minimum_margins(0.01), REACH)
    # what the search does depends on its random numbers alone, not on how fast it is
    path = search.path(np.random.default_rng(1), Budget(np.inf))
    assert path is not None
    np.testing.assert_allclose(path[[0, -1]], [start, goal])
    # a passive joint's angle may begin a new turn
    steps = np.remainder(np.diff(path, axis=0) + np.pi, 2.0 * np.pi) - np.pi
    assert np.abs(steps).max() < 0.1
    assert (np.sign(sides(robot, path)) == side).all()
    assert robot.condition_number(path).max() < CONDITION
    # it is no way round: the legs leave their lengths, and come back to them
    assert np.abs(robot.joint_positions(path) - LENGTHS).max() > 0.05
