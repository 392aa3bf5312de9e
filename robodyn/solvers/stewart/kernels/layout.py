# SPDX-License-Identifier: Apache-2.0

"""Layout of a Stewart platform's parameters in the flat arrays that the kernels read.

`legs` is (6, LEG_SIZE), one row per leg; `platform` is (PLATFORM_SIZE,). Symmetric matrices are
stored as xx xy xz yy yz zz.
"""

from __future__ import annotations

from typing import Final

from robodyn.dynamics.kernels import dry_friction

BASE: Final = 0  # b, base frame
TIP: Final = 3  # p, platform frame
AXIS: Final = 6  # k, unit, base frame
LOWER_MASS: Final = 9
LOWER_COM: Final = 10  # rd0, leg frame
UPPER_MASS: Final = 13
UPPER_COM: Final = 14  # ru0, leg frame
LEG_INERTIA: Final = 17  # Id0 + Iu0: the parts rotate together, so forces depend on the sum only
UPPER_INERTIA: Final = 23  # Iu0 alone, for the moment between the parts
UNIVERSAL_DAMPING: Final = 29
PRISMATIC_DAMPING: Final = 30
SPHERICAL_DAMPING: Final = 31
BASE_JOINT: Final = 32  # UNIVERSAL or SPHERICAL
# actuator of the leg; all zero without rotor and dry friction
REFLECTED: Final = 33  # J ratio^2 [kg]
SPIN_INERTIA: Final = 34  # J ratio [kg m] of a rotor about s, signed
STIFFNESS: Final = 35  # [N/m] of a spring along the leg
AT_ZERO: Final = 36  # [N] force that holds the leg against the spring at length 0
DRY_FRICTION: Final = 37  # the parameters of `dry_friction`, forward while the leg lengthens
LEG_SIZE: Final = DRY_FRICTION + dry_friction.DRY_FRICTION

UNIVERSAL: Final = 0.0
SPHERICAL: Final = 1.0

MASS: Final = 0
COM: Final = 1  # R0, platform frame
INERTIA: Final = 4  # Ip, platform frame
GRAVITY: Final = 10  # g, base frame
SPRINGS: Final = 13  # number of springs from base to platform, which follow as in `point_spring`
PLATFORM_SIZE: Final = 14

# Status codes of the kernels; a leg's number, 1 to 6, is added to those about a leg.
OK: Final = 0
ZERO_LENGTH: Final = 10
ALONG_UNIVERSAL_AXIS: Final = 20
SINGULAR: Final = 30
NOT_CONVERGED: Final = 50

# |k x s| below this: the leg frame is undefined (its rates grow with the inverse)
SMALLEST_SINE: Final = 1e-9
SMALLEST_LENGTH: Final = 1e-9
