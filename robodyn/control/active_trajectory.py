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

"""Which trajectory is active: one replaces another without a jump, ends in a hold, starts again.

If the time of the states goes back to before the motion began, the simulation was reset: a
trajectory that began with a state begins again, one with a start time of its own waits for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.checks import as_scalar
from robodyn.control.path_clock import LATE, Pace, PathClock
from robodyn.errors import InvalidInput
from robodyn.trajectories.base import Motion
from robodyn.trajectories.handover import Handover
from robodyn.trajectories.sampled import SampledTrajectory

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories.base import Trajectory


class _Given(NamedTuple):
    """A trajectory as it was given, to begin at `start` [ns] or with a state."""

    trajectory: Trajectory
    start: int | None
    holding: bool = False


class ActiveTrajectory:
    """The trajectory that a mechanism follows, and its time along it.

    Args:
        mechanism: that follows it.
        handover: [s] in which a trajectory that replaces another takes over; 0 for a jump.
        scale_rate: [1/s] how fast the speed follows the one asked for.
        hold_when_idle: without a trajectory, stay at the first state seen.

    Attributes:
        clock: time along the path, and the speed asked for.
        answered: whether a state has been assigned a point of the trajectory.

    Raises:
        InvalidInput: a number out of range.
    """

    def __init__(
        self, mechanism: Mechanism, handover: float, scale_rate: float, hold_when_idle: bool
    ) -> None:
        self.mechanism = mechanism
        self.handover = as_scalar("handover", handover, "s", at_least=0.0)
        self.clock = PathClock(scale_rate)
        self.answered = False
        self._hold_when_idle = hold_when_idle
        self._given: _Given | None = None
        self._next: _Given | None = None
        self._path: Trajectory | None = None  # what was given, or a handover to it
        self._start: int | None = None
        self._earliest = -np.inf  # path time at which a handover began
        self._followed = False

    def follow(self, trajectory: Trajectory, start: int | None = None) -> None:
        """Begin a trajectory at time `start` [ns], or at the next state that arrives.

        One that replaces another takes over from it without a jump. The first begins as it is.

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
        if self.handover and self._followed and replaces:
            self._next = given
        else:
            self._take(given)
        self._followed = True

    def stop(self) -> None:
        """Leave the trajectory and hold what the next state finds."""
        self._given = self._next = None
        self.answered, self._hold_when_idle = False, True

    def at(
        self, time: int, configuration: FloatArray, rest: FloatArray
    ) -> tuple[Pace, Trajectory] | None:
        """Pace and trajectory for a state measured at `time` [ns]; None without a trajectory.

        `rest` is the velocity (nv,) and the acceleration that hold the configuration.
        """
        self._notice_reset(time)
        if self._given is None:
            if not self._hold_when_idle:
                return None
            here = Motion(configuration[None], rest[None], rest[None])
            waiting = self._next
            self._take(_Given(SampledTrajectory(self.mechanism, [0.0], here), None, holding=True))
            self._next = waiting
        if self._start is None:
            self._start = time
            self.clock.begin(time)
        pace = self.clock.at(time)
        pace = pace._replace(path=max(pace.path, self._earliest))
        if self._next is not None and (self._next.start is None or time >= self._next.start):
            pace = self._hand_over(self._next, time, pace)
        self.answered = True
        return None if self._path is None else (pace, self._path)

    def _take(self, given: _Given) -> None:
        self._given, self._path, self._start = given, given.trajectory, given.start
        self._next = None
        self.answered, self._earliest = False, -np.inf
        if given.start is not None:
            self.clock.begin(given.start)

    def _hand_over(self, given: _Given, time: int, pace: Pace) -> Pace:
        if self._path is None:
            return pace
        old = self._path.sample(pace.path)
        path = self.clock.go_on(time, time if given.start is None else given.start)
        self._given, self._start, self._next = given, time, None
        self._path = Handover(self.mechanism, old, given.trajectory, self.handover, start=path)
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
