# SPDX-License-Identifier: Apache-2.0

"""Which trajectory is active: one replaces another without a jump, ends in a hold, starts again.

If the time of the states goes back to before the motion began, the simulation was reset: a
trajectory that began with a state begins again, one with a start time of its own waits for it.
The first trajectory takes over from the measured state where that is not at its beginning; every
handover takes as long as the limits of rates and efforts ask for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.checks import as_scalar
from robodyn.control.limited_motions import limited_handover, limited_stop
from robodyn.control.path_clock import LATE, Pace, PathClock
from robodyn.errors import InfeasibleTrajectory, InvalidInput, KinematicsError
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.trajectories.base import Motion, Trajectory
from robodyn.trajectories.handover import Handover
from robodyn.trajectories.sampled import SampledTrajectory

# Of a driven joint [m or rad]: a mechanism that is nearer to a trajectory than this is on it.
THERE = 1e-4


class _Given(NamedTuple):
    """A trajectory as it was given, to begin at `start` [ns] or with a state."""

    trajectory: Trajectory
    start: int | None
    holding: bool = False


class ActiveTrajectory:
    """The trajectory that a mechanism follows, and its time along it.

    Args:
        mechanism: that follows it.
        handover: [s] in which a trajectory that replaces another takes over, or the first one from
            a state away from it; longer where the limits ask for it; 0 for a jump.
        scale_rate: [1/s] how fast the speed follows the one asked for.
        hold_when_idle: without a trajectory, stay at the first state seen.
        stop_time: [s] in which a stop brings it to rest; another where the limits ask for it.

    Attributes:
        handover, stop_time: see above.
        clock: time along the path, and the speed asked for.
        answered: whether a state has been assigned a point of the trajectory.
        warning: of the latest stop, if it was not within the limits.

    Raises:
        InvalidInput: a number out of range.
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
        self.answered = False
        self._hold_when_idle = hold_when_idle
        self._given: _Given | None = None
        self._next: _Given | None = None
        self._path: Trajectory | None = None  # what was given, or a handover to it
        self._start: int | None = None
        self._earliest = -np.inf  # path time at which a handover began
        self._path_time = -np.inf  # at the latest state
        self._followed = False
        self._stops = False  # at the next state
        self._stop: Handover | None = None
        self._stop_began = 0

    def follow(self, trajectory: Trajectory, start: int | None = None) -> None:
        """Begin a trajectory at time `start` [ns], or at the next state that arrives.

        One that replaces another takes over from it without a jump. The first begins as it is where
        the mechanism is at its beginning, and takes over from the measured state elsewhere. One
        that cannot be taken up within the limits is dropped at the next state.

        Raises:
            InvalidInput: its configurations are not the mechanism's.
        """
        size = self.mechanism.coordinates.configuration_size
        shape, expected = trajectory.sample(0.0).configuration.shape, (size,)
        if shape != expected:
            raise InvalidInput(
                f"the trajectory's configurations have shape {shape}, those of "
                f"{self.mechanism.name} {expected}",
                value=shape,
            )
        given = _Given(trajectory, start)
        replaces = self.answered or (self._given is None and self._hold_when_idle)
        stopping = self._stops or self._stop is not None
        if stopping or (self.handover and self._followed and replaces):
            self._next = given
        else:
            self._take(given)
        self._followed = True

    def stop(self) -> None:
        """Abandon the trajectory, come to rest and hold the configuration measured then.

        It takes `stop_time`, or another time that keeps to the limits of the joints' rates, efforts
        and positions, beginning with the next state; without a stop time, what that finds is held.
        It is never refused: where none keeps to the limits, it is the one that breaks them least,
        see `warning`.
        """
        self._next = None
        self._stops = self._stop is None

    def stop_anew(self) -> None:
        """Come to rest from the next state on, wherever that is, and hold what is then.

        As `stop`, but a stop that goes on begins again, and a trajectory that waits for its end
        goes on waiting.
        """
        self._stop, self._stops = None, True

    @property
    def is_holding(self) -> bool:
        """Whether no trajectory that was given is followed: it rests, or comes to rest."""
        return self._given is None or self._given.holding

    @property
    def is_stopping(self) -> bool:
        """Whether it comes to rest, or will with the next state."""
        return self._stops or self._stop is not None

    def past_end(self, trajectory: Trajectory) -> float | None:
        """How long [s] of its own time a trajectory is over; None if it is not followed any more.

        Negative before its end, minus infinity before its beginning.
        """
        waiting, given = self._next, self._given
        if waiting is not None and waiting.trajectory is trajectory:
            return -np.inf
        if given is None or given.trajectory is not trajectory or self._path is None:
            return None
        return self._path_time - self._path.duration if self.answered else -np.inf

    def leave(self) -> None:
        """Forget the trajectory, as what has moved meanwhile was not it."""
        self._given = self._next = self._path = self._stop = None
        self.answered, self._hold_when_idle = False, True

    def at(
        self, time: int, configuration: FloatArray, velocity: FloatArray | None
    ) -> tuple[Pace, Trajectory] | None:
        """Pace and trajectory for a state measured at `time` [ns]; None without a trajectory.

        Without a velocity (nv,) the first trajectory begins as it is, wherever the mechanism is.

        Raises:
            InfeasibleTrajectory: a trajectory that was to begin now cannot be taken up within the
                limits; it is dropped, and what was followed before, or a hold, goes on.
        """
        self._notice_reset(time)
        if self._stops:
            self._begin_to_stop(time, configuration, velocity)
        if self._stop is not None:
            since = (time - self._stop_began) * 1e-9
            if -LATE * 1e-9 <= since < self._stop.blend:
                return Pace(max(since, 0.0), 1.0, 0.0), self._stop
            self._rest(configuration)
        if self._given is None:
            if not self._hold_when_idle:
                return None
            self._hold(configuration, self._next)
        measured = None
        looks = velocity is not None and self.handover > 0.0 and not self.answered
        if velocity is not None and looks and self._is_away(time, configuration):
            self._hold(configuration, self._given)
            measured = Motion(configuration, velocity, np.zeros_like(velocity))
        if self._start is None:
            self._start = time
            self.clock.begin(time)
        pace = self.clock.at(time)
        pace = pace._replace(path=max(pace.path, self._earliest))
        if self._next is not None and (self._next.start is None or time >= self._next.start):
            pace = self._hand_over(self._next, time, pace, measured)
        self.answered, self._path_time = True, pace.path
        return None if self._path is None else (pace, self._path)

    def _begin_to_stop(
        self, time: int, configuration: FloatArray, velocity: FloatArray | None
    ) -> None:
        """From what is measured; without a velocity from what is planned."""
        self._stops = False
        motion = None
        if self._path is not None and self.answered:
            pace = self.clock.at(time)
            motion = pace._replace(path=max(pace.path, self._earliest)).motion(self._path)
        if velocity is not None:
            acceleration = np.zeros_like(velocity) if motion is None else motion.acceleration
            motion = Motion(configuration, velocity, acceleration)
        waiting = self._next
        self.leave()
        self._next = waiting
        if motion is not None and self.stop_time > 0.0 and np.any(motion.velocity):
            self._stop, self.warning = limited_stop(self.mechanism, motion, self.stop_time)
            self._stop_began = time
        if self._stop is None:
            self._rest(configuration)
        self.answered = True

    def _rest(self, configuration: FloatArray) -> None:
        """The stop is over."""
        self._stop = None
        waiting = self._next
        if waiting is not None and not self.handover:
            self._take(waiting)
        else:
            self._hold(configuration, waiting)

    def _hold(self, configuration: FloatArray, waiting: _Given | None) -> None:
        """Rest at a configuration until another trajectory begins."""
        rest = np.zeros((1, self.mechanism.coordinates.velocity_size))
        here = Motion(configuration[None], rest, rest)
        self._take(_Given(SampledTrajectory(self.mechanism, [0.0], here), None, holding=True))
        self._next = waiting

    def _is_away(self, time: int, configuration: FloatArray) -> bool:
        """Whether the mechanism is not where the trajectory that begins wants it."""
        given = self._given
        if given is None or given.holding:
            return False
        since = 0.0 if given.start is None else max((time - given.start) * 1e-9, 0.0)
        wanted = given.trajectory.sample(since).configuration
        try:
            positions = self.mechanism.joint_positions(np.stack([configuration, wanted]))
        except KinematicsError:
            return False  # no efforts follow from there, in whichever way
        return bool(np.abs(self.mechanism.joint_difference(*positions)).max() > THERE)

    def _take(self, given: _Given) -> None:
        self._given, self._path, self._start = given, given.trajectory, given.start
        self._next = None
        self.answered, self._earliest = False, -np.inf
        if given.start is not None:
            self.clock.begin(given.start)

    def _hand_over(self, given: _Given, time: int, pace: Pace, measured: Motion | None) -> Pace:
        if self._path is None:
            return pace
        old = self._path.sample(pace.path) if measured is None else measured
        begins = time if given.start is None else given.start
        self._next = None
        try:
            taken = limited_handover(
                self.mechanism, old, given.trajectory, self.handover, start=(time - begins) * 1e-9
            )
        except InfeasibleTrajectory:
            self.answered = True  # by what goes on instead
            # whoever asks for a rest wants no more motion, however it ends
            self._stops = given.trajectory.duration == 0.0
            raise
        self._path, path = taken, self.clock.go_on(time, begins)
        self._given, self._start = given, time
        self._earliest = path
        return pace._replace(path=path)

    def _notice_reset(self, time: int) -> None:
        given, start = self._given, self._start
        if given is None or start is None:
            return
        late = LATE if self._path is not given.trajectory else 0
        if time >= start - late:
            return
        waiting = self._next
        self._take(given)
        self._next = waiting
        if given.holding:
            self._given = None
