# SPDX-License-Identifier: Apache-2.0

"""Variables of a sweep, and states of a mechanism for given values of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from robodyn.algorithms.effort_terms import nan_where_singular
from robodyn.arrays import FloatArray, Indices
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation
from robodyn.presentation.variables import AXES, Role, Variable

PAYLOAD = ("payload", *(f"payload_{axis}" for axis in AXES))


class States(NamedTuple):
    """Batch of N states of a mechanism under an external wrench.

    The arrays are `configuration` (N, nq), `velocity` (N, nv), `acceleration` (N, nv), and `wrench`
    (N, 6) [N, N m] in the base frame.
    """

    configuration: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    wrench: FloatArray

    def take(self, rows: Indices) -> States:
        """Return the states with the given indices."""
        return States(*(array[rows] for array in self))


def sweep_variables(mechanism: Mechanism) -> dict[str, Variable]:
    """Return the variables that a sweep of a mechanism can vary, by name.

    They describe its state, the external wrench, its model and its payload.
    """
    own = presentation.variables(mechanism)
    known = {name: variable for name, variable in own.items() if variable.role != "model"}
    for part, unit in (("force", "N"), ("moment", "N m")):
        for i, axis in enumerate(AXES):
            index = i + 3 * (part == "moment")
            text = f"{part} exerted by the environment on the mechanism, base frame, {axis}"
            known[f"{part}_{axis}"] = Variable("wrench", index, unit, text)
    known["payload"] = Variable("model", 0, "kg", "mass carried by the platform or tip", 0.0)
    for i, axis in enumerate(AXES):
        text = f"center of mass of the payload, moving frame, {axis}"
        known[f"payload_{axis}"] = Variable("model", i + 1, "m", text)
    return known | {name: variable for name, variable in own.items() if variable.role == "model"}


def resting_values(
    mechanism: Mechanism, known: Mapping[str, Variable], required: Collection[str]
) -> dict[str, float]:
    """Return default values for the variables of a sweep that the user does not set.

    They describe the mechanism at home, at rest, and without load.

    Args:
        mechanism: mechanism of any kind.
        known: all variables of the sweep, by name.
        required: names of the variables that the user sets.

    Returns:
        Default values of the other variables, by name.

    Raises:
        InvalidInput: a default value requires a home configuration, which the mechanism does not
            have.
    """
    values = {name: known[name].neutral for name in known if name not in required}
    positions = [name for name in values if known[name].role == "position"]
    if positions:
        home = presentation.values_of(mechanism, mechanism.home)
        values |= {name: float(home[known[name].index]) for name in positions}
    return values


def states(
    mechanism: Mechanism, known: Mapping[str, Variable], values: Mapping[str, FloatArray]
) -> States:
    """Create a batch of N states from the values of all variables.

    Args:
        mechanism: mechanism of any kind.
        known: variables by name.
        values: (N,) values of each variable, by name.

    Returns:
        The states; the configuration of a state is NaN if the loop closures have no solution.
    """
    count = len(next(iter(values.values())))
    roles = [variable.role for variable in known.values()]
    parts: dict[Role, FloatArray] = {
        role: np.empty((count, roles.count(role)))
        for role in ("position", "velocity", "acceleration", "wrench")
    }
    for name, variable in known.items():
        if variable.role != "model":
            parts[variable.role][:, variable.index] = values[name]
    # NaN where loops do not close
    size = mechanism.coordinates.configuration_size
    configuration = nan_where_singular(
        partial(presentation.configuration_of, mechanism), (parts["position"],), (size,)
    )
    return States(configuration, parts["velocity"], parts["acceleration"], parts["wrench"])


def variant(
    mechanism: Mechanism, known: Mapping[str, Variable], values: Mapping[str, float]
) -> Mechanism:
    """Create a copy of a mechanism with changed model parameters and payload.

    Args:
        mechanism: mechanism to change.
        known: variables of the sweep, by name.
        values: values of the variables of the model and the payload, by name.

    Raises:
        ModelError: no mechanism can have these values.
    """
    own = {
        name: values[name]
        for name, variable in known.items()
        if variable.role == "model" and name not in PAYLOAD
    }
    changed = presentation.with_model_values(mechanism, own) if own else mechanism
    mass, *place = (values[name] for name in PAYLOAD)
    return changed.with_payload(mass, place) if mass else changed
