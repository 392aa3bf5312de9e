# SPDX-License-Identifier: Apache-2.0

"""Closed configurations of a mechanism from joint positions, tip poses, or along motions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from robodyn.algorithms import motions
from robodyn.algorithms.motion import Motion
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.errors import InvalidInput, KinematicsError, NoSolution, SingularConfiguration
from robodyn.numerics.broadcasting import flatten
from robodyn.poses import pose_difference
from robodyn.solvers.tree import calls
from robodyn.solvers.tree.calls import batch, entry
from robodyn.solvers.tree.closing.assembly_modes import assembly_modes
from robodyn.solvers.tree.closing.equations import ACCEPTED, CLOSED, TipPose
from robodyn.solvers.tree.closing.global_search import assemble_globally
from robodyn.solvers.tree.closing.kinematics import (
    OPEN,
    frame_of,
    joint_jacobian,
    joint_motion,
    refuse_under_actuated,
    tree_jacobian,
)
from robodyn.solvers.tree.closing.structure import ATTEMPTS, initial_guess, update_mimic_joints
from robodyn.solvers.tree.joints import configurations, rates_of
from robodyn.solvers.tree.kernels.newton import PIECE

# Number of configurations closed in one call.
BATCH = 8
# Number of starts around a guess in the search for a tip pose.
TIP_ATTEMPTS = 40
# Newton's method to positions of redundant drives: largest number of steps, and the step that ends
# it [m or rad].
NEAR_STEPS, NEAR = 20, 1e-12
# Differences of redundant drives, relative to the mechanism's size, that are noise or lag.
FITS = 1e-3


def difference(loop: Any, start: ArrayLike, goal: ArrayLike) -> FloatArray:
    """Compute the displacement (..., mobility) between two configurations (..., nq).

    It is that of the independent coordinates, from `start` to `goal`. For a floating joint, it
    consists of a translation and a rotation vector, base frame.
    """
    a, b = configurations(loop, "start", start), configurations(loop, "goal", goal)
    out = loop.coordinates.shortest(
        np.asarray(b[..., loop.solver.free_at] - a[..., loop.solver.free_at])
    )
    for joint, columns, parts in loop.solver.free_poses:
        at = loop.solver.tree.place_of[joint.name]
        whole = pose_difference(a[..., at], b[..., at]).reshape(*out.shape[:-1], 2, 3)
        axes = frame_of(loop, a, joint.parent)[..., :3, :3] @ joint.at.rotation
        turned = np.einsum("...ij,...kj->...ki", axes, whole)
        out[..., columns] = turned.reshape(*out.shape[:-1], 6)[..., parts]
    return out


def advance(loop: Any, configuration: ArrayLike, displacement: ArrayLike) -> FloatArray:
    """Compute closed configurations (..., nq) after displacements (..., mobility).

    The displacements are those of the independent coordinates, as returned by `difference`.

    Args:
        loop: the mechanism.
        configuration: (..., nq) closed configurations.
        displacement: (..., mobility) of the independent coordinates.

    Returns:
        Configurations (..., nq).

    Raises:
        NoSolution: the loops do not close after a displacement.
    """
    shape, (starts, steps) = flatten(
        configuration=configurations(loop, "configuration", configuration),
        displacement=rates_of(loop, "displacement", displacement),
    )
    return displace_all(loop, starts, steps).reshape(*shape, loop.solver.nq)


def advance_near(loop: Any, configuration: FloatArray, displacement: FloatArray) -> FloatArray:
    """Compute the closed configuration (nq,) after a displacement, by Newton's method.

    The displacement (mobility,) of the independent coordinates starts at the given closed
    configuration (nq,). There is no global search.

    Raises:
        NoSolution: Newton's method does not close the loops.
    """
    moved = loop.solver.unchecked.try_advance(configuration, np.array(displacement))
    if moved is None:
        text = f"{loop.name}: the loops do not close after a displacement of {displacement}"
        raise NoSolution(text, residual=np.inf, value=displacement)
    return moved


def advance_along(loop: Any, configuration: FloatArray, displacements: FloatArray) -> FloatArray:
    """Compute closed configurations at a sequence of displacements (k, mobility).

    The displacements are relative to the given configuration; each solution by Newton's method
    starts from the one before it.

    Returns:
        Configurations (found, nq), up to the first displacement for which the loops do not close.
    """
    q, steps = np.tile(configuration, (len(displacements), 1)), displacements.copy()
    steps[1:] -= displacements[:-1]
    found = entry(calls.DISPLACE_ALL, loop.structure.packed)(q, steps, True, CLOSED, ACCEPTED)
    return q[:found]


def assemble_near(loop: Any, driven: FloatArray, configuration: FloatArray) -> FloatArray:
    """Find the closed configuration (nq,) with driven positions (n,) near a given one.

    The given configuration must be closed. Positions of redundant drives are approached as closely
    as the loops permit (least squares).

    Raises:
        NoSolution: the loops do not close.
    """
    q = configuration
    for _ in range(1 if loop.solver.drives_free else NEAR_STEPS):
        by = motions.joint_difference(loop, q[loop.solver.driven_at], driven)
        if not loop.solver.drives_free:
            by = np.asarray(np.linalg.lstsq(joint_jacobian(loop, q), by, rcond=None)[0], float)
            if np.abs(by).max() < NEAR:
                break
        q = motions.advance_near(loop, q, by)
    return q


def assemble(
    loop: Any,
    driven: ArrayLike | Mapping[str, ArrayLike] | None = None,
    guess: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    pose: ArrayLike | None = None,
) -> FloatArray:
    """Find the closed configuration for joint positions or a tip pose, near a guess.

    Args:
        driven: positions (..., n) of the driven joints; or a mapping of any joints to their
            positions (a pose (7,) for a floating joint) that determine all others.
        guess: a configuration (nq,) or (..., nq), or a mapping of joints to positions; home by
            default. If the guess closes the loops, the solution is followed continuously from it.
        pose: (..., 7) of the tip instead of `driven`.

    Returns:
        Configuration (..., nq).

    Raises:
        NoSolution: the loops do not close; the error contains the largest residual and its closure.
        InvalidInput: shapes or names are wrong, or neither `driven` nor `pose` is given.
    """
    start = _guess(loop, guess)
    if pose is not None:
        target = as_array("pose", pose, (7,), "m, unit quaternion x y z w")
        return _each(loop, target, start, partial(_to_pose, loop))
    if driven is None:
        raise InvalidInput("assemble requires joint positions or a pose of the tip")
    if hasattr(driven, "items"):
        return _from_joints(loop, dict(driven.items()), start)
    target = as_array(
        "driven", driven, (loop.solver.n,), f"{loop.solver.n} driven joints, rad or m"
    )
    return _each(loop, target, start, partial(_to_driven, loop))


def assemblies(loop: Any, driven: ArrayLike, *, searches: int = 6000) -> FloatArray:
    """Find all closed configurations (k, nq) with given driven positions (n,).

    They are sorted by their distance from home. The search is started at most `searches` times. See
    `assembly_modes` for its thoroughness, and for when two configurations count as equal.
    """
    return assembly_modes(loop, driven, searches=searches).configurations


def motion_of_joints(
    loop: Any,
    positions: ArrayLike,
    velocities: ArrayLike,
    accelerations: ArrayLike | None = None,
    guess: ArrayLike | None = None,
) -> Motion:
    """Compute the mechanism's motion for a motion of its driven joints.

    Along the last batch dimension, the search for each configuration starts from the one before it,
    and the first search from the guess. The positions of redundant drives may disagree by noise and
    lag; the motion is their least-squares fit.

    Args:
        loop: the mechanism.
        positions, velocities, accelerations: (..., n) of the driven joints; accelerations are zero
            by default.
        guess: configuration (nq,) to start from; home by default.

    Returns:
        Configurations (..., nq), velocities and accelerations (..., mobility).

    Raises:
        UnderActuated: the mechanism has fewer driven joints than degrees of freedom.
        NoSolution: the loops do not close.
        SingularConfiguration: the driven rates do not determine the motion.
    """
    refuse_under_actuated(loop)
    target, rates, changes = motion_parts(loop, loop.solver.n, positions, velocities, accelerations)
    shape = target.shape[:-1]
    q = np.empty((*shape, loop.solver.nq))
    first = _guess(loop, guess)
    if (
        shape
        and loop.solver.drives_free
        and loop.structure.equations.relative_residual(first) <= OPEN
    ):
        q = configurations_along(loop, first, target)
    else:
        for outer in np.ndindex(shape[:-1]):
            here = first
            for n in range(shape[-1]) if shape else (None,):
                index = outer if n is None else (*outer, n)
                here = _to_driven(loop, here, target[index], FITS * loop.structure.equations.size)
                q[index] = here
    if loop.solver.drives_free:
        return Motion(q, rates, changes)
    return _independent_motion(loop, q, rates, changes)


def motion_parts(
    loop: Any,
    width: int,
    positions: ArrayLike,
    velocities: ArrayLike,
    accelerations: ArrayLike | None,
) -> list[FloatArray]:
    """Broadcast positions, rates and accelerations to the same shape (..., width).

    Accelerations that are None become zero. The results are new arrays.

    Raises:
        InvalidInput: a shape is wrong or a value is not finite.
    """
    given = {
        "positions": positions,
        "velocities": velocities,
        "accelerations": np.zeros(width) if accelerations is None else accelerations,
    }
    parts = [as_array(name, value, (width,)) for name, value in given.items()]
    return [np.array(part) for part in np.broadcast_arrays(*parts)]


def _independent_motion(loop: Any, q: FloatArray, rates: FloatArray, changes: FloatArray) -> Motion:
    A = loop.joint_jacobian(q)
    inverse = np.linalg.pinv(A)
    if np.linalg.matrix_rank(A).min(initial=loop.solver.nu) < loop.solver.nu:
        raise SingularConfiguration(
            f"{loop.name}: the driven joints' rates do not determine the motion",
            smallest_singular_value=0.0,
            direction=None,
            value=q,
        )
    u = np.einsum("...ij,...j->...i", inverse, rates)
    _, a = joint_motion(loop, q, u, np.zeros_like(u))
    change = np.einsum("...ij,...j->...i", inverse, changes - a[..., loop.solver.rates_at])
    return Motion(q, u, change)


def displace(loop: Any, q: FloatArray, step: FloatArray) -> FloatArray:
    """Compute the closed configuration (nq,) after a displacement `step` (mobility,).

    The displacement of the independent coordinates starts at the closed configuration `q` (nq,).

    Raises:
        NoSolution: the loops do not close.
    """
    for packed in (loop.structure.packed, *loop.solver.pivots.known):
        moved = q.copy()
        left = entry(calls.DISPLACE, packed)(moved, step, CLOSED)
        if 0.0 <= left <= ACCEPTED:
            return np.asarray(moved)
    target = q.copy()
    target[loop.solver.free_at] += step
    update_mimic_joints(loop.solver.tree, target)
    return nearest(loop, target, list(loop.structure.free))


def displace_all(loop: Any, starts: FloatArray, steps: FloatArray) -> FloatArray:
    """Compute closed configurations (N, nq) after displacements `steps` (N, mobility).

    The displacements of the independent coordinates start at the closed configurations `starts` (N,
    nq).

    Raises:
        NoSolution: the loops do not close after a displacement.
    """
    if len(starts) < BATCH:
        return _displace_singly(loop, starts, steps)
    found = batch(
        calls.DISPLACE,
        loop.structure.packed,
        (loop.solver.nq, loop.solver.nu),
        (loop.solver.nq,),
        (starts, steps),
        CLOSED,
        ACCEPTED,
    )
    if found is None:
        return _displace_singly(loop, starts, steps)
    lacking = np.flatnonzero(np.isnan(found[:, 0]))
    if lacking.size:
        found[lacking] = _displace_singly(loop, starts[lacking], steps[lacking])
    return found


def _displace_singly(
    loop: Any, starts: FloatArray, steps: FloatArray, *, chained: bool = False
) -> FloatArray:
    """Compute the results of `displace_all` one configuration at a time.

    If `chained`, each displacement starts from the previous result, and the first one from
    `starts[0]`.
    """
    out: FloatArray = starts.copy()
    steps = np.ascontiguousarray(steps)
    displace_all = entry(calls.DISPLACE_ALL, loop.structure.packed)
    done = 0
    while done < len(out):
        if chained and done:
            out[done] = out[done - 1]
        done += displace_all(out[done:], steps[done:], chained, CLOSED, ACCEPTED)
        if done < len(out):
            # the pivots of home fail
            start = out[done - 1] if chained and done else starts[done]
            out[done] = displace(loop, start, steps[done])
            done += 1
    return out


def configurations_along(loop: Any, first: FloatArray, target: FloatArray) -> FloatArray:
    """Compute configurations (..., nq) along a motion of the independent coordinates.

    `target` (..., mobility) are their positions. Along the last batch dimension, the search for
    each configuration starts from the one before it, and the first search starts from the closed
    configuration `first` (nq,).
    """
    count = target.shape[-2] if target.ndim > 1 else 1
    chains = target.reshape(math.prod(target.shape[:-2]), count, loop.solver.nu)
    q = np.empty((*chains.shape[:2], loop.solver.nq))
    for out, chain in zip(q, chains, strict=True):
        # between points this close, the branch cannot change; every eighth point is closed first
        every = BATCH if count > BATCH else 1
        nearest = np.arange(count) // every * every
        steps = chain - chain[nearest]
        if np.abs(steps).max(initial=0.0) > PIECE:
            every, steps = 1, steps[:0]
        marks = chain[::every]
        starts = np.array(np.broadcast_to(first, (len(marks), loop.solver.nq)))
        leaps = np.diff(marks, axis=0, prepend=first[None, loop.solver.free_at])
        out[::every] = _displace_singly(loop, starts, leaps, chained=True)
        if every > 1:
            between = np.flatnonzero(nearest != np.arange(count))
            out[between] = displace_all(loop, out[nearest[between]], steps[between])
    return q.reshape(*target.shape[:-1], loop.solver.nq)


def _to_driven(
    loop: Any, q: FloatArray, target: FloatArray, within: float = ACCEPTED
) -> FloatArray:
    """Find a configuration with given driven positions, starting from a guess.

    If Newton's method reaches the positions with errors below `within` [m or rad], there is no
    global search.
    """
    if loop.solver.drives_free and loop.structure.equations.relative_residual(q) <= OPEN:
        return displace(loop, q, np.ascontiguousarray(target - q[loop.solver.driven_at]))
    if loop.structure.determined:
        with suppress(KinematicsError):
            near = assemble_near(loop, target, q)
            if np.abs(near[loop.solver.driven_at] - target).max() < within:
                return near
    start = np.array(q)
    start[loop.solver.driven_at] = target
    update_mimic_joints(loop.solver.tree, start)
    return nearest(loop, start, [int(rate) for rate in loop.solver.rates_at])


def _to_pose(loop: Any, q: FloatArray, pose: FloatArray) -> FloatArray:
    """Find a closed configuration with a given tip pose, starting from a guess."""
    extra = TipPose(
        pose,
        loop.structure.equations.size,
        loop.body_pose,
        partial(tree_jacobian, loop),
    )
    return nearest(loop, q, [], extra)


def nearest(loop: Any, q: FloatArray, held: list[int], extra: Any = None) -> FloatArray:
    """Find a closed configuration (nq,) near a guess, if necessary by global search.

    Args:
        loop: the mechanism.
        q: (nq,) guess.
        held: rate indices of coordinates that stay constant.
        extra: further equations to satisfy, such as those of a tip pose.

    Returns:
        The configuration.

    Raises:
        NoSolution: no solution was found.
    """
    equations = loop.structure.equations
    found = assemble_globally(
        equations, q, held, extra, ATTEMPTS if extra is None else TIP_ATTEMPTS
    )
    if found.left > ACCEPTED:
        name = equations.worst(found.q)
        raise NoSolution(
            f"{loop.name}: the loops do not close; closure {name!r} stays open by "
            f"{found.left:.3g} of the mechanism's size of {equations.size:.3g} m",
            residual=found.left,
            value=q,
        )
    return found.q


def _from_joints(loop: Any, given: dict[str, ArrayLike], start: FloatArray) -> FloatArray:
    q = np.array(start)
    held: list[int] = []
    for name, value in given.items():
        place, first = _put(loop, q, name, value), loop.solver.tree.rate_of[name]
        held += range(first, first + min(place.stop - place.start, 6))
    update_mimic_joints(loop.solver.tree, q)
    out = np.empty_like(q)
    for index in np.ndindex(q.shape[:-1]):
        out[index] = nearest(loop, q[index], held)
    return out


def _guess(loop: Any, guess: Any) -> FloatArray:
    if guess is None:
        return loop.structure.home
    if hasattr(guess, "items"):
        start, tree = loop.home, loop.solver.tree
        for name, value in guess.items():
            _put(loop, start, name, value)
        return initial_guess(tree, {name: tuple(start[at]) for name, at in tree.place_of.items()})
    return configurations(loop, "guess", guess)


def _put(loop: Any, q: FloatArray, name: str, value: ArrayLike) -> slice:
    """Set a named joint's position in configurations (..., nq); return its slice."""
    if name not in loop.solver.tree.place_of:
        raise InvalidInput(f"{loop.name} has no joint {name!r}", value=name)
    place = loop.solver.tree.place_of[name]
    q[..., place] = as_array(name, np.atleast_1d(value), (place.stop - place.start,))
    return place


def _each(
    loop: Any,
    target: FloatArray,
    start: FloatArray,
    find: Callable[[FloatArray, FloatArray], FloatArray],
) -> FloatArray:
    shape, (goals, starts) = flatten(target=target, guess=start)
    found = [find(q, goal) for q, goal in zip(starts, goals, strict=True)]
    return np.reshape(found, (*shape, loop.solver.nq))


def project_onto_manifold(loop: Any, configuration: FloatArray) -> FloatArray:
    """Return a configuration (nq,) with its loops closed, for use after integration.

    The independent joints keep their positions. Arguments are not changed and not checked.

    Raises:
        NoSolution: the loops do not close with these positions.
    """
    return displace(loop, np.array(configuration), np.zeros(loop.solver.nu))
