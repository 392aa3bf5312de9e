# SPDX-License-Identifier: Apache-2.0

"""Requirements of a machine: payload, motions and limits."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robodyn.arrays import FloatArray
from robodyn.designing.body_motions import (
    BodyMotion,
    Sine,
    SineMotion,
    read_recorded,
)
from robodyn.designing.quantities import number, quantity
from robodyn.errors import InvalidInput, RobodynError
from robodyn.formats.documents import Fields, plain_document
from robodyn.formats.yaml_text import parse_yaml, read_text
from robodyn.model.body import Body
from robodyn.poses import AXES


def _number(default: float, unit: str = "", **bounds: float) -> Any:
    """Declare a numeric field of a requirements file, with its unit and bounds."""
    return field(default=default, metadata={"unit": unit, **bounds})


@dataclass(frozen=True)
class RequiredMargins:
    """Safety margins added to the motions' demands on the drives.

    Attributes:
        force, speed: factors on efforts and speeds of the drives, at least 1.
        stroke: [m or rad] added at both ends of a drive's travel.
    """

    force: float = _number(1.0, at_least=1.0)
    speed: float = _number(1.0, at_least=1.0)
    stroke: float = _number(0.0, "m or rad", at_least=0.0)


@dataclass(frozen=True)
class RequiredLimits:
    """Limits for all motions and poses; infinite for no limit.

    Attributes:
        condition_number: largest condition number of the drives' Jacobian.
        joint_angle: [rad] largest angle of any passive joint from its position at home; for joints
            with two or three axes at a leg's ends, the angle between leg and its direction at home.
        leg_clearance: [m] smallest distance between the center lines of two legs.
        payload_clearance: [m] smallest distance between the payload and the center line of a leg.
        footprint_radius: [m] of the circle about the base frame's z axis that encloses the legs'
            ends at the base.
        height: [m] upper limit in the base frame for the legs' ends and the payload.
        floor: [m] lower limit in the base frame for the legs' ends and the payload.
        position_error, angle_error: [m], [rad] largest standard deviations of the body's position
            and orientation about each axis, see `Accuracy`.
    """

    condition_number: float = _number(math.inf, at_least=1.0)
    joint_angle: float = _number(math.inf, "rad", above=0.0)
    leg_clearance: float = _number(0.0, "m", at_least=0.0)
    payload_clearance: float = _number(0.0, "m", at_least=0.0)
    footprint_radius: float = _number(math.inf, "m", above=0.0)
    height: float = _number(math.inf, "m")
    floor: float = _number(-math.inf, "m")
    position_error: float = _number(math.inf, "m", above=0.0)
    angle_error: float = _number(math.inf, "rad", above=0.0)


@dataclass(frozen=True)
class Accuracy:
    """Standard deviations that determine the accuracy of poses.

    Attributes:
        position: [m or rad] of the drives' positions, due to encoders and screws.
        geometry: [m] of each coordinate of every joint's center.
    """

    position: float = _number(0.0, "m or rad", at_least=0.0)
    geometry: float = _number(0.0, "m", at_least=0.0)


@dataclass(frozen=True)
class Rating:
    """Duty cycle and temperatures that determine the required continuous efforts.

    Attributes:
        duty: fraction of time in which the motions run; otherwise drives carry no load.
        ambient: ambient temperature [°C].
        rated_ambient: ambient temperature [°C] of the continuous efforts in the catalog.
        winding: permitted temperature [°C] of the windings.
    """

    duty: float = _number(1.0, above=0.0)
    ambient: float = _number(40.0, "°C")
    rated_ambient: float = _number(40.0, "°C")
    winding: float = _number(155.0, "°C")

    @property
    def factor(self) -> float:
        """Factor that converts a motion's rms effort to a rated continuous effort.

        It allows for the duty and the temperatures.

        Losses grow with the square of the effort and heat the winding in proportion.
        """
        warmer = (self.winding - self.rated_ambient) / (self.winding - self.ambient)
        return math.sqrt(self.duty * warmer)


@dataclass(frozen=True)
class Requirements:
    """Requirements that a machine must meet: payload, motions and limits.

    Attributes:
        motions: motions of the body around home, see `SineMotion` and `RecordedMotion`.
        poses: (k, 6) [m, rad] surge, sway, heave, roll, pitch, yaw from home, held at rest.
        payload: mass, center of mass and inertia in the moving body's frame; None to add no payload
            to the mechanism. If the file states no inertia, it is that of a ball of water, because
            no controller can keep a point mass on a massless plate from tilting over.
        payload_radius: [m] of a sphere about the payload's center of mass that encloses it.
        margins, limits, rating: see their classes.
        accuracy: None if no accuracy of poses is required.
        natural_frequency: [Hz] lower bound of the first natural frequency; None for no bound.
        supply_voltage: [V] of the common supply, for its current; None if unknown.
        source: file of the requirements.
    """

    motions: tuple[BodyMotion, ...]
    poses: FloatArray
    payload: Body | None = None
    payload_radius: float = 0.0
    margins: RequiredMargins = RequiredMargins()
    limits: RequiredLimits = RequiredLimits()
    rating: Rating = Rating()
    accuracy: Accuracy | None = None
    natural_frequency: float | None = None
    supply_voltage: float | None = None
    source: str = ""


# Density [kg/m^3] of the ball that stands for a payload without inertia.
DENSITY = 1000.0
# Blocks whose fields are single numbers.
_BLOCKS: dict[str, type] = {
    "margins": RequiredMargins,
    "limits": RequiredLimits,
    "accuracy": Accuracy,
    "rating": Rating,
}
_TOP = ("payload", "motions", "poses", *_BLOCKS, "natural_frequency", "supply_voltage")
# Full name of a field, with its enclosing blocks, in messages of `Fields`.
_FIELD = re.compile(r"(?:unknown field )?([A-Za-z_]\w*(?:\.\w+|\[\d+\])*)")


def load_requirements(source: str | Path | Mapping[str, Any]) -> Requirements:
    """Read requirements from a YAML file, or from a mapping with the same content.

    Args:
        source: file, such as that of `robodyn new requirements`. Paths in a file are relative to
            its folder, in a mapping to the working folder.

    Returns:
        The requirements, with values in SI units.

    Raises:
        InvalidInput: a field is missing, unknown or invalid; the message names the file, the line,
            the field, its value and the unit.
    """
    if isinstance(source, Mapping):
        document = plain_document(source, "requirements", InvalidInput)
        return _read(Fields(document, "requirements", error=InvalidInput), Path())
    path = Path(source)
    text = read_text(path, InvalidInput)
    document = parse_yaml(text, str(path), InvalidInput)
    try:
        return _read(Fields(document, str(path), error=InvalidInput), path.parent)
    except RobodynError as error:
        raise _with_line(error, text, str(path)) from error


def _with_line(error: RobodynError, text: str, source: str) -> InvalidInput:
    """Return an error whose message states the line of the invalid field.

    If a field is missing, the line is that of the block that lacks it.
    """
    _, _, message = str(error).partition(f"{source}: ")
    match = _FIELD.match(message)
    if match is None:
        return InvalidInput(str(error), value=error.value)
    node: Any = yaml.compose(text, yaml.SafeLoader)
    line = 0
    for key in re.findall(r"\w+", match[1]):
        if isinstance(node, yaml.MappingNode):
            pairs = [pair for pair in node.value if pair[0].value == key]
            if not pairs:
                break
            line, node = pairs[0][0].start_mark.line, pairs[0][1]
        elif isinstance(node, yaml.SequenceNode) and key.isdigit() and int(key) < len(node.value):
            node = node.value[int(key)]
            line = node.start_mark.line
        else:
            break
    return InvalidInput(f"{source}, line {line + 1}: {message}", value=error.value)


def _read(top: Fields, folder: Path) -> Requirements:
    top.only(*_TOP)
    blocks: dict[str, Any] = {}
    for name, made in _BLOCKS.items():
        if name not in top:
            continue
        block, known = top.child(name), {each.name: each.metadata for each in fields(made)}
        block.only(*known)
        given = {each: number(block, each, **known[each]) for each in known if each in block}
        blocks[name] = made(**given)
    rating = blocks.get("rating", Rating())
    if rating.duty > 1.0:
        raise top.refuse("rating.duty", rating.duty, "a fraction of at most 1")
    if not max(rating.ambient, rating.rated_ambient) < rating.winding:
        raise top.refuse(
            "rating.winding", rating.winding, "more than `ambient` and `rated_ambient` [°C]"
        )
    motions = _motions(top, folder)
    poses = _poses(top)
    if not motions and not len(poses):
        raise top.refuse("motions", [], "at least one motion, or `poses`")
    body, radius = _payload(top.child("payload")) if "payload" in top else (None, 0.0)
    optional = {
        name: number(top, name, unit, above=0.0)
        for name, unit in (("natural_frequency", "Hz"), ("supply_voltage", "V"))
        if name in top
    }
    return Requirements(motions, poses, body, radius, source=top.source, **blocks, **optional)


def _payload(block: Fields) -> tuple[Body, float]:
    block.only("mass", "com", "inertia", "radius")
    mass = number(block, "mass", "kg", at_least=0.0)
    com = _vector(block, "com", 3, "m") if "com" in block else np.zeros(3)
    radius = (3.0 * mass / (4.0 * math.pi * DENSITY)) ** (1.0 / 3.0)
    ball = 0.4 * mass * radius**2 * np.eye(3)
    inertia = block.array("inertia", (3, 3), "kg m^2", ball.tolist())
    try:
        body = Body(mass, com, inertia)
    except RobodynError as error:
        raise block.refuse("inertia", inertia.tolist(), f"an inertia tensor: {error}") from error
    return body, number(block, "radius", "m", default=0.0, at_least=0.0)


def _vector(block: Fields, name: str, size: int, unit: str) -> FloatArray:
    expected = f"a list of {size} numbers [{unit}]"
    given = block.get(name, expected)
    if not isinstance(given, list) or len(given) != size:
        raise block.refuse(name, given, expected)
    items = Fields({f"{name}[{i}]": each for i, each in enumerate(given)}, block.source,
                   block.path, block.error)  # fmt: skip
    return np.array([number(items, each, unit) for each in items.data])


def _motions(top: Fields, folder: Path) -> tuple[BodyMotion, ...]:
    found: list[BodyMotion] = []
    names: set[str] = set()
    for place, row in enumerate(top.children("motions") if "motions" in top else [], start=1):
        name = row.text("name", default=f"motion {place}")
        if name in names:
            raise row.refuse("name", name, "a name that is unique among the motions")
        names.add(name)
        if "file" in row:
            row.only("name", "file")
            try:
                found.append(read_recorded(name, folder / row.text("file")))
            except RobodynError as error:
                raise row.refuse("file", row.data["file"], f"a recorded motion: {error}") from error
            continue
        row.only("name", "frequency", *AXES)
        sines = [_sine(row, axis) for axis in AXES if axis in row]
        if not sines:
            raise row.refuse("name", name, f"a `file`, or at least one of {', '.join(AXES)}")
        try:
            found.append(SineMotion(name, tuple(sines)))
        except RobodynError as error:
            raise row.refuse("frequency", row.data.get("frequency"), str(error)) from error
    return tuple(found)


def _sine(row: Fields, axis: str) -> Sine:
    """Read a sine motion of one axis, given by position, velocity or acceleration."""
    unit = "m" if AXES.index(axis) < 3 else "rad"
    units = (unit, f"{unit}/s", f"{unit}/s^2")
    block, phase = row, 0.0
    if isinstance(row.data[axis], dict):
        block = row.child(axis)
        kinds = {"amplitude": 0, "velocity": 1, "acceleration": 2}
        block.only(*kinds, "frequency", "phase")
        given = [kind for kind in kinds if kind in block]
        if len(given) != 1:
            raise row.refuse(axis, row.data[axis], f"one of {', '.join(kinds)}")
        order = kinds[given[0]]
        size = number(block, given[0], units[order], above=0.0)
        phase = number(block, "phase", "rad", default=0.0)
    else:
        size, stated = quantity(row, axis, *units, above=0.0)
        order = units.index(stated)
    frequency = number(block if "frequency" in block else row, "frequency", "Hz", above=0.0)
    return Sine(AXES.index(axis), size / (2.0 * math.pi * frequency) ** order, frequency, phase)


def _poses(top: Fields) -> FloatArray:
    """Read ranges of poses; return the poses (k, 6) at all combinations of range ends."""
    corners: list[tuple[float, ...]] = []
    for block in top.children("poses") if "poses" in top else []:
        block.only(*AXES)
        if not block.data:
            raise top.refuse(block.path, {}, f"ranges of {', '.join(AXES)}")
        ends = [[0.0]] * 6
        for axis in block.data:
            k = AXES.index(axis)
            unit = "m" if k < 3 else "rad"
            if isinstance(block.data[axis], list):
                ends[k] = _vector(block, axis, 2, unit).tolist()
            else:
                ends[k] = [number(block, axis, unit)]
        corners += product(*ends)
    return np.array(corners, dtype=np.float64).reshape(-1, 6)
