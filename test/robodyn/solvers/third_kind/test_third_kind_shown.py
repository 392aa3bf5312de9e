# SPDX-License-Identifier: Apache-2.0

"""A kind of mechanism from a file of its own: swept, drawn, shown and reported."""

from __future__ import annotations

import numpy as np
import pytest
from cart_pendulum import CartPendulum, Model

import robodyn as rd
from robodyn.presentation import presentation
from robodyn.trajectories import demonstration


@pytest.fixture
def crane(registered, description):
    return rd.load(description)


@pytest.mark.slow
def test_the_third_kind_is_swept_over_its_own_joints(crane):
    pytest.importorskip("xarray")
    pytest.importorskip("dask")
    data = rd.sweep(
        crane,
        {"slider": 0.0, "hinge": "-1.0:1.0:5"},
        ["effort", "pose", "condition_number", "joint_positions"],
    )
    angles = np.linspace(-1.0, 1.0, 5)
    # at rest the hinge holds the bob's weight, the slider nothing
    effort = np.squeeze(data.effort.values)
    np.testing.assert_allclose(effort[:, 1], 0.5 * 9.81 * 0.4 * np.sin(angles), atol=1e-12)
    np.testing.assert_allclose(effort[:, 0], 0.0, atol=1e-12)
    place = np.squeeze(data.pose.values)
    np.testing.assert_allclose(place[:, 0], 0.4 * np.sin(angles), atol=1e-12)
    np.testing.assert_allclose(place[:, 2], -0.4 * np.cos(angles), atol=1e-12)


def test_the_third_kind_is_drawn_from_its_urdf_and_from_its_model_alike(crane, description):
    from robodyn.view import figure_of

    figure = figure_of(description, crane)
    own = presentation.figure(crane)
    joints = dict(zip(crane.joint_names, (0.2, 0.7), strict=True))
    for drawn in (figure, own):
        frames = drawn.link_frames(joints)
        tip = frames[drawn.index("bob")][:3, 3]
        np.testing.assert_allclose(tip, crane.body_pose([0.2, 0.7])[:3], atol=1e-12)
    arrows = presentation.effort_arrows(
        crane, own, own.link_frames(joints), np.array([0.2, 0.7]), np.array([0.3, -0.2])
    )
    # a force along the slide, a torque about the hinge
    assert arrows.shape == (2, 2, 3)
    np.testing.assert_allclose(arrows[0, 1] - arrows[0, 0], [0.3, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(arrows[1, 1] - arrows[1, 0], [0.0, 0.2, 0.0], atol=1e-12)


def test_the_third_kind_is_shown_live(crane):
    from robodyn.view import LiveSimulation, paths_of

    live = LiveSimulation(crane, paths_of(crane))
    for _ in range(100):
        live.step()
    shown = live.snapshot()
    assert shown.time == pytest.approx(0.5)
    assert set(shown.joints) == {"slider", "hinge"}
    planned = demonstration(crane).sample(shown.time).configuration
    np.testing.assert_allclose(shown.configuration, planned, atol=0.01)
    np.testing.assert_allclose(shown.body_pose, crane.body_pose(shown.configuration))


@pytest.mark.slow
def test_the_third_kind_is_reported(registered, tmp_path):
    pytest.importorskip("bokeh")
    pytest.importorskip("matplotlib")
    crane = CartPendulum(Model(2.0, 0.5, 0.4, damping=3.0))
    study = rd.analyze(crane, rd.plan_joints([0.0, -0.5], [0.4, 0.8], 1.0))
    html = study.to_html(tmp_path / "page.html", name="swing")
    assert (tmp_path / "page.html").read_text() == html
    for reported in ("cart and pendulum", "path swing", "slider", "hinge", "gravity"):
        assert reported in html
    assert {"forces", "condition_number", "joints", "path"} <= set(study.plot())
