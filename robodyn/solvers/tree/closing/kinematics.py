# SPDX-License-Identifier: Apache-2.0

"""Kinematics of mechanisms with closed loops: poses of links, rates of all joints, Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numba import types

from robodyn.algorithms.motion import DrivenMotion, JointStates
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.errors import (
    InvalidInput,
    KinematicsError,
    SingularConfiguration,
    UnderActuated,
)
from robodyn.numerics.broadcasting import element, flatten
from robodyn.poses import quaternion_of_rotation
from robodyn.solvers.tree import calls
from robodyn.solvers.tree.calls import Call, batch, entry
from robodyn.solvers.tree.closing.rods import Rod, find_center_leg, find_rods
from robodyn.solvers.tree.joints import configurations, rates_of

# Largest residual of a given configuration, relative to the size.
OPEN = 1e-5


def joint_velocities(loop: Any, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
    """Compute the rates (..., n) [rad/s or m/s] of the driven joints.

    The velocity (..., mobility) is that of the independent joints.
    """
    return driven_motion(loop, configuration, velocity, np.zeros(loop.solver.nu)).velocities


def driven_motion(
    loop: Any, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
) -> DrivenMotion:
    """Compute positions, rates and accelerations (..., n) of the driven joints.

    Velocity and acceleration (..., mobility) are those of the independent joints.
    """
    positions = loop.joint_positions(configuration)
    if loop.solver.drives_free:
        changes = (
            rates_of(loop, "velocity", velocity),
            rates_of(loop, "acceleration", acceleration),
        )
        return DrivenMotion(*map(np.array, np.broadcast_arrays(positions, *changes)))
    v, a = joint_motion(loop, configuration, velocity, acceleration)
    return DrivenMotion(
        np.broadcast_to(positions, (*v.shape[:-1], loop.solver.n)),
        v[..., loop.solver.rates_at],
        a[..., loop.solver.rates_at],
    )


def joint_states(
    loop: Any, configuration: ArrayLike, velocity: ArrayLike | None = None
) -> JointStates:
    """Return names, positions and velocities (..., k) of all joints except floating ones.

    The velocity (..., mobility) of the independent joints is zero by default. `body_pose` and
    `link_pose` return the pose of a floating joint's link.
    """
    q = configurations(loop, "configuration", configuration)
    v = joint_rates(loop, q, np.zeros(loop.solver.nu) if velocity is None else velocity)
    names, at, rates, factors = loop.solver.listed
    return JointStates(
        names,
        np.broadcast_to(q[..., at], (*v.shape[:-1], len(at))),
        v[..., rates] * factors,
    )


def joint_index_table(loop: Any) -> tuple[tuple[str, ...], list[int], list[int], FloatArray]:
    """Return names, position and rate indices, and mimic factors of all joints.

    Floating joints are left out. The factor is the multiplier of a mimic joint, and 1 for other
    joints.
    """
    joints = [joint for joint in loop.solver.tree.joints if joint.kind != "floating"]
    return (
        tuple(joint.name for joint in joints),
        [loop.solver.tree.position_of[joint.name] for joint in joints],
        [loop.solver.tree.rate_of[joint.name] for joint in joints],
        np.array([joint.mimic.multiplier if joint.mimic else 1.0 for joint in joints]),
    )


def joint_rates(loop: Any, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
    """Compute the rates (..., rates) of all joints from the independent rates.

    Their order is that of `rate_names`.
    """
    return joint_motion(loop, configuration, velocity, np.zeros(loop.solver.nu))[0]


def joint_motion(
    loop: Any, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Compute the rates and accelerations (..., rates) of all joints.

    Velocity and acceleration (..., mobility) are those of the independent joints. The order of the
    results is that of `rate_names`.
    """
    found = tip_motion(loop, configuration, velocity, acceleration)
    count = loop.solver.tree.rates
    return found[..., :count], found[..., count : 2 * count]


def body_pose(loop: Any, configuration: ArrayLike) -> FloatArray:
    """Compute the pose (..., 7) of the tip link, base frame: x y z [m], qx qy qz qw."""
    q = configurations(loop, "configuration", configuration)
    if q.ndim == 1:
        out = np.empty(7)
        kernel_of(loop, calls.TIP_POSE)(np.ascontiguousarray(q), out)
        return out
    frames = frame_of(loop, q, loop.model.tip_link)
    turns = quaternion_of_rotation(frames[..., :3, :3])
    return np.concatenate([frames[..., :3, 3], turns], axis=-1)


def frame_of(loop: Any, q: FloatArray, link: str) -> FloatArray:
    """Compute the frames (..., 4, 4) of a link in the base frame.

    The configurations (..., nq) are not checked.
    """
    number = loop.solver.tree.body_of[link]
    axes = None
    if q.ndim > 1:
        packed = loop.structure.packed
        axes = batch(calls.FRAMES, packed, (loop.solver.nq,), (4, 3), (q,), number)
    if axes is None:
        bodies_at, each = loop.structure.equations.bodies_at, np.ndindex(q.shape[:-1])
        placed = [bodies_at(q[index])[number, :12] for index in each]
        axes = np.reshape(placed, (*q.shape[:-1], 4, 3))
    places = np.zeros((*q.shape[:-1], 4, 4))
    places[..., :3, :], places[..., 3, 3] = np.swapaxes(axes, -1, -2), 1.0
    # term by term, in the order of exported libraries, which BLAS would change
    local = loop.solver.tree.frame_of[link]
    x, y, z, origin = (places[..., k : k + 1] for k in range(4))
    found = x * local[0] + y * local[1] + z * local[2]
    found[..., 3:] += origin
    return np.asarray(found)


def rods(loop: Any) -> tuple[Rod, ...]:
    """Return the straight legs of the mechanism; see `find_rods`."""
    return find_rods(loop.structure.equations, loop.structure.home)


def coned_legs(loop: Any) -> tuple[Rod, ...]:
    """Return the legs with joints that may have cone limits: straight and center legs."""
    center = find_center_leg(loop.structure.equations, loop.structure.home)
    return (*loop.solver.rods, *center)


def leg_names(loop: Any) -> tuple[str, ...]:
    """Return the names of the closures and joints between the legs and the tip's body."""
    return tuple(rod.name for rod in loop.solver.coned_legs)


def leg_axes(loop: Any, configuration: ArrayLike) -> FloatArray:
    """Compute unit vectors (..., 2, k, 3) along the k legs, from their feet to the body.

    Vectors [..., 0, :, :] are in the frames of the links that carry the legs, vectors [..., 1, :,
    :] in the frame of the body that the legs support. A leg is on the link that carries its last
    rotating joint: for a rod with two ball joints, the crank or carriage.
    """
    q = configurations(loop, "configuration", configuration)
    found = np.empty((*q.shape[:-1], 2, len(loop.solver.coned_legs), 3))
    for k, rod in enumerate(loop.solver.coned_legs):
        # the foot is a point of the link that carries the leg, the tip one of the body
        frames = [frame_of(loop, q, link) for link in (rod.base, rod.body)]
        ends = [
            frame[..., :3, :3] @ point + frame[..., :3, 3]
            for frame, point in zip(frames, (rod.foot, rod.tip), strict=True)
        ]
        along = ends[1] - ends[0]
        along = along / np.linalg.norm(along, axis=-1, keepdims=True)
        for end, frame in enumerate(frames):
            found[..., end, k, :] = np.einsum("...i,...ij->...j", along, frame[..., :3, :3])
    return found


def jacobian(loop: Any, configuration: ArrayLike) -> FloatArray:
    """Compute the tip's Jacobian J (..., 6, mobility): twist = J @ velocity.

    The velocity is that of the independent joints; the twist is linear over angular, base frame.

    Args:
        loop: the mechanism.
        configuration: (..., nq), which must close the loops.

    Returns:
        J (..., 6, mobility).

    Raises:
        InvalidInput, SingularConfiguration: as for `inverse_dynamics`.
    """
    J = np.empty((6, loop.solver.nu))
    try:
        if kernel_of(loop, calls.JACOBIAN)(configuration, False, J):
            return J
    except TypeError:
        pass  # not a single float64 configuration
    return each_state(loop, calls.JACOBIAN, (6, loop.solver.nu), configuration)


def tangent(loop: Any, configuration: ArrayLike) -> FloatArray:
    """Compute the tangent matrix S (..., rates, mobility) of the loop closures.

    It maps the rates of the independent joints to those of all joints: rates = S @ velocity.
    """
    core = loop.solver.tree.rates, loop.solver.nu
    if np.shape(configuration) == (loop.solver.nq,):
        S = np.empty(core)
        with suppress(TypeError):  # not a float64 array
            if kernel_of(loop, calls.TANGENT)(configuration, S):
                return S
    return each_state(loop, calls.TANGENT, core, configuration)


def joint_jacobian(loop: Any, configuration: ArrayLike) -> FloatArray:
    """Compute the Jacobian A (..., n, mobility) of the driven joints.

    It maps the rates of the independent joints to those of the driven ones: A @ velocity.
    """
    return np.asarray(tangent(loop, configuration)[..., loop.solver.rates_at, :])


def kernel_of(loop: Any, call: Call) -> Callable[..., Any]:
    """Return the compiled function `name`, with the elimination order chosen at home."""
    found = loop.solver.calls.get(call)
    if found is None:
        found = loop.solver.calls.setdefault(call, entry(call, loop.structure.packed))
    return found


def call_entry(loop: Any, call: Call, q: FloatArray, *arguments: Any) -> None:
    """Call a compiled function at a closed configuration, with a fallback on failure.

    If the elimination of the closure equations fails with the order chosen at home, it is repeated
    with the orders used before and then with one chosen at `q`. The function writes its results to
    arrays in `arguments`.

    Raises:
        InvalidInput: the configuration does not close the loops.
        SingularConfiguration: all elimination orders fail.
    """
    if kernel_of(loop, call)(q, *arguments):
        return
    check_closed(loop, q)
    for packed in loop.solver.pivots.known:
        if entry(call, packed)(q, *arguments):
            return
    if not entry(call, loop.solver.pivots.at(q))(q, *arguments):
        raise SingularConfiguration(
            f"{loop.name}: the closures contradict this motion at this configuration, where "
            "their rank differs from that at nearby configurations",
            smallest_singular_value=0.0,
            direction=None,
            value=q,
        )


def check_closed(loop: Any, q: FloatArray) -> None:
    """Raise an error if a configuration does not close the loops.

    Raises:
        InvalidInput: the loops are open.
    """
    left = loop.structure.equations.relative_residual(q)
    if not left <= OPEN:
        name = loop.structure.equations.worst(q)
        raise InvalidInput(
            f"configuration is not closed: closure {name!r} is open by {left:.3g} of the "
            f"mechanism's size of {loop.structure.equations.size:.3g} m; assemble the mechanism "
            "first",
            value=q,
        )


def refuse_under_actuated(loop: Any) -> None:
    """Raise an error if the driven joints do not determine the mechanism's motion.

    Raises:
        UnderActuated: the mechanism is underactuated.
    """
    loose = loop.structure.loose
    if loose:
        hold = ", or fix the floating base (base: fixed)" if loop.solver.free_poses else ""
        raise UnderActuated(
            f"{loop.name}: the {loop.solver.n} driven joints do not determine the mechanism, "
            f"which has {loop.solver.nu} degrees of freedom; with all motors locked "
            f"{', '.join(loose)} still move. Drive more joints{hold}; forward dynamics and "
            "simulation work without this",
            joints=loose,
            value=loop.model.driven,
        )


def each_state(
    loop: Any,
    call: Call | None,
    core: tuple[int, ...],
    *values: ArrayLike | None,
    acceleration_or_effort: tuple[str, int] | None = None,
    find: Callable[..., None] | None = None,
) -> FloatArray:
    """Compute results (..., *core) of a compiled function for a batch of states.

    States are computed in SIMD lanes, and one by one if the lanes have no result.

    Args:
        call: the computation, for batches and for single states.
        core: shape of one result.
        values: configuration, rates, accelerations, wrench and motion of the base, as many of these
            as the function takes.
        acceleration_or_effort: name and width of an argument in place of accelerations.
        find: function that writes the result of a single state, to be called instead.

    Raises:
        InvalidInput: a shape is wrong, a value is not finite, or a configuration does not close the
            loops.
        KinematicsError: a state has no result; `index` is its position in the batch.
    """
    kept = acceleration_or_effort or ("acceleration", loop.solver.nu)
    widths = (loop.solver.nq, loop.solver.nu, kept[1], 6, 9)[: len(values)]
    given = any(np.ndim(part) > 1 for part in values if part is not None)
    found = batch(call, loop.structure.packed, widths, core, values) if given else None
    if found is not None and call is calls.INVERSE_DYNAMICS and loop.solver.n > loop.solver.nu:
        least, largest = loop.drives.effort_ranges.T  # SIMD lanes ignore the effort limits
        found[((found < least) | (found > largest)).any(axis=-1)] = np.nan
    if found is not None and not np.isnan(found).any():
        return found
    names = ("configuration", "velocity", kept[0], "wrench", "base")[: len(values)]
    units = (
        "every joint in the order of movable_joint_names",
        "independent joints, rad or m",
        "rad or m per s^2" if acceleration_or_effort is None else "N m or N",
        "N, N m",
        "",
    )
    parts = {
        what: as_array(what, value, (width,), unit)  # type: ignore[arg-type]
        for what, value, width, unit in zip(names, values, widths, units, strict=False)
        if value is not None or what not in ("wrench", "base")
    }
    shape, flat = flatten(**parts)
    states, count = dict(zip(parts, flat, strict=True)), len(flat[0])
    out = np.full((count, *core), np.nan) if found is None else found.reshape(count, *core)
    rest = [False] if call is not None and types.boolean in call.given else []  # skips no checks
    for n in np.flatnonzero(np.isnan(out).any(axis=tuple(range(1, out.ndim)))):
        state: list[Any] = [np.array(states[what][n]) if what in states else None for what in names]
        try:
            if find is not None:
                find(*state, out[n])
            elif call is not None:
                call_entry(loop, call, *state, *rest, out[n])
        except KinematicsError as error:
            error.index = element(shape, int(n))
            raise
    return out.reshape(*shape, *core)


def tip_motion(loop: Any, *motion: ArrayLike) -> FloatArray:
    """Compute the motion of all joints and the tip's acceleration in one array.

    `motion` is configuration (..., nq), velocity and acceleration (..., mobility). The result (...,
    2 * rates + 6) consists of the rates and the accelerations of all joints, and the linear and
    angular acceleration of the tip, base frame.
    """
    width = 2 * loop.solver.tree.rates + 6
    return each_state(loop, calls.MOTION, (width,), *motion)


def tree_jacobian(loop: Any, q: FloatArray) -> FloatArray:
    """Compute the tip's Jacobian (6, rates) of the tree, without the closures.

    It maps the rates of all joints to the tip's twist, linear over angular, base frame.
    """
    B, tree = loop.structure.equations.bodies_at(q), loop.solver.tree
    way = tree.loop_path(0, tree.body_of[loop.model.tip_link])
    return tree.point_jacobian(B, way, tree.frame_at(B, loop.model.tip_link)[:3, 3])


def configuration_rate(loop: Any, configuration: FloatArray, velocity: FloatArray) -> FloatArray:
    """Compute the time derivative (nq,) of a configuration, without checks.

    The velocity (mobility,) is that of the independent joints.
    """
    v, out = joint_rates(loop, configuration, velocity), np.empty(loop.solver.nq)
    entry(calls.CONFIGURATION_RATE, loop.structure.packed)(configuration, v, out)
    return out
