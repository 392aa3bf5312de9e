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


"""A motion in a mechanism's own coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


class Motion(NamedTuple):
    """Configuration (..., nq), velocity and acceleration (..., nv) at one or many times.

    For a platform: pose (..., 7) [m, -], twist (..., 6) [m/s, rad/s], accel (..., 6) [m/s^2,
    rad/s^2]. For an arm: q, qd, qdd (..., n).
    """

    configuration: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
