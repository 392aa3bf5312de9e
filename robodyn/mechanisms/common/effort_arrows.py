# SPDX-License-Identifier: Apache-2.0

"""Arrows of efforts on joint axes, for mechanisms whose actuators are drawn at their joints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.figure import Figure

# Distance of an arrow's tail from the joint's centre, in sizes of the mechanism.
CLEARANCE = 0.2


def joint_axis_arrows(
    figure: Figure, frames: FloatArray, names: Sequence[str], lengths: FloatArray, size: float
) -> FloatArray:
    """Arrows (n, 2, 3) [m] on the axes of joints, in the sense of the effort.

    Args:
        figure: has the joints.
        frames: (L, 4, 4) of its links.
        names: (n,) of the joints.
        lengths: (n,) [m] with the signs of the efforts.
        size: [m] of the mechanism.
    """
    joints = {joint.name: joint for joint in figure.joints}
    arrows = np.empty((len(lengths), 2, 3))
    for i, name in enumerate(names):
        joint = joints[name]
        frame = frames[figure.index(joint.parent)] @ joint.place
        axis = frame[:3, :3] @ joint.axis
        # clear of the joint's own shape, on the side that the effort points to
        start = frame[:3, 3] + np.copysign(CLEARANCE * size, lengths[i]) * axis
        arrows[i] = start, start + lengths[i] * axis
    return arrows
