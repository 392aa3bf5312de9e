# SPDX-License-Identifier: Apache-2.0

"""A platform's inertial parameters, rotors and friction: regressor, platforms of other values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robodyn.mechanisms.common.parameters import (
    COLUMNS,
    ROWS,
    BodyNumbers,
    JointParameter,
    Parameters,
    body_columns,
    collected,
    dry_friction_entries,
    joint_parameters,
)
from robodyn.mechanisms.stewart.dynamics import PlatformDynamics, exact_forces
from robodyn.mechanisms.stewart.kernels import layout as at
from robodyn.mechanisms.stewart.six_legs import Damping
from robodyn.model.body import Body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.stewart.six_legs import Leg
    from robodyn.model.model import Model

# What is left of a packed leg and platform without masses, rotors and friction.
_GEOMETRY = [*range(at.LOWER_MASS), at.BASE_JOINT]
_GRAVITY = slice(at.GRAVITY, at.GRAVITY + 3)


class PlatformParameters(PlatformDynamics):
    """The part of `StewartPlatform` that knows what its forces are linear in."""

    @property
    def parameters(self) -> Parameters:
        """Ten of the platform and of both parts of each leg; then rotor and friction of each leg.

        Bodies are in their own frames, as in the model. `armature` [kg] is the rotor's inertia
        reflected to the leg; `static` is there where friction falls from it
        (`stribeck_velocity`, which stays as it is).
        """
        bodies = [
            (name.replace(" ", "_"), BodyNumbers(body.mass, body.com, body.inertia))
            for name, body in self.six_legs.bodies
        ]
        joints = []
        for leg in self.six_legs.legs:
            name, actuator, damping = leg.joints.actuator.name, leg.actuator, leg.damping
            armature = actuator.reflected_inertia
            joints += joint_parameters(name, actuator, armature, damping.prismatic, "m")
            joints += [
                JointParameter(f"{name}.universal", damping.universal, "N m s/rad"),
                JointParameter(f"{name}.spherical", damping.spherical, "N m s/rad"),
            ]
        return collected(bodies, joints)

    def regressor(self, pose: ArrayLike, twist: ArrayLike, accel: ArrayLike) -> FloatArray:
        """Y (..., 6, p): forces = Y @ parameters.values, for any values of the parameters.

        Raises:
            InvalidInput: a wrong shape, or not finite.
            KinematicsError: as `inverse_dynamics`.
        """
        packed, whole = self._legs, self._platform
        legs, platform = np.zeros_like(packed), np.zeros_like(whole)
        legs[:, _GEOMETRY], platform[_GRAVITY] = packed[:, _GEOMETRY], whole[_GRAVITY]

        motion = (pose, twist, accel, None)

        def forces(changed: FloatArray, plate: FloatArray) -> FloatArray:
            return exact_forces((changed, plate), motion)

        def of_platform(mass: float, com: FloatArray, inertia: FloatArray) -> FloatArray:
            plate = platform.copy()
            plate[at.MASS], plate[at.COM : at.COM + 3] = mass, com
            plate[at.INERTIA : at.INERTIA + 6] = inertia[ROWS, COLUMNS]
            return forces(legs, plate)

        def of_part(leg: int, first: int) -> FloatArray:
            def response(mass: float, com: FloatArray, inertia: FloatArray) -> FloatArray:
                changed = legs.copy()
                row = changed[leg]
                row[first], row[first + 1 : first + 4] = mass, com
                row[at.LEG_INERTIA : at.LEG_INERTIA + 6] = inertia[ROWS, COLUMNS]
                return forces(changed, platform)

            return body_columns(response)

        blocks = [body_columns(of_platform)]
        for first in (at.LOWER_MASS, at.UPPER_MASS):
            blocks += [of_part(k, first) for k in range(len(legs))]
        columns = []
        for k, leg in enumerate(self.six_legs.legs):
            for entries in _leg_entries(leg):
                changed = legs.copy()
                changed[k, list(entries)] = list(entries.values())
                columns.append(forces(changed, platform))
        return np.concatenate([*blocks, np.stack(columns, axis=-1)], axis=-1)

    def _model_of(self, bodies: list[BodyNumbers], of_joints: Mapping[str, float]) -> Model:
        plate, *parts = (Body(*body) for body in bodies)
        legs, half = self.six_legs.legs, len(self.six_legs.legs)
        each = zip(legs, parts[:half], parts[half:], strict=True)
        changed = tuple(_leg_with(leg, lower, upper, of_joints) for leg, lower, upper in each)
        return replace(self.six_legs, platform=plate, legs=changed).expanded()


def _leg_entries(leg: Leg) -> list[dict[int, float]]:
    """What a unit of each of a leg's parameters is in its packed row, in their order."""
    actuator = leg.actuator
    # per unit of reflected inertia; none where the rotor does not turn with the leg's screw
    unit = replace(actuator, rotor_inertia=1.0)
    spin = unit.spin_inertia / unit.reflected_inertia
    plain = [{at.REFLECTED: 1.0, at.SPIN_INERTIA: spin}, {at.PRISMATIC_DAMPING: 1.0}]
    passive = [{at.UNIVERSAL_DAMPING: 1.0}, {at.SPHERICAL_DAMPING: 1.0}]
    return [*plain, *dry_friction_entries(at.DRY_FRICTION, actuator), *passive]


def _leg_with(leg: Leg, lower: Body, upper: Body, given: Mapping[str, float]) -> Leg:
    name, actuator = leg.joints.actuator.name, leg.actuator
    forward, backward = given[f"{name}.coulomb_forward"], given[f"{name}.coulomb_backward"]
    static = given.get(f"{name}.static", actuator.static)
    return replace(
        leg,
        lower=lower,
        upper=upper,
        damping=Damping(
            given[f"{name}.universal"], given[f"{name}.viscous"], given[f"{name}.spherical"]
        ),
        actuator=replace(
            actuator,
            rotor_inertia=given[f"{name}.armature"] / actuator.ratio**2,
            coulomb=forward,
            coulomb_backward=None if backward == forward else backward,
            static=None if static is None else max(static, forward, backward),
        ),
    )
