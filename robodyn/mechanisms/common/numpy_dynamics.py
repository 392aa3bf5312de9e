# SPDX-License-Identifier: Apache-2.0

"""Dynamics in joint coordinates from a mass matrix and a bias, in NumPy, without compiled kernels.

Sufficient to add a kind of mechanism from its equations of motion, M(q) qdd + h(q, qd) = tau + J'
f, where speed does not matter, or not yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.checks import as_array, as_scalar
from robodyn.errors import InvalidInput, SimulationFailed, SingularMassMatrix
from robodyn.mechanisms.common.effort_terms import EffortTerms
from robodyn.mechanisms.common.joint_space import JointSpace
from robodyn.numerics.singular_values import extreme_ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.end_stops import EndStops


class NumpyDynamics(JointSpace):
    """Base class of mechanisms that provide `mass_matrix`, `bias`, `jacobian` and `body_pose`.

    Everything broadcasts over leading dimensions: q, qd, qdd and efforts are (..., n), a wrench
    (..., 6) is force and moment about the tip, base frame.
    """

    position_limits: FloatArray

    def mass_matrix(self, configuration: ArrayLike) -> FloatArray:
        """M (..., n, n), symmetric positive definite."""
        raise NotImplementedError

    def bias(self, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
        """(..., n) gravity, velocity terms and friction."""
        raise NotImplementedError

    def jacobian(self, configuration: ArrayLike) -> FloatArray:
        """J (..., 6, n) of the tip, base frame: linear over angular."""
        raise NotImplementedError

    @property
    def unchecked(self) -> UncheckedCalls:
        """The same for inner loops."""
        return UncheckedCalls(self)

    def joint_positions(self, configuration: ArrayLike) -> FloatArray:
        """(..., n) [m or rad] the configuration itself, checked."""
        return self._joints("configuration", configuration)

    def joint_velocities(self, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
        """(..., n) [m/s or rad/s] the velocity itself, checked."""
        qd = self._joints("velocity", velocity)
        shape = np.broadcast_shapes(self._joints("configuration", configuration).shape, qd.shape)
        return np.broadcast_to(qd, shape)

    def difference(self, start: ArrayLike, goal: ArrayLike) -> FloatArray:
        """(..., n) goal - start."""
        return np.asarray(self._joints("goal", goal) - self._joints("start", start))

    def advance(self, configuration: ArrayLike, displacement: ArrayLike) -> FloatArray:
        """(..., n) configuration + displacement."""
        step = self._joints("displacement", displacement)
        return np.asarray(self._joints("configuration", configuration) + step)

    def configuration_rate(self, configuration: FloatArray, velocity: FloatArray) -> FloatArray:
        """The velocity (n,) itself."""
        return velocity

    def normalized(self, configuration: FloatArray) -> FloatArray:
        """The configuration (n,) itself."""
        return configuration

    def inverse_dynamics(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
    ) -> FloatArray:
        """Efforts (..., n) of a motion under a wrench (..., 6) on the tip."""
        qdd = self._joints("acceleration", acceleration)
        inertial = np.einsum("...ij,...j->...i", self.mass_matrix(configuration), qdd)
        return np.asarray(
            inertial + self.bias(configuration, velocity) - self._load(configuration, wrench)
        )

    def forward_dynamics(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        effort: ArrayLike,
        wrench: ArrayLike | None = None,
    ) -> FloatArray:
        """Accelerations (..., n) that efforts (..., n) and a wrench (..., 6) cause.

        Raises:
            SingularMassMatrix: a joint has no inertia to accelerate.
        """
        drive = self._joints("effort", effort) + self._load(configuration, wrench)
        rest = drive - self.bias(configuration, velocity)
        try:
            solved = np.linalg.solve(self.mass_matrix(configuration), rest[..., None])
        except np.linalg.LinAlgError as error:
            name = getattr(self, "name", "mechanism")
            raise SingularMassMatrix(
                f"{name}: a joint has no inertia to accelerate; give its link mass",
                value=configuration,
                index=(),
            ) from error
        return np.asarray(solved[..., 0], dtype=np.float64)

    def singular_values(
        self, configuration: ArrayLike, characteristic_length: float = 1.0
    ) -> FloatArray:
        """Singular values (..., min(6, n)) of J, largest first, its angular rows times a length."""
        length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
        J = np.array(self.jacobian(configuration))
        J[..., 3:, :] *= length
        return np.asarray(np.linalg.svd(J, compute_uv=False), dtype=np.float64)

    def condition_number(
        self, configuration: ArrayLike, characteristic_length: float = 1.0
    ) -> FloatArray:
        """Ratio (...) of the extreme singular values; infinite if the smallest is zero."""
        return extreme_ratio(self.singular_values(configuration, characteristic_length))

    def effort_terms(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        acceleration: FloatArray,
        wrench: FloatArray | None = None,
        formulation: str = "exact",
    ) -> EffortTerms:
        """Efforts (N, n); `inertial`, `velocity` (with friction), `gravity` and `wrench` terms.

        Raises:
            InvalidInput: another formulation than `exact`.
        """
        if formulation != "exact":
            raise InvalidInput(f"formulation is {formulation!r}, expected exact", value=formulation)
        gravity = self.bias(configuration, np.zeros_like(velocity))
        moving = self.bias(configuration, velocity)
        unloaded = self.inverse_dynamics(configuration, velocity, acceleration)
        terms = {"inertial": unloaded - moving, "velocity": moving - gravity, "gravity": gravity}
        if wrench is None:
            return EffortTerms(unloaded, terms)
        total = self.inverse_dynamics(configuration, velocity, acceleration, wrench)
        return EffortTerms(total, terms | {"wrench": total - unloaded})

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
        """Q and qd (n,) after `steps` of dt [s] by Runge-Kutta's method of order 4.

        Raises:
            SimulationFailed: no finite state follows; its `value` is the last good state.
        """

        def rate(y: FloatArray) -> FloatArray:
            q, qd = np.split(y, 2)
            drive = effort
            if limit_motors:
                limits = self.effort_limits_at(qd)
                drive = np.clip(effort, -limits, limits)
            if end_stops is not None:
                drive = drive + end_stops.efforts(q, qd, self.position_limits)
            return np.concatenate([qd, self.forward_dynamics(q, qd, drive, wrench)])

        y = np.concatenate([configuration, velocity])
        for step in range(steps):
            before = y
            try:
                with np.errstate(all="ignore"):
                    a = rate(y)
                    b = rate(y + 0.5 * dt * a)
                    c = rate(y + 0.5 * dt * b)
                    y = y + dt / 6.0 * (a + 2.0 * b + 2.0 * c + rate(y + dt * c))
            except (InvalidInput, SingularMassMatrix):  # a stage of the step is not finite
                y = np.full_like(y, np.nan)
            if not np.isfinite(y).all():
                raise SimulationFailed(
                    f"no state follows after {step} of {steps} steps of {dt:g} s: it is not finite",
                    time=step * dt,
                    value=tuple(np.split(before, 2)),
                )
        q, qd = np.split(y, 2)
        return q, qd

    def warm_up(self) -> None:
        """Does nothing: there are no compiled kernels."""

    def _load(self, configuration: ArrayLike, wrench: ArrayLike | None) -> FloatArray:
        """Joint efforts (..., n) equivalent to a wrench (..., 6) on the tip: J' wrench."""
        if wrench is None:
            return np.zeros(len(self.joint_names))
        load = as_array("wrench", wrench, (6,), "N, N m")
        return np.asarray(np.einsum("...ij,...i->...j", self.jacobian(configuration), load))


class UncheckedCalls:
    """Single states of a mechanism for inner loops; results are written into given arrays."""

    def __init__(self, mechanism: Any) -> None:
        self._mechanism = mechanism

    def difference(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        """Displacement (n,)."""
        return goal - start

    def advance(self, configuration: FloatArray, displacement: FloatArray) -> FloatArray:
        """Configuration (n,)."""
        return configuration + displacement

    def inverse_dynamics(
        self,
        configuration: FloatArray,
        velocity: FloatArray,
        acceleration: FloatArray,
        out: FloatArray,
        wrench: FloatArray | None = None,
    ) -> bool:
        """Write efforts (n,) into `out`; return whether they are finite."""
        out[:] = self._mechanism.inverse_dynamics(configuration, velocity, acceleration, wrench)
        return bool(np.isfinite(out).all())
