# SPDX-License-Identifier: Apache-2.0

"""A mechanism that does not obey: its motion is abandoned, and it is held where it is."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.control import DEFAULT_TOLERANCE, TrajectoryFollower, path_tolerances
from robodyn.simulation import Plant

PERIOD = 10_000_000  # [ns]
STEPS = 10  # of 1 ms


class Rig:
    """A mechanism on its demonstration, whose drives may stop to obey."""

    def __init__(self, mechanism, tolerance=DEFAULT_TOLERANCE, mode="computed_torque") -> None:
        self.mechanism = mechanism
        self.path = rd.load_path("demo", mechanism)
        limits = path_tolerances(mechanism, tolerance)
        self.follower = TrajectoryFollower(mechanism, mode, path_tolerance=limits)
        self.follower.follow(self.path, 0)
        self.plant = Plant(mechanism, *self.path.sample(0.0)[:2])
        self.time, self.efforts, self.problems = 0, [], []

    @property
    def joints(self):
        return self.mechanism.joint_positions(self.plant.configuration)

    @property
    def rates(self):
        return self.mechanism.joint_velocities(self.plant.configuration, self.plant.velocity)

    def run(self, seconds: float, obeys: str = "yes"):
        """Positions and absolute rates of the joints after each period."""
        rows = []
        for _ in range(round(seconds * 1e9 / PERIOD)):
            plant = self.plant
            command = self.follower.command(self.time, plant.configuration, plant.velocity)
            self.problems += [command.problem] if command.problem else []
            self.efforts.append(command.effort)
            if obeys == "brakes":
                plant.stop()
            else:
                given = {"yes": command.effort, "no power": 0.0 * command.effort}
                plant.hold(given.get(obeys, plant.effort), STEPS)
            self.time += PERIOD
            rows.append((self.joints, np.abs(self.rates)))
        return tuple(map(np.array, zip(*rows, strict=True)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "how", "tolerance"),
    [
        ("puma560", "no power", 0.1),
        ("puma560", "last efforts", 0.1),
        ("delta", "brakes", 0.1),
        ("stewart_symmetric", "last efforts", 0.02),
        ("stewart_symmetric", "brakes", 0.02),
    ],
)
def test_whoever_reconnects_it_gets_no_jump(model, how, tolerance):
    rig = Rig(rd.load(model))
    rig.run(1.0)
    assert rig.problems == []
    rig.run(3.0, how)
    rig.efforts.clear()
    here, rates = rig.joints, np.abs(rig.rates)
    joint = rig.mechanism.joint_names[0][:3]
    assert "motion abandoned" in rig.follower.abandoned
    assert f" {joint}" in rig.follower.abandoned
    assert f"its path tolerance is {tolerance:g}" in rig.follower.abandoned
    after, after_rates = rig.run(2.0)
    # no further than the tolerance, hardly faster than it was, and at rest at last
    assert (np.abs(after - here) <= tolerance).all()
    assert (after_rates <= rates + 2.0 * tolerance).all()
    assert after_rates[-1].max() < 0.1 * tolerance
    # and with little more than the efforts that hold it
    hold = np.abs(rig.follower.hold_effort(rig.plant.configuration)).max()
    assert np.abs(rig.efforts).max() < 1.5 * hold + 0.1 * rig.mechanism.effort_limits.max()
    # the next request is followed
    rig.follower.follow(rig.path)
    rig.run(0.02)
    assert rig.follower.abandoned == ""
    rig.run(1.5)
    assert rig.follower.abandoned == ""


@pytest.mark.slow
def test_a_wrong_model_is_held_all_the_same():
    # half of the weight of the upper arm is not known to the controller
    arm = rd.load("puma560")
    rig = Rig(arm)
    rig.plant.mechanism = arm.with_payload(2.0)
    rig.run(0.5)
    assert rig.follower.abandoned == ""
    rig.run(2.0, "brakes")
    assert rig.follower.abandoned
    here = rig.joints
    after, rates = rig.run(4.0)
    assert np.abs(after - here).max() < 0.1
    assert rates[-50:].max() < 1e-3


def test_nothing_is_abandoned_where_any_error_is_allowed():
    rig = Rig(rd.load("puma560"), 0.0)
    rig.run(1.0)
    rig.run(1.0, "brakes")
    assert rig.follower.abandoned == ""
    rig.run(0.5)
    assert np.abs(rig.rates).max() > 0.5  # back to where the path is by now


def test_tolerances_go_by_what_a_joint_does(dasgupta, puma):
    np.testing.assert_array_equal(path_tolerances(puma, DEFAULT_TOLERANCE), np.full(6, 0.1))
    np.testing.assert_array_equal(path_tolerances(dasgupta, DEFAULT_TOLERANCE), np.full(6, 0.02))
    np.testing.assert_array_equal(path_tolerances(dasgupta, 0.5), np.full(6, 0.5))
    assert path_tolerances(puma, 0.0) is None
