# SPDX-License-Identifier: Apache-2.0

"""Families of machines, which create a mechanism from a few dimensions."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robodyn.designing.catalog import CatalogActuator, load_catalog
from robodyn.designing.evaluation import DriveRequirements
from robodyn.designing.requirements import Requirements
from robodyn.errors import InvalidInput
from robodyn.loading.load import load
from robodyn.mechanism.mechanism import Mechanism
from robodyn.solvers.stewart.description.sides import JointCircle, symmetric_legs

Bounds = Mapping[str, tuple[float, float]]
Parameters = Mapping[str, float]
# Mass of the body relative to the payload's, so that it can be simulated without payload.
FRACTION = 1e-3
# Mass per length [kg/m] of light cranks, and of light rods with their joints.
ARM, ROD = 0.5, 0.15
MASSLESS = {"mass": 0.0, "com": [0.0] * 3, "inertia": np.zeros((3, 3)).tolist()}
# Relative margin of the limits of a machine without a catalog actuator.
ROUNDED_UP = 1e-6


class Limits(NamedTuple):
    """Limits of all drives of a machine: travel, speed and effort.

    Units are [m or rad], [m/s or rad/s] and [N or N m].
    """

    position: tuple[float, float]
    velocity: float
    effort: float


class Family(NamedTuple):
    """Family of machines of one kind, created from a few named dimensions.

    Attributes:
        name: name of the family.
        bounds: lower and upper bound [m or rad] of each parameter by name.
        document: function of parameters, a body and limits that returns a model file.
        telescopic: whether a drive's travel is the length of a leg, which is at most twice as long
            extended as retracted.
        is_rotary: whether its drives rotate; otherwise they slide.
        angles: names of the parameters that are angles [rad]; all others are lengths [m].
    """

    name: str
    bounds: Bounds
    document: Callable[[Parameters, dict[str, Any], Limits | None], dict[str, Any]]
    telescopic: bool = False
    is_rotary: bool = False
    angles: tuple[str, ...] = ()

    def suitable_actuators(
        self, catalog: str | Path | Sequence[Mapping[str, Any]]
    ) -> tuple[CatalogActuator, ...]:
        """Return the actuators of a catalog that suit the type of the family's drives.

        `catalog` may have any form that `load_catalog` reads.

        Returns:
            Linear actuators if the drives slide, rotary actuators if they rotate.

        Raises:
            InvalidInput: the catalog has no such actuator, or cannot be read.
        """
        rows = load_catalog(catalog)
        suitable = tuple(row for row in rows if (row.lead is None) == self.is_rotary)
        if not suitable:
            what = "turn (no lead, no closed_length)" if self.is_rotary else "slide (a lead)"
            raise InvalidInput(
                f"the family {self.name!r} needs actuators that {what}, but the catalog has none",
                value=str(catalog)[:100],
            )
        return suitable

    def mechanism(
        self,
        parameters: Parameters,
        requirements: Requirements,
        actuator: CatalogActuator | None = None,
        need: DriveRequirements | None = None,
    ) -> Mechanism:
        """Create the machine of the family that has the given parameters.

        Args:
            parameters: values [m or rad] by name.
            requirements: requirements, whose payload determines the assumed mass of the platform.
            actuator: actuator of a catalog, which determines limits, motors and masses.
            need: required limits of ideal drives, if there is no actuator; without both, there are
                no limits.

        Returns:
            Mechanism without the payload.

        Raises:
            RobodynError: no machine has these parameters.
        """
        payload = requirements.payload
        mass = FRACTION * payload.mass if payload is not None and payload.mass > 0.0 else FRACTION
        radius = parameters["platform_radius"]
        disc = 0.25 * mass * radius**2 * np.diag([1.0, 1.0, 2.0])
        body = {"mass": mass, "com": [0.0, 0.0, 0.0], "inertia": disc.tolist()}
        limits = None
        if actuator is not None:
            ends = (actuator.closed_length, actuator.closed_length + actuator.stroke)
            if not self.telescopic:
                ends = (-0.5 * actuator.stroke, 0.5 * actuator.stroke)
            limits = Limits(ends, actuator.speed, actuator.peak_effort)
        elif need is not None:
            more = ROUNDED_UP * float(need.stroke.max())
            ends = float(need.shortest.min()) - more, float(need.longest.max()) + more
            limits = Limits(
                ends,
                float(need.speed.max()) * (1.0 + ROUNDED_UP),
                float(need.peak_effort.max()) * (1.0 + ROUNDED_UP),
            )
        document = self.document(parameters, body, limits)
        document["name"] = self.name.replace("-", "_")
        if actuator is not None:
            actuator.add_to_leg(document["leg_defaults"], self.telescopic)
        return load(document)


def _limits(limits: Limits | None, travel: str) -> dict[str, Any]:
    if limits is None:
        return {}
    stated = {travel: list(limits.position), "velocity": limits.velocity, "effort": limits.effort}
    finite = {name: value for name, value in stated.items() if np.all(np.isfinite(np.array(value)))}
    return {"limits": finite} if finite else {}


def _hexapod(p: Parameters, body: dict[str, Any], limits: Limits | None) -> dict[str, Any]:
    base = JointCircle(p["base_radius"], p["base_spread"])
    platform = JointCircle(p["platform_radius"], p["platform_spread"])
    return {
        "type": "stewart", "home": {"xyz": [0.0, 0.0, p["height"]]}, "platform": body,
        "leg_defaults": {"lower": MASSLESS, "upper": MASSLESS, **_limits(limits, "length")},
        "legs": symmetric_legs(base, platform),
    }  # fmt: skip


def _servo_hexapod(p: Parameters, body: dict[str, Any], limits: Limits | None) -> dict[str, Any]:
    turn, goal = p["base_spread"], math.pi / 3.0 - p["platform_spread"]
    c, s, arm = math.cos(turn), math.sin(turn), p["arm"]
    x, y = p["base_radius"] * c, p["base_radius"] * s
    q = p["platform_radius"] * np.array([math.cos(goal), math.sin(goal)])
    away = math.hypot(x - arm * s - q[0], y + arm * c - q[1])
    legs = [
        {"base": [x, side * y, 0.0], "axis": [side * c, s, 0.0],
         "arm": {"to": [-arm * s, side * arm * c, 0.0], "mass": ARM * arm},
         "platform": [q[0], side * q[1], 0.0]}
        for side in (1.0, -1.0)
    ]  # fmt: skip
    return _legs(p, body, limits, "RUS", away, p["rod"], legs)


def _legs(
    p: Parameters,
    body: dict[str, Any],
    limits: Limits | None,
    form: str,
    away: float,
    rod: float,
    legs: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return the fields of a model file for a platform on rods.

    `away` [m] is the horizontal distance between the two ends of a rod.
    """
    if not rod > abs(away):
        raise InvalidInput(
            f"rod is {rod:g} m, expected more than {abs(away):g} m, the horizontal distance "
            "between its ends",
            value=rod,
        )
    height = math.sqrt(rod**2 - away**2)
    return {
        "type": "closed_loop", "platform": {"xyz": [0.0, 0.0, height], **body}, "symmetry": 3,
        "leg_defaults": {"form": form, "rod": {"length": rod, "mass": ROD * rod},
                         **_limits(limits, "position")},
        "legs": legs,
    }  # fmt: skip


def _delta(p: Parameters, body: dict[str, Any], limits: Limits | None) -> dict[str, Any]:
    away = p["base_radius"] + p["arm"] - p["platform_radius"]
    base, tip = [p["base_radius"], 0.0, 0.0], [p["platform_radius"], 0.0, 0.0]
    arm = {"to": [p["arm"], 0.0, 0.0], "mass": ARM * p["arm"]}
    leg = {"base": base, "axis": [0.0, 1.0, 0.0], "arm": arm, "platform": tip}
    return _mirror_below(_legs(p, body, limits, "RUS", away, p["rod"], [leg]), p)


def _linear_delta(p: Parameters, body: dict[str, Any], limits: Limits | None) -> dict[str, Any]:
    away = p["base_radius"] - p["platform_radius"]
    leg = {"base": [p["base_radius"], 0.0, 0.0], "axis": [0.0, 0.0, 1.0], "home": 0.0,
           "platform": [p["platform_radius"], 0.0, 0.0]}  # fmt: skip
    return _mirror_below(_legs(p, body, limits, "PUS", away, p["rod"], [leg]), p)


def _tripod(p: Parameters, body: dict[str, Any], limits: Limits | None) -> dict[str, Any]:
    leg = {"base": [p["base_radius"], 0.0, 0.0], "axis": [0.0, 1.0, 0.0],
           "platform": [p["platform_radius"], 0.0, 0.0]}  # fmt: skip
    return {
        "type": "closed_loop", "platform": {"xyz": [0.0, 0.0, p["height"]], **body},
        "symmetry": 3,
        "leg_defaults": {"form": "RPS", "lower": MASSLESS, "upper": MASSLESS,
                         **_limits(limits, "position")},
        "legs": [leg],
    }  # fmt: skip


def _mirror_below(document: dict[str, Any], p: Parameters) -> dict[str, Any]:
    """Place the platform below the drives, and use pairs of parallel rods.

    The document, the content of a model file, is changed in place and returned.
    """
    document["platform"]["xyz"][2] *= -1.0
    document["leg_defaults"]["rod"]["apart"] = [0.0, p["platform_radius"], 0.0]
    return document


_ANGLE = (math.radians(4.0), math.radians(28.0))
FAMILIES = {
    family.name: family
    for family in (
        Family(
            "hexapod",
            {"base_radius": (0.3, 1.5), "platform_radius": (0.2, 1.2), "height": (0.3, 1.6),
             "base_spread": _ANGLE, "platform_spread": _ANGLE},
            _hexapod,
            telescopic=True,
            angles=("base_spread", "platform_spread"),
        ),
        Family(
            "servo-hexapod",
            {"base_radius": (0.06, 0.3), "platform_radius": (0.05, 0.25), "arm": (0.015, 0.12),
             "rod": (0.08, 0.4), "base_spread": _ANGLE, "platform_spread": _ANGLE},
            _servo_hexapod,
            is_rotary=True,
            angles=("base_spread", "platform_spread"),
        ),
        Family(
            "linear-delta",
            {"base_radius": (0.1, 0.5), "platform_radius": (0.02, 0.1), "rod": (0.15, 0.8)},
            _linear_delta,
        ),
        Family(
            "3-rps",
            {"base_radius": (0.2, 1.2), "platform_radius": (0.15, 1.0), "height": (0.2, 1.2)},
            _tripod,
            telescopic=True,
        ),
        Family(
            "delta",
            {"base_radius": (0.05, 0.4), "platform_radius": (0.02, 0.1), "arm": (0.05, 0.5),
             "rod": (0.15, 1.0)},
            _delta,
            is_rotary=True,
        ),
    )
}  # fmt: skip


class FunctionFamily(NamedTuple):
    """Family of the machines that a user's function of named parameters creates.

    The function also chooses the drives.
    """

    name: str
    bounds: Bounds
    function: Callable[..., Mechanism]
    telescopic: bool = False

    def suitable_actuators(self, catalog: Any) -> tuple[CatalogActuator, ...]:
        """Reject any catalog, because the function chooses the drives.

        Raises:
            InvalidInput: always.
        """
        raise InvalidInput("a function chooses its own drives; omit the catalog", value=catalog)

    def mechanism(self, parameters: Parameters, *_: Any, **__: Any) -> Mechanism:
        """Create the machine by calling the function with the parameters.

        Returns:
            The mechanism that the function returns.
        """
        return self.function(**parameters)


AnyFamily = Family | FunctionFamily


def family_of(given: str | Callable[..., Mechanism], bounds: Bounds | None) -> AnyFamily:
    """Return the family of machines with a given name, or create one from a function.

    Given bounds replace those of the family.

    Returns:
        Family that creates machines, with the bounds of its parameters.

    Raises:
        InvalidInput: the name or a parameter is unknown, or bounds are missing or not a range.
    """
    found: AnyFamily
    if not isinstance(given, str):
        names = list(inspect.signature(given).parameters)
        if bounds is None or set(names) != set(bounds):
            raise InvalidInput(
                f"bounds are given for {', '.join(bounds or ()) or 'nothing'}, expected bounds for "
                f"the function's parameters {', '.join(names)}",
                value=bounds,
            )
        found = FunctionFamily(getattr(given, "__name__", type(given).__name__), bounds, given)
    elif given not in FAMILIES:
        raise InvalidInput(
            f"family is {given!r}, expected one of {', '.join(FAMILIES)}, or a function",
            value=given,
        )
    else:
        found = FAMILIES[given]
        for name in bounds or {}:
            if name not in found.bounds:
                raise InvalidInput(
                    f"bounds of {name!r}: {given} has no such parameter, expected one of "
                    f"{', '.join(found.bounds)}",
                    value=name,
                )
        found = found._replace(bounds={**found.bounds, **(bounds or {})})
    for name, (lower, upper) in found.bounds.items():
        if not lower <= upper or not np.isfinite([lower, upper]).all():
            raise InvalidInput(
                f"bounds of {name} are ({lower}, {upper}), expected lower <= upper, both finite",
                value=(lower, upper),
            )
    return found
