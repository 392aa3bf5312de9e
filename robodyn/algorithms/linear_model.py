# SPDX-License-Identifier: Apache-2.0

"""Results of linearization: derivatives of dynamics and linear models, and their sampling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from robodyn.arrays import FloatArray, short_repr
from robodyn.base_motion import BaseMotion, rows_of
from robodyn.errors import InvalidInput
from robodyn.extras import require_extra

ComplexArray = NDArray[np.complex128]


# Step [m/s^2, rad/s, rad/s^2] if the distribution of efforts is piecewise linear.
SMALL = 1e-5


class _OfEfforts(NamedTuple):
    efforts: FloatArray
    configuration: FloatArray
    velocity: FloatArray
    acceleration: FloatArray


class InverseDynamicsDerivatives(_OfEfforts):
    """Efforts of a motion, and their derivatives.

    Attributes:
        efforts: (..., n) [N or N m].
        configuration: (..., n, nv) with respect to a displacement as in `difference` and `advance`.
        velocity: (..., n, nv) with respect to the velocity.
        acceleration: (..., n, nv) with respect to the acceleration.
        base: (..., n, 9) with respect to the base's specific force, angular velocity and angular
            acceleration; None if no base motion was given. This attribute is not an item of the
            tuple.
    """

    base: FloatArray | None = None

    __repr__ = short_repr


class _OfAcceleration(NamedTuple):
    acceleration: FloatArray
    configuration: FloatArray
    velocity: FloatArray
    efforts: FloatArray


class ForwardDynamicsDerivatives(_OfAcceleration):
    """Acceleration due to efforts, and its derivatives.

    Attributes:
        acceleration: (..., nv) the acceleration itself.
        configuration: (..., nv, nv) with respect to a displacement as in `difference` and
            `advance`.
        velocity: (..., nv, nv) with respect to the velocity.
        efforts: (..., nv, n) with respect to the efforts.
        base: (..., nv, 9) with respect to the base's motion, as in `InverseDynamicsDerivatives`.
    """

    base: FloatArray | None = None

    __repr__ = short_repr


T = TypeVar("T", InverseDynamicsDerivatives, ForwardDynamicsDerivatives)


def on_base(found: T, derivatives: FloatArray | None) -> T:
    """Set the derivatives w.r.t. the base's motion in a result, and return the result."""
    if derivatives is not None:
        found.base = derivatives
    return found


class Linearization(NamedTuple):
    """Linear model of small motions about a state with constant efforts.

    Its state is [displacement (nv); change of velocity (nv)], with the displacement as in the
    mechanism's `difference`: for a platform translation and rotation vector in the base frame. The
    rate of a rotation vector theta is the change of the angular velocity and, about a state that
    rotates at w [rad/s], also w x theta.

    Attributes:
        state_matrix: (..., 2 nv, 2 nv).
        input_matrix: (..., 2 nv, n) of the n driven joints' efforts.
        eigenvalues: (..., 2 nv) complex [1/s], the fastest growing first, in continuous time.
        growth_rate: (...) [1/s] largest real part; positive if small motions grow.
        efforts: (..., n) [N or N m] of the state.
        dt: [s] sampling period of a discrete-time model, None in continuous time.
    """

    state_matrix: FloatArray
    input_matrix: FloatArray
    eigenvalues: ComplexArray
    growth_rate: FloatArray
    efforts: FloatArray
    dt: float | None = None

    def __repr__(self) -> str:
        return short_repr(self)

    def to_scipy(self) -> Any:
        """Convert to a `scipy.signal.StateSpace` whose output is the state.

        Raises:
            InvalidInput: the linear model is a batch.
        """
        from scipy.signal import StateSpace  # takes long to import

        return StateSpace(*self._matrices(), **({} if self.dt is None else {"dt": self.dt}))

    def to_control(self) -> Any:
        """Convert to a `control.StateSpace` of python-control whose output is the state.

        Raises:
            InvalidInput: the linear model is a batch.
            MissingExtra: python-control is not installed.
        """
        with require_extra("control", "a StateSpace needs the package control", "control"):
            from control import StateSpace
        return StateSpace(*self._matrices(), 0 if self.dt is None else self.dt)

    def _matrices(self) -> tuple[FloatArray, ...]:
        if self.state_matrix.ndim != 2:
            raise InvalidInput(
                f"state_matrix has shape {self.state_matrix.shape}, expected a single matrix; "
                "linearize about one state at a time",
                value=self.state_matrix,
            )
        size, inputs = self.input_matrix.shape
        return self.state_matrix, self.input_matrix, np.eye(size), np.zeros((size, inputs))


def discretize(A: FloatArray, B: FloatArray, dt: float) -> tuple[FloatArray, FloatArray]:
    """Discretize a state and an input matrix, with efforts constant over dt [s].

    Returns:
        State matrix (..., k, k) and input matrix (..., k, n) in discrete time.
    """
    from scipy.linalg import expm  # takes long to import

    size = A.shape[-1]
    whole = np.zeros((*A.shape[:-2], size + B.shape[-1], size + B.shape[-1]))
    whole[..., :size, :size], whole[..., :size, size:] = A, B
    flat = (dt * whole).reshape(-1, *whole.shape[-2:])
    out = np.stack([expm(matrix) for matrix in flat]).reshape(whole.shape)
    return out[..., :size, :size], out[..., :size, size:]


def by_base(
    dynamics: Callable[..., FloatArray], small: bool, given: tuple[Any, Any, Any, Any, Any]
) -> FloatArray | None:
    """Compute derivatives (..., k, 9) of dynamics (..., k) w.r.t. the motion of the base.

    The dynamics are at most quadratic in the components of the base motion, so central differences
    with any step are exact. If they are only piecewise quadratic, small steps stay within a piece.

    Args:
        dynamics: forward or inverse dynamics.
        small: whether to use small steps.
        given: configuration, velocity, acceleration or efforts, wrench, and base motion; the latter
            two may be None.

    Returns:
        Derivatives w.r.t. specific force, angular velocity and angular acceleration of the base;
        None without a base motion.
    """
    *state, base = given
    if base is None:
        return None
    parts = (None if p is None else np.asarray(p, dtype=np.float64)[..., None, :] for p in state)
    step = SMALL if small else 1.0
    rows = rows_of(base)[..., None, :] + step * np.concatenate([np.eye(9), -np.eye(9)])
    out = dynamics(*parts, base=BaseMotion(*np.split(rows, 3, axis=-1)))
    return np.swapaxes((0.5 / step) * (out[..., :9, :] - out[..., 9:, :]), -1, -2)
