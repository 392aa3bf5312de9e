# SPDX-License-Identifier: Apache-2.0

"""The planned motion of a recorded run: the trajectories in its bag and their start times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.errors import InvalidInput
from robodyn.trajectories.base import Motion
from robodyn.trajectories.sampled import SampledTrajectory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism
    from robodyn.trajectories.base import Trajectory


class SupersededTrajectories:
    """Trajectories of which each supersedes the one before at its start.

    Args:
        starts: (K,) [s] increasing, the first 0.
        trajectories: K of them.
    """

    def __init__(self, starts: Sequence[float], trajectories: Sequence[Trajectory]) -> None:
        self._starts = np.array(starts)
        self._trajectories = list(trajectories)

    @property
    def duration(self) -> float:
        """Until the last one ends [s]."""
        return float(self._starts[-1]) + self._trajectories[-1].duration

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Times [s] at which one supersedes another."""
        return tuple(float(start) for start in self._starts[1:])

    def sample(self, t: ArrayLike) -> Motion:
        """The motion at times t (...) [s], of the trajectory valid then."""
        times = np.asarray(t, dtype=np.float64)
        which = np.maximum(np.searchsorted(self._starts, times, side="right") - 1, 0)
        whole = [
            trajectory.sample(times - start)
            for start, trajectory in zip(self._starts, self._trajectories, strict=True)
        ]
        chosen = [
            np.select(
                [(which == i)[..., None] for i in range(len(whole))],
                [motion[part] for motion in whole],
            )
            for part in range(len(Motion._fields))
        ]
        return Motion(*chosen)


def recorded_plan(
    messages: Sequence[tuple[float, Any]],
    mechanism: Mechanism,
    times: FloatArray,
    here: FloatArray,
) -> tuple[Trajectory, float]:
    """The planned trajectory, from time 0 on, and its start time [s].

    A trajectory with stamp zero started with the first command after it was received, as
    `TrajectoryFollower` does it; one that was superseded counts until then.

    Args:
        messages: trajectories, with the times [s] at which they were recorded.
        mechanism: what followed them.
        times: (N,) [s] of the commands, or of the states where no commands were recorded.
        here: the first configuration.

    Raises:
        InvalidInput: no message, or one that is not a trajectory of this mechanism.
    """
    if not messages:
        raise InvalidInput("it has no trajectory: name the path that was followed by --path")
    begun: list[tuple[float, Trajectory]] = []
    for received, message in messages:
        stamp = _seconds(message.header.stamp)
        after = int(np.searchsorted(times, received - 1e-9))
        start = stamp or float(times[min(after, len(times) - 1)])
        # a trajectory that was to start later was superseded before it began
        begun = [(time, each) for time, each in begun if time < start]
        begun.append((start, _trajectory(message, mechanism, here)))
    first = begun[0][0]
    if len(begun) == 1:
        return begun[0][1], first
    starts = [time - first for time, _ in begun]
    return SupersededTrajectories(starts, [each for _, each in begun]), first


def _trajectory(message: Any, mechanism: Mechanism, here: FloatArray) -> SampledTrajectory:
    times = np.array([_seconds(point.time_from_start) for point in message.points])
    if not times.size:
        raise InvalidInput("a recorded trajectory has no points", value=message)
    if hasattr(message.points[0], "transforms"):
        return _of_poses(message, mechanism, times)
    names = list(message.joint_names)
    wanted = mechanism.independent_joints
    if sorted(names) != sorted(wanted):
        raise InvalidInput(
            f"a recorded trajectory has the joints {', '.join(names)}, expected those of "
            f"{mechanism.name}: {', '.join(wanted)}",
            value=names,
        )
    order = [names.index(name) for name in wanted]
    zero = np.zeros(len(names))
    rows = (
        np.array([getattr(p, field) if len(getattr(p, field)) else zero for p in message.points])
        for field in ("positions", "velocities", "accelerations")
    )
    position, rate, change = (row[:, order] for row in rows)
    motion = mechanism.motion_of_independent(position, rate, change, here)
    return SampledTrajectory(mechanism, times, motion)


def _of_poses(message: Any, mechanism: Mechanism, times: FloatArray) -> SampledTrajectory:
    base, frame = mechanism.frames[0], message.header.frame_id
    if not mechanism.configuration_is_pose or frame not in ("", base):
        moved = f"poses in {base!r}" if mechanism.configuration_is_pose else "joint positions"
        raise InvalidInput(
            f"a recorded trajectory has poses in the frame {frame!r}, {mechanism.name} takes "
            f"{moved}",
            value=frame,
        )
    places = [point.transforms[0] for point in message.points]
    pose = np.array([[*_xyz(p.translation), *_xyz(p.rotation), p.rotation.w] for p in places])
    rates = (_rates(message.points, field) for field in ("velocities", "accelerations"))
    return SampledTrajectory(mechanism, times, Motion(pose, *rates))


def _rates(points: Sequence[Any], field: str) -> FloatArray:
    """(K, 6) linear, then angular; zero where missing."""
    rows = [list(getattr(point, field))[:1] for point in points]
    zero = (0.0,) * 6
    return np.array([[*_xyz(r[0].linear), *_xyz(r[0].angular)] if r else zero for r in rows])


def _xyz(vector: Any) -> tuple[float, float, float]:
    return vector.x, vector.y, vector.z


def _seconds(time: Any) -> float:
    return float(time.sec + 1e-9 * time.nanosec)
