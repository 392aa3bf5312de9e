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
