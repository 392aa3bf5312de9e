# SPDX-License-Identifier: Apache-2.0

"""condition_monitor as a process: numbers, levels, and what lies ahead on a path."""

from __future__ import annotations

import re

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from message_makers import odometry
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from ros_harness import LATCHED, zero_length_pose
from scipy.optimize import brentq
from std_msgs.msg import Float64
from trajectory_msgs.msg import MultiDOFJointTrajectory

import robodyn as rd
from robodyn.control import threshold_crossings
from robodyn.trajectories import Motion, knot_times
from robodyn_ros import messages

pytestmark = pytest.mark.ros
FRAMES = ("base_link", "platform_link")
NOW = "condition_monitor: condition number"
AHEAD = "condition_monitor: trajectory ahead"
SINGULAR = 3.670504110
# of a condition number that is far from every threshold
LOW = 40.0
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class Monitor:
    """The process, and what goes in and out of it; every state is a second after the last."""

    def __init__(self, peer, start) -> None:
        self.peer = peer
        self.process = start("condition_monitor", {"characteristic_length": 0.3})
        self.trajectories = peer.node.create_publisher(
            MultiDOFJointTrajectory, "platform_trajectory", LATCHED
        )
        self.states = peer.publisher(Odometry, "platform_state")
        self.numbers = peer.listen(Float64, "condition_number")
        self.diagnostics = peer.listen(DiagnosticArray, "/diagnostics")
        self.stamp = 0

    def show(self, pose) -> tuple[float, DiagnosticStatus]:
        """Return the condition number and the diagnostics for a pose."""
        for _ in range(60):
            self.stamp += 1_000_000_000
            known = len(self.numbers)
            self.states.publish(odometry(self.stamp, FRAMES, pose, np.zeros(6)))
            try:
                self.peer.until(
                    lambda known=known: len(self.numbers) > known, "a number", timeout=1.0
                )
                status = self.peer.until(self._status, "its diagnostic", timeout=1.0)
                return self.numbers[-1].data, status
            except AssertionError:
                assert self.process.alive, self.process.output
        raise AssertionError(f"no answer to a state:\n{self.process.output}")

    def _status(self) -> DiagnosticStatus | None:
        return next(iter(self.find(NOW, self.stamp)), None)

    def find(self, name: str, stamp: int | None = None) -> list[DiagnosticStatus]:
        return [
            status
            for array in self.diagnostics
            for status in array.status
            if status.name == name and stamp in (None, messages.to_nanoseconds(array.header.stamp))
        ]


@pytest.fixture(scope="module")
def monitor(peer, start):
    return Monitor(peer, start)


@pytest.fixture(scope="module")
def pose_of(mechanism):
    """A pose of a given condition number, on the way to the singularity of path III."""
    sound = rd.paper_path("I").sample(0.0).configuration
    singular = rd.paper_path("III").sample(SINGULAR).configuration
    way = mechanism.difference(sound, singular)

    def excess(s, number):
        return np.log(mechanism.condition_number(mechanism.advance(sound, s * way)) / number)

    def find(number):
        grid = 1.0 - np.geomspace(1.0, 1e-9, 400)
        values = [excess(s, number) for s in grid]
        last = np.flatnonzero(np.diff(np.sign(values)) > 0)[-1]
        s = brentq(excess, grid[last], grid[last + 1], args=(number,), xtol=1e-14)
        return mechanism.advance(sound, s * way)

    return find


def values(status):
    return {pair.key: pair.value for pair in status.values}


def test_numbers_are_the_librarys(monitor, mechanism):
    for path, t in (("I", 0.0), ("I", 6.0), ("III", 0.0)):
        pose = rd.paper_path(path).sample(t).configuration
        number, status = monitor.show(pose)
        assert number == pytest.approx(float(mechanism.condition_number(pose)), rel=1e-12)
        reported = values(status)
        scaled = float(mechanism.condition_number(pose, 0.3))
        assert float(reported["condition_number"]) == pytest.approx(number, rel=1e-12)
        assert float(reported["condition_number_scaled"]) == pytest.approx(scaled, rel=1e-12)
        smallest = np.linalg.svd(mechanism.jacobian(pose), compute_uv=False)[-1]
        assert float(reported["smallest_singular_value"]) == pytest.approx(smallest, rel=1e-9)
        assert reported["weakest_direction"].startswith(("translation along", "rotation about"))


@pytest.mark.parametrize(
    ("numbers", "levels"),
    [
        pytest.param((50, 110, 1010, 110, 50), (OK, WARN, ERROR, WARN, OK), id="up_and_down"),
        pytest.param(
            (50, 99, 101, 95, 101, 89, 95, 50), (OK, OK, WARN, WARN, WARN, OK, OK, OK), id="warn"
        ),
        pytest.param(
            (50, 990, 1010, 950, 910, 890, 950, 50),
            (OK, WARN, ERROR, ERROR, ERROR, WARN, WARN, OK),
            id="error",
        ),
        pytest.param((50, 1e6, 50), (OK, ERROR, OK), id="at_once"),
    ],
)
def test_levels_rise_at_their_thresholds_and_fall_below_them(monitor, pose_of, numbers, levels):
    for number, level in zip(numbers, levels, strict=True):
        received, status = monitor.show(pose_of(number))
        assert received == pytest.approx(number, rel=1e-6)
        assert status.level == level, (number, status.message)
        if level != OK:
            assert "weakest:" in status.message


def test_after_the_clock_was_set_back_what_is_reported_is_of_now(monitor, pose_of):
    """At the same level too, long before the stamp of the last diagnostic is reached again."""
    monitor.stamp = max(monitor.stamp, 100_000_000_000)
    monitor.show(pose_of(50.0))
    monitor.stamp = 500_000_000
    for number in (60.0, 70.0):
        received, status = monitor.show(pose_of(number))
        reported = values(status)
        assert float(reported["time"]) == pytest.approx(monitor.stamp * 1e-9)
        assert (
            float(reported["condition_number"]) == pytest.approx(received) == pytest.approx(number)
        )


def test_changes_of_level_are_logged_as_what_they_are(monitor, pose_of):
    for number, word in ((1e4, "[ERROR]"), (200, "[WARN]"), (50, "[INFO]")):
        monitor.show(pose_of(number))
        monitor.process.wait_for_line(word, "s: condition number")


def set_thresholds(peer, warn: float, error: float) -> None:
    given = {"warn": warn, "error": error}
    request = SetParametersAtomically.Request(
        parameters=[
            Parameter(name, value=value).to_parameter_msg() for name, value in given.items()
        ]
    )
    kind, service = SetParametersAtomically, "condition_monitor/set_parameters_atomically"
    assert peer.call(kind, service, request).result.reason == ""


def send(monitor, path):
    times = knot_times(path.duration, path.switching_times, 0.005)
    message = messages.platform_trajectory("base_link", "j", times, path.sample(times))
    monitor.trajectories.publish(message)


def test_the_singularity_of_path_iii_is_seen_ahead(monitor, peer):
    send(monitor, rd.paper_path("III"))
    line = monitor.process.wait_for_line("singular at t = 3.6705 s")
    assert "[ERROR]" in line
    seen = peer.until(lambda: monitor.find(AHEAD), "a diagnostic of what lies ahead")[-1]
    assert seen.level == ERROR
    assert "3.6705" in seen.message
    reported = values(seen)["singular_times"].strip("[]").split(",")
    assert [float(t) for t in reported] == [pytest.approx(SINGULAR, abs=1e-6)]
    ahead = peer.listen(Float64, "condition_monitor/singularity_ahead", LATCHED)
    peer.until(lambda: ahead, "singularity_ahead")
    # the path is an error from where it crosses the threshold, and singular a little later
    assert 3.0 < ahead[-1].data <= SINGULAR + 1e-6


def test_the_crossings_of_path_iii_are_announced_to_a_millisecond(monitor, peer, mechanism):
    """Of 300, of 1000 and of the singularity, in the diagnostic and in the log."""
    path = rd.paper_path("III")
    set_thresholds(peer, 300.0, 1000.0)
    send(monitor, path)
    expected = {
        "warn_times": [c.time for c in threshold_crossings(mechanism, path, 300.0) if c.upward],
        "error_times": [c.time for c in threshold_crossings(mechanism, path, 1000.0) if c.upward],
        "singular_times": [SINGULAR],
    }
    assert all(len(times) == 1 for times in expected.values())

    def reported() -> bool:
        reported = values(monitor.find(AHEAD)[-1]) if monitor.find(AHEAD) else {}
        return reported.get("warn", "") == "300.0"

    peer.until(reported, "what lies ahead by the new thresholds")
    reported = values(monitor.find(AHEAD)[-1])
    line = monitor.process.wait_for_line("trajectory ahead", "above 300 from")
    for name, times in expected.items():
        announced = [float(t) for t in reported[name].strip("[]").split(",")]
        assert announced == [pytest.approx(t, abs=1e-6) for t in times]
        logged = [float(t) for t in re.findall(r"t = ([0-9.]+) s", line)]
        assert any(t == pytest.approx(times[0], abs=1e-3) for t in logged), (name, line)
    set_thresholds(peer, 100.0, 1000.0)


def test_a_path_that_begins_above_a_threshold_says_so(monitor, peer, mechanism):
    """Path III has 289 at its start: above 100 from the first moment on, as in the library."""
    send(monitor, rd.paper_path("III"))
    monitor.process.wait_for_line("trajectory ahead", "above 100 from t = 0.000 s")
    peer.until(
        lambda: [values(each)["warn_times"] for each in monitor.find(AHEAD)[-1:]] == ["[0.0]"],
        "the time 0",
    )


def test_a_sound_path_ahead_takes_the_error_back(monitor, peer):
    send(monitor, rd.paper_path("I"))
    monitor.process.wait_for_line("trajectory ahead", "34.69 and 47.19")
    peer.until(
        lambda: [each.level for each in monitor.find(AHEAD)[-1:]] == [OK], "OK of what lies ahead"
    )


@pytest.mark.parametrize(("index", "value"), [(0, np.nan), (2, np.inf), (6, 0.0), (6, 7.0)])
def test_an_invalid_state_is_refused(monitor, pose_of, index, value):
    good = pose_of(50)
    message = odometry(0, FRAMES, good, np.zeros(6))
    spoilt = good.copy()
    spoilt[index] = value
    messages.fill_pose(message.pose.pose, spoilt)
    monitor.process.provoke(lambda: monitor.states.publish(message), "platform_state refused")
    assert monitor.show(good)[0] == pytest.approx(50, rel=1e-6)


@pytest.fixture(scope="module")
def nowhere(mechanism):
    return zero_length_pose(mechanism)


def test_a_state_without_a_condition_number_is_refused(monitor, pose_of, nowhere):
    """In a pose where a leg has no direction; the next state is answered, that one is not."""
    state = odometry(monitor.stamp, FRAMES, nowhere, np.zeros(6))
    known = len(monitor.numbers)
    monitor.process.provoke(
        lambda: monitor.states.publish(state), "platform_state refused", "leg 1 has zero length"
    )
    assert monitor.show(pose_of(50))[0] == pytest.approx(50, rel=1e-6)
    assert [m.data for m in monitor.numbers[known:]] == [
        pytest.approx(50, rel=1e-6) for _ in monitor.numbers[known:]
    ]


def test_a_trajectory_that_cannot_be_examined_is_said(monitor, pose_of, nowhere):
    """It leads through such a pose; states and the next trajectory are looked at as before.

    The status of the previous path is removed.
    """
    good = pose_of(50)
    ahead = monitor.peer.listen(Float64, "condition_monitor/singularity_ahead", LATCHED)
    send(monitor, rd.paper_path("III"))
    monitor.peer.until(lambda: ahead and ahead[-1].data < 6.0, "what is ahead on path III")
    poses, rest = np.array([good, nowhere, good]), np.zeros((3, 6))
    motion = Motion(poses, rest, rest)
    message = messages.platform_trajectory("base_link", "j", np.arange(3.0), motion)
    monitor.trajectories.publish(message)
    monitor.process.wait_for_line("[ERROR]", "trajectory not examined: leg 1 has zero length")
    monitor.process.wait_for_line(
        "[ERROR]",
        "~/scale is computed from the velocity instead of the trajectory: leg 1 has zero length",
    )
    monitor.peer.until(lambda: np.isnan(ahead[-1].data), "nothing known of what is ahead")
    seen = len(monitor.diagnostics)
    assert monitor.show(good)[0] == pytest.approx(50, rel=1e-6)
    monitor.peer.until(lambda: len(monitor.diagnostics) > seen + 2, "diagnostics")
    reported = [s for a in monitor.diagnostics[seen:] for s in a.status if s.name == AHEAD]
    assert reported
    for status in reported:
        assert status.level == DiagnosticStatus.ERROR
        assert "trajectory not examined: leg 1 has zero length" in status.message
    examined = sum("trajectory ahead" in line for line in monitor.process.lines)
    send(monitor, rd.paper_path("I"))
    line = monitor.process.wait_for_line("trajectory ahead", times=examined + 1)
    assert "34.69 and 47.19" in line


def test_an_invalid_trajectory_is_refused(monitor, pose_of):
    monitor.process.provoke(
        lambda: monitor.trajectories.publish(MultiDOFJointTrajectory()),
        "trajectory",
        "no points",
    )
    monitor.show(pose_of(50))


def test_well_conditioned_states_are_looked_at_now_and_then(monitor, pose_of, peer):
    period, count = 5_000_000, 17

    def publish(stamp, number) -> None:
        state = odometry(stamp, FRAMES, pose_of(number), np.zeros(6))
        monitor.states.publish(state)

    def received_to(number) -> int:
        def found() -> bool:
            return bool(monitor.numbers) and abs(monitor.numbers[-1].data - number) < 1e-6

        peer.until(found, f"the number {number}")
        return len(monitor.numbers)

    for number, looks in ((LOW, range(0, count, 4)), (70.0, range(count))):
        monitor.show(pose_of(80.0))
        begin = monitor.stamp + 1_000_000_000
        publish(begin - 1, 81.0)
        known = received_to(81.0)
        for k in range(count):
            publish(begin + k * period, number)
        monitor.stamp = begin + 1_000_000_000
        publish(monitor.stamp, 82.0)
        # and the last one, which shows that all have been received
        assert received_to(82.0) == known + len(looks) + 1
        received = [each.data for each in monitor.numbers[known:-1]]
        np.testing.assert_allclose(received, number, rtol=1e-6)


def test_the_process_lived_through_all_of_it(monitor):
    assert all(np.isfinite(message.data) for message in monitor.numbers)
    assert monitor.process.alive
    assert "Traceback" not in monitor.process.output
