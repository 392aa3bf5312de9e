# SPDX-License-Identifier: Apache-2.0

"""Actuator: a motor with a rotor, a screw or a gear, and the friction of both.

The transmission is one signed number: the rotor turns by `ratio` [rad/m or rad/rad] per unit of the
joint's motion. The reflected inertia is J ratio^2, and without losses the motor torque is effort /
ratio. A screw turns by 2 pi / lead per meter. With a right-handed thread, a rotor in the lower part
of a leg turns against +s while the leg lengthens, hence hand = -1.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_scalar, check_choice
from robodyn.errors import InvalidInput, ModelError, RobodynError

# Largest plausible transmission or inertia [SI]; with larger ones, products overflow.
LARGEST = 1e15
Hand = Literal["right", "left"]
HANDS = {"right": -1.0, "left": 1.0}
# Fields of an actuator without dry friction, and also without losses.
NO_DRY_FRICTION: dict[str, Any] = {
    "coulomb": 0.0,
    "coulomb_backward": None,
    "static": None,
    "stribeck_velocity": None,
}
NO_FRICTION = NO_DRY_FRICTION | {"efficiency": 1.0}


def _number(default: float | None, unit: str = "", **bounds: float) -> Any:
    """Declare a numeric field of `Actuator` with its unit and the bounds of its value."""
    return field(default=default, metadata={"unit": unit, **bounds})


@dataclass(frozen=True)
class Actuator:
    """Drive of a joint; the default is ideal: no inertia, no friction, direct drive.

    Viscous friction belongs to the joint (`damping`), not to the actuator.

    Attributes:
        rotor_inertia: inertia [kg m^2] of all parts that turn with the motor shaft or the screw.
        lead: lead [m] per turn of the screw of a prismatic joint; None without a screw.
        handed: `right` or `left` thread of the screw.
        gear_ratio: turns of the motor per turn of the joint, or of the screw; negative if the gear
            reverses the direction.
        coulomb: Coulomb friction [N or N m] at the joint.
        coulomb_backward: Coulomb friction [N or N m] in the negative direction; None if equal.
        static: breakaway friction [N or N m] at the joint, at least `coulomb`; None for `coulomb`.
        stribeck_velocity: velocity [m/s or rad/s] at which friction is halfway between `static` and
            `coulomb`; None if friction drops to `coulomb` as soon as the joint moves.
        efficiency: efficiency of screw and gear, 0 < efficiency <= 1; relates efforts to torques.
        torque_limit: [N m] at the motor.
        velocity_limit: [rad/s] of the motor.
        torque_speed: ((speed [rad/s], torque [N m]), ...) torque-speed curve of the motor, with
            speeds increasing from 0 and torques not increasing; None if the torque limit does not
            depend on speed.
        torque_constant: [N m/A]; None if currents are not needed.
        least_effort, largest_effort: [N or N m] at the joint, if the two directions differ; both of
            one sign for cables and muscles, which go slack otherwise.
        stiffness: [N/m or N m/rad] of the elasticity between the motor and the joint, at the joint;
            infinite for a rigid drive.
        stiffness_damping: [N s/m or N m s/rad] of that elasticity.
    """

    rotor_inertia: float = _number(0.0, "kg m^2", at_least=0.0)
    lead: float | None = _number(None, "m", above=0.0)
    handed: Hand = "right"
    gear_ratio: float = _number(1.0)
    coulomb: float = _number(0.0, "N or N m", at_least=0.0)
    coulomb_backward: float | None = _number(None, "N or N m", at_least=0.0)
    static: float | None = _number(None, "N or N m", at_least=0.0)
    stribeck_velocity: float | None = _number(None, "m/s or rad/s", above=0.0)
    efficiency: float = _number(1.0, above=0.0)
    torque_limit: float = _number(math.inf, "N m", above=0.0)
    velocity_limit: float = _number(math.inf, "rad/s", above=0.0)
    torque_speed: tuple[tuple[float, float], ...] | None = field(default=None)
    torque_constant: float | None = _number(None, "N m/A", above=0.0)
    least_effort: float = _number(-math.inf, "N or N m")
    largest_effort: float = _number(math.inf, "N or N m")
    stiffness: float = _number(math.inf, "N/m or N m/rad", above=0.0)
    stiffness_damping: float = _number(0.0, "N s/m or N m s/rad", at_least=0.0)

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            # a default may be infinite, or None
            is_default = value is item.default or (
                isinstance(value, float) and value == item.default
            )
            if item.metadata and not is_default:
                object.__setattr__(self, item.name, _check(item.name, value, **item.metadata))
        if self.gear_ratio == 0.0:
            raise ModelError("gear_ratio is 0, expected a number that is not 0", value=0.0)
        check_choice("handed", self.handed, HANDS, ModelError)
        if self.efficiency > 1.0:
            raise ModelError(
                f"efficiency is {self.efficiency:g}, expected a number above 0 and at most 1",
                value=self.efficiency,
            )
        if not self.least_effort < self.largest_effort:
            raise ModelError(
                f"least_effort is {self.least_effort}, expected a number below largest_effort, "
                f"which is {self.largest_effort} [N or N m]",
                value=self.least_effort,
            )
        if not max(abs(self.ratio), self.reflected_inertia) <= LARGEST:
            raise ModelError(
                f"rotor_inertia, gear_ratio and lead give a reflected inertia of "
                f"{self.reflected_inertia:g} kg or kg m^2, expected at most {LARGEST:g}",
                value=self.reflected_inertia,
            )
        self._check_friction()
        if self.torque_speed is not None:
            object.__setattr__(self, "torque_speed", _curve(self.torque_speed))

    def _check_friction(self) -> None:
        if self.static is not None and self.static < max(self.coulomb_pair):
            raise ModelError(
                f"static is {self.static:g}, expected at least the Coulomb friction, "
                f"which is {max(self.coulomb_pair):g} [N or N m]",
                value=self.static,
            )
        if self.stribeck_velocity is not None and self.static is None:
            raise ModelError(
                f"stribeck_velocity is {self.stribeck_velocity:g} but `static` is not given: the "
                "Stribeck effect is the fall from static to Coulomb friction; give both or neither",
                value=self.stribeck_velocity,
            )

    @property
    def hand(self) -> float:
        """Sign of the screw's thread: -1 right-handed, 1 left-handed or without a screw."""
        return 1.0 if self.lead is None else HANDS[self.handed]

    @property
    def ratio(self) -> float:
        """Signed angle of the motor per unit of the joint's motion [rad/m or rad/rad]."""
        turns = 1.0 if self.lead is None else self.hand * 2.0 * math.pi / self.lead
        return turns * self.gear_ratio

    @property
    def reflected_inertia(self) -> float:
        """Inertia [kg or kg m^2] that the rotor adds to the joint: rotor_inertia * ratio^2."""
        return self.rotor_inertia * self.ratio**2

    @property
    def spin_inertia(self) -> float:
        """Inertia [kg m] by which a spinning rotor on the screw's axis acts on the leg.

        It is rotor_inertia * ratio, or zero if there is a gear, because the motor's axis is then
        unknown.
        """
        on_axis = self.lead is not None and self.gear_ratio == 1.0
        return self.rotor_inertia * self.ratio if on_axis else 0.0

    @property
    def coulomb_pair(self) -> tuple[float, float]:
        """Coulomb friction [N or N m] in forward and in backward motion, both positive."""
        backward = self.coulomb if self.coulomb_backward is None else self.coulomb_backward
        return self.coulomb, backward

    @property
    def stribeck_terms(self) -> tuple[float, float, float]:
        """Static minus Coulomb friction, forward and backward; and 1 / stribeck_velocity^2."""
        if self.static is None or self.stribeck_velocity is None:
            return 0.0, 0.0, 0.0
        forward, backward = self.coulomb_pair
        return self.static - forward, self.static - backward, self.stribeck_velocity**-2

    @property
    def effort_limit(self) -> float:
        """Joint effort [N or N m] that the motor's torque limit and curve permit at standstill."""
        return float(self.effort_limit_at(0.0))

    @property
    def rate_limit(self) -> float:
        """Joint velocity [m/s or rad/s] that the motor's speed limit and curve permit."""
        fastest = self.velocity_limit
        if self.torque_speed is not None:
            fastest = min(fastest, self.torque_speed[-1][0])
        return fastest / abs(self.ratio)

    def torque_at(self, speed: ArrayLike) -> FloatArray:
        """Return the motor's largest torque (...) [N m] at speeds (...) [rad/s].

        It is 0 beyond the end of the torque-speed curve.
        """
        at = np.abs(np.asarray(speed, dtype=np.float64))
        torque = np.full(at.shape, self.torque_limit)
        if self.torque_speed is not None:
            speeds, torques = np.array(self.torque_speed).T
            torque = np.minimum(torque, np.interp(at, speeds, torques, right=0.0))
        return np.where(at <= self.velocity_limit, torque, 0.0)

    @property
    def has_torque_speed_curve(self) -> bool:
        """Whether the motor's torque depends on its speed, by a curve or a highest speed."""
        return self.torque_speed is not None or self.velocity_limit != math.inf

    def effort_limit_at(self, rate: ArrayLike) -> FloatArray:
        """Return the largest effort (...) [N or N m] at joint velocities, in either direction."""
        torque = self.torque_at(np.multiply(rate, self.ratio))
        strongest = max(-self.least_effort, self.largest_effort)
        return np.minimum(torque * abs(self.ratio) * self.efficiency, strongest)

    @property
    def friction_numbers(self) -> tuple[float, ...]:
        """Parameters of the dry friction law, in the order that compiled code requires."""
        return (*self.coulomb_pair, *self.stribeck_terms)

    def dry_friction(self, rate: ArrayLike) -> FloatArray:
        """Compute the friction (...) [N or N m] at joint velocities; zero at rest.

        It is Coulomb friction plus (static - coulomb) / (1 + (rate / stribeck_velocity)^2), the
        rational form of Stribeck's curve by Hess and Soom (1990).
        """
        speed = np.asarray(rate, dtype=np.float64)
        forward, backward = self.coulomb_pair
        more, more_back, curvature = self.stribeck_terms
        left = 1.0 / (1.0 + curvature * speed**2)
        down = np.where(speed < 0.0, -(backward + more_back * left), 0.0)
        return np.where(speed > 0.0, forward + more * left, down)

    def torques(self, effort: ArrayLike, rate: ArrayLike | None = None) -> FloatArray:
        """Convert joint efforts (...) [N or N m] into motor torques (...) [N m].

        The motor supplies the losses of screw and gear if effort and rate have the same sign;
        otherwise the load supplies them. Without rates, the motor is assumed to drive the load.
        """
        efforts = np.asarray(effort, dtype=np.float64)
        return np.asarray(efforts / self.ratio / self._transmit(efforts, rate))

    def efforts(self, torque: ArrayLike, rate: ArrayLike | None = None) -> FloatArray:
        """Convert motor torques (...) [N m] into joint efforts (...) [N or N m]."""
        torques = np.asarray(torque, dtype=np.float64) * self.ratio
        return np.asarray(torques * self._transmit(torques, rate))

    def _transmit(self, effort: FloatArray, rate: ArrayLike | None) -> Any:
        if rate is None:
            return self.efficiency
        driven_back = effort * np.asarray(rate, dtype=np.float64) < 0.0
        return np.where(driven_back, 1.0 / self.efficiency, self.efficiency)

    def without_dry_friction(self) -> Actuator:
        """Return a copy of this actuator without dry friction."""
        return replace(self, **NO_DRY_FRICTION)

    def without_friction(self) -> Actuator:
        """Return a copy of this actuator without dry friction and transmission losses."""
        return replace(self, **NO_FRICTION)


IDEAL = Actuator()
# Bounds of the numeric fields.
UNITS = {each.name: each.metadata["unit"] for each in fields(Actuator) if each.metadata}


def _check(
    name: str, value: Any, unit: str, at_least: float = -math.inf, above: float = -math.inf
) -> float:
    number = math.nan
    with suppress(RobodynError):
        number = as_scalar(name, value)
    if isinstance(value, bool) or not (number >= at_least and number > above):
        bound = f" above {above:g}" if above > -math.inf else ""
        bound = f" of at least {at_least:g}" if at_least > -math.inf else bound
        shown = f"{number:g}" if math.isfinite(number) else repr(value)
        raise ModelError(
            f"{name} is {shown}, expected a number{bound}" + (f" [{unit}]" if unit else ""),
            value=value,
        )
    return number


def _curve(given: Any) -> tuple[tuple[float, float], ...]:
    expected = (
        "a list of at least two pairs [speed, torque] [rad/s, N m], with speeds increasing from 0, "
        "and torques of at least 0 that do not increase"
    )
    with suppress(InvalidInput):
        points = as_array("torque_speed", given, (2,))
        if points.ndim == 2 and len(points) >= 2:
            speeds, torques = points.T
            falls = (np.diff(torques) <= 0.0).all() and torques[0] > 0.0 and torques[-1] >= 0.0
            if speeds[0] == 0.0 and (np.diff(speeds) > 0.0).all() and falls:
                return tuple((float(speed), float(torque)) for speed, torque in points)
    raise ModelError(f"torque_speed is {given!r}, expected {expected}", value=given)
