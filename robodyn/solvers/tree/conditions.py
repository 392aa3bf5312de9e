# SPDX-License-Identifier: Apache-2.0

"""Distance of a mechanism with closed loops from singularities of both types."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from robodyn.algorithms.conditioning import TYPE_1, TYPE_2, Singularity
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_scalar
from robodyn.numerics.singular_values import extreme_ratio
from robodyn.solvers.tree import calls
from robodyn.solvers.tree import tip_freedoms as freedoms
from robodyn.solvers.tree.calls import batch, condition_entry, side_entry
from robodyn.solvers.tree.closing.equations import null_space, orthonormal_bases
from robodyn.solvers.tree.closing.kinematics import tree_jacobian
from robodyn.solvers.tree.closing.structure import closed_samples
from robodyn.solvers.tree.joints import configurations
from robodyn.solvers.tree.kernels.conditions import WORST_CONDITION
from robodyn.solvers.tree.tip_freedoms import NONE, TipFreedoms


def motion_condition(
    loop: Any, configuration: ArrayLike, characteristic_length: float = 1.0
) -> FloatArray:
    """Compute the condition number (...) of the map from joint motion to tip motion.

    It is infinite at a singularity of type 1, an end of travel, where the mechanism can move while
    its tip is at rest. Configurations are (..., nq). Angular rates of the tip are multiplied by
    `characteristic_length` [m].
    """
    length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
    return np.asarray(_conditions(loop, configuration, length)[0])


def force_condition(loop: Any, configuration: ArrayLike) -> FloatArray:
    """Compute the condition number (...) of the map from joint motion to driven rates.

    Configurations are (..., nq). It is infinite at a singularity of type 2, where the mechanism can
    move although all motors are locked, so the motors cannot support the mechanism.
    """
    return np.asarray(_conditions(loop, configuration, 1.0)[1])


def condition_number(
    loop: Any, configuration: ArrayLike, characteristic_length: float = 1.0
) -> FloatArray:
    """Compute the condition number (...) of a mechanism at configurations (..., nq).

    It is the larger one of `motion_condition` and `force_condition`: large near singularities of
    either type, infinite at them. Angular rates of the tip are multiplied by
    `characteristic_length` [m].
    """
    length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
    return np.asarray(_conditions(loop, configuration, length).max(axis=0))


def determinant(loop: Any, configuration: ArrayLike) -> FloatArray | None:
    """Compute a determinant (...) that changes sign at singularities of type 2.

    The matrix maps the mechanism's motion, in an orthonormal basis, to the rates of the driven
    joints. The sign is relative to the basis at home.

    Returns:
        The determinant; None if the number of driven joints differs from the mobility.
    """
    if loop.solver.n != loop.solver.nu:
        return None
    q = configurations(loop, "configuration", configuration)
    bases, _ = _motions(loop, q.reshape(-1, loop.solver.nq))
    signs = np.sign(np.linalg.det(loop.solver.reference.T @ bases))
    numbers = np.where(signs, signs, 1.0) * np.linalg.det(bases[:, loop.solver.rates_at])
    return np.asarray(numbers.reshape(q.shape[:-1]))


def side(loop: Any, configuration: ArrayLike) -> FloatArray | None:
    """Compute a ratio of determinants (...) that changes sign only at a singularity.

    The numerator is the determinant of the closures' Jacobian w.r.t. the passive rates, the
    denominator is the square root of the whole Jacobian's Gram determinant. The ratio is continuous
    along a path, and zero if the mechanism can move while the driven joints are at rest, or if the
    closures permit more degrees of freedom. Equations that are zero for every configuration, as in
    planar mechanisms, do not count.

    Returns:
        The ratio; None if the number of all other equations differs from that of the passive rates,
        or the number of driven joints from the mobility.
    """
    arguments = loop.solver.side_arguments
    if arguments is None:
        return None
    q = configurations(loop, "configuration", configuration)
    flat = np.ascontiguousarray(q.reshape(-1, loop.solver.nq))
    out = np.empty(len(flat))
    side_entry()(*arguments, flat, out)
    return np.asarray(out.reshape(q.shape[:-1]))


def side_arguments(loop: Any) -> tuple[FloatArray, ...] | None:
    """Return the arguments of the compiled `sides`, except configurations and results.

    The result is None if `side` is not defined for this mechanism.
    """
    rows = np.flatnonzero(loop.structure.present.any(axis=1))
    passive = np.setdiff1d(np.arange(loop.solver.tree.rates), loop.solver.rates_at)
    if loop.solver.n != loop.solver.nu or len(rows) != len(passive) or not len(rows):
        return None
    equations = loop.structure.equations
    which = (np.asarray(each, np.float64) for each in (rows, passive))
    return *equations.packed.given, equations.rows, equations.columns, *which


def singularities(loop: Any) -> tuple[Singularity, ...]:
    """Return descriptions of the singularities of type 1 and type 2; see `Singularity`."""
    return (
        Singularity(
            TYPE_1,
            "an end of travel: the tip loses a degree of freedom",
            partial(_tip_number, loop),
            loop.solver.tip_directions is not None,
            partial(motion_condition, loop),
            takes_effort=False,
        ),
        Singularity(
            TYPE_2,
            "the motors cannot hold the mechanism",
            partial(_drive_number, loop),
            loop.solver.n == loop.solver.nu,
            partial(_force_condition_at, loop),
            takes_effort=True,
            yields=partial(_yielding, loop),
        ),
    )


def loop_analysis(loop: Any) -> dict[str, Any]:
    """Return the results of the structural analysis as data for JSON.

    They include the closures, the rank of their equations, the driven, loose and idle joints, and
    the condition numbers at home. `mobility` is the number of tree coordinates minus the rank;
    `freedoms` excludes idle ones.
    """
    found, home = loop.structure, loop.structure.home
    numbers = {
        "motion": float(motion_condition(loop, home, loop.characteristic_length)),
        "force": float(force_condition(loop, home)),
    }
    return {
        "tree_coordinates": found.tree.rates,
        "closures": [
            {
                "name": closure.name,
                "type": closure.kind,
                "parent": closure.parent,
                "child": closure.child,
                "equations": closure.equations,
            }
            for closure in loop.model.closures
        ],
        "equations": found.closures,
        "rank": found.rank,
        "mobility": found.tree.rates - found.rank,
        "freedoms": found.mobility,
        "determined_by": loop.solver.tip_freedoms.text,
        "idle_freedoms": list(loop.structure.idle_names),
        "driven_joints": list(loop.model.driven),
        "motors_suffice": found.determined,
        "loose_joints": list(found.loose),
        "open_by": found.equations.relative_residual(home) * found.equations.size,
        "condition_numbers": {
            name: number if np.isfinite(number) else None for name, number in numbers.items()
        },
    }


def _force_condition_at(loop: Any, q: FloatArray, length: float) -> FloatArray:
    """Compute `force_condition` (k,) for k configurations; ignore `length`."""
    return force_condition(loop, q)


def _tip_number(loop: Any, q: FloatArray) -> FloatArray:
    """Compute a measure (k,) that is zero at singularities of type 1.

    For k configurations, it is the determinant of the map from the mechanism's motions to the tip
    twist or, if this is not defined, the smallest singular value that is not structurally zero.
    """
    bases, tips = _motions(loop, q)
    moved = tips[:, loop.solver.determined_rows] * loop.solver.row_scales
    if loop.solver.tip_directions is None:
        # degrees of freedom that the tip never has cannot be lost
        last = loop.solver.tip_freedoms.freedoms - 1
        return np.asarray(np.linalg.svd(moved, compute_uv=False)[:, last])
    return np.asarray(_orientations(bases) * np.linalg.det(loop.solver.tip_directions.T @ moved))


def _drive_number(loop: Any, q: FloatArray) -> FloatArray:
    """Compute a measure (k,) that is zero at singularities of type 2.

    For k configurations, it is the determinant of the map from the mechanism's motions to the
    driven joints' rates or, with redundant actuation, its smallest singular value.
    """
    bases, _ = _motions(loop, q)
    driven = bases[:, loop.solver.rates_at] * loop.solver.driven_scale
    if loop.solver.n == loop.solver.nu:
        return np.asarray(_orientations(bases) * np.linalg.det(driven))
    if loop.solver.n < loop.solver.nu:
        return np.zeros(len(q))
    return np.asarray(np.linalg.svd(driven, compute_uv=False)[:, -1])


def _yielding(loop: Any, q: FloatArray, length: float) -> FloatArray:
    """Return the tip's twist (6,) for the motion that moves the driven joints least.

    Its angular components are multiplied by `length` [m].
    """
    bases, tips = _motions(loop, q[None])
    V = np.linalg.svd(bases[0, loop.solver.rates_at] * loop.solver.driven_scale)[2]
    twist = tips[0] @ V[-1]
    twist[3:] *= length
    return np.asarray(twist)


def home_motion_basis(loop: Any) -> FloatArray:
    """Return an orthonormal basis (rates, mobility) of the mechanism's motions at home.

    A column contains the rates of all joints, in comparable units.
    """
    return null_space(loop.structure.equations.at(loop.structure.home)[1])[1]


def _conditions(loop: Any, configuration: ArrayLike, length: float) -> FloatArray:
    """Compute the condition numbers `motion_condition` and `force_condition` (2, ...)."""
    q = configurations(loop, "configuration", configuration)
    flat = np.ascontiguousarray(q.reshape(-1, loop.solver.nq))
    columns, tip, drives = loop.solver.comparable
    known = columns, tip, drives, length
    found = None
    if len(flat) > 1 and min(tip[0], len(tip) - 1, len(drives)) >= loop.solver.nu:
        found = batch(
            calls.CONDITIONS, loop.structure.packed, (loop.solver.nq,), (2,), (flat,), *known
        )
    if found is None:
        found = np.empty((len(flat), 2))
        condition_entry()(*loop.structure.packed.given, *known, flat, found)
    lacking = np.isnan(found[:, 0])
    if lacking.any():
        bases, tips = _motions(loop, flat[lacking])
        tips[:, 3:] *= length
        moved = tips[:, loop.solver.determined_rows]
        found[lacking, 0] = _condition_numbers(moved, count=loop.solver.tip_freedoms.freedoms)
        driven = bases[:, loop.solver.rates_at] * loop.solver.driven_scale
        found[lacking, 1] = _condition_numbers(driven, loop.solver.nu)
    return np.asarray(found.T.reshape((2, *q.shape[:-1])))


def condition_arguments(loop: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the constant arguments of `condition_numbers`: `columns`, `tip`, `drives`."""
    tip = np.array([loop.solver.tip_freedoms.freedoms, *loop.solver.determined_rows], dtype=float)
    drives = np.column_stack([loop.solver.rates_at, loop.solver.driven_scale]).astype(float)
    return np.ascontiguousarray(loop.structure.equations.columns), tip, drives


def _motions(loop: Any, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bases of the mechanism's possible motions, and the tip twists they cause.

    At N configurations, the bases (N, rates, mobility) are orthonormal in rates that are scaled to
    comparable units; the twists are (N, 6, mobility). At a singularity of the closures, which
    permits more motions, those that move the driven joints least are used.
    """
    bases = np.full((len(q), loop.solver.tree.rates, loop.solver.nu), np.nan)
    tips = np.full((len(q), 6, loop.solver.nu), np.nan)
    if len(q) > 1:
        _motions_of_many(loop, q, bases, tips)
    columns = loop.structure.equations.columns[:, None]
    for n in np.flatnonzero(np.isnan(tips).any(axis=(1, 2))):
        _, K = loop.structure.equations.at(q[n])
        _, basis = null_space(K)
        if basis.shape[1] > loop.solver.nu:
            V = np.linalg.svd(basis[loop.solver.rates_at])[2]
            basis = basis @ V[-loop.solver.nu :].T
        bases[n] = basis
        tips[n] = tree_jacobian(loop, q[n]) @ (basis * columns)
    return bases, tips


def _motions_of_many(loop: Any, q: FloatArray, bases: FloatArray, tips: FloatArray) -> None:
    """Write the results of `_motions` for a batch to `bases` and `tips`.

    The batch `q` is (N, nq). Configurations at which the independent coordinates are unsuitable are
    left out.
    """
    packed, widths = loop.structure.packed, (loop.solver.nq,)
    S = batch(calls.TANGENT, packed, widths, (loop.solver.tree.rates, loop.solver.nu), (q,))
    J = batch(calls.JACOBIAN, packed, widths, (6, loop.solver.nu), (q,))
    if S is None or J is None:
        return
    known = np.flatnonzero(np.isfinite(S).all(axis=(1, 2)) & np.isfinite(J).all(axis=(1, 2)))
    basis, R = orthonormal_bases(S[known] / loop.structure.equations.columns[:, None])
    fair = _condition_numbers(R) < WORST_CONDITION
    known = known[fair]
    bases[known] = basis[fair]
    tips[known] = J[known] @ np.linalg.inv(R[fair])


def driven_scale(loop: Any) -> FloatArray:
    """Return factors (n, 1) that scale the driven joints' rates to comparable units.

    The rates are multiplied by the factors, of which the largest is 1.
    """
    columns = loop.structure.equations.columns[loop.solver.rates_at]
    return np.asarray((columns / columns.max())[:, None])


def tip_freedoms(loop: Any) -> TipFreedoms:
    """Return the components of the tip's pose that determine the configuration.

    They are found from the tip's motions around home.
    """
    tips = np.array(loop.solver.sampled_tips)
    tips[:, :3] /= loop.structure.equations.size
    return freedoms.tip_freedoms(tips)


def determining_rows(loop: Any) -> tuple[int, ...]:
    """Return the indices of the pose components that determine the configuration.

    The result is empty if the tip's pose does not determine it.
    """
    return loop.solver.tip_freedoms.rows if loop.solver.tip_freedoms.suffice else ()


def determined_rows(loop: Any) -> list[int]:
    """Return the indices of the tip's twist components listed in `tip_freedoms`."""
    return list(loop.solver.tip_freedoms.rows)


def row_scales(loop: Any) -> FloatArray:
    """Return scale factors (k, 1) of the twist components `determined_rows`.

    Linear components are divided by the mechanism's size, angular ones are unchanged.
    """
    scale = np.ones((6, 1))
    scale[:3] /= loop.structure.equations.size
    return scale[loop.solver.determined_rows]


def tip_directions(loop: Any) -> FloatArray | None:
    """Return an orthonormal basis (k, mobility) of the tip's directions of motion.

    Its k components are those of the twist in `determined_rows`, scaled by `row_scales`. The
    result is None if the number of directions differs from the mobility. The tip of a five-bar, for
    example, stays in a plane: its motion in the plane has a determinant.
    """
    moved = np.concatenate(
        list(loop.solver.sampled_tips[:, loop.solver.determined_rows] * loop.solver.row_scales),
        axis=1,
    )
    U, values, _ = np.linalg.svd(moved)
    found = int((values > NONE * values[0]).sum())
    return np.asarray(U[:, :found]) if found == loop.solver.nu else None


def sampled_tips(loop: Any) -> FloatArray:
    """Return tip twists (samples, 6, mobility) for a basis of motions around home.

    The first sample is home. The motions of a basis are orthonormal, in comparable units; the
    twists are linear over angular, base frame.
    """
    samples = closed_samples(loop.structure.equations, loop.structure.home)
    return _motions(loop, np.array(samples))[1]


def _orientations(bases: FloatArray) -> FloatArray:
    """Return signs (N,) that orient bases (N, rates, mobility) consistently on a path."""
    turns = np.linalg.det(np.swapaxes(bases[:-1], 1, 2) @ bases[1:])
    return np.cumprod(np.concatenate([[1.0], np.where(turns < 0.0, -1.0, 1.0)]))


def _condition_numbers(
    matrices: FloatArray, least: int = 0, count: int | None = None
) -> FloatArray:
    """Compute condition numbers (...) of matrices (..., m, n) from their singular values.

    Only the `count` largest singular values are used. The result is infinite if there are fewer
    rows than `least`.
    """
    values: FloatArray = np.asarray(np.linalg.svd(matrices, compute_uv=False), np.float64)
    values = values[..., :count]
    if matrices.shape[-2] < least:
        values = np.concatenate([values, np.zeros((*values.shape[:-1], 1))], axis=-1)
    return extreme_ratio(values)
