# SPDX-License-Identifier: Apache-2.0

"""How near a mechanism with closed loops is to singularities of both types."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_scalar
from robodyn.mechanisms.closed_loop.assembling import ClosedLoopAssembling
from robodyn.mechanisms.closed_loop.calls import batch, condition_entry, side_entry
from robodyn.mechanisms.closed_loop.equations import null_space, orthonormal_bases
from robodyn.mechanisms.closed_loop.kernels.conditions import WORST_CONDITION
from robodyn.mechanisms.closed_loop.structure import closed_samples
from robodyn.mechanisms.closed_loop.tip_freedoms import NONE, TipFreedoms, tip_freedoms
from robodyn.mechanisms.conditioning import TYPE_1, TYPE_2, Singularity
from robodyn.numerics.singular_values import extreme_ratio


class ClosedLoopConditions(ClosedLoopAssembling):
    """The part of `ClosedLoop` that tells singularities of type 1 and type 2.

    Where a part of the tip's pose determines the mechanism, as the position does for a delta or a
    five-bar, its motion is that of this part: its link may still turn at an end of travel.
    """

    def motion_condition(
        self, configuration: ArrayLike, characteristic_length: float = 1.0
    ) -> FloatArray:
        """Condition (...) of the way from the mechanism's motion to the tip's.

        Infinite at a singularity of type 1, an end of travel, where the mechanism moves and the
        tip does not. Angular rates of the tip are multiplied by the length [m].
        """
        length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
        return np.asarray(self._conditions(configuration, length)[0])

    def force_condition(self, configuration: ArrayLike) -> FloatArray:
        """Condition (...) of the way from the mechanism's motion to the driven joints' rates.

        Infinite at a singularity of type 2, where the mechanism moves although all motors are
        locked, so that they cannot hold it.
        """
        return np.asarray(self._conditions(configuration, 1.0)[1])

    def condition_number(
        self, configuration: ArrayLike, characteristic_length: float = 1.0
    ) -> FloatArray:
        """The larger of `motion_condition` and `force_condition`."""
        length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
        return np.asarray(self._conditions(configuration, length).max(axis=0))

    def determinant(self, configuration: ArrayLike) -> FloatArray | None:
        """A number (...) that changes sign at singularities of type 2; None if redundant.

        The determinant of the equations together with the driven rates, along the mechanism's
        motions; its sign is carried by one basis of these.
        """
        if self._n != self._nu:
            return None
        q = self._q("configuration", configuration)
        bases, _ = self._motions(q.reshape(-1, self._nq))
        signs = np.sign(np.linalg.det(self._reference.T @ bases))
        numbers = np.where(signs, signs, 1.0) * np.linalg.det(bases[:, self._rates_at])
        return np.asarray(numbers.reshape(q.shape[:-1]))

    def side(self, configuration: ArrayLike) -> FloatArray | None:
        """A number (...) that changes sign on a path only at a singularity; None if not known.

        The determinant of the closures' Jacobian by the passive rates, over the root of the Gram
        determinant of the whole: continuous, and zero where the mechanism moves although the
        driven joints rest, or where the closures leave it more freedoms. It takes as many equations
        as passive rates, not counting those that are zero for every configuration, as of planar
        mechanisms.
        """
        compared = self._sided
        if compared is None:
            return None
        q = self._q("configuration", configuration)
        flat = np.ascontiguousarray(q.reshape(-1, self._nq))
        out = np.empty(len(flat))
        side_entry()(*compared, flat, out)
        return np.asarray(out.reshape(q.shape[:-1]))

    @cached_property
    def _sided(self) -> tuple[FloatArray, ...] | None:
        """What the kernel of sides takes; None where there is no determinant."""
        rows = np.flatnonzero(self.structure.present.any(axis=1))
        passive = np.setdiff1d(np.arange(self._tree.rates), self._rates_at)
        if self._n != self._nu or len(rows) != len(passive) or not len(rows):
            return None
        equations = self.structure.equations
        which = (np.asarray(each, np.float64) for each in (rows, passive))
        return *equations.packed.given, equations.rows, equations.columns, *which

    @property
    def singularities(self) -> tuple[Singularity, ...]:
        """Type 1 and type 2; see `Singularity`."""
        return (
            Singularity(
                TYPE_1,
                "an end of travel, the tip loses a freedom",
                self._tip_number,
                self._tip_directions is not None,
                self.motion_condition,
                takes_effort=False,
            ),
            Singularity(
                TYPE_2,
                "the motors cannot hold it",
                self._drive_number,
                self._n == self._nu,
                self._force_condition_at,
                takes_effort=True,
                yields=self._yielding,
            ),
        )

    def loops_found(self) -> dict[str, Any]:
        """How the mechanism is closed, what moves and whether the motors suffice, JSON-able.

        `mobility` is tree coordinates less rank, `freedoms` what remains of it without the idle
        ones.
        """
        found, home = self.structure, self.structure.home
        numbers = {
            "motion": float(self.motion_condition(home, self.characteristic_length)),
            "force": float(self.force_condition(home)),
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
                for closure in self.model.closures
            ],
            "equations": found.closures,
            "rank": found.rank,
            "mobility": found.tree.rates - found.rank,
            "freedoms": found.mobility,
            "determined_by": self.tip_freedoms.text,
            "idle_freedoms": list(self.idle_freedoms),
            "driven_joints": list(self.model.driven),
            "motors_suffice": found.determined,
            "loose_joints": list(found.loose),
            "open_by": found.equations.left(home) * found.equations.size,
            "condition_numbers": {
                name: number if np.isfinite(number) else None for name, number in numbers.items()
            },
        }

    def _force_condition_at(self, q: FloatArray, length: float) -> FloatArray:
        """`force_condition`, whatever the length."""
        return self.force_condition(q)

    def _tip_number(self, q: FloatArray) -> FloatArray:
        """Zero (k,) at singularities of type 1."""
        bases, tips = self._motions(q)
        moved = tips[:, self._determining_rows] * self._row_scales
        if self._tip_directions is None:
            # freedoms that the tip never has are not what it loses
            last = self.tip_freedoms.freedoms - 1
            return np.asarray(np.linalg.svd(moved, compute_uv=False)[:, last])
        return np.asarray(_orientations(bases) * np.linalg.det(self._tip_directions.T @ moved))

    def _drive_number(self, q: FloatArray) -> FloatArray:
        """Zero (k,) at singularities of type 2."""
        bases, _ = self._motions(q)
        driven = bases[:, self._rates_at] * self._driven_scale
        if self._n == self._nu:
            return np.asarray(_orientations(bases) * np.linalg.det(driven))
        if self._n < self._nu:
            return np.zeros(len(q))
        return np.asarray(np.linalg.svd(driven, compute_uv=False)[:, -1])

    def _yielding(self, q: FloatArray, length: float) -> FloatArray:
        """Twist (6,) of the tip in the motion that moves the driven joints least."""
        bases, tips = self._motions(q[None])
        V = np.linalg.svd(bases[0, self._rates_at] * self._driven_scale)[2]
        twist = tips[0] @ V[-1]
        twist[3:] *= length
        return np.asarray(twist)

    @cached_property
    def _reference(self) -> FloatArray:
        return null_space(self.structure.equations.at(self.structure.home)[1])[1]

    def _conditions(self, configuration: ArrayLike, length: float) -> FloatArray:
        """Both condition numbers (2, ...), of the motion and of the forces."""
        q = self._q("configuration", configuration)
        flat = np.ascontiguousarray(q.reshape(-1, self._nq))
        columns, tip, drives = self._comparable
        known = columns, tip, drives, length
        found = None
        if len(flat) > 1 and min(tip[0], len(tip) - 1, len(drives)) >= self._nu:
            found = batch("conditions", self.structure.packed, (self._nq,), (2,), (flat,), *known)
        if found is None:
            found = np.empty((len(flat), 2))
            condition_entry()(*self.structure.packed.given, *known, flat, found)
        lacking = np.isnan(found[:, 0])
        if lacking.any():
            bases, tips = self._motions(flat[lacking])
            tips[:, 3:] *= length
            moved = tips[:, self._determining_rows]
            found[lacking, 0] = _condition_numbers(moved, count=self.tip_freedoms.freedoms)
            driven = bases[:, self._rates_at] * self._driven_scale
            found[lacking, 1] = _condition_numbers(driven, self._nu)
        return np.asarray(found.T.reshape((2, *q.shape[:-1])))

    @cached_property
    def _comparable(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What the kernel of condition numbers takes: columns, tip and drives."""
        tip = np.array([self.tip_freedoms.freedoms, *self._determining_rows], dtype=float)
        drives = np.column_stack([self._rates_at, self._driven_scale]).astype(float)
        return np.ascontiguousarray(self.structure.equations.columns), tip, drives

    def _motions(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bases (N, rates, mobility) of the motions, the tip's twists (N, 6, mobility) in these.

        Orthonormal, of comparable rates. Where the closures leave more freedoms than elsewhere,
        of these motions those that move the driven joints least.
        """
        bases = np.full((len(q), self._tree.rates, self._nu), np.nan)
        tips = np.full((len(q), 6, self._nu), np.nan)
        if len(q) > 1:
            self._motions_of_many(q, bases, tips)
        columns = self.structure.equations.columns[:, None]
        for n in np.flatnonzero(np.isnan(tips).any(axis=(1, 2))):
            _, K = self.structure.equations.at(q[n])
            _, basis = null_space(K)
            if basis.shape[1] > self._nu:
                V = np.linalg.svd(basis[self._rates_at])[2]
                basis = basis @ V[-self._nu :].T
            bases[n] = basis
            tips[n] = self._tree_jacobian(q[n]) @ (basis * columns)
        return bases, tips

    def _motions_of_many(self, q: FloatArray, bases: FloatArray, tips: FloatArray) -> None:
        """The same of a batch (N, nq); NaN is left where the independent joints serve badly."""
        packed, widths = self.structure.packed, (self._nq,)
        S = batch("tangent", packed, widths, (self._tree.rates, self._nu), (q,))
        J = batch("jacobian", packed, widths, (6, self._nu), (q,))
        if S is None or J is None:
            return
        known = np.flatnonzero(np.isfinite(S).all(axis=(1, 2)) & np.isfinite(J).all(axis=(1, 2)))
        basis, R = orthonormal_bases(S[known] / self.structure.equations.columns[:, None])
        fair = _condition_numbers(R) < WORST_CONDITION
        known = known[fair]
        bases[known] = basis[fair]
        tips[known] = J[known] @ np.linalg.inv(R[fair])

    @cached_property
    def _driven_scale(self) -> FloatArray:
        """(n, 1) what makes rates of the driven joints comparable."""
        columns = self.structure.equations.columns[self._rates_at]
        return np.asarray((columns / columns.max())[:, None])

    @cached_property
    def tip_freedoms(self) -> TipFreedoms:
        """Which numbers of the tip's pose determine the mechanism."""
        tips = np.array(self._sampled_tips)
        tips[:, :3] /= self.structure.equations.size
        return tip_freedoms(tips)

    @property
    def determining_rows(self) -> tuple[int, ...]:
        """Which of the six numbers of its tip's pose determine it; none where they do not."""
        return self.tip_freedoms.rows if self.tip_freedoms.suffice else ()

    @cached_property
    def _determining_rows(self) -> list[int]:
        """Rows of the tip's twist that determine the mechanism."""
        return list(self.tip_freedoms.rows)

    @cached_property
    def _row_scales(self) -> FloatArray:
        """What makes the rows comparable: positions in parts of the size."""
        scale = np.ones((6, 1))
        scale[:3] /= self.structure.equations.size
        return scale[self._determining_rows]

    @cached_property
    def _tip_directions(self) -> FloatArray | None:
        """(rows, mobility) of the tip's motion that there are at all; None if there are more.

        A five-bar's tip stays in a plane: what it does there has a determinant.
        """
        moved = np.concatenate(
            list(self._sampled_tips[:, self._determining_rows] * self._row_scales), axis=1
        )
        U, values, _ = np.linalg.svd(moved)
        found = int((values > NONE * values[0]).sum())
        return np.asarray(U[:, :found]) if found == self._nu else None

    @cached_property
    def _sampled_tips(self) -> FloatArray:
        """(samples, 6, mobility) the tip's twists at configurations around home."""
        samples = closed_samples(self.structure.equations, self.structure.home)
        return self._motions(np.array(samples))[1]


def _orientations(bases: FloatArray) -> FloatArray:
    """Signs (N,) that make one orientation of bases (N, rates, mobility) on a way of the next."""
    turns = np.linalg.det(np.swapaxes(bases[:-1], 1, 2) @ bases[1:])
    return np.cumprod(np.concatenate([[1.0], np.where(turns < 0.0, -1.0, 1.0)]))


def _condition_numbers(
    matrices: FloatArray, least: int = 0, count: int | None = None
) -> FloatArray:
    """Condition numbers (...) of (..., m, n), of the `count` largest singular values.

    Infinite if there are fewer rows than `least`.
    """
    values: FloatArray = np.asarray(np.linalg.svd(matrices, compute_uv=False), np.float64)
    values = values[..., :count]
    if matrices.shape[-2] < least:
        values = np.concatenate([values, np.zeros((*values.shape[:-1], 1))], axis=-1)
    return extreme_ratio(values)
