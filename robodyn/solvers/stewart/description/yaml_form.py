# SPDX-License-Identifier: Apache-2.0

"""Stewart platforms in YAML files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.actuators.description import actuator_from_fields
from robodyn.errors import ModelError
from robodyn.formats.documents import Fields
from robodyn.formats.inertia import check_inertias
from robodyn.mechanism.kind import ReadOptions
from robodyn.model.body import Body
from robodyn.model.fields import GRAVITY
from robodyn.model.model import Model
from robodyn.parsing.model_file import (
    SPRINGS,
    actuator_fields,
    body_fields,
    body_of,
    limits_fields,
    limits_of,
    numbers,
    spring_fields,
    write_yaml,
)
from robodyn.poses import pose_from_rpy, rpy_from_pose
from robodyn.solvers.stewart.description.sides import half_extended, legs_of_sides
from robodyn.solvers.stewart.six_legs import (
    LEGS,
    Damping,
    JointReading,
    Leg,
    LegJoints,
    LegLimits,
    SixLegs,
    inertia_without_rotor,
)

UNIVERSAL_LIMITS = ("universal_1", "universal_2")
_CONES = ("base_cone", "body_cone")
_TOP = ("type", "name", "gravity", "home", "platform", "leg_defaults", "legs", "sides", *_CONES)
_SHARED = ("lower", "upper", "damping", "limits", "actuator", "armature")
_LEG = ("base", "platform", "universal_axis", "reading", *_SHARED)


def stewart_model_from_yaml(
    document: Mapping[str, Any], source: str, options: ReadOptions
) -> Model:
    """Create the model that a YAML document of `type: stewart` describes.

    Args:
        document: mapping from `read_yaml`.
        source: file name, for messages.
        options: whether unphysical inertias are rejected instead of warned of.

    Returns:
        The model.

    Raises:
        ModelError: a field is missing, unknown or wrong; names the file and the dotted field.
        UnphysicalInertia: with `strict=True`.
    """
    top = Fields(document, source)
    top.only(*_TOP, *SPRINGS)
    top.text("type", choices=("stewart",))
    defaults = top.child("leg_defaults", {})
    defaults.only(*_SHARED)
    if "sides" in top and "legs" in top:
        raise top.refuse("sides", top.data["sides"], "either `sides` or `legs`")
    legs = legs_of_sides(top.child("sides")) if "sides" in top else top.children("legs")
    if len(legs) != LEGS:
        raise ModelError(f"{source}: legs is a list of {len(legs)}, expected six", value=len(legs))
    name = top.text("name")
    platform = _body(top.child("platform"))
    if not platform.mass > 0.0:
        raise top.refuse("platform.mass", platform.mass, "a number above 0 [kg]")
    made = tuple(_leg(leg, defaults, number) for number, leg in enumerate(legs, start=1))
    six = SixLegs(
        name=name,
        platform=platform,
        legs=made,
        gravity=top.array("gravity", (3,), "m/s^2", default=GRAVITY.tolist()),
        home=_home(top, made[0]),
        source=source,
        base_cone=top.number("base_cone", "rad", default=np.inf, above=0.0),
        body_cone=top.number("body_cone", "rad", default=np.inf, above=0.0),
    )
    bodies = [(name, body.inertia) for name, body in six.bodies]
    check_inertias(source, [*bodies, *inertia_without_rotor(six)], strict=options.strict)
    return six.expanded()


def _home(top: Fields, leg: Leg) -> Any:
    """Return the stated pose, or by default that of a symmetric hexapod with half extended legs."""
    if "home" not in top:
        return half_extended(top.child("sides"), leg) if "sides" in top else None
    home = top.child("home")
    home.only("xyz", "rpy")
    return pose_from_rpy(home.array("xyz", (3,), "m"), home.array("rpy", (3,), "rad", [0.0] * 3))


def _leg(given: Fields, defaults: Fields, number: int) -> Leg:
    given.only(*_LEG)
    leg = given.over(defaults.data)
    axis = leg.array("universal_axis", (3,))
    if not np.linalg.norm(axis) > 1e-9:
        raise leg.refuse("universal_axis", axis.tolist(), "a direction, not zero")
    return Leg(
        base=leg.array("base", (3,), "m"),
        platform=leg.array("platform", (3,), "m"),
        universal_axis=axis,
        lower=_body(leg.child("lower")),
        upper=_body(leg.child("upper")),
        damping=_damping(leg.child("damping", {})),
        limits=_limits(leg.child("limits", {})),
        actuator=actuator_from_fields(leg.child("actuator", {})),
        armature=leg.number("armature", "kg", default=0.0, at_least=0.0),
        joints=_joints(leg.child("reading", {}), number),
    )


def _joints(reading: Fields, number: int) -> LegJoints:
    """Return numbered joints; a file may state the actuator's name and measurement."""
    reading.only("name", "sign", "offset")
    joints = LegJoints.numbered(number)
    sign = reading.number("sign", default=1.0)
    if sign not in (1.0, -1.0):
        raise reading.refuse("sign", sign, "1 or -1")
    actuator = JointReading(
        reading.text("name", default=joints.actuator.name),
        sign,
        reading.number("offset", "m", default=0.0),
    )
    return joints._replace(actuator=actuator)


def _body(block: Fields) -> Body:
    block.only("mass", "com", "inertia")
    return body_of(block)


def _damping(fields: Fields) -> Damping:
    units = {"universal": "N m s/rad", "prismatic": "N s/m", "spherical": "N m s/rad"}
    fields.only(*units)
    levels = (fields.number(name, unit, default=0.0, at_least=0.0) for name, unit in units.items())
    return Damping(*levels)


def _limits(fields: Fields) -> LegLimits:
    limits = limits_of(fields, "length", "m", "N", also=UNIVERSAL_LIMITS)
    for name in UNIVERSAL_LIMITS:
        if name in fields:
            limits[name] = tuple(fields.array(name, (2,), "rad").tolist())
            if not limits[name][0] < limits[name][1]:
                raise fields.refuse(name, limits[name], "[lower, upper] with lower < upper [rad]")
    shortest, longest = limits.pop("length", (0.0, np.inf))
    if not 0.0 <= shortest < longest:
        raise fields.refuse(
            "length",
            [float(shortest), float(longest)],
            "[shortest, longest] with 0 <= shortest < longest [m]",
        )
    return LegLimits(length=(float(shortest), float(longest)), **limits)


def write_stewart(mechanism: Any, path: Path) -> list[Path]:
    """Write a platform as a file that `load` reads; return the files written.

    Raises:
        OutputError: the file cannot be written.
    """
    six = mechanism.six_legs
    document = {
        "type": "stewart",
        "name": six.name,
        "gravity": numbers(six.gravity),
        "platform": body_fields(six.platform),
        "legs": [_written(leg) for leg in six.legs],
    }
    document |= spring_fields(six.expanded())
    document |= {name: getattr(six, name) for name in _CONES if np.isfinite(getattr(six, name))}
    if six.home is not None:
        xyz, rpy = rpy_from_pose(six.home)
        document["home"] = {"xyz": numbers(xyz), "rpy": numbers(rpy)}
    return [write_yaml(path, document)]


def _written(leg: Leg) -> dict[str, Any]:
    name, sign, offset = leg.joints.actuator
    out = {
        "base": numbers(leg.base),
        "platform": numbers(leg.platform),
        "universal_axis": numbers(leg.universal_axis),
        "lower": body_fields(leg.lower),
        "upper": body_fields(leg.upper),
        "damping": {name: float(value) for name, value in asdict(leg.damping).items()},
        "actuator": actuator_fields(leg.actuator),
        "armature": float(leg.armature),
        "limits": limits_fields(leg.limits, "length", *UNIVERSAL_LIMITS),
        "reading": {"name": name, "sign": float(sign), "offset": float(offset)},
    }
    return {name: value for name, value in out.items() if value}
