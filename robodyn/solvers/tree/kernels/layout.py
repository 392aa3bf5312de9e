# SPDX-License-Identifier: Apache-2.0

"""Layout of a mechanism with closed loops in two flat arrays.

`numbers` contains floats. `plan` contains integers: the structure of the mechanism, which does not
depend on its state, so the compiled code follows lists instead of searching. Body 0 is
the base; body i > 0 moves with joint i. The frame of a body is that of its joint: z along the axis
of a revolute or prismatic joint. docs/packed_layouts.md shows the relations between the lists.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from robodyn.dynamics.kernels.dry_friction import DRY_FRICTION
from robodyn.numerics.compiler import inner
from robodyn.numerics.records import Layout, record_of

# Both arrays start with these; `at_...` is the start of a list in the plan, or in the numbers if
# stated.
PLAN = Layout(
    bodies=1,  # without the base
    positions=1,  # length of a configuration
    rates=1,  # tree coordinates, velocities of the tree
    free=1,  # independent coordinates
    driven=1,
    equations=1,  # rows of the closures, and of idle degrees of freedom
    closures=1,
    entries=1,  # places for entries of K, the last one for entries that are zero
    pivots=1,
    at_bodies=1,
    at_closures=1,
    at_paths=1,
    at_pivots=1,  # start of each pivot's record in the plan
    at_free=1,  # rate index of each independent coordinate
    at_driven=1,  # rate index of each driven joint
    at_free_entries=1,  # (row, independent coordinate, entry) of K's columns of independent ones
    free_entries=1,
    at_numbers=1,  # of the bodies, in the numbers
    at_signs=1,  # the paths' factors, in the numbers
    at_tip=1,  # the tip's placement, in the numbers
    tip=1,  # body that carries the tip
    slides=1,  # 1 if a closure or a spring needs the velocities of points
    drives_free=1,  # 1 if the driven joints are the independent ones, in this order
    at_thresholds=1,  # the smallest acceptable pivots, in the numbers
    damped=1,  # 1 if a closure has damping or a spring
    has_dry_friction=1,  # 1 if a joint has dry friction
    at_weights=1,  # the driven joints' inverse weights, then effort limits, in the numbers
    widest=1,  # longest row of scratch
    at_rows=1,  # the equations' factors, 1 by a length or 1, in the numbers
    at_places=1,  # index of each driven joint's position in a configuration
    at_steep=1,  # in the numbers: largest motion of a coordinate per unit of an independent one
    at_free_places=1,  # index of each independent coordinate in a configuration
    springs=1,  # between points of bodies
    at_springs=1,  # the bodies at the ends of each
    at_spring_numbers=1,  # see `dynamics.kernels.point_spring`, in the numbers
    at_free_wraps=1,  # 1 for each independent coordinate that is periodic
)
NUMBERS = Layout(gravity=3)  # [m/s^2] base frame

# Data of each body.
BODY_PLAN = Layout(
    kind=1,  # REVOLUTE, PRISMATIC or FLOATING
    parent=1,
    position=1,  # index of its joint's coordinate in a configuration
    rate=1,  # index of its rate among those of the tree
    aligned=1,  # 1 if its frame at position 0 has the parent's axes
    centered=1,  # 1 if its joint is at the parent's origin
    has_inertia=1,  # 1 if it has mass or inertia
    own=1,  # index of its own position; differs from `position` if it mimics another joint
)
REVOLUTE, PRISMATIC, FLOATING = 0, 1, 2
BODY_NUMBERS = Layout(
    frame_x=3,  # columns of its rotation at position 0 in the parent's frame
    frame_y=3,
    frame_z=3,
    shift=3,  # [m] its origin there
    mass=1,  # [kg]
    com=3,  # [m] body frame
    inertia=6,  # [kg m^2] xx xy xz yy yz zz about the center of mass, body frame
    factor=1,  # the joint's position is factor * q + offset
    offset=1,  # [rad or m]
    damping=1,  # [N m s or N s/m]
    armature=1,  # [kg m^2 or kg] rotor inertia, reflected to the joint
    spin=1,  # [kg m^2 or kg m] J ratio of a rotor about the joint's axis, carried by the parent
    stiffness=1,  # [N m/rad or N/m] of the joint's spring
    at_zero=1,  # [N m or N] effort that holds the joint against the spring at position 0
    dry_friction=DRY_FRICTION,  # the parameters of the law
)

# Data of each closure.
CLOSURE_PLAN = Layout(
    point=1,  # 1 if the origins coincide
    across=1,  # number of directions, fixed in the parent, along which the child's origin is fixed
    angles=1,  # number of pairs of directions at a constant angle
    idle=1,  # 1 for an idle degree of freedom: no rotation about an axis fixed in the child
    parent=1,  # number of the body
    child=1,
    row=1,
    path=1,  # number of its first step
    path_length=1,
    at_numbers=1,
)
# Then follow directions (3 each), pairs (7 each: in the parent's frame, in the child's, the
# cosine), or the idle axis (3).
CLOSURE_NUMBERS = Layout(
    in_parent=3,
    in_child=3,
    damping=1,
    stiffness=1,  # [N m/rad] of a spring
    turn_x=3,  # columns of the rotation from the child's frame at rest, in the parent, to that in
    turn_y=3,  # the child
    turn_z=3,
)

# Data of each coordinate around a loop: its effect on the child, and the places of its entries.
STEP_PLAN = Layout(moves=1, body=1, entries=6)  # an entry for each row of the closure
STEP_NUMBERS = Layout(sign=1)  # times the joint's factor
TURN, SLIDE, SHIFT_X, TURN_X = 0, 1, 2, 5

# Data of each pivot; then follow (rate index, entry) of each column; then (row, entry, entries of
# its columns) of each row.
PIVOT_PLAN = Layout(
    entry=1,
    row=1,
    rate=1,
    below=1,  # number of rows from which it is eliminated
    right=1,  # number of remaining columns of its row
)

# Scratch of each body, base axes.
X, Y, Z = 0, 3, 6  # its frame
ORIGIN = 9
ARM = 12  # from the parent's origin
OMEGA = 15
ALPHA = 18  # accelerations at constant rates, minus gravity
ACCEL = 21
VELOCITY = 24
FORCE = 27  # on the body and all bodies that it carries, about its origin
MOMENT = 30
CHANGE = 33  # 6, contribution of the rates' derivatives to alpha and accel
BODY_SIZE = 39
# Composite of each body and those that it carries: mass, its moment, inertia xx xy xz yy yz zz.
MOMENT_OF_MASS = 1
SECOND = 4
COMPOSITE = 10

# Reasons of a missing result.
OK = 0
BAD_PIVOTS = 1  # the pivots are unsuitable here
SINGULAR = 2
OPEN = 3
BAD_COORDINATES = 4  # other independent coordinates would be better

# Largest number of scratch values on the stack, each for eight lanes.
MOST: Final = 30_000


class Scratch(NamedTuple):
    """Preallocated scratch arrays for the dynamics of a mechanism with closed loops.

    Attributes:
        B: (bodies + 1, BODY_SIZE) state of each body.
        K: (entries,) nonzero entries of the closures' Jacobian; its factors after elimination.
        v, a: (rates,) rates of all joints and their derivatives.
        tau: (rates,) efforts of the tree.
        y: (equations,) a right-hand side.
        R: (at least equations * free and rates * free) right-hand sides of all columns of S, or the
            tree's mass matrix times S.
        S: (rates, free) tangent: rates of all joints per rate of each independent one.
        T: (bodies + 1, max(6 free, COMPOSITE)) twists of the bodies for each column of S, or
            composite inertias.
        M: (free, free) mass matrix.
        J: (6, free) Jacobian of the tip.
        u: (free,) momenta of a body or efforts at the independent coordinates.
        q: (positions,) saved configuration.
    """

    B: Any
    K: Any
    v: Any
    a: Any
    tau: Any
    y: Any
    R: Any
    S: Any
    T: Any
    M: Any
    J: Any
    u: Any
    q: Any


@inner
def shapes(m: Any) -> Any:
    """Return the shapes of the arrays of `Scratch` for a mechanism."""
    return shapes_for(m.positions, m.free, m.bodies, m.rates, m.equations, m.entries)


@inner
def shapes_for(positions: int, n: int, bodies: int, rates: int, rows: int, entries: int) -> Any:
    """Return the shapes of the arrays of `Scratch` for n independent coordinates.

    The other arguments are the numbers of positions, bodies, rates, equations and Jacobian entries.
    """
    return Scratch(
        (bodies + 1, BODY_SIZE), entries, rates, rates, rates, rows, max(rows, rates) * n,
        (rates, n), (bodies + 1, max(6 * n, COMPOSITE)), (n, n), (6, n), n, positions,
    )  # fmt: skip


@inner
def fits(m: Any) -> bool:
    """Return whether the scratch arrays for this mechanism fit on the stack."""
    rows = BODY_SIZE + max(6 * m.free, COMPOSITE) + 7
    return bool((m.bodies + 1 + m.rates) * rows + 12 * m.widest < MOST)


_mechanism = record_of("mechanism", PLAN, NUMBERS)
_body = record_of("body", BODY_PLAN, BODY_NUMBERS)
_closure = record_of("closure", CLOSURE_PLAN, CLOSURE_NUMBERS)
_step = record_of("step", STEP_PLAN, STEP_NUMBERS)
_pivot = record_of("pivot", PIVOT_PLAN, NUMBERS)
_BODY_PLAN, _BODY_NUMBERS = BODY_PLAN.size, BODY_NUMBERS.size
_CLOSURE_PLAN, _AT_NUMBERS, _STEP_PLAN = CLOSURE_PLAN.size, CLOSURE_PLAN.at_numbers, STEP_PLAN.size


@inner
def mechanism(plan: Any, numbers: Any) -> Any:
    """Return a record with named access to the packed arrays `plan` and `numbers`."""
    return _mechanism(plan, 0, numbers, 0)


@inner
def body_of(m: Any, i: int) -> Any:
    """Return a record of the packed data of body `i`, counted from 1."""
    at, place = m.at_bodies + (i - 1) * _BODY_PLAN, m.at_numbers + (i - 1) * _BODY_NUMBERS
    return _body(m.integers, at, m.numbers, place)


@inner
def closure_of(m: Any, k: int) -> Any:
    """Return a record of the packed data of closure `k`, counted from 0."""
    at = m.at_closures + k * _CLOSURE_PLAN
    return _closure(m.integers, at, m.numbers, m.integers[at + _AT_NUMBERS])


@inner
def step_of(m: Any, k: int) -> Any:
    """Return a record of the packed data of step `k` of the paths around loops.

    The steps of all paths are counted together.
    """
    return _step(m.integers, m.at_paths + k * _STEP_PLAN, m.numbers, m.at_signs + k)


@inner
def pivot_of(m: Any, n: int) -> Any:
    """Return a record of the packed data of pivot `n` of the elimination."""
    return _pivot(m.integers, m.integers[m.at_pivots + n], m.numbers, 0)
