# SPDX-License-Identifier: Apache-2.0

"""Recorded runs, read from bags by the package rosbags, without ROS."""

from __future__ import annotations

from bisect import bisect_left
from collections import abc
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from robodyn.algorithms import motions
from robodyn.arrays import FloatArray
from robodyn.control.command_units import CommandUnit
from robodyn.errors import InvalidInput
from robodyn.formats import read_bag, received_description
from robodyn.loading.load import load
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories import SampledTrajectory, Sequence, Trajectory
from robodyn.trajectories.messages import joint_rows, pose_array, sampled_trajectory, to_nanoseconds
from robodyn.view.replay import Replay

TOPICS = (
    "platform_state",
    "joint_states",
    "joint_commands",
    "inverse_dynamics/forces",
    "platform_trajectory",
    "joint_trajectory",
    "robot_description",
)

TRAJECTORIES = ("platform_trajectory", "joint_trajectory")


@dataclass(frozen=True)
class RecordedRun:
    """Recorded run of a mechanism from a bag; after simulation resets, the last run.

    Attributes:
        bag: file or folder.
        source: source of the model: the given one, or the bag's robot_description.
        mechanism: recorded mechanism.
        times: (N,) [s] increasing stamps of the states, on the bag's clock.
        configurations: (N, nq) measured configurations.
        efforts: (N, n) [N or N m] computed efforts, before limits were applied.
        commanded: (N, n) [N or N m] efforts sent to the actuators.
    """

    bag: str
    source: str
    mechanism: Mechanism
    times: FloatArray
    configurations: FloatArray
    efforts: FloatArray
    commanded: FloatArray
    _trajectories: list[tuple[float, Any]]
    _command_times: FloatArray

    @property
    def replay(self) -> Replay:
        """Player of the run, a source of states for a viewer page."""
        return Replay(self.mechanism, self.times, self.configurations, self.efforts)

    def plan(self) -> tuple[Trajectory, float]:
        """Return the recorded trajectory of the planner, and its start time.

        A trajectory with stamp zero starts with the first command after its receipt, as in
        `TrajectoryFollower`. If a trajectory was superseded, it counts until the next one starts.

        Returns:
            The trajectory, and its start [s] on the bag's clock.

        Raises:
            InvalidInput: the bag has no trajectory of this mechanism.
        """
        if not self._trajectories:
            raise InvalidInput(
                f"{self.bag}: the bag has no trajectory; name the path that was followed with "
                "--path",
                value=self.bag,
            )
        times = self._command_times
        begun: list[tuple[float, Trajectory]] = []
        for received, message in self._trajectories:
            stamp = 1e-9 * to_nanoseconds(message.header.stamp)
            after = int(np.searchsorted(times, received - 1e-9))
            start = stamp or float(times[min(after, len(times) - 1)])
            # a trajectory with a later start was superseded before it began
            begun = [(time, each) for time, each in begun if time < start]
            begun.append((start, self._trajectory(message)))
        first = begun[0][0]
        if len(begun) == 1:
            return begun[0][1], first
        starts = [time - first for time, _ in begun]
        return Sequence(tuple(each for _, each in begun), given_starts=tuple(starts)), first

    def _trajectory(self, message: Any) -> SampledTrajectory:
        m = self.mechanism
        try:
            if len(message.points) and hasattr(message.points[0], "transforms"):
                if not m.coordinates.is_pose:
                    raise InvalidInput(
                        f"the trajectory has poses, but {m.name} requires joint positions"
                    )
                return sampled_trajectory(message, m)
            times, motion = joint_rows(message, m.independent_joints)
        except InvalidInput as error:
            text = f"{self.bag}: a recorded trajectory is invalid: {error}"
            raise InvalidInput(text, value=error.value) from error
        return SampledTrajectory(
            m, times, motions.motion_of_independent(m, *motion, self.configurations[0])
        )


def read_run(bag: str | Path, model: str = "") -> RecordedRun:
    """Read a recorded run from a bag.

    Args:
        bag: a .mcap file or a rosbag2 folder.
        model: bundled name or file of the recorded mechanism; by default the bag's
            robot_description.

    Returns:
        The run.

    Raises:
        MissingExtra: rosbags is not installed.
        InvalidInput: the bag does not exist, cannot be read, or contains no states or no
            robot_description.
        ModelError: the model is invalid.
    """
    found, topics = _messages(Path(bag))
    source = model
    if not source:
        described = [m.data for _, m in found["robot_description"] if m.data]
        if not described:
            raise InvalidInput(f"{bag}: the bag has no robot_description; name the model")
        source = received_description(described[-1], f"{bag}: robot_description")
    mechanism = load(source)
    is_pose = mechanism.coordinates.is_pose
    name = "platform_state" if is_pose else "joint_states"
    states = _states(found[name], mechanism)
    if not states:
        raise InvalidInput(
            f"{bag}: no {name} of {mechanism.name}; recorded topics: {', '.join(topics) or 'none'}",
            value=str(bag),
        )
    times, configurations = map(np.array, zip(*_last_run(states), strict=True))
    commands, forces = found["joint_commands"], found["inverse_dynamics/forces"]
    measured = found["joint_states"]
    # only commands of the last run: states before a reset are dropped
    later = [t for t, _ in _last_run(commands)] or list(times)
    plans = (found["platform_trajectory"] if is_pose else []) or found["joint_trajectory"]
    return RecordedRun(
        str(bag),
        source,
        mechanism,
        times,
        configurations,
        _efforts(forces or measured, mechanism, times),
        _efforts(_at_joints(commands, measured, mechanism) or forces or measured, mechanism, times),
        plans,
        np.array(later),
    )


def _messages(bag: Path) -> tuple[dict[str, list[tuple[float, Any]]], list[str]]:
    """Return a bag's messages on `TOPICS` with their stamps [s], and all topic names.

    The topics may be in any namespace.
    """

    def topic_named(topic: str) -> str:
        return next((name for name in TOPICS if f"/{topic}".endswith(f"/{name}")), "")

    read = read_bag(bag, lambda topic, _: bool(topic_named(topic)))
    found: dict[str, list[tuple[float, Any]]] = {name: [] for name in TOPICS}
    commands = []
    for topic, received, message in read.messages:
        name = topic_named(topic)
        # the stamp of a trajectory is its start, not the time of sending
        own = None if name in TRAJECTORIES else getattr(message, "header", None)
        stamp = received if own is None else to_nanoseconds(own.stamp)
        found[name].append((1e-9 * stamp, message))
        if name == "joint_commands":
            commands.append((received, 1e-9 * stamp))
    # a bag of a simulation may have been recorded by the wall clock
    commands.sort()
    for name in TRAJECTORIES:
        found[name] = [(_next_stamp(commands, t), message) for t, message in found[name]]
    return found, list(read.topics)


def _next_stamp(commands: list[tuple[int, float]], received: float) -> float:
    """Return the stamp [s] of the first command received at or after a time [s].

    If there is none, return this time.
    """
    at = bisect_left(commands, (round(1e9 * received), -np.inf))
    return commands[at][1] if at < len(commands) else received


def _states(
    messages: list[tuple[float, Any]], mechanism: Mechanism
) -> list[tuple[float, FloatArray]]:
    if mechanism.coordinates.is_pose:
        return [(t, pose_array(m.pose.pose)) for t, m in messages]
    names = motions.measured_joints(mechanism)
    rest = np.zeros(len(names))
    found: list[tuple[float, FloatArray]] = []
    here: FloatArray | None = None
    for t, message in messages:
        readings = _values(message, names, "position")
        if readings is not None:
            here, _ = motions.state_of_readings(mechanism, readings, rest, here)
            found.append((t, here))
    return found


def _values(message: Any, names: abc.Sequence[str], field: str) -> FloatArray | None:
    """Return values (k,) of a field for the named joints; None if a joint is missing."""
    where = dict(zip(message.name, getattr(message, field), strict=False))
    if any(name not in where for name in names):
        return None
    return np.array([where[name] for name in names])


def _last_run(stamped: list[tuple[float, Any]]) -> list[tuple[float, Any]]:
    """Return the stamped messages after the last reset, without repeated states.

    In lockstep a state is republished until its command arrives; a reset sets time back to zero.
    """
    kept: list[tuple[float, Any]] = []
    for row in stamped:
        if kept and row[0] < kept[-1][0]:
            kept.clear()
        if not kept or row[0] > kept[-1][0]:
            kept.append(row)
    return kept


def _at_joints(
    commands: list[tuple[float, Any]], measured: list[tuple[float, Any]], mechanism: Mechanism
) -> list[tuple[float, Any]]:
    """Convert commands given as motor torques or currents to joint efforts."""
    units = {message.header.frame_id for _, message in commands} & {"torque", "current"}
    if not units:
        return commands
    names, rates = mechanism.joint_names, {}
    for t, message in measured:
        velocities = _values(message, names, "velocity")
        if velocities is not None:
            rates[t] = mechanism.drives.signs * velocities
    converted: list[tuple[float, Any]] = []
    for t, message in commands:
        values = _values(message, names, "effort")
        if values is not None and message.header.frame_id in units:
            unit = CommandUnit(mechanism, message.header.frame_id)
            efforts = unit.to_efforts(values, rates.get(t))
            converted.append((t, SimpleNamespace(name=names, effort=efforts)))
    return converted


def _efforts(
    messages: list[tuple[float, Any]], mechanism: Mechanism, times: FloatArray
) -> FloatArray:
    """Return the most recent recorded efforts (N, n) at N times; zero if none exist."""
    rows = [(t, _values(m, mechanism.joint_names, "effort")) for t, m in messages]
    known = sorted(((t, e) for t, e in rows if e is not None), key=lambda row: row[0])
    out = np.zeros((len(times), len(mechanism.joint_names)))
    if known:
        index = np.searchsorted([t for t, _ in known], times, side="right") - 1
        out = np.array([e for _, e in known])[np.maximum(index, 0)]
    return out
