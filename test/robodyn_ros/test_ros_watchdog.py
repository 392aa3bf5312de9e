# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""States fall silent or turn to nonsense: inverse_dynamics holds, lets go, and takes up again."""

from __future__ import annotations

import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from local_graph import LocalGraph
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
    """A controller in mid-path; every command is kept with the wall time of its arrival."""

    def __init__(self, graph: LocalGraph, path) -> None:
        self.graph, self.path = graph, path
        self.states = graph.publisher(Odometry, "platform_state")
        self.commands: list[tuple[float, np.ndarray]] = []
        self.answers: dict[int, np.ndarray] = {}
        graph.peer.create_subscription(JointState, "joint_commands", self._on_command, RELIABLE)
        self.diagnostics = graph.listen(DiagnosticArray, "/diagnostics")
        times = knot_times(path.duration, path.switching_times, 0.01)
        message = messages.platform_trajectory("base_link", "j", times, path.sample(times))
        # one that began with the first state heard would be as late as that state
        message.header.stamp = messages.to_stamp(SECOND)
        graph.publisher(MultiDOFJointTrajectory, "platform_trajectory", LATCHED).publish(message)
        graph.line("points accepted")
        self.stamp = SECOND

    def _on_command(self, message: JointState) -> None:
        effort = np.array(message.effort)
        self.commands.append((time.monotonic(), effort))
        self.answers[messages.to_nanoseconds(message.header.stamp)] = effort

    def feed(self, seconds: float) -> float:
        """States on the path, at 100 Hz; returns when the last was sent."""
        for _ in range(round(seconds * 100)):
            self.stamp += 10_000_000
            motion = self.path.sample((self.stamp - SECOND) * 1e-9)
            self.pose = motion.configuration
            sent = time.monotonic()
            self.states.publish(messages.odometry(self.stamp, FRAMES, self.pose, motion.velocity))
            self.graph.spin(0.01)
        return sent

    def level(self, wanted: bytes, text: str) -> None:
        """Wait for a diagnostic; one that all is well comes while states do."""
        known = len(self.diagnostics)

        def found():
            if wanted == DiagnosticStatus.OK:
                self.feed(0.05)
            new = [status for array in self.diagnostics[known:] for status in array.status]
            return [s for s in new if s.level == wanted and text in s.message]

        self.graph.until(found, f"a diagnostic of {text}", timeout=20.0)


def loud(silence: Silence, platform) -> None:
    """Commands after the silence: hold, ramp and release, each in its time."""
    watched = silence.commands
    gravity = platform.inverse_dynamics(silence.pose, REST, REST)
    factors = np.array([(t, np.mean(effort / gravity)) for t, effort in watched])
    for _, effort in watched:
        # one factor for all legs: the platform is let down evenly
        np.testing.assert_allclose(
            effort, np.mean(effort / gravity) * gravity, rtol=1e-9, atol=1e-9
        )
    held = factors[factors[:, 1] > 1.0 - 1e-9]
    assert len(held) > 5
    # held for the time given, or a little longer on a machine that is busy
    assert 0.3 < held[-1, 0] - held[0, 0] < 1.5
    assert (np.diff(factors[:, 1]) <= 1e-12).all()
    ramp = factors[(factors[:, 1] < 1.0 - 1e-9) & (factors[:, 1] > 0.0)]
    assert len(ramp) > 5
    slope = np.polyfit(ramp[:, 0], ramp[:, 1], 1)[0]
    assert slope == pytest.approx(-1.0 / TIMES["watchdog_ramp"], rel=0.2)
    assert factors[-1, 1] == 0.0


@pytest.mark.parametrize("nonsense", [False, True], ids=["silence", "nonsense"])
def test_hold_ramp_release_and_recovery(platform, nonsense):
    """A publisher that dies in mid-path, or goes on with what are no states: it is the same."""
    path = rd.plan_line(platform.home, rd.pose_from_rpy([0.1, 0.0, 0.9], [0, 0, 0]), duration=9.0)
    given = {"model": MODEL, "mode": "computed_torque"} | TIMES
    with LocalGraph({"inverse_dynamics": given}) as graph:
        silence = Silence(graph, path)
        graph.spin(0.6)
        # nothing was heard yet: there is nothing to watch over
        assert silence.commands == []
        silence.feed(0.3)
        silence.level(DiagnosticStatus.OK, "computed_torque")
        last = silence.feed(0.2)
        graph.spin(0.02)
        silence.commands.clear()
        until = time.monotonic() + 1.6
        spoilt = messages.odometry(silence.stamp, FRAMES, silence.pose, REST)
        spoilt.twist.twist.linear.x = float("nan")
        error = ""
        while time.monotonic() < until or not error:
            if nonsense:
                silence.states.publish(spoilt)
            graph.spin(0.05)
            latest = [s for array in silence.diagnostics[-2:] for s in array.status]
            if any(s.level == DiagnosticStatus.ERROR for s in latest):
                error = latest[-1].message
        assert "no platform_state" in error
        assert silence.commands[0][0] - last > 0.28
        loud(silence, platform)
        silence.level(DiagnosticStatus.ERROR, "released")
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
        states.publish(messages.odometry(1, FRAMES, platform.home, REST))
        graph.until(lambda: commands and not any(commands[-1].effort), "no efforts any more")
        assert any(commands[0].effort)


def test_without_a_timeout_nothing_is_watched(platform):
    given = {"model": MODEL, "mode": "gravity_compensation", "watchdog_timeout": 0.0}
    with LocalGraph({"inverse_dynamics": given}) as graph:
        states = graph.publisher(Odometry, "platform_state")
        commands = graph.listen(JointState, "joint_commands")
        states.publish(messages.odometry(1, FRAMES, platform.home, REST))
        graph.until(lambda: commands, "a command")
        graph.spin(0.5)
        assert len(commands) == 1
