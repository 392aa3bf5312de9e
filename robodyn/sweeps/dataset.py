# SPDX-License-Identifier: Apache-2.0

"""The arrays of a sweep as an xarray Dataset, with units, coordinates and provenance."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.sweeps.evaluate import labels, outputs, width
from robodyn.sweeps.packages import package
from robodyn.sweeps.plan import SweepPlan
from robodyn.sweeps.points import Grid
from robodyn.sweeps.states import sweep_variables

Make = Callable[[tuple[int, ...], Any], Any]

FINGERPRINT = "robodyn_fingerprint"
_REACHABLE = "driven joints within their limits; elsewhere, and where there is no answer, NaN"


def dataset(plan: SweepPlan, make: Make) -> Any:
    """The Dataset of a sweep before anything is computed.

    Args:
        plan: of the sweep.
        make: makes an array of a shape, filled with a value, False or NaN.
    """
    xarray = package("xarray")
    mechanism, points = plan.mechanism, plan.points
    known = sweep_variables(mechanism)
    variables = {"reachable": (points.dims, make(points.shape, False), {"long_name": _REACHABLE})}
    extra: list[str] = []
    for output in outputs(mechanism, plan.quantities):
        extra += output.dims
        shape = (*points.shape, *(width(mechanism, dimension) for dimension in output.dims))
        attributes = {"units": output.unit, "long_name": output.text}
        dims = (*points.dims, *output.dims)
        variables[output.name] = (dims, make(shape, np.nan), attributes)
    places: dict[str, Any] = {name: (name, list(labels(mechanism, name))) for name in extra}
    for name, coordinate in known.items():
        attributes = {"units": coordinate.unit, "long_name": coordinate.text}
        if name in plan.held:
            if _matters(name, plan):
                places[name] = ((), plan.held[name], attributes)
        elif not isinstance(points, Grid):
            places[name] = (points.dims, make(points.shape, np.nan), attributes)
    if isinstance(points, Grid):
        for axis in points.axes:
            coordinate = known[axis.name]
            attributes = {"units": coordinate.unit, "long_name": coordinate.text}
            places[axis.name] = (axis.name, axis.values, attributes)
    return xarray.Dataset(variables, coords=places, attrs=_attributes(plan))


def chunk_shapes(plan: SweepPlan, empty: Any) -> dict[str, tuple[int, ...]]:
    """The shape of a chunk of every array that is computed chunk by chunk."""
    count = len(plan.points.dims)
    return {
        name: (*plan.points.chunk_shape, *variable.shape[count:])
        for name, variable in empty.variables.items()
        if variable.dims[:count] == plan.points.dims and name not in plan.points.dims
    }


def _matters(name: str, plan: SweepPlan) -> bool:
    """Whether a held value is stored as a coordinate: positions, and values that have an effect."""
    variable = sweep_variables(plan.mechanism)[name]
    return variable.role == "position" or plan.held[name] != variable.neutral


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
    if not isinstance(points, Grid):
        found |= {"sampling": points.method, "seed": points.seed}
    return found | {FINGERPRINT: json.dumps(plan.fingerprint())}
