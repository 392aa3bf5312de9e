# SPDX-License-Identifier: Apache-2.0

"""The Stewart platform: public interface to the kinematics and dynamics of a 6-UPS mechanism.

Every method checks its arguments, broadcasts over leading dimensions and passes one flat batch to a
compiled kernel. Vectors are in the base frame, about the platform's reference point. Equations are
of Dasgupta and Mruthyunjaya (1998), corrected as docs/stewart.md says.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from robodyn.actuators import Actuator
from robodyn.checks import as_array, as_pose
from robodyn.errors import InvalidInput
from robodyn.mechanisms.common.compiled_run import CompiledRun, integrate
from robodyn.mechanisms.common.joint_table import joint_table
from robodyn.mechanisms.common.linearization import Linearization, linearize
from robodyn.mechanisms.common.single_calls import condition_of
from robodyn.mechanisms.stewart import actuation, dynamics, kinematics
from robodyn.mechanisms.stewart import batch_calls as many
from robodyn.mechanisms.stewart import single_calls as single
from robodyn.mechanisms.stewart.answers import PlatformAnswers
from robodyn.mechanisms.stewart.base_joints import base_joints
from robodyn.mechanisms.stewart.drawing import PlatformDrawing
from robodyn.mechanisms.stewart.formulations import formulation_of
from robodyn.mechanisms.stewart.forward_kinematics import PlatformMotion, forward_kinematics
from robodyn.mechanisms.stewart.integration import KERNELS, reason
from robodyn.mechanisms.stewart.joints import LegJointReadings
from robodyn.mechanisms.stewart.kernels import integration
from robodyn.mechanisms.stewart.measuring import PlatformMeasuring
from robodyn.mechanisms.stewart.model import Damping
from robodyn.mechanisms.stewart.packing import pack_lanes, pack_legs, pack_platform
from robodyn.mechanisms.stewart.parameters import PlatformParameters
from robodyn.mechanisms.stewart.variables import PlatformVariables
from robodyn.numerics.singular_values import extreme_ratio
from robodyn.poses import advance_pose, pose_difference

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.compiled_run import Outcome, Rollout
    from robodyn.mechanisms.common.end_stops import EndStops
    from robodyn.mechanisms.common.joint_states import JointStates
    from robodyn.mechanisms.common.single_calls import Single
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.mechanisms.stewart.formulations import Formulation
    from robodyn.mechanisms.stewart.model import StewartModel


_empty = np.empty


class StewartPlatform(
    PlatformAnswers, PlatformDrawing, PlatformVariables, PlatformMeasuring, PlatformParameters
):
    """A 6-UPS Stewart platform; the model is frozen, methods are pure functions of it.

    A pose is (..., 7) x y z [m], quaternion x y z w, platform frame in base frame; a twist (..., 6)
    the velocity of the platform's reference point [m/s], then the angular velocity [rad/s]; an
    acceleration (..., 6) its time derivative; a wrench (..., 6) what the surroundings exert on the
    platform, force [N] and moment about the reference point [N m]; all in the base frame. Forces of
    the legs are (..., 6) [N], positive when they push.

    All methods raise InvalidInput for arrays of the wrong shape or not finite. Where the equations
    have no solution they raise a KinematicsError naming the element and the leg: ZeroLegLength,
    UniversalJointSingularity, SingularConfiguration.

    Attributes:
        model: the description it was built from.
        base_joint: of each leg, `universal`, or `spherical` for a 6-SPS leg, whose passive spin is
            neglected; such a leg must be symmetric about its axis.
    """

    kind = "stewart"

    def __init__(self, model: StewartModel, base_joint: str | Sequence[str] = "universal") -> None:
        self.model = model
        self.base_joint = base_joints(model, base_joint)
        self._legs = pack_legs(model, self.base_joint)
        self._platform = pack_platform(model)
        self._numbers = self._legs, self._platform
        self._lanes = pack_lanes(self._legs, self._platform)

    def __reduce__(self) -> tuple[Any, ...]:
        return StewartPlatform, (self.model, self.base_joint)

    def __repr__(self) -> str:
        return f"StewartPlatform({self.name!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StewartPlatform):
            return NotImplemented
        return self.base_joint == other.base_joint and self.model == other.model

    __hash__ = None  # type: ignore[assignment]  # equal within rounding cannot hash alike

    @cached_property
    def leg_joints(self) -> LegJointReadings:
        """Names and zeros of the legs' joints in the URDF."""
        return LegJointReadings(self.model)

    @cached_property
    def joint_centres(self) -> tuple[FloatArray, FloatArray]:
        """(6, 3) [m] of the universal joints in the base frame, spherical in the platform's."""
        legs = self.model.legs
        return np.array([leg.base for leg in legs]), np.array([leg.platform for leg in legs])

    @cached_property
    def _single(self) -> Single:
        return single.dynamics(self._lanes)

    @cached_property
    def _condition(self) -> Callable[..., float]:
        return single.condition(self._lanes)

    @property
    def unchecked(self) -> single.UncheckedPlatform:
        """Unchecked calls for inner loops: single states, results written into given arrays."""
        return single.UncheckedPlatform(self._lanes)

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self.model.name

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """The six driven joints; their positions are the leg lengths."""
        return tuple(leg.joints.actuator.name for leg in self.model.legs)

    @cached_property
    def frames(self) -> tuple[str, str]:
        """Names of the base frame and of the platform's."""
        return self.model.base_link, self.model.platform_link

    @property
    def effort_limits(self) -> FloatArray:
        """(6,) [N], the smaller of a leg's limit and of what its motor can do at standstill."""
        return np.array(
            [min(leg.limits.effort, leg.actuator.effort_limit) for leg in self.model.legs],
            dtype=np.float64,
        )

    @property
    def position_limits(self) -> FloatArray:
        """(6, 2) [m] shortest and longest leg."""
        return np.array([leg.limits.length for leg in self.model.legs], dtype=np.float64)

    @property
    def velocity_limits(self) -> FloatArray:
        """(6,) [m/s], the smaller of a leg's limit and of its motor's."""
        return np.array(
            [min(leg.limits.velocity, leg.actuator.rate_limit) for leg in self.model.legs]
        )

    @property
    def home(self) -> FloatArray:
        """(7,) the model's home pose.

        Raises:
            InvalidInput: the model has none.
        """
        if self.model.home is None:
            raise InvalidInput(
                f"{self.name}: the model has no home pose; add `home: {{xyz: [...], rpy: [...]}}`"
            )
        return np.array(self.model.home)

    def inverse_kinematics(self, pose: ArrayLike) -> FloatArray:
        """Leg lengths (..., 6) [m] of pose (..., 7): eq. 1, 2.

        Raises:
            UnreachablePose: a leg's limits do not allow the length; `joint_positions` ignores the
                limits.
        """
        lengths = kinematics.leg_lengths(self._legs, pose)
        kinematics.raise_unreachable(self.model, lengths, pose)
        return lengths

    @overload
    def forward_kinematics(
        self, lengths: ArrayLike, guess: ArrayLike | None = None, *, warm_start: bool = False
    ) -> FloatArray: ...

    @overload
    def forward_kinematics(
        self,
        lengths: ArrayLike,
        guess: ArrayLike | None = None,
        *,
        rates: ArrayLike,
        accelerations: ArrayLike | None = None,
        warm_start: bool = False,
    ) -> PlatformMotion: ...

    def forward_kinematics(
        self,
        lengths: ArrayLike,
        guess: ArrayLike | None = None,
        rates: ArrayLike | None = None,
        accelerations: ArrayLike | None = None,
        warm_start: bool = False,
    ) -> FloatArray | PlatformMotion:
        """Pose (..., 7) of leg lengths (..., 6) [m]; with rates, twist and acceleration as well.

        Newton's method on the manifold, to 1e-13 of the longest leg. Up to 40 poses have the same
        lengths: the one reached from the guess is returned; `mechanisms.stewart.assembly` searches
        for all.

        Args:
            lengths: (..., 6) [m].
            guess: (..., 7) where to start; home by default.
            rates: (..., 6) [m/s] of the legs: eq. 5 solved for the twist.
            accelerations: (..., 6) [m/s^2] of the legs, zero where not given: eq. 8.
            warm_start: along the last batch dimension, start each element from the solution of
                the one before it, as on a trajectory.

        Raises:
            NoSolution: none was reached; it carries the residual.
            SingularConfiguration: rates were given where they do not determine the twist.
        """
        if guess is None:
            guess = self.home
        motion = forward_kinematics(self._legs, lengths, guess, rates, accelerations, warm_start)
        return motion.pose if rates is None else motion

    def leg_motion(
        self, pose: ArrayLike, twist: ArrayLike | None = None, accel: ArrayLike | None = None
    ) -> kinematics.LegMotion:
        """Lengths, directions and their motion for pose (..., 7), twist and accel (..., 6).

        Eq. 1 to 9, with the true spin of the universal joint. Twist and accel are zero where not
        given. A leg with a spherical base joint has no spin (W.s = A.s = 0); its universal rates
        are those that a universal joint would have.
        """
        return kinematics.leg_motion(self._legs, pose, twist, accel)

    def leg_joint_states(self, pose: ArrayLike, twist: ArrayLike | None = None) -> JointStates:
        """URDF names, positions and velocities of all joints of the legs, passive ones too."""
        return self.leg_joints.of(self.leg_motion(pose, twist))

    def jacobian(self, pose: ArrayLike) -> FloatArray:
        """H (..., 6, 6) of pose (..., 7): wrench = H @ forces, columns [s; q x s], eq. 35.

        Leg rates are H' @ twist.
        """
        return many.jacobian(self._numbers, pose)

    def condition_number(self, pose: ArrayLike, characteristic_length: float = 1.0) -> FloatArray:
        """Ratio (...) of the extreme singular values of H, its moment rows divided by a length.

        `characteristic_length` [m] = 1 is the papers' condition number, which mixes N and N m;
        a length of the platform's size makes it independent of units. Infinite where H is
        exactly singular.
        """
        ratio = condition_of(self._condition, pose, characteristic_length)
        if ratio is not None:
            return ratio
        ratios = many.condition_number(self._numbers, pose, characteristic_length)
        if ratios is not None:
            return ratios
        return extreme_ratio(self.singular_values(pose, characteristic_length))

    def singular_values(self, pose: ArrayLike, characteristic_length: float = 1.0) -> FloatArray:
        """Singular values (..., 6) of H, largest first, its moment rows divided by a length [m]."""
        return kinematics.singular_values(self._legs, pose, characteristic_length)

    def inverse_dynamics(
        self,
        pose: ArrayLike,
        twist: ArrayLike,
        accel: ArrayLike,
        wrench: ArrayLike | None = None,
        formulation: str | Formulation = "exact",
    ) -> FloatArray:
        """Actuator forces (..., 6) [N] of a motion, positive when they push a leg's parts apart.

        Args:
            pose: (..., 7) platform in base frame.
            twist: (..., 6) [m/s, rad/s].
            accel: (..., 6) [m/s^2, rad/s^2].
            wrench: (..., 6) [N, N m] that the environment exerts on the platform, about its
                reference point; none by default.
            formulation: `exact`; `massless`, legs without mass, friction and rotors (eq. 41);
                `dasgupta1998` or `pedrammehr2012`, as printed, errors included; or a
                `robodyn.mechanisms.stewart.formulations.Formulation`.
        """
        if formulation == "exact":
            forces = _empty(6)
            try:
                if self._single.inverse(pose, twist, accel, wrench, False, forces):
                    return forces
            except TypeError:
                pass  # not single float64 states: a batch, or an invalid argument
        chosen = formulation_of(formulation)
        return dynamics.inverse_dynamics(
            self._legs, self._platform, pose, twist, accel, wrench, chosen
        )

    def actuator_terms(
        self, pose: ArrayLike, twist: ArrayLike, accel: ArrayLike
    ) -> actuation.ActuatorTerms:
        """What the actuators' rotors and dry friction add to the forces, (..., 6) [N] each.

        Arguments as for `inverse_dynamics`; the sum of all terms is what `without_actuators` lacks.
        """
        return actuation.actuator_terms(self, pose, twist, accel)

    def reactions(
        self,
        pose: ArrayLike,
        twist: ArrayLike,
        accel: ArrayLike,
        wrench: ArrayLike | None = None,
    ) -> dynamics.Reactions:
        """Loads on the legs' joints in a motion, (..., 6, 3) each: eq. 21, 26 to 29.

        The universal joint's moment is along c = k x y, not along the leg. Arguments as for
        `inverse_dynamics`.
        """
        return dynamics.reactions(self._legs, self._platform, pose, twist, accel, wrench)

    def mass_matrix(self, pose: ArrayLike) -> FloatArray:
        """M (..., 6, 6), symmetric positive definite: H F + wrench = M accel + bias."""
        matrix = _empty((6, 6))
        try:
            if self._single.mass(pose, False, matrix):
                return matrix
        except TypeError:
            pass
        return many.mass_matrix(self._numbers, pose)

    def bias(self, pose: ArrayLike, twist: ArrayLike) -> FloatArray:
        """Bias (..., 6) [N, N m]: gravity, velocity terms and friction, as a required wrench."""
        return many.bias(self._numbers, pose, twist)

    def forward_dynamics(
        self,
        pose: ArrayLike,
        twist: ArrayLike,
        forces: ArrayLike,
        wrench: ArrayLike | None = None,
    ) -> FloatArray:
        """Platform acceleration (..., 6) [m/s^2, rad/s^2] that actuator forces (..., 6) [N] cause.

        Unlike `inverse_dynamics` it is defined where H is singular. Legs at rest have no dry
        friction here; what holds there is up to the simulation.
        """
        accel = _empty(6)
        try:
            if self._single.forward(pose, twist, forces, wrench, False, accel):
                return accel
        except TypeError:
            pass
        return many.forward_dynamics(self._numbers, pose, twist, forces, wrench)

    def energy(self, pose: ArrayLike, twist: ArrayLike) -> dynamics.Energy:
        """Kinetic and potential energy (...) [J] of all thirteen bodies."""
        return dynamics.energy(self._legs, self._platform, pose, twist)

    def linearize(self, pose: ArrayLike, wrench: ArrayLike | None = None) -> Linearization:
        """Small motions about rest at pose (..., 7), the actuator forces that hold it held.

        The derivatives are central differences of the exact forward dynamics, of order 6. Dry
        friction, which has none at rest, is left out.
        """
        legs = tuple(
            replace(leg, actuator=leg.actuator.without_friction()) for leg in self.model.legs
        )
        smooth = StewartPlatform(replace(self.model, legs=legs), self.base_joint)
        base = self.joint_centres[0]
        radius = float(np.linalg.norm(base - base.mean(axis=0), axis=1).mean())
        return linearize(smooth, as_pose("pose", pose), wrench, radius)

    def without_friction(self) -> StewartPlatform:
        """The same platform with neither viscous nor dry friction, and lossless screws."""
        legs = tuple(
            replace(leg, damping=Damping(), actuator=leg.actuator.without_friction())
            for leg in self.model.legs
        )
        return StewartPlatform(replace(self.model, legs=legs), self.base_joint)

    def without_dry_friction(self, undamped: Collection[str] = ()) -> StewartPlatform:
        """The same platform without dry friction, and without damping along the legs named."""
        legs = tuple(
            replace(
                leg,
                damping=replace(leg.damping, prismatic=0.0) if name in undamped else leg.damping,
                actuator=replace(
                    leg.actuator,
                    coulomb=0.0,
                    coulomb_backward=None,
                    static=None,
                    stribeck_velocity=None,
                ),
            )
            for name, leg in zip(self.joint_names, self.model.legs, strict=True)
        )
        return StewartPlatform(replace(self.model, legs=legs), self.base_joint)

    def without_actuators(self) -> StewartPlatform:
        """The same platform with ideal actuators: no rotors, no dry friction, no motor limits."""
        legs = tuple(replace(leg, actuator=Actuator()) for leg in self.model.legs)
        return StewartPlatform(replace(self.model, legs=legs), self.base_joint)

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> StewartPlatform:
        """The same platform with a body fixed to it.

        Args:
            mass: of the body [kg].
            com: (3,) its centre of mass [m], in the platform's frame.
            inertia: (3, 3) about that [kg m^2], in the same axes; a point by default.
        """
        return StewartPlatform(self.model.with_payload(mass, com, inertia), self.base_joint)

    def with_model_values(self, values: Mapping[str, float]) -> StewartPlatform:
        """The same platform with the given values of its model's variables."""
        return StewartPlatform(self.scaled(values), self.base_joint)

    def body_pose(self, configuration: ArrayLike) -> FloatArray:
        """Pose (..., 7) of the platform: the configuration itself."""
        return as_pose("pose", configuration)

    def joint_positions(self, configuration: ArrayLike) -> FloatArray:
        """Leg lengths (..., 6) [m] of pose (..., 7), within the legs' limits or beyond."""
        return kinematics.leg_lengths(self._legs, configuration)

    def joint_velocities(self, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
        """Leg rates (..., 6) [m/s] of pose (..., 7) and twist (..., 6): H' @ twist, eq. 5."""
        twist = as_array("twist", velocity, (6,), "m/s, rad/s")
        return np.asarray((self.jacobian(configuration) * twist[..., :, None]).sum(axis=-2))

    def difference(self, start: ArrayLike, goal: ArrayLike) -> FloatArray:
        """Displacement (..., 6) [m, rad] between poses; see `robodyn.poses.pose_difference`."""
        return pose_difference(start, goal)

    def advance(self, configuration: ArrayLike, displacement: ArrayLike) -> FloatArray:
        """Pose after a displacement; see `robodyn.poses.advance_pose`."""
        return advance_pose(configuration, displacement)

    def configuration_rate(self, configuration: FloatArray, velocity: FloatArray) -> FloatArray:
        """Time derivative (7,) of a pose (7,) that moves with a twist (6,); unchecked."""
        out = np.empty(7)
        integration.pose_rate(configuration, velocity, out)
        return out

    def normalized(self, configuration: FloatArray) -> FloatArray:
        """Pose (7,) with its quaternion normalised; unchecked."""
        pose = np.array(configuration)
        integration.normalize(pose)
        return pose

    def integrate(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        effort: FloatArray,
        wrench: FloatArray,
        dt: float,
        steps: int,
        end_stops: EndStops | None = None,
        *,
        limit_motors: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """Pose (7,) and twist (6,) after `steps` of dt [s], forces and wrench held; unchecked.

        With `limit_motors`, no motor has more than `effort_limits_at` says.

        Raises:
            SimulationFailed: no finite state follows.
        """
        return integrate(
            self._own_run.advance,
            partial(reason, self._legs),
            (configuration, velocity),
            effort,
            wrench,
            dt,
            steps,
            end_stops,
            limit_motors,
        )

    def compiled_simulation(
        self, model: Mechanism
    ) -> Callable[[Rollout, int, int], Outcome] | None:
        """Compiled simulation under a controller that uses `model`; None if not possible."""
        # a derived class may have other dynamics
        if type(self) is not StewartPlatform or type(model) is not StewartPlatform:
            return None
        return self._run_under(model).advance

    @cached_property
    def _own_run(self) -> CompiledRun:
        return self._run_under(self)

    def _run_under(self, model: StewartPlatform) -> CompiledRun:
        return CompiledRun(
            KERNELS,
            (self._lanes,),
            lambda: (self._smooth_lanes,),
            joint_table(self.position_limits, self.actuators),
            self.friction,
            (model._lanes,),
        )

    @cached_property
    def _smooth_lanes(self) -> FloatArray:
        return self.without_dry_friction()._lanes
