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

"""Positions, velocities and accelerations of a mechanism's joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


class JointStates(NamedTuple):
    """All joints of a mechanism's URDF that a joint state names, passive ones included.

    Attributes:
        names: (k,) in the order of the values.
        positions: (..., k) [rad or m] as the URDF measures them.
        velocities: (..., k) [rad/s or m/s].
    """

    names: tuple[str, ...]
    positions: FloatArray
    velocities: FloatArray


class DrivenMotion(NamedTuple):
    """How the driven joints move, (..., n) each.

    Attributes:
        positions: [m or rad].
        velocities: [m/s or rad/s].
        accelerations: [m/s^2 or rad/s^2].
    """

    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray
