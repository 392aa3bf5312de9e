# SPDX-License-Identifier: Apache-2.0

"""Description of a mechanism for `robodyn check`: bodies, joints, limits and warnings."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from robodyn.actuators import Actuator
from robodyn.algorithms import comparison, conditioning
from robodyn.algorithms.description import gravity_vector
from robodyn.algorithms.travel import travel_limits, travel_positions
from robodyn.arrays import FloatArray
from robodyn.dynamics import joint_friction
from robodyn.errors import (
    InvalidInput,
    KinematicsError,
    LeftOutWarning,
    ModelError,
    UnderActuated,
    UnphysicalInertiaWarning,
)
from robodyn.loading.load import load
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation.nouns import nouns_of


class LoadWarnings(NamedTuple):
    """Warnings issued while a mechanism was loaded, one message each.

    Attributes:
        unphysical: messages about inertias that no rigid body can have.
        left_out: messages about parts of the description that the mechanism does not contain.
    """

    unphysical: list[str]
    left_out: list[str]


# Condition number above which it counts as infinite, and the distance [m, rad] from home for its
# check.
SINGULAR, AROUND = 1e12, 0.03
# Largest number of warnings in one error.
SHOWN = 4
# Quantities of each joint, and the functions that return them for all joints.
_JOINT = {
    "name": "joint_names", "unit": "drives.units", "effort_unit": "drives.effort_units",
    "position_limits": "position_limits", "velocity_limit": "velocity_limits",
    "effort_limit": "effort_limits",
}  # fmt: skip
_LINES = {UnphysicalInertiaWarning: "unphysical", LeftOutWarning: "left_out"}


def comparison_report(mechanism: Mechanism, against: str, strict: bool) -> dict[str, Any]:
    """Load a second mechanism, and list its differences from the first one.

    Args:
        mechanism: first mechanism.
        against: source of the second one, see `load`.
        strict: reject unphysical inertias of the second one.

    Returns:
        Dictionary with `source`, the given source, and `differences`, a message for each field that
        differs.

    Raises:
        RobodynError: as for `load`.
    """
    other, _ = read(against, strict)
    return {"source": against, "differences": comparison.differences(mechanism, other)}


def describe(mechanism: Mechanism, load_warnings: LoadWarnings, source: str) -> dict[str, Any]:
    """Describe a mechanism as data for JSON.

    Args:
        mechanism: mechanism to describe.
        load_warnings: warnings to include.
        source: name of the model's source.

    Returns:
        Dictionary with kind, name, gravity, bodies, joints and their limits, friction, actuators,
        home configuration, condition number of the Jacobian at home, loops and warnings. A limit of
        None stands for no limit.
    """
    columns = [[_plain(value) for value in attrgetter(name)(mechanism)] for name in _JOINT.values()]
    out: dict[str, Any] = {
        "kind": mechanism.kind,
        "name": mechanism.name,
        "noun": nouns_of(mechanism).joint,
        "source": mechanism.model.source or source,
        "frames": list(mechanism.frames),
        "gravity": _plain(gravity_vector(mechanism)),
        "bodies": [
            {"name": body.name, "mass": body.mass, "com": _plain(body.com)}
            for body in mechanism.bodies
        ],
        "joints": [dict(zip(_JOINT, row, strict=True)) for row in zip(*columns, strict=True)],
        # of each leg or joint; an arm's `friction` is Coulomb friction in both directions
        "friction": [_plain(own) for own in joint_friction.joint_friction(mechanism)],
        "actuators": [],
        "home": _home(mechanism),
        "condition_number": None,
        "loops": conditioning.loop_analysis(mechanism),
        "unphysical": load_warnings.unphysical,
        "left_out": load_warnings.left_out,
        "remarks": [],
    }
    out["mass"] = sum(body["mass"] for body in out["bodies"])
    if out["home"] is None:
        out["remarks"].append(
            "no home pose is given, so lengths and condition number are not computed"
        )
    else:
        _at_home(mechanism, out)
    return out


def read(source: str, strict: bool) -> tuple[Mechanism, LoadWarnings]:
    """Load a mechanism, and collect the warnings about its description.

    Args:
        source: see `load`.
        strict: reject unphysical inertias.

    Returns:
        The mechanism and the warnings.

    Raises:
        RobodynError: as for `load`.
    """
    load_warnings = LoadWarnings([], [])
    with warnings.catch_warnings(record=True) as caught:
        for category in _LINES:
            warnings.simplefilter("always", category)
        try:
            mechanism: Mechanism = load(source, strict=strict)
        except ModelError as error:
            messages = [str(w.message) for w in caught if issubclass(w.category, LeftOutWarning)]
            if not messages:
                raise
            # parts left out may be the cause of the failure
            more = f"; and {len(messages) - SHOWN} more" if len(messages) > SHOWN else ""
            text = "; ".join(messages[:SHOWN]).replace(f"{source}: ", "")
            raise type(error)(f"{error} ({text}{more})", value=error.value) from error
    for warning in caught:
        name = next((_LINES[c] for c in _LINES if issubclass(warning.category, c)), None)
        if name is not None:
            getattr(load_warnings, name).append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return mechanism, load_warnings


def _home(mechanism: Mechanism) -> Any:
    try:
        return _plain(mechanism.home)
    except InvalidInput:
        return None


def _at_home(mechanism: Mechanism, out: dict[str, Any]) -> None:
    home = mechanism.home
    try:
        positions = mechanism.joint_positions(home)
        size = mechanism.characteristic_length
        if out["loops"].get("motors_suffice", True) and _singular_everywhere(mechanism, size):
            out["remarks"].append(
                "home and all configurations around it are singular: some motion of the mechanism "
                "can be neither caused nor prevented by the motors. Check the positions of the "
                "joints: legs between two similar polygons, for example, have such a geometry"
            )
        else:
            out["actuators"] = actuators_at_home(mechanism)
            out["condition_number"] = {
                "value": _plain(mechanism.condition_number(home)),
                "characteristic_length": size,
                "scaled": _plain(mechanism.condition_number(home, size)),
            }
    except KinematicsError as error:
        out["remarks"].append(f"at home: {error}")
        return
    for joint, position in zip(out["joints"], positions, strict=True):
        joint["home"] = float(position)
    for value, limit in zip(
        travel_positions(mechanism, home), travel_limits(mechanism), strict=True
    ):
        if not limit.lower <= value <= limit.upper:
            out["remarks"].append(
                f"at home {limit.name} is {value:.6g}, outside its limits [{limit.lower:g}, "
                f"{limit.upper:g}]"
            )


def actuators_at_home(mechanism: Mechanism) -> list[dict[str, Any]]:
    """Compare the actuator of each driven joint with its load at home.

    All values are in the units of the joint: inertias in kg or kg m^2, efforts in N or N m.

    Returns:
        A dictionary for each driven joint, or an empty list if all actuators are ideal: `name`;
        `reflected_inertia` of the rotor; `inertia` of the mechanism without actuators at the joint,
        with the other driven joints locked; Coulomb `friction`; `weight`, the effort that supports
        the mechanism; and `friction_share`, friction divided by `weight`. Undefined values are
        None, for example `weight` if the motors cannot support the mechanism.

    Raises:
        KinematicsError: home is singular.
    """
    actuators = mechanism.actuators
    if all(actuator == Actuator() for actuator in actuators):
        return []
    home = mechanism.home
    bare = mechanism.without_actuators()
    M = bare.mass_matrix(home)
    still = np.zeros(len(M))
    inertia = _at_joints(bare, home, M)
    try:
        weight = np.abs(bare.inverse_dynamics(home, still, still))
    except UnderActuated:
        weight = np.full(len(actuators), np.nan)
    rows = []
    for i, name in enumerate(mechanism.joint_names):
        actuator = actuators[i]
        friction = max(actuator.coulomb_pair)
        # a joint bears no weight if its axis is vertical, apart from the rounding of angles in
        # files
        bears = bool(weight[i] > 1e-3 * weight.max())
        rows.append(
            {
                "name": name,
                "reflected_inertia": actuator.reflected_inertia,
                "inertia": None if inertia is None else float(inertia[i]),
                "friction": friction,
                "weight": _plain(weight[i]),
                "friction_share": float(friction / weight[i]) if bears else None,
            }
        )
    return rows


def _at_joints(mechanism: Mechanism, home: FloatArray, M: FloatArray) -> FloatArray | None:
    """Return the diagonal (n,) of the mass matrix in driven-joint coordinates.

    The result is None if the driven positions do not determine the configuration.
    """
    rates = mechanism.joint_velocities(home, np.eye(len(M))).T
    if rates.shape != M.shape or np.linalg.matrix_rank(rates) < len(M):
        return None
    inverse = np.linalg.inv(rates)
    return np.asarray(np.diag(inverse.T @ M @ inverse))


def _singular_everywhere(mechanism: Mechanism, size: float) -> bool:
    """Return whether home and all tested configurations around it are singular."""
    home, velocities = mechanism.home, mechanism.coordinates.velocity_size
    if float(mechanism.condition_number(home, size)) < SINGULAR:
        return False
    steps = np.random.default_rng(0).uniform(-AROUND, AROUND, (8, velocities))
    around = [mechanism.advance(home, step) for step in steps]
    return all(float(mechanism.condition_number(q, size)) > SINGULAR for q in around)


def _plain(value: Any) -> Any:
    """Convert values to plain data for JSON, with None for values that are not finite."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    array = np.asarray(value, dtype=np.float64)
    if array.ndim:
        return [_plain(item) for item in array]
    return float(array) if np.isfinite(array) else None
