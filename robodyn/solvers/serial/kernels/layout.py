# SPDX-License-Identifier: Apache-2.0

"""Layout of a serial arm's parameters in the array `chain` (n + 1, LINK_SIZE).

Frames as in Turney, Mudge and Lee (1980): joint i rotates about, or slides along, z of frame i-1;
frame i is fixed in link i, at joint i + 1, the last one at the tip. So T_{i-1}^i = J(q_i) X_i with
J the joint's motion and X_i fixed. Row i of `chain` is link i; row 0 holds X_0, from the base link
to frame 0, only.
"""

from __future__ import annotations

from robodyn.dynamics.kernels import dry_friction

ROTATION = 0  # 9, rows of the rotation of X_i
AXIS = 6  # 3, the last of these rows: the joint's axis z_{i-1} in frame i
SHIFT = 9  # 3 [m], translation of X_i in frame i-1
REACH = 12  # 3 [m], the same in frame i: r_i of a revolute joint, and of a prismatic one at q = 0
COM = 15  # 3 [m], rbar_i, from the origin of frame i to the center of mass, frame i
LEVER = 18  # 3 [m], r_i + rbar_i, of a prismatic joint at q = 0
MASS = 21  # [kg]
INERTIA = 22  # 6 [kg m^2], xx xy xz yy yz zz about the center of mass, frame i
SPREAD = 28  # 6 [kg m^2], K_i = tr(I)/2 E - I = integral of d d' dm, in the same order
PRISMATIC = 34  # 1 for a prismatic joint, 0 for a revolute one
ARMATURE = 35  # [kg m^2 or kg], reflected rotor inertia
DAMPING = 36  # [N m s or N s/m]
WRAPS = 37  # 1 for a joint whose positions a full turn apart are equal
STIFFNESS = 38  # [N m/rad or N/m] of the joint's spring
AT_ZERO = 39  # [N m or N] effort that holds the joint against the spring at q = 0
DRY_FRICTION = 40  # the parameters of `dry_friction`
LINK_SIZE = DRY_FRICTION + dry_friction.DRY_FRICTION

# Scratch of the recursions, a row for each link: R_{i-1}^i, r_i, r_i + rbar_i, force, moment.
WORK_ROTATION = 0
WORK_REACH = 9
WORK_LEVER = 12
WORK_FORCE = 15
WORK_MOMENT = 18
WORK_SIZE = 21

# Placed frames, a row for each frame 0..n: rows of its rotation, its origin; in the base frame.
FRAME_ORIGIN = 9
FRAME_SIZE = 12

# Scratch of the articulated-body algorithm, a row for each link; spatial vectors are pairs of an
# angular and a linear part, about the joint's origin, in base axes.
BODY_VELOCITY = 0  # 6
BODY_COUPLING = 6  # 6, velocity-dependent part of the acceleration
BODY_HANDLE = 12  # 6, U = articulated inertia times the joint's axis
BODY_EFFORT = 18  # u, effort left to accelerate the joint
BODY_INERTIA = 19  # D, articulated inertia seen by the joint
BODY_SIZE = 20
