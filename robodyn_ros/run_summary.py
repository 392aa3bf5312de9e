# SPDX-License-Identifier: Apache-2.0

"""Node that summarizes a run.

The node subscribes to the trajectory and the state of a platform or an arm, `joint_states`,
`joint_commands` and `/diagnostics`. When the path is finished, the node writes `summary.json` and
`history.csv` to the folder `output` and exits. The field `status` in the summary states how the run
ended. The exit code is 0 only if the status is `completed`.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from sensor_msgs.msg import JointState

from robodyn.algorithms.tracking import tracking_of
from robodyn.analysis.run import RunHistory, summary_text
from robodyn.arrays import FloatArray
from robodyn.control.lookahead import needs_regularity
from robodyn.trajectories import SampledTrajectory
from robodyn.warmup import warm_up_summary
from robodyn_ros import messages, qos
from robodyn_ros.interfaces import Interface, subscribe
from robodyn_ros.nodes import NODES, NOT_COMPLETED
from robodyn_ros.parameters import declare, load_mechanism, table
from robodyn_ros.runner import Finished

PARAMETERS = table("mechanism", "run_summary")
MONITOR = "condition_monitor: condition number"
AHEAD = "condition_monitor: trajectory ahead"
SIMULATION = "forward_simulator: simulation"
# Effects of a busy machine, counted until the run ends, so the latest text is used.
COUNTED = ("inverse_dynamics: states", "forward_simulator: real time")
# A run continues for this long [ns] after the mechanism has lost its path.
LOST_FOR = 200_000_000


class RunSummary(Node):
    """Node that collects the history of a run and writes its summary."""

    def __init__(self) -> None:
        super().__init__("run_summary")
        self._p = declare(self, PARAMETERS)
        self._mechanism = load_mechanism(self._p, warm_up=warm_up_summary)
        self._trajectory: SampledTrajectory | None = None
        self._start: int | None = None
        self._commanded: int | None = None
        self._received: dict[int, float] = {}  # wall time [s] of each state
        self._ended = 0.0
        self._reported = time.monotonic()
        self._states: dict[int, tuple[FloatArray, FloatArray]] = {}
        self._efforts: dict[int, FloatArray] = {}
        self._warnings: dict[tuple[str, bytes], tuple[int, str]] = {}
        self._others: dict[tuple[str, bytes], str] = {}
        self._regular = needs_regularity(self._mechanism)
        self._lost: int | None = None
        self._monitored, self._monitored_at = -1, 0.0
        self._stopped = ""
        topics = Interface(self, self._mechanism)
        topics.on_trajectory(self._on_trajectory)
        subscribe(self, JointState, "joint_states", self._on_joints, qos.LOSSLESS)
        subscribe(self, JointState, "joint_commands", self._on_command, qos.RECENT)
        subscribe(self, DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.LOSSLESS)
        # last, since in lockstep the simulation starts once this subscription exists
        topics.on_state(self._on_state, qos.LOSSLESS)
        self.create_timer(0.05, self._look)
        self.get_logger().info(f"run summary of {self._mechanism.name}, ready")

    @property
    def _end(self) -> int | None:
        """Time [ns] at which the run ends, once known."""
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

    def _on_state(self, stamp: int, configuration: FloatArray, velocity: FloatArray) -> None:
        if stamp in self._states:
            return
        self._states[stamp] = configuration, velocity
        self._received[stamp] = time.monotonic()
        start, end, trajectory = self._start, self._end, self._trajectory
        if start is None or end is None or trajectory is None:
            return
        if self._lost is None and start <= stamp <= end:
            planned = trajectory.sample((stamp - start) * 1e-9).configuration
            error = self._mechanism.difference(planned, configuration)
            if tracking_of(self._mechanism).is_lost(error):
                self._lost = stamp

    def _on_joints(self, message: JointState) -> None:
        stamp = messages.to_nanoseconds(message.header.stamp)
        if set(self._mechanism.joint_names).isdisjoint(message.name):
            return  # passive joints, published by state_estimator
        effort = messages.joint_values(message, self._mechanism.joint_names, "effort")
        if self._start is None and effort.any():
            self._begin(stamp, effort)
        self._efforts[stamp] = effort

    def _begin(self, stamp: int, effort: FloatArray) -> None:
        """Set the start of the run to the last time before efforts were applied."""
        known = [t for t in (*self._efforts, *self._states) if t < stamp]
        if known:
            # The path starts at the state of the first command. In real time that command takes
            # effect some periods later; in lockstep the command itself may be missed, but not its
            # effort.
            before = max(known)
            self._start = before if self._commanded is None else min(before, self._commanded)
            self._efforts.setdefault(before, np.zeros_like(effort))

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        stamp = messages.to_nanoseconds(message.header.stamp)
        for status in message.status:
            status.name = status.name.removeprefix(f"{self.get_namespace()}/".lstrip("/"))
            if status.name == MONITOR and stamp > self._monitored:
                self._monitored, self._monitored_at = stamp, time.monotonic()
            if status.name == SIMULATION and status.level == DiagnosticStatus.ERROR:
                self._stopped = status.message
            if any(value.key == "waiting" for value in status.values):
                continue  # not started yet
            if status.level == DiagnosticStatus.OK or (
                # warnings triggered by the wall clock would make runs irreproducible
                status.level == DiagnosticStatus.WARN
                and status.name not in (MONITOR, AHEAD, *COUNTED)
            ):
                continue
            if status.name == MONITOR and not self._regular:
                continue  # information only
            word = "ERROR" if status.level == DiagnosticStatus.ERROR else "WARN"
            text = f"{word} {status.name}: {' '.join(status.message.split())}"
            if status.name == MONITOR:
                text = f"{word} {status.name} at t = {stamp * 1e-9:.3f} s: {status.message}"
            if status.name.partition(":")[0] not in NODES:
                self._log_other_status(status, text)
                continue
            if status.name in COUNTED:
                first, _ = self._warnings.get((status.name, status.level), (stamp, ""))
                self._warnings[status.name, status.level] = first, text
                continue
            # only the first of each kind: near a threshold there may be many
            when = -1 if status.name == AHEAD else stamp
            self._warnings.setdefault((status.name, status.level), (when, text))

    def _log_other_status(self, status: DiagnosticStatus, text: str) -> None:
        """Log the first status of each kind from nodes outside the run."""
        kind = status.name, status.level  # texts may contain numbers that change every second
        if kind not in self._others:
            self._others[kind] = text
            self.get_logger().info(f"status of a node outside this run: {text}")

    def _look(self) -> None:
        """Write the summary after the run, once the condition monitor has evaluated it."""
        now, end = time.monotonic(), self._end
        last = max(self._efforts, default=-1)
        start = self._start
        if now - self._reported > 2.0 and start is not None and end is not None and not self._ended:
            self._reported = now
            since, whole = (max(t - start, 0) * 1e-9 for t in (last, end))
            self.get_logger().info(f"t = {since:.2f} s of {whole:.2f} s")
        if self._stopped:
            end = last
            if self._start is None or self._trajectory is None:
                raise Finished(1, f"{self._stopped}, before the run began: nothing to summarize")
        if end is None or last < end:
            return
        self._ended = self._ended or now
        # wait for a monitor that lags behind a run in lockstep as long as it makes progress
        waited = now - max(self._ended, self._monitored_at)
        if self._monitored >= end or waited > self._p["monitor_timeout"]:
            self._finish(end)

    def _finish(self, end: int) -> None:
        run = self._run(end)
        summary = run.summary()
        if self._p["output"]:
            written = run.write(self._p["output"])
            self.get_logger().info(f"written: {written}")
        sys.stdout.write(summary_text(summary) + "\n")
        sys.stdout.flush()
        raise Finished(0 if summary["status"] == "completed" else NOT_COMPLETED)

    def _run(self, end: int) -> RunHistory:
        start, trajectory = self._start, self._trajectory
        assert start is not None
        assert trajectory is not None
        stamps = [s for s in sorted(self._states) if start <= s <= end and s in self._efforts]
        if not stamps:
            raise Finished(
                1,
                "nothing to summarize: no state has the same stamp as a joint_states message from "
                f"t = {start * 1e-9:.3f} s to {end * 1e-9:.3f} s",
            )
        configuration, velocity = map(
            np.array, zip(*(self._states[s] for s in stamps), strict=True)
        )
        effort = np.array([self._efforts[s] for s in stamps])
        # joint_states has the effort that led to a state; a row shows the one applied from then on
        effort[:-1] = effort[1:]
        since = np.array([s - start for s in stamps]) * 1e-9
        # from the run's first state on, which may be older than the received start time
        wall = self._ended - self._received[stamps[0]]
        return RunHistory(
            self._mechanism,
            self._p["path"],
            self._p["mode"],
            since,
            configuration,
            velocity,
            effort,
            trajectory.sample(since),
            self._stopped,
            since[-1] / wall if wall > 0.0 else 0.0,
            [text for stamp, text in sorted(self._warnings.values()) if stamp <= end],
            self._p["friction"],
        )
