# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Small motions of a mechanism with closed loops about rest, its static efforts held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from robodyn.arrays import FloatArray

# Central differences of order 6, f' = sum weight_k (f(k h) - f(-k h)) / h.
WEIGHTS = (3.0 / 4.0, -3.0 / 20.0, 1.0 / 60.0)
STEP = 2e-3  # [rad, or m of a length of 1 m]


class Linearization(NamedTuple):
    """State and input matrix about rest; the state is [displacement; velocity], (2 mobility,).

    Attributes:
        state_matrix: (2 mobility, 2 mobility).
        input_matrix: (2 mobility, n) of the driven joints' efforts.
        eigenvalues: (2 mobility,) complex [1/s], the fastest growing first.
        growth_rate: [1/s] largest real part; positive where the equilibrium is unstable.
        efforts: (n,) that hold the equilibrium.
    """

    state_matrix: FloatArray
    input_matrix: FloatArray
    eigenvalues: NDArray[np.complex128]
    growth_rate: float
    efforts: FloatArray


def linearize(mechanism: Any, configuration: ArrayLike, wrench: ArrayLike | None) -> Linearization:
    """Differences of the exact forward dynamics: order 6 in the configuration.

    In the velocity, about rest, the acceleration without Coulomb friction is a polynomial of
    degree 2, so there the plain central difference is exact.
    """
    q = np.asarray(configuration, dtype=np.float64)
    n = mechanism.mobility
    rest = np.zeros(n)
    efforts = mechanism.inverse_dynamics(q, rest, rest, wrench)
    units = mechanism.coordinates.units
    scale = np.array([mechanism.size if unit == "m" else 1.0 for unit in units])
    by_place = np.zeros((n, n))
    for j in range(n):
        step = np.zeros(n)
        step[j] = STEP * scale[j]
        for k, weight in enumerate(WEIGHTS, 1):
            for sign in (1.0, -1.0):
                around = mechanism.advance(q, sign * k * step)
                change = mechanism.forward_dynamics(around, rest, efforts, wrench)
                by_place[:, j] += sign * weight * change / step[j]
    by_rate = np.empty((n, n))
    for j in range(n):
        rate = np.eye(n)[j]
        ahead = mechanism.forward_dynamics(q, rate, efforts, wrench)
        by_rate[:, j] = 0.5 * (ahead - mechanism.forward_dynamics(q, -rate, efforts, wrench))
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:, :n], A[n:, n:] = by_place, by_rate
    B = np.zeros((2 * n, len(efforts)))
    B[n:] = np.linalg.solve(mechanism.mass_matrix(q), mechanism.drive_matrix(q).T)
    eigenvalues = np.linalg.eigvals(A).astype(np.complex128)
    eigenvalues = eigenvalues[np.argsort(-eigenvalues.real)]
    return Linearization(A, B, eigenvalues, float(eigenvalues[0].real), efforts)
