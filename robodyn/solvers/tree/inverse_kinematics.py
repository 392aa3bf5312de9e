# SPDX-License-Identifier: Apache-2.0

"""Inverse kinematics of mechanisms with closed loops, for the tip or the independent joints."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from robodyn.algorithms.motion import DrivenMotion, Motion
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_pose
from robodyn.errors import InvalidInput, NoSolution
from robodyn.presentation import presentation
from robodyn.solvers.tree import calls
from robodyn.solvers.tree.calls import batch, entry
from robodyn.solvers.tree.closing import assembly
from robodyn.solvers.tree.closing.equations import ACCEPTED, CLOSED, TipPose
from robodyn.solvers.tree.closing.kinematics import kernel_of, tip_motion, tree_jacobian
from robodyn.solvers.tree.joints import configurations, rates_of

# Most Newton steps to a pose, in general and in a control loop.
MOST_STEPS, NEAR_STEPS = 80, 20
# Batched motions of the body: residual, relative to the size, at which steps end, and that which
# counts as reached.
TARGET, REACHED = 1e-7, 1e-6


def configuration_at(loop: Any, pose: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
    """Find the configuration (nq,) with a tip pose (7,), near a guess.

    Only the pose components that determine the configuration are used (`tip_freedoms`): for a delta
    robot the position, for a spherical wrist the rotation. The other components follow from these.

    Args:
        loop: the mechanism.
        pose: (7,) of the tip, base frame.
        guess: (nq,) configuration; home by default.

    Returns:
        Configuration (nq,).

    Raises:
        InvalidInput: the tip's pose does not determine the configuration.
        NoSolution: the pose is out of reach.
    """
    goal = as_pose("pose", as_exact("pose", pose, (7,)))
    start = loop.home if guess is None else np.array(configurations(loop, "guess", guess))
    found, _ = _reach(loop, start, goal, loop.solver.tip_weights)
    if found is None:
        found = assembly.nearest(loop, start, [], _tip_at(loop, goal))
    return found


def configuration_near(loop: Any, pose: FloatArray, configuration: FloatArray) -> FloatArray:
    """Find the configuration (nq,) whose tip pose is nearest to a goal (7,).

    The goal is in the base frame. The search starts at the given configuration, which is returned
    if the search fails.
    """
    q = np.array(configuration)
    left = kernel_of(loop, calls.REACH)(q, pose, loop.solver.all_weights, CLOSED, NEAR_STEPS)
    return q if left >= 0.0 else configuration


def _tip_rows(loop: Any) -> list[int]:
    """Return the indices of the pose components that determine the configuration."""
    found = loop.solver.tip_freedoms
    if not found.suffice:
        raise InvalidInput(
            f"{loop.model.name} is {found.text} ({loop.model.tip_link}); state the goal as "
            "joint positions",
            value=found.freedoms,
        )
    return list(found.rows)


def tip_weights(loop: Any, rows: Sequence[int] = ()) -> FloatArray:
    """Return weights (6,) that scale errors of the tip's pose to comparable units.

    Positions are divided by the mechanism's size. The weight is zero for components that are not in
    `rows`, by default those that determine the configuration.
    """
    weights = np.zeros(6)
    weights[list(rows) or _tip_rows(loop)] = 1.0
    weights[:3] /= loop.structure.equations.size
    return weights


def all_weights(loop: Any) -> FloatArray:
    """Return weights (6,) that scale errors of the tip's pose to comparable units.

    Angles are multiplied by a characteristic length; then, all components are divided by the
    mechanism's size.
    """
    lengths = np.repeat([1.0, loop.characteristic_length], 3)
    return np.asarray(lengths / loop.structure.equations.size)


def _tip_at(loop: Any, goal: FloatArray) -> TipPose:
    size = loop.structure.equations.size
    return TipPose(goal, size, loop.body_pose, partial(tree_jacobian, loop), _tip_rows(loop))


def _reach(
    loop: Any, start: FloatArray, goal: FloatArray, weights: FloatArray
) -> tuple[FloatArray | None, bool]:
    """Find a nearby configuration (nq,) with a tip pose (7,), without a global search.

    Returns:
        The configuration or None, and whether the elimination of the closure equations succeeded;
        if it did, and there is no configuration, the goal is out of reach.
    """
    for packed in (loop.structure.packed, *loop.solver.pivots.known):
        q = np.array(start)
        left = entry(calls.REACH, packed)(q, goal, weights, CLOSED, MOST_STEPS)
        if left >= 0.0:
            return (q if left <= ACCEPTED else None), True
    return None, False


def motion_of_body(
    loop: Any,
    times: FloatArray,
    poses: FloatArray,
    twists: FloatArray,
    accels: FloatArray,
    start: ArrayLike,
) -> Motion:
    """Compute the mechanism's motion for a motion of its tip.

    The rates u' of the independent joints follow from J u' = twist, accelerations u'' from J u'' =
    accel - J' u', with the rows of the tip's Jacobian J that determine the configuration.

    Args:
        times: (K,) [s], increasing.
        poses, twists, accels: (K, 7), (K, 6), (K, 6) of the tip, base frame.
        start: (nq,) configuration at, or near, the first pose.

    Returns:
        Configurations (K, nq), velocities and accelerations (K, mobility).

    Raises:
        InvalidInput: the tip's pose does not determine the configuration.
        NoSolution: a pose cannot be reached from the one before; the error's `index` is the index
            of the pose.
    """
    weights = loop.solver.tip_weights  # other components of the tip's motion follow
    goals = np.ascontiguousarray(as_pose("poses", poses))
    q = _solve_in_sequence(loop, np.array(configurations(loop, "start", start)), goals, weights)
    found = _body_motions(loop, q, goals, twists, accels)
    for k in np.flatnonzero(np.isnan(found[:, 0])):  # the pivots of home fail
        found[k] = np.concatenate(_motion_at(loop, q[k], twists[k], accels[k]))
    return Motion(*_split(loop, found))


def motions_of_body(
    loop: Any,
    poses: FloatArray,
    twists: FloatArray,
    accels: FloatArray,
    starts: FloatArray,
    rows: Sequence[int] = (),
) -> Motion:
    """Compute the mechanism's motion for K states of its tip, each from its own start.

    Args:
        loop: the mechanism.
        poses, twists, accels: (K, 7), (K, 6), (K, 6) of the tip, base frame.
        starts: (K, nq) nearby configurations.
        rows: indices of the pose components to use; by default those that determine the
            configuration.

    Returns:
        Configurations (K, nq), velocities and accelerations (K, mobility); NaN for
        states without a solution.
    """
    return Motion(*_split(loop, _body_motions(loop, starts, poses, twists, accels, rows=rows)))


def _body_motions(
    loop: Any, starts: FloatArray, *motion: FloatArray, rows: Sequence[int] = ()
) -> FloatArray:
    """Compute the mechanism's motion (K, nq + 2 mobility) for K states of its tip.

    A row contains configuration, independent velocity and independent acceleration; it is NaN if
    there is no solution.
    """
    packed, width = loop.structure.packed, loop.solver.nq + 2 * loop.solver.nu
    widths, given = (loop.solver.nq, 7, 6, 6), (starts, *motion)
    accuracy = (tip_weights(loop, rows), CLOSED, REACHED) if rows else loop.solver.accuracy
    found = batch(calls.REACH, packed, widths, (width,), given, *accuracy)
    return np.full((len(starts), width), np.nan) if found is None else found


def accuracy(loop: Any) -> tuple[FloatArray, float, float]:
    """Return the weights (6,) and tolerances of a search for a tip pose.

    The tolerances are the target residual and the largest accepted one, both weighted.
    """
    return loop.solver.tip_weights, TARGET, REACHED


def _split(loop: Any, found: FloatArray) -> list[FloatArray]:
    """Split the rows of `_body_motions` into configuration, velocity and acceleration."""
    return np.split(found, [loop.solver.nq, loop.solver.nq + loop.solver.nu], axis=1)


def _solve_in_sequence(
    loop: Any, near: FloatArray, goals: FloatArray, weights: FloatArray
) -> FloatArray:
    """Find configurations (K, nq) for a sequence of tip poses (K, 7).

    The search for each configuration starts from the previous one, the first search from `near`.

    Raises:
        NoSolution: a pose cannot be reached from the previous one; the error's `index` is that of
            the pose in the sequence.
    """
    q, done = np.empty((len(goals), loop.solver.nq)), 0
    while done < len(goals):
        rest = goals[done:], weights, CLOSED, ACCEPTED, MOST_STEPS
        done += kernel_of(loop, calls.REACH_ALL)(near, *rest, q[done:])
        if done == len(goals):
            break
        near = q[done - 1] if done else near
        found, served = _reach(loop, near, goals[done], weights)
        if found is None and not served:  # near a singularity: solve for all joints at once
            closed = loop.structure.equations.close(near, [], _tip_at(loop, goals[done]))
            found = closed.q if closed.left <= ACCEPTED else None
        if found is None:
            at = np.array2string(goals[done], precision=4)
            raise NoSolution(
                f"{loop.name}: {loop.model.tip_link} does not reach pose {at} (sample {done} "
                "of its motion) from the previous sample",
                residual=np.inf,
                value=goals[done],
                index=(done,),
            )
        q[done] = near = found
        done += 1
    return q


def _motion_at(
    loop: Any, q: FloatArray, twist: FloatArray, accel: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the motion at configuration `q` for a tip twist and tip acceleration.

    The result is `q`, the independent velocity and the independent acceleration. This function is
    used if the elimination order that was chosen at home fails.
    """
    rows = _tip_rows(loop)
    inverse = np.linalg.pinv(loop.jacobian(q)[rows])
    rates = inverse @ twist[rows]
    drift = tip_motion(loop, q, rates, np.zeros_like(rates))[-6:]
    return q, rates, inverse @ (accel - drift)[rows]


def independent_motion(
    loop: Any, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
) -> DrivenMotion:
    """Return positions, rates and accelerations of the independent joints.

    They are (..., mobility) each.
    """
    return DrivenMotion(
        presentation.values_of(loop, configuration),
        rates_of(loop, "velocity", velocity),
        rates_of(loop, "acceleration", acceleration),
    )


def motion_of_independent(
    loop: Any,
    positions: ArrayLike,
    velocities: ArrayLike,
    accelerations: ArrayLike | None = None,
    guess: ArrayLike | None = None,
) -> Motion:
    """Compute the mechanism's motion from that of its independent joints.

    Along the last batch dimension, the search for each configuration starts from the one before it,
    and the first search from the guess, by default home.

    Returns:
        Configurations (..., nq), velocities and accelerations (..., mobility).

    Raises:
        NoSolution: the loops do not close.
    """
    target, rates, changes = assembly.motion_parts(
        loop, loop.solver.nu, positions, velocities, accelerations
    )
    first = loop.home if guess is None else np.array(configurations(loop, "guess", guess))
    return Motion(assembly.configurations_along(loop, first, target), rates, changes)


def state_of_readings(
    loop: Any, positions: FloatArray, velocities: FloatArray, guess: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return configuration and velocity for given states of the independent joints.

    Args:
        loop: the mechanism.
        positions, velocities: (mobility,) of the independent joints.
        guess: (nq,) nearby configuration; home by default.

    Returns:
        Configuration (nq,) and velocity (mobility,).

    Raises:
        NoSolution: the loops do not close with these positions.
    """
    here = loop.home if guess is None else guess
    way = loop.coordinates.shortest(positions - here[loop.solver.free_at])
    return assembly.displace(loop, here, way), velocities
