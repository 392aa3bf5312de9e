# SPDX-License-Identifier: Apache-2.0

"""States fall silent or turn to nonsense: inverse_dynamics holds, lets go, and takes up again."""

from __future__ import annotations

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from local_graph import LocalGraph
from message_makers import odometry
from nav_msgs.msg import Odometry
from ros_harness import LATCHED, RELIABLE
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import MultiDOFJointTrajectory

import robodyn as rd
from robodyn.trajectories import knot_times
from robodyn_ros import messages

pytestmark = pytest.mark.ros
MODEL = "stewart_symmetric"
FRAMES = ("base_link", "platform_link")
REST = np.zeros(6)
SECOND = 1_000_000_000
TIMES = {"watchdog_timeout": 0.3, "watchdog_hold": 0.4, "watchdog_ramp": 0.6}


@pytest.fixture(scope="module")
def platform():
    return rd.load(MODEL)


class Silence:
    """A controller in mid-path; every command is kept."""

    def __init__(self, graph: LocalGraph, path) -> None:
        self.graph, self.path = graph, path
        self.states = graph.publisher(Odometry, "platform_state")
        self.commands: list[np.ndarray] = []
        self.answers: dict[int, np.ndarray] = {}
        commands = graph.peer.create_subscription(
            JointState, "joint_commands", self._on_command, RELIABLE
        )
        graph.until(commands.get_publisher_count, "who publishes joint_commands")
        self.diagnostics = graph.listen(DiagnosticArray, "/diagnostics")
        times = knot_times(path.duration, path.switching_times, 0.01)
        message = messages.platform_trajectory("base_link", "j", times, path.sample(times))
        # one that began with the first received state would be as late as that state
        message.header.stamp = messages.to_stamp(SECOND)
        graph.publisher(MultiDOFJointTrajectory, "platform_trajectory", LATCHED).publish(message)
        graph.line("points accepted")
        self.stamp = SECOND

    def _on_command(self, message: JointState) -> None:
        effort = np.array(message.effort)
        self.commands.append(effort)
        self.answers[messages.to_nanoseconds(message.header.stamp)] = effort

    def feed(self, seconds: float) -> None:
        """States on the path, 100 a second."""
        for _ in range(round(seconds * 100)):
            self.stamp += 10_000_000
            motion = self.path.sample((self.stamp - SECOND) * 1e-9)
            self.pose = motion.configuration
            self.states.publish(odometry(self.stamp, FRAMES, self.pose, motion.velocity))
            self.graph.spin(0.01)

    def level(self, expected: bytes, text: str) -> None:
        """Wait for a diagnostic; one that all is well comes while states do."""
        known = len(self.diagnostics)

        def found():
            if expected == DiagnosticStatus.OK:
                self.feed(0.05)
            new = [status for array in self.diagnostics[known:] for status in array.status]
            return [s for s in new if s.level == expected and text in s.message]

        self.graph.until(found, f"a diagnostic of {text}", timeout=20.0)


def factor(silence: float) -> float:
    """Return the fraction of the holding efforts after a silence [s]."""
    letting_go = silence - TIMES["watchdog_timeout"] - TIMES["watchdog_hold"]
    return float(np.clip(1.0 - letting_go / TIMES["watchdog_ramp"], 0.0, 1.0))


class Clock:
    """Stands in for the module `time` of the controller; it advances on request."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.mark.parametrize("nonsense", [False, True], ids=["silence", "nonsense"])
def test_hold_ramp_release_and_recovery(platform, nonsense, monkeypatch):
    """A publisher that dies in mid-path has the same effect as one that sends no valid states."""
    clock = Clock()
    monkeypatch.setattr("robodyn_ros.inverse_dynamics.time", clock)
    path = rd.plan_line(platform.home, rd.pose_from_rpy([0.1, 0.0, 0.9], [0, 0, 0]), duration=9.0)
    given = {"model": MODEL, "mode": "computed_torque"} | TIMES
    with LocalGraph({"inverse_dynamics": given}) as graph:
        silence = Silence(graph, path)
        clock.now += 10.0
        graph.spin(0.2)
        # nothing was received yet: there is nothing to monitor
        assert silence.commands == []
        silence.feed(0.3)
        silence.level(DiagnosticStatus.OK, "computed_torque")
        silence.feed(0.2)
        graph.until(lambda: silence.stamp in silence.answers, "an answer to the last state")
        last = clock.now
        gravity = platform.inverse_dynamics(silence.pose, REST, REST)
        spoilt = odometry(silence.stamp, FRAMES, silence.pose, REST)
        spoilt.twist.twist.linear.x = float("nan")
        clock.now = last + 0.99 * TIMES["watchdog_timeout"]
        silence.commands.clear()
        graph.spin(0.2)
        assert silence.commands == []
        for silent in (0.31, 0.5, 0.69, 0.75, 0.9, 1.0, 1.15, 1.29, 1.31, 5.0):
            clock.now = last + silent
            if nonsense:
                silence.states.publish(spoilt)
            # one may have been under way when the clock was set, the next but one was not
            known = len(silence.commands)
            graph.until(lambda known=known: len(silence.commands) > known + 1, "two commands")
            expected = factor(silent) * gravity
            np.testing.assert_allclose(silence.commands[-1], expected, rtol=1e-9, atol=1e-9)
        assert not np.any(silence.commands[-1])
        silence.level(DiagnosticStatus.ERROR, "no platform_state")
        graph.line("no platform_state for 0.3 s", "hold")
        # states again, and it flies on where the path is by now
        silence.feed(0.3)
        silence.level(DiagnosticStatus.OK, "computed_torque")
        graph.until(lambda: silence.stamp in silence.answers, "an answer to the last state")
        motion = path.sample((silence.stamp - SECOND) * 1e-9)
        expected = platform.inverse_dynamics(*motion)
        np.testing.assert_allclose(silence.answers[silence.stamp], expected, rtol=1e-9)


def test_gravity_compensation_is_watched_over_too(platform):
    given = {"model": MODEL, "mode": "gravity_compensation", "watchdog_timeout": 0.1,
             "watchdog_hold": 0.1, "watchdog_ramp": 0.0}  # fmt: skip
    with LocalGraph({"inverse_dynamics": given}) as graph:
        states = graph.publisher(Odometry, "platform_state")
        commands = graph.listen(JointState, "joint_commands")
        states.publish(odometry(1, FRAMES, platform.home, REST))
        graph.until(lambda: commands and not any(commands[-1].effort), "no efforts any more")
        assert any(commands[0].effort)


def test_without_a_timeout_nothing_is_watched(platform):
    given = {"model": MODEL, "mode": "gravity_compensation", "watchdog_timeout": 0.0}
    with LocalGraph({"inverse_dynamics": given}) as graph:
        states = graph.publisher(Odometry, "platform_state")
        commands = graph.listen(JointState, "joint_commands")
        states.publish(odometry(1, FRAMES, platform.home, REST))
        graph.until(lambda: commands, "a command")
        graph.spin(0.5)
        assert len(commands) == 1
