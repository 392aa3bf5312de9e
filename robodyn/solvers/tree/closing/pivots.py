# SPDX-License-Identifier: Apache-2.0

"""Alternative pivots and independent coordinates, for states where those of home fail."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import SingularConfiguration, SingularMassMatrix
from robodyn.solvers.tree import calls
from robodyn.solvers.tree.calls import entry, single_dynamics
from robodyn.solvers.tree.closing.equations import ACCEPTED, CLOSED, least_step, null_space
from robodyn.solvers.tree.closing.structure import Structure, dependent_rate_ratio
from robodyn.solvers.tree.elimination import find_elimination
from robodyn.solvers.tree.packing import PackedMechanism, pack

# Result of `independence` below which coordinates do not determine the motion.
SINGULAR = 1e-9
# Largest number of packings to keep.
MOST_PACKINGS = 4
# Number of configurations at which `packings_over_travel` checks pivots, and fraction of a pivot's
# size at home below which it searches for another order.
TRAVEL_SAMPLES = 1000
NEAR_ZERO = 0.01
SEED = 1


class Pivots:
    """Packed arrays of a mechanism with different elimination orders.

    An elimination order of the closure equations is suitable near some configurations only, where
    its pivots are far from zero.

    Args:
        structure: structure of the mechanism.

    Attributes:
        known: packed arrays found so far, the latest first.
    """

    def __init__(self, structure: Structure) -> None:
        self._structure = structure
        self.known: tuple[PackedMechanism, ...] = ()

    def at(self, q: FloatArray, free: tuple[int, ...] | None = None) -> PackedMechanism:
        """Return packed arrays with an elimination order for a configuration (positions,).

        Args:
            q: closed configuration.
            free: independent coordinates, by default the mechanism's.

        Returns:
            The packed arrays.

        Raises:
            SingularConfiguration: these coordinates do not determine the motion at `q`.
        """
        own = self._structure
        chosen = own.free if free is None else free
        _, K = own.equations.at(q)
        smallest, direction = independence(K, chosen)
        elimination = None
        if smallest > SINGULAR:
            elimination = find_elimination([K], own.present, chosen)
        if elimination is None:
            moving = [own.tree.rate_names[rate] for rate in np.argsort(-np.abs(direction))[:3]]
            names = ", ".join(own.tree.rate_names[rate] for rate in chosen)
            raise SingularConfiguration(
                f"{own.tree.model.name}: at this configuration {names} do not determine the "
                f"motion: {', '.join(moving)} can move while these are locked (singularity of "
                "type 2); forward dynamics and simulation still work, but inverse dynamics has no "
                "solution",
                smallest_singular_value=smallest,
                direction=direction,
                value=q,
            )
        rows, columns = 1.0 / own.equations.rows, 1.0 / own.equations.columns
        packed = pack(
            own.tree,
            idle=own.idle,
            free=chosen,
            elimination=elimination.scaled(rows, columns),
            steep=np.inf if free is None else dependent_rate_ratio(own.equations, q, chosen),
        )
        if free is None:
            self.known = (packed, *self.known)[:MOST_PACKINGS]
        return packed

    def best_free(self, q: FloatArray) -> tuple[int, ...]:
        """Return the rate indices of the best independent coordinates at a configuration.

        They are selected by pivoting on the tangent matrix. The independent coordinates of the
        structure are preferred unless others are clearly better.
        """
        own = self._structure
        _, K = own.equations.at(q)
        _, basis = null_space(K)
        remaining = basis.copy()
        weights = np.where(np.isin(np.arange(len(basis)), own.free), 2.0, 1.0)
        chosen: list[int] = []
        for _ in range(basis.shape[1]):
            size = weights * np.linalg.norm(remaining, axis=1)
            rate = int(np.argmax(size))
            chosen.append(rate)
            row = remaining[rate] / np.linalg.norm(remaining[rate])
            remaining = remaining - np.outer(remaining @ row, row)
        return tuple(sorted(chosen))


def packings_over_travel(mechanism: Any) -> tuple[PackedMechanism, ...]:
    """Return the packed arrays that exported code needs over the mechanism's travel.

    The travel is that of the driven joints. Each packing has another elimination order of the
    closure equations, in the same independent coordinates; at any configuration in the travel, one
    of them is suitable. An order is added for each sample of the travel at which the previous ones
    nearly fail.
    """
    structure, samples = mechanism.structure, np.random.default_rng(SEED)
    head, numbers = structure.packed.head, structure.packed.numbers.copy()
    numbers[head["at_steep"]] = np.inf  # there are no other independent coordinates to change to
    found, orders = [replace(structure.packed, numbers=numbers)], [structure.elimination]
    home = mechanism.joint_positions(mechanism.home)
    travel = np.clip(mechanism.position_limits - home[:, None], -np.pi, np.pi)
    for _ in range(TRAVEL_SAMPLES if structure.elimination.pivots else 0):
        q = mechanism.home.copy()
        left = entry(calls.DISPLACE, structure.packed)(q, samples.uniform(*travel.T), CLOSED)
        if not 0.0 <= left <= ACCEPTED:
            continue
        _, K = structure.equations.at(q)
        if max(order.pivots_at(K).min() for order in orders) < NEAR_ZERO:
            order = find_elimination([K], structure.present, structure.free)
            if order is not None:
                orders.append(order)
                found.append(Pivots(structure).at(q))
        if len(found) == MOST_PACKINGS:
            break
    return tuple(found)


def independence(K: FloatArray, free: Any) -> tuple[float, FloatArray]:
    """Compute how well coordinates determine the motion that the closures permit.

    Args:
        K: (rows, rates) Jacobian of the closures, in comparable units.
        free: rate indices of the coordinates.

    Returns:
        The smallest singular value (0 to 1) of the coordinates' rows in an orthonormal basis of the
        motions, and the motion (rates,) that these coordinates determine worst.
    """
    _, basis = null_space(K)
    _, values, V = np.linalg.svd(basis[list(free)])
    direction = basis @ V[-1]
    return float(values[-1]) if len(values) == basis.shape[1] else 0.0, direction


def forward_dynamics_repivoted(
    mechanism: Any, q: FloatArray, rates: FloatArray, effort: FloatArray, *load: FloatArray | None
) -> FloatArray:
    """Compute accelerations (mobility,) where the usual elimination order fails.

    They are those of the independent joints, at a closed configuration `q`, and are computed in the
    coordinates that determine the motion best there. If the given rates (mobility,) of the
    independent joints permit several motions, the one of least norm is used. `effort` (n,) are the
    driven efforts, `load` is a wrench and the motion of the base.

    Raises:
        SingularMassMatrix: a motion has no inertia.
    """
    structure, pivots = mechanism.structure, mechanism.solver.pivots
    free = pivots.best_free(q)
    packed = pivots.at(q, free)
    v = full_rates(structure, q, rates)
    other = np.empty(len(free))
    if not single_dynamics(packed).forward(q, v[list(free)], effort, *load, True, other):
        raise SingularMassMatrix(
            f"{mechanism.name}: the mechanism can move without moving any mass, so its "
            "acceleration is undefined; give its links mass",
            value=q,
        )
    count = mechanism.solver.tree.rates
    motion = np.empty(2 * count + 6)
    entry(calls.MOTION, packed)(q, v[list(free)], other, motion)
    return np.asarray(motion[count : 2 * count][list(structure.free)])


def full_rates(structure: Any, q: FloatArray, rates: FloatArray) -> FloatArray:
    """Return the rates (rates,) of all joints from those of the independent joints.

    If several motions are possible at `q`, the result is the one with the least norm.
    """
    _, K = structure.equations.at(q)
    columns = structure.equations.columns
    rows = np.zeros((len(structure.free), K.shape[1]))
    for n, rate in enumerate(structure.free):
        rows[n, rate] = 1.0
    target = np.concatenate([np.zeros(len(K)), rates / columns[list(structure.free)]])
    return np.asarray(least_step(np.vstack([K, rows]), target) * columns)
