# SPDX-License-Identifier: Apache-2.0

"""The description of a 6-UPS Stewart platform: frozen data, checked once on construction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from robodyn.actuators import Actuator
from robodyn.checks import as_array, as_pose
from robodyn.errors import ModelError, RobodynError
from robodyn.model.body import Body, joined, payload
from robodyn.model.comparison import Compared
from robodyn.model.fields import GRAVITY, frozen, not_negative

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray


LEGS = 6


@dataclass(frozen=True)
class Damping:
    """Viscous friction of a leg's joints: universal, spherical [N m s/rad], prismatic [N s/m]."""

    universal: float = 0.0
    prismatic: float = 0.0
    spherical: float = 0.0

    def __post_init__(self) -> None:
        for name, unit in (("universal", "N m s"), ("prismatic", "N s/m"), ("spherical", "N m s")):
            value = not_negative(f"damping.{name}", getattr(self, name), unit)
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class LegLimits:
    """Limits of a leg's actuator; infinite where the description gives none.

    Attributes:
        length: (2,) [m] shortest and longest distance between the joint centres.
        velocity: [m/s].
        effort: [N].
    """

    length: tuple[float, float] = (0.0, np.inf)
    velocity: float = np.inf
    effort: float = np.inf

    def __post_init__(self) -> None:
        try:
            lower, upper = (float(bound) for bound in self.length)
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"limits.length is {self.length!r}, expected [shortest, longest] [m]",
                value=self.length,
            ) from error
        if not 0.0 <= lower < upper:
            raise ModelError(
                f"limits.length is [{lower}, {upper}], expected 0 <= shortest < longest [m]",
                value=self.length,
            )
        object.__setattr__(self, "length", (lower, upper))
        for name, unit in (("velocity", "m/s"), ("effort", "N")):
            value = getattr(self, name)
            if not (isinstance(value, (int, float)) and value > 0.0):
                raise ModelError(
                    f"limits.{name} is {value}, must be positive [{unit}]", value=value
                )
            object.__setattr__(self, name, float(value))


@dataclass(frozen=True)
class JointReading:
    """How a URDF measures one joint of a leg: its value is sign * (natural - offset).

    Attributes:
        name: of the joint.
        sign: 1 or -1, the joint's axis against the natural one.
        offset: [rad or m] the natural value at the joint's zero.
    """

    name: str = ""
    sign: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class LegJoints:
    """The joints of a leg as the URDF names and measures them; see `universal_zero_frame`."""

    universal_1: JointReading = field(default_factory=JointReading)
    universal_2: JointReading = field(default_factory=JointReading)
    actuator: JointReading = field(default_factory=JointReading)

    @classmethod
    def numbered(cls, number: int) -> LegJoints:
        """Default names and zeros for leg 1 to 6."""
        return cls(
            *(
                JointReading(f"leg{number}_{part}")
                for part in ("universal_1", "universal_2", "actuator")
            )
        )

    @property
    def names(self) -> tuple[str, str, str]:
        """Of the first and second universal joint and the actuator."""
        return self.universal_1.name, self.universal_2.name, self.actuator.name

    def to_urdf(self, natural: ArrayLike) -> FloatArray:
        """Joint values (..., 3) [rad, rad, m] of natural ones (..., 3): q1, q2, leg length.

        Angles are in [-pi, pi).
        """
        readings = (self.universal_1, self.universal_2, self.actuator)
        sign = np.array([reading.sign for reading in readings])
        offset = np.array([reading.offset for reading in readings])
        values: FloatArray = sign * (as_array("natural", natural, (3,), "rad, rad, m") - offset)
        values[..., :2] -= 2.0 * np.pi * np.floor(values[..., :2] / (2.0 * np.pi) + 0.5)
        return values


def universal_zero_frame(universal_axis: ArrayLike) -> FloatArray:
    """Axes [h u k] (3, 3) of a universal joint at the natural zero of its angles, base frame.

    k is the fixed axis (unit); h = z x k, made unit, is horizontal (x of the base where k is
    vertical); u = k x h. At natural values q1, q2 and leg length L the leg frame is
    [h u k] Rz(q1) Ry(q2) while |q2| < pi/2, and the spherical joint lies at L along its x axis.
    """
    k = np.array(as_array("universal_axis", universal_axis, (3,)))
    k /= np.linalg.norm(k)
    h = np.array([-k[1], k[0], 0.0])
    level = np.linalg.norm(h)
    # The horizontal part of an axis this close to the vertical is rounding error only.
    h = h / level if level > 1e-9 else np.array([1.0, 0.0, 0.0])
    return np.column_stack([h, np.cross(k, h), k])


@dataclass(frozen=True)
class Leg:
    """One UPS leg.

    Leg frame: x along the leg from base to platform, y along k x s (k the fixed universal axis,
    s the leg's direction), z = x cross y.

    Attributes:
        base: (3,) [m] centre of the universal joint, base frame.
        platform: (3,) [m] centre of the spherical joint, platform frame.
        universal_axis: (3,) axis of the universal joint fixed in the base, base frame; normalised.
        lower: the part at the base; leg frame, origin at the universal joint.
        upper: the part at the platform; leg frame, origin at the spherical joint.
        damping, limits: of its joints.
        actuator: what drives it; ideal by default. The rotor's mass and its inertia, as if it
            were locked, are already in the lower part.
        joints: their names and zeros in the URDF; numbered by the model where not given. Not
            compared, since they describe the file, not the mechanism.
    """

    base: FloatArray
    platform: FloatArray
    universal_axis: FloatArray
    lower: Body
    upper: Body
    damping: Damping = field(default_factory=Damping)
    limits: LegLimits = field(default_factory=LegLimits)
    actuator: Actuator = field(default_factory=Actuator)
    joints: LegJoints = field(default_factory=LegJoints, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", frozen("base", self.base, (3,), "m"))
        object.__setattr__(self, "platform", frozen("platform", self.platform, (3,), "m"))
        axis = as_array("universal_axis", self.universal_axis, (3,))
        length = float(np.linalg.norm(axis))
        if not length > 1e-9:
            raise ModelError("universal_axis has no direction, its length is zero", value=axis)
        object.__setattr__(
            self, "universal_axis", frozen("universal_axis", axis / length, (3,), "")
        )


@dataclass(frozen=True, eq=False)
class StewartModel(Compared):
    """A whole 6-UPS mechanism.

    Names, the source and the URDF's joint zeros are not compared.

    Attributes:
        name: of the mechanism.
        platform: the platform with its payload, platform frame.
        legs: six.
        gravity: (3,) [m/s^2] base frame.
        home: (7,) pose at which the mechanism starts or is shown, or None if not given; its
            quaternion is kept with w >= 0.
        source: where the description came from, for messages.
        base_link, platform_link: names of the two frames.
    """

    name: str = field(compare=False)
    platform: Body
    legs: tuple[Leg, ...]
    gravity: FloatArray = field(default_factory=lambda: GRAVITY)
    home: FloatArray | None = None
    source: str = field(default="", compare=False)
    base_link: str = field(default="base_link", compare=False)
    platform_link: str = field(default="platform_link", compare=False)

    def __post_init__(self) -> None:
        if len(self.legs) != LEGS:
            raise ModelError(
                f"{self.source or self.name}: {len(self.legs)} legs, a Stewart platform has six",
                value=len(self.legs),
            )
        legs = (
            leg if leg.joints.actuator.name else replace(leg, joints=LegJoints.numbered(number))
            for number, leg in enumerate(self.legs, start=1)
        )
        object.__setattr__(self, "legs", tuple(legs))
        object.__setattr__(self, "gravity", frozen("gravity", self.gravity, (3,), "m/s^2"))
        if self.home is not None:
            object.__setattr__(self, "home", _home(self.home))
        if not self.platform.mass > 0.0:
            raise ModelError(
                f"{self.source or self.name}: platform.mass is 0, must be positive [kg]", value=0.0
            )

    def without_friction(self) -> StewartModel:
        """The same mechanism with neither viscous nor dry friction, and lossless screws."""
        return self.with_legs(
            lambda leg: replace(leg, damping=Damping(), actuator=leg.actuator.without_friction())
        )

    def without_dry_friction(self, undamped: Collection[str] = ()) -> StewartModel:
        """The same mechanism without dry friction, and without damping along the legs named."""

        def without(leg: Leg) -> Leg:
            damping = leg.damping
            if leg.joints.actuator.name in undamped:
                damping = replace(damping, prismatic=0.0)
            return replace(leg, damping=damping, actuator=leg.actuator.without_dry_friction())

        return self.with_legs(without)

    def without_actuators(self) -> StewartModel:
        """The same mechanism with ideal actuators: no rotors, no dry friction, no motor limits."""
        return self.with_legs(lambda leg: replace(leg, actuator=Actuator()))

    def with_legs(self, changed: Callable[[Leg], Leg]) -> StewartModel:
        """The same mechanism, each leg as a function makes it."""
        return replace(self, legs=tuple(map(changed, self.legs)))

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> StewartModel:
        """The same mechanism with a body fixed to its platform.

        Args:
            mass: [kg].
            com: (3,) [m] its centre of mass, platform frame.
            inertia: (3, 3) [kg m^2] about it, in the axes of the platform frame; none by default.

        Raises:
            ModelError: a mass below zero, a wrong shape, or an inertia that is not symmetric.
        """
        return replace(self, platform=joined(self.platform, payload(mass, com, inertia)))


def _home(value: FloatArray) -> FloatArray:
    try:
        pose: FloatArray = as_pose("home", frozen("home", value, (7,), "m, quaternion"))
    except RobodynError as error:
        raise ModelError(str(error), value=value) from error
    # q and -q are the same rotation: keep w >= 0; if w is rounding only, use the next nonzero
    # entry.
    leading = next(part for part in pose[[6, 3, 4, 5]] if abs(part) > 1e-9)
    if leading < 0.0:
        pose[3:] *= -1.0
    pose.setflags(write=False)
    return np.asarray(pose)
