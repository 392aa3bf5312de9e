# SPDX-License-Identifier: Apache-2.0

"""An arm's inertial parameters, rotors and friction: the regressor, and arms of other values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robodyn.mechanisms.common.parameters import (
    BodyNumbers,
    Parameters,
    body_columns,
    collected,
    dry_friction_entries,
    joint_parameters,
)
from robodyn.mechanisms.serial.inverse_kinematics import SerialInverseKinematics
from robodyn.mechanisms.serial.kernels import layout as at
from robodyn.mechanisms.serial.kernels.lanes import inverse_dynamics
from robodyn.mechanisms.serial.packing import pack_chain, part_of_chain, put_body, turn_z_to
from robodyn.model.body import Link

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.model.model import Model


class SerialParameters(SerialInverseKinematics):
    """The part of `SerialArm` that knows what its efforts are linear in."""

    @property
    def parameters(self) -> Parameters:
        """Ten for each link, in its moving frame; then armature and friction of each joint.

        `static` is there where friction falls from it (`stribeck_velocity`, which stays as it is).
        """
        bodies, joints = [], []
        for joint, link in zip(self.chain.joints, self.chain.links, strict=True):
            bodies.append((link.name, BodyNumbers(link.mass, link.com, link.inertia)))
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
        joints = self.chain.joints
        weightless = tuple(Link(link.name, com=link.com) for link in self.chain.links)
        chain = self.chain._replace(links=weightless)
        empty = part_of_chain(pack_chain(chain), friction=False, armature=False)
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
        for k, joint in enumerate(joints):
            dry = dry_friction_entries(at.DRY_FRICTION, joint.actuator)
            for entries in ({at.ARMATURE: 1.0}, {at.DAMPING: 1.0}, *dry):
                chain = empty.copy()
                chain[k + 1, list(entries)] = list(entries.values())
                columns.append(efforts(chain))
        bodies = [of_link(k) for k in range(len(joints))]
        return np.concatenate([*bodies, np.stack(columns, axis=-1)], axis=-1)

    def _model_of(self, bodies: list[BodyNumbers], of_joints: Mapping[str, float]) -> Model:
        numbers = dict(zip((link.name for link in self.chain.links), bodies, strict=True))
        links = tuple(
            replace(link, **numbers[link.name]._asdict()) if link.name in numbers else link
            for link in self.model.links
        )
        joints = []
        for joint in self.model.joints:
            if joint.moves:
                armature, viscous, *friction = (
                    of_joints[f"{joint.name}.{part}"]
                    for part in ("armature", "viscous", "coulomb_forward", "coulomb_backward")
                )
                static = of_joints.get(f"{joint.name}.static", joint.drive.static)
                joint = replace(
                    joint,
                    armature=armature,
                    damping=viscous,
                    friction=np.array(friction),
                    drive=replace(joint.drive, static=static),
                )
            joints.append(joint)
        return replace(self.model, links=links, joints=tuple(joints))
