# SPDX-License-Identifier: Apache-2.0

"""The trajectory that a mechanism follows: replacement without jumps, holding, restarts.

If the time of the states falls behind the start of the motion, the simulation was reset. A
trajectory that started with a state then starts again; one with its own start time waits for it.
The first trajectory is blended in from the measured state if that is not its beginning. Every
handover takes as long as the limits of velocities and efforts require. Single points that arrive at
short intervals form a stream: the motion reaches each of them within a period, and stops when the
stream ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.algorithms import motions
from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.control.limited_motions import limited_handover, limited_stop
from robodyn.control.path_clock import LATE, Pace, PathClock
from robodyn.errors import InfeasibleTrajectory, InvalidInput, KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories import (
    Handover,
    Motion,
    PointStream,
    SampledTrajectory,
    StreamedPoint,
    Trajectory,
)

# Tolerance of driven joints [m or rad] within which a mechanism is on a trajectory.
TRAJECTORY_TOLERANCE = 1e-4


class _ScheduledTrajectory(NamedTuple):
    """Trajectory that starts at `start` [ns] or, if None, with the next state."""

    trajectory: Trajectory
    start: int | None
    holding: bool = False


class ActiveTrajectory:
    """Current trajectory of a mechanism, with the time along it, handovers and stops.

    Args:
        mechanism: mechanism that follows the trajectory.
        handover: duration [s] of the transition to a trajectory that replaces another, or to the
            first one from a different state. The transition takes longer if the limits require it;
            0 permits a jump.
        scale_rate: rate [1/s] at which the speed approaches the requested speed.
        hold_when_idle: if there is no trajectory, hold the first measured state.
        stop_time: duration [s] of a stop. The stop takes another time if the limits require it.

    Attributes:
        handover, stop_time: durations [s], as in the arguments.
        clock: time along the path, and the requested speed.
        is_started: whether a motion has begun since the construction or the last `discard_path`.
        warning: description of the limit that the latest stop exceeded; empty if none.

    Raises:
        InvalidInput: a number is out of range.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        handover: float,
        scale_rate: float,
        hold_when_idle: bool,
        stop_time: float = 0.25,
    ) -> None:
        self.mechanism = mechanism
        self.handover = as_scalar("handover", handover, "s", at_least=0.0)
        self.stop_time = as_scalar("stop_time", stop_time, "s", at_least=0.0)
        self.warning = ""
        self.clock = PathClock(scale_rate)
        self.is_started = False
        self._hold_when_idle = hold_when_idle
        self._current: _ScheduledTrajectory | None = None
        self._next: _ScheduledTrajectory | None = None
        self._path: Trajectory | None = None  # given trajectory, or a handover to it
        self._start: int | None = None
        self._earliest = -np.inf  # path time at the beginning of a handover
        self._path_time = -np.inf  # path time of the latest state
        self._has_followed = False
        self._stop_requested = False  # whether to stop at the next state
        self._stop: Handover | None = None
        self._stop_began = 0
        self._points, self._latest = PointStream(mechanism), 0  # [ns] time of the latest state
        self._stream_ends: int | None = None  # [ns] unless another point arrives

    def stream(self, trajectory: SampledTrajectory, start: int | None = None) -> bool:
        """Follow a trajectory that may be the next point of a stream; see `PointStream`.

        A point that continues a stream is reached within a period of the stream, and `start` is
        ignored. If no further point arrives, the motion stops as if `stop` had been called. Any
        other trajectory is passed to `follow`.

        Returns:
            Whether the trajectory continues a stream.

        Raises:
            InvalidInput: as for `follow`.
        """
        point = self._points.take(trajectory, self._latest)
        if point is None or not self.is_started:
            self.follow(trajectory, start)
            return False
        self._next = _ScheduledTrajectory(point, self._latest)
        ends = self._latest + round(1e9 * point.duration)
        self._stream_ends = ends if point.moves else None
        return True

    def follow(self, trajectory: Trajectory, start: int | None = None) -> None:
        """Follow a trajectory from time `start` [ns], or from the next state.

        A trajectory that replaces another is blended in without a jump. The first trajectory starts
        directly if the mechanism is at its beginning; otherwise it is blended in from the measured
        state. If no handover within the limits exists, the trajectory is dropped at the next state.

        Raises:
            InvalidInput: its configurations do not belong to the mechanism.
        """
        size = self.mechanism.coordinates.configuration_size
        shape, expected = trajectory.sample(0.0).configuration.shape, (size,)
        if shape != expected:
            raise InvalidInput(
                f"the trajectory's configurations have shape {shape}, but those of "
                f"{self.mechanism.name} have shape {expected}",
                value=shape,
            )
        self._stream_ends, given = None, _ScheduledTrajectory(trajectory, start)
        replaces = self.is_started or (self._current is None and self._hold_when_idle)
        stopping = self._stop_requested or self._stop is not None
        if stopping or (self.handover and self._has_followed and replaces):
            self._next = given
        else:
            self._start_trajectory(given)
        self._has_followed = True

    def stop(self) -> None:
        """Abort the trajectory, come to rest and hold the final configuration.

        The stop begins with the next state and takes `stop_time`, or another time within the limits
        of velocities, efforts and positions. If `stop_time` is 0, the next measured configuration
        is held. A stop is always possible: if no duration satisfies the limits, it uses the one
        that exceeds them least; see `warning`.
        """
        self._next = None
        self._stop_requested = self._stop is None

    def restart_stop(self) -> None:
        """Restart the stop from the next measured state.

        It works like `stop`, but also restarts a stop in progress. A trajectory that waits for the
        end of the stop keeps waiting.
        """
        self._stop, self._stop_requested = None, True

    @property
    def is_holding(self) -> bool:
        """Whether the mechanism holds or stops, instead of following a trajectory."""
        return self._current is None or self._current.holding

    @property
    def is_stopping(self) -> bool:
        """Whether a stop is in progress, or begins with the next state."""
        return self._stop_requested or self._stop is not None

    def past_end(self, trajectory: Trajectory) -> float | None:
        """Return the time [s] since a trajectory's end; None if it is no longer followed.

        The time is negative before the end, and minus infinity before the beginning.
        """
        waiting, given = self._next, self._current
        if waiting is not None and waiting.trajectory is trajectory:
            return -np.inf
        if given is None or given.trajectory is not trajectory or self._path is None:
            return None
        return self._path_time - self._path.duration if self.is_started else -np.inf

    def discard_path(self) -> None:
        """Discard the trajectory, because the mechanism was moved by other means.

        The next measured configuration is held until another trajectory begins.
        """
        self._current = self._next = self._path = self._stop = None
        self.is_started, self._hold_when_idle = False, True

    def at(
        self, time: int, configuration: FloatArray, velocity: FloatArray | None
    ) -> tuple[Pace, Trajectory] | None:
        """Return the `Pace` and the trajectory to follow for a measured state.

        Args:
            time: time [ns] of the state.
            configuration: (nq,) measured configuration.
            velocity: (nv,) measured velocity. With None, the first trajectory starts directly, at
                any measured configuration.

        Returns:
            Path time and speed, and the trajectory to evaluate at this pace, which may also be a
            handover, a stop or a hold. None if there is nothing to follow.

        Raises:
            InfeasibleTrajectory: no handover within the limits exists for a trajectory that starts
                now. It is dropped; the previous trajectory, or a hold, continues.
        """
        self._detect_clock_reset(time)
        self._latest = time
        if self._stream_ends is not None and time >= self._stream_ends:
            self._stream_ends = None
            self.stop()
        if self._stop_requested:
            self._begin_to_stop(time, configuration, velocity)
        if self._stop is not None:
            since = (time - self._stop_began) * 1e-9
            if -LATE * 1e-9 <= since < self._stop.blend:
                return Pace(max(since, 0.0), 1.0, 0.0), self._stop
            self._finish_stop(configuration)
        if self._current is None:
            if not self._hold_when_idle:
                return None
            self._hold(configuration, self._next)
        measured = None
        looks = velocity is not None and self.handover > 0.0 and not self.is_started
        if velocity is not None and looks and self._is_off_start(time, configuration):
            self._hold(configuration, self._current)
            measured = Motion(configuration, velocity, np.zeros_like(velocity))
        if self._start is None:
            self._start = time
            self.clock.begin(time)
        pace = self.clock.at(time)
        pace = pace._replace(path=max(pace.path, self._earliest))
        if self._next is not None and (self._next.start is None or time >= self._next.start):
            pace = self._hand_over(self._next, time, pace, measured)
        self.is_started, self._path_time = True, pace.path
        return None if self._path is None else (pace, self._path)

    def _begin_to_stop(
        self, time: int, configuration: FloatArray, velocity: FloatArray | None
    ) -> None:
        """Begin a stop from the measured state or, if `velocity` is None, the planned one."""
        self._stop_requested = False
        motion = None
        if self._path is not None and self.is_started:
            pace = self.clock.at(time)
            motion = pace._replace(path=max(pace.path, self._earliest)).motion(self._path)
        if velocity is not None:
            acceleration = np.zeros_like(velocity) if motion is None else motion.acceleration
            motion = Motion(configuration, velocity, acceleration)
        waiting = self._next
        self.discard_path()
        self._next = waiting
        if motion is not None and self.stop_time > 0.0 and np.any(motion.velocity):
            self._stop, self.warning = limited_stop(self.mechanism, motion, self.stop_time)
            self._stop_began = time
        if self._stop is None:
            self._finish_stop(configuration)
        self.is_started = True

    def _finish_stop(self, configuration: FloatArray) -> None:
        """Finish a stop; start the next trajectory or hold the final configuration."""
        self._stop = None
        waiting = self._next
        if waiting is not None and not self.handover:
            self._start_trajectory(waiting)
        else:
            self._hold(configuration, waiting)

    def _hold(self, configuration: FloatArray, waiting: _ScheduledTrajectory | None) -> None:
        """Hold a configuration at rest until the `waiting` trajectory, if any, begins."""
        rest = np.zeros((1, self.mechanism.coordinates.velocity_size))
        here = Motion(configuration[None], rest, rest)
        self._start_trajectory(
            _ScheduledTrajectory(SampledTrajectory(self.mechanism, [0.0], here), None, holding=True)
        )
        self._next = waiting

    def _is_off_start(self, time: int, configuration: FloatArray) -> bool:
        """Return whether the measured configuration is too far from the planned one."""
        given = self._current
        if given is None or given.holding:
            return False
        since = 0.0 if given.start is None else max((time - given.start) * 1e-9, 0.0)
        planned = given.trajectory.sample(since).configuration
        try:
            positions = self.mechanism.joint_positions(np.stack([configuration, planned]))
        except KinematicsError:
            return False  # no efforts exist for this state anyway
        return bool(
            np.abs(motions.joint_difference(self.mechanism, *positions)).max()
            > TRAJECTORY_TOLERANCE
        )

    def _start_trajectory(self, given: _ScheduledTrajectory) -> None:
        self._current, self._path, self._start = given, given.trajectory, given.start
        self._next = None
        self.is_started, self._earliest = False, -np.inf
        if given.start is not None:
            self.clock.begin(given.start)

    def _hand_over(
        self, given: _ScheduledTrajectory, time: int, pace: Pace, measured: Motion | None
    ) -> Pace:
        if self._path is None:
            return pace
        old = self._path.sample(pace.path) if measured is None else measured
        begins = time if given.start is None else given.start
        self._next, new, blend = None, given.trajectory, self.handover
        if isinstance(new, StreamedPoint):
            blend = min(new.period, blend) or new.period
        try:
            taken = limited_handover(self.mechanism, old, new, blend, start=(time - begins) * 1e-9)
        except InfeasibleTrajectory:
            self.is_started = True  # by the motion that continues instead
            # if the request was to come to rest, no motion may follow
            self._stop_requested = given.trajectory.duration == 0.0
            raise
        self._path, path = taken, self.clock.continue_on(time, begins)
        self._current, self._start = given, time
        self._earliest = path
        return pace._replace(path=path)

    def _detect_clock_reset(self, time: int) -> None:
        given, start = self._current, self._start
        if given is None or start is None:
            return
        late = LATE if self._path is not given.trajectory else 0
        if time >= start - late:
            return
        waiting = self._next
        self._start_trajectory(given)
        self._next = waiting
        if given.holding:
            self._current = None
