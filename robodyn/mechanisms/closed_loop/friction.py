# SPDX-License-Identifier: Apache-2.0

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
