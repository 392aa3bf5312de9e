# SPDX-License-Identifier: Apache-2.0

"""Dynamics in joint coordinates from a mass matrix and a bias, in NumPy without compiled code.

Use it to add a kind of mechanism by its equations of motion, M(q) qdd + h(q, qd) = tau + J' f, if
computing time does not matter.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from robodyn.algorithms.elasticity import refuse_elastic_drives
from robodyn.algorithms.motions import joint_values
from robodyn.algorithms.stepping import DEFAULT, step
from robodyn.arrays import ArrayLike, FloatArray, Self
from robodyn.base_motion import BaseMotion
from robodyn.checks import as_array
from robodyn.dynamics.compiled_run import StepSettings
from robodyn.errors import InvalidInput, SimulationFailed, SingularMassMatrix
from robodyn.mechanism.mechanism import Mechanism


class NumpyDynamics(Mechanism):
    """Base class of mechanisms given by a mass matrix and a bias.

    A subclass provides `mass_matrix`, `bias`, `jacobian` and `body_pose`. All methods broadcast
    over leading dimensions: q, qd, qdd and efforts are (..., n); a wrench (..., 6) is the force,
    then the moment about the tip, in the base frame.
    """

    def without_dry_friction(self, undamped: Collection[str] = ()) -> Self:
        """Return the mechanism unchanged: its equations have no dry friction."""
        return self

    def without_actuators(self) -> Self:
        """Return the mechanism unchanged: its actuators are ideal."""
        return self

    def inverse_dynamics(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Compute the efforts for a motion on a fixed base.

        Args:
            configuration, velocity, acceleration: (..., n) positions, velocities and accelerations
                of the joints.
            wrench: (..., 6) [N, N m] on the tip and about it, base frame; zero by default.
            base: must be None or at rest.

        Returns:
            Efforts (..., n) [N or N m].
        """
        self._refuse_motion_of(base)
        qdd = joint_values(self, "acceleration", acceleration)
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
        *,
        base: BaseMotion | None = None,
    ) -> FloatArray:
        """Compute the acceleration due to efforts and a wrench on the tip.

        Args:
            configuration, velocity: (..., n) positions and velocities of the joints.
            effort: (..., n) [N or N m] efforts of the joints.
            wrench: (..., 6) [N, N m] on the tip and about it, base frame; zero by default.
            base: must be None or at rest.

        Returns:
            Accelerations (..., n) of the joints.

        Raises:
            SingularMassMatrix: a joint has no inertia.
        """
        self._refuse_motion_of(base)
        drive = joint_values(self, "effort", effort) + self._load(configuration, wrench)
        rest = drive - self.bias(configuration, velocity)
        try:
            solved = np.linalg.solve(self.mass_matrix(configuration), rest[..., None])
        except np.linalg.LinAlgError as error:
            raise SingularMassMatrix(
                f"{self.name}: a joint has no inertia to accelerate; give its link mass",
                value=configuration,
                index=(),
            ) from error
        return np.asarray(solved[..., 0], dtype=np.float64)

    def _refuse_motion_of(self, base: BaseMotion | None) -> None:
        if base is not None:
            raise self.solver.unsupported("dynamics on a base that moves")

    def _load(self, configuration: ArrayLike, wrench: ArrayLike | None) -> FloatArray:
        """Compute the joint efforts (..., n) equivalent to a wrench (..., 6) on the tip."""
        if wrench is None:
            return np.zeros(len(self.joint_names))
        load = as_array("wrench", wrench, (6,), "N, N m")
        return np.asarray(np.einsum("...ij,...i->...j", self.jacobian(configuration), load))


@step.register
def _classical_steps(
    mechanism: NumpyDynamics,
    configuration: FloatArray,
    velocity: FloatArray,
    effort: FloatArray,
    load: FloatArray,
    dt: float,
    steps: int,
    settings: StepSettings = DEFAULT,
    motors: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Advance q and qd (n,) by `steps` steps of dt [s] (Runge-Kutta of order 4).

    Raises:
        InvalidInput: the drives are elastic, or semi-implicit steps are requested.
        SimulationFailed: the next state is not finite; its `value` is the last good state.
    """
    refuse_elastic_drives(mechanism)
    if settings.is_semi_implicit:
        raise mechanism.solver.unsupported("semi-implicit steps")
    stops = None if settings.end_stops is None else settings.end_stops.for_step(dt)

    def rate(y: FloatArray) -> FloatArray:
        q, qd = np.split(y, 2)
        drive = effort
        if settings.limit_motors:
            limits = mechanism.drives.effort_limits_at(qd)
            drive = np.clip(effort, -limits, limits)
        if stops is not None:
            drive = drive + stops.efforts(mechanism, q, qd)
        return np.concatenate([qd, mechanism.forward_dynamics(q, qd, drive, load)])

    y = np.concatenate([configuration, velocity])
    for number in range(steps):
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
                f"simulation stopped after {number} of {steps} steps of {dt:g} s: the next state "
                "is not finite",
                time=number * dt,
                value=tuple(np.split(before, 2)),
            )
    q, qd = np.split(y, 2)
    return q, qd
