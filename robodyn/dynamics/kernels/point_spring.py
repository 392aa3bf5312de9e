# SPDX-License-Identifier: Apache-2.0

"""Springs between points of two bodies, for all kinds of mechanisms."""

from __future__ import annotations

from typing import Any, Final

from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import choose
from robodyn.numerics.vectors import Vector, dot, norm, scale

ON_PARENT: Final = 0  # 3 [m], its end on the parent, in the body's frame
ON_CHILD: Final = 3  # 3 [m], the same on the child
STIFFNESS: Final = 6  # [N/m]
AT_ZERO: Final = 7  # [N] tension at length 0
DAMPING: Final = 8  # [N s/m]
SLACK: Final = 9  # [m] length up to which it has no tension; -1 if it pushes there
POINT_SPRING: Final = 10  # number of these entries

# Length [m] of a spring below which it has no direction.
SHORTEST: Final = 1e-12


@inner
def spring_force(law: Any, start: int, reach: Vector, rate: Vector) -> Vector:
    """Compute the force [N] of a spring between two points on its end at the parent link.

    It points along `reach` if the spring is in tension, and is zero for a slack spring.

    Args:
        law, start: the parameters from STIFFNESS to SLACK are law[start : start + 4].
        reach: [m] from the end at the parent to that at the child.
        rate: [m/s] time derivative of `reach`, floats or SIMD lanes.
    """
    length = norm(reach)
    inverse = choose(length > SHORTEST, 1.0 / length, 0.0 * length)
    tension = law[start] * length + law[start + 1]
    tension = tension + law[start + 2] * (inverse * dot(reach, rate))
    tension = choose(length > law[start + 3], tension, 0.0 * tension)
    return scale(inverse * tension, reach)
