# SPDX-License-Identifier: Apache-2.0

"""What a platform's model says of its legs and bodies: names, limits, friction, actuators.

The joint between a leg and the base is universal in a 6-UPS, spherical in a 6-SPS. A leg between
two spherical joints is free to spin about its own axis, and nothing drives or stops it. As Dasgupta
and Mruthyunjaya (1998, section 1) say, this passive spin is neglected (W.s = A.s = 0), which
requires a leg that is symmetric about its axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_pose
from robodyn.errors import InvalidInput, ModelError
from robodyn.mechanisms.common.coordinates import POSE, Coordinates
from robodyn.mechanisms.common.description import DrivenJoint, Nouns
from robodyn.mechanisms.common.tracking import POSE_TRACKING, Tracking
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.mechanisms.stewart.joints import LegJointReadings
from robodyn.mechanisms.stewart.packing import pack_lanes, pack_legs, pack_platform
from robodyn.mechanisms.stewart.recognition import six_legs_of
from robodyn.mechanisms.stewart.six_legs import FREE, Leg, SixLegs
from robodyn.model.body import Body, Link
from robodyn.model.model import Model
from robodyn.poses import rotation_matrix

if TYPE_CHECKING:
    from typing_extensions import Self


BASE_JOINTS = ("universal", "spherical")
# A leg part counts as symmetric if its asymmetry is this small relative to its size.
SYMMETRY = 1e-9


class PlatformLegs(Mechanism):
    """The part of `StewartPlatform` that its model alone determines.

    Attributes:
        model: the description it was built from.
        six_legs: the same as the short form.
        base_joint: of each leg; see `StewartPlatform`.
    """

    kind = "stewart"
    # path I of Dasgupta for his manipulator
    default_paths: ClassVar = {"stewart_dasgupta": "I"}
    model: Model
    coordinates: Coordinates = POSE
    # Moment rows of H are divided by a length, so its entries are pure numbers.
    jacobian_unit = "1"
    nouns = Nouns(
        mechanism="platform",
        joint="leg",
        body="platform",
        effort="force",
        effort_label="force",
        effort_unit="N",
        joint_unit="m",
    )
    tracking: Tracking = POSE_TRACKING

    def __init__(self, model: Model, base_joint: str | Sequence[str] = "universal") -> None:
        self.model, self.six_legs = model, six_legs_of(model)
        self.base_joint = base_joints(self.six_legs, base_joint)
        self._legs = pack_legs(self.six_legs, self.base_joint)
        self._platform = pack_platform(self.six_legs)
        self._numbers = self._legs, self._platform
        self._lanes = pack_lanes(self._legs, self._platform)
        self._packed = (self._lanes,)

    @property
    def options(self) -> tuple[object, ...]:
        """The legs' base joints."""
        return (self.base_joint,)

    def with_legs(self, legs: Iterable[Leg]) -> Self:
        """The same platform on other legs."""
        return self._made(replace(self.six_legs, legs=tuple(legs)).expanded())

    @property
    def compared(self) -> SixLegs:
        """The six legs, whatever frames and names describe them."""
        return self.six_legs

    @property
    def gravity_vector(self) -> FloatArray:
        """(3,) [m/s^2] base frame."""
        return self.six_legs.gravity

    @cached_property
    def driven_joints(self) -> tuple[DrivenJoint, ...]:
        """The six legs; their positions are the distances between the joint centres."""
        pairs = zip(super().driven_joints, self.six_legs.legs, strict=True)
        return tuple(joint._replace(position=leg.limits.length) for joint, leg in pairs)

    @cached_property
    def frames(self) -> tuple[str, str]:
        """Names of the base frame and of the platform's."""
        return self.six_legs.base_link, self.six_legs.platform_link

    @property
    def body_links(self) -> tuple[str, ...]:
        """The links of the bodies."""
        own, parts = self.six_legs.platform_link, [body.name for body in self.bodies[1:]]
        return own, *(name.replace(" ", "_") for name in parts)

    @property
    def bodies(self) -> tuple[Link, ...]:
        """The platform, then the lower and the upper parts of the legs."""
        return tuple(
            Link(name, body.mass, body.com, body.inertia) for name, body in self.six_legs.bodies
        )

    @property
    def moving_mass(self) -> float:
        """[kg] of the platform, without the legs."""
        return float(self.six_legs.platform.mass)

    @property
    def largest_payload(self) -> float:
        """[kg] twice the mass of the platform."""
        return 2.0 * float(self.six_legs.platform.mass)

    @property
    def joint_friction(self) -> tuple[dict[str, Any], ...]:
        """Of each leg: viscous damping of its universal, prismatic and spherical joint.

        `coulomb` [N], in both directions, is there where a leg has dry friction.
        """
        names = ("universal", "prismatic", "spherical")
        rows: list[dict[str, Any]] = [
            {name: getattr(leg.damping, name) for name in names} for leg in self.six_legs.legs
        ]
        if any(any(actuator.coulomb_both) for actuator in self.actuators):
            for row, actuator in zip(rows, self.actuators, strict=True):
                row["coulomb"] = np.array(actuator.coulomb_both)
        return tuple(rows)

    @property
    def home(self) -> FloatArray:
        """(7,) the model's home pose.

        Raises:
            InvalidInput: the model has none.
        """
        if self.six_legs.home is None:
            raise InvalidInput(
                f"{self.name}: the model has no home pose; add `home: {{xyz: [...], rpy: [...]}}`"
            )
        return np.array(self.six_legs.home)

    @cached_property
    def characteristic_length(self) -> float:
        """[m] the mean radius of the platform's joints about their centre."""
        joints = np.array([leg.platform for leg in self.six_legs.legs])
        radius = float(np.linalg.norm(joints - joints.mean(axis=0), axis=1).mean())
        return radius if radius > 0.0 else 1.0

    @property
    def passive_limits(self) -> dict[str, FloatArray]:
        """Limits (2,) [rad] of the universal joints' angles, as the URDF measures them."""
        found = {}
        for leg, joint in zip(self.six_legs.legs, self.base_joint, strict=True):
            for reading, ends in zip(leg.joints, leg.limits.universal, strict=False):
                if joint == "universal" and ends != FREE:
                    found[reading.name] = np.sort(reading.sign * (np.array(ends) - reading.offset))
        return found

    @property
    def leg_names(self) -> tuple[str, ...]:
        """Of the six legs, after their actuators."""
        return self.joint_names

    def leg_axes(self, configuration: ArrayLike) -> FloatArray:
        """(..., 2, 6, 3) unit vectors along the legs, in the base and in the platform's frame."""
        poses = as_pose("configuration", configuration)
        turn = rotation_matrix(poses)
        feet = np.array([leg.base for leg in self.six_legs.legs])
        tips = np.array([leg.platform for leg in self.six_legs.legs])
        along = np.einsum("...ij,kj->...ki", turn, tips) + poses[..., None, :3] - feet
        along = along / np.linalg.norm(along, axis=-1, keepdims=True)
        return np.stack([along, along @ turn], axis=-3)

    @cached_property
    def leg_joints(self) -> LegJointReadings:
        """Names and zeros of the legs' joints in the URDF."""
        return LegJointReadings(self.six_legs)

    @property
    def all_joint_names(self) -> tuple[str, ...]:
        """The joints of the legs: first and second universal axis, actuator of each."""
        return self.leg_joints.names

    @property
    def joint_signs(self) -> FloatArray:
        """(6,) a leg's length is sign * reading of its URDF joint + offset."""
        return self.leg_joints.actuator_sign

    @property
    def joint_offsets(self) -> FloatArray:
        """(6,) [m] a leg's length is sign * reading of its URDF joint + offset."""
        return self.leg_joints.actuator_offset


def base_joints(six: SixLegs, given: str | Sequence[str]) -> tuple[str, ...]:
    """The base joint of each of the six legs.

    Raises:
        InvalidInput: an unknown name, or not one for each leg.
        ModelError: a spherical joint under a leg that is not symmetric about its axis.
    """
    joints = (given,) * len(six.legs) if isinstance(given, str) else tuple(given)
    if len(joints) != len(six.legs) or not set(joints) <= set(BASE_JOINTS):
        raise InvalidInput(
            f"base_joint is {given!r}, expected one of {', '.join(BASE_JOINTS)}, or six of them",
            value=given,
        )
    for number, (leg, joint) in enumerate(zip(six.legs, joints, strict=True), start=1):
        if joint == "spherical" and leg.actuator.spin_inertia != 0.0:
            raise ModelError(
                f"{six.name}: leg {number} cannot stand on a spherical joint: nothing there "
                "bears what its rotor does to the leg as it spins up; use a universal joint, or "
                "give the actuator no rotor_inertia",
                value=leg.actuator.rotor_inertia,
            )
        for part, body in (("lower", leg.lower), ("upper", leg.upper)):
            if joint == "spherical" and not _is_symmetric(body):
                raise ModelError(
                    f"{six.name}: leg {number} cannot stand on a spherical joint: its {part} "
                    "part is not symmetric about the leg's axis (com on x, inertia diagonal "
                    "with yy = zz), so its forces would depend on a spin that nothing determines",
                    value=body,
                )
    return joints


def _is_symmetric(body: Body) -> bool:
    inertia = body.inertia
    off_diagonal = np.abs(inertia - np.diag(np.diag(inertia))).max()
    unequal = abs(inertia[1, 1] - inertia[2, 2])
    off_axis = np.abs(body.com[1:]).max()
    return bool(
        max(off_diagonal, unequal) <= SYMMETRY * np.abs(inertia).max()
        and off_axis <= SYMMETRY * np.abs(body.com).max()
    )
