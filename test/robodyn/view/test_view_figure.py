# SPDX-License-Identifier: Apache-2.0

"""Drawings: legs that reach the platform, tips by the kinematics, rejections."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from six_legs import six_legs
from urdf_figure import figure_from_urdf

import robodyn as rd
from robodyn.errors import LeftOutWarning
from robodyn.poses import matrix_from_pose
from robodyn.presentation import presentation
from robodyn.solvers.stewart.drawing import platform_urdf
from robodyn.view import arrow_lengths, drawn_joints, figure_of, reference_effort

ROOT = Path(__file__).resolve().parents[3]
PLATFORMS = ("stewart_dasgupta", "stewart_symmetric")
ARMS = ("puma560", "stanford_arm")


def sources(names):
    """Every way to a bundled model: its name, its YAML, its xacro."""
    for name in names:
        yield name
        yield str(ROOT / "robodyn" / "bundled" / f"{name}.yaml")
        yield str(ROOT / "urdf" / f"{name}.urdf.xacro")


@pytest.mark.parametrize("source", tuple(sources(PLATFORMS)))
def test_every_leg_ends_at_its_point_of_the_platform(load, rng, source):
    platform = load(source)
    figure = figure_of(source, platform)
    assert not figure.remarks
    for _ in range(5):
        change = rng.uniform(-0.1, 0.1, 6)
        pose = platform.advance(platform.home, change)
        frames = figure.link_frames(drawn_joints(platform, pose), pose)
        body = frames[figure.index(platform.frames[1])]
        np.testing.assert_allclose(body, matrix_from_pose(pose), atol=1e-12)
        for i, leg in enumerate(six_legs(platform).legs, start=1):
            tip = frames[figure.index(f"leg{i}_upper")][:3, 3]
            np.testing.assert_allclose(tip, body[:3, :3] @ leg.platform + body[:3, 3], atol=1e-9)


@pytest.mark.parametrize("source", tuple(sources(ARMS)))
def test_an_arms_tip_is_where_its_kinematics_have_it(load, rng, source):
    arm = load(source)
    figure = figure_of(source, arm)
    low, high = arm.position_limits.T
    for _ in range(5):
        q = rng.uniform(low, high)
        frames = figure.link_frames(drawn_joints(arm, q))
        tip = frames[figure.index(arm.frames[1])]
        np.testing.assert_allclose(tip, matrix_from_pose(arm.forward_kinematics(q)), atol=1e-9)


def test_a_tilted_base_tilts_all_of_it(load):
    upright = load("stewart_symmetric")
    text = platform_urdf(upright).replace(
        '<link name="base_link"',
        '<link name="world"/><joint name="mount" type="fixed"><parent link="world"/>'
        '<child link="base_link"/><origin xyz="0 0 1" rpy="0.3 0 0"/></joint>'
        '<link name="base_link"',
        1,
    )
    tilted = rd.load(text)
    figure = figure_of(text, tilted)
    pose = upright.home
    frames = figure.link_frames(drawn_joints(tilted, pose), pose)
    base = frames[figure.index("base_link")]
    np.testing.assert_allclose(base[:3, 3], [0.0, 0.0, 1.0])
    lengths = arrow_lengths(tilted, np.full(6, 100.0), reference_effort(tilted))
    arrows = presentation.effort_arrows(tilted, figure, frames, pose, lengths)
    tips = presentation.leg_ends(tilted, pose)[1] @ base[:3, :3].T + base[:3, 3]
    assert np.linalg.norm(arrows[:, 0] - tips, axis=1).max() < 0.1 * 1.2


def test_arrows_point_as_the_forces_act_and_grow_with_them(dasgupta):
    figure = figure_of("stewart_dasgupta", dasgupta)
    pose = dasgupta.home
    frames = figure.link_frames(drawn_joints(dasgupta, pose), pose)
    reference = reference_effort(dasgupta)
    feet, tips = presentation.leg_ends(dasgupta, pose)
    along = (tips - feet) / np.linalg.norm(tips - feet, axis=1, keepdims=True)
    force = 0.2 * reference * np.array([1.0, -1.0, 2.0, -2.0, 0.5, 1e9])
    lengths = arrow_lengths(dasgupta, force, reference)
    ways = np.diff(presentation.effort_arrows(dasgupta, figure, frames, pose, lengths), axis=1)[
        :, 0
    ]
    np.testing.assert_array_equal(np.sign((ways * along).sum(axis=1)), np.sign(force))
    length = np.linalg.norm(ways, axis=1)
    assert length[2] == pytest.approx(2.0 * length[0])
    assert length[0] == pytest.approx(length[1])
    assert length[5] < dasgupta.size


def test_a_urdf_without_visuals_is_drawn_in_sticks_and_said_so(dasgupta):
    text = re.sub(r"<visual>.*?</visual>", "", platform_urdf(dasgupta), flags=re.DOTALL)
    figure = figure_of(text, dasgupta)
    assert [line for line in figure.remarks if "the model has no visuals" in line]
    assert len(figure.shapes) >= 12


def test_meshes_are_left_out_and_said_so():
    text = (
        '<robot name="r"><link name="a"><visual><geometry><mesh filename="package://x/a.stl"/>'
        '</geometry></visual><visual><geometry><sphere radius="1"/></geometry></visual></link>'
        "</robot>"
    )
    figure = figure_from_urdf(text)
    (remark,) = figure.remarks
    assert remark.startswith("URDF text: meshes not drawn: 1; the first: the package 'x' was")
    assert len(figure.shapes) == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('radius="1"', 'radius="-1"', "sphere of size [-1.0]"),
        ('radius="1"', 'radius="wide"', "radius is 'wide', expected a finite number"),
        ('radius="1"', 'radius="nan"', "radius is 'nan', expected a finite number"),
        ('xyz="0 0 1"', 'xyz="0 0"', "xyz is '0 0', expected 3 finite numbers"),
        ("<geometry>", "<form>", "no <geometry>"),
    ],
)
def test_a_visual_that_cannot_be_drawn_is_left_out_by_name(old, new, message):
    text = (
        '<robot name="r"><link name="a"><visual><origin xyz="0 0 1"/><geometry>'
        '<sphere radius="1"/></geometry></visual></link></robot>'
    ).replace(old, new)
    if new == "<form>":
        text = text.replace("</geometry>", "</form>")
    with pytest.warns(LeftOutWarning, match=re.escape(message)) as caught:
        figure = figure_from_urdf(text, "robot.urdf")
    (warning,) = caught
    assert str(warning.message).startswith("robot.urdf: visual of link 'a'")
    assert "\n" not in str(warning.message)
    assert figure.shapes == ()
