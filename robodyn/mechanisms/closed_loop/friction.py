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

"""Which joints of a mechanism with closed loops rub, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.mechanisms.closed_loop.kernels import layout
from robodyn.mechanisms.common.joint_friction import friction_row

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


def friction_rows(mechanism: Any) -> FloatArray:
    """(nf, sticking.ROW) of the driven joints, in their order, and of others with dry friction."""
    tree, driven = mechanism.structure.tree, list(mechanism.model.driven)
    rows = {}
    for body in tree.bodies[1:]:
        joint = body.joint
        if body.kind == layout.FLOATING:
            continue
        if joint.name in driven or joint.friction.any():
            rows[joint.name] = friction_row(joint.actuator, body.rate, body.factor)
    order = [*driven, *(name for name in rows if name not in driven)]
    return np.array([rows[name] for name in order])
