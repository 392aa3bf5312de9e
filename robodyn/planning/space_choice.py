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
"""Which of the spaces a mechanism's configurations are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.planning.sheets import SheetSpace
from robodyn.planning.spaces import OpenSpace

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.planning.spaces import Space


def space_of(mechanism: Mechanism, start: FloatArray, goal: FloatArray) -> Space:
    """The space in which to search between two configurations (nq,)."""
    coordinates = mechanism.coordinates
    simple = coordinates.configuration_size == coordinates.velocity_size
    if coordinates.is_pose or (simple and not coordinates.quaternions):
        return OpenSpace(mechanism, start, goal)
    return SheetSpace(mechanism, start, goal)
