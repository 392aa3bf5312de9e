# SPDX-License-Identifier: Apache-2.0

"""A machine's whole life, with drives that obey, and with everything that can go wrong."""

from contextlib import suppress

import numpy as np
import pytest

import robodyn as rd
from robodyn.base_motion import BaseMotion
from robodyn.errors import InvalidInput, RobodynError
from robodyn.motion_base.base import BasePoseEstimator
from robodyn.motion_base.machine import (
    REQUESTS,
    STATES,
    DriveLimits,
    LateSetPoint,
    Machine,
    PoseStream,
    RequestRefused,
    SetPoint,
    StabilizedSource,
    TrajectorySource,
    goal,
)
from robodyn.trajectories import Motion

DT, TICK = 0.01, 10_000_000


@pytest.fixture(scope="module")
def platform():
    return rd.load("stewart_symmetric")


class Drives:
    """A machine with drives that are at their commands a tick later, less a zero error."""

    def __init__(self, mechanism, zero=0.0, **options):
        options = {"following_error": 0.02, "drive_delay": DT, "ease": 0.5} | options
        self.machine = Machine(mechanism, DT, **options)
        self.count, self.zero = 0, zero
        self.at = mechanism.joint_positions(mechanism.home) - zero
        self.stop = None
        self.enabled, self.obey, self.talk = True, True, True
        self.commands, self.switched_off = [], []

    @property
    def now(self):
        return self.count * TICK

    def run(self, ticks, until=""):
        for _ in range(ticks):
            self.count += 1
            if self.enabled:
                self.machine.enable(self.now)
            if self.talk:
                self.machine.measure(self.now, self.at)
            point = self.machine.step(self.now)
            if point is None:
                self.switched_off.append(len(self.commands))
            else:
                self.commands.append(point.positions)
                if self.obey:
                    self.at = point.positions
                    if self.stop is not None:
                        self.at = np.maximum(self.at, self.stop)
            if until and self.machine.state == until:
                return True
        return not until

    def bring_up(self):
        self.run(1)
        self.machine.request("power_on")
        assert self.run(2000, until="parked")
        self.machine.request("engage")
        assert self.run(1000, until="engaged")
        return self


def assert_smooth(drives):
    """From where it was switched on, which is where the drives were, to where it was off again."""
    limits = drives.machine.commander.limits
    for reported in np.split(np.array(drives.commands), np.unique(drives.switched_off)):
        for k, most in enumerate((limits.rates, limits.accelerations, limits.jerks), start=1):
            assert (np.abs(np.diff(reported, k, axis=0)) / DT**k <= most * (1.0 + 1e-6)).all()


@pytest.mark.slow
def test_a_day_of_four_posts_that_carry_one_body(corners):
    """Parked at the lower ends of all posts; up, stopped on the way, and down again."""
    low = corners.position_limits[:, 0]
    day = Drives(corners, park_positions=low)
    day.at = low.copy()
    day.bring_up()
    day.machine.motion_source = goal(corners, [0.44, 0.43, 0.42, 0.41], corners.home)
    day.run(10)
    day.machine.request("freeze")
    assert day.run(100, until="frozen")
    day.machine.request("engage")
    assert day.run(1000, until="engaged")
    day.run(100)
    np.testing.assert_allclose(day.at, [0.44, 0.43, 0.42, 0.41], atol=1e-5)
    day.machine.request("park")
    assert day.run(2000, until="parked")
    np.testing.assert_allclose(day.at, low, atol=1e-9)
    limits, reported = day.machine.commander.limits, np.array(day.commands)
    for k, most in enumerate((limits.rates, limits.accelerations), start=1):
        assert (np.abs(np.diff(reported, k, axis=0)) / DT**k <= most).all()
    assert (reported >= low - 1e-9).all()


def test_zeros_that_do_not_fit_each_other_are_refused(corners):
    wrong = Drives(corners)
    wrong.at = corners.joint_positions(corners.home) + 0.02 * np.eye(4)[0]
    wrong.run(1)
    with pytest.raises(RequestRefused, match=r"drives are inconsistent by 0\.005 m"):
        wrong.machine.request("power_on")
    with pytest.raises(InvalidInput, match="park_positions: positions of the drives"):
        Drives(corners, park_positions=[0.44, 0.36, 0.36, 0.36])
    with pytest.raises(InvalidInput, match="move only together"):
        Drives(corners, homing="stall")


def test_a_day_of_a_machine(platform):
    park = platform.joint_positions(platform.home) - 0.05
    day = Drives(platform, park_positions=park)
    day.run(1)
    assert day.machine.state == "off"
    assert day.machine.request("power_on") == "homing"
    assert day.run(1000, until="parked")
    np.testing.assert_allclose(day.at, park, atol=1e-6)
    day.machine.request("engage")
    assert day.run(1000, until="engaged")
    aside = rd.pose_from_rpy(platform.home[:3] + np.array([0.08, 0.0, 0.0]), [0, 0, 0.1])
    path = rd.plan_line(platform.home, aside, duration=1.0)
    day.machine.motion_source = TrajectorySource(path, day.now)
    day.run(50)
    day.machine.request("freeze")
    assert day.run(100, until="frozen")
    still = day.at
    day.run(50)
    np.testing.assert_array_equal(day.at, still)
    day.machine.request("engage")  # eases back to the current target
    assert day.run(1000, until="engaged")
    np.testing.assert_allclose(day.at, platform.joint_positions(aside), atol=1e-4)
    day.machine.request("park")
    assert day.run(1000, until="parked")
    assert day.machine.request("power_off") == "off"
    assert day.machine.step(day.now) is None
    assert_smooth(day)


def test_engaged_motors_lead_by_the_sag_of_their_drives(platform):
    stiffness = np.linspace(1e5, 2e5, 6)
    m = platform.with_drive_stiffness(stiffness).with_payload(100.0, [0.1, 0.0, 0.2])
    drives = Drives(m, compensate_sag=True).bring_up()
    path = rd.plan_line(m.home, m.advance(m.home, [0.0, 0.02, 0.05, 0.0, 0.0, 0.1]), duration=1.0)
    drives.machine.motion_source = TrajectorySource(path, drives.now)
    drives.run(300)
    q = path.sample(path.duration).configuration
    held = stiffness * (drives.at - m.joint_positions(q))
    np.testing.assert_allclose(held, m.gravity(q), rtol=1e-6)
    drives.machine.request("park")
    assert drives.run(1000, until="parked")
    assert_smooth(drives)
    np.testing.assert_allclose(drives.at, m.joint_positions(m.home), atol=1e-6)


def test_rigid_drives_have_no_sag_to_compensate(platform):
    with pytest.raises(InvalidInput, match=r"are rigid.*`stiffness`"):
        Machine(platform, DT, compensate_sag=True)


def test_silence_of_the_enable_signal_freezes_and_no_request_moves_until_it_is_back(platform):
    drives = Drives(platform).bring_up()
    drives.enabled = False
    assert drives.run(100, until="frozen")
    assert "enable" in drives.machine.reason
    for request in ("engage", "park"):
        with pytest.raises(RequestRefused, match="enable"):
            drives.machine.request(request)
    drives.enabled = True
    drives.run(1)
    assert drives.machine.request("engage") == "engaging"


def test_drives_that_stop_obeying_are_a_fault_that_lasts_until_they_are_where_they_should_be(
    platform,
):
    drives = Drives(platform).bring_up()
    drives.obey = False
    here = platform.joint_positions(platform.home)
    drives.machine.motion_source = goal(platform, here + 0.1, platform.home)
    assert drives.run(300, until="fault")
    assert "leg1_actuator" in drives.machine.reason
    drives.run(100)
    np.testing.assert_array_equal(drives.commands[-1], drives.commands[-2])
    with pytest.raises(RequestRefused, match="its command"):
        drives.machine.request("reset")
    with pytest.raises(RequestRefused, match="there is a fault"):
        drives.machine.request("engage")
    drives.obey = True
    drives.run(3)
    assert drives.machine.request("reset") == "frozen"
    assert_smooth(drives)


def test_a_machine_that_has_sunk_is_homed_again(platform):
    """Power was lost, its legs back-drive: its last command no longer counts."""
    drives = Drives(platform, back_drives=True).bring_up()
    drives.machine.emergency_stop(True)
    drives.obey = False
    drives.run(60)
    drives.at = platform.joint_positions(platform.home) - 0.1
    with pytest.raises(RequestRefused, match="emergency stop is pressed"):
        drives.machine.request("reset")
    drives.machine.emergency_stop(False)
    assert drives.machine.request("reset") == "off"
    drives.obey, drives.commands, drives.switched_off = True, [], []
    drives.bring_up()
    np.testing.assert_allclose(
        drives.commands[0], platform.joint_positions(platform.home) - 0.1, atol=1e-3
    )
    assert_smooth(drives)


def test_drives_that_fall_silent_are_a_fault(platform):
    drives = Drives(platform).bring_up()
    drives.talk = False
    assert drives.run(100, until="fault")
    assert "positions" in drives.machine.reason
    assert "0.5 s" in drives.machine.reason


def test_joints_are_homed_by_their_stops(platform):
    """Each drive's zero is wrong by another amount, and is known afterwards."""
    zeros = np.array([0.01, -0.02, 0.03, 0.0, 0.015, -0.01])
    drives = Drives(platform, zero=zeros, homing="stall", slow=0.5)
    drives.stop = platform.position_limits[:, 0] - zeros
    drives.run(1)
    assert drives.machine.request("power_on") == "homing"
    assert drives.run(3000, until="parking")
    assert drives.run(3000, until="parked")
    np.testing.assert_allclose(
        drives.at + zeros, platform.joint_positions(platform.home), atol=1e-5
    )
    assert_smooth(drives)


class HomedDrives(Drives):
    """Drives with stops that follow late, yield, or are reported seldom."""

    def __init__(self, mechanism, fraction=1.0, sag=0.0, every=1, **options):
        super().__init__(mechanism, homing="stall", following_error=np.inf, **options)
        self.fraction, self.sag, self.every = fraction, sag, every
        self.stop = mechanism.position_limits[:, 0] - self.zero
        self.talk = self.obey = False

    def run(self, ticks, until=""):
        for _ in range(ticks):
            if self.count % self.every == 0:
                self.machine.measure(self.now, self.at)
            super().run(1)
            if self.commands and self.machine.state != "off":
                goal = self.commands[-1] - self.sag
                self.at = np.maximum(self.at + self.fraction * (goal - self.at), self.stop)
            if until and self.machine.state == until:
                return True
        return not until


@pytest.mark.parametrize(
    "drives",
    [
        {"fraction": 0.02},  # 0.5 s behind, which at full speed is 80 % of the stroke
        {"fraction": 0.005, "slow": 0.05},  # 2 s
        {"fraction": 0.002, "slow": 0.2},  # 5 s
        {"sag": 0.003},  # it hangs below its command
        {"sag": -0.003},
        {"every": 20, "fraction": 0.1},
    ],
)
def test_a_drive_that_lags_or_yields_is_homed_by_its_stop_alone(platform, drives):
    zeros = np.array([0.01, -0.02, 0.03, 0.0, 0.015, -0.01])
    drives = HomedDrives(platform, zero=zeros, **({"slow": 1.0} | drives))
    drives.run(1)
    drives.machine.request("power_on")
    assert drives.run(60_000, until="parking"), drives.machine.reason
    np.testing.assert_allclose(drives.machine._offset, zeros, atol=1e-9)
    assert_smooth(drives)


def test_a_drive_is_not_pressed_hard_against_its_stop(platform):
    drives = HomedDrives(platform, slow=1.0)
    drives.run(1)
    drives.machine.request("power_on")
    assert drives.run(60_000, until="parking")
    width = np.ptp(platform.position_limits, axis=1)
    assert (np.min(drives.commands, axis=0) >= drives.stop - 0.05 * width).all()


def test_a_drive_that_is_pushed_while_it_is_homed_has_met_no_stop(platform):
    """A person moves it up and down, faster than it goes, and lets it go."""
    drives = HomedDrives(platform, fraction=0.2)
    drives.run(1)
    drives.machine.request("power_on")
    drives.run(100)
    for k in range(400):
        drives.at = drives.at + 2e-3 * np.sin(0.05 * k)
        drives.run(1)
        assert drives.machine.state == "homing"
    assert drives.run(60_000, until="parking"), drives.machine.reason
    np.testing.assert_allclose(drives.machine._offset, 0.0, atol=1e-9)


def test_a_drive_that_does_not_move_is_not_homed(platform):
    """Its brake is closed, or it has no power: it stands still, but at no stop."""
    drives = HomedDrives(platform, fraction=0.0)
    drives.run(1)
    drives.machine.request("power_on")
    assert drives.run(60_000, until="fault")
    assert "leg1_actuator remains at " in drives.machine.reason
    assert np.isnan(drives.machine._offset).any() or (drives.machine._offset == 0.0).all()


def test_homing_that_is_frozen_is_a_fault_and_has_to_begin_again(platform):
    drives = Drives(platform, homing="stall")
    drives.run(1)
    drives.machine.request("power_on")
    drives.run(50)
    assert drives.machine.request("freeze") == "fault"
    assert "homing" in drives.machine.reason
    assert "freeze" in drives.machine.reason
    drives.run(100)
    assert drives.machine.request("reset") == "off"
    assert drives.machine.request("reset") == "homing"


def test_without_feedback_it_counts_on_standing_where_it_parks(platform):
    machine = Machine(platform, DT, homing="assumed", enable_timeout=0.0)
    machine.request("power_on")
    machine.step(TICK)
    machine.step(2 * TICK)
    assert machine.state == "parked"


@pytest.mark.parametrize("name", ["puma560", "stewart_symmetric", "delta", "hexapod_rotary"])
@pytest.mark.parametrize("far", [0.05, 10.0, 9e5])
@pytest.mark.parametrize("end", [0, 1])
def test_a_drive_beyond_an_end_is_not_commanded_there(name, far, end):
    mechanism = rd.load(name)
    drives, joint = Drives(mechanism), len(mechanism.joint_names) // 2
    limit = mechanism.position_limits[joint, end]
    drives.at = drives.at.copy()
    drives.at[joint] = limit + (far if end else -far)
    drives.run(1)
    with pytest.raises(RequestRefused, match="power_on refused") as caught:
        drives.machine.request("power_on")
    for fact in (mechanism.joint_names[joint], f"{drives.at[joint]:.6g}", f"{limit:.6g}"):
        assert fact in str(caught.value)
    drives.run(3)
    assert drives.machine.state == "off"
    assert drives.commands == []


@pytest.mark.parametrize("far", [1e7, 1e30, 1e300, np.inf, np.nan])
def test_a_position_that_no_joint_can_have_is_refused_and_nothing_changes(platform, far):
    drives = Drives(platform).bring_up()
    strange = drives.at.copy()
    strange[2] = far
    with pytest.raises(InvalidInput, match=r"leg3_actuator|positions"):
        drives.machine.measure(drives.now, strange)
    assert drives.run(10, until="") is True
    assert drives.machine.state == "engaged"


def test_a_machine_that_stands_on_its_stops_begins_at_the_ends(platform):
    """Encoders have noise: positions a little beyond an end are those of the end."""
    lower = platform.position_limits[:, 0]
    drives = Drives(platform)
    drives.at = lower - 1e-4
    drives.run(1)
    assert drives.machine.request("power_on") == "homing"
    assert drives.run(2000, until="parked")
    assert (np.array(drives.commands) >= lower - 1e-9).all()


def test_homing_by_stops_needs_ends_and_says_which_joint_has_none(platform):
    limits = DriveLimits.of(platform)
    ends = limits.positions.copy()
    ends[3, 1] = np.inf
    free = DriveLimits(ends, limits.rates, limits.accelerations, limits.jerks)
    with pytest.raises(InvalidInput, match="leg4_actuator"):
        Machine(platform, DT, free, homing="stall")
    Machine(platform, DT, free, homing="absolute")


def test_homing_that_meets_no_stop_ends_within_the_range_of_a_joint(platform):
    drives = Drives(platform, homing="stall", slow=1.0)
    drives.run(1)
    begun = drives.at
    drives.machine.request("power_on")
    assert drives.run(3000, until="fault")
    assert "leg" in drives.machine.reason
    assert "no stop within" in drives.machine.reason
    width = np.ptp(platform.position_limits, axis=1)
    travel = begun - np.min(drives.commands, axis=0)
    assert (travel <= 1.05 * width).all()
    assert (travel > width).any()
    drives.run(200)
    np.testing.assert_array_equal(drives.commands[-1], drives.commands[-2])
    assert_smooth(drives)


@pytest.mark.parametrize("glitch", [1e5, -1e5, 3.0])
def test_a_drive_that_reports_nonsense_while_it_is_homed_is_a_fault(platform, glitch):
    drives = Drives(platform, homing="stall")
    drives.run(1)
    begun = drives.at
    drives.machine.request("power_on")
    drives.run(50)
    drives.obey = False
    drives.at = drives.at.copy()
    drives.at[1] = glitch
    assert drives.run(10, until="fault")
    assert "leg2_actuator" in drives.machine.reason
    drives.run(200)
    assert np.abs(drives.commands - begun).max() < 0.1
    assert_smooth(drives)


@pytest.mark.parametrize("name", ["puma560", "stewart_symmetric", "delta"])
@pytest.mark.parametrize("end", [0, 1])
def test_park_positions_beyond_an_end_are_refused(name, end):
    mechanism = rd.load(name)
    limit = mechanism.position_limits[1, end]
    park = mechanism.joint_positions(mechanism.home).copy()
    park[1] = limit + (1e-3 if end else -1e-3)
    with pytest.raises(InvalidInput, match="park_positions") as caught:
        Machine(mechanism, DT, park_positions=park)
    for fact in (mechanism.joint_names[1], f"{park[1]:.6g}", f"{limit:.6g}"):
        assert fact in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("change", [-2.0, -0.15, 0.15, 2.0, -1e6, 1e6])
@pytest.mark.parametrize("is_known", [True, False], ids=["known", "unknown"])
def test_a_clock_that_is_set_while_poses_come_moves_the_platform_nowhere_else(
    platform, change, is_known
):
    drives, stream = Drives(platform, enable_timeout=0.0).bring_up(), PoseStream(platform, 0.2)
    machine, home = drives.machine, platform.home
    went = []

    def tick():
        t = drives.now * 1e-9
        pose = home + np.array([0.03 * np.sin(2 * t), 0, 0, 0, 0, 0, 0])
        twist = np.array([0.06 * np.cos(2 * t), 0, 0, 0, 0, 0])
        stream.take(drives.now, drives.now, pose, twist, machine.commander.configuration)
        machine.motion_source = stream
        drives.run(1)
        went.append(platform.body_pose(machine.commander.configuration)[0] - home[0])

    for _ in range(500):
        tick()
    drives.count += round(change / DT)
    if is_known:
        machine.set_clock(round(change / DT) * TICK)
    for _ in range(300):
        tick()
    assert machine.state == "engaged"
    assert np.abs(went).max() < 0.033
    assert_smooth(drives)


def test_a_pose_from_far_in_the_past_or_the_future_is_nothing_to_follow(platform):
    stream = PoseStream(platform, 0.2)
    stream.take(10**12, 10**12, platform.home, np.full(6, 0.1), platform.home)
    assert stream.at(10**12 + 10**8) is not None
    assert stream.at(10**12 - 10**8) is not None
    for late in (3 * 10**8, 2 * 10**9, 10**18):
        assert stream.at(10**12 + late) is None
        assert stream.at(10**12 - late) is None


def test_poses_that_are_late_are_distinguished_from_clocks_that_differ(platform):
    stream, rest, home = PoseStream(platform, 0.2), np.zeros(6), platform.home
    second = 10**9
    with pytest.raises(InvalidInput, match="check the clocks of both computers"):
        stream.take(99 * second, 100 * second, home, rest, home)
    stream.take(100 * second, 100 * second, home, rest, home)
    with pytest.raises(LateSetPoint, match="1 s old"):
        stream.take(100 * second, 101 * second, home, rest, home)
    with pytest.raises(InvalidInput, match="5 s in the future"):
        stream.take(106 * second, 101 * second, home, rest, home)
    with pytest.raises(InvalidInput, match="check the clocks of both computers"):
        stream.take(100 * second, 121 * second, home, rest, home)


@pytest.mark.slow
@pytest.mark.parametrize("change", [-3.0, 3.0])
def test_a_trajectory_continues_where_it_is_when_the_clock_is_set(platform, change):
    drives = Drives(platform, enable_timeout=0.0).bring_up()
    aside = rd.pose_from_rpy(platform.home[:3] + np.array([0.06, 0.0, 0.0]), [0, 0, 0])
    path = rd.plan_line(platform.home, aside, duration=2.0)
    drives.machine.motion_source = TrajectorySource(path, drives.now)
    drives.run(100)
    drives.count += round(change / DT)
    drives.machine.set_clock(round(change / DT) * TICK)
    drives.run(101)
    assert drives.machine.state == "engaged"
    np.testing.assert_allclose(drives.at, platform.joint_positions(aside), atol=1e-4)
    rates = np.abs(np.diff(drives.commands[-202:], axis=0)).max() / DT
    planned = path.sample(np.linspace(0.0, 2.0, 201))
    most = np.abs(platform.joint_velocities(planned.configuration, planned.velocity)).max()
    assert rates < 1.05 * most


@pytest.mark.parametrize("change", [-10.0, 10.0])
def test_silence_is_noticed_although_the_clock_was_set(platform, change):
    drives = Drives(platform).bring_up()
    drives.talk = drives.enabled = False
    drives.count += round(change / DT)
    drives.run(60)
    assert drives.machine.state in ("fault", "frozen")
    drives.run(60)
    np.testing.assert_array_equal(drives.commands[-1], drives.commands[-2])


class FixedTargets:
    """A constant target motion."""

    def __init__(self, *rows):
        self.rows = rows

    def at(self, _):
        return Motion(*self.rows)


@pytest.mark.parametrize("name", ["puma560", "stewart_symmetric", "delta", "hexapod_rotary"])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300, -1e300, 1e30, 1e7])
@pytest.mark.parametrize("row", [0, 1, 2])
def test_targets_of_any_number_end_at_rest_in_words(name, value, row):
    mechanism = rd.load(name)
    drives = Drives(mechanism).bring_up()
    size = mechanism.coordinates.velocity_size
    rows = [mechanism.home.copy(), np.zeros(size), np.zeros(size)]
    rows[row] = np.full_like(rows[row], value)
    drives.machine.motion_source = FixedTargets(*rows)
    drives.run(30)
    assert "not finite, or" in drives.machine.commander.step(drives.now).problem
    assert drives.machine.commander.set_points.is_at_rest
    assert drives.machine.state == "engaged"


@pytest.mark.parametrize("garbage", [np.nan, 1e300, 99.0, 0.3], ids=str)
@pytest.mark.parametrize("field", ["positions", "velocities", "efforts"])
def test_a_set_point_that_is_wrong_is_not_sent_and_the_machine_brakes(platform, garbage, field):
    """For any cause: here the commander is replaced by a broken one."""
    drives = Drives(platform).bring_up()
    machine = drives.machine
    step = machine.commander.step

    def broken(time, pace):
        point = step(time, pace)
        values = getattr(point, field) + (1e9 * garbage if field == "efforts" else garbage)
        return point._replace(**{field: values})

    machine.motion_source = goal(platform, drives.at + 0.1, platform.home)
    drives.run(30)
    machine.commander.step = broken
    drives.run(1)
    assert machine.state == "fault"
    assert "leg1_actuator" in machine.reason
    drives.run(100)
    np.testing.assert_array_equal(drives.commands[-1], drives.commands[-2])
    assert_smooth(drives)
    machine.commander.step = lambda *_: SetPoint(*np.full((4, 6), np.nan))
    machine.commander.set_points.brake = lambda: None
    machine.commander.set_points.state = np.full((3, 6), np.nan)
    drives.run(3)
    assert machine.state == "off"


def test_efforts_as_feedforward_are_cut_to_what_drives_can_give(platform):
    drives = Drives(platform).bring_up()
    drives.machine.commander.base = BaseMotion([0.0, 0.0, 500.0])
    drives.count += 1
    drives.machine.measure(drives.now, drives.at)
    point = drives.machine.step(drives.now)
    np.testing.assert_allclose(np.abs(point.efforts), platform.effort_limits)
    assert "times its effort" in point.problem


@pytest.mark.parametrize(
    "wrong",
    [
        {"slow": 0.0}, {"slow": 1.5}, {"slow": np.nan}, {"ease": -1.0}, {"ease": np.inf},
        {"feedback_timeout": -1.0}, {"feedback_timeout": np.nan}, {"enable_timeout": np.inf},
        {"following_error": 0.0}, {"following_error": np.nan}, {"following_time": -1.0},
        {"drive_delay": np.inf}, {"condition_limit": np.nan}, {"park_positions": [np.nan] * 6},
    ],
    ids=str,
)  # fmt: skip
def test_settings_that_no_machine_can_have_are_refused(platform, wrong):
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        Machine(platform, DT, **wrong)


def test_machine_rejects_invalid_settings_and_requests(platform):
    with pytest.raises(InvalidInput, match="expected one of absolute, assumed, stall"):
        Machine(platform, DT, homing="index")
    with pytest.raises(RequestRefused, match="positions"):
        Machine(platform, DT, enable_timeout=0.0).request("power_on")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stewart_symmetric", "delta", "puma560"])
def test_random_sequences_break_no_limit_and_every_fault_ends_at_rest(name, rng):
    random_sequences(rd.load(name), rng, 60)


def random_sequences(mechanism, rng, count):
    """`count` times goals, streams, requests, silence, drives that stop obeying, or garbage."""
    drives = Drives(mechanism, following_error=0.3)
    limits, machine = drives.machine.commander.limits, drives.machine
    home = mechanism.joint_positions(mechanism.home)
    stream, faults, states = PoseStream(mechanism, 0.1), 0, set()
    imu = BasePoseEstimator(longest_period=1.0)
    held = None
    with suppress(InvalidInput):  # not every body moves in six ways
        held = StabilizedSource(machine.commander, imu)
    width = np.minimum(np.ptp(limits.positions, axis=1), 2.0)
    for _ in range(count):
        # a few ticks of one thing, and now and then a request
        kind = rng.integers(0, 7)
        if rng.random() < 0.5 or machine.state in ("off", "frozen", "parked"):
            with suppress(RequestRefused):
                machine.request(rng.choice(REQUESTS, p=(0.2, 0.4, 0.1, 0.1, 0.15, 0.05)))
        drives.enabled, drives.obey, drives.talk = kind != 1, kind != 2, kind != 3
        if kind == 4:
            machine.motion_source = goal_near(
                mechanism, home + rng.uniform(-0.7, 0.7, len(home)) * width
            )
        if kind == 5:
            machine.motion_source = stream
        if rng.random() < 0.2:
            machine.stabilized = None if machine.stabilized else held
        if rng.random() < 0.05:
            machine.fault("a drive reports that it is too hot")
        for _ in range(rng.integers(1, 60)):
            if kind in (5, 6):
                say(stream, machine, drives.now, rng)
            feel(imu, drives.now, rng)
            faults += drives.run(1, until="fault")
            states.add(machine.state)
    drives.run(1)
    machine.fault("the end")
    drives.run(400)
    assert machine.state in ("fault", "off")
    np.testing.assert_array_equal(drives.commands[-1], drives.commands[-2])
    reported = np.array(drives.commands)
    assert np.isfinite(reported).all()
    assert (reported >= limits.positions[:, 0] - 1e-9).all()
    assert (reported <= limits.positions[:, 1] + 1e-9).all()
    assert_smooth(drives)
    assert faults
    assert {"engaging", "engaged", "fault"} <= states <= set(STATES)
    return states


def feel(imu, now, rng):
    """A sample of an IMU on a base that rolls, or garbage, now and then, or silence."""
    roll = 0.2 * np.sin(3e-9 * now)
    felt = np.array([0.0, 9.81 * np.sin(roll), 9.81 * np.cos(roll), 0.6 * np.cos(3e-9 * now), 0, 0])
    felt += rng.normal(0.0, 0.01, 6)
    if rng.random() < 0.02:
        felt[rng.integers(0, 6)] = rng.choice([np.nan, 1e300, 40.0, -4.0])
    if rng.random() < 0.95:
        with suppress(RobodynError):
            imu.step(now - int(rng.integers(0, 3) == 0), BaseMotion(felt[:3], felt[3:]))


def goal_near(mechanism, positions):
    try:
        return goal(mechanism, positions, mechanism.home)
    except RobodynError:
        return None


def say(stream, machine, now, rng):
    """A pose far or near, or garbage, with any twist, late or too early."""
    m = machine.mechanism
    pose = m.body_pose(m.home)
    pose[:3] += rng.uniform(-1.0, 1.0, 3) * rng.choice([0.01, 0.1, 10.0])
    if rng.random() < 0.1:
        pose[rng.integers(0, 7)] = rng.choice([np.nan, np.inf, 1e300, 0.0])
    twist = rng.normal(0.0, rng.choice([0.1, 10.0]), 6)
    stamp = now + int(rng.choice([0, 0, 0, -1, 1]) * rng.integers(0, 2_000_000_000))
    with suppress(RobodynError):
        stream.take(stamp, now, pose, twist, machine.commander.configuration)
