# SPDX-License-Identifier: Apache-2.0

"""Where each number of a mechanism with closed loops stands in its two flat arrays.

`numbers` are floats, `plan` whole numbers: what is known of the mechanism's structure before any
state is, so that the kernels follow lists instead of searching. Body 0 is the base; body i > 0
moves with joint i. The frame of a body is its joint's: z along the axis of a revolute or
prismatic joint.
"""

from __future__ import annotations

# Head of the plan: counts, and where its lists begin.
BODIES = 0  # without the base
POSITIONS = 1  # length of a configuration
RATES = 2  # tree coordinates, velocities of the tree
FREE = 3  # independent coordinates
DRIVEN = 4
EQUATIONS = 5  # rows of the closures, with those that hold idle freedoms
CLOSURES = 6
ENTRIES = 7  # places for entries of K, the last one for what is zero anyway
PIVOTS = 8
AT_BODIES = 9
AT_CLOSURES = 10
AT_PATHS = 11
AT_PIVOTS = 12  # where in the plan each pivot's record begins
AT_FREE = 13  # rate index of each independent coordinate
AT_DRIVEN = 14  # rate index of each driven joint
AT_FREE_ENTRIES = 15  # (row, independent coordinate, entry) of K's columns of independent ones
FREE_ENTRIES = 16
AT_NUMBERS = 17  # where in the numbers the bodies' begin
AT_SIGNS = 18  # where the paths' factors begin
AT_TIP = 19  # where the tip's placement begins
TIP = 20  # body that carries the tip
SLIDES = 21  # 1 if a closure needs the velocities of points
DRIVES_FREE = 22  # 1 if the driven joints are the independent ones, in this order
AT_THRESHOLDS = 23  # where the smallest acceptable pivots begin
DAMPED = 24  # 1 if a closure has damping
RUBS = 25  # 1 if a joint has dry friction
AT_WEIGHTS = 26  # where the driven joints' inverse weights begin, then their limits of effort
WIDEST = 27  # longest row of scratch
AT_ROWS = 28  # where the equations' factors begin, 1 by a length or 1
AT_PLACES = 29  # where each driven joint's position is in a configuration
AT_STEEP = 30  # most that a coordinate may move for one of an independent coordinate
AT_FREE_PLACES = 31  # where each independent coordinate is in a configuration
HEAD = 32

# Of each body, in the plan.
KIND = 0
PARENT = 1
POSITION = 2
RATE = 3
ALIGNED = 4  # 1 if its frame at position 0 has the parent's axes
CENTRED = 5  # 1 if its joint sits at the parent's origin
HEAVY = 6  # 1 if it has mass or inertia
OWN = 7  # where its own position is: elsewhere than POSITION if it mimics another joint
BODY_PLAN = 8
REVOLUTE, PRISMATIC, FLOATING = 0, 1, 2

# Of each body, among the numbers.
FRAME = 0  # 9, columns of its rotation at position 0 in the parent's frame
SHIFT = 9  # 3 [m]
MASS = 12
COM = 13  # 3 [m]
INERTIA = 16  # 6 [kg m^2], xx xy xz yy yz zz about the centre of mass
FACTOR = 22  # the joint's position is factor * q + offset
OFFSET = 23
DAMPING = 24
ARMATURE = 25  # inertia of rotors, reflected to the joint
SPIN = 26  # J ratio [kg m^2 or kg m] of a rotor about the joint's axis, carried by the parent
FRICTION_FORWARD = 27  # the parameters of `dry_friction` begin here
FRICTION_BACKWARD = 28
STATIC_EXCESS = 29  # static above Coulomb friction, forward
STATIC_EXCESS_BACKWARD = 30
STRIBECK = 31  # 1 / Stribeck velocity^2
BODY_NUMBERS = 32

# Of each closure, in the plan.
POINT = 0  # 1 if the origins coincide
ACROSS = 1  # how many directions, fixed in the parent, the child's origin must not leave along
ANGLES = 2  # how many pairs of directions keep their angle
IDLE = 3  # 1 for a freedom that is held at rest: no rotation about an axis fixed in the child
PARENT_BODY = 4
CHILD_BODY = 5
ROW = 6
PATH = 7
PATH_LENGTH = 8
CLOSURE_AT = 9  # where its numbers begin
CLOSURE_PLAN = 10
# Of each closure, among the numbers: two points, damping; then directions (3 each), pairs (7 each:
# in the parent's frame, in the child's, the cosine), or the idle axis.
CLOSURE_DAMPING = 6
CLOSURE_NUMBERS = 7

# Of each coordinate on the way round a loop: how it moves the child, and where its entries go.
MOVES = 0
MOVED_BY = 1
ENTRY = 2  # 6, one for each row of the closure
PATH_PLAN = 8
TURN, SLIDE, SHIFT_X, TURN_X = 0, 1, 2, 5

# Of each pivot, in the plan: entry, row, rate index, numbers of rows below and columns to the
# right; then (rate index, entry) of each column; then (row, entry, entries of its columns).
PIVOT_PLAN = 5

# Scratch of each body, base axes.
X, Y, Z = 0, 3, 6  # its frame
ORIGIN = 9
ARM = 12  # from the parent's origin
OMEGA = 15
ALPHA = 18  # accelerations where no rate changes, gravity taken from the base's
ACCEL = 21
VELOCITY = 24
FORCE = 27  # on the body and all that it carries, about its origin
MOMENT = 30
CHANGE = 33  # 6, what the rates' changes add to alpha and accel
BODY_SIZE = 39

# Why there is no answer.
OK = 0
POOR = 1  # these pivots do not serve here
SINGULAR = 2
OPEN = 3
STEEP = 4  # other independent coordinates would do better
