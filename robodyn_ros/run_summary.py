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

"""Node `run_summary`: watches a run to its end, prints what came of it and writes it to files.

Subscribes the trajectory and the state of a platform or an arm, `joint_states`, `joint_commands`
and `/diagnostics`. When the path is flown it writes `summary.json` and `history.csv` to the folder
`output` and ends, with exit code 0: the status in the summary says how the run ended.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from sensor_msgs.msg import JointState

import robodyn as rd
from robodyn.analysis.run import RunHistory, summary_text
from robodyn.trajectories import SampledTrajectory
from robodyn_ros import messages, qos
from robodyn_ros.interfaces import interface
from robodyn_ros.parameters import MECHANISM, Spec, declare, load_mechanism
from robodyn_ros.runner import Finished

PARAMETERS = MECHANISM | {
    "output": Spec("", "folder for summary.json and history.csv; empty: write no files"),
    "path": Spec("", "name of the path in the summary"),
    "mode": Spec("", "name of the control mode in the summary"),
    "duration": Spec(0.0, "watch for so long [s]; 0: until the path is done", 0.0, 1e6),
    "monitor_timeout": Spec(3.0, "longest wait at the end for the last diagnostics [s]", 0.0, 60.0),
}
MONITOR = "condition_monitor: condition number"
AHEAD = "condition_monitor: trajectory ahead"
SIMULATION = "forward_simulator: simulation"
# A run goes on for so long [ns] after the mechanism has left its path, to show how.
LOST_FOR = 200_000_000


class RunSummary(Node):
    """Collects a run; the library makes the summary of it."""

    def __init__(self) -> None:
        super().__init__("run_summary")
        self._p = declare(self, PARAMETERS)
        self._mechanism = load_mechanism(self._p)
        self._trajectory: SampledTrajectory | None = None
        self._start: int | None = None
        self._commanded: int | None = None
        self._wall = 0.0
        self._ended = 0.0
        self._reported = time.monotonic()
        self._states: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._efforts: dict[int, np.ndarray] = {}
        self._warnings: dict[tuple[str, bytes], tuple[int, str]] = {}
        self._lost: int | None = None
        self._monitored = -1
        self._stopped = ""
        speaks = interface(self, self._mechanism)
        speaks.on_trajectory(self._on_trajectory)
        self.create_subscription(JointState, "joint_states", self._on_joints, qos.LOSSLESS)
        self.create_subscription(JointState, "joint_commands", self._on_command, qos.RECENT)
        self.create_subscription(
            DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.LOSSLESS
        )
        # last: a simulator goes on when it is heard there, and then all of it is heard
        speaks.on_state(self._on_state, qos.LOSSLESS)
        self.create_timer(0.05, self._look)

    @property
    def _end(self) -> int | None:
        """Time [ns] at which the run is over, once it is known."""
        if self._trajectory is None or self._start is None:
            return None
        seconds = self._p["duration"] or self._trajectory.duration
        end = self._start + round(seconds * messages.NANOSECONDS)
        return end if self._lost is None else min(end, self._lost + LOST_FOR)

    def _on_trajectory(self, trajectory: SampledTrajectory, start: int | None) -> None:
        self._trajectory = trajectory
        if start is not None:
            self._start = start

    def _on_command(self, message: JointState) -> None:
        if self._commanded is None:
            self._commanded = messages.to_nanoseconds(message.header.stamp)

    def _on_state(self, stamp: int, configuration: np.ndarray, velocity: np.ndarray) -> None:
        if stamp in self._states:
            return
        self._states[stamp] = configuration, velocity
        if self._start is not None and not self._wall and stamp >= self._start:
            self._wall = time.monotonic()
        if self._lost is None and self._end is not None and self._start <= stamp <= self._end:
            planned = self._trajectory.sample((stamp - self._start) * 1e-9).configuration
            error = self._mechanism.difference(planned, configuration)
            if self._mechanism.tracking.is_lost(error):
                self._lost = stamp

    def _on_joints(self, message: JointState) -> None:
        stamp = messages.to_nanoseconds(message.header.stamp)
        if set(self._mechanism.joint_names).isdisjoint(message.name):
            return  # the passive joints, by state_estimator
        try:
            effort = messages.joint_values(message, self._mechanism.joint_names, "effort")
        except rd.RobodynError as error:
            self.get_logger().error(f"joint_states refused: {error}", throttle_duration_sec=1.0)
            return
        if self._start is None and effort.any():
            self._begin(stamp, effort)
        self._efforts[stamp] = effort

    def _begin(self, stamp: int, effort: np.ndarray) -> None:
        """Efforts have led to a state, for the first time."""
        known = [t for t in (*self._efforts, *self._states) if t < stamp]
        if known:
            # The path begins at the state that the first command answers. By the wall clock that
            # command takes effect some periods later; in lockstep its own message may be missed,
            # but never the effort.
            before = max(known)
            self._start = before if self._commanded is None else min(before, self._commanded)
            self._efforts.setdefault(before, np.zeros_like(effort))

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        stamp = messages.to_nanoseconds(message.header.stamp)
        for status in message.status:
            if status.name == MONITOR:
                self._monitored = max(self._monitored, stamp)
            if status.name == SIMULATION and status.level == DiagnosticStatus.ERROR:
                self._stopped = status.message
            if status.level == DiagnosticStatus.OK or (
                # warnings that come by the wall clock would make no two runs alike
                status.level == DiagnosticStatus.WARN and status.name not in (MONITOR, AHEAD)
            ):
                continue
            word = "ERROR" if status.level == DiagnosticStatus.ERROR else "WARN"
            text = f"{word} {status.name}: {' '.join(status.message.split())}"
            if status.name == MONITOR:
                text = f"{word} {status.name} at t = {stamp * 1e-9:.3f} s: {status.message}"
            # the first of its kind; a mechanism that shakes near a threshold raises many
            when = -1 if status.name == AHEAD else stamp
            self._warnings.setdefault((status.name, status.level), (when, text))

    def _look(self) -> None:
        """Is the run over, and has the monitor seen all of it?"""
        now, end = time.monotonic(), self._end
        last = max(self._efforts, default=-1)
        if now - self._reported > 2.0 and end is not None and not self._ended:
            self._reported = now
            since, whole = (max(t - self._start, 0) * 1e-9 for t in (last, end))
            self.get_logger().info(f"t = {since:.2f} s of {whole:.2f} s")
        if self._stopped:
            end = last
            if self._start is None or self._trajectory is None:
                raise Finished(1, f"{self._stopped}, before the run had begun: nothing to sum up")
        if end is None or last < end:
            return
        self._ended = self._ended or now
        if self._monitored >= end or now - self._ended > self._p["monitor_timeout"]:
            self._finish(end)

    def _finish(self, end: int) -> None:
        run = self._run(end)
        summary = run.summary()
        if self._p["output"]:
            written = run.write(self._p["output"])
            self.get_logger().info(f"written: {written}")
        sys.stdout.write(summary_text(summary) + "\n")
        sys.stdout.flush()
        raise Finished(0)

    def _run(self, end: int) -> RunHistory:
        stamps = [s for s in sorted(self._states) if self._start <= s <= end and s in self._efforts]
        if not stamps:
            raise Finished(
                1,
                "nothing to sum up: no state and joint_states of one time from "
                f"t = {self._start * 1e-9:.3f} s to {end * 1e-9:.3f} s",
            )
        configuration, velocity = map(
            np.array, zip(*(self._states[s] for s in stamps), strict=True)
        )
        effort = np.array([self._efforts[s] for s in stamps])
        # joint_states tells the effort that led to a state; a row shows what is applied from it on
        effort[:-1] = effort[1:]
        since = np.array([s - self._start for s in stamps]) * 1e-9
        wall = self._ended - self._wall
        return RunHistory(
            self._mechanism,
            self._p["path"],
            self._p["mode"],
            since,
            configuration,
            velocity,
            effort,
            self._trajectory.sample(since),
            self._stopped,
            since[-1] / wall if wall > 0.0 else 0.0,
            [text for stamp, text in sorted(self._warnings.values()) if stamp <= end],
        )
