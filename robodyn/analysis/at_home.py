# SPDX-License-Identifier: Apache-2.0

"""Capabilities of a mechanism at home: used travel, reach of the body, and payload."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from robodyn.algorithms import conditioning, travel
from robodyn.analysis.bisection import bisect
from robodyn.arrays import BoolArray, FloatArray
from robodyn.errors import RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model.spring import LinearSpring
from robodyn.presentation import presentation

# Steps away from home, relative to the mechanism's size and in radians, and the largest distance;
# an excess that begins and ends between two steps is not found.
STEP, FURTHEST = 0.005, 4.0
ANGLE_STEP, LARGEST_ANGLE = np.deg2rad(0.5), np.pi
HALVINGS = 40
# Change of an effort with the payload [N or N m per kg] below which the drive does not carry it.
UNLOADED = 1e-9
# Ends of the workspace besides limits of joints.
SINGULARITY, UNREACHED = "singularity", "unreachable"


@dataclass(frozen=True)
class Reach:
    """Range of one coordinate about home while the others stay constant.

    Attributes:
        variable: name of the coordinate.
        unit: `m` or `rad`.
        home: value at home.
        lowest, highest: outermost values within all limits; infinite without a limit.
        ends: causes of the lower and the upper end: a joint limit or a singularity; empty without a
            limit.
    """

    variable: str
    unit: str
    home: float
    lowest: float
    highest: float
    ends: tuple[str, str]


@dataclass(frozen=True)
class PayloadCapacity:
    """Additional payload that the actuators can hold at home, at rest.

    Attributes:
        mass: [kg] largest payload with its center of mass at the reference point of the moving
            body; 0 if the mechanism cannot hold itself, infinite without effort limits.
        joint: joint whose limit is reached first; empty without effort limits.
    """

    mass: float
    joint: str


def stroke_used(mechanism: Mechanism) -> FloatArray:
    """Return the home position (n,) of each driven joint as a fraction of its travel.

    The fraction is 0 at the lower limit and 1 at the upper one; NaN for a joint without two limits.
    """
    lower, upper = mechanism.position_limits.T
    travel = np.where(np.isfinite(upper - lower) & (upper > lower), upper - lower, np.nan)
    away = mechanism.joint_positions(mechanism.home) - np.where(np.isnan(travel), 0.0, lower)
    return np.asarray(away / travel)


def reach_about_home(mechanism: Mechanism) -> list[Reach]:
    """Compute the range of each position coordinate while the others stay at home.

    A range ends at a joint's position limit, or at a singularity, at which
    `conditioning.determinant` changes its sign. The ends are found by small steps away from home,
    then bisection.

    Returns:
        The ranges, one for each coordinate.

    Raises:
        KinematicsError: the kinematics have no solution at home.
    """
    return [
        Reach(name, variable.unit, start, low, high, (low_end, high_end))
        for name, variable in presentation.variables(mechanism).items()
        if variable.role == "position"
        for start in [float(presentation.values_of(mechanism, mechanism.home)[variable.index])]
        for low, low_end in [_range_end(mechanism, variable.index, variable.unit, -1.0)]
        for high, high_end in [_range_end(mechanism, variable.index, variable.unit, 1.0)]
    ]


def payload_at_home(mechanism: Mechanism) -> PayloadCapacity:
    """Compute the largest payload that the drives can hold at home.

    Returns:
        The payload [kg] with its center of mass at the body's reference point, and the joint whose
        effort limit is reached first.

    Raises:
        KinematicsError: no efforts can hold the mechanism at home.
    """
    home = mechanism.home
    rest = np.zeros(len(mechanism.coordinates.velocity_names))
    alone = mechanism.inverse_dynamics(home, rest, rest)
    loaded = mechanism.with_payload(1.0).inverse_dynamics(home, rest, rest)
    masses = payload_limits(mechanism, alone, loaded)
    first = int(masses.argmin())
    if not np.isfinite(masses[first]):
        return PayloadCapacity(np.inf, "")
    return PayloadCapacity(float(masses[first]), mechanism.joint_names[first])


def payload_limits(mechanism: Mechanism, alone: FloatArray, loaded: FloatArray) -> FloatArray:
    """Compute the payload (..., n) [kg] at which each drive reaches its effort limit.

    Args:
        mechanism: mechanism with effort limits.
        alone: (..., n) efforts [N or N m] without payload.
        loaded: (..., n) efforts with a payload of one kilogram; efforts are linear in the payload.

    Returns:
        Masses (..., n) [kg] of at least 0, infinite for drives that do not carry the payload.
    """
    slope, limits = loaded - alone, mechanism.effort_limits
    with np.errstate(divide="ignore", invalid="ignore"):
        masses = (limits - alone * np.sign(slope)) / np.abs(slope)
    # for a joint that does not carry the mass, only rounding is left
    masses = np.where(np.abs(slope) > UNLOADED, masses, np.inf)
    masses[np.abs(alone) > limits] = 0.0
    return np.maximum(masses, 0.0)


def springs_at_home(mechanism: Mechanism) -> dict[str, Any]:
    """Describe a mechanism's springs and their effect on the efforts at home.

    Returns:
        Dictionary for JSON, empty without springs. `springs` lists `name`, `stiffness`, `rest`,
        `preload`, `damping` and `tension_only` of each spring; `efforts` lists each driven `joint`
        with its `effort` [N or N m] at home and its effort `without` springs.
    """
    bare = mechanism._springless
    if bare is mechanism:
        return {}
    model = mechanism.model
    listed = [(each.name, each.spring, 0.0, False) for each in model.joints if each.spring.acts]
    listed += [
        (each.name, LinearSpring(each.stiffness), each.damping, False)
        for each in model.closures
        if each.stiffness
    ]
    listed += [(each.name, each.spring, each.damping, each.tension_only) for each in model.springs]
    efforts = zip(
        mechanism.joint_names,
        *(m.without_friction().gravity(mechanism.home).tolist() for m in (mechanism, bare)),
        strict=True,
    )
    return {
        "springs": [
            {"name": name, **asdict(spring), "damping": damping, "tension_only": pulls}
            for name, spring, damping, pulls in listed
        ],
        "efforts": [
            {"joint": joint, "effort": effort, "without": without}
            for joint, effort, without in efforts
        ],
    }


def at_home(mechanism: Mechanism) -> dict[str, Any]:
    """Return used travel, reach, payload and springs at home, as data for JSON.

    The reach is included only if a configuration is a pose; the reach of an arm follows from its
    joint limits.

    Returns:
        Dictionary with `stroke_used`, `reach`, `payload` and, with springs, `springs` and
        `efforts`; empty if the mechanism has no home or nothing can be computed there.
    """
    try:
        strokes = stroke_used(mechanism)
        found: dict[str, Any] = {
            "stroke_used": dict(
                zip(mechanism.joint_names, (_finite(fraction) for fraction in strokes), strict=True)
            )
        }
        if mechanism.coordinates.is_pose:
            found["reach"] = [
                asdict(reach)
                | {name: _finite(getattr(reach, name)) for name in ("lowest", "highest")}
                | {"ends": list(reach.ends)}
                for reach in reach_about_home(mechanism)
            ]
        payload = payload_at_home(mechanism)
        found |= springs_at_home(mechanism)
    except RobodynError:  # `inspection` states why there is no result at home
        return {}
    return found | {"payload": {"mass": _finite(payload.mass), "joint": payload.joint}}


def are_allowed(mechanism: Mechanism, configurations: FloatArray) -> BoolArray:
    """Return whether configurations respect the joint limits and singularities.

    A configuration is not allowed if a singularity lies between home and it.

    Args:
        mechanism: mechanism with the limits.
        configurations: (N, nq); NaN stands for an unreachable pose, which is not allowed.

    Returns:
        Booleans (N,).
    """
    allowed = np.asarray(~np.isnan(configurations).any(axis=1))
    known = configurations[allowed]
    on_side = conditioning.is_on_side_of(mechanism, known, mechanism.home)
    allowed[allowed] = on_side & travel.within_travel(mechanism, known)
    return allowed


def obstacles(mechanism: Mechanism, configurations: FloatArray) -> list[str]:
    """Return a label for the limit that makes each configuration unreachable.

    The limit is a joint limit, or a singularity between home and the configuration.

    Args:
        mechanism: mechanism with the limits.
        configurations: (N, nq); NaN stands for an unreachable pose.

    Returns:
        N labels, empty for configurations within all limits.
    """
    allowed = are_allowed(mechanism, configurations)
    return [
        "" if is_allowed else _obstacle(mechanism, configuration)
        for configuration, is_allowed in zip(configurations, allowed, strict=True)
    ]


def _obstacle(mechanism: Mechanism, configuration: FloatArray) -> str:
    if np.isnan(configuration).any():
        return UNREACHED
    if travel.within_travel(mechanism, configuration):
        return SINGULARITY
    position = travel.travel_positions(mechanism, configuration)
    lower, upper = travel.travel_bounds(mechanism).T
    worst = int(np.maximum(lower - position, position - upper).argmax())
    end = "upper" if position[worst] > upper[worst] else "lower"
    return f"{end} limit of {travel.travel_limits(mechanism)[worst].name}"


def _range_end(mechanism: Mechanism, index: int, unit: str, sign: float) -> tuple[float, str]:
    """Find the end of a coordinate's range on one side of home, and what limits it."""
    home = presentation.values_of(mechanism, mechanism.home)
    turns = unit == "rad"
    step = ANGLE_STEP if turns else STEP * mechanism.size
    furthest = LARGEST_ANGLE if turns else FURTHEST * mechanism.size

    def met(distance: float) -> str:
        values = home.copy()
        values[index] += sign * distance
        try:
            configuration = presentation.configuration_of(mechanism, values)
            return obstacles(mechanism, configuration[None])[0]
        except RobodynError:
            return UNREACHED

    if at_home := met(0.0):
        return float(home[index]), at_home
    inside = 0.0
    for outside in np.arange(1, int(furthest / step) + 1) * step:
        if met(outside):
            break
        inside = float(outside)
    else:
        return sign * np.inf, ""
    inside, outside = bisect(lambda distance: not met(distance), inside, outside, HALVINGS)
    return float(home[index] + sign * inside), met(float(outside))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
