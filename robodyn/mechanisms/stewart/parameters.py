# SPDX-License-Identifier: Apache-2.0

"""What a platform's forces are linear in, and the regressor."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.mechanisms.common.body_parameters import NOTHING, BodyNumbers
from robodyn.mechanisms.common.parameters import (
    JointParameter,
    JointPlaces,
    columns_of,
    joint_parameters,
    unit_mechanisms,
)
from robodyn.mechanisms.stewart.dynamics import PlatformDynamics, exact_forces
from robodyn.mechanisms.stewart.kernels import layout as at
from robodyn.mechanisms.stewart.kernels.lanes import regressor
from robodyn.mechanisms.stewart.packing import pack_groups
from robodyn.mechanisms.stewart.recognition import found_in
from robodyn.numerics.array_arguments import MATRIX, MATRIX_OUT, VECTOR, direct
from robodyn.threads import once

# What is left of a packed leg and platform without masses, rotors and friction.
_GEOMETRY = [*range(at.LOWER_MASS), at.BASE_JOINT]
_GRAVITY = slice(at.GRAVITY, at.GRAVITY + 3)


class PlatformParameters(PlatformDynamics):
    """The part of `StewartPlatform` that knows what its forces are linear in.

    Of the platform and of both parts of each leg in their own frames; a leg's joints have the
    names of its actuator: `.universal` and `.spherical` are their damping.
    """

    @property
    def _parametric_bodies(self) -> list[tuple[str, BodyNumbers]]:
        return [
            (name.replace(" ", "_"), BodyNumbers(body.mass, body.com, body.inertia))
            for name, body in self.six_legs.bodies
        ]

    @cached_property
    def _parameters_of_joints(self) -> list[tuple[JointParameter, dict[int, float]]]:
        found = []
        driven = zip(self.six_legs.legs, self.model.driven_joints, strict=True)
        for row, (leg, joint) in enumerate(driven):
            armature, viscous, dry, spin, universal, spherical = (
                row * at.LEG_SIZE + place
                for place in (at.REFLECTED, at.PRISMATIC_DAMPING, at.DRY_FRICTION, at.SPIN_INERTIA,
                              at.UNIVERSAL_DAMPING, at.SPHERICAL_DAMPING)
            )  # fmt: skip
            found += joint_parameters(joint, JointPlaces(armature, viscous, dry, spin))
            for name, place in (("universal", universal), ("spherical", spherical)):
                value = getattr(leg.damping, name)
                damping = JointParameter(f"{joint.name}.{name}", value, "N m s/rad")
                found.append((damping, {place: 1.0}))
        return found

    @cached_property
    def _unit_platforms(self) -> list[tuple[FloatArray, FloatArray]]:
        """Packed legs and platform, whose forces are the columns of the regressor."""
        legs, platform = np.zeros_like(self._legs), np.zeros_like(self._platform)
        legs[:, _GEOMETRY] = self._legs[:, _GEOMETRY]
        platform[_GRAVITY] = self._platform[_GRAVITY]

        rows, inertias = at.LEG_SIZE * np.arange(len(legs)), at.LEG_INERTIA
        places = [(legs.size + at.MASS, legs.size + at.INERTIA)]
        for mass in (at.LOWER_MASS, at.UPPER_MASS):
            places += zip(rows + mass, rows + inertias, strict=True)
        bodies = [([*range(m, m + 4), *range(i, i + 6)], np.eye(4)) for m, i in places]
        further = [numbers for _, numbers in self._parameters_of_joints]
        units = unit_mechanisms(np.concatenate([legs.ravel(), platform]), bodies, further)
        return [(unit[: legs.size].reshape(legs.shape), unit[legs.size :]) for unit in units]

    @cached_property
    def _unit_lanes(self) -> FloatArray:
        """The same for the kernel, eight at a time."""
        rows = [np.concatenate([legs.ravel(), body]) for legs, body in self._unit_platforms]
        return pack_groups(np.array(rows))

    def regressor(self, pose: ArrayLike, twist: ArrayLike, accel: ArrayLike) -> FloatArray:
        """Y (..., 6, p): forces = Y @ parameters.values, for any values of the parameters.

        Raises:
            InvalidInput: a wrong shape, or not finite.
            KinematicsError: as `inverse_dynamics`.
        """
        found = np.empty((len(self._unit_platforms), 6))
        try:
            single = _entry()(self._unit_lanes, pose, twist, accel, found)
        except TypeError:  # not single float64 states: a batch, or something to be explained
            single = False
        if not single:
            motion = pose, twist, accel, None, None
            found = np.stack([exact_forces(unit, motion) for unit in self._unit_platforms])
        return columns_of(found, len(self._parameters_of_joints))

    def _on_links(self, bodies: list[BodyNumbers]) -> dict[str, BodyNumbers]:
        # of links that move as one, the first carries all of the body's mass
        out: dict[str, BodyNumbers] = {}
        for body, (first, *others) in zip(bodies, found_in(self.model).bodies, strict=True):
            out |= dict.fromkeys((part.link for part in others), NOTHING)
            out[first.link] = first.on_link(body)
        return out

    def _by_joint(self, values: dict[str, float]) -> dict[str, float]:
        out = dict(values)
        for leg in found_in(self.model).legs:
            first, second, actuator = leg.shape.readings.names
            closure = self.model.closures[leg.closure].name
            out |= dict.fromkeys(
                (f"{first}.viscous", f"{second}.viscous"), values[f"{actuator}.universal"]
            )
            out[f"{closure}.viscous"] = values[f"{actuator}.spherical"]
        return out


@once
def _entry() -> Callable[..., bool]:
    return direct(regressor, MATRIX, VECTOR, VECTOR, VECTOR, MATRIX_OUT)
