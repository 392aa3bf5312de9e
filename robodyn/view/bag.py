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

"""A recorded run, read from a bag by the package rosbags; ROS is not needed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.errors import InvalidInput, MissingExtra
from robodyn.extras import how_to_install
from robodyn.mechanisms.load import load
from robodyn.view.bag_plan import recorded_plan
from robodyn.view.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories.base import Trajectory


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
    """A recorded run; of several runs in a bag, as after a reset, the last one.

    Attributes:
        bag: the file or folder.
        source: of the model: the one given, or the bag's robot_description.
        mechanism: what was recorded.
        times: (N,) [s], increasing.
        configurations: (N, nq) as measured.
        efforts: (N, n) [N or N m] before they were limited.
        commanded: (N, n) [N or N m] as sent to the actuators.
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
    def recording(self) -> Recording:
        """The run as a source of snapshots."""
        return Recording(self.mechanism, self.times, self.configurations, self.efforts)

    def plan(self) -> tuple[Trajectory, float]:
        """The planned trajectory, from time 0 on, and its start [s] by the bag's clock.

        Raises:
            InvalidInput: no trajectory of this mechanism in the bag.
        """
        try:
            return recorded_plan(
                self._trajectories, self.mechanism, self._command_times, self.configurations[0]
            )
        except InvalidInput as error:
            raise InvalidInput(f"{self.bag}: {error}", value=self.bag) from error


def read_run(bag: str | Path, model: str = "") -> RecordedRun:
    """A recorded run.

    Args:
        bag: a .mcap file or a rosbag2 folder.
        model: bundled name or file of the mechanism that was recorded; by default the bag's
            robot_description.

    Raises:
        MissingExtra: rosbags is not installed.
        InvalidInput: no bag, or one that cannot be read, has no states or no robot_description.
        ModelError: the model is invalid.
    """
    found, topics = _messages(Path(bag))
    source = model or next((m.data for _, m in reversed(found["robot_description"])), "")
    if not source:
        raise InvalidInput(f"{bag}: it has no robot_description, name the model")
    mechanism = load(source)
    is_pose = mechanism.coordinates.is_pose
    name = "platform_state" if is_pose else "joint_states"
    states = _states(found[name], mechanism)
    if not states:
        raise InvalidInput(
            f"{bag}: no {name} of {mechanism.name}; recorded topics: {', '.join(topics) or 'none'}",
            value=str(bag),
        )
    times, configurations = _increasing(states)
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
        _efforts(commands or forces or measured, mechanism, times),
        plans,
        np.array(later),
    )


def read_recording(bag: str | Path, model: str = "") -> tuple[Recording, str]:
    """A recorded run to play, and its model's source; arguments and errors as for `read_run`."""
    run = read_run(bag, model)
    return run.recording, run.source


def _messages(bag: Path) -> tuple[dict[str, list[tuple[float, Any]]], list[str]]:
    """Stamped messages [s] of each of `TOPICS` in any namespace, and the names of all topics."""
    try:
        from rosbags.highlevel import AnyReader, AnyReaderError
        from rosbags.typesys import Stores, get_typestore
    except ImportError as failure:
        raise MissingExtra(
            f"reading a bag needs the package rosbags: {how_to_install('record')}", value="rosbags"
        ) from failure
    found: dict[str, list[tuple[float, Any]]] = {name: [] for name in TOPICS}
    try:
        store = get_typestore(Stores.ROS2_JAZZY)
        with AnyReader([bag], default_typestore=store) as reader:
            names = {
                connection.topic: name
                for connection in reader.connections
                for name in TOPICS
                if f"/{connection.topic}".endswith(f"/{name}")
            }
            wanted = [each for each in reader.connections if each.topic in names]
            if wanted:  # an empty list would mean all connections
                for connection, stamp, raw in reader.messages(wanted):
                    message: Any = reader.deserialize(raw, connection.msgtype)
                    name = names[connection.topic]
                    # a trajectory's own stamp is when it is to start, not when it was sent
                    at = stamp * 1e-9 if name in TRAJECTORIES else _stamp(message, stamp)
                    found[name].append((at, message))
            return found, sorted({connection.topic for connection in reader.connections})
    except (AnyReaderError, OSError, KeyError, ValueError) as failure:
        reason = " ".join(str(failure).split())
        raise InvalidInput(f"{bag}: this bag cannot be read: {reason}", value=str(bag)) from (
            failure
        )


def _stamp(message: Any, received: int) -> float:
    header = getattr(message, "header", None)
    if header is None:
        return received * 1e-9
    return float(header.stamp.sec + 1e-9 * header.stamp.nanosec)


def _states(
    messages: list[tuple[float, Any]], mechanism: Mechanism
) -> list[tuple[float, FloatArray]]:
    if mechanism.coordinates.is_pose:
        return [(t, _pose(m.pose.pose)) for t, m in messages]
    names = mechanism.measured_joints
    rest = np.zeros(len(names))
    found: list[tuple[float, FloatArray]] = []
    here: FloatArray | None = None
    for t, message in messages:
        readings = _values(message, names, "position")
        if readings is not None:
            here, _ = mechanism.state_of_readings(readings, rest, here)
            found.append((t, here))
    return found


def _pose(pose: Any) -> FloatArray:
    p, q = pose.position, pose.orientation
    return np.array([p.x, p.y, p.z, q.x, q.y, q.z, q.w])


def _values(message: Any, names: Sequence[str], field: str) -> FloatArray | None:
    """(k,) of the named joints, or None where the message lacks some of them."""
    where = dict(zip(message.name, getattr(message, field), strict=False))
    if any(name not in where for name in names):
        return None
    return np.array([where[name] for name in names])


def _increasing(states: list[tuple[float, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """Times and configurations of the last run in the bag, without repeated states.

    In lockstep a state is republished until it is answered; a reset sets time back to zero.
    """
    kept = _last_run(states)
    return np.array([t for t, _ in kept]), np.array([q for _, q in kept])


def _last_run(stamped: list[tuple[float, Any]]) -> list[tuple[float, Any]]:
    kept: list[tuple[float, Any]] = []
    for row in stamped:
        if kept and row[0] < kept[-1][0]:
            kept.clear()
        if not kept or row[0] > kept[-1][0]:
            kept.append(row)
    return kept


def _efforts(
    messages: list[tuple[float, Any]], mechanism: Mechanism, times: FloatArray
) -> FloatArray:
    """Efforts (N, n) at the times, each the latest recorded; zero where there is none."""
    rows = [(t, _values(m, mechanism.joint_names, "effort")) for t, m in messages]
    known = sorted(((t, e) for t, e in rows if e is not None), key=lambda row: row[0])
    out = np.zeros((len(times), len(mechanism.joint_names)))
    if known:
        index = np.searchsorted([t for t, _ in known], times, side="right") - 1
        out = np.array([e for _, e in known])[np.maximum(index, 0)]
    return out
