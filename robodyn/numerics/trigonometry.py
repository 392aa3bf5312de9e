# SPDX-License-Identifier: Apache-2.0

"""Sine and cosine together, and an arctangent, with the same arithmetic for one number and eight.

The polynomials and the reduction by multiples of a quarter turn are those of fdlibm (Sun, 1993;
k_sin.c, k_cos.c, e_rem_pio2.c), accurate to less than one unit in the last place. Free of branches,
they take as long for eight numbers as for one.
"""

from __future__ import annotations

import math
from typing import Any, Final

from robodyn.numerics.compiler import inner
from robodyn.numerics.simd.lanes import any_of, choose

# Adding and subtracting it rounds to the nearest whole number, up to 2^51.
ROUND: Final = 6755399441055744.0
TWO_BY_PI: Final = 6.36619772367581382433e-01
# pi/2 in parts of 33 bits and the rest: products with integers below 2^20 are exact.
PIECE_1: Final = 1.57079632673412561417e00
PIECE_2: Final = 6.07710050630396597660e-11
REST: Final = 2.02226624879595063154e-21
LARGEST_ANGLE: Final = 8e5  # 2^19 quarter turns

S1: Final = -1.66666666666666324348e-01
S2: Final = 8.33333333332248946124e-03
S3: Final = -1.98412698298579493134e-04
S4: Final = 2.75573137070700676789e-06
S5: Final = -2.50507602534068634195e-08
S6: Final = 1.58969099521155010221e-10
C1: Final = 4.16666666666666019037e-02
C2: Final = -1.38888888888741095749e-03
C3: Final = 2.48015872894767294178e-05
C4: Final = -2.75573143513906633035e-07
C5: Final = 2.08757232129817482790e-09
C6: Final = -1.13596475577881948265e-11


@inner
def sine_cosine(angle: Any) -> Any:
    """Return sine and cosine of a finite angle [rad]; for floats or SIMD vectors."""
    turns = (angle * TWO_BY_PI + ROUND) - ROUND
    # the angle minus whole quarter turns, as a sum x + y
    t = angle - turns * PIECE_1
    w = turns * PIECE_2
    r = t - w
    w = turns * REST - ((t - r) - w)
    x = r - w
    y = (r - x) - w

    z = x * x
    v = z * x
    rest = S2 + z * (S3 + z * (S4 + z * (S5 + z * S6)))
    sine = x - ((z * (0.5 * y - v * rest) - y) - v * S1)
    rest = z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6)))))
    half = 0.5 * z
    most = 1.0 - half
    cosine = most + (((1.0 - most) - half) + (z * rest - x * y))

    quarter = turns - 4.0 * ((turns * 0.25 + ROUND) - ROUND)  # -2 to 2
    odd = abs(abs(quarter) - 1.0) < 0.5
    s, c = choose(odd, cosine, sine), choose(odd, sine, cosine)
    s = choose(abs(quarter - 0.5) > 1.0, -s, s)
    c = choose(abs(quarter + 0.5) > 1.0, -c, c)
    far = abs(angle) > LARGEST_ANGLE
    if any_of(far):
        s, c = choose(far, math.sin(angle), s), choose(far, math.cos(angle), c)
    return s, c


@inner
def arctangent(x: Any) -> Any:
    """Return the arctangent [rad] of a number from 0 to 1; for floats or SIMD vectors.

    Two halvings of the angle leave at most 0.2, where twelve terms of the series suffice.
    """
    for _ in range(2):
        x = x / (1.0 + math.sqrt(1.0 + x * x))
    square = x * x
    total = 0.0 * x
    for k in range(11, -1, -1):
        total = 1.0 / (2.0 * k + 1.0) - square * total
    return 4.0 * x * total
