# SPDX-License-Identifier: Apache-2.0

"""Evaluation of the quantities of a sweep for a batch of states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.algorithms.travel import travel_limits, within_travel
from robodyn.arrays import FloatArray, Indices
from robodyn.errors import KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation.variables import Variable
from robodyn.sweeps.quantities import QUANTITIES, Quantity
from robodyn.sweeps.settings import SweepSettings
from robodyn.sweeps.states import States, states, sweep_variables, variant


def evaluate(
    mechanism: Mechanism,
    values: Mapping[str, FloatArray],
    quantities: tuple[str, ...],
    settings: SweepSettings,
) -> dict[str, NDArray[Any]]:
    """Compute quantities for N states, and whether the states are reachable.

    A state is reachable if all joints are within their limits.

    Args:
        mechanism: mechanism of any kind.
        values: (N,) values of every variable of the sweep, by name.
        quantities: names of quantities, keys of `QUANTITIES`.
        settings: further parameters of the quantities.

    Returns:
        `reachable` (N,) and the arrays (N, ...) of the quantities, by name. Quantities are NaN for
        unreachable states (unless `settings.beyond_limits` is set), and for states for which the
        equations have no solution.
    """
    known = sweep_variables(mechanism)
    batch = states(mechanism, known, values)
    count, selected = len(batch.configuration), [QUANTITIES[name] for name in quantities]
    results: dict[str, NDArray[Any]] = {"reachable": np.zeros(count, dtype=bool)}
    for quantity in selected:
        shape = (count, *map(len, quantity.labels(mechanism).values()))
        results |= {name: np.full(shape, np.nan) for name in quantity.texts}
    exists = np.asarray(np.isfinite(batch.configuration).all(axis=-1))
    for machine, rows in _machines(mechanism, known, values):
        positions = np.full((count, len(machine.joint_names)), np.nan)
        _store_quantity(machine, _POSITIONS, batch, rows[exists[rows]], settings, [positions])
        within = machine.drives.within_position_limits(positions[rows])
        if len(travel_limits(machine)) > positions.shape[1]:
            placed = np.flatnonzero(within)
            within[placed] = within_travel(machine, batch.configuration[rows[placed]])
        results["reachable"][rows] = within
        computable = np.isfinite(positions[rows]).all(axis=-1) if settings.beyond_limits else within
        for quantity in selected:
            arrays = [results[name] for name in quantity.texts]
            _store_quantity(machine, quantity, batch, rows[computable], settings, arrays)
    return results


_POSITIONS = QUANTITIES["joint_positions"]


def _machines(
    mechanism: Mechanism, known: Mapping[str, Variable], values: Mapping[str, FloatArray]
) -> Iterator[tuple[Mechanism, Indices]]:
    """Yield the mechanism for each combination of model parameters and payload.

    The indices (k,) of the states with these parameters are yielded with each mechanism.
    """
    names = [name for name, variable in known.items() if variable.role == "model"]
    parameters = np.stack([values[name] for name in names], axis=-1)

    def create(row: FloatArray) -> Mechanism:
        return variant(mechanism, known, dict(zip(names, row.tolist(), strict=True)))

    if len(parameters) and (parameters == parameters[0]).all():
        yield create(parameters[0]), np.arange(len(parameters))
        return
    unique, which = np.unique(parameters, axis=0, return_inverse=True)
    order = np.argsort(which.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(which.reshape(-1)))
    for row, rows in zip(unique, np.split(order, ends[:-1]), strict=True):
        yield create(row), rows


def _store_quantity(
    machine: Mechanism,
    quantity: Quantity,
    batch: States,
    rows: Indices,
    settings: SweepSettings,
    out: list[FloatArray],
) -> None:
    """Compute a quantity for a batch of states, and store the results.

    A batch that fails is split into halves, each of which is tried again.
    """
    waiting = [rows]
    while waiting:
        part = waiting.pop()
        if not len(part):
            continue
        try:
            some = batch if len(part) == len(batch.wrench) else batch.take(part)
            found = quantity.compute(machine, some, settings)
        except KinematicsError:
            if len(part) > 1:
                waiting += np.array_split(part, 2)
            continue
        for array, values in zip(out, found if len(out) > 1 else [found], strict=True):
            array[part] = values
