# SPDX-License-Identifier: Apache-2.0

"""Simulation of the live view: the plant's own numbers, and controls that act."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn.control import TrajectoryFollower
from robodyn.errors import InvalidInput, PathError
from robodyn.simulation import Plant
from robodyn.trajectories import demonstration
from robodyn.view import BY_HAND, LiveSimulation, paths_of

LOOPS = Path(__file__).parents[2] / "reference" / "closed_loops"


def test_live_simulation_equals_plant_and_follower_bit_for_bit(dasgupta):
    path = rd.paper_path("I")
    live = LiveSimulation(dasgupta, {"I": path})
    plant = Plant(dasgupta, path.sample(0.0).configuration)
    follower = TrajectoryFollower(dasgupta, handover=0.0)
    follower.follow(path, 0)
    for period in range(100):
        command = follower.command(period * 5_000_000, plant.configuration, plant.velocity)
        plant.hold(command.effort, 5)
        live.step()
    now = live.snapshot()
    assert now.time == pytest.approx(0.5)
    np.testing.assert_array_equal(now.configuration, plant.configuration)
    np.testing.assert_array_equal(now.effort, plant.effort)


def test_at_rest_it_shows_the_forces_that_hold_it(dasgupta):
    live = LiveSimulation(dasgupta, {"I": rd.paper_path("I")})
    motion = rd.paper_path("I").sample(0.0)
    np.testing.assert_allclose(
        live.snapshot().effort, dasgupta.inverse_dynamics(*motion), rtol=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize("side", ["motor", "joint"])
def test_elastic_joints_sag_unless_the_controller_measures_them(puma, side):
    m = puma.without_friction()
    stiffness = np.array([a.reflected_inertia for a in m.actuators]) * (2.0 * np.pi * 15.0) ** 2
    m = m.with_drive_stiffness(stiffness, 2e-3 * stiffness)
    live = LiveSimulation(m, {}, feedback=side)
    for _ in range(800):
        live.step()
    sag = m.difference(m.home, live.snapshot().configuration)
    expected = -m.gravity(m.home) / stiffness
    assert np.abs(expected).max() > 1e-3
    pose = expected if side == "motor" else np.zeros(6)
    np.testing.assert_allclose(sag, pose, atol=0.15 * np.abs(expected).max())


def test_an_unknown_payload_pulls_it_down_by_what_the_gain_allows(dasgupta):
    live = LiveSimulation(dasgupta, {})
    live.steer(dasgupta.home)
    live.set_payload(20.0, known=False)
    for _ in range(600):
        live.step()
    displacement = dasgupta.difference(dasgupta.home, live.snapshot().configuration)
    load = np.array([0.0, 0.0, -20.0 * 9.81, 0.0, 0.0, 0.0])
    # at rest kp M error = load, about the reference point, where the payload is
    expected = np.linalg.solve(dasgupta.mass_matrix(live.snapshot().configuration), load) / 100.0
    np.testing.assert_allclose(displacement, expected, atol=0.05 * np.abs(expected).max())
    live.set_payload(20.0, known=True)
    for _ in range(600):
        live.step()
    np.testing.assert_allclose(live.snapshot().configuration, dasgupta.home, atol=1e-5)


def test_a_failure_stops_time_and_reset_begins_anew(dasgupta):
    live = LiveSimulation(dasgupta, {"III": rd.paper_path("III")})
    live.push([1e12, 0.0, 0.0, 0.0, 0.0, 1e12], 10.0)
    for _ in range(2000):
        live.step()
        if not live.snapshot().playing:
            break
    assert live.snapshot().message.startswith("simulation stopped")
    live.set_playing(True)
    assert not live.snapshot().playing
    live.reset()
    assert live.snapshot().playing
    assert live.snapshot().message == ""
    assert live.snapshot().time == 0.0


def test_live_simulation_with_repeat_begins_again(dasgupta):
    live = LiveSimulation(dasgupta, {"II": rd.paper_path("II")}, repeat=True)
    times = []
    for _ in range(400):
        live.step()
        times.append(live.snapshot().time)
    assert max(times) == pytest.approx(1.6, abs=0.006)
    assert times[-1] < max(times)


def test_steering_is_limited_in_speed(dasgupta):
    live = LiveSimulation(dasgupta, {}, v_max=0.2)
    goal = dasgupta.home + np.array([0.1, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0])
    live.steer(goal)
    assert live.path == BY_HAND
    fastest = 0.0
    for _ in range(500):
        live.step()
        fastest = max(fastest, float(np.abs(live._plant.velocity[:3]).max()))
    assert fastest < 0.25
    np.testing.assert_allclose(live.snapshot().configuration, goal, atol=1e-4)


@pytest.mark.parametrize(
    "name", ["stewart_dasgupta", "stewart_symmetric", "puma560", "stanford_arm"]
)
def test_the_demo_of_every_bundled_model_is_within_its_limits(load, name):
    mechanism = load(name)
    path = demonstration(mechanism)
    places = path.sample(np.linspace(0.0, path.duration, 300)).configuration
    positions = mechanism.joint_positions(places)
    limits = mechanism.position_limits
    assert ((positions >= limits[:, 0] - 1e-9) & (positions <= limits[:, 1] + 1e-9)).all()
    assert path.duration > 2.0
    live = LiveSimulation(mechanism, {"demo": path})
    for _ in range(100):
        live.step()
    error = mechanism.difference(
        live.snapshot().configuration, path.sample(live.snapshot().time).configuration
    )
    assert np.abs(error).max() < 0.01


def test_paths_are_those_that_fit(dasgupta, load):
    assert next(iter(paths_of(dasgupta))) == "I"
    assert next(iter(paths_of(dasgupta, "II"))) == "II"
    assert next(iter(paths_of(load("puma560")))) == "puma"
    assert list(paths_of(load("stewart_symmetric"))) == ["demo"]
    with pytest.raises(PathError, match="no path 'IV'"):
        paths_of(dasgupta, "IV")
    with pytest.raises(PathError, match="poses of a platform"):
        paths_of(load("puma560"), "I")


@pytest.mark.parametrize(
    "target",
    [
        lambda live: live.choose("IV"),
        lambda live: live.push([1.0, 2.0]),
        lambda live: live.push([np.nan] * 6),
        lambda live: live.steer(np.zeros(6)),
        lambda live: live.set_payload(-1.0),
        lambda live: setattr(live, "speed", 0.0),
    ],
)
def test_wishes_that_cannot_be_are_refused(dasgupta, target):
    live = LiveSimulation(dasgupta, {"I": rd.paper_path("I")})
    with pytest.raises(InvalidInput):
        target(live)
    live.step()
    assert live.snapshot().time > 0.0


@pytest.mark.slow
def test_an_under_actuated_mechanism_is_shown_and_says_why_it_does_not_move():
    """Three of six legs driven: it stands at home, and may be pushed and reset."""
    glide = rd.load(LOOPS / "hexaglide.yaml")
    loop = rd.ClosedLoop(replace(glide.model, driven=glide.model.driven[:3]))
    live = LiveSimulation(loop, paths_of(loop))
    for _ in range(2):
        shown = live.snapshot()
        assert "3 driven joints do not determine the mechanism" in shown.message
        np.testing.assert_array_equal(shown.configuration, loop.home)
        live.step()
        live.reset()
    live.choose(BY_HAND)
    live.step()
    assert not live.snapshot().playing
