# SPDX-License-Identifier: Apache-2.0

"""The results of a batch of states: computed where there is an answer, NaN where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.arrays import FloatArray, Indices
from robodyn.errors import KinematicsError
from robodyn.mechanisms.common.variables import Variable
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.sweeps.quantities import LABELS, QUANTITIES, Output, Quantity
from robodyn.sweeps.settings import SweepSettings
from robodyn.sweeps.states import States, states, sweep_variables, variant


def width(mechanism: Mechanism, dimension: str) -> int:
    """Size of a dimension of results beyond those of the sweep."""
    return len(labels(mechanism, dimension))


def labels(mechanism: Mechanism, dimension: str) -> tuple[str, ...]:
    """Labels of the entries along such a dimension."""
    return mechanism.joint_names if dimension == "joint" else LABELS[dimension]


def outputs(mechanism: Mechanism, quantities: tuple[str, ...]) -> list[Output]:
    """The arrays that quantities give, in order."""
    return [output for name in quantities for output in QUANTITIES[name].outputs(mechanism)]


def evaluate(
    mechanism: Mechanism,
    values: Mapping[str, FloatArray],
    quantities: tuple[str, ...],
    settings: SweepSettings,
) -> dict[str, NDArray[Any]]:
    """`reachable` (N,) and the outputs (N, ...) of quantities at the value (N,) of each variable.

    A state is reachable if the driven joints are within their limits. Where it is not, or where
    the equations have no solution, results are NaN.
    """
    known = sweep_variables(mechanism)
    batch = states(mechanism, known, values)
    count = len(batch.configuration)
    results: dict[str, NDArray[Any]] = {"reachable": np.zeros(count, dtype=bool)}
    for output in outputs(mechanism, quantities):
        shape = (count, *(width(mechanism, dimension) for dimension in output.dims))
        results[output.name] = np.full(shape, np.nan)
    for machine, rows in _machines(mechanism, known, values):
        _evaluate_one(machine, batch, rows, quantities, settings, results)
    return results


def _evaluate_one(
    machine: Mechanism,
    batch: States,
    rows: Indices,
    quantities: tuple[str, ...],
    settings: SweepSettings,
    results: dict[str, NDArray[Any]],
) -> None:
    """Compute some rows of a batch and store their results."""

    def positions_of(states: States) -> tuple[FloatArray, ...]:
        return (machine.joint_positions(states.configuration),)

    positions = np.full((len(batch.configuration), len(machine.joint_names)), np.nan)
    exists = np.isfinite(batch.configuration[rows]).all(axis=-1)
    _answer(positions_of, batch, rows[exists], positions)
    positions = positions[rows]
    within = machine.within_position_limits(positions)
    results["reachable"][rows] = within
    rows = rows[np.isfinite(positions).all(axis=-1) if settings.beyond_limits else within]
    for name in quantities:
        quantity = QUANTITIES[name]
        arrays = (results[output.name] for output in quantity.outputs(machine))

        def compute(some: States, quantity: Quantity = quantity) -> tuple[FloatArray, ...]:
            return quantity.compute(machine, some, settings)

        _answer(compute, batch, rows, *arrays)


def _machines(
    mechanism: Mechanism, known: Mapping[str, Variable], values: Mapping[str, FloatArray]
) -> Iterator[tuple[Mechanism, Indices]]:
    """Each mechanism that the values ask for, and the states in which it is asked for."""
    names = [name for name, variable in known.items() if variable.role == "model"]
    parameters = np.stack([values[name] for name in names], axis=-1)

    def made(row: FloatArray) -> Mechanism:
        return variant(mechanism, known, dict(zip(names, row.tolist(), strict=True)))

    if len(parameters) and (parameters == parameters[0]).all():
        yield made(parameters[0]), np.arange(len(parameters))
        return
    unique, which = np.unique(parameters, axis=0, return_inverse=True)
    order = np.argsort(which.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(which.reshape(-1)))
    for row, rows in zip(unique, np.split(order, ends[:-1]), strict=True):
        yield made(row), rows


def _answer(
    compute: Callable[[States], tuple[FloatArray, ...]],
    batch: States,
    rows: Indices,
    *out: FloatArray,
) -> None:
    """Store results in some rows of `out`; bisect batches that fail, down to single states."""
    waiting = [rows]
    while waiting:
        part = waiting.pop()
        if not len(part):
            continue
        try:
            results = compute(batch if len(part) == len(batch.wrench) else batch.take(part))
        except KinematicsError:
            if len(part) > 1:
                waiting += np.array_split(part, 2)
            continue
        for array, result in zip(out, results, strict=True):
            array[part] = result
