# SPDX-License-Identifier: Apache-2.0

"""Arrays of a sweep as an xarray Dataset, with units, coordinates and provenance."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.sweeps.packages import package
from robodyn.sweeps.plan import SweepPlan
from robodyn.sweeps.points import Grid, SampledPoints
from robodyn.sweeps.quantities import QUANTITIES
from robodyn.sweeps.states import sweep_variables

Make = Callable[[tuple[int, ...], Any], Any]

FINGERPRINT = "robodyn_fingerprint"
_REACHABLE = "whether all joints are within their limits; by default, results are NaN elsewhere"


def dataset(plan: SweepPlan, make: Make) -> Any:
    """Create the xarray Dataset of a sweep, before any result is computed.

    Args:
        plan: plan of the sweep.
        make: function that creates an array of a given shape, filled with a given value, False or
            NaN.

    Returns:
        The Dataset, whose arrays of results contain only NaN, or False for `reachable`.
    """
    xarray = package("xarray")
    mechanism, points = plan.mechanism, plan.points
    variables = {"reachable": (points.dims, make(points.shape, False), {"long_name": _REACHABLE})}
    places: dict[str, Any] = {}
    for quantity in (QUANTITIES[name] for name in plan.quantities):
        labels, unit = quantity.labels(mechanism), quantity.unit_of(mechanism)
        shape, dims = (*points.shape, *map(len, labels.values())), (*points.dims, *quantity.dims)
        places |= {name: (name, list(along)) for name, along in labels.items()}
        for name, text in quantity.texts.items():
            attributes = {"units": unit, "long_name": text}
            variables[name] = (dims, make(shape, np.nan), attributes)
    axes = {axis.name: axis.values for axis in points.axes} if isinstance(points, Grid) else {}
    for name, coordinate in sweep_variables(mechanism).items():
        attributes = {"units": coordinate.unit, "long_name": coordinate.text}
        if name in plan.held:
            # positions, and values that have an effect
            if coordinate.role == "position" or plan.held[name] != coordinate.neutral:
                places[name] = ((), plan.held[name], attributes)
        elif name in axes:
            places[name] = (name, axes[name], attributes)
        else:
            places[name] = (points.dims, make(points.shape, np.nan), attributes)
    return xarray.Dataset(variables, coords=places, attrs=_attributes(plan))


def chunk_shapes(plan: SweepPlan, empty: Any) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the chunks in which a sweep's arrays are computed.

    Args:
        plan: plan of the sweep.
        empty: Dataset of the sweep.

    Returns:
        Chunk shapes by array name, for the arrays that have a value for each state of the sweep.
    """
    count = len(plan.points.dims)
    return {
        name: (*plan.points.chunk_shape, *variable.shape[count:])
        for name, variable in empty.variables.items()
        if variable.dims[:count] == plan.points.dims and name not in plan.points.dims
    }


def _attributes(plan: SweepPlan) -> dict[str, Any]:
    settings, points = plan.settings, plan.points
    found: dict[str, Any] = {
        "title": f"sweep of {plan.mechanism.name}",
        "model": plan.mechanism.name,
        "kind": plan.mechanism.kind,
        "source": f"robodyn {plan.version}",
        "characteristic_length": settings.characteristic_length,
        "beyond_limits": int(settings.beyond_limits),
    }
    if "effort_extremes" in plan.quantities:
        found["accelerations"] = np.asarray(settings.accelerations).tolist()
        found["wrenches"] = np.asarray(settings.wrenches).tolist()
    if isinstance(points, SampledPoints):
        found |= {"sampling": points.method, "seed": points.seed}
    return found | {FINGERPRINT: json.dumps(plan.fingerprint())}
