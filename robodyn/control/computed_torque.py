# SPDX-License-Identifier: Apache-2.0

"""Controllers, in particular computed torque: inverse dynamics of a corrected acceleration.

Lee, Chung, Mudge and Turney, eq. 4.1 and 4.4:

    effort = inverse_dynamics(q, qd, qdd_d + Kv (qd_d - qd) + Kp (q_d - q))

If the model is exact, the error satisfies e'' + Kv e' + Kp e = 0. For a platform the error is the
displacement and the twist difference.

Friction is compensated for the planned motion instead of the measured one if this matters. The
measured velocity of a slow joint changes its sign with every disturbance, and the dry friction with
it; the planned velocity changes its sign only with the plan. Viscous friction that makes velocities
decay within a few control periods cannot be compensated for the measured velocity either, because
that velocity decays before the effort acts. It is compensated for the velocity

    planned velocity + Kv^-1 Kp e

so that the error e decays like exp(-Kp/Kv t) even if friction exceeds inertia. The mechanism
decides which friction this concerns, see `without_planned_friction`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from robodyn.algorithms.motion import Motion
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion
from robodyn.checks import as_array, as_scalar
from robodyn.dynamics import joint_friction
from robodyn.dynamics.kernels.control_laws import corrected_acceleration
from robodyn.dynamics.kernels.effort_reduction import reduce_efforts
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Trajectory


class Controller(Protocol):
    """Protocol of a controller: a callable that returns efforts for a time and a state."""

    def __call__(
        self, time: float, configuration: FloatArray, velocity: FloatArray, trajectory: Trajectory
    ) -> FloatArray:
        """Return the efforts (n,) [N or N m] for a state at `time` [s] of the trajectory.

        The state is a measured configuration (nq,) and velocity (nv,); `trajectory` is the motion
        to follow.
        """


class ComputedTorque:
    """Computed-torque controller: feedback linearization with proportional-derivative gains.

    Args:
        mechanism: model of the controller, which may differ from the plant.
        kp: proportional gain [1/s^2]; one number, (nv,) or (nv, nv).
        kv: derivative gain [1/s]; one number, (nv,) or (nv, nv).
        preview: time [s] by which the desired acceleration is advanced. Half a control period
            compensates the delay of a zero-order hold.

    Raises:
        InvalidInput: gains are not positive (a matrix: not symmetric positive definite), so that
            the error would not decay.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        kp: ArrayLike = 100.0,
        kv: ArrayLike = 20.0,
        preview: float = 0.0,
    ) -> None:
        self.mechanism = mechanism
        size = mechanism.coordinates.velocity_size
        self.kp = gain("kp", kp, size)
        self.kv = gain("kv", kv, size)
        self.preview = as_scalar("preview", preview, "s", at_least=0.0)

    @cached_property
    def friction(self) -> PlannedFriction:
        """Joint friction that is compensated for the planned motion."""
        return PlannedFriction(self.mechanism, self.kp, self.kv)

    def __call__(
        self,
        time: float,
        configuration: FloatArray,
        velocity: FloatArray,
        trajectory: Trajectory,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Compute the efforts (n,) [N or N m] for a state measured at `time` [s].

        Args:
            time: time [s] of the trajectory.
            configuration: (nq,) measured configuration.
            velocity: (nv,) measured velocity.
            trajectory: motion to follow.
            wrench: (6,) [N, N m] external wrench on the body about its reference point, base frame;
                zero by default.
            base: motion of the base; at rest by default.

        Returns:
            Efforts (n,) [N or N m], not limited.

        Raises:
            KinematicsError: the mechanism has no solution at this configuration.
        """
        desired = self.with_preview(trajectory.sample(time), trajectory, time)
        error = self.mechanism.difference(configuration, desired.configuration)
        acceleration = self.feedback_acceleration(error, velocity, desired)
        friction = self.friction
        state = configuration, velocity, acceleration, wrench
        efforts: FloatArray = friction.rest.inverse_dynamics(*state, base=base)
        return efforts + self.for_friction(error, desired) if friction.exists else efforts

    def for_friction(self, error: FloatArray, desired: Motion) -> FloatArray:
        """Compute the efforts (n,) that compensate the friction of a desired motion.

        `error` (nv,) is the displacement from the measured to the desired configuration. It matters
        for strong viscous friction, which is compensated for the planned velocity + Kv^-1 Kp error.

        Raises:
            KinematicsError: the mechanism has no solution at the desired configuration.
        """
        return np.asarray(self.friction.efforts(desired) + self.friction.gain @ error)

    def with_preview(
        self, desired: Motion, trajectory: Trajectory | None, time: float | FloatArray
    ) -> Motion:
        """Return the desired motion with the acceleration planned for a later time.

        The acceleration is that of the trajectory `preview` [s] after `time` (...).
        """
        if not self.preview or trajectory is None:
            return desired
        ahead = trajectory.sample(time + self.preview)
        return desired._replace(acceleration=ahead.acceleration)

    def feedback_acceleration(
        self, error: FloatArray, velocity: FloatArray, desired: Motion
    ) -> FloatArray:
        """Compute the planned acceleration plus feedback of the errors (eq. 4.1).

        Args:
            error: (nv,) displacement from the measured to the desired configuration.
            velocity: (nv,) measured velocity.
            desired: planned configuration, velocity and acceleration.

        Returns:
            Generalized acceleration (nv,) for inverse dynamics.
        """
        rows = np.array([error, velocity, desired.velocity, desired.acceleration], dtype=np.float64)
        out: FloatArray = np.empty(len(error))
        error, measured, planned, acceleration = rows
        corrected_acceleration(self.kp, self.kv, error, measured, planned, acceleration, out)
        return out


class _InverseDynamicsLaw:
    """Controller that computes the inverse dynamics of a measured or planned motion."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism

    def __call__(
        self,
        time: float,
        configuration: FloatArray,
        velocity: FloatArray,
        trajectory: Trajectory,
        wrench: ArrayLike | None = None,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Compute the efforts (n,) for a measured state and base motion at `time` [s].

        Raises:
            KinematicsError: the configuration of the motion is singular.
        """
        motion = self._motion(time, configuration, trajectory)
        return self.mechanism.inverse_dynamics(*motion, wrench, base=base)

    def _motion(self, time: float, configuration: FloatArray, trajectory: Trajectory) -> Motion:
        raise NotImplementedError


class Feedforward(_InverseDynamicsLaw):
    """Controller that applies the efforts of the planned motion, without feedback."""

    def _motion(self, time: float, configuration: FloatArray, trajectory: Trajectory) -> Motion:
        return trajectory.sample(time)


class GravityCompensation(_InverseDynamicsLaw):
    """Controller that holds the measured configuration at rest; it ignores the trajectory."""

    def _motion(self, time: float, configuration: FloatArray, trajectory: Trajectory) -> Motion:
        rest = np.zeros(self.mechanism.coordinates.velocity_size)
        return Motion(configuration, rest, rest)


class ConstantEffort:
    """Controller with constant efforts (n,) [N or N m]; zeros let a mechanism move freely.

    Raises:
        InvalidInput: the efforts are not finite.
    """

    def __init__(self, effort: ArrayLike) -> None:
        self.effort = np.array(as_array("effort", effort, (), "N or N m"))

    def __call__(
        self, time: float, configuration: FloatArray, velocity: FloatArray, trajectory: Trajectory
    ) -> FloatArray:
        """Return the constant efforts (n,) [N or N m]."""
        return self.effort


def reduced_efforts(
    mechanism: Mechanism,
    configuration: FloatArray,
    resting: FloatArray,
    efforts: FloatArray,
    limits: FloatArray,
) -> FloatArray:
    """Reduce efforts to limits, keeping the direction of the acceleration they cause.

    Near singularities of type 2, where large efforts nearly cancel, efforts that are clipped one by
    one cause an acceleration in another direction. If no fraction of the acceleration is within the
    limits, the efforts are clipped, or all reduced in proportion, whichever causes the smaller
    error of the acceleration.

    Args:
        mechanism: mechanism with the drives.
        configuration: (..., nq) at which the efforts act.
        resting: (..., n) [N or N m] efforts at which the acceleration is zero.
        efforts: (..., n) [N or N m] efforts to reduce.
        limits: (..., n) [N or N m] largest magnitudes in both directions; a drive that acts in one
            direction only, such as a cable, exerts no effort in the other.

    Returns:
        Efforts (..., n) [N or N m], always finite and within the limits.

    Raises:
        KinematicsError: the configuration is singular.
    """
    M = np.array(mechanism.mass_matrix(configuration))
    L = np.array(mechanism.joint_jacobian(configuration))
    least, largest = mechanism.drives.effort_ends
    ends = np.concatenate([np.maximum(-limits, least), np.minimum(limits, largest)], axis=-1)
    out = mechanism.drives.cut_efforts(np.nan_to_num(efforts), limits)
    for row in np.ndindex(efforts.shape[:-1]):
        kept = np.empty_like(efforts[row])
        if reduce_efforts(resting[row], efforts[row], ends[row], M[row], L[row], kept):
            out[row] = kept
    return out


def limited_efforts(
    mechanism: Mechanism,
    motion: Motion,
    efforts: FloatArray,
    limits: FloatArray,
    base: BaseMotion | None = None,
) -> FloatArray:
    """Reduce the efforts of a motion to limits, keeping the acceleration's direction.

    Args:
        mechanism: mechanism with the drives.
        motion: motion of the mechanism, single or a batch.
        efforts: (..., n) [N or N m] that the motion requires. If one of them is not finite, the
            efforts of that instant are not changed.
        limits: (..., n) [N or N m] largest magnitudes in both directions.
        base: motion of the base; at rest by default.

    Returns:
        Efforts (..., n) [N or N m] within the limits, see `reduced_efforts`.

    Raises:
        KinematicsError: a configuration is singular.
    """
    exceeds = (mechanism.drives.cut_efforts(efforts, limits) != efforts).any(axis=-1)
    exceeds &= np.isfinite(efforts).all(axis=-1)
    if exceeds.any():
        q, v, a = (part[exceeds] for part in motion)
        resting = mechanism.inverse_dynamics(q, v, 0.0 * a, base=base)
        efforts = efforts.copy()
        efforts[exceeds] = reduced_efforts(mechanism, q, resting, efforts[exceeds], limits[exceeds])
    return efforts


def gain(name: str, value: ArrayLike, size: int) -> FloatArray:
    """Convert a controller gain to a matrix (size, size).

    Args:
        name: name of the gain in error messages.
        value: one number, the diagonal (size,), or a matrix (size, size).
        size: number of coordinates.

    Returns:
        Gain matrix (size, size), symmetric and positive definite.

    Raises:
        InvalidInput: the shape is wrong, or the matrix is not symmetric positive definite.
    """
    given = as_array(name, value, (), {"kp": "1/s^2", "kv": "1/s"}.get(name, ""))
    if given.shape not in {(), (size,), (size, size)}:
        raise InvalidInput(
            f"{name} has shape {given.shape}, expected one number, ({size},) or ({size}, {size})",
            value=value,
        )
    matrix = np.diag(np.broadcast_to(given, (size,))) if given.ndim < 2 else given
    symmetric = np.allclose(matrix, matrix.T, rtol=1e-9, atol=0.0)
    if not symmetric or not (np.linalg.eigvalsh(matrix) > 0.0).all():
        raise InvalidInput(
            f"{name} is {np.array2string(given)}, must be positive (if a matrix, symmetric "
            "positive definite) for the error to decay",
            value=value,
        )
    return np.array(matrix, order="C")


class PlannedFriction:
    """Joint friction that a controller compensates for the planned, not measured, motion.

    Args:
        mechanism: model of the controller.
        kp, kv: (nv, nv) gains, as in `ComputedTorque`.

    Attributes:
        rest: the mechanism without this friction; `mechanism` itself if there is none.
        exists: whether the mechanism has such friction.
        gain: (n, nv) efforts per unit of the displacement from the measured to the planned
            configuration; zero without strong viscous friction.
    """

    def __init__(self, mechanism: Mechanism, kp: FloatArray, kv: FloatArray) -> None:
        self._mechanism = mechanism
        self.rest = joint_friction.without_planned_friction(mechanism)
        self.exists = self.rest is not mechanism
        self.gain = joint_friction.planned_damping(mechanism, self.rest)
        if self.gain.any():
            self.gain = self.gain @ np.linalg.solve(kv, kp)

    def efforts(self, planned: Motion) -> FloatArray:
        """Compute efforts (..., n) [N or N m] that compensate a planned motion's friction.

        Raises:
            KinematicsError: the planned configuration is singular.
        """
        whole = self._mechanism.inverse_dynamics(*planned)
        efforts: FloatArray = whole - self.rest.inverse_dynamics(*planned)
        return efforts
