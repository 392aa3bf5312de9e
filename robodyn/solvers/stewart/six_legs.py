# SPDX-License-Identifier: Apache-2.0

"""Six legs between a base and a platform: the short form of a 6-UPS platform's model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from robodyn.actuators.actuator import IDEAL, Actuator
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_pose
from robodyn.errors import ModelError, RobodynError
from robodyn.model.body import Body, Link
from robodyn.model.closure import Closure
from robodyn.model.comparison import Compared
from robodyn.model.fields import GRAVITY, frozen, replace_checked, replace_unchecked
from robodyn.model.joint import Joint
from robodyn.model.model import Model, check_cones
from robodyn.model.placement import Placement
from robodyn.model.spring import NO_SPRING, LinearSpring, PointSpring
from robodyn.poses import axis_motion

LEGS = 6
FREE = (-np.inf, np.inf)
# Ranges [rad] of the natural angles of a universal joint.
UNIVERSAL = ((-np.pi, np.pi), (-0.5 * np.pi, 0.5 * np.pi))


@dataclass(frozen=True)
class Damping:
    """Viscous friction of a leg's joints: universal, spherical [N m s/rad], prismatic [N s/m]."""

    universal: float = 0.0
    prismatic: float = 0.0
    spherical: float = 0.0


@dataclass(frozen=True)
class LegLimits:
    """Limits of a leg's joints; infinite for none.

    Attributes:
        length: (2,) [m] shortest and longest distance between the joint centers.
        velocity: [m/s] of the actuator.
        effort: [N] of the actuator.
        universal_1, universal_2: (2,) [rad] natural angles of the universal joint, see
            `universal_zero_frame`: about the axis fixed in the base, and about the other one.
    """

    length: tuple[float, float] = (0.0, np.inf)
    velocity: float = np.inf
    effort: float = np.inf
    universal_1: tuple[float, float] = FREE
    universal_2: tuple[float, float] = FREE

    @property
    def universal(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Limits of both angles."""
        return self.universal_1, self.universal_2


class JointReading(NamedTuple):
    """Reading of one joint of a leg in a URDF: its value is sign * (natural - offset).

    Attributes:
        name: name of the joint.
        sign: 1 or -1, the joint's axis relative to the natural one.
        offset: [rad or m] natural value at the joint's zero.
    """

    name: str = ""
    sign: float = 1.0
    offset: float = 0.0


class LegJoints(NamedTuple):
    """Readings of a leg's joints in the URDF; see `universal_zero_frame`."""

    universal_1: JointReading = JointReading()
    universal_2: JointReading = JointReading()
    actuator: JointReading = JointReading()

    @classmethod
    def numbered(cls, number: int) -> LegJoints:
        """Return default names and zeros for leg 1 to 6."""
        parts = ("universal_1", "universal_2", "actuator")
        return cls(*(JointReading(f"leg{number}_{part}") for part in parts))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the first and second universal joint and the actuator."""
        return tuple(reading.name for reading in self)


def universal_zero_frame(universal_axis: ArrayLike) -> FloatArray:
    """Return the axes [h u k] (3, 3) of a universal joint at natural zero, base frame.

    k is the fixed axis (unit); h = z x k, normalized, is horizontal (x of the base if k is
    vertical); u = k x h. At natural values q1, q2 and leg length L the leg frame is [h u k] Rz(q1)
    Ry(q2) while |q2| < pi/2, and the spherical joint is at L along its x axis.
    """
    k = _unit(as_array("universal_axis", universal_axis, (3,)))
    h = np.array([-k[1], k[0], 0.0])
    level = np.linalg.norm(h)
    # the horizontal part of an axis this close to the vertical is rounding error
    h = h / level if level > 1e-9 else np.array([1.0, 0.0, 0.0])
    return np.column_stack([h, np.cross(k, h), k])


@dataclass(frozen=True)
class Leg:
    """UPS leg.

    Leg frame: x along the leg from base to platform, y along k x s (k the fixed universal axis,
    s the leg's direction), z = x cross y.

    Attributes:
        base: (3,) [m] center of the universal joint, base frame.
        platform: (3,) [m] center of the spherical joint, platform frame.
        universal_axis: (3,) axis of the universal joint fixed in the base, base frame; normalized.
        lower: the part at the base; leg frame, origin at the universal joint.
        upper: the part at the platform; leg frame, origin at the spherical joint.
        damping, limits: of its joints.
        actuator: what drives it; ideal by default. The rotor's mass and its inertia, as if it
            were locked, are already in the lower part.
        armature: [kg] further inertia of a motor, reflected to the leg's length and nothing else.
        spring: along the leg, of its length.
        joints: their names and zeros in the URDF; numbered by the model where not given. Not
            compared, since they describe the file, not the mechanism.
    """

    base: FloatArray
    platform: FloatArray
    universal_axis: FloatArray
    lower: Body
    upper: Body
    damping: Damping = Damping()
    limits: LegLimits = LegLimits()
    actuator: Actuator = IDEAL
    armature: float = 0.0
    spring: LinearSpring = NO_SPRING
    joints: LegJoints = field(default=LegJoints(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", frozen("base", self.base, (3,), "m"))
        object.__setattr__(self, "platform", frozen("platform", self.platform, (3,), "m"))
        axis = _unit(as_array("universal_axis", self.universal_axis, (3,)))
        object.__setattr__(self, "universal_axis", frozen("universal_axis", axis, (3,)))


@dataclass(frozen=True, eq=False)
class SixLegs(Compared):
    """6-UPS mechanism in its short form; its parts are checked when it expands.

    Comparisons ignore names, the source and the URDF's joint zeros.

    Attributes:
        name: name of the mechanism.
        platform: platform with its payload, platform frame.
        legs: six legs.
        gravity: (3,) [m/s^2] base frame.
        home: (7,) initial pose, or None; its quaternion has w >= 0.
        source: source of the description, for messages.
        base_link, platform_link: names of the two frames.
        base_cone, body_cone: as in `Model`.
        springs: from points of the base to points of the platform, in their frames.
    """

    name: str = field(compare=False)
    platform: Body
    legs: tuple[Leg, ...]
    gravity: FloatArray = field(default_factory=lambda: GRAVITY)
    home: FloatArray | None = None
    source: str = field(default="", compare=False)
    base_link: str = field(default="base_link", compare=False)
    platform_link: str = field(default="platform_link", compare=False)
    base_cone: float = np.inf
    body_cone: float = np.inf
    springs: tuple[PointSpring, ...] = ()

    def __post_init__(self) -> None:
        if len(self.legs) != LEGS:
            raise ModelError(
                f"{self.source or self.name}: {len(self.legs)} legs, a Stewart platform has six",
                value=len(self.legs),
            )
        for number, leg in enumerate(self.legs, start=1):
            if not isinstance(leg, Leg):
                raise ModelError(
                    f"{self.source or self.name}: leg {number} is a {type(leg).__name__}, "
                    "expected a Leg",
                    value=leg,
                )
        legs = (
            leg if leg.joints.actuator.name else replace(leg, joints=LegJoints.numbered(number))
            for number, leg in enumerate(self.legs, start=1)
        )
        object.__setattr__(self, "legs", tuple(legs))
        check_cones(self.source or self.name, self)
        object.__setattr__(self, "gravity", frozen("gravity", self.gravity, (3,), "m/s^2"))
        if self.home is not None:
            object.__setattr__(self, "home", _home(self.home))
        if not self.platform.mass > 0.0:
            raise ModelError(
                f"{self.source or self.name}: platform.mass is 0, must be positive [kg]", value=0.0
            )

    @property
    def bodies(self) -> list[tuple[str, Body]]:
        """All moving bodies: the platform, then the lower and the upper part of each leg."""
        lower = [(f"leg{number} lower", leg.lower) for number, leg in enumerate(self.legs, start=1)]
        upper = [(f"leg{number} upper", leg.upper) for number, leg in enumerate(self.legs, start=1)]
        return [("platform", self.platform), *lower, *upper]

    def expanded(self) -> Model:
        """Create the model, a tree with closures, with the legs' joint names.

        `leg<i>_lower` is the frame of leg i at its universal joint, `leg<i>_upper` the same at its
        spherical joint.
        """
        links, joints, closures = [Link(self.base_link)], [], []
        for number, leg in enumerate(self.legs, start=1):
            cross, lower, upper = (f"leg{number}_{part}" for part in ("cross", "lower", "upper"))
            links += [Link(cross), _link(lower, leg.lower), _link(upper, leg.upper)]
            joints += _joints(leg, (self.base_link, cross, lower, upper))
            at, ends = Placement(translation=leg.platform), (upper, self.platform_link)
            tip = Closure(f"leg{number}_tip", "spherical", *ends, child_at=at)
            closures.append(replace_unchecked(tip, damping=leg.damping.spherical))
        floating = "platform_joint"
        joints.append(Joint(floating, "floating", self.base_link, self.platform_link))
        links.append(_link(self.platform_link, self.platform))
        return Model(
            name=self.name,
            links=tuple(links),
            joints=tuple(joints),
            closures=tuple(closures),
            driven=tuple(leg.joints.actuator.name for leg in self.legs),
            tip_link=self.platform_link,
            home=() if self.home is None else ((floating, tuple(self.home.tolist())),),
            gravity=self.gravity,
            base_cone=self.base_cone,
            body_cone=self.body_cone,
            source=self.source,
            springs=tuple(
                replace_unchecked(spring, parent=self.base_link, child=self.platform_link)
                for spring in self.springs
            ),
        )


def inertia_without_rotor(six: SixLegs) -> list[tuple[str, FloatArray]]:
    """Return lower parts whose inertia about the leg is below their rotor's, with the rest."""
    left = []
    for number, leg in enumerate(six.legs, start=1):
        axial, rotor = leg.lower.inertia[0, 0], leg.actuator.rotor_inertia
        if leg.actuator.spin_inertia and axial < rotor:
            rest = np.diag([axial - rotor, axial, axial])
            left.append((f"leg{number} lower without its actuator's rotor", rest))
    return left


def _link(name: str, body: Body) -> Link:
    return Link(name, body.mass, body.com, body.inertia)


def _joints(leg: Leg, links: tuple[str, str, str, str]) -> list[Joint]:
    """Return a leg's universal joint, as two revolute joints, and its prismatic joint."""
    damping, limits, drive = leg.damping, leg.limits, leg.actuator
    turning = {"damping": damping.universal}
    first, second = (
        whole if given == FREE else given
        for given, whole in zip(limits.universal, UNIVERSAL, strict=True)
    )
    driven: dict[str, Any] = {
        "damping": damping.prismatic,
        "velocity": limits.velocity,
        "effort": limits.effort,
        "armature": leg.armature,
        "friction": np.array(drive.coulomb_both),
        "drive": replace_checked(drive, coulomb=0.0, coulomb_backward=None),
        "spring": leg.spring.measured(leg.joints.actuator.sign, leg.joints.actuator.offset),
    }
    zero, across = universal_zero_frame(leg.universal_axis), np.eye(3)
    made = []
    for number, (kind, R, place, axis, ends, rest) in enumerate((
        ("revolute", zero, leg.base, 2, first, turning),
        ("revolute", across, np.zeros(3), 1, second, turning),
        ("prismatic", across, np.zeros(3), 0, limits.length, driven),
    )):  # fmt: skip
        reading, direction = leg.joints[number], across[axis]
        if reading.offset:
            shift = axis_motion(kind, direction, reading.offset)
            R, place = R @ shift[:3, :3], place + R @ shift[:3, 3]
        position = sorted(reading.sign * (end - reading.offset) for end in ends)
        made.append(
            Joint(
                reading.name,
                kind,
                links[number],
                links[number + 1],
                Placement(R, place),
                axis=reading.sign * direction,
                position=np.array(position),
                **rest,
            )
        )
    return made


def _home(value: FloatArray) -> FloatArray:
    try:
        pose: FloatArray = as_pose("home", frozen("home", value, (7,), "m, quaternion"))
    except RobodynError as error:
        raise ModelError(str(error), value=value) from error
    # q and -q are the same rotation: keep w >= 0; if w is rounding, use the next nonzero entry
    leading = next(part for part in pose[[6, 3, 4, 5]] if abs(part) > 1e-9)
    if leading < 0.0:
        pose[3:] *= -1.0
    pose.setflags(write=False)
    return np.asarray(pose)


def _unit(axis: FloatArray) -> FloatArray:
    length = float(np.linalg.norm(axis))
    if not length > 1e-9:
        raise ModelError("universal_axis has no direction, its length is zero", value=axis)
    # a unit axis is unchanged to the last bit
    return axis if abs(length - 1.0) < 1e-15 else axis / length
