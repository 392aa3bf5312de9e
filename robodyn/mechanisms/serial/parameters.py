# SPDX-License-Identifier: Apache-2.0

"""An arm's inertial parameters, rotors and friction: the regressor, and arms of other values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robodyn.actuators import Actuator
from robodyn.mechanisms.common.parameters import (
    BodyNumbers,
    Parameters,
    bodies_of,
    body_columns,
    collected,
    dry_friction_entries,
    joint_parameters,
)
from robodyn.mechanisms.serial.inverse_kinematics import SerialInverseKinematics
from robodyn.mechanisms.serial.kernels import layout as at
from robodyn.mechanisms.serial.kernels.lanes import inverse_dynamics
from robodyn.mechanisms.serial.packing import pack_chain, put_body, turn_z_to

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from robodyn.arrays import FloatArray


class SerialParameters(SerialInverseKinematics):
    """The part of `SerialArm` that knows what its efforts are linear in."""

    @property
    def parameters(self) -> Parameters:
        """Ten for each link, in its moving frame; then armature and friction of each joint.

        `static` is there where friction falls from it (`stribeck_velocity`, which stays as it is).
        """
        bodies, joints = [], []
        for joint in self.model.joints:
            numbers = BodyNumbers(joint.mass, joint.com, joint.inertia)
            bodies.append((joint.link or joint.name, numbers))
            unit = "m" if joint.kind == "prismatic" else "rad"
            joints += joint_parameters(
                joint.name, joint.actuator, joint.armature, joint.damping, unit
            )
        return collected(bodies, joints)

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> FloatArray:
        """Y (..., n, p): efforts = Y @ parameters.values, for any values of the parameters.

        Raises:
            InvalidInput: a wrong shape, or not finite.
        """
        joints = tuple(
            replace(joint.driven_by(Actuator()), mass=0.0, inertia=np.zeros((3, 3)), damping=0.0)
            for joint in self.model.joints
        )
        empty = pack_chain(replace(self.model, joints=joints))
        motion = (q, qd, qdd, None)

        def efforts(chain: FloatArray) -> FloatArray:
            names = ("q", "qd", "qdd", "wrench")
            return self._batch(inverse_dynamics, chain, names, motion, (self._n,))

        def of_link(k: int) -> FloatArray:
            def response(mass: float, com: FloatArray, inertia: FloatArray) -> FloatArray:
                chain = empty.copy()
                put_body(chain[k + 1], turn_z_to(joints[k].axis), mass, com, inertia)
                return efforts(chain)

            return body_columns(response)

        columns = []
        for k, joint in enumerate(self.model.joints):
            dry = dry_friction_entries(at.DRY_FRICTION, joint.actuator)
            for entries in ({at.ARMATURE: 1.0}, {at.DAMPING: 1.0}, *dry):
                chain = empty.copy()
                chain[k + 1, list(entries)] = list(entries.values())
                columns.append(efforts(chain))
        bodies = [of_link(k) for k in range(len(joints))]
        return np.concatenate([*bodies, np.stack(columns, axis=-1)], axis=-1)

    def with_parameters(self, values: ArrayLike) -> Self:
        """The same arm with other values (p,) of its `parameters`.

        Raises:
            InvalidInput: a wrong number of values, or not finite.
            ModelError: values that no joint can have, such as a friction below zero.
        """
        own = self.parameters
        given = own.checked(values)
        of_joints = own.of_joints(given)
        joints = []
        for joint, body in zip(self.model.joints, bodies_of(own, given), strict=True):
            part = {
                name: of_joints[f"{joint.name}.{name}"]
                for name in ("armature", "viscous", "coulomb_forward", "coulomb_backward")
            }
            friction = np.array([part["coulomb_forward"], part["coulomb_backward"]])
            static = of_joints.get(f"{joint.name}.static", joint.drive.static)
            joints.append(
                replace(
                    joint,
                    mass=body.mass,
                    com=body.com,
                    inertia=body.inertia,
                    armature=part["armature"],
                    damping=part["viscous"],
                    friction=friction,
                    drive=replace(joint.drive, static=static),
                )
            )
        return self._made(replace(self.model, joints=tuple(joints)))
