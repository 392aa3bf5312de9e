# SPDX-License-Identifier: Apache-2.0

"""`Mechanism`: common interface of all kinds of mechanisms.

A mechanism has arrays of three sizes, which may all differ: a *configuration* (..., nq), its
*velocity* and *acceleration* (..., nv), and *efforts* (..., n) of its driven joints. For a Stewart
platform the configuration is a pose (..., 7) and the velocity a twist (..., 6); for a serial arm
they are q and qd, both (..., n). `coordinates` describes their components. Configurations are
points of a manifold: never subtract two of them; use `difference` and `advance`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from robodyn.actuators import Actuator
from robodyn.algorithms import conditioning, derivatives, elasticity, link_motion, motions
from robodyn.algorithms import energy as energies
from robodyn.algorithms import travel as traveling
from robodyn.algorithms.comparison import equal
from robodyn.algorithms.description import driven_joints
from robodyn.algorithms.motion import JointStates
from robodyn.algorithms.motors import Drives
from robodyn.arguments import check_method_arguments
from robodyn.arrays import ArrayLike, FloatArray, Self
from robodyn.base_motion import BaseMotion
from robodyn.dynamics.coordinates import Coordinates, joint_coordinates
from robodyn.dynamics.parameters import Parameters, combine_parameters
from robodyn.dynamics.solver import Solver
from robodyn.model.body import Link
from robodyn.numerics.broadcasting import flatten
from robodyn.presentation.notebook import notebook_html

# Sizes of arrays that kernels read unchecked, by argument name.
_SIZES: dict[str, Callable[[Any], int]] = {
    **dict.fromkeys(
        ("configuration", "configurations", "guess"), lambda m: m.coordinates.configuration_size
    ),
    **dict.fromkeys(
        ("velocity", "displacement", "acceleration"), lambda m: m.coordinates.velocity_size
    ),
    **dict.fromkeys(
        ("positions", "velocities", "driven", "effort", "efforts", "lengths"),
        lambda m: len(m.joint_names),
    ),
    **dict.fromkeys(("wrench", "twists", "accels"), lambda _: 6),
    "poses": lambda _: 7,
}


class Mechanism(ABC):
    """A mechanism of any kind; its methods are pure functions of its model.

    A configuration is (..., nq), its velocity and acceleration (..., nv), efforts (..., n) of the
    driven joints [N m, or N for a prismatic joint]. A wrench (..., 6) is the force [N], then the
    moment about the reference point of the body [N m], that the environment exerts on the body, in
    the base frame. For a Stewart platform the configuration is a pose (..., 7) [m, -] and the
    velocity a twist (..., 6) [m/s, rad/s]; for an arm they are q and qd (..., n) [rad, or m for a
    prismatic joint]; for closed loops they are the positions of all tree joints and the velocities
    of the independent ones. `coordinates` describes their components.

    Computations that several kinds have in common are functions of the modules in the table below;
    computations with a kind's own compiled functions belong to its `solver`.

    Attributes:
        kind: name under which its kind is registered: `stewart`, `serial` ...
        model: description from which it was built, as frozen data.
    """

    kind: str
    model: Any
    # frames of `with_frame`: link and frame (4, 4) on it, by name
    _added: Mapping[str, tuple[str, FloatArray]] = MappingProxyType({})

    _travel_limits = cached_property(traveling._travel_limits)
    _passive_travel = cached_property(traveling._passive_travel)
    _wrapping_driven = cached_property(motions._wrapping_driven)

    condition_number = conditioning.condition_number

    link_pose = link_motion.link_pose
    link_jacobian = link_motion.link_jacobian
    link_twist = link_motion.link_twist
    link_acceleration = link_motion.link_acceleration
    center_of_mass = link_motion.center_of_mass
    momentum = link_motion.momentum
    with_frame = link_motion.with_frame

    energy = energies.energy
    coriolis_matrix = energies.coriolis_matrix
    inverse_dynamics_derivatives = derivatives.inverse_dynamics_derivatives
    forward_dynamics_derivatives = derivatives.forward_dynamics_derivatives
    linearize = derivatives.linearize
    with_drive_stiffness = elasticity.with_drive_stiffness
    stiffness_matrix = elasticity.stiffness_matrix
    compliance = elasticity.compliance
    deflection = elasticity.deflection
    modes = elasticity.modes

    @cached_property
    def solver(self) -> Any:
        """Solver with the compiled functions of this kind."""
        return Solver(self)

    def __init_subclass__(cls, **options: Any) -> None:
        """Wrap the public methods of a kind, so that wrong arguments raise `InvalidInput`."""
        super().__init_subclass__(**options)
        check_method_arguments(cls, _SIZES)

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return str(self.model.name)

    @cached_property
    def frames(self) -> tuple[str, str]:
        """Names of two frames: that of the base, and that of the platform or the tip."""
        return self.model.base_link, self.model.tip_link

    @property
    def _options(self) -> tuple[object, ...]:
        """Constructor arguments other than the model, as frozen data."""
        return ()

    def _repr_html_(self) -> str:
        return notebook_html(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mechanism) or other.kind != self.kind:
            return NotImplemented
        return equal(self, other)

    __hash__ = None  # type: ignore[assignment]  # equal within rounding cannot hash alike

    @property
    @abstractmethod
    def bodies(self) -> Sequence[Link]:
        """Moving bodies, each with its name, mass and inertia."""

    @property
    def characteristic_length(self) -> float:
        """Length [m] that makes the condition number independent of units; 1 by default."""
        return 1.0

    @property
    @abstractmethod
    def size(self) -> float:
        """Length [m] above 0, of the order of the dimensions of the mechanism."""

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names (n,) of the driven joints, in the order of every effort array."""
        return tuple(joint.name for joint in driven_joints(self))

    @property
    def all_joint_names(self) -> tuple[str, ...]:
        """Names of all joints in the result of `joint_states`, passive ones included."""
        return self.joint_names

    @property
    def passive_joint_names(self) -> tuple[str, ...]:
        """Names of the joints in `all_joint_names` that are not driven."""
        return tuple(name for name in self.all_joint_names if name not in self.joint_names)

    @property
    def effort_limits(self) -> FloatArray:
        """Largest efforts (n,) [N or N m] at standstill; infinite for no limit."""
        return np.array(self._limits[:, 3])

    @property
    def position_limits(self) -> FloatArray:
        """Position limits (n, 2) [m or rad] of the driven joints; infinite for no limit."""
        return np.array(self._limits[:, :2])

    @property
    def velocity_limits(self) -> FloatArray:
        """Velocity limits (n,) [m/s or rad/s], the lower of those of joint and motor."""
        return np.array(self._limits[:, 2])

    @cached_property
    def _limits(self) -> FloatArray:
        """Limits (n, 4) of the driven joints: lower and upper position, velocity, effort.

        Velocity and effort are limited by the joint or by its actuator, whichever limit is lower.
        """
        rows = []
        for joint in driven_joints(self):
            motor = joint.actuator
            rate = min(joint.velocity, motor.rate_limit)
            rows.append([*np.asarray(joint.position), rate, min(joint.effort, motor.effort_limit)])
        return np.array(rows, dtype=np.float64)

    @cached_property
    def actuators(self) -> Sequence[Actuator]:
        """Actuators (n,) of the driven joints; ideal if the description contains none."""
        return tuple(joint.actuator for joint in driven_joints(self))

    @cached_property
    def drives(self) -> Drives:
        """Driven joints with their actuators, limits and unit conversions."""
        return Drives(self)

    def motor_torques(self, efforts: ArrayLike, rates: ArrayLike | None = None) -> FloatArray:
        """Convert joint efforts into motor torques.

        If the efficiency of an actuator is below 1, the joint velocities decide whether the motor
        drives the load or the load drives the motor; by default the motor drives.

        Args:
            efforts: (..., n) [N or N m].
            rates: joint velocities (..., n) [m/s or rad/s].

        Returns:
            Motor torques (..., n) [N m].

        Raises:
            InvalidInput: the shape is wrong, a value is not finite, or a prismatic joint has no
                screw lead.
        """
        return self.drives.torques(efforts, rates)

    def efforts_of(self, motor_torques: ArrayLike, rates: ArrayLike | None = None) -> FloatArray:
        """Convert motor torques into joint efforts; the inverse of `motor_torques`.

        Args:
            motor_torques: (..., n) [N m].
            rates: joint velocities (..., n) [m/s or rad/s].

        Returns:
            Joint efforts (..., n) [N or N m].

        Raises:
            InvalidInput: as for `motor_torques`.
        """
        return self.drives.efforts(motor_torques, rates)

    @cached_property
    def coordinates(self) -> Coordinates:
        """Names, meaning and units of the components of a configuration and a velocity."""
        return joint_coordinates(self.joint_names, self.drives.units, motions.wrapping_joints(self))

    @property
    @abstractmethod
    def home(self) -> FloatArray:
        """Home configuration (nq,), the default initial configuration.

        Raises:
            InvalidInput: the model has no home configuration.
        """

    @abstractmethod
    def body_pose(self, configuration: ArrayLike, /) -> FloatArray:
        """Compute the pose of the platform, or of the arm's tip, in the base frame.

        Args:
            configuration: (..., nq).

        Returns:
            Pose (..., 7): x y z [m], qx qy qz qw, base frame.

        Raises:
            InvalidInput, KinematicsError: the configuration is invalid, or has no solution.
        """

    def forward_kinematics(self, positions: ArrayLike, /) -> FloatArray:
        """Compute the pose of the body: the platform, or the tip of an arm.

        Args:
            positions: configuration (..., nq); for a platform, the leg lengths (..., n) [m].

        Returns:
            Pose (..., 7): x y z [m], qx qy qz qw, base frame.
        """
        return self.body_pose(positions)

    @abstractmethod
    def jacobian(self, configuration: ArrayLike, /) -> FloatArray:
        """Compute the body's Jacobian in the base frame, linear rows above angular rows.

        twist = J @ velocity, where the twist is that of the body's reference point. A platform has
        H instead, which maps leg forces to the wrench about this point. `twist_jacobian` and
        `joint_jacobian` have the same meaning for every kind.

        Args:
            configuration: (..., nq).

        Returns:
            Jacobian (..., 6, nv); for a platform, H (..., 6, n).
        """

    def twist_jacobian(self, configuration: ArrayLike, /) -> FloatArray:
        """Compute the matrix that maps the generalized velocity to the twist of the body.

        Args:
            configuration: (..., nq).

        Returns:
            Matrix (..., 6, nv), base frame: matrix @ velocity is the linear velocity of the body's
            reference point, then the angular velocity.
        """
        return self.jacobian(configuration)

    def joint_jacobian(self, configuration: ArrayLike, /) -> FloatArray:
        """Compute the matrix that maps the generalized velocity to driven joint rates.

        Args:
            configuration: (..., nq).

        Returns:
            Matrix (..., n, nv): velocities of `joint_names` [rad/s or m/s] = matrix @ velocity.

        Raises:
            InvalidInput, KinematicsError: the configuration is invalid, or has no solution.
        """
        shape = motions.joint_values(self, "configuration", configuration).shape[:-1]
        n = len(self.joint_names)
        return np.array(np.broadcast_to(np.eye(n), (*shape, n, n)))

    def difference(self, start: ArrayLike, goal: ArrayLike, /) -> FloatArray:
        """Compute the displacement from start to goal, in velocity coordinates.

        A continuous joint turns the shorter way, see `wrapping_joints`.

        Args:
            start, goal: configurations (..., nq).

        Returns:
            Displacement (..., nv).
        """
        way = np.asarray(
            motions.joint_values(self, "goal", goal) - motions.joint_values(self, "start", start)
        )
        return self.coordinates.shortest(way)

    def advance(self, configuration: ArrayLike, displacement: ArrayLike, /) -> FloatArray:
        """Apply a displacement to a configuration; the inverse of `difference`.

        Full turns of continuous joints are preserved.

        Args:
            configuration: (..., nq).
            displacement: (..., nv).

        Returns:
            Configuration (..., nq).

        Raises:
            NoSolution: there is no such configuration.
        """
        step = motions.joint_values(self, "displacement", displacement)
        return np.asarray(motions.joint_values(self, "configuration", configuration) + step)

    def joint_positions(self, configuration: ArrayLike, /) -> FloatArray:
        """Compute the positions of the driven joints.

        Args:
            configuration: (..., nq).

        Returns:
            Positions (..., n) [m or rad] in the order of `joint_names`.

        Raises:
            InvalidInput, KinematicsError: the configuration is invalid, or has no solution.
        """
        return motions.joint_values(self, "configuration", configuration)

    def joint_velocities(self, configuration: ArrayLike, velocity: ArrayLike, /) -> FloatArray:
        """Compute the velocities of the driven joints.

        Args:
            configuration: (..., nq).
            velocity: generalized velocity (..., nv).

        Returns:
            Velocities (..., n) [m/s or rad/s] in the order of `joint_names`.

        Raises:
            InvalidInput, KinematicsError: the configuration is invalid, or has no solution.
        """
        given = {"configuration": configuration, "velocity": velocity}
        shape, (_, rates) = flatten(
            **{n: motions.joint_values(self, n, value) for n, value in given.items()}
        )
        return np.asarray(rates.reshape(*shape, rates.shape[-1]))

    def joint_states(
        self, configuration: ArrayLike, velocity: ArrayLike | None = None, /
    ) -> JointStates:
        """Return names, positions and velocities of all joints, as defined in the URDF.

        Args:
            configuration: (..., nq).
            velocity: (..., nv); zero by default.

        Returns:
            Joint names (k,), positions (..., k) [m or rad] and velocities (..., k).
        """
        positions = motions.joint_values(self, "configuration", configuration)
        rates = np.zeros(len(self.joint_names)) if velocity is None else velocity
        pair = np.broadcast_arrays(positions, motions.joint_values(self, "velocity", rates))
        return JointStates(self.joint_names, *pair)

    def assemble(self, driven: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """Find the configuration with the given positions of the driven joints.

        Args:
            driven: positions (..., n) [m or rad].
            guess: configuration near the solution, by default home.

        Returns:
            Configuration (..., nq).

        Raises:
            NoSolution: no configuration was found.
        """
        return motions.joint_values(self, "driven", driven)

    @property
    def independent_joints(self) -> tuple[str, ...]:
        """Names (m,) of the joints whose motion determines the motion of all others.

        A joint trajectory contains these joints. They may be fewer than the driven ones (in a
        redundantly driven loop), and both may be fewer than all joints.
        """
        return self.joint_names

    def configuration_at(self, pose: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """Find the configuration near a guess at which the body has a given pose.

        Args:
            pose: (7,) [m, -], base frame.
            guess: configuration (nq,), by default home.

        Returns:
            Configuration (nq,).

        Raises:
            NoSolution: no configuration was found; the message names the unreachable coordinates.
            InvalidInput: shapes are wrong, or a pose does not determine this mechanism.
        """
        raise motions.no_inverse_kinematics(self)

    @cached_property
    def _links(self) -> link_motion.LinkTables:
        return link_motion.LinkTables(self)

    @abstractmethod
    def inverse_dynamics(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        /,
        *,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Compute the efforts of the driven joints for a motion.

        Args:
            configuration: (..., nq).
            velocity, acceleration: generalized velocity and acceleration (..., nv).
            wrench: external wrench (..., 6) [N, N m] on the body about its reference point, base
                frame; zero by default.
            base: motion of the base; at rest by default.

        Returns:
            Efforts (..., n) [N or N m] in the order of `joint_names`.

        Raises:
            InvalidInput: a shape is wrong, or a value is not finite.
            UnderActuated, KinematicsError: no efforts cause this motion, such as at a singularity.
        """

    @abstractmethod
    def forward_dynamics(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        effort: ArrayLike,
        wrench: ArrayLike | None = None,
        /,
        *,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Compute the acceleration due to efforts of the driven joints.

        Dry friction in joints at rest is left out, because only a simulation can decide which
        joints stick. Inverse dynamics uses friction in the direction of the planned acceleration,
        so at rest the two functions are inverse to each other only without dry friction.

        Args:
            configuration: (..., nq).
            velocity: generalized velocity (..., nv).
            effort: (..., n) [N or N m] in the order of `joint_names`.
            wrench: external wrench (..., 6) [N, N m] on the body about its reference point, base
                frame; zero by default.
            base: motion of the base; at rest by default.

        Returns:
            Generalized acceleration (..., nv).

        Raises:
            InvalidInput: a shape is wrong, or a value is not finite.
            KinematicsError: the configuration has no solution, or the motion is not determined
                there.
        """

    @abstractmethod
    def mass_matrix(self, configuration: ArrayLike, /) -> FloatArray:
        """Compute the mass matrix, symmetric and positive definite.

        Args:
            configuration: (..., nq).

        Returns:
            Mass matrix (..., nv, nv) of the generalized velocity.

        Raises:
            InvalidInput, KinematicsError: the configuration is invalid, or has no solution.
        """

    @abstractmethod
    def bias(
        self, configuration: ArrayLike, velocity: ArrayLike, /, *, base: BaseMotion | None = None
    ) -> FloatArray:
        """Compute the bias forces: gravity, springs, velocity terms and friction.

        They are the generalized forces at zero acceleration.

        Args:
            configuration: (..., nq).
            velocity: generalized velocity (..., nv).
            base: motion of the base; at rest by default.

        Returns:
            Generalized forces (..., nv).

        Raises:
            InvalidInput, KinematicsError: the configuration is invalid, or has no solution.
        """

    def _made(self, model: Any) -> Self:
        """Return a copy with another model and the same class, options and frames."""
        make: Callable[..., Self] = type(self)
        made = make(model, *self._options)
        made._added = self._added
        return made

    def without_dry_friction(self, undamped: Collection[str] = ()) -> Self:
        """Return a copy of the mechanism without dry friction.

        Joints whose names are in `undamped` also lose their viscous damping.
        """
        return self._made(self.model.without_dry_friction(undamped))

    @cached_property
    def _smooth(self) -> Self:
        """The mechanism without dry friction; the same object if it has none."""
        return self.without_dry_friction() if self.solver.friction.is_dry else self

    @property
    def parameters(self) -> Parameters:
        """Parameters in which the efforts are linear: masses, inertias and friction.

        They are ten for each body, the rotor inertias, and the friction of the joints.

        Raises:
            InvalidInput: this kind has no such parameters.
        """
        return replace(self._parameters, values=self._parameters.values.copy())

    @cached_property
    def _parameters(self) -> Parameters:
        joints = (parameter for parameter, _ in self.solver.parameters_of_joints)
        return combine_parameters(self.solver.parametric_bodies, joints)

    def regressor(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, /
    ) -> FloatArray:
        """Compute the regressor of a motion, the matrix that maps parameters to efforts.

        Args:
            configuration: (..., nq).
            velocity, acceleration: (..., nv).

        Returns:
            Regressor Y (..., n, p): efforts = Y @ values, for any values (p,) of `parameters`.

        Raises:
            InvalidInput: the shape is wrong, a value is not finite, or this kind has no parameters.
        """
        raise self.solver.unsupported("parameters")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.model, *self._options), {"_added": dict(self._added)}

    def gravity(self, configuration: ArrayLike, /, *, base: BaseMotion | None = None) -> FloatArray:
        """Compute the efforts that hold the mechanism at rest relative to its base.

        The efforts balance gravity and springs.

        Args:
            configuration: (..., nq).
            base: motion of the base; at rest by default.

        Returns:
            Efforts (..., n) [N or N m].
        """
        rest = np.zeros(self.coordinates.velocity_size)
        return self.inverse_dynamics(configuration, rest, rest, base=base)

    def without_friction(self) -> Self:
        """Return a copy of the mechanism without viscous and dry friction in its joints."""
        return self._made(self.model.without_friction())

    @cached_property
    def _rotorless(self) -> Self:
        return self.without_actuators()

    @cached_property
    def _drive_elasticity(self) -> elasticity.DriveElasticity:
        return elasticity.drive_elasticity(self)

    @cached_property
    def _frictionless(self) -> Self:
        return self.without_friction()

    @cached_property
    def _springless(self) -> Self:
        """The mechanism without springs; the same object if it has none."""
        springs = getattr(self.model, "has_springs", False)  # other classes of models have none
        return self._made(self.model.without_springs()) if springs else self

    def without_actuators(self) -> Self:
        """Return a copy with ideal actuators: no rotors, dry friction or motor limits."""
        return self._made(self.model.without_actuators())

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> Self:
        """Return a copy with a body fixed to the platform or the tip.

        Args:
            mass: [kg].
            com: center of mass (3,) [m] in the frame of the moving body.
            inertia: (3, 3) [kg m^2] about the center of mass, in the same axes; a point mass by
                default.

        Returns:
            The mechanism with the payload.

        Raises:
            ModelError: the mass is negative, a shape is wrong, or the inertia is not symmetric.
        """
        return self._made(self.model.with_payload(mass, com, inertia))


check_method_arguments(Mechanism, _SIZES)
