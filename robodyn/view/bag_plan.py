# SPDX-License-Identifier: Apache-2.0

"""The planned motion of a recorded run: the trajectories in its bag and their start times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.trajectories.base import Motion, RowTrajectory, Trajectory, sampled_by_parts
from robodyn.trajectories.messages import joint_rows, sampled_trajectory, to_nanoseconds
from robodyn.trajectories.sampled import SampledTrajectory


class SupersededTrajectories(RowTrajectory):
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

    def _rows(self, t: FloatArray) -> Motion:
        valid = np.maximum(np.searchsorted(self._starts, t, side="right") - 1, 0)
        return sampled_by_parts(
            valid, lambda i, rows: self._trajectories[i].sample(t[rows] - self._starts[i])
        )


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
        stamp = 1e-9 * to_nanoseconds(message.header.stamp)
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
    try:
        if len(message.points) and hasattr(message.points[0], "transforms"):
            if not mechanism.configuration_is_pose:
                raise InvalidInput(f"it has poses, {mechanism.name} takes joint positions")
            return sampled_trajectory(message, mechanism)
        times, motion = joint_rows(message, mechanism.independent_joints)
    except InvalidInput as error:
        raise InvalidInput(f"a recorded trajectory: {error}", value=error.value) from error
    found = mechanism.motion_of_independent(*motion, here)
    return SampledTrajectory(mechanism, times, found)
