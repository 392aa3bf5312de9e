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

"""Bring the kernels of a mechanism to life before time matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.control.computed_torque import ComputedTorque
from robodyn.simulation.plant import Plant
from robodyn.trajectories.base import Motion

if TYPE_CHECKING:
    from robodyn.mechanism import Mechanism


def warm_up(mechanism: Mechanism) -> None:
    """Call once, at home, what control and simulation call: compiled or loaded, it is fast then.

    The first call of a kernel costs some 0.1 s where its machine code is cached on disk and
    seconds where it is not.
    """
    home = mechanism.home
    rest = mechanism.difference(home, home)
    mechanism.advance(home, rest)
    effort = mechanism.inverse_dynamics(home, rest, rest)
    ComputedTorque(mechanism).acceleration(home, rest, Motion(home, rest, rest))
    mechanism.joint_velocities(home, rest)
    mechanism.condition_number(home)
    Plant(mechanism).hold(np.asarray(effort), 1)
