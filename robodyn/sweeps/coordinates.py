# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What can be varied in a sweep: the coordinates of a mechanism's state, its load, its model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, Union

import numpy as np

from robodyn.mechanisms.serial.arm import SerialArm
from robodyn.mechanisms.stewart.platform import StewartPlatform
from robodyn.poses import pose_from_rpy, rpy_from_pose

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from robodyn.arrays import FloatArray


Robot: TypeAlias = Union[StewartPlatform, SerialArm]  # noqa: UP007
Role = Literal["position", "velocity", "acceleration", "wrench", "model"]

# Names that results have; a joint of such a name is swept as `<name>_position`.
RESERVED = ("joint", "direction", "entry", "sample", "reachable", "payload")
_AXES = ("x", "y", "z")
_SCALES = ("base_scale", "platform_scale")


@dataclass(frozen=True)
class Coordinate:
    """One number that a sweep can vary.

    Attributes:
        role: the part of the state it belongs to, or the model.
        index: its place there.
        unit: SI.
        text: what it is.
        at_least: the smallest value it can have.
    """

    role: Role
    index: int
    unit: str
    text: str
    at_least: float = -np.inf


class States(NamedTuple):
    """A flat batch of N states under load, in a mechanism's own coordinates."""

    configuration: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    wrench: FloatArray

    def take(self, rows: NDArray[np.intp]) -> States:
        """Some of them."""
        return States(*(array[rows] for array in self))


def coordinates(mechanism: Robot) -> dict[str, Coordinate]:
    """Everything that can be varied, by name."""
    known = _of_arm(mechanism) if isinstance(mechanism, SerialArm) else _of_platform()
    for part, unit in (("force", "N"), ("moment", "N m")):
        for i, axis in enumerate(_AXES):
            index = i + 3 * (part == "moment")
            text = f"{part} of the surroundings on the mechanism, base frame, {axis}"
            known[f"{part}_{axis}"] = Coordinate("wrench", index, unit, text)
    known["payload"] = Coordinate("model", 0, "kg", "mass carried by the platform or tip", 0.0)
    for i, axis in enumerate(_AXES):
        text = f"centre of mass of the payload, moving frame, {axis}"
        known[f"payload_{axis}"] = Coordinate("model", i + 1, "m", text)
    if not isinstance(mechanism, SerialArm):
        for i, name in enumerate(_SCALES):
            text = f"factor on the distance of the {name.split('_')[0]}'s joints from its z axis"
            known[name] = Coordinate("model", i + 4, "1", text, 1e-6)
    return known


def resting_values(
    mechanism: Robot, known: Mapping[str, Coordinate], asked: Collection[str]
) -> dict[str, float]:
    """The value of each coordinate that nobody asked for: at rest at home, without any load.

    Raises:
        InvalidInput: a platform that has no home, where one is needed.
    """
    values = {name: neutral(name) for name in known if name not in asked}
    positions = [name for name in values if known[name].role == "position"]
    if positions:
        home = mechanism.home
        if not isinstance(mechanism, SerialArm):
            home = np.concatenate(rpy_from_pose(home))
        values |= {name: float(home[known[name].index]) for name in positions}
    return values


def neutral(name: str) -> float:
    """The value of a coordinate, not a position, that changes nothing."""
    return 1.0 if name in _SCALES else 0.0


def states(
    mechanism: Robot, known: Mapping[str, Coordinate], values: Mapping[str, FloatArray]
) -> States:
    """States from the value (N,) of every coordinate."""
    count = len(next(iter(values.values())))
    arm = isinstance(mechanism, SerialArm)
    n = len(mechanism.joint_names) if arm else 6
    parts: dict[Role, FloatArray] = {
        "position": np.empty((count, n)),
        "velocity": np.empty((count, n)),
        "acceleration": np.empty((count, n)),
        "wrench": np.empty((count, 6)),
    }
    for name, coordinate in known.items():
        if coordinate.role != "model":
            parts[coordinate.role][:, coordinate.index] = values[name]
    configuration = parts["position"]
    if not arm:
        configuration = pose_from_rpy(configuration[:, :3], configuration[:, 3:])
    return States(configuration, parts["velocity"], parts["acceleration"], parts["wrench"])


def variant(mechanism: Robot, parameters: FloatArray) -> Robot:
    """The mechanism with other values (6,) or, of an arm, (4,) of the coordinates of its model.

    Raises:
        ModelError: there is no such mechanism.
    """
    payload, place, scales = float(parameters[0]), parameters[1:4], parameters[4:]
    if isinstance(mechanism, SerialArm):
        return mechanism.with_payload(payload, place) if payload else mechanism
    if (scales != 1.0).any():
        level = np.array([[scales[0], scales[0], 1.0], [scales[1], scales[1], 1.0]])
        legs = tuple(
            replace(leg, base=leg.base * level[0], platform=leg.platform * level[1])
            for leg in mechanism.model.legs
        )
        mechanism = StewartPlatform(replace(mechanism.model, legs=legs), mechanism.base_joint)
    return mechanism.with_payload(payload, place) if payload else mechanism


def _of_platform() -> dict[str, Coordinate]:
    known: dict[str, Coordinate] = {}
    for i, axis in enumerate(_AXES):
        known[axis] = Coordinate("position", i, "m", f"platform in base frame, {axis}")
    for i, angle in enumerate(("roll", "pitch", "yaw")):
        known[angle] = Coordinate("position", i + 3, "rad", f"{angle} of the platform")
    kinds: tuple[tuple[Role, str, str], ...]
    kinds = (("velocity", "velocity", "s"), ("acceleration", "accel", "s^2"))
    for role, short, unit in kinds:
        for i, axis in enumerate(_AXES):
            text = f"{role} of the platform, base frame, {axis}"
            known[f"{short}_{axis}"] = Coordinate(role, i, f"m/{unit}", text)
        for i, axis in enumerate(_AXES):
            text = f"angular {role} of the platform, base frame, {axis}"
            known[f"angular_{short}_{axis}"] = Coordinate(role, i + 3, f"rad/{unit}", text)
    return known


def _of_arm(arm: SerialArm) -> dict[str, Coordinate]:
    known = {}
    for i, joint in enumerate(arm.model.joints):
        unit = "m" if joint.kind == "prismatic" else "rad"
        name = joint.name.replace("/", "_")  # which no file format takes in a name
        label = f"{name}_position" if name in RESERVED else name
        known[label] = Coordinate("position", i, unit, f"position of {joint.name}")
        known[f"{name}_rate"] = Coordinate("velocity", i, f"{unit}/s", f"rate of {joint.name}")
        text = f"acceleration of {joint.name}"
        known[f"{name}_accel"] = Coordinate("acceleration", i, f"{unit}/s^2", text)
    return known
