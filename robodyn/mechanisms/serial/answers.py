# SPDX-License-Identifier: Apache-2.0


"""How an arm describes itself: units, bodies, friction, the terms of its efforts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.errors import InvalidInput
from robodyn.mechanisms.common.description import MovingBody
from robodyn.mechanisms.common.effort_terms import EffortTerms
from robodyn.mechanisms.common.joint_space import JointSpace

if TYPE_CHECKING:
    from robodyn.actuators import Actuator
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.coordinates import Unit
    from robodyn.mechanisms.serial.model import SerialModel


class SerialAnswers(JointSpace):
    """The part of `SerialArm` that describes it; its equations are elsewhere.

    Attributes:
        model: the description it was built from.
    """

    model: SerialModel

    @property
    def default_path(self) -> str:
        """The move of Lee et al. for their arm."""
        return "puma" if self.model.name == "puma560" else ""

    @cached_property
    def joint_units(self) -> tuple[Unit, ...]:
        """(n,) `m` of prismatic joints, `rad` of revolute ones."""
        return tuple("m" if joint.kind == "prismatic" else "rad" for joint in self.model.joints)

    @property
    def source(self) -> str:
        """File or model the description was read from; empty if it was built in code."""
        return self.model.source

    @property
    def gravity_vector(self) -> FloatArray:
        """(3,) [m/s^2] base frame."""
        return self.model.gravity

    @property
    def bodies(self) -> tuple[MovingBody, ...]:
        """The links, from the base to the tip."""
        return tuple(
            MovingBody(joint.link or joint.name, joint.mass, joint.com, joint.inertia)
            for joint in self.model.joints
        )

    @property
    def moving_mass(self) -> float:
        """[kg] total mass of the links."""
        return float(sum(joint.mass for joint in self.model.joints))

    @property
    def joint_friction(self) -> tuple[dict[str, Any], ...]:
        """Of each joint: viscous damping, Coulomb friction in both directions, and armature."""
        return tuple(
            {"damping": joint.damping, "friction": joint.friction, "armature": joint.armature}
            for joint in self.model.joints
        )

    @cached_property
    def actuators(self) -> tuple[Actuator, ...]:
        """(n,) what drives each joint: its armature and friction, its gear or screw, its motor."""
        return tuple(joint.actuator for joint in self.model.joints)

    @cached_property
    def size(self) -> float:
        """[m] half the reach."""
        reach = sum(float(np.linalg.norm(joint.translation)) for joint in self.model.joints)
        reach += float(np.linalg.norm(self.model.tip_translation))
        return max(0.5 * reach, 1e-2)

    def effort_terms(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        acceleration: FloatArray,
        wrench: FloatArray | None = None,
        formulation: str = "exact",
    ) -> EffortTerms:
        """Efforts (N, n) and their terms: inertia, velocity, gravity, friction and a wrench.

        `coriolis` includes centrifugal terms; `wrench` is present if one is given.

        Raises:
            InvalidInput: another formulation than `exact`.
        """
        if formulation != "exact":
            raise InvalidInput(
                f"formulation is {formulation!r}, an arm has only exact", value=formulation
            )
        arm: Any = self
        q, qd, qdd = configuration, velocity, acceleration
        rest = np.zeros_like(q)
        gravity = arm.inverse_dynamics(q, rest, rest, friction=False)
        frictionless = arm.inverse_dynamics(q, qd, rest, friction=False)
        inertial = arm.inverse_dynamics(q, qd, qdd, friction=False) - frictionless
        unloaded = arm.inverse_dynamics(q, qd, qdd)
        terms = {
            "inertial": inertial,
            "coriolis": frictionless - gravity,
            "gravity": gravity,
            "friction": unloaded - frictionless - inertial,
        }
        if wrench is None:
            return EffortTerms(unloaded, terms)
        total = arm.inverse_dynamics(q, qd, qdd, wrench)
        return EffortTerms(total, terms | {"wrench": total - unloaded})

    def warm_up(self) -> None:
        """Does nothing: planning, control and simulation call everything there is to load."""
