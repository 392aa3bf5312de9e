# SPDX-License-Identifier: Apache-2.0

"""Random lives of machines: for any input, every command is within limits.

Each life has settings, limits and a period of its own. Drives obey, stall, report anything or
nothing; clocks jump; targets, poses and base motions are any floats; requests come at random.
"""

from contextlib import suppress

import numpy as np
import pytest

import robodyn as rd
from robodyn.base_motion import BaseMotion
from robodyn.errors import InvalidInput, RobodynError
from robodyn.motion_base.base import BasePoseEstimator
from robodyn.motion_base.machine import (
    HOMINGS,
    REQUESTS,
    STATES,
    DriveLimits,
    Machine,
    PoseStream,
    RequestRefused,
    StabilizedSource,
    TrajectorySource,
    goal,
)
from robodyn.trajectories import Motion, SampledTrajectory

LIVES, TICKS = 10, 150  # of each mechanism
# Ticks that are waited for a machine to come to rest, at most.
LONGEST = 200
STRANGE = [np.nan, np.inf, -np.inf, 1e300, -1e300, 1e155, 1e30, 1e7, -1e6, 1e-300, 0.0, -0.0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
@pytest.mark.parametrize(
    "name", ["stewart_symmetric", "delta", "puma560", "hexapod_rotary", "fivebar"]
)
def test_lives_of_a_machine_break_no_limit(name, rng, storm):
    mechanism, states = rd.load(name), set()
    for _ in storm(LIVES):
        states |= Life(mechanism, rng).run()
    assert {"off", "homing", "parking", "engaging", "fault"} <= states <= set(STATES)


def any_floats(rng, shape, scale=1.0):
    """Plausible ones, ones of all magnitudes, and now and then one that is no number."""
    values = rng.normal(0.0, 1.0, shape) * scale
    if rng.random() < 0.3:
        values *= 10.0 ** rng.uniform(-12, 12, shape)
    if rng.random() < 0.3:
        values = np.where(rng.random(shape) < 0.2, rng.choice(STRANGE), values)
    return values


class RandomTarget:
    """A target motion that drifts with its rates, which may be arbitrary."""

    def __init__(self, mechanism, rng, begun):
        nv = mechanism.coordinates.velocity_size
        try:
            here = mechanism.advance(mechanism.home, any_floats(rng, nv, 0.1))
        except RobodynError:
            here = any_floats(rng, len(mechanism.home))
        self.rows, self.begun = [here, any_floats(rng, nv), any_floats(rng, nv, 10.0)], begun
        self.mechanism, self.drifts = mechanism, rng.random() < 0.5

    def at(self, time):
        here, rate, change = self.rows
        if self.drifts:
            t = 1e-9 * (time - self.begun)
            here = self.mechanism.advance(here, t * rate + 0.5 * t**2 * change)
            rate = rate + t * change
        return Motion(here, rate, change)


class Life:
    """One machine with its drives, its clock and all its input."""

    def __init__(self, mechanism, rng):
        self.mechanism, self.rng = mechanism, rng
        own, n = DriveLimits.of(mechanism), len(mechanism.joint_names)
        # gentle to violent: the drives reach their rates in 2 s to one tick
        self.limits = DriveLimits(
            own.positions,
            own.rates * rng.uniform(0.3, 3.0, n),
            own.accelerations * 10.0 ** rng.uniform(-1.0, 1.0, n),
            own.jerks * 10.0 ** rng.uniform(-1.5, 1.5, n),
        )
        self.dt = float(rng.choice([0.001, 0.004, 0.01, 0.02]))
        self.tick = round(self.dt * 1e9)
        lower, upper = own.positions.T
        home = mechanism.joint_positions(mechanism.home)
        near = home + 0.2 * (rng.uniform(lower, upper) - home)
        self.homing = str(rng.choice(HOMINGS, p=[0.5, 0.3, 0.2]))
        settings = {
            "homing": self.homing,
            "park_positions": near if rng.random() < 0.5 else None,
            "slow": rng.choice([0.1, 0.5, 1.0]),
            "ease": rng.choice([0.0, 0.1, 1.0]),
            "enable_required": rng.random() < 0.2,
            "enable_timeout": rng.choice([0.0, 0.1]),
            "feedback_timeout": rng.choice([0.0, 0.1, 0.5]),
            "following_error": rng.choice([np.inf, 0.3, 0.01]),
            "following_time": rng.choice([0.0, 0.05]),
            "drive_delay": rng.choice([0.0, self.dt, 0.05]),
            "back_drives": rng.random() < 0.3,
        }
        try:
            self.machine = Machine(mechanism, self.dt, self.limits, **settings)
        except InvalidInput:  # it could not park there
            settings["park_positions"] = None
            self.machine = Machine(mechanism, self.dt, self.limits, **settings)
        self.now = int(rng.choice([0, 10**12, 1_700_000_000 * 10**9]))
        # the zeros of the drives are wrong if stops determine them
        self.zero = rng.normal(0.0, 0.2, n) if self.homing == "stall" else np.zeros(n)
        self.at = (
            near if rng.random() < 0.9 else rng.uniform(lower - 0.1, upper + 0.1)
        ) - self.zero
        self.stops = np.array([lower, upper]) - self.zero
        self.has_stops = rng.random() < 0.8
        self.stream = PoseStream(mechanism, 0.1)
        self.imu = BasePoseEstimator(longest_period=0.1)
        self.held = None
        with suppress(InvalidInput):  # not every body moves in six ways
            self.held = StabilizedSource(self.machine.commander, self.imu)
        self.sent, self.begun = [], self.at
        self.states = {"off"}

    def run(self):
        rng, machine = self.rng, self.machine
        left = TICKS
        while left > 0:
            self.behavior = rng.integers(0, 9)
            self.say_something()
            for _ in range(min(left, int(rng.integers(1, 40)))):
                left -= 1
                self.live()
        machine.fault("the end")
        self.behavior = 0
        # at rest in the end: from the largest rate at the least acceleration and jerk
        limits = self.limits
        longest = limits.rates / limits.accelerations + 2.0 * limits.accelerations / limits.jerks
        longest += 2.0 * np.sqrt(limits.rates / limits.jerks)
        ticks = int(longest.max() / self.dt) + 5
        if machine.state != "off" and ticks <= LONGEST:
            for _ in range(ticks):
                self.live()
            np.testing.assert_array_equal(self.sent[-1], self.sent[-2])
        self.judge()
        return self.states

    def live(self):
        """One tick."""
        self.now += self.tick
        machine, rng = self.machine, self.rng
        if self.behavior != 1:
            machine.enable(self.now)
        self.measure()
        if self.behavior in (3, 4):
            self.say_pose()
        was_off = machine.state == "off"
        point = machine.step(self.now)
        self.states.add(machine.state)
        if point is None:
            self.judge()
            return
        if was_off or not self.sent:
            self.begun = point.positions
        for row in point[:4]:
            assert row.shape == self.at.shape
            assert np.isfinite(row).all()
        most = self.mechanism.drives.effort_ends * (1.0 + 1e-6) + [[-1e-9], [1e-9]]
        assert ((point.efforts >= most[0]) & (point.efforts <= most[1])).all()
        assert (np.abs(point.velocities) <= self.limits.rates * (1.0 + 1e-6)).all()
        self.sent.append(point.positions)
        self.judge_position(point.positions)
        if self.behavior != 2:
            self.at = point.positions
            if self.has_stops:
                self.at = np.clip(self.at, *self.stops)
        elif rng.random() < 0.1:
            self.at = self.at + any_floats(rng, self.at.shape, 0.01)

    def measure(self):
        if self.behavior == 5:
            return
        reported = self.at if self.behavior != 6 else self.at + any_floats(self.rng, self.at.shape)
        with suppress(InvalidInput):
            self.machine.measure(self.now - int(self.rng.integers(0, 3)) * self.tick, reported)

    def say_something(self):
        """Send a request or a target, or change the clock or the motion of the base."""
        rng, machine, mechanism = self.rng, self.machine, self.mechanism
        if rng.random() < 0.7 or machine.state in ("off", "parked", "frozen"):
            likely = {"off": "power_on", "parked": "engage", "frozen": "engage", "fault": "reset"}
            request = rng.choice(REQUESTS, p=(0.1, 0.4, 0.2, 0.1, 0.1, 0.1))
            with suppress(RequestRefused):
                machine.request(likely.get(machine.state, request))
            self.states.add(machine.state)
        kind = rng.integers(0, 12)
        positions = mechanism.joint_positions(mechanism.home)
        if kind == 0:
            self.motion_source(
                lambda: goal(mechanism, any_floats(rng, positions.shape), mechanism.home)
            )
        elif kind in (1, 2):
            near = positions + rng.uniform(-0.5, 0.5, positions.shape)
            self.motion_source(lambda: goal(mechanism, near, mechanism.home))
        elif kind in (3, 4):
            self.motion_source(lambda: RandomTarget(mechanism, rng, self.now))
        elif kind == 5:
            machine.motion_source = self.stream
        elif kind == 6:
            there = mechanism.advance(
                mechanism.home, 0.05 * rng.normal(0, 1, mechanism.coordinates.velocity_size)
            )
            still = np.zeros((2, mechanism.coordinates.velocity_size))
            knots = Motion(np.array([mechanism.home, there]), still, still)
            line = SampledTrajectory(mechanism, [0.0, 0.5], knots)
            begins = self.now + int(rng.integers(-(10**9), 10**9))
            self.motion_source(lambda: TrajectorySource(line, begins))
        elif kind == 7:
            change = int(rng.choice([-1, 1]) * 10 ** rng.uniform(6, 18))
            self.now += change
            reported = rng.integers(0, 3)
            if reported:
                (machine.set_clock if reported == 1 else machine.skip)(change)
        elif kind == 8:
            with suppress(InvalidInput):
                machine.commander.base = BaseMotion(*any_floats(rng, (3, 3), 10.0))
        elif kind == 9:
            machine.stabilized = None if machine.stabilized else self.held
            if machine.stabilized and rng.random() < 0.5:
                self.feel()
        elif kind == 10:
            machine.emergency_stop(rng.random() < 0.3)
        else:
            machine.touch(rng.random(self.at.shape) < 0.3)
        if rng.random() < 0.03:
            machine.fault("a drive reports that it is too hot")

    def motion_source(self, make):
        with suppress(RobodynError):
            self.machine.motion_source = make()

    def say_pose(self):
        rng, m = self.rng, self.mechanism
        pose = m.body_pose(m.home) if rng.random() < 0.95 else any_floats(rng, 7)
        pose[:3] += any_floats(rng, 3, 0.03)
        stamp = self.now + int(rng.choice([0, 0, 0, -1, 1]) * 10 ** rng.uniform(0, 18))
        here = self.machine.commander.configuration
        with suppress(RobodynError):
            self.stream.take(stamp, self.now, pose, any_floats(rng, 6, 0.1), here)

    def feel(self):
        """As many samples of an IMU as it takes to settle."""
        for k in range(100):
            felt = np.array([0.0, 0.0, 9.81]) + self.rng.normal(0.0, 0.1, 3)
            with suppress(RobodynError):
                turning = self.rng.normal(0.0, 0.01, 3)
                self.imu.step(self.now + (k - 100) * 10_000_000, BaseMotion(felt, turning))

    def judge_position(self, positions):
        """Within the ends, less the zeros of the drives; within a range while it is homed."""
        lower, upper = self.limits.positions.T
        if self.homing == "stall":
            width = upper - lower
            assert (np.abs(positions - self.begun) <= 1.05 * width + 1e-9).all()
            if self.machine.state == "homing" or "homing" in self.machine.reason:
                return
            lower, upper = lower - self.machine._offset, upper - self.machine._offset
        assert (positions >= lower - 1e-9).all()
        assert (positions <= upper + 1e-9).all()

    def judge(self):
        """Rate, acceleration and jerk of what was sent since it was switched on."""
        if len(self.sent) > 3:
            sent, most = np.array(self.sent), self.limits
            for k, limit in enumerate((most.rates, most.accelerations, most.jerks), start=1):
                rounding = 1e-11 * 2**k * (1.0 + np.abs(sent).max()) / self.dt**k
                changes = np.abs(np.diff(sent, k, axis=0)) / self.dt**k
                assert (changes <= limit * (1.0 + 1e-6) + rounding).all()
        self.sent = []
