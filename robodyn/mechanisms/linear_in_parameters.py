# SPDX-License-Identifier: Apache-2.0

"""What a mechanism's efforts are linear in: masses, rotors and friction, and their regressors."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.errors import InvalidInput
from robodyn.mechanisms.common.body_parameters import BodyNumbers, bodies_of_parameters
from robodyn.mechanisms.common.parameters import (
    OF_BODY,
    JointParameter,
    Parameters,
    collected,
    with_values,
)
from robodyn.mechanisms.link_motion import LinkMotion

if TYPE_CHECKING:
    from typing_extensions import Self


class LinearInParameters(LinkMotion):
    """The ninth part of `Mechanism`: parameters, regressors, other values of them."""

    @property
    def parameters(self) -> Parameters:
        """What efforts are linear in: ten numbers of each body, then rotors and friction of joints.

        Raises:
            InvalidInput: a kind that has none.
        """
        return replace(self._parameters, values=self._parameters.values.copy())

    @cached_property
    def _parameters(self) -> Parameters:
        joints = (parameter for parameter, _ in self._parameters_of_joints)
        return collected(self._parametric_bodies, joints)

    @property
    def _parametric_bodies(self) -> list[tuple[str, BodyNumbers]]:
        """Name and numbers of each body of `parameters`, in its own frame."""
        raise self._unanswered("parameters")

    @cached_property
    def _parameters_of_joints(self) -> list[tuple[JointParameter, dict[int, float]]]:
        """What follows the bodies in `parameters`; units of each in an array that is packed."""
        raise self._unanswered("parameters")

    def regressor(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, /
    ) -> FloatArray:
        """Y (..., n, p): efforts = Y @ parameters.values, for any values of the parameters.

        Raises:
            InvalidInput: a wrong shape, not finite, or a kind that has none.
        """
        raise self._unanswered("parameters")

    def reference_regressor(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        reference_velocity: ArrayLike,
        reference_acceleration: ArrayLike,
        /,
    ) -> FloatArray:
        """Y (..., n, p) of Slotine and Li (1987), for adaptive control that is passive.

        Y @ parameters.values are the efforts M a_r + C(v) v_r + g of a reference, with the C of
        `coriolis_matrix`, and the friction at the reference velocity (..., nv).

        Raises:
            InvalidInput, KinematicsError: as `regressor`.
        """
        nv = self.coordinates.velocity_size
        v = as_array("velocity", velocity, (nv,))
        r = as_array("reference_velocity", reference_velocity, (nv,))
        rest, ask = np.zeros(nv), partial(self.regressor, configuration)
        Y, still = ask(r, reference_acceleration), ask(rest, reference_acceleration)
        # velocity terms are of degree 2: C(v) v_r by polarisation
        moved = still + 0.25 * (ask(v + r, rest) - ask(v - r, rest))
        if self.coordinates.rotations:
            # what angular velocities, rates of no coordinates, add; see `coriolis_matrix`
            q = np.asarray(configuration, dtype=np.float64)[..., None, :]
            power, held = self.joint_velocities(q, np.eye(nv)), ask(rest, rest)
            ours, theirs = (power @ (ask(rest, u) - held) for u in (v, r))
            added = np.zeros_like(ours)
            for turning in self.coordinates.rotations:
                omega, other = v[..., turning, None], r[..., turning, None]
                added[..., turning, :] = 0.5 * (
                    np.cross(omega, theirs[..., turning, :], axis=-2)
                    + np.cross(ours[..., turning, :], other, axis=-2)
                )
            moved = moved + np.linalg.solve(power, added)
        ends = (name.rpartition(".")[2] for name in self.parameters.names)
        inertial = [end in OF_BODY or end == "armature" for end in ends]
        Y[..., inertial] = moved[..., inertial]
        return Y

    def with_parameters(self, values: ArrayLike, /) -> Self:
        """The same mechanism with other values (p,) of its `parameters`.

        Raises:
            InvalidInput: a wrong number of values, not finite, or a kind that has none.
            ModelError: values that no mechanism can have, such as a friction below zero.
        """
        own = self._parameters
        given = own.checked(values)
        numbers = given[: len(OF_BODY) * len(own.bodies)].reshape(-1, len(OF_BODY))
        bodies = self._on_links(bodies_of_parameters(numbers))
        return self._made(with_values(self.model, bodies, self._by_joint(own.of_joints(given))))

    def _on_links(self, bodies: list[BodyNumbers]) -> dict[str, BodyNumbers]:
        """Bodies in the order of `parameters`, as links that carry them, in these links' frames."""
        names = (name for name, _ in self._parametric_bodies)
        return dict(zip(names, bodies, strict=True))

    def _by_joint(self, values: dict[str, float]) -> dict[str, float]:
        """Values of the parameters of joints, by the joints and closures of the model."""
        return values

    def _unanswered(self, what: str) -> InvalidInput:
        return InvalidInput(
            f"mechanisms of the kind {self.kind!r} have no {what} that are computed here; describe "
            f"{self.name} as a URDF of joints and links",
            value=self.kind,
        )
