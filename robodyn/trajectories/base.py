# SPDX-License-Identifier: Apache-2.0

"""Protocol of trajectories, and base classes for trajectories that evaluate arrays of times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from robodyn.algorithms.motion import Motion as Motion
from robodyn.arrays import ArrayLike, FloatArray, Indices
from robodyn.checks import as_array
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.profiles import Profile


class Trajectory(Protocol):
    """Protocol of a motion over time, at rest before 0 and after `duration` [s]."""

    @property
    def duration(self) -> float:
        """Duration [s] of the motion."""

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Times [s], strictly between start and end, at which the acceleration jumps."""

    def sample(self, t: ArrayLike) -> Motion:
        """Return configuration, velocity and acceleration at given times.

        Args:
            t: times (...) [s].

        Returns:
            Configurations (..., nq), velocities and accelerations (..., nv).

        Raises:
            InvalidInput: t is not finite.
        """


class RowTrajectory:
    """Base class of trajectories whose method `_rows` evaluates an array of times."""

    _unit = "s"

    def sample(self, t: ArrayLike) -> Motion:
        """Return configuration, velocity and acceleration at times t (...) [s].

        The motion is at rest before 0 and after the end.

        Returns:
            Configurations (..., nq), velocities and accelerations (..., nv).

        Raises:
            InvalidInput: t is not finite.
        """
        times = as_array("t", t, (), self._unit)
        rows = self._rows(times.reshape(-1))
        return Motion(*(values.reshape(*times.shape, values.shape[-1]) for values in rows))

    def _rows(self, t: FloatArray) -> Motion:
        """Return the motion, arrays (N, k), at times (N,) [s]."""
        raise NotImplementedError


class ProfiledTrajectory(RowTrajectory):
    """Base class of trajectories with a single profile, which determines the duration."""

    profile: Profile

    @property
    def duration(self) -> float:
        """Duration [s] of the motion."""
        return self.profile.duration

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Times [s] at which the profile's acceleration jumps."""
        return tuple(t for t in self.profile.switching_times if 0.0 < t < self.duration)


class AtRest(RowTrajectory):
    """Trajectory that rests at a constant configuration (nq,)."""

    duration = 0.0
    switching_times: tuple[float, ...] = ()

    def __init__(self, mechanism: Mechanism, configuration: ArrayLike) -> None:
        rest = np.zeros(mechanism.coordinates.velocity_size)
        self._state = mechanism.advance(configuration, rest), rest, rest

    def _rows(self, t: FloatArray) -> Motion:
        return Motion(*(np.tile(values, (len(t), 1)) for values in self._state))


def refuse_other(mechanism: Mechanism, trajectory: Trajectory) -> None:
    """Raise an error if a trajectory does not have the coordinates of a mechanism.

    Raises:
        InvalidInput: the coordinates differ; the error states the coordinates of the trajectory and
            of the mechanism.
    """
    start, coordinates = trajectory.sample(0.0), mechanism.coordinates
    sizes = tuple(values.shape[-1] for values in start[:2])
    expected = coordinates.configuration_size, coordinates.velocity_size
    if sizes != expected:
        names = ", ".join(mechanism.independent_joints)
        remedy = "plan it with rd.plan_straight(mechanism, start, goal, ...)"
        if expected[0] > expected[1] and not coordinates.is_pose:
            remedy += f", which moves the independent joints ({names}) and closes the loops"
        raise InvalidInput(
            f"the trajectory has configurations of {sizes[0]} elements and velocities of "
            f"{sizes[1]}, expected {coordinates.text} of {mechanism.name} and velocities of "
            f"{expected[1]}; {remedy}",
            value=trajectory,
        )


def convert_to_time(motion: Motion, rate: FloatArray, acceleration: FloatArray) -> Motion:
    """Convert derivatives w.r.t. a path parameter to derivatives w.r.t. time.

    Args:
        motion: configurations (N, nq), first and second derivatives (N, nv) w.r.t. the parameter.
        rate, acceleration: (N,) first and second time derivatives of the parameter.

    Returns:
        Configurations (N, nq), velocities and accelerations (N, nv).
    """
    rate, acceleration = rate[:, None], acceleration[:, None]
    q, first, second = motion
    return Motion(q, first * rate, first * acceleration + second * rate**2)


def sample_by_parts(which: Indices, sample: Callable[[int, Indices], Motion]) -> Motion:
    """Sample several trajectories, each at its own times, as one motion.

    Args:
        which: (N,) for each time, the index of the trajectory to which it belongs.
        sample: function of the index of a trajectory and the indices of its times, which returns
            the motion at these times.

    Returns:
        The motion (N, ...) at all times.
    """
    present = np.unique(which).tolist() if which.size else [0]
    if len(present) == 1:
        return sample(present[0], np.arange(len(which)))
    out: Motion | None = None
    for part in present:
        rows = np.flatnonzero(which == part)
        found = sample(part, rows)
        if out is None:
            out = Motion(*(np.empty((len(which), values.shape[-1])) for values in found))
        for values, own in zip(out, found, strict=True):
            values[rows] = own
    assert out is not None  # there are several parts
    return out
