# SPDX-License-Identifier: Apache-2.0

"""Derivatives of inverse and forward dynamics at any state, and linear models made of them.

What is known of the equations is used: efforts are of degree 1 in the acceleration, accelerations
in the efforts, and both of degree 2 in the velocity where no joint has dry friction. There central
differences are exact. Only in the configuration are they of order 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from robodyn.arrays import FloatArray

    ComplexArray = NDArray[np.complex128]

# Central differences, f' = sum weight_k (f(k h) - f(-k h)) / h, of order 2 and 6.
EXACT = (0.5,)
SIXTH = (3.0 / 4.0, -3.0 / 20.0, 1.0 / 60.0)
# The step is a fraction of the mechanism's size or an angle [rad]. Where a platform is described by
# its legs and ill conditioned, a small step of a leg is a large one of the pose, so it is far
# smaller than a pose's would have to be; rounding still leaves eleven digits.
STEP = 3e-4
# Step of a velocity [m/s, rad/s] where a joint has dry friction, small beside the rates at which
# Stribeck's rise fades.
FRICTION_STEP = 1e-4


class InverseDynamicsDerivatives(NamedTuple):
    """Efforts of a motion, and their derivatives.

    Attributes:
        efforts: (..., n) [N or N m].
        configuration: (..., n, nv) by a displacement, as `difference` and `advance` have it.
        velocity, acceleration: (..., n, nv).
    """

    efforts: FloatArray
    configuration: FloatArray
    velocity: FloatArray
    acceleration: FloatArray


class ForwardDynamicsDerivatives(NamedTuple):
    """The acceleration that efforts cause, and its derivatives.

    Attributes:
        acceleration: (..., nv).
        configuration: (..., nv, nv) by a displacement, as `difference` and `advance` have it.
        velocity: (..., nv, nv).
        efforts: (..., nv, n).
    """

    acceleration: FloatArray
    configuration: FloatArray
    velocity: FloatArray
    efforts: FloatArray


class Linearization(NamedTuple):
    """The linear model of small motions about a state, efforts held.

    Its state is [displacement (nv); change of velocity (nv)], the displacement as the mechanism's
    `difference` gives it: of a platform translation and rotation vector in the base frame. The rate
    of a displacement is the change of velocity and, of a rotation vector, the angular velocity
    about which the model was made crossed with it.

    Attributes:
        state_matrix: (..., 2 nv, 2 nv).
        input_matrix: (..., 2 nv, n) of the n driven joints' efforts.
        eigenvalues: (..., 2 nv) complex [1/s], the fastest growing first, in continuous time.
        growth_rate: (...) [1/s] largest real part; positive where small motions grow.
        efforts: (..., n) [N or N m] about which it was made.
        dt: [s] of the sampled system, None for one in continuous time.
    """

    state_matrix: FloatArray
    input_matrix: FloatArray
    eigenvalues: ComplexArray
    growth_rate: FloatArray
    efforts: FloatArray
    dt: float | None = None

    @property
    def matrices(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """A, B, C and D of a single state space whose output is the state.

        So they are taken by `scipy.signal.StateSpace(*matrices)` and `control.ss(*matrices, dt)`.
        """
        size, inputs = self.input_matrix.shape[-2:]
        return self.state_matrix, self.input_matrix, np.eye(size), np.zeros((size, inputs))


def _differences(
    values: Callable[[FloatArray], FloatArray], steps: FloatArray, weights: tuple[float, ...]
) -> FloatArray:
    """(..., n, k) of values (..., N, n) at changes (N, k) by steps (k,) of each number."""
    orders = np.arange(1, len(weights) + 1)
    count = len(steps)
    changes = np.concatenate([np.diag(order * steps) for order in (*orders, *-orders)])
    found = values(changes)
    found = found.reshape(*found.shape[:-2], 2, len(weights), count, found.shape[-1])
    rise = found[..., 0, :, :, :] - found[..., 1, :, :, :]
    return np.asarray(np.einsum("w,...wkn->...nk", weights, rise) / steps)


class _At:
    """Where derivatives are taken, with one more dimension for the changes of it.

    Args:
        mechanism: with the friction that counts.
        configuration, velocity, load: (..., nq), (..., nv), and an acceleration or efforts.
        wrench: (..., 6), or None.
    """

    def __init__(
        self,
        mechanism: Any,
        configuration: ArrayLike,
        velocity: ArrayLike,
        load: ArrayLike,
        wrench: ArrayLike | None,
    ) -> None:
        q = mechanism.coordinates.checked("configuration", configuration)
        given = (q, velocity, load) if wrench is None else (q, velocity, load, wrench)
        self.mechanism, self.smooth = mechanism, mechanism.without_dry_joints
        self.state = [np.asarray(part, dtype=np.float64)[..., None, :] for part in given]
        units = np.array(mechanism.coordinates.units)
        self.steps = STEP * np.where(units == "m", mechanism.size, 1.0)

    def by_configuration(self, call: Callable[..., FloatArray]) -> FloatArray:
        """(..., k, nv) of a call's results (..., k)."""
        q, *others = self.state
        return _differences(
            lambda change: call(self.mechanism.advance(q, change), *others), self.steps, SIXTH
        )

    def by(self, place: int, call: Callable[..., FloatArray], size: FloatArray) -> FloatArray:
        """(..., k, m) of what is of degree 2 at most in the state's part at `place` (..., m)."""

        def changed(change: FloatArray) -> FloatArray:
            state = list(self.state)
            state[place] = state[place] + change * size
            return call(*state)

        count = self.state[place].shape[-1]
        return np.asarray(_differences(changed, np.ones(count), EXACT) / size)

    def by_velocity(self, name: str) -> FloatArray:
        """(..., k, nv) of the results of a mechanism's method.

        Dry friction has no derivative where a joint's rate reverses: there it is left out.
        """
        smooth = self.by(1, getattr(self.smooth, name), np.ones(1))
        if self.smooth is self.mechanism:
            return smooth
        q, velocity, *others = self.state
        steps = np.full(velocity.shape[-1], FRICTION_STEP)
        call = getattr(self.mechanism, name)
        found = _differences(lambda change: call(q, velocity + change, *others), steps, SIXTH)
        rates = np.abs(self.mechanism.joint_velocities(q[..., 0, :], velocity[..., 0, :]))
        furthest = len(SIXTH) * FRICTION_STEP
        reach = furthest * np.abs(self._rates_by_velocity(q, velocity)).max(axis=-1)
        return np.where((rates > reach).all(axis=-1)[..., None, None], found, smooth)

    def _rates_by_velocity(self, q: FloatArray, velocity: FloatArray) -> FloatArray:
        """(..., n, nv) of the driven joints' rates, which are linear in the velocity."""
        unit = np.eye(velocity.shape[-1])
        return np.swapaxes(self.mechanism.joint_velocities(q, unit), -1, -2)


def inverse_dynamics_derivatives(
    mechanism: Any,
    configuration: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    wrench: ArrayLike | None,
) -> InverseDynamicsDerivatives:
    """See `Mechanism.inverse_dynamics_derivatives`."""
    at = _At(mechanism, configuration, velocity, acceleration, wrench)
    return InverseDynamicsDerivatives(
        mechanism.inverse_dynamics(*at.state)[..., 0, :],
        at.by_configuration(mechanism.inverse_dynamics),
        at.by_velocity("inverse_dynamics"),
        at.by(2, at.smooth.inverse_dynamics, np.ones(1)),
    )


def forward_dynamics_derivatives(
    mechanism: Any,
    configuration: ArrayLike,
    velocity: ArrayLike,
    efforts: ArrayLike,
    wrench: ArrayLike | None,
) -> ForwardDynamicsDerivatives:
    """See `Mechanism.forward_dynamics_derivatives`."""
    at = _At(mechanism, configuration, velocity, efforts, wrench)
    # as large as the efforts themselves, so that rounding stays what it is
    size = 1.0 + np.abs(at.state[2]).max(axis=-1, keepdims=True)
    return ForwardDynamicsDerivatives(
        mechanism.forward_dynamics(*at.state)[..., 0, :],
        at.by_configuration(mechanism.forward_dynamics),
        at.by_velocity("forward_dynamics"),
        at.by(2, at.smooth.forward_dynamics, size),
    )


def linearize(
    mechanism: Any,
    configuration: ArrayLike,
    velocity: ArrayLike | None,
    efforts: ArrayLike | None,
    wrench: ArrayLike | None,
    dt: float | None,
) -> Linearization:
    """See `Mechanism.linearize`."""
    rest = np.zeros(mechanism.coordinates.velocity_size)
    moving = rest if velocity is None else np.asarray(velocity, dtype=np.float64)
    if efforts is None:
        efforts = mechanism.inverse_dynamics(configuration, moving, rest, wrench)
    d = mechanism.forward_dynamics_derivatives(configuration, moving, efforts, wrench)
    n, m = d.efforts.shape[-2:]
    A = np.zeros((*d.velocity.shape[:-2], 2 * n, 2 * n))
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :n], A[..., n:, n:] = d.configuration, d.velocity
    turning = mechanism.coordinates.rotation
    if turning is not None:
        # theta' = change of omega + omega x theta, both in the base frame
        omega = np.broadcast_to(moving[..., turning], (*A.shape[:-2], 3))
        A[..., turning, turning] = np.cross(omega[..., None, :], np.eye(3)).swapaxes(-1, -2)
    B = np.zeros((*A.shape[:-2], 2 * n, m))
    B[..., n:, :] = d.efforts
    eigenvalues = np.linalg.eigvals(A).astype(np.complex128)
    order = np.argsort(-eigenvalues.real, axis=-1)
    eigenvalues = np.take_along_axis(eigenvalues, order, axis=-1)
    held = np.broadcast_to(np.asarray(efforts, dtype=np.float64), (*A.shape[:-2], m))
    if dt is not None:
        A, B = _sampled(A, B, dt)
    return Linearization(A, B, eigenvalues, eigenvalues[..., 0].real, held, dt)


def _sampled(A: FloatArray, B: FloatArray, dt: float) -> tuple[FloatArray, FloatArray]:
    """The matrices over a period dt [s] in which efforts are held."""
    from scipy.linalg import expm  # takes long to import

    size, inputs = B.shape[-2:]
    whole = np.zeros((*A.shape[:-2], size + inputs, size + inputs))
    whole[..., :size, :size], whole[..., :size, size:] = A, B
    flat = whole.reshape(-1, *whole.shape[-2:])
    out = np.array([expm(matrix * dt) for matrix in flat]).reshape(whole.shape)
    return out[..., :size, :size], out[..., :size, size:]
