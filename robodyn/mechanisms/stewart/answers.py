# SPDX-License-Identifier: Apache-2.0


"""How a platform describes itself: units, bodies, friction, the terms of its forces."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.checks import as_pose
from robodyn.mechanisms.common.actuated_joints import ActuatedJoints
from robodyn.mechanisms.common.comparison import differences
from robodyn.mechanisms.common.coordinates import POSE
from robodyn.mechanisms.common.description import MovingBody, Nouns
from robodyn.mechanisms.common.description import effort_units as units_of_efforts
from robodyn.mechanisms.common.effort_terms import EffortTerms, where_regular
from robodyn.mechanisms.common.joint_states import DrivenMotion
from robodyn.mechanisms.common.motion import Motion
from robodyn.mechanisms.common.singularities import TYPE_2, Singularity
from robodyn.mechanisms.common.tracking import POSE_TRACKING
from robodyn.mechanisms.stewart.description.bodies import named_bodies
from robodyn.mechanisms.stewart.dynamics import Reactions
from robodyn.mechanisms.stewart.formulations import FORMULATIONS
from robodyn.poses import twist_in_base, twist_in_body

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from robodyn.actuators import Actuator
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.coordinates import Coordinates, JacobianMap, Unit
    from robodyn.mechanisms.common.description import EffortUnit
    from robodyn.mechanisms.common.joint_states import JointStates
    from robodyn.mechanisms.common.tracking import Tracking
    from robodyn.mechanisms.stewart.joints import LegJointReadings
    from robodyn.mechanisms.stewart.model import StewartModel


class PlatformAnswers(ActuatedJoints):
    """The part of `StewartPlatform` that describes it; its equations are elsewhere.

    Attributes:
        model: the description it was built from.
    """

    model: StewartModel
    coordinates: Coordinates = POSE
    joint_units: tuple[Unit, ...] = ("m",) * 6
    effort_units: tuple[EffortUnit, ...] = units_of_efforts(("m",) * 6)
    jacobian_maps: JacobianMap = "efforts to wrench"
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
    formulations: tuple[str, ...] = tuple(FORMULATIONS)

    @property
    def default_path(self) -> str:
        """Path I of Dasgupta for his manipulator."""
        return "I" if self.model.name == "stewart_dasgupta" else ""

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
        """The platform, then the lower and the upper parts of the legs."""
        return tuple(
            MovingBody(name, body.mass, body.com, body.inertia)
            for name, body in named_bodies(self.model)
        )

    @property
    def moving_mass(self) -> float:
        """[kg] of the platform, without the legs."""
        return float(self.model.platform.mass)

    @property
    def joint_friction(self) -> tuple[dict[str, Any], ...]:
        """Of each leg: viscous damping of its universal, prismatic and spherical joint.

        `coulomb` [N], in both directions, is there where a leg has dry friction.
        """
        names = ("universal", "prismatic", "spherical")
        rows: list[dict[str, Any]] = [
            {name: getattr(leg.damping, name) for name in names} for leg in self.model.legs
        ]
        if any(any(actuator.coulomb_both) for actuator in self.actuators):
            for row, actuator in zip(rows, self.actuators, strict=True):
                row["coulomb"] = np.array(actuator.coulomb_both)
        return tuple(rows)

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """(6,) what drives each leg; ideal where the description is silent."""
        return tuple(leg.actuator for leg in self.model.legs)

    @cached_property
    def characteristic_length(self) -> float:
        """[m] the mean radius of the platform's joints about their centre."""
        joints = np.array([leg.platform for leg in self.model.legs])
        radius = float(np.linalg.norm(joints - joints.mean(axis=0), axis=1).mean())
        return radius if radius > 0.0 else 1.0

    @cached_property
    def size(self) -> float:
        """[m] mean length of the legs at home."""
        platform: Any = self
        return max(float(platform.joint_positions(platform.home).mean()), 1e-3)

    @property
    def all_joint_names(self) -> tuple[str, ...]:
        """The joints of the legs: first and second universal axis, actuator of each."""
        return self._readings.names

    @cached_property
    def passive_joint_names(self) -> tuple[str, ...]:
        """The universal joints."""
        driven = {leg.joints.actuator.name for leg in self.model.legs}
        return tuple(name for name in self.all_joint_names if name not in driven)

    @property
    def joint_signs(self) -> FloatArray:
        """(6,) a leg's length is sign * reading of its URDF joint + offset."""
        return self._readings.actuator_sign

    @property
    def joint_offsets(self) -> FloatArray:
        """(6,) [m] a leg's length is sign * reading of its URDF joint + offset."""
        return self._readings.actuator_offset

    def joint_states(
        self, configuration: ArrayLike, velocity: ArrayLike | None = None
    ) -> JointStates:
        """Names, positions and velocities (..., 18) of the legs' joints, as the URDF has them."""
        platform: Any = self
        states: JointStates = platform.leg_joint_states(configuration, velocity)
        return states

    def driven_motion(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
    ) -> DrivenMotion:
        """Lengths [m], rates [m/s] and accelerations [m/s^2] of the legs, (..., 6) each."""
        platform: Any = self
        legs = platform.leg_motion(configuration, velocity, acceleration)
        return DrivenMotion(legs.length, legs.rate, legs.acceleration)

    def motion_of_joints(
        self,
        positions: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike | None = None,
        guess: ArrayLike | None = None,
    ) -> Motion:
        """Pose, twist and acceleration of leg lengths, rates and accelerations (..., 6).

        Along the last batch dimension each pose is solved from the one before it, the first from
        the guess (7,); home by default.

        Raises:
            NoSolution: no pose with these lengths was reached.
            SingularConfiguration: the rates do not determine the platform's motion.
        """
        platform: Any = self
        return Motion(
            *platform.forward_kinematics(
                positions,
                guess,
                rates=velocities,
                accelerations=accelerations,
                warm_start=True,
            )
        )

    def assemble(self, driven: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """Pose (..., 7) of leg lengths (..., 6) [m], near a guess (..., 7); home by default.

        Raises:
            NoSolution: no pose with these lengths was reached.
        """
        platform: Any = self
        return np.asarray(platform.forward_kinematics(driven, guess))

    def configuration_at(self, pose: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """The pose (7,) itself, its quaternion brought to unit length.

        Raises:
            InvalidInput: wrong shape, not finite, or a quaternion far from unit length.
        """
        return as_pose("pose", pose)

    def motion_of_body(
        self,
        times: FloatArray,
        poses: FloatArray,
        twists: FloatArray,
        accels: FloatArray,
        start: ArrayLike,
    ) -> Motion:
        """The platform's motion itself: (K, 7), (K, 6), (K, 6)."""
        return Motion(poses, twists, accels)

    def determinant(self, configuration: ArrayLike) -> FloatArray | None:
        """Determinant (...) of H: where it changes sign, no forces suffice."""
        platform: Any = self
        return np.asarray(np.linalg.det(platform.jacobian(configuration)))

    def side(self, configuration: ArrayLike) -> FloatArray | None:
        """The determinant: H is continuous as long as no leg has length zero."""
        return self.determinant(configuration)

    @property
    def singularities(self) -> tuple[Singularity, ...]:
        """Type 2, where det H is zero; see `common.singularities`."""
        platform: Any = self
        return (
            Singularity(
                TYPE_2,
                "the legs cannot hold the platform",
                platform.determinant,
                True,
                platform.condition_number,
                takes_effort=True,
            ),
        )

    def loops_found(self) -> dict[str, Any]:
        """Nothing: the six legs' loops are what the kind is."""
        return {}

    def effort_terms(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        acceleration: FloatArray,
        wrench: FloatArray | None = None,
        formulation: str = "exact",
    ) -> EffortTerms:
        """Forces (N, 6) [N], the `massless` and the `dynamic` term, and the joints' reactions.

        `massless` are the forces with legs without mass and friction, `dynamic` the rest
        (Dasgupta 1998, eq. 41, 42). NaN where the platform is singular.
        """
        platform: Any = self
        motion = (configuration, velocity, acceleration)

        def forces(name: str) -> Callable[..., FloatArray]:
            return lambda *state: platform.inverse_dynamics(*state, wrench, formulation=name)

        total = where_regular(forces(formulation), motion, (6,))
        massless = where_regular(forces("massless"), motion, (6,))
        stacked = where_regular(
            lambda *state: np.stack(platform.reactions(*state, wrench), axis=-3),
            motion,
            (5, 6, 3),
        )
        reactions = Reactions(*np.moveaxis(stacked, 1, 0))
        return EffortTerms(total, {"massless": massless, "dynamic": total - massless}, reactions)

    def differences(self, other: Any) -> list[str]:
        """Differences from another mechanism's model, one line per field."""
        return differences(self.model, getattr(other, "model", None))

    def warm_up(self) -> None:
        """Call the functions of platforms only, at home, so that they are compiled or loaded."""
        platform: Any = self
        home = platform.home
        twist_in_base(home, twist_in_body(home, np.zeros(6)))

    @property
    def _readings(self) -> LegJointReadings:
        platform: Any = self
        readings: LegJointReadings = platform.leg_joints
        return readings
