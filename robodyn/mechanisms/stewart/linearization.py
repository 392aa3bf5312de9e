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

"""Small motions about an equilibrium, its static forces held."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.checks import as_pose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism

    ComplexArray = NDArray[np.complex128]

# Central differences of order 6, f' = sum weight_k (f(k h) - f(-k h)) / h. With this step, a
# fraction of the base's radius or an angle [rad], rounding and truncation are both some 1e-12.
WEIGHTS = (3.0 / 4.0, -3.0 / 20.0, 1.0 / 60.0)
STEP = 2e-3


class Linearization(NamedTuple):
    """State matrix about an equilibrium at rest.

    The state is [displacement (6); twist (6)]: translation and rotation vector in the base frame
    as `StewartPlatform.difference` gives them.

    Attributes:
        state_matrix: (..., 12, 12).
        eigenvalues: (..., 12) complex [1/s], the fastest growing first.
        growth_rate: (...) [1/s] largest real part; positive where the equilibrium is unstable.
        forces: (..., 6) [N] actuator forces that hold the equilibrium.
    """

    state_matrix: FloatArray
    eigenvalues: ComplexArray
    growth_rate: FloatArray
    forces: FloatArray


def linearize(
    platform: Mechanism, base: FloatArray, pose: ArrayLike, wrench: ArrayLike | None
) -> Linearization:
    """Differences of the exact forward dynamics: order 6 in the pose.

    `base` (6, 3) [m] are the centres of the base joints, which give the steps their size.

    In the twist, about rest, the acceleration is a polynomial of degree 2, so there the plain
    central difference is exact.
    """
    checked = as_pose("pose", pose)
    rest = np.zeros(6)
    forces = platform.inverse_dynamics(checked, rest, rest, wrench)
    load = None if wrench is None else np.asarray(wrench, dtype=np.float64)[..., None, :]
    scale = np.repeat([float(np.linalg.norm(base - base.mean(axis=0), axis=1).mean()), 1.0], 3)
    steps = np.concatenate([np.diag(k * STEP * scale) for k in (1, 2, 3, -1, -2, -3)])
    around = platform.advance(checked[..., None, :], steps)
    accel = platform.forward_dynamics(around, rest, forces[..., None, :], load)
    forward, backward = np.split(
        accel.reshape(*accel.shape[:-2], 6, 6, 6), 2, axis=-3
    )  # (..., k, direction, component)
    by_pose = np.einsum("k,...kdc->...cd", WEIGHTS, forward - backward) / (STEP * scale)
    twists = np.concatenate([np.eye(6), -np.eye(6)])
    accel = platform.forward_dynamics(checked[..., None, :], twists, forces[..., None, :], load)
    by_twist = 0.5 * np.swapaxes(accel[..., :6, :] - accel[..., 6:, :], -1, -2)
    A = np.zeros((*by_pose.shape[:-2], 12, 12))
    A[..., :6, 6:] = np.eye(6)
    A[..., 6:, :6] = by_pose
    A[..., 6:, 6:] = by_twist
    eigenvalues = np.linalg.eigvals(A).astype(np.complex128)
    order = np.argsort(-eigenvalues.real, axis=-1)
    eigenvalues = np.take_along_axis(eigenvalues, order, axis=-1)
    return Linearization(A, eigenvalues, eigenvalues[..., 0].real, forces)
