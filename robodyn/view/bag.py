"""States and efforts out of a bag, by the package rosbags: no ROS is needed to look at a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.errors import InvalidInput, MissingExtra
from robodyn.loading import load
from robodyn.view.recording import Recording

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robodyn.mechanism import Mechanism

    FloatArray = NDArray[np.float64]

HOW_TO_INSTALL = "reading a bag needs the package rosbags: pip install 'robodyn[record]'"
TOPICS = ("platform_state", "joint_states", "inverse_dynamics/forces", "robot_description")


def read_recording(bag: str | Path, model: str = "") -> tuple[Recording, str]:
    """A recorded run, and the model's source: `model`, or the bag's robot_description.

    Args:
        bag: a .mcap file or a rosbag2 folder.
        model: bundled name or file of the mechanism that was recorded.

    Raises:
        MissingExtra: rosbags is not installed.
        InvalidInput: no bag, one that cannot be read, without states, or of no known mechanism.
        ModelError: the model cannot be taken.
    """
    found, topics = _messages(Path(bag))
    source = model or next((m.data for _, m in reversed(found["robot_description"])), "")
    if not source:
        raise InvalidInput(f"{bag}: no robot_description in it, name the model by --model")
    mechanism = load(source)
    name = "platform_state" if mechanism.kind == "stewart" else "joint_states"
    states = _states(found[name], mechanism)
    if not states:
        raise InvalidInput(
            f"{bag}: no {name} of {mechanism.name}; its topics are {', '.join(topics) or 'none'}",
            value=str(bag),
        )
    times, configurations = _increasing(states)
    efforts = _efforts(found["inverse_dynamics/forces"] or found["joint_states"], mechanism, times)
    return Recording(mechanism, times, configurations, efforts), source


def _messages(bag: Path) -> tuple[dict[str, list[tuple[float, Any]]], list[str]]:
    """Stamped messages [s] of each of `TOPICS`, whatever its namespace; and all topics."""
    try:
        from rosbags.highlevel import AnyReader, AnyReaderError
        from rosbags.typesys import Stores, get_typestore
    except ImportError as failure:
        raise MissingExtra(HOW_TO_INSTALL, value="rosbags") from failure
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
            if wanted:  # no connections would mean all of them
                for connection, stamp, raw in reader.messages(wanted):
                    message: Any = reader.deserialize(raw, connection.msgtype)
                    found[names[connection.topic]].append((_stamp(message, stamp), message))
            return found, sorted({connection.topic for connection in reader.connections})
    except (AnyReaderError, OSError, KeyError, ValueError) as failure:
        reason = " ".join(str(failure).split())
        raise InvalidInput(f"{bag}: not a bag that can be read: {reason}", value=str(bag)) from (
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
    if mechanism.kind != "stewart":
        rows = ((t, _values(m, mechanism, "position")) for t, m in messages)
        return [(t, q) for t, q in rows if q is not None]
    return [(t, _pose(m.pose.pose)) for t, m in messages]


def _pose(pose: Any) -> FloatArray:
    p, q = pose.position, pose.orientation
    return np.array([p.x, p.y, p.z, q.x, q.y, q.z, q.w])


def _values(message: Any, mechanism: Mechanism, field: str) -> FloatArray | None:
    """(n,) of the driven joints, or None where the message has not all of them."""
    where = dict(zip(message.name, getattr(message, field), strict=False))
    if any(name not in where for name in mechanism.joint_names):
        return None
    return np.array([where[name] for name in mechanism.joint_names])


def _increasing(states: list[tuple[float, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """Times and configurations of the last run in the bag, without states that were repeated.

    Lockstep says a state again until it is answered; a reset takes time back to zero.
    """
    kept: list[tuple[float, FloatArray]] = []
    for state in states:
        if kept and state[0] < kept[-1][0]:
            kept.clear()
        if not kept or state[0] > kept[-1][0]:
            kept.append(state)
    return np.array([t for t, _ in kept]), np.array([q for _, q in kept])


def _efforts(
    messages: list[tuple[float, Any]], mechanism: Mechanism, times: FloatArray
) -> FloatArray:
    """Efforts (N, n) at the times, each the last one known; zero where there is none."""
    rows = [(t, _values(m, mechanism, "effort")) for t, m in messages]
    known = sorted(((t, e) for t, e in rows if e is not None), key=lambda row: row[0])
    out = np.zeros((len(times), len(mechanism.joint_names)))
    if known:
        index = np.searchsorted([t for t, _ in known], times, side="right") - 1
        out = np.array([e for _, e in known])[np.maximum(index, 0)]
    return out
