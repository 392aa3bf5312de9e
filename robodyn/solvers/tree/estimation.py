# SPDX-License-Identifier: Apache-2.0

"""State of a mechanism with closed loops from its driven joints, one reading after another.

With more driven joints than degrees of freedom, rounded readings contradict each other slightly:
the configuration is the one that fits all of them best, weighted by their standard deviations.

First-order propagation of the readings' errors: with A from independent rates u to driven rates,
J from u to the tip's twist and W the inverse variances of the readings, positions determine the
independent coordinates up to C = (A'WA)^-1, and the tip's displacement up to J C J'. The twist
J u with A u = rates has errors from the rates and, as J and A depend on the configuration, from
the positions: J A^-1 drates + (D_J - J A^-1 D_A) dposition, with D the derivatives of J u and A u
for constant u.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.algorithms import motions
from robodyn.algorithms.estimation import (
    Encoders,
    Estimate,
    Estimator,
)
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import (
    KinematicsError,
    NoSolution,
    SingularConfiguration,
    UnderActuated,
)
from robodyn.solvers.tree.closing.equations import ACCEPTED
from robodyn.solvers.tree.closing.kinematics import tip_motion
from robodyn.solvers.tree.closing.structure import update_mimic_joints

# Search for the configuration that fits redundant readings best: largest number of steps from the
# last estimate and from home, the longest step, its tolerance, and the tolerance for contradictory
# readings that slow it down [rad, or relative to the size].
FEW_STEPS, MOST_STEPS = 8, 100
LONGEST_STEP = 0.1
DONE, NEAR = 1e-11, 1e-6
# Largest ratio of the singular values of A for which readings determine the configuration.
DETERMINED = 1e9


class LoopEstimator(Estimator):
    """Estimator of a closed loop's configuration and velocity from its driven joints.

    Raises:
        UnderActuated: the driven joints do not determine the configuration.
    """

    _mechanism: Any

    def __init__(
        self,
        mechanism: Any,
        start: ArrayLike | None = None,
        encoders: Encoders | None = None,
    ) -> None:
        loose = mechanism.structure.loose
        if loose:
            raise UnderActuated(
                f"{mechanism.name}: readings of its {len(mechanism.joint_names)} driven joints do "
                f"not determine its {mechanism.mobility} degrees of freedom: with these joints "
                f"locked, {', '.join(loose)} can move; measure more joints and name them as driven",
                joints=loose,
                value=mechanism.joint_names,
            )
        super().__init__(mechanism, start, encoders)

    def _check(
        self, positions: ArrayLike, rates: ArrayLike | None
    ) -> tuple[FloatArray, FloatArray | None]:
        position, rate = super()._check(positions, rates)
        # the encoder of a continuous joint may be off by full turns
        near = self._mechanism.joint_positions(self._start)
        if self.last is not None:
            near = self._positions
        return near + motions.joint_difference(self._mechanism, near, position), rate

    def _solve(self, stamp: int, guess: FloatArray | None, deviation: Any) -> Estimate:
        own = self._mechanism
        q = None if guess is None else self._fit(guess, FEW_STEPS)
        acquired = q is None
        if q is None:
            q = self._assemble()
        A, J = own.joint_jacobian(q), own.jacobian(q)
        values = np.linalg.svd(A, compute_uv=False)
        if not values[-1] * DETERMINED > values[0]:
            raise SingularConfiguration(
                f"{own.name}: at the current configuration, the driven joints do not determine "
                "the motion",
                smallest_singular_value=float(values[-1]),
                direction=None,
                value=q,
            )
        rated, of_rates = _weight_matrix(A, deviation)
        _, of_coordinates = _weight_matrix(A, self._position_deviation)
        u = rated @ self._rates
        D_A, D_J = self._sensitivities(q, u, J)
        G = D_J - J @ rated @ D_A
        return Estimate(
            stamp,
            own.body_pose(q),
            J @ u,
            J @ of_coordinates @ J.T,
            J @ of_rates @ J.T + G @ of_coordinates @ G.T,
            acquired,
            q,
            u,
        )

    def _assemble(self) -> FloatArray:
        """Find the configuration (nq,) that fits the readings, starting from the last one.

        There is no fallback to a global search, because it would delay the next reading.
        """
        own, equations = self._mechanism, self._mechanism.structure.equations
        q = self._fit(own.advance(self._start, np.zeros(own.mobility)), MOST_STEPS)
        if q is None:
            guess = self._start.copy()
            guess[own.solver.driven_at] = self._positions
            update_mimic_joints(own.structure.tree, guess)
            found = equations.close(guess, [int(rate) for rate in own.solver.rates_at])
            if found.left > ACCEPTED:
                raise NoSolution(
                    f"{own.name}: the loops do not close with these positions of the driven "
                    f"joints; closure {equations.worst(found.q)!r} stays open by "
                    f"{found.left * equations.size:.3g} m",
                    residual=found.left,
                    value=self._positions,
                )
            q = found.q
        off = np.abs(own.joint_positions(q) - self._positions) / self._jump
        worst = int(off.argmax())
        if off[worst] > 1.0:
            raise NoSolution(
                f"{own.name}: readings of its driven joints contradict each other: no "
                f"configuration is near all of them, and {own.joint_names[worst]} deviates most",
                residual=float(off[worst] * self._jump[worst]),
                value=self._positions,
            )
        return q

    def _fit(self, q: FloatArray, steps: int) -> FloatArray | None:
        """Find the closed configuration near `q` that fits the readings best.

        The result is None if none is found within `steps` Gauss-Newton steps.
        """
        own, scale, longest = self._mechanism, self._position_deviation, np.inf
        size = np.where(np.array(own.coordinates.units) == "m", own.size, 1.0)
        try:
            for _ in range(steps):
                gap = self._positions - own.joint_positions(q)
                if own.solver.drives_free:
                    return own.solver.unchecked.try_advance(q, gap)
                A = own.joint_jacobian(q) / scale[:, None]
                step = np.asarray(np.linalg.lstsq(A, gap / scale, rcond=None)[0], np.float64)
                longest = float(np.abs(step / size).max())
                moved = own.solver.unchecked.try_advance(
                    q, step * min(1.0, LONGEST_STEP / max(longest, DONE))
                )
                if moved is None or longest <= DONE:
                    return moved
                q = moved
        except KinematicsError:
            return None  # a singularity on the way
        return q if longest <= NEAR else None

    def _sensitivities(
        self, q: FloatArray, u: FloatArray, J: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Compute derivatives of driven rates and tip twist w.r.t. independent positions.

        They are (n, nu) and (6, nu), for a constant independent velocity u (nu,). Accelerations at
        constant u are a quadratic form in u, whose polar form is the derivative's symmetric part.
        For the angular part of the twist, half of the cross product of the angular velocities is
        added.
        """
        own, nu = self._mechanism, len(u)
        speed = float(np.abs(u).max())
        if speed == 0.0:
            return np.zeros((self._count, nu)), np.zeros((6, nu))
        unit = speed * np.eye(nu)
        rates = np.concatenate([u + unit, unit, u[None]])
        found = tip_motion(own, np.broadcast_to(q, (len(rates), len(q))), rates, 0.0 * rates)
        count = own.structure.tree.rates
        drifts = np.concatenate(
            [found[:, count + own.solver.rates_at], found[:, 2 * count :]], axis=1
        )
        polar = (drifts[:nu] - drifts[nu : 2 * nu] - drifts[-1]).T / (2.0 * speed)
        polar[-3:] += 0.5 * np.cross(J[3:], J[3:] @ u, axisa=0, axisc=0)
        return polar[: self._count], polar[self._count :]


def _weight_matrix(A: FloatArray, deviation: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the matrix (nu, n) of a weighted least-squares fit, and the covariance.

    The matrix maps readings (n,) with standard deviations `deviation` (n,) to independent
    coordinates, whose covariance is (nu, nu). A (n, nu) is the Jacobian of the driven joints.
    """
    scaled = np.linalg.pinv(A / deviation[:, None])
    return scaled / deviation, scaled @ scaled.T


def state_estimator(loop: Any, initial_pose: ArrayLike | None, encoders: Encoders) -> LoopEstimator:
    """Return a `LoopEstimator` that starts at a tip pose (7,), by default at home."""
    start = None if initial_pose is None else loop.configuration_at(initial_pose)
    return LoopEstimator(loop, start, encoders)
