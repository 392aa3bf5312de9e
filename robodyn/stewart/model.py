"""The description of a 6-UPS Stewart platform: frozen data, checked once when it is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from robodyn.checks import as_array, as_scalar
from robodyn.errors import ModelError, RobodynError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

LEGS = 6


@dataclass(frozen=True)
class Body:
    """A rigid body.

    Attributes:
        mass: [kg], not negative.
        com: (3,) [m] centre of mass, in the body's own frame.
        inertia: (3, 3) [kg m^2] about the centre of mass, in the axes of the body's frame.
    """

    mass: float
    com: FloatArray
    inertia: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", as_scalar("mass", self.mass, "kg", at_least=0.0))
        object.__setattr__(self, "com", _frozen("com", self.com, (3,), "m"))
        inertia = _frozen("inertia", self.inertia, (3, 3), "kg m^2")
        if not np.allclose(inertia, inertia.T, rtol=1e-9, atol=0.0):
            raise ModelError(f"inertia is not symmetric: {inertia.tolist()}", value=inertia)
        object.__setattr__(self, "inertia", inertia)


@dataclass(frozen=True)
class Damping:
    """Viscous friction of a leg's joints: universal, spherical [N m s/rad], prismatic [N s/m]."""

    universal: float = 0.0
    prismatic: float = 0.0
    spherical: float = 0.0

    def __post_init__(self) -> None:
        for name, unit in (("universal", "N m s"), ("prismatic", "N s/m"), ("spherical", "N m s")):
            value = as_scalar(f"damping.{name}", getattr(self, name), unit, at_least=0.0)
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class LegLimits:
    """What a leg's actuator can do; infinite where the description is silent.

    Attributes:
        length: (2,) [m] shortest and longest distance between the joint centres.
        velocity: [m/s].
        effort: [N].
    """

    length: tuple[float, float] = (0.0, np.inf)
    velocity: float = np.inf
    effort: float = np.inf

    def __post_init__(self) -> None:
        lower, upper = (float(bound) for bound in self.length)
        if not 0.0 <= lower < upper:
            raise ModelError(
                f"limits.length is [{lower}, {upper}], expected 0 <= shortest < longest [m]",
                value=self.length,
            )
        object.__setattr__(self, "length", (lower, upper))
        for name, unit in (("velocity", "m/s"), ("effort", "N")):
            value = float(getattr(self, name))
            if not value > 0.0:
                raise ModelError(f"limits.{name} is {value}, must be positive [{unit}]", value=value)
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Leg:
    """One UPS leg.

    Leg frame: x along the leg from base to platform, y along k x s (k the fixed universal axis,
    s the leg's direction), z = x cross y.

    Attributes:
        base: (3,) [m] centre of the universal joint, base frame.
        platform: (3,) [m] centre of the spherical joint, platform frame.
        universal_axis: (3,) axis of the universal joint fixed in the base, base frame; made unit.
        lower: the part at the base; leg frame, origin at the universal joint.
        upper: the part at the platform; leg frame, origin at the spherical joint.
        damping, limits: of its joints.
    """

    base: FloatArray
    platform: FloatArray
    universal_axis: FloatArray
    lower: Body
    upper: Body
    damping: Damping = field(default_factory=Damping)
    limits: LegLimits = field(default_factory=LegLimits)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", _frozen("base", self.base, (3,), "m"))
        object.__setattr__(self, "platform", _frozen("platform", self.platform, (3,), "m"))
        axis = as_array("universal_axis", self.universal_axis, (3,))
        length = float(np.linalg.norm(axis))
        if not length > 1e-9:
            raise ModelError("universal_axis has no direction, its length is zero", value=axis)
        object.__setattr__(
            self, "universal_axis", _frozen("universal_axis", axis / length, (3,), "")
        )


@dataclass(frozen=True)
class StewartModel:
    """A whole 6-UPS mechanism.

    Attributes:
        name: what the mechanism is called.
        platform: the platform with its payload, platform frame.
        legs: six.
        gravity: (3,) [m/s^2] base frame.
        home: (7,) pose at which to start or to show the mechanism, or None if not given.
        source: where the description came from, for messages.
    """

    name: str
    platform: Body
    legs: tuple[Leg, ...]
    gravity: FloatArray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    home: FloatArray | None = None
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if len(self.legs) != LEGS:
            raise ModelError(
                f"{self.source or self.name}: {len(self.legs)} legs, a Stewart platform has six",
                value=len(self.legs),
            )
        object.__setattr__(self, "legs", tuple(self.legs))
        object.__setattr__(self, "gravity", _frozen("gravity", self.gravity, (3,), "m/s^2"))
        if self.home is not None:
            object.__setattr__(self, "home", _frozen("home", self.home, (7,), "m, quaternion"))
        if not self.platform.mass > 0.0:
            raise ModelError(f"{self.name}: platform.mass must be positive [kg]", value=0.0)


def _frozen(name: str, value: FloatArray, shape: tuple[int, ...], unit: str) -> FloatArray:
    try:
        array = as_array(name, value, shape, unit).copy()
    except RobodynError as error:
        raise ModelError(str(error), value=value) from error
    if array.shape != shape:
        raise ModelError(f"{name} has shape {array.shape}, expected {shape}", value=value)
    array.setflags(write=False)
    return array
