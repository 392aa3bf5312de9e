# SPDX-License-Identifier: Apache-2.0

"""Position limits of all joints: driven, passive and mimic ones, and joints at the legs' ends.

All checks of position limits use this module.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from robodyn.algorithms.motors import LIMIT_TOLERANCE
from robodyn.arrays import ArrayLike, BoolArray, FloatArray
from robodyn.dynamics.coordinates import Unit
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.model.model import Model

# Distance between the limits of an angle above which every direction is permitted.
WHOLE_TURN = 2.0 * np.pi * (1.0 - 1e-12)


class TravelLimit(NamedTuple):
    """Name, unit and limits of one coordinate with limited travel.

    Attributes:
        name: name of the joint, or of a leg's end.
        unit: `m` or `rad`.
        lower, upper: limits; infinite without a limit.
    """

    name: str
    unit: Unit
    lower: float
    upper: float


def travel_limits(mechanism: Any) -> tuple[TravelLimit, ...]:
    """Return name, unit and limits of all k coordinates with limited travel.

    The first n coordinates belong to the driven joints.
    """
    found: tuple[TravelLimit, ...] = mechanism._travel_limits
    return found


def _travel_limits(mechanism: Any) -> tuple[TravelLimit, ...]:
    driven = zip(
        mechanism.joint_names, mechanism.drives.units, mechanism.position_limits, strict=True
    )
    limits = [TravelLimit(name, unit, *ends.tolist()) for name, unit, ends in driven]
    limits += [limit for limit, _, _ in mechanism._passive_travel]
    for end, cone in zip(("base", "body"), cones(mechanism), strict=True):
        if np.isfinite(cone):
            names = leg_names(mechanism)
            limits += [TravelLimit(f"{leg} at the {end}", "rad", -np.inf, cone) for leg in names]
    return tuple(limits)


def travel_bounds(mechanism: Any) -> FloatArray:
    """Return lower and upper limits (k, 2) [m or rad] of all coordinates with limits.

    They are in the order of `travel_limits`.
    """
    return np.array([limit[2:] for limit in travel_limits(mechanism)]).reshape(-1, 2)


def travel_positions(mechanism: Any, configuration: ArrayLike, /) -> FloatArray:
    """Compute the values (..., k) [m or rad] of all coordinates with limits.

    They are in the order of `travel_limits`. An angle of a passive joint is the one nearest to the
    middle of its limits, as its whole turns are irrelevant.

    Raises:
        KinematicsError: the kinematics have no solution at a configuration.
    """
    columns = [mechanism.joint_positions(configuration)]
    if mechanism._passive_travel:
        _, places, middles = zip(*mechanism._passive_travel, strict=True)
        values = all_joint_positions(mechanism, configuration)[..., list(places)]
        middle = np.array(middles)
        wraps = np.isfinite(middle)
        turns = np.where(wraps, (values - np.where(wraps, middle, 0.0)) / (2.0 * np.pi), 0.0)
        columns.append(values - 2.0 * np.pi * np.round(turns))
    if np.isfinite(cones(mechanism)).any():
        bends = leg_bends(mechanism, configuration)
        columns += [bends[..., k, :] for k in range(2) if np.isfinite(cones(mechanism)[k])]
    return np.concatenate(columns, axis=-1)


def within_travel(mechanism: Any, configuration: ArrayLike, /) -> BoolArray:
    """Return whether configurations (..., nq) are within all limits, one boolean each.

    Rounding is tolerated. All are false if the kinematics have no solution at one of them.
    """
    try:
        values = travel_positions(mechanism, configuration)
    except KinematicsError:
        return np.zeros(np.shape(configuration)[:-1], dtype=bool)
    return np.asarray(_within_bounds(mechanism, values).all(axis=-1))


def exceeded_limits(mechanism: Any, configuration: ArrayLike, /) -> tuple[str, ...]:
    """Return the names of the coordinates of a configuration (nq,) that exceed a limit.

    Rounding is tolerated.

    Raises:
        KinematicsError: the kinematics have no solution at the configuration.
    """
    inside = _within_bounds(mechanism, travel_positions(mechanism, configuration))
    pairs = zip(travel_limits(mechanism), inside.tolist(), strict=True)
    return tuple(limit.name for limit, is_inside in pairs if not is_inside)


def _within_bounds(mechanism: Any, values: FloatArray) -> BoolArray:
    bounds = travel_bounds(mechanism)
    (lower, upper), slack = bounds.T, travel_slack(bounds)
    return np.asarray((values >= lower - slack) & (values <= upper + slack))


@singledispatch
def all_joint_positions(mechanism: Any, configuration: ArrayLike, /) -> FloatArray:
    """Return positions (..., j) [m or rad] of `all_joint_names`, as the URDF measures them."""
    return mechanism.joint_states(configuration).positions


@singledispatch
def passive_limits(mechanism: Any) -> dict[str, FloatArray]:
    """Return the position limits (2,) [rad or m] of each passive joint, by its name.

    They are those of the URDF.
    """
    if not isinstance(mechanism.model, Model):
        return {}
    driven = set(mechanism.joint_names)
    return {j.name: j.position for j in mechanism.model.joints if j.name not in driven}


def _passive_travel(mechanism: Any) -> list[tuple[TravelLimit, int, float]]:
    """Return limit, joint-state index and mid-range angle of limited passive joints.

    The angle is NaN for prismatic joints, joints that mimic others, and joints with only one limit.
    """
    found = []
    limits = passive_limits(mechanism)
    joints = {joint.name: joint for joint in getattr(mechanism.model, "joints", ())}
    for place, name in enumerate(mechanism.all_joint_names):
        ends = limits.get(name)
        if ends is None or not np.isfinite(ends).any():
            continue
        lower, upper = ends.tolist()
        turns = joints[name].kind != "prismatic"
        # a joint that others follow must distinguish turns
        alone = turns and joints[name].mimic is None
        if alone and upper - lower >= WHOLE_TURN:
            continue
        middle = 0.5 * (lower + upper) if alone else np.nan
        limit = TravelLimit(name, "rad" if turns else "m", lower, upper)
        found.append((limit, place, middle if np.isfinite(middle) else np.nan))
    return found


def cones(mechanism: Any) -> tuple[float, float]:
    """Return the largest angles [rad] between legs and their home directions.

    The first is at the base, the second at the body. They are infinite without a limit.
    """
    model = mechanism.model
    return getattr(model, "base_cone", np.inf), getattr(model, "body_cone", np.inf)


@singledispatch
def leg_names(mechanism: Any) -> tuple[str, ...]:
    """Return names (k,) of the straight legs between base and body; empty if there are none."""
    return ()


@singledispatch
def leg_axes(mechanism: Any, configuration: ArrayLike, /) -> FloatArray:
    """Compute unit vectors (..., 2, k, 3) along legs, in frames of the links at their ends.

    Index 0 of the axis of length 2 is in the frames of the links that carry the legs, index 1 in
    the frames of the links that the legs support.
    """
    shape = np.shape(configuration)[:-1]
    return np.empty((*shape, 2, 0, 3))


def leg_bends(mechanism: Any, configuration: ArrayLike, /) -> FloatArray:
    """Compute angles (..., 2, k) [rad] between legs and their home directions.

    Index 0 of the axis of length 2 is at the base, index 1 at the body, as in `leg_axes`.
    """
    turned = leg_axes(mechanism, configuration) - leg_axes(mechanism, mechanism.home)
    half = 0.5 * np.linalg.norm(turned, axis=-1)
    return np.asarray(2.0 * np.arcsin(np.minimum(half, 1.0)))


def with_cones(
    mechanism: Any, base_cone: float | None = None, body_cone: float | None = None
) -> Any:
    """Return the mechanism with limits on the angles between legs and home directions.

    Args:
        mechanism: mechanism with straight legs.
        base_cone: largest angle [rad] at the base; None for no change, infinite for no limit.
        body_cone: largest angle [rad] at the moving body.

    Raises:
        InvalidInput: the mechanism has no straight legs.
        ModelError: a cone is not positive.
    """
    if not leg_names(mechanism):
        raise InvalidInput(
            f"{mechanism.name} has no straight legs, so it can have no base_cone or body_cone",
            value=mechanism.kind,
        )
    return mechanism._made(mechanism.model.with_cones(base_cone, body_cone))


def travel_slack(bounds: FloatArray) -> FloatArray:
    """Return rounding tolerances (k,) by which values may exceed their limits (k, 2)."""
    finite = np.where(np.isfinite(bounds), np.abs(bounds), 0.0)
    return np.asarray(LIMIT_TOLERANCE * finite.max(axis=-1))
