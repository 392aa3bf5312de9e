# SPDX-License-Identifier: Apache-2.0

"""What a mechanism with closed loops answers about itself: units, bodies, terms of its efforts."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.errors import InvalidInput
from robodyn.mechanisms.closed_loop.kernels import layout
from robodyn.mechanisms.common.comparison import differences
from robodyn.mechanisms.common.coordinates import Coordinates
from robodyn.mechanisms.common.description import MovingBody, Nouns, effort_units
from robodyn.mechanisms.common.effort_terms import EffortTerms, where_regular
from robodyn.mechanisms.common.tracking import JOINT_TRACKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.actuators import Actuator
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.closed_loop.model import ClosedLoopModel, TreeJoint
    from robodyn.mechanisms.closed_loop.structure import Structure
    from robodyn.mechanisms.common.coordinates import JacobianMap, Unit
    from robodyn.mechanisms.common.description import EffortUnit
    from robodyn.mechanisms.common.tracking import Tracking

# Paths of the bundled models, by the names of these.
SHOWN = {"delta": "pick_and_place", "fivebar": "star", "hexapod_rotary": "dance"}
_POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")


class ClosedLoopAnswers:
    """The part of `ClosedLoop` that describes it; its equations are elsewhere.

    Attributes:
        model: the description it was made from.
        structure: what was found of it.
    """

    model: ClosedLoopModel
    structure: Structure
    jacobian_maps: JacobianMap = "rates to twist"
    nouns = Nouns(mechanism="mechanism", joint="joint", body="tip", effort="effort")
    tracking: Tracking = JOINT_TRACKING
    formulations: tuple[str, ...] = ("exact",)
    characteristic_length = 1.0

    @property
    def default_path(self) -> str:
        """What a bundled model shows itself off with; empty for all others."""
        return SHOWN.get(self.model.name, "")

    @cached_property
    def coordinates(self) -> Coordinates:
        """A configuration is all joints, a velocity the independent ones'."""
        names: list[str] = []
        quaternions = []
        for joint in self.structure.tree.joints:
            if joint.kind == "floating":
                quaternions.append(slice(len(names) + 3, len(names) + 7))
                names += [f"{joint.name}.{part}" for part in _POSE]
            else:
                names.append(joint.name)
        tree, free = self.structure.tree, self.structure.free
        told = tuple(tree.rate_names[rate] for rate in free)
        units = tuple(self._unit_of_rate(rate) for rate in free)
        return Coordinates("joints", tuple(names), told, told, units, tuple(quaternions))

    @cached_property
    def joint_units(self) -> tuple[Unit, ...]:
        """(n,) `m` of prismatic joints, `rad` of revolute ones."""
        tree = self.structure.tree
        return tuple(self._unit_of_rate(tree.rate_of[name]) for name in self.model.driven)

    @cached_property
    def effort_units(self) -> tuple[EffortUnit, ...]:
        """(n,) `N` or `N m`."""
        return effort_units(self.joint_units)

    @property
    def joint_signs(self) -> FloatArray:
        """(n,) all 1: positions are those of the URDF."""
        return np.ones(len(self.model.driven))

    @property
    def joint_offsets(self) -> FloatArray:
        """(n,) all zero: positions are those of the URDF."""
        return np.zeros(len(self.model.driven))

    @property
    def source(self) -> str:
        """Where the description came from; empty if it was made in a program."""
        return self.model.source

    @property
    def gravity_vector(self) -> FloatArray:
        """(3,) [m/s^2] base frame."""
        return self.model.gravity

    @property
    def bodies(self) -> tuple[MovingBody, ...]:
        """The links that move and have mass or inertia, each in its own frame."""
        tree = self.structure.tree
        return tuple(
            MovingBody(link.name, link.mass, link.com, link.inertia)
            for link in self.model.links
            if tree.body_of[link.name] and (link.mass > 0.0 or link.inertia.any())
        )

    @property
    def moving_mass(self) -> float:
        """[kg] of all links that move."""
        return float(sum(body.mass for body in self.bodies))

    @property
    def joint_friction(self) -> tuple[dict[str, Any], ...]:
        """Of each driven joint: viscous damping, Coulomb friction both ways, and armature."""
        return tuple(
            {
                "damping": joint.damping,
                "friction": joint.friction,
                "armature": joint.reflected_inertia,
            }
            for joint in self._driven_joints
        )

    @cached_property
    def actuators(self) -> tuple[Actuator, ...]:
        """(n,) what drives each joint, its armature counted as a rotor."""
        return tuple(joint.actuator for joint in self._driven_joints)

    @cached_property
    def _driven_joints(self) -> tuple[TreeJoint, ...]:
        joints = {joint.name: joint for joint in self.model.joints}
        return tuple(joints[name] for name in self.model.driven)

    @cached_property
    def size(self) -> float:
        """[m] the largest distance between a joint and the next."""
        return self.structure.equations.size

    @cached_property
    def rank(self) -> int:
        """Of the closures' equations, in general position."""
        return self.structure.rank

    @cached_property
    def idle_freedoms(self) -> tuple[str, ...]:
        """What may spin on its own, and is held at rest."""
        return tuple(one.name for one in self.structure.idle)

    @cached_property
    def loose_joints(self) -> tuple[str, ...]:
        """Joints that move while all driven ones are locked."""
        return self.structure.loose

    def loops_found(self) -> dict[str, Any]:
        """How the mechanism is closed, what moves and whether the motors suffice, JSON-able.

        `mobility` is tree coordinates less rank, `freedoms` what remains of it without the idle
        ones.
        """
        found, own = self.structure, self._itself
        home = found.home
        numbers = {
            "motion": float(own.motion_condition(home, own.characteristic_length)),
            "force": float(own.force_condition(home)),
        }
        return {
            "tree_coordinates": found.tree.rates,
            "closures": [
                {
                    "name": closure.name,
                    "type": closure.kind,
                    "parent": closure.parent,
                    "child": closure.child,
                    "equations": closure.equations,
                }
                for closure in self.model.closures
            ],
            "equations": found.closures,
            "rank": found.rank,
            "mobility": found.tree.rates - found.rank,
            "freedoms": found.mobility,
            "determined_by": own.tip_freedoms.text,
            "idle_freedoms": list(self.idle_freedoms),
            "driven_joints": list(self.model.driven),
            "motors_suffice": found.determined,
            "loose_joints": list(found.loose),
            "open_by": found.equations.left(home) * found.equations.size,
            "condition_numbers": {
                name: number if np.isfinite(number) else None for name, number in numbers.items()
            },
        }

    @property
    def _itself(self) -> Any:
        """The whole mechanism, of which this class is a part."""
        return self

    def effort_terms(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        acceleration: FloatArray,
        wrench: FloatArray | None = None,
        formulation: str = "exact",
    ) -> EffortTerms:
        """Efforts (N, n) and what inertia, velocity, gravity, friction and a wrench contribute.

        NaN where the mechanism is singular.

        Raises:
            InvalidInput: another formulation than `exact`.
        """
        if formulation != "exact":
            raise InvalidInput(
                f"formulation is {formulation!r}, a closed loop knows exact only",
                value=formulation,
            )
        q, u, change = (np.atleast_2d(part) for part in (configuration, velocity, acceleration))
        rest, core = np.zeros_like(u), (len(self.model.driven),)

        def efforts(mechanism: Any, *motion: FloatArray) -> FloatArray:
            function: Callable[..., FloatArray] = mechanism.inverse_dynamics
            return where_regular(function, (q, *motion), core)

        own: Any = self
        gravity = efforts(own._frictionless, rest, rest)
        frictionless = efforts(own._frictionless, u, rest)
        inertial = efforts(own._frictionless, u, change) - frictionless
        unloaded = efforts(own, u, change)
        terms = {
            "inertial": inertial,
            "coriolis": frictionless - gravity,
            "gravity": gravity,
            "friction": unloaded - frictionless - inertial,
        }
        if wrench is None:
            return EffortTerms(unloaded, terms)
        load = np.broadcast_to(wrench, (*u.shape[:-1], 6))
        total = where_regular(own.inverse_dynamics, (q, u, change, load), core)
        return EffortTerms(total, terms | {"wrench": total - unloaded})

    @cached_property
    def _frictionless(self) -> Any:
        own: Any = self
        return own.without_friction()

    def differences(self, other: Any) -> list[str]:
        """What differs from another mechanism's model, a line for each field."""
        return differences(self.model, getattr(other, "model", None))

    def warm_up(self) -> None:
        """What planning, control and simulation do not call anyway: a slow import."""
        own: Any = self
        if len(own.joint_names) > own.mobility:
            import_module("scipy.optimize")

    def _unit_of_rate(self, rate: int) -> Unit:
        for body in self.structure.tree.bodies[1:]:
            if body.kind == layout.FLOATING and body.rate <= rate < body.rate + 6:
                return "m" if rate < body.rate + 3 else "rad"
            if body.rate == rate and body.kind != layout.FLOATING:
                return "m" if body.kind == layout.PRISMATIC else "rad"
        return "rad"
