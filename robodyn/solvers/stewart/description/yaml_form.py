# SPDX-License-Identifier: Apache-2.0

"""Stewart platforms in YAML files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.actuators.description import actuator_from_fields
from robodyn.algorithms.description import gravity_vector
from robodyn.arrays import FloatArray
from robodyn.checks import as_pose
from robodyn.errors import ModelError
from robodyn.formats.documents import Fields
from robodyn.formats.inertia import check_inertias
from robodyn.mechanism.kind import ReadOptions
from robodyn.model.body import Body, Link
from robodyn.model.builder import Drives, ModelBuilder
from robodyn.model.closure import Closure
from robodyn.model.fields import GRAVITY, replace_checked, replace_unchecked
from robodyn.model.joint import Joint
from robodyn.model.model import Model
from robodyn.model.placement import Placement
from robodyn.parsing import model_file
from robodyn.poses import pose_from_rpy, rpy_from_pose
from robodyn.solvers.stewart.description.sides import half_extended_pose, legs_of_sides
from robodyn.solvers.stewart.leg_shape import JointReading, universal_zero_frame
from robodyn.solvers.stewart.recognition import (
    LEGS,
    UNIVERSAL,
    inertia_without_rotor,
    named_bodies,
)

UNIVERSAL_LIMITS = ("universal_1", "universal_2")
_CONES = ("base_cone", "body_cone")
_TOP = ("type", "name", "gravity", "home", "platform", "leg_defaults", "legs", "sides", *_CONES)
_SHARED = ("lower", "upper", "damping", "limits", "actuator", "armature")
_LEG = ("base", "platform", "universal_axis", "reading", *_SHARED)
_DAMPING = {"universal": "N m s/rad", "prismatic": "N s/m", "spherical": "N m s/rad"}
X, Y, Z = np.eye(3)
BASE, PLATFORM, FLOATING = "base_link", "platform_link", "platform_joint"


def stewart_model_from_yaml(
    document: Mapping[str, Any], source: str, options: ReadOptions
) -> Model:
    """Create the model that a YAML document of `type: stewart` describes.

    Args:
        document: mapping from `read_yaml`.
        source: file name, for messages.
        options: `strict` rejects unphysical inertias instead of issuing a warning.

    Returns:
        The model.

    Raises:
        ModelError: a field is missing, unknown or wrong; the error names the file and the dotted
            field.
        UnphysicalInertia: with `strict=True`.
    """
    top = Fields(document, source)
    top.only(*_TOP, *model_file.SPRINGS)
    top.text("type", choices=("stewart",))
    defaults = top.child("leg_defaults", {})
    defaults.only(*_SHARED)
    if "sides" in top and "legs" in top:
        raise top.refuse("sides", top.data["sides"], "only one of `sides` and `legs`")
    legs = legs_of_sides(top.child("sides")) if "sides" in top else top.children("legs")
    if len(legs) != LEGS:
        raise ModelError(f"{source}: legs is a list of {len(legs)}, expected six", value=len(legs))
    builder = ModelBuilder(top.text("name"), source, tip_link=PLATFORM)
    platform = _body(top.child("platform"))
    if not platform.mass > 0.0:
        raise top.refuse("platform.mass", platform.mass, "a number above 0 [kg]")
    legs = [_with_defaults(leg, defaults) for leg in legs]
    with builder.error_source():
        builder.add(Link(BASE))
        names = [_add_leg(builder, leg, number) for number, leg in enumerate(legs, start=1)]
        builder.add(_link(PLATFORM, platform), Joint(FLOATING, "floating", BASE, PLATFORM))
    builder.drives = Drives.of(names)
    builder.gravity = top.array("gravity", (3,), "m/s^2", default=GRAVITY.tolist())
    home = _home(top, legs[0])
    for cone in _CONES:
        setattr(builder, cone, top.number(cone, "rad", default=np.inf, above=0.0))
    model = builder.model(home={} if home is None else {FLOATING: home})
    bodies = [(name, body.inertia) for name, body in named_bodies(model)]
    check_inertias(source, [*bodies, *inertia_without_rotor(model)], strict=options.strict)
    return model


def _with_defaults(leg: Fields, defaults: Fields) -> Fields:
    leg.only(*_LEG)
    return leg.over(defaults.data)


def _home(top: Fields, leg: Fields) -> FloatArray | None:
    """Return the home pose (7,) stated in the file, or one with half-extended legs.

    The result is None if the file states neither a home pose nor the sides of the hexagons.
    """
    if "home" not in top:
        if "sides" not in top:
            return None
        ends = leg.array("base", (3,)), leg.array("platform", (3,))
        return half_extended_pose(
            top.child("sides"), *ends, _limits(leg.child("limits", {}))["length"]
        )
    home = top.child("home")
    home.only("xyz", "rpy")
    pose = pose_from_rpy(home.array("xyz", (3,), "m"), home.array("rpy", (3,), "rad", [0.0] * 3))
    return as_pose("home", pose)


def _add_leg(builder: ModelBuilder, leg: Fields, number: int) -> str:
    """Add a leg's links, joints and closure to the model; return its actuator's name.

    `leg<i>_lower` is the frame of leg i at its universal joint, `leg<i>_upper` its frame at its
    spherical joint.
    """
    base, platform = leg.array("base", (3,), "m"), leg.array("platform", (3,), "m")
    axis = leg.array("universal_axis", (3,))
    if not np.linalg.norm(axis) > 1e-9:
        raise leg.refuse("universal_axis", axis.tolist(), "a nonzero direction")
    zero = universal_zero_frame(axis)
    cross, lower, upper = (f"leg{number}_{part}" for part in ("cross", "lower", "upper"))
    bodies = _body(leg.child("lower")), _body(leg.child("upper"))
    fields = leg.child("damping", {})
    fields.only(*_DAMPING)
    universal, prismatic, spherical = (
        fields.number(name, unit, default=0.0, at_least=0.0) for name, unit in _DAMPING.items()
    )
    limits = _limits(leg.child("limits", {}))
    drive = actuator_from_fields(leg.child("actuator", {}))
    motion: dict[str, Any] = {
        "damping": prismatic,
        "velocity": limits["velocity"],
        "effort": limits["effort"],
        "armature": leg.number("armature", "kg", default=0.0, at_least=0.0),
        "friction": np.array(drive.coulomb_pair),
        "drive": replace_checked(drive, coulomb=0.0, coulomb_backward=None),
    }
    reading = _reading(leg.child("reading", {}), f"leg{number}_actuator")
    joints = [
        Joint(
            f"leg{number}_{name}",
            "revolute",
            parent,
            child,
            at,
            axis=axis,
            damping=universal,
            position=np.array(limits.get(name, whole)),
        )
        for name, whole, parent, child, at, axis in (
            (UNIVERSAL_LIMITS[0], UNIVERSAL[0], BASE, cross, Placement(zero, base), Z),
            (UNIVERSAL_LIMITS[1], UNIVERSAL[1], cross, lower, Placement(), Y),
        )
    ]
    slide = Joint(
        reading.name,
        "prismatic",
        lower,
        upper,
        Placement(translation=reading.offset * X),
        axis=reading.sign * X,
        position=np.array(sorted(reading.sign * (x - reading.offset) for x in limits["length"])),
        **motion,
    )
    builder.add(Link(cross), _link(lower, bodies[0]), _link(upper, bodies[1]), *joints, slide)
    end = Placement(translation=platform)
    builder.add(
        Closure(f"leg{number}_tip", "spherical", upper, PLATFORM, child_at=end, damping=spherical)
    )
    return reading.name


def _reading(fields: Fields, name: str) -> JointReading:
    """Read name, sign and offset [m] of the URDF joint that measures a leg's length."""
    fields.only("name", "sign", "offset")
    sign = fields.number("sign", default=1.0)
    if sign not in (1.0, -1.0):
        raise fields.refuse("sign", sign, "1 or -1")
    return JointReading(
        fields.text("name", default=name), sign, fields.number("offset", "m", default=0.0)
    )


def _link(name: str, body: Body) -> Link:
    return Link(name, body.mass, body.com, body.inertia)


def _body(block: Fields) -> Body:
    block.only("mass", "com", "inertia")
    return model_file.body_of(block)


def _limits(fields: Fields) -> dict[str, Any]:
    limits = model_file.limits_of(fields, "length", "m", "N", also=UNIVERSAL_LIMITS)
    for name in UNIVERSAL_LIMITS:
        if name in fields:
            limits[name] = fields.array(name, (2,), "rad").tolist()
            if not limits[name][0] < limits[name][1]:
                raise fields.refuse(name, limits[name], "[lower, upper] with lower < upper [rad]")
    shortest, longest = (float(end) for end in limits.get("length", (0.0, np.inf)))
    if not 0.0 <= shortest < longest:
        raise fields.refuse(
            "length", [shortest, longest], "[shortest, longest] with 0 <= shortest < longest [m]"
        )
    return {**limits, "length": (shortest, longest)}


def write_stewart(mechanism: Any, path: Path) -> list[Path]:
    """Write a platform as a YAML file that `load` reads; return the paths written.

    Raises:
        OutputError: the file cannot be written.
    """
    return [model_file.write_yaml(path, short_form(mechanism))]


def short_form(platform: Any) -> dict[str, Any]:
    """Return the fields of a YAML document that describes the platform leg by leg."""
    model, structure = platform.model, platform.structure
    readings = [dict(leg.shape.readings[2]._asdict()) for leg in structure.legs]
    legs = [
        leg | {"reading": reading} for leg, reading in zip(_legs(platform), readings, strict=True)
    ]
    document = {"type": "stewart", "name": model.name, **_common(platform), "legs": legs}
    springs = tuple(structure.springs(model))
    document |= model_file.spring_fields(replace_unchecked(model, springs=springs))
    if structure.home is not None:
        xyz, rpy = rpy_from_pose(structure.home)
        document["home"] = {"xyz": model_file.numbers(xyz), "rpy": model_file.numbers(rpy)}
    return document


def equality_key(platform: Any) -> dict[str, Any]:
    """Return the platform's description without names, for comparisons.

    It consists of the fields of the YAML form, without the zero positions of the actuators' joints.
    """
    model, structure = platform.model, platform.structure
    springs = [asdict(leg.spring(model)) for leg in structure.legs]
    legs = [leg | {"spring": spring} for leg, spring in zip(_legs(platform), springs, strict=True)]
    points = tuple(structure.springs(model))
    return {**_common(platform), "legs": legs, "home": structure.home, "springs": points}


def _common(platform: Any) -> dict[str, Any]:
    model = platform.model
    cones = {name: getattr(model, name) for name in _CONES}
    return {
        "gravity": model_file.numbers(gravity_vector(platform)),
        "platform": model_file.body_fields(platform.bodies[0]),
        **{name: cone for name, cone in cones.items() if np.isfinite(cone)},
    }


def _legs(platform: Any) -> list[dict[str, Any]]:
    """Return the YAML fields of all legs, except those of their actuators' joints."""
    model, out = platform.model, []
    _, *bodies = platform.bodies
    for leg, lower, upper in zip(platform.structure.legs, bodies, bodies[LEGS:], strict=False):
        joint, shape = leg.joints_in(model)[2], leg.shape
        known = ("velocity", joint.velocity), ("effort", joint.effort), ("length", shape.length)
        angles = zip(UNIVERSAL_LIMITS, leg.universal_limits(model), strict=True)
        limits = {
            name: model_file.numbers(end)
            for name, end in (*known, *angles)
            if np.isfinite(end).all()
        }
        fields = {
            "base": model_file.numbers(shape.base),
            "platform": model_file.numbers(leg.platform),
            "universal_axis": model_file.numbers(shape.universal_axis),
            "lower": model_file.body_fields(lower),
            "upper": model_file.body_fields(upper),
            "damping": dict(zip(_DAMPING, leg.damping(model), strict=True)),
            "actuator": model_file.actuator_fields(leg.actuator(model)),
            "armature": float(joint.armature),
            "limits": limits,
        }
        out.append({name: value for name, value in fields.items() if value})
    return out
