# SPDX-License-Identifier: Apache-2.0

"""Placement, motion and momentum of the links of a tree, for every kind of mechanism.

The tree is packed by `dynamics.link_tree`: `plan` (integers in arrays of float64) and `numbers`
contain one record per link, parents before children, the root first. Positions p are those of the
tree's joints, with a floating joint's pose; rates r and their derivatives c are those of its
coordinates, with a floating joint's twist relative to the parent, in base axes. The tangent S
(rates, nv) contains the rates for each coordinate of the velocity; None stands for the identity.
Entries take rows of N states and return whether they are valid, which is not checked if `trusted`:
then p and r must be a configuration and a velocity.

F (links, PLACED) is the result for each link, in base axes: its frame and origin, then the axis of
its joint and the origin of the joint's frame on the link. Spatial quantities are linear over
angular. The recursions are those of Luh, Walker and Paul (1980); momenta follow Orin and Goswami
(2008).
"""

from __future__ import annotations

from typing import Any, Final

from robodyn.numerics.array_arguments import borrowed_array, stack
from robodyn.numerics.compiler import batch_entry, inner
from robodyn.numerics.matrices import (
    apply_transposed,
    matrix,
    store_matrix,
    transpose,
    turn_columns,
)
from robodyn.numerics.records import Layout, record_of
from robodyn.numerics.rotations import rotation_columns, store_pose
from robodyn.numerics.trigonometry import sine_cosine
from robodyn.numerics.vectors import (
    add,
    along,
    axpy,
    clear,
    combine,
    cross,
    dot,
    scale,
    store,
    sub,
    symmetric,
    turn_inertia,
    vector,
)

TREE_PLAN = Layout(
    links=1,
    positions=1,  # length of a configuration
    rates=1,  # length of a velocity
)
LINK_PLAN = Layout(
    parent=1,  # row of the parent link
    kind=1,  # REVOLUTE, PRISMATIC, FLOATING or FIXED
    position=1,  # index of the joint's position in p
    rate=1,  # index of its rate in r
    has_own=1,  # 1 if the link's frame is not that of the joint
    has_mass=1,
)
REVOLUTE, PRISMATIC, FLOATING, FIXED = 0, 1, 2, 3
LINK_NUMBERS = Layout(
    frame_x=3,  # axes of the joint's frame at position 0 in the parent's; z is the joint's axis
    frame_y=3,
    frame_z=3,
    shift=3,  # [m] its origin there
    own_x=3,  # axes of the link's frame in the joint's
    own_y=3,
    own_z=3,
    own_shift=3,  # [m]
    factor=1,  # the joint's position is factor * p + offset
    offset=1,  # [rad or m]
    mass=1,  # [kg]
    com=3,  # [m] link frame
    inertia=6,  # [kg m^2] xx xy xz yy yz zz about the center of mass, link frame
)
# Tolerance of a unit quaternion's squared length.
ROUNDING: Final = 1e-15
# Results for each link.
X, Y, Z, ORIGIN, AXIS, JOINT, PLACED = 0, 3, 6, 9, 12, 15, 18
# Velocity and acceleration of a link's origin.
VELOCITY, OMEGA, ACCELERATION, ALPHA, MOVED = 0, 3, 6, 9, 12
# Composite of a link and those it carries: mass, its moment, inertia xx xy xz yy yz zz about the
# origin.
MOMENT, INERTIA, CARRIED = 1, 4, 10
ZERO = (0.0, 0.0, 0.0)

_tree = record_of("link_tree", TREE_PLAN, Layout())
_link = record_of("link_of_tree", LINK_PLAN, LINK_NUMBERS)
_HEAD, _PLAN, _NUMBERS = TREE_PLAN.size, LINK_PLAN.size, LINK_NUMBERS.size


@inner
def link_of(plan: Any, numbers: Any, i: int) -> Any:
    """Return the record of link i from the packed tree of links."""
    return _link(plan, _HEAD + i * _PLAN, numbers, i * _NUMBERS)


@inner
def links_of(plan: Any, numbers: Any) -> int:
    """Return the number of links of the tree."""
    return int(_tree(plan, 0, numbers, 0).links)


@inner
def are_configurations(plan: Any, numbers: Any, p: Any) -> bool:
    """Return whether all joint positions p (N, k) are finite, with unit quaternions."""
    tree = _tree(plan, 0, numbers, 0)
    if not are_rows(p, tree.positions):
        return False
    for i in range(tree.links):
        link = link_of(plan, numbers, i)
        if link.kind == FLOATING:
            at = link.position + 3
            for n in range(p.shape[0]):
                square = 0.0
                for k in range(4):
                    square += p[n, at + k] * p[n, at + k]
                if not abs(square - 1.0) <= ROUNDING:
                    return False
    return True


@inner
def are_motions(plan: Any, numbers: Any, p: Any, r: Any, c: Any) -> bool:
    """Return whether N states have valid positions and finite rates and rate derivatives."""
    rates = _tree(plan, 0, numbers, 0).rates
    if not (are_rows(r, rates) and are_rows(c, rates)):
        return False
    return are_configurations(plan, numbers, p)


@inner
def are_rows(rows: Any, width: int) -> bool:
    """Return whether an array has the given number of columns and is finite."""
    if rows.shape[1] != width:
        return False
    # 0 times infinity or NaN is NaN, which equals nothing
    total = 0.0
    for n in range(rows.shape[0]):
        for j in range(width):
            total += 0.0 * rows[n, j]
    return bool(total == 0.0)


@inner
def place_link(link: Any, parent: Any, p: Any, placed: Any) -> None:
    """Compute the frames of a link and its joint from the frame of the parent link.

    Args:
        link: record of the link.
        parent: row of F for the parent link.
        p: positions of the tree's joints.
        placed: row of F for the link, to be written.
    """
    x, y, z = matrix(parent, X)
    origin = add(vector(parent, ORIGIN), combine(x, y, z, link.shift))
    x, y, z = turn_columns((x, y, z), (link.frame_x, link.frame_y, link.frame_z))
    kind, first = link.kind, link.position
    if kind == REVOLUTE:
        s, c = sine_cosine(link.factor * p[first] + link.offset)
        a = axpy(s, y, scale(c, x))
        y = axpy(-s, x, scale(c, y))
        x = a
    elif kind == PRISMATIC:
        origin = axpy(link.factor * p[first] + link.offset, z, origin)
    elif kind == FLOATING:
        origin = add(origin, combine(x, y, z, (p[first], p[first + 1], p[first + 2])))
        qx, qy, qz, qw = p[first + 3], p[first + 4], p[first + 5], p[first + 6]
        x, y, z = turn_columns((x, y, z), rotation_columns((0.0, 0.0, 0.0, qx, qy, qz, qw)))
    store(placed, AXIS, z)
    store(placed, JOINT, origin)
    if link.has_own == 1:
        origin = add(origin, combine(x, y, z, link.own_shift))
        x, y, z = turn_columns((x, y, z), (link.own_x, link.own_y, link.own_z))
    store_matrix(placed, X, (x, y, z))
    store(placed, ORIGIN, origin)


@inner
def place_root(root: Any, F: Any) -> None:
    """Write the frame of the root link, which its record contains, to row 0 of F."""
    store_matrix(F[0], X, (root.frame_x, root.frame_y, root.frame_z))
    store(F[0], ORIGIN, root.shift)


@inner
def place_all(plan: Any, numbers: Any, p: Any, F: Any) -> None:
    """Write the frames of all links to F (links, PLACED), for joint positions p."""
    place_root(link_of(plan, numbers, 0), F)
    for i in range(1, F.shape[0]):
        link = link_of(plan, numbers, i)
        place_link(link, F[link.parent], p, F[i])


@inner
def find_path_to_root(plan: Any, numbers: Any, row: int, way: Any) -> int:
    """Write the indices of link `row` and those above it, without the root, to `way`.

    They are written to the first row of `way` (1, links), from the link upward. Returns their
    number.
    """
    count = 0
    while row > 0:
        way[0, count] = row
        count += 1
        row = int(link_of(plan, numbers, row).parent)
    return count


@inner
def place_path(plan: Any, numbers: Any, p: Any, way: Any, count: int, F: Any) -> None:
    """Write the frames of the links from the root to a given link to F.

    They are written to the rows of these links in F (links, PLACED); other rows are not changed.
    `p` are the positions of the tree's joints; `way` and `count` are the result of
    `find_path_to_root`.
    """
    place_root(link_of(plan, numbers, 0), F)
    for k in range(count - 1, -1, -1):
        i = int(way[0, k])
        link = link_of(plan, numbers, i)
        place_link(link, F[link.parent], p, F[i])


@inner
def point_of(placed: Any, at: Any) -> Any:
    """Return the origin (3,) [m] of the frame `at` (12,) on a link, in the base frame.

    `placed` is the link's row of F, and `at` is in the link's frame: axes, then origin.
    """
    return add(vector(placed, ORIGIN), apply_transposed(matrix(placed, X), vector(at, ORIGIN)))


@inner
def state_of_tangent(S: Any, n: int) -> Any:
    """Return the tangent of state n, flat and row-major; None for the identity.

    It is the matrix (rates, nv) from the velocity to the joint rates.
    """
    if S is None:
        return None
    return borrowed_array(S)[n]


@inner
def add_column(J: Any, S: Any, j: int, linear: Any, angular: Any) -> None:
    """Add a coordinate's twist per unit rate to a row-major Jacobian J (6 nv,).

    Without S, the twist is added to column j; otherwise, to every column, times its entry in row j
    of S. The first three rows of J are linear, the last three angular.
    """
    nv = J.shape[0] // 6
    if S is None:
        for k in range(3):
            J[k * nv + j] += linear[k]
            J[(3 + k) * nv + j] += angular[k]
    else:
        for n in range(nv):
            slope = S[j * nv + n]
            for k in range(3):
                J[k * nv + n] += linear[k] * slope
                J[(3 + k) * nv + n] += angular[k] * slope


@inner
def add_joint(
    link: Any, placed: Any, point: Any, carried: Any, center: Any, S: Any, J: Any
) -> None:
    """Add a joint's contribution to a row-major matrix J (6 nv,), in base axes.

    The matrix is the Jacobian of `point` if `carried` is None. Otherwise it is the momentum matrix,
    with the angular momentum about `center`, of the links that the joint carries, and `point` is
    the base's origin. The first three rows of the matrix are linear, the last three angular.

    Args:
        link, placed: record of the joint's child link, and its row of F.
        point: point in the base frame.
        carried: mass, first moments and inertia of the carried links about the base's origin, or
            None.
        center: reference point of the angular momentum, in the base frame.
        S: tangent of the state, or None for the identity.
        J: matrix to be changed.
    """
    kind, j = link.kind, link.rate
    z, arm = scale(link.factor, vector(placed, AXIS)), sub(point, vector(placed, JOINT))
    if kind == REVOLUTE:
        add_twist(J, S, j, cross(z, arm), z, carried, center)
    elif kind == PRISMATIC:
        add_twist(J, S, j, z, ZERO, carried, center)
    elif kind == FLOATING:
        for k in range(3):
            axis = along(k, 1.0)
            add_twist(J, S, j + k, axis, ZERO, carried, center)
            add_twist(J, S, j + 3 + k, cross(axis, arm), axis, carried, center)


@inner
def add_twist(J: Any, S: Any, j: int, velocity: Any, omega: Any, carried: Any, center: Any) -> None:
    """Add a coordinate's twist per unit rate, or the momentum due to it, to matrix J.

    J, S, `carried` and `center` are as for `add_joint`, and j is the index of the coordinate. The
    twist, in base axes, is `omega` and the `velocity` of the point to which the Jacobian belongs,
    or of the point at the base's origin.
    """
    if carried is None:
        add_column(J, S, j, velocity, omega)
    else:
        moment = vector(carried, MOMENT)
        linear = axpy(carried[0], velocity, cross(omega, moment))
        angular = add(cross(moment, velocity), symmetric(carried, INERTIA, omega))
        add_column(J, S, j, linear, sub(angular, cross(center, linear)))


@inner
def move_link(link: Any, parent: Any, placed: Any, r: Any, c: Any, above: Any, own: Any) -> None:
    """Compute a link's velocity and acceleration (12,) from those of its parent.

    They are linear velocity of the link's origin, angular velocity, linear acceleration of that
    origin and angular acceleration, relative to the base, in base axes.

    Args:
        link: record of the link.
        parent, placed: rows of F for the parent and for the link.
        r, c: rates of the tree's joints, and their derivatives.
        above: (12,) velocity and acceleration of the parent.
        own: (12,) velocity and acceleration of the link, to be written.
    """
    omega, alpha = vector(above, OMEGA), vector(above, ALPHA)
    arm, z = sub(vector(placed, JOINT), vector(parent, ORIGIN)), vector(placed, AXIS)
    carried = cross(omega, arm)
    velocity = add(vector(above, VELOCITY), carried)
    accel = add(add(vector(above, ACCELERATION), cross(alpha, arm)), cross(omega, carried))
    kind, j = link.kind, link.rate
    if kind == REVOLUTE:
        turn = scale(link.factor * r[j], z)
        alpha = axpy(link.factor * c[j], z, add(alpha, cross(omega, turn)))
        omega = add(omega, turn)
    elif kind == PRISMATIC:
        slide = scale(link.factor * r[j], z)
        accel = axpy(link.factor * c[j], z, axpy(2.0, cross(omega, slide), accel))
        velocity = add(velocity, slide)
    elif kind == FLOATING:
        accel = add(accel, cross(omega, vector(r, j)))
        accel = add(accel, vector(c, j))
        alpha = add(alpha, vector(c, j + 3))
        velocity = add(velocity, vector(r, j))
        omega = add(omega, vector(r, j + 3))
    arm = sub(vector(placed, ORIGIN), vector(placed, JOINT))
    carried = cross(omega, arm)
    store(own, VELOCITY, add(velocity, carried))
    store(own, OMEGA, omega)
    store(own, ACCELERATION, add(add(accel, cross(alpha, arm)), cross(omega, carried)))
    store(own, ALPHA, alpha)


@batch_entry
def poses(plan: Any, numbers: Any, p: Any, row: int, at: Any, trusted: bool, out: Any) -> bool:
    """Write the poses (N, 7) of the frame `at` (12,) on link `row` to `out`.

    A pose is x y z [m], qx qy qz qw in the base frame; `at` is in the link's frame: axes, then
    origin. Returns False if the joint positions p are invalid, which is not checked if `trusted`.
    """
    p, at, out = borrowed_array(p), borrowed_array(at), borrowed_array(out)
    if not (trusted or are_configurations(plan, numbers, p)):
        return False
    links = links_of(plan, numbers)
    F, way = stack(links, PLACED), stack(1, links)
    count = find_path_to_root(plan, numbers, row, way)
    for n in range(p.shape[0]):
        place_path(plan, numbers, p[n], way, count, F)
        columns = turn_columns(matrix(F[row], X), matrix(at, X))
        store_pose(out[n], point_of(F[row], at), transpose(columns))
    return True


@batch_entry
def jacobians(
    plan: Any, numbers: Any, p: Any, S: Any, row: int, at: Any, trusted: bool, out: Any
) -> bool:
    """Write the Jacobians (N, 6 nv) of the frame `at` (12,) on link `row` to `out`.

    Each is a matrix (6, nv) in row-major order that maps the velocity to the linear velocity of the
    frame's origin and the angular velocity, in base axes. S are the tangents (N, rates nv), or
    None. Returns False if the joint positions p are invalid, which is not checked if `trusted`.
    """
    p, at, out = borrowed_array(p), borrowed_array(at), borrowed_array(out)
    if not (trusted or are_configurations(plan, numbers, p)):
        return False
    links = links_of(plan, numbers)
    F, way = stack(links, PLACED), stack(1, links)
    count = find_path_to_root(plan, numbers, row, way)
    for n in range(p.shape[0]):
        place_path(plan, numbers, p[n], way, count, F)
        clear(out[n])
        point = point_of(F[row], at)
        for k in range(count):
            i = int(way[0, k])
            link, tangent = link_of(plan, numbers, i), state_of_tangent(S, n)
            add_joint(link, F[i], point, None, ZERO, tangent, out[n])
    return True


@batch_entry
def motions(
    plan: Any, numbers: Any, p: Any, r: Any, c: Any, row: int, at: Any, trusted: bool, out: Any
) -> bool:
    """Write twists and accelerations (N, 12) of a frame on a link to `out`.

    The frame `at` (12,) is on the link with index `row`. A row is linear velocity of the frame's
    origin, angular velocity, and their time derivatives, relative to the base, in base axes. The
    arguments r and c (N, rates) are the rates of the joints and their derivatives. Returns False if
    p, r or c is invalid, which is not checked if `trusted`.
    """
    p, r, c = borrowed_array(p), borrowed_array(r), borrowed_array(c)
    at, out = borrowed_array(at), borrowed_array(out)
    if not (trusted or are_motions(plan, numbers, p, r, c)):
        return False
    links = links_of(plan, numbers)
    F, V, way = stack(links, PLACED), stack(links, MOVED), stack(1, links)
    count = find_path_to_root(plan, numbers, row, way)
    clear(V[0])
    for n in range(p.shape[0]):
        place_path(plan, numbers, p[n], way, count, F)
        for k in range(count - 1, -1, -1):
            i = int(way[0, k])
            link = link_of(plan, numbers, i)
            above = link.parent
            move_link(link, F[above], F[i], r[n], c[n], V[above], V[i])
        arm = sub(point_of(F[row], at), vector(F[row], ORIGIN))
        omega, alpha = vector(V[row], OMEGA), vector(V[row], ALPHA)
        carried = cross(omega, arm)
        store(out[n], VELOCITY, add(vector(V[row], VELOCITY), carried))
        store(out[n], OMEGA, omega)
        accel = add(vector(V[row], ACCELERATION), cross(alpha, arm))
        store(out[n], ACCELERATION, add(accel, cross(omega, carried)))
        store(out[n], ALPHA, alpha)
    return True


@batch_entry
def centers_of_mass(plan: Any, numbers: Any, p: Any, trusted: bool, out: Any) -> bool:
    """Write the centers of mass (N, 3) [m] of the whole mechanism to `out`.

    They are in the base frame. Returns False if the joint positions p are invalid, which is not
    checked if `trusted`.
    """
    p, out = borrowed_array(p), borrowed_array(out)
    if not (trusted or are_configurations(plan, numbers, p)):
        return False
    links = links_of(plan, numbers)
    F = stack(links, PLACED)
    for n in range(p.shape[0]):
        place_all(plan, numbers, p[n], F)
        mass, moment = 0.0, ZERO
        for i in range(links):
            link = link_of(plan, numbers, i)
            if link.has_mass == 1:
                mass += link.mass
                moment = axpy(link.mass, center_of(link, F[i]), moment)
        store(out[n], 0, scale(1.0 / mass, moment))
    return True


@batch_entry
def momenta(plan: Any, numbers: Any, p: Any, r: Any, trusted: bool, out: Any) -> bool:
    """Write the mechanism's momenta (N, 6) relative to the base, in its axes, to `out`.

    A row is the linear momentum, then the angular momentum about the base's origin. The arguments p
    and r are the positions of the joints and their rates. Returns False if they are invalid, which
    is not checked if `trusted`.
    """
    p, r, out = borrowed_array(p), borrowed_array(r), borrowed_array(out)
    if not (trusted or are_motions(plan, numbers, p, r, r)):
        return False
    links = links_of(plan, numbers)
    F, V = stack(links, PLACED), stack(links, MOVED)
    clear(V[0])
    for n in range(p.shape[0]):
        place_all(plan, numbers, p[n], F)
        linear, angular = ZERO, ZERO
        for i in range(links):
            link = link_of(plan, numbers, i)
            if i > 0:
                above = link.parent
                # accelerations are not read, so any derivatives of the rates will do
                move_link(link, F[above], F[i], r[n], r[n], V[above], V[i])
            if link.has_mass == 1:
                center, omega = center_of(link, F[i]), vector(V[i], OMEGA)
                lever = sub(center, vector(F[i], ORIGIN))
                velocity = add(vector(V[i], VELOCITY), cross(omega, lever))
                x, y, z = matrix(F[i], X)
                linear = axpy(link.mass, velocity, linear)
                angular = axpy(link.mass, cross(center, velocity), angular)
                angular = add(angular, turn_inertia(x, y, z, link.inertia, 0, omega))
        store(out[n], 0, linear)
        store(out[n], 3, angular)
    return True


@batch_entry
def centroidal_matrices(plan: Any, numbers: Any, p: Any, S: Any, trusted: bool, out: Any) -> bool:
    """Write the centroidal momentum matrices (N, 6 nv) to `out`.

    A matrix, in row-major order, maps the velocity (nv,) to the linear momentum, then the angular
    momentum about the mechanism's center of mass, in base axes. S are the tangents (N, rates nv),
    or None. Returns False if the joint positions p are invalid, which is not checked if `trusted`.
    """
    p, out = borrowed_array(p), borrowed_array(out)
    if not (trusted or are_configurations(plan, numbers, p)):
        return False
    links = links_of(plan, numbers)
    F, C = stack(links, PLACED), stack(links, CARRIED)
    for n in range(p.shape[0]):
        place_all(plan, numbers, p[n], F)
        for i in range(links):
            write_spatial_inertia(link_of(plan, numbers, i), F[i], C[i])
        for i in range(links - 1, 0, -1):
            above = link_of(plan, numbers, i).parent
            for k in range(CARRIED):
                C[above, k] += C[i, k]
        clear(out[n])
        center = scale(1.0 / C[0, 0], vector(C[0], MOMENT))
        for i in range(1, links):
            link, tangent = link_of(plan, numbers, i), state_of_tangent(S, n)
            add_joint(link, F[i], ZERO, C[i], center, tangent, out[n])
    return True


@inner
def center_of(link: Any, placed: Any) -> Any:
    """Return the center of mass (3,) [m] of a link in the base frame."""
    return add(vector(placed, ORIGIN), apply_transposed(matrix(placed, X), link.com))


@inner
def write_spatial_inertia(link: Any, placed: Any, out: Any) -> None:
    """Write a link's mass, first moments and inertia about the base's origin to `out`.

    All are in base axes. The inertia is xx, xy, xz, yy, yz, zz. A link without mass gives zeros.
    """
    clear(out)
    if link.has_mass == 1:
        center, mass = center_of(link, placed), link.mass
        x, y, z = matrix(placed, X)
        out[0] = mass
        store(out, MOMENT, scale(mass, center))
        first = turn_inertia(x, y, z, link.inertia, 0, along(0, 1.0))
        second = turn_inertia(x, y, z, link.inertia, 0, along(1, 1.0))
        column = turn_inertia(x, y, z, link.inertia, 0, along(2, 1.0))
        square = dot(center, center)
        out[INERTIA] = first[0] + mass * (square - center[0] * center[0])
        out[INERTIA + 1] = first[1] - mass * center[0] * center[1]
        out[INERTIA + 2] = first[2] - mass * center[0] * center[2]
        out[INERTIA + 3] = second[1] + mass * (square - center[1] * center[1])
        out[INERTIA + 4] = second[2] - mass * center[1] * center[2]
        out[INERTIA + 5] = column[2] + mass * (square - center[2] * center[2])
