# SPDX-License-Identifier: Apache-2.0

"""Small motions of a mechanism about rest, with the efforts that hold it held constant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from robodyn.arrays import FloatArray

    ComplexArray = NDArray[np.complex128]

# Central differences of order 6, f' = sum weight_k (f(k h) - f(-k h)) / h. The step is a fraction
# of the mechanism's size or an angle [rad]. Where a platform is described by its legs and ill
# conditioned, a small step of a leg is a large one of the pose, so it is far smaller than a pose's
# would have to be; rounding still leaves eleven digits.
WEIGHTS = (3.0 / 4.0, -3.0 / 20.0, 1.0 / 60.0)
STEP = 3e-4


class Linearization(NamedTuple):
    """State and input matrix about an equilibrium at rest.

    The state is [displacement (n); velocity (n)], the displacement as the mechanism's `difference`
    gives it: of a platform translation and rotation vector in the base frame.

    Attributes:
        state_matrix: (..., 2 n, 2 n).
        input_matrix: (..., 2 n, m) of the m driven joints' efforts.
        eigenvalues: (..., 2 n) complex [1/s], the fastest growing first.
        growth_rate: (...) [1/s] largest real part; positive where the equilibrium is unstable.
        efforts: (..., m) [N or N m] that hold the equilibrium.
    """

    state_matrix: FloatArray
    input_matrix: FloatArray
    eigenvalues: ComplexArray
    growth_rate: FloatArray
    efforts: FloatArray


def linearize(
    mechanism: Any, configuration: ArrayLike, wrench: ArrayLike | None, size: float
) -> Linearization:
    """Differences of the exact forward dynamics: order 6 in the configuration.

    `size` [m] is the mechanism's, which gives the steps along its coordinates in metres theirs.

    In the velocity, about rest, the acceleration of a mechanism without dry friction is a
    polynomial of degree 2, in the efforts one of degree 1: there the plain central difference is
    exact.
    """
    q = np.asarray(configuration, dtype=np.float64)
    n = mechanism.coordinates.velocity_size
    rest = np.zeros(n)
    efforts = mechanism.inverse_dynamics(q, rest, rest, wrench)
    m = efforts.shape[-1]
    load = None if wrench is None else np.asarray(wrench, dtype=np.float64)[..., None, :]
    here, held = q[..., None, :], efforts[..., None, :]

    scale = np.where(np.array(mechanism.coordinates.units) == "m", size, 1.0)
    steps = np.concatenate([np.diag(k * STEP * scale) for k in (1, 2, 3, -1, -2, -3)])
    accel = mechanism.forward_dynamics(mechanism.advance(here, steps), rest, held, load)
    forward, backward = np.split(
        accel.reshape(*accel.shape[:-2], 6, n, n), 2, axis=-3
    )  # (..., k, direction, component)
    A = np.zeros((*accel.shape[:-2], 2 * n, 2 * n))
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :n] = np.einsum("k,...kdc->...cd", WEIGHTS, forward - backward) / (STEP * scale)
    velocities = np.concatenate([np.eye(n), -np.eye(n)])
    accel = mechanism.forward_dynamics(here, velocities, held, load)
    A[..., n:, n:] = 0.5 * np.swapaxes(accel[..., :n, :] - accel[..., n:, :], -1, -2)

    # as large as the efforts themselves, so that rounding stays what it is
    more = 1.0 + np.abs(held).max(axis=-1, keepdims=True)
    changes = np.concatenate([np.eye(m), -np.eye(m)]) * more
    accel = mechanism.forward_dynamics(here, rest, held + changes, load)
    B = np.zeros((*accel.shape[:-2], 2 * n, m))
    B[..., n:, :] = np.swapaxes((accel[..., :m, :] - accel[..., m:, :]) / (2.0 * more), -1, -2)

    eigenvalues = np.linalg.eigvals(A).astype(np.complex128)
    order = np.argsort(-eigenvalues.real, axis=-1)
    eigenvalues = np.take_along_axis(eigenvalues, order, axis=-1)
    return Linearization(A, B, eigenvalues, eigenvalues[..., 0].real, efforts)
