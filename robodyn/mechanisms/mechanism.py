# SPDX-License-Identifier: Apache-2.0

"""The base class of every kind of mechanism; planners, controllers, nodes and views use only this.

A mechanism works in its own coordinates, of three sizes that may all differ: a *configuration*
(..., nq), its *velocity* and *acceleration* (..., nv), and *efforts* (..., n) of its driven joints.
For a Stewart platform the configuration is a pose (..., 7) and the velocity a twist (..., 6); for
a serial arm they are q and qd, both (..., n). `coordinates` says what the numbers are.
Configurations lie on a manifold, so code outside a mechanism never subtracts two of them but calls
`difference` and `advance`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from robodyn.actuators import Actuator
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion
from robodyn.checks import as_array, guard_methods
from robodyn.errors import InvalidInput, ModelError
from robodyn.mechanisms import conditioning, derivatives, linear_in_parameters, link_motion, motions
from robodyn.mechanisms import energy as energies
from robodyn.mechanisms import travel as travelling
from robodyn.mechanisms.common import compiled_run
from robodyn.mechanisms.common.body_parameters import bodies_of_parameters
from robodyn.mechanisms.common.coordinates import Coordinates, Unit, joint_coordinates
from robodyn.mechanisms.common.description import DrivenJoint, Nouns, driven_joint
from robodyn.mechanisms.common.end_stops import EndStops
from robodyn.mechanisms.common.estimation import Encoders, Estimator
from robodyn.mechanisms.common.joint_friction import JointFriction, decays, friction_rows
from robodyn.mechanisms.common.motion import JointStates
from robodyn.mechanisms.common.parameters import OF_BODY, Parameters, collected, with_values
from robodyn.mechanisms.common.single_calls import UncheckedDynamics
from robodyn.mechanisms.comparison import description
from robodyn.mechanisms.motors import Drives
from robodyn.mechanisms.solver import Solver
from robodyn.model.body import Link
from robodyn.model.model import Model
from robodyn.numerics.broadcasting import flatten

if TYPE_CHECKING:
    from typing_extensions import Self

# Sizes of a step's load: a wrench, and the motion of the base behind it.
LOADS = 6, 15


class Mechanism(ABC):
    """A mechanism of any kind, in its own coordinates; methods are pure functions of its model.

    A configuration is (..., nq), its velocity and acceleration (..., nv), efforts (..., n) of the
    driven joints [N m, N where a joint slides]; a wrench (..., 6) is what the surroundings exert on
    the body, force [N], then moment about its reference point [N m], base frame. For a Stewart
    platform the configuration is a pose (..., 7) [m, -] and the velocity a twist (..., 6)
    [m/s, rad/s]; for an arm they are q and qd (..., n) [rad, m where a joint slides]; for closed
    loops the positions of all tree joints and the rates of the independent ones. `coordinates` says
    what the numbers are.

    What several kinds compute alike are functions, of the modules named in the table below; what
    each computes by kernels of its own is its `solver`'s.

    Attributes:
        kind: the name under which its kind is registered: `stewart`, `serial` ...
        model: the description it was built from, as frozen data.
        nouns: words for messages, labels and tables.
        solver_type: of its `solver`.
    """

    kind: str
    model: Any
    nouns: Nouns = Nouns(mechanism="arm", joint="joint", body="tip", effort="torque")
    solver_type: ClassVar[type[Solver]] = Solver
    # frames of `with_frame`: link and frame (4, 4) on it, by name
    _added: Mapping[str, tuple[str, FloatArray]] = MappingProxyType({})

    travel_limits = cached_property(travelling.travel_limits)
    travel = travelling.travel
    within_travel = travelling.within_travel
    leg_bends = travelling.leg_bends
    _passive_travel = cached_property(travelling._passive_travel)

    singular_values = conditioning.singular_values
    condition_number = conditioning.condition_number
    singularities = property(conditioning.singularities)

    link_names = property(link_motion.link_names)
    link_pose = link_motion.link_pose
    link_jacobian = link_motion.link_jacobian
    link_twist = link_motion.link_twist
    link_acceleration = link_motion.link_acceleration
    center_of_mass = link_motion.center_of_mass
    momentum = link_motion.momentum
    centroidal_momentum_matrix = link_motion.centroidal_momentum_matrix
    with_frame = link_motion.with_frame

    energy = energies.energy
    coriolis_matrix = energies.coriolis_matrix
    inverse_dynamics_derivatives = derivatives.inverse_dynamics_derivatives
    forward_dynamics_derivatives = derivatives.forward_dynamics_derivatives
    linearize = derivatives.linearize
    reference_regressor = linear_in_parameters.reference_regressor

    @cached_property
    def solver(self) -> Any:
        """What its kind computes by kernels of its own."""
        return self.solver_type(self)

    def __init_subclass__(cls, **options: Any) -> None:
        """Wrap the public methods of a kind, so that wrong arguments end in `InvalidInput`."""
        super().__init_subclass__(**options)
        guard_methods(cls)

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return str(self.model.name)

    @property
    def source(self) -> str:
        """File or model the description was read from; empty if it was built in code."""
        return str(self.model.source)

    @cached_property
    def frames(self) -> tuple[str, str]:
        """Names of the base frame, and of the frame of the platform or the arm's tip."""
        return self.model.base_link, self.model.tip_link

    @property
    def gravity_vector(self) -> FloatArray:
        """(3,) [m/s^2] base frame."""
        gravity: FloatArray = self.model.gravity
        return gravity

    @property
    def options(self) -> tuple[object, ...]:
        """What its class takes besides the model, as frozen data."""
        return ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mechanism) or other.kind != self.kind:
            return NotImplemented
        return description(self) == description(other)

    __hash__ = None  # type: ignore[assignment]  # equal within rounding cannot hash alike

    @property
    @abstractmethod
    def bodies(self) -> Sequence[Link]:
        """The bodies that move, with their masses and inertias."""

    @property
    def characteristic_length(self) -> float:
        """[m] that makes the condition number independent of units; 1 where none is natural."""
        return 1.0

    @property
    @abstractmethod
    def size(self) -> float:
        """[m] a length of the order of the whole mechanism, positive."""

    @cached_property
    def driven_joints(self) -> tuple[DrivenJoint, ...]:
        """(n,) what the model says of them; a kind gives this, or their names, units and limits."""
        if isinstance(self.model, Model):
            return tuple(map(driven_joint, self.model.driven_joints))
        given = zip(
            self.joint_names, self.joint_units, self.position_limits, self.velocity_limits,
            self.effort_limits, strict=True,
        )  # fmt: skip
        return tuple(DrivenJoint(*row, Actuator()) for row in given)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """(n,) the driven joints, in the order of every effort array."""
        return tuple(joint.name for joint in self.driven_joints)

    @property
    def all_joint_names(self) -> tuple[str, ...]:
        """All joints of `joint_states`, passive ones included."""
        return self.joint_names

    @property
    def passive_joint_names(self) -> tuple[str, ...]:
        """The joints of `all_joint_names` that are not driven."""
        return tuple(name for name in self.all_joint_names if name not in self.joint_names)

    @cached_property
    def joint_units(self) -> tuple[Unit, ...]:
        """(n,) `m` or `rad` of the driven joints' positions."""
        return tuple(joint.unit for joint in self.driven_joints)

    @property
    def effort_limits(self) -> FloatArray:
        """(n,) [N or N m], infinite where the model gives none; of its motor at standstill."""
        return np.array(self._limits[:, 3])

    @property
    def position_limits(self) -> FloatArray:
        """(n, 2) [m or rad] of the driven joints, infinite where the model gives none."""
        return np.array(self._limits[:, :2])

    @property
    def velocity_limits(self) -> FloatArray:
        """(n,) [m/s or rad/s] of the driven joints and their motors, infinite if not given."""
        return np.array(self._limits[:, 2])

    @cached_property
    def _limits(self) -> FloatArray:
        """(n, 4) of positions, rates and efforts; the smaller of a joint's and its motor's."""
        rows = []
        for joint in self.driven_joints:
            motor = joint.actuator
            rate = min(joint.velocity, motor.rate_limit)
            rows.append([*np.asarray(joint.position), rate, min(joint.effort, motor.effort_limit)])
        return np.array(rows, dtype=np.float64)

    @cached_property
    def actuators(self) -> Sequence[Actuator]:
        """(n,) what drives each joint, as described; ideal where the description is silent."""
        return tuple(joint.actuator for joint in self.driven_joints)

    @cached_property
    def drives(self) -> Drives:
        """The driven joints' units, ranges and motors."""
        return Drives(self)

    def effort_limits_at(self, rates: ArrayLike, /) -> FloatArray:
        """Largest efforts (..., n) [N or N m] at rates (..., n) of the driven joints.

        Those of `effort_limits`, or less where a motor's torque-speed curve has fallen; none beyond
        its end.

        Raises:
            InvalidInput: a wrong shape, or not finite.
        """
        return self.drives.effort_limits_at(rates)

    def motor_torques(self, efforts: ArrayLike, rates: ArrayLike | None = None) -> FloatArray:
        """Torques (..., n) [N m] at the motors for efforts (..., n) [N or N m] of the joints.

        Where an actuator's efficiency is below 1, `rates` (..., n) [m/s or rad/s] of the joints
        say whether motor or load drives; without them the motor does.

        Raises:
            InvalidInput: a wrong shape, not finite, or a joint that slides without a screw's lead.
        """
        return self.drives.torques(efforts, rates)

    def efforts_of(self, motor_torques: ArrayLike, rates: ArrayLike | None = None) -> FloatArray:
        """Efforts (..., n) [N or N m] of motor torques (..., n) [N m]: inverts `motor_torques`.

        Raises:
            InvalidInput: as for `motor_torques`.
        """
        return self.drives.efforts(motor_torques, rates)

    def motor_currents(self, efforts: ArrayLike, rates: ArrayLike | None = None) -> FloatArray:
        """Currents (..., n) [A] of the motors for efforts (..., n) [N or N m] of the joints.

        Raises:
            InvalidInput: as for `motor_torques`, or a motor without a torque constant.
        """
        return np.asarray(self.motor_torques(efforts, rates) / self.drives.torque_constants)

    def efforts_of_currents(
        self, currents: ArrayLike, rates: ArrayLike | None = None
    ) -> FloatArray:
        """Efforts (..., n) [N or N m] of motor currents (..., n) [A]: inverts `motor_currents`.

        Raises:
            InvalidInput: as for `motor_currents`.
        """
        constants = self.drives.torque_constants
        given = as_array("currents", currents, constants.shape, "A")
        return self.efforts_of(given * constants, rates)

    @cached_property
    def coordinates(self) -> Coordinates:
        """The meaning and units of the numbers of a configuration and of a velocity."""
        return joint_coordinates(self.joint_names, self.joint_units, motions.wrapping_joints(self))

    @property
    @abstractmethod
    def home(self) -> FloatArray:
        """The home configuration, the default start.

        Raises:
            InvalidInput: the model has none.
        """

    @abstractmethod
    def body_pose(self, configuration: ArrayLike, /) -> FloatArray:
        """Pose (..., 7) of the platform or the arm's tip in the base frame."""

    def forward_kinematics(self, positions: ArrayLike, /) -> FloatArray:
        """Pose (..., 7) of the body: x y z [m], qx qy qz qw, base frame.

        Of configurations; a platform takes the positions of its driven joints, its leg lengths.
        """
        return self.body_pose(positions)

    @abstractmethod
    def jacobian(self, configuration: ArrayLike, /) -> FloatArray:
        """J (..., 6, k), linear over angular, of the body at `body_pose`, base frame.

        twist = J @ velocity. A platform's is H, which maps forces to a wrench: see
        `twist_jacobian` and `joint_jacobian`, which mean the same for every kind.
        """

    def twist_jacobian(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., 6, nv), linear over angular: twist of the body = it @ velocity, base frame."""
        return self.jacobian(configuration)

    def joint_jacobian(self, configuration: ArrayLike, /) -> FloatArray:
        """Compute the matrix that maps the velocity to the rates of the driven joints.

        Args:
            configuration: (..., nq).

        Returns:
            (..., n, nv): rates of `joint_names` [rad/s or m/s] = it @ velocity.

        Raises:
            InvalidInput, KinematicsError: as `jacobian`.
        """
        shape = motions.joint_values(self, "configuration", configuration).shape[:-1]
        n = len(self.joint_names)
        return np.array(np.broadcast_to(np.eye(n), (*shape, n, n)))

    def difference(self, start: ArrayLike, goal: ArrayLike, /) -> FloatArray:
        """The displacement (..., nv), in coordinates of `velocity`, that takes `start` to `goal`.

        A continuous joint takes the short way, see `wrapping_joints`.
        """
        way = np.asarray(
            motions.joint_values(self, "goal", goal) - motions.joint_values(self, "start", start)
        )
        return self.coordinates.shortest(way)

    def advance(self, configuration: ArrayLike, displacement: ArrayLike, /) -> FloatArray:
        """The inverse of `difference`: the configuration (..., nq) after a displacement.

        Turns of continuous joints are counted on, not taken off.

        Raises:
            NoSolution: there is no such configuration.
        """
        step = motions.joint_values(self, "displacement", displacement)
        return np.asarray(motions.joint_values(self, "configuration", configuration) + step)

    def joint_positions(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., n) [m or rad] positions of the driven joints."""
        return motions.joint_values(self, "configuration", configuration)

    def joint_velocities(self, configuration: ArrayLike, velocity: ArrayLike, /) -> FloatArray:
        """(..., n) [m/s or rad/s] rates of the driven joints."""
        given = {"configuration": configuration, "velocity": velocity}
        shape, (_, rates) = flatten(
            **{n: motions.joint_values(self, n, value) for n, value in given.items()}
        )
        return np.asarray(rates.reshape(*shape, rates.shape[-1]))

    def joint_states(
        self, configuration: ArrayLike, velocity: ArrayLike | None = None, /
    ) -> JointStates:
        """Names, positions and velocities of all joints, as the URDF measures them."""
        positions = motions.joint_values(self, "configuration", configuration)
        rates = np.zeros(len(self.joint_names)) if velocity is None else velocity
        pair = np.broadcast_arrays(positions, motions.joint_values(self, "velocity", rates))
        return JointStates(self.joint_names, *pair)

    def assemble(self, driven: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """The configuration (..., nq) with these positions (..., n) of the driven joints.

        `guess` is a configuration near it, by default home.

        Raises:
            NoSolution: none was found.
        """
        return motions.joint_values(self, "driven", driven)

    @property
    def independent_joints(self) -> tuple[str, ...]:
        """(m,) names of the joints whose motion determines that of the mechanism.

        A joint trajectory is of these. They may be fewer than the driven ones (a redundantly driven
        loop), and both fewer than all joints.
        """
        return self.joint_names

    def configuration_at(self, pose: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """The configuration (nq,) near a guess, by default home, with the body at a pose (7,).

        Raises:
            NoSolution: none was found; the message says what cannot be reached.
            InvalidInput: wrong shapes, or a mechanism that cannot be asked for poses.
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
        """(..., n) efforts of the driven joints for a motion on a base that may move, too."""

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
        """The acceleration (..., nv) that efforts (..., n) cause.

        A joint at rest has no dry friction here: which joints friction holds is up to the
        simulation. Inverse dynamics takes the friction of the side to which a planned motion
        accelerates, so at rest the two are inverse to each other without dry friction only.
        """

    @abstractmethod
    def mass_matrix(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., nv, nv), symmetric positive definite."""

    @abstractmethod
    def bias(
        self, configuration: ArrayLike, velocity: ArrayLike, /, *, base: BaseMotion | None = None
    ) -> FloatArray:
        """(..., nv) gravity, velocity terms and friction, on a base that may move, too."""

    def _made(self, model: Any) -> Self:
        """One of the same class, options and frames from another model."""
        make: Callable[..., Self] = type(self)
        made = make(model, *self.options)
        made._added = self._added
        return made

    def without_dry_friction(self, undamped: Collection[str] = ()) -> Self:
        """The same mechanism without dry friction, and without damping at driven joints named."""
        return self._made(self.model.without_dry_friction(undamped))

    @cached_property
    def friction(self) -> JointFriction:
        """Friction of the joints, as simulations need it."""
        return JointFriction(friction_rows(self), decays(self))

    @cached_property
    def _smooth(self) -> Self:
        """Itself without dry friction; the mechanism itself if it has none."""
        return self.without_dry_friction() if self.friction.is_dry else self

    @property
    def parameters(self) -> Parameters:
        """What efforts are linear in: ten numbers of each body, then rotors and friction of joints.

        Raises:
            InvalidInput: a kind that has none.
        """
        return replace(self._parameters, values=self._parameters.values.copy())

    @cached_property
    def _parameters(self) -> Parameters:
        joints = (parameter for parameter, _ in self.solver.parameters_of_joints)
        return collected(self.solver.parametric_bodies, joints)

    def regressor(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, /
    ) -> FloatArray:
        """Y (..., n, p): efforts = Y @ parameters.values, for any values of the parameters.

        Raises:
            InvalidInput: a wrong shape, not finite, or a kind that has none.
        """
        raise self.solver.unanswered("parameters")

    def with_parameters(self, values: ArrayLike, /) -> Self:
        """The same mechanism with other values (p,) of its `parameters`.

        Raises:
            InvalidInput: a wrong number of values, not finite, or a kind that has none.
            ModelError: values that no mechanism can have, such as a friction below zero.
        """
        own = self._parameters
        given = own.checked(values)
        numbers = given[: len(OF_BODY) * len(own.bodies)].reshape(-1, len(OF_BODY))
        bodies = self.solver.on_links(bodies_of_parameters(numbers))
        return self._made(
            with_values(self.model, bodies, self.solver.by_joint(own.of_joints(given)))
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.model, *self.options), {"_added": dict(self._added)}

    @property
    def unchecked(self) -> UncheckedDynamics:
        """Unchecked calls for single states in inner loops, results written into given arrays."""
        return UncheckedDynamics(self)

    def gravity(self, configuration: ArrayLike, /, *, base: BaseMotion | None = None) -> FloatArray:
        """Efforts (..., n) that hold the mechanism where it is on its base."""
        rest = np.zeros(self.coordinates.velocity_size)
        return self.inverse_dynamics(configuration, rest, rest, base=base)

    def without_friction(self) -> Self:
        """The same mechanism with neither viscous nor dry friction in its joints."""
        return self._made(self.model.without_friction())

    @cached_property
    def _frictionless(self) -> Self:
        return self.without_friction()

    def without_actuators(self) -> Self:
        """The same mechanism with ideal actuators: no rotors, no dry friction, no motor limits."""
        return self._made(self.model.without_actuators())

    def with_gravity(self, gravity: ArrayLike, /) -> Self:
        """Return the same mechanism under another gravity.

        Args:
            gravity: (3,) [m/s^2] base frame; zeros for drives that compensate gravity themselves.

        Raises:
            ModelError: a wrong shape, or not finite.
        """
        return self._made(self.model.with_gravity(gravity))

    def with_cones(self, base_cone: float | None = None, body_cone: float | None = None) -> Self:
        """Return the mechanism with limits of how far joints at the legs' ends bend from home.

        Args:
            base_cone: [rad] of the joints at the base; None for as it is, infinite for any.
            body_cone: [rad] of those at the moving body.

        Raises:
            InvalidInput: a mechanism without straight legs.
            ModelError: a cone that is not positive.
        """
        if not travelling.leg_names(self):
            raise InvalidInput(
                f"{self.name} has no straight legs whose joints' cones could be limited",
                value=self.kind,
            )
        return self._made(self.model.with_cones(base_cone, body_cone))

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> Self:
        """The same mechanism with a body fixed to its platform or held at its tip.

        mass [kg], com (3,) [m] and inertia (3, 3) [kg m^2] about it, in the moving body's frame; a
        point by default.
        """
        return self._made(self.model.with_payload(mass, com, inertia))

    def state_estimator(self, initial_pose: ArrayLike | None, encoders: Encoders) -> Estimator:
        """Its state from readings of its driven joints, one after another.

        The search begins where the body has the initial pose (7,), by default at home.

        Raises:
            ModelError: a kind that needs none.
            RobodynError: joints that do not determine the state, encoders or a pose that are none.
        """
        raise ModelError(
            f"{self.name} needs no estimator: the joint_states of a real {self.nouns.mechanism} "
            "are its state"
        )

    def step(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        effort: FloatArray,
        load: FloatArray,
        dt: float,
        steps: int,
        end_stops: EndStops | None = None,
        *,
        limit_motors: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """Configuration and velocity after `steps` of dt [s], effort and load held; unchecked.

        The load is a wrench (6,), or (15,) with the `rows` of a `BaseMotion` after it, or (3, 15)
        at the beginning, middle and end of the step.

        With `limit_motors`, no motor has more than `effort_limits_at` says.

        Raises:
            InvalidInput: a load of another size.
            SimulationFailed: no finite state follows; its `value` is the last good state.
        """
        if load.shape[-1] not in LOADS:
            as_array("load", load, (LOADS[0],), "N, N m")
        state, loads = (configuration, velocity), (effort, load)
        rollout = compiled_run.held(*state, *loads, dt, steps, end_stops, limit_motors)
        outcome = self._own_run.advance(rollout, 0, 1)
        return compiled_run.reached(rollout, outcome, self.solver.why_no_step)

    @cached_property
    def _own_run(self) -> Any:
        return self.solver.run_under(self)


guard_methods(Mechanism)
