# SPDX-License-Identifier: Apache-2.0

"""Simulated mechanism, integrated by Runge-Kutta of order 4 as in Turney, Mudge and Lee (1980).

The semi-implicit Euler method is an alternative, see `dynamics.kernels.semi_implicit`.

Efforts are constant during a call and limited to the actuators. End stops act on driven joints
beyond the ends of their travel; passive joints have none, see `Plant.beyond_limits`. If a
simulation fails, the error suggests a remedy: friction and damping of the joints may need a shorter
step. Compiled simulations integrate strong damping implicitly.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np

from robodyn.algorithms import elasticity, travel
from robodyn.algorithms.stepping import step
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion, rows_of
from robodyn.checks import as_exact, as_integer, as_scalar, check_choice
from robodyn.dynamics import joint_friction
from robodyn.dynamics.compiled_run import StepSettings
from robodyn.dynamics.end_stops import EndStops
from robodyn.errors import InvalidInput, RobodynError, SimulationFailed, SingularMassMatrix
from robodyn.mechanism.mechanism import Mechanism

DEFAULT_STOPS = EndStops()
StepMethod = Literal["rk4", "semi_implicit"]
STEP_METHODS: tuple[str, ...] = get_args(StepMethod)


class Plant:
    """Simulated mechanism with its current state.

    Args:
        mechanism: mechanism that moves.
        configuration, velocity: initial state; home at rest by default.
        dt: length [s] of an integration step.
        end_stops: end stops at the position limits; None for no end stops.
        limit_efforts: limit efforts to those of the actuators, and to the torque-speed curves of
            their motors at the current velocities.
        integrator: `rk4`, Runge-Kutta of order 4, or `semi_implicit`, Euler's method with the
            velocity first, implicit in viscous damping: faster, of order 1, and stable for any
            friction and damping.

    Attributes:
        effort: (n,) [N or N m] last applied effort after limits; with torque-speed curves, at the
            beginning of the step.
        saturated: (n,) number of times that the effort of each actuator was limited.
        motor_positions, motor_velocities: (n,) positions [m or rad] and velocities [m/s or rad/s]
            of the motors of elastic drives, converted to the joint side of the transmission; None
            for rigid drives.

    Raises:
        InvalidInput: a state has the wrong shape, the step is not positive, an elastic drive has no
            rotor inertia, or the integrator does not support the mechanism.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        configuration: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        *,
        dt: float = 1e-3,
        end_stops: EndStops | None = DEFAULT_STOPS,
        limit_efforts: bool = True,
        integrator: StepMethod = "rk4",
    ) -> None:
        self.mechanism = mechanism
        self.is_semi_implicit = is_semi_implicit(mechanism, integrator)
        self._is_elastic = mechanism.drives.elasticity is not None
        self.dt = as_scalar("dt", dt, "s", above=0.0)
        self.end_stops = None if end_stops is None else end_stops.for_step(self.dt)
        self.limits_efforts = limit_efforts
        self.limits_motors = limit_efforts and mechanism.drives.has_torque_speed_curve
        self.reset(configuration, velocity)

    def __repr__(self) -> str:
        return f"Plant({self.mechanism!r}, dt={self.dt:g})"

    def reset(
        self, configuration: ArrayLike | None = None, velocity: ArrayLike | None = None
    ) -> None:
        """Set the state, by default home at rest; efforts become zero.

        The motors of elastic drives hold the configuration against gravity.

        Args:
            configuration: (nq,); home by default.
            velocity: (nv,); zero by default.

        Raises:
            InvalidInput: shapes are wrong or values not finite.
            KinematicsError: the kinematics have no solution at the configuration.
        """
        if configuration is None:
            configuration = self.mechanism.home
        rest = self.mechanism.difference(configuration, configuration)
        if rest.ndim != 1:
            raise InvalidInput(
                f"configuration has shape {np.shape(configuration)}, expected a single "
                "configuration",
                value=configuration,
            )
        self.mechanism.joint_positions(configuration)  # raises if the geometry is undefined
        self.velocity = as_exact("velocity", rest if velocity is None else velocity, rest.shape)
        self.configuration = self.mechanism.advance(configuration, rest)
        self.motor_positions: FloatArray | None = None
        self.motor_velocities: FloatArray | None = None
        if self._is_elastic:
            self.motor_positions, self.motor_velocities = elasticity.motors_in_equilibrium(
                self.mechanism, self.configuration, self.velocity
            )
        self.effort = np.zeros(len(self.mechanism.joint_names))
        self.saturated = np.zeros(len(self.mechanism.joint_names), dtype=np.int64)

    @property
    def state(self) -> tuple[FloatArray, FloatArray]:
        """Configuration and velocity, including those of the motors of elastic drives.

        They are arrays (nq,) and (nv,); for elastic drives, the positions (n,) of the motors are
        appended to the configuration, and their velocities (n,) to the velocity.
        """
        if self.motor_positions is None or self.motor_velocities is None:
            return self.configuration, self.velocity
        return (
            np.concatenate([self.configuration, self.motor_positions]),
            np.concatenate([self.velocity, self.motor_velocities]),
        )

    @state.setter
    def state(self, rows: tuple[FloatArray, FloatArray]) -> None:
        nq, nv = len(self.configuration), len(self.velocity)
        self.configuration, self.velocity = rows[0][:nq], rows[1][:nv]
        if self._is_elastic:
            self.motor_positions, self.motor_velocities = rows[0][nq:], rows[1][nv:]

    def measured(self, side: str = "motor") -> tuple[FloatArray, FloatArray]:
        """Return the state that encoders measure.

        Args:
            side: side of the encoders, `motor` or `joint`; both are equal for rigid drives.

        Returns:
            Configuration (nq,) and velocity (nv,).

        Raises:
            KinematicsError: no configuration has the positions of the motors.
        """
        if side == "joint" or self.motor_positions is None or self.motor_velocities is None:
            return self.configuration, self.velocity
        return elasticity.state_of_motors(
            self.mechanism, self.motor_positions, self.motor_velocities, self.configuration
        )

    @property
    def beyond_limits(self) -> tuple[str, ...]:
        """Names of the joints, passive ones included, whose positions exceed their limits.

        The limits include the cones of the joints at the legs' ends. Passive joints have no end
        stops in a simulation.
        """
        return travel.exceeded_limits(self.mechanism, self.configuration)

    def stop(self) -> None:
        """Set the velocity and the applied efforts to zero, as closing brakes would."""
        self.state = self.state[0], np.zeros_like(self.state[1])
        self.effort = np.zeros_like(self.effort)

    def available_efforts(
        self, effort: FloatArray, configuration: FloatArray, velocity: FloatArray
    ) -> FloatArray:
        """Return efforts reduced to those that the motors can exert at given states.

        Args:
            effort: (..., n) [N or N m] requested efforts.
            configuration, velocity: states (..., k), see `state`.

        Returns:
            Efforts (..., n) [N or N m].
        """
        if not self.limits_motors:
            return effort
        if self._is_elastic:
            rates = velocity[..., -len(self.effort) :]
        else:
            rates = self.mechanism.joint_velocities(configuration, velocity)
        return self.mechanism.drives.cut_efforts(
            effort, self.mechanism.drives.effort_limits_at(rates)
        )

    def saturate(self, effort: ArrayLike) -> FloatArray:
        """Return an effort limited to what the actuators can exert at standstill.

        Args:
            effort: (n,) [N or N m] requested efforts.

        Returns:
            Efforts (n,) [N or N m]; a copy of the requested ones if the plant does not limit
            efforts.

        Raises:
            InvalidInput: the shape is wrong or a value is not finite.
        """
        required = as_exact("effort", effort, self.effort.shape, "N or N m")
        return (
            self.mechanism.drives.cut_efforts(required)
            if self.limits_efforts
            else np.array(required)
        )

    def hold(
        self,
        effort: ArrayLike,
        steps: int,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
    ) -> None:
        """Advance by `steps` steps with a constant effort and external wrench.

        Args:
            effort: (n,) [N or N m] commanded efforts.
            steps: number of steps of dt.
            wrench: (6,) [N, N m] on the body about its reference point, base frame; zero by
                default.
            base: constant motion of the base, or a batch of three motions, at the start, midpoint
                and end of each step; at rest by default.

        Raises:
            InvalidInput: the shape is wrong, a value is not finite, or `steps` is below 1.
            SimulationFailed: the state would not be finite. The plant keeps its state before the
                call, and the error contains the last finite state.
        """
        steps = as_integer("steps", steps, at_least=1)
        held = self.saturate(effort)
        applied = self.available_efforts(held, *self.state)
        load = np.zeros(6) if wrench is None else as_exact("wrench", wrench, (6,), "N, N m")
        if base is not None:
            load = append_base_motion(load, rows_of(base))
        motors = None
        if self.motor_positions is not None and self.motor_velocities is not None:
            motors = np.array([self.motor_positions, self.motor_velocities])
        try:
            settings = StepSettings(self.end_stops, self.limits_motors, self.is_semi_implicit)
            state = self.configuration, self.velocity
            self.configuration, self.velocity = step(
                self.mechanism, *state, held, load, self.dt, steps, settings, motors
            )
        except SimulationFailed as error:
            why = suggest_remedy(self.mechanism, self.configuration, self.velocity, self.dt)
            raise SimulationFailed(f"{error}; {why}", time=error.time, value=error.value) from error
        if motors is not None:
            self.motor_positions, self.motor_velocities = motors
        self.saturated = self.saturated + (applied != effort)
        self.effort = applied


def is_semi_implicit(mechanism: Mechanism, integrator: str) -> bool:
    """Return whether an integrator is `semi_implicit`; reject unsuitable integrators.

    Raises:
        InvalidInput: the integrator is unknown, or does not support the mechanism.
    """
    check_choice("integrator", integrator, STEP_METHODS)
    if integrator == "rk4":
        return False
    has_rigid_drives = mechanism.drives.elasticity is None
    if has_rigid_drives and mechanism.solver.compiled_simulation(mechanism) is not None:
        return True
    what = "compiled simulation" if has_rigid_drives else "rigid drives"
    raise InvalidInput(
        f"integrator is {integrator!r}, which requires {what}, but {mechanism.name} has none; "
        "choose rk4",
        value=integrator,
    )


def append_base_motion(wrench: FloatArray, rows: FloatArray) -> FloatArray:
    """Concatenate wrenches (..., 6) and motions of the base (..., 9) to (..., 15)."""
    shape = np.broadcast_shapes(wrench.shape[:-1], rows.shape[:-1])
    parts = (np.broadcast_to(part, (*shape, part.shape[-1])) for part in (wrench, rows))
    return np.concatenate(list(parts), axis=-1)


# Runge-Kutta of order 4 is stable for decay rates up to this over the step.
STABLE = 2.785


def suggest_remedy(
    mechanism: Mechanism, configuration: FloatArray, velocity: FloatArray, dt: float
) -> str:
    """Return a suggestion of a remedy for a simulation that diverged.

    Args:
        mechanism: simulated mechanism.
        configuration, velocity: (nq,) and (nv,) last finite state.
        dt: [s] integration step.

    Returns:
        A sentence, which depends on the friction of the joints and on the step.
    """
    try:
        mechanism.forward_dynamics(configuration, velocity, np.zeros(len(mechanism.joint_names)))
    except SingularMassMatrix:
        return (
            "a description without masses supports kinematics and visualization, but not dynamics"
        )
    except RobodynError:
        pass
    if mechanism.drives.elasticity is not None:
        fastest = elasticity.fastest_vibration(mechanism, configuration)
        return (
            f"the step is {dt:g} s, and the elastic drives vibrate at up to "
            f"{fastest / (2.0 * math.pi):.3g} Hz: choose a step (dt) below {1.0 / fastest:.2g} s"
        )
    decays = mechanism.solver.friction.decays
    rate = float(decays.max())
    friction = _friction_of(mechanism, int(decays.argmax()))
    if rate * dt > STABLE and mechanism.solver.compiled_simulation(mechanism) is None:
        return (
            f"the step of {dt:g} s is too long for the friction of {friction}, which damps a "
            f"velocity at {rate:.3g} 1/s: choose a step (dt) below {STABLE / rate:.2g} s, or no "
            "friction"
        )
    return (
        f"the step is {dt:g} s, and the strongest friction is that of {friction}: try a shorter "
        "step (dt), smaller efforts or gains, or no friction"
    )


def _friction_of(mechanism: Mechanism, index: int) -> str:
    """Describe, for a message, the friction and damping of a coordinate's joint."""
    joint, names = mechanism.coordinates.velocity_names[index], mechanism.joint_names
    index = names.index(joint) if joint in names else 0
    parts = []
    for name, value in joint_friction.joint_friction(mechanism)[index].items():
        numbers = np.ravel(np.asarray(value, dtype=np.float64))
        parts.append(f"{name} {' '.join(f'{number:g}' for number in numbers)}")
    return f"joint {names[index]!r} ({', '.join(parts)})"
