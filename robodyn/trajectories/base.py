# SPDX-License-Identifier: Apache-2.0

"""The protocol of trajectories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from robodyn.mechanisms.common.motion import Motion as Motion

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Trajectory(Protocol):
    """A motion over time, at rest before 0 and after `duration` [s]."""

    @property
    def duration(self) -> float:
        """[s]."""

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Times [s], strictly inside, at which the acceleration jumps."""

    def sample(self, t: ArrayLike) -> Motion:
        """The motion at times t (...) [s].

        Raises:
            InvalidInput: t is not finite.
        """
