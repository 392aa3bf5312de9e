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

"""A Stewart platform in compiled simulations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.mechanisms.common.compiled_run import Kernels
from robodyn.mechanisms.common.kernels.integration import NO_COMMAND
from robodyn.mechanisms.stewart.kernels.integration import simulate
from robodyn.mechanisms.stewart.status import error_for
from robodyn.numerics.array_arguments import VECTOR

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray

# of packed lanes
KERNELS = Kernels(simulate, (VECTOR,))


def reason(legs: FloatArray, status: int, pose: FloatArray) -> str:
    """Why no acceleration, or no command, could be computed at a pose."""
    if status == NO_COMMAND:
        return "the forces are not finite"
    return str(error_for(status, (), pose, legs))
