# SPDX-License-Identifier: Apache-2.0

"""Conversion of rigid bodies to the ten parameters of the equations of motion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import FloatArray

# Indices of the six independent entries of a symmetric matrix.
ROWS, COLUMNS = np.triu_indices(3)


class BodyNumbers(NamedTuple):
    """Mass [kg], center of mass (3,) [m] and inertia (3, 3) [kg m^2] about that center."""

    mass: float
    com: FloatArray
    inertia: FloatArray


NOTHING = BodyNumbers(0.0, np.zeros(3), np.zeros((3, 3)))


def unit_inertia(row: Any, column: Any) -> FloatArray:
    """Return a zero matrix (3, 3) with ones at (row, column) and (column, row)."""
    tensor = np.zeros((3, 3))
    tensor[row, column] = tensor[column, row] = 1.0
    return tensor


def parallel_axis_inertia(mass: float, com: FloatArray) -> FloatArray:
    """Return the inertia m (c'c E - c c') (3, 3) [kg m^2] of a point mass m at c.

    It is the parallel-axis term of a body with mass m and center of mass c.
    """
    return np.asarray(mass * (com @ com * np.eye(3) - np.outer(com, com)))


def body_parameters(mass: float, com: FloatArray, inertia: FloatArray) -> FloatArray:
    """Compute the ten inertial parameters of a rigid body.

    Args:
        mass: [kg].
        com: (3,) [m] center of mass in the body's frame.
        inertia: (3, 3) [kg m^2] about the center of mass, in the axes of the same frame.

    Returns:
        Parameters (10,) in that frame: mass m, first moments m c [kg m], and inertia xx, xy, xz,
        yy, yz, zz about the frame's origin [kg m^2].
    """
    at_origin = inertia + parallel_axis_inertia(mass, com)
    return np.array([mass, *(mass * com), *at_origin[ROWS, COLUMNS]])


def bodies_of_parameters(rows: FloatArray) -> list[BodyNumbers]:
    """Convert inertial parameters (k, 10) to the mass properties of k bodies.

    The parameters are in the order of `body_parameters`. Mass, center of mass, and inertia about
    the center of mass are in the same frame. The center of mass of a body without mass is at the
    origin.
    """
    masses, com = rows[:, :1], np.zeros((len(rows), 3))
    np.divide(rows[:, 1:4], masses, out=com, where=masses > 0.0)
    inertia = np.empty((len(rows), 3, 3))
    inertia[:, ROWS, COLUMNS] = inertia[:, COLUMNS, ROWS] = rows[:, 4:]
    squares = (com * com).sum(axis=1)[:, None, None] * np.eye(3)
    inertia -= masses[:, :, None] * (squares - com[:, :, None] * com[:, None, :])
    com.setflags(write=False)
    inertia.setflags(write=False)
    return list(map(BodyNumbers, rows[:, 0].tolist(), com, inertia))


def pseudo_inertias(values: FloatArray) -> FloatArray:
    """Compute pseudo-inertias (..., 4, 4) from inertial parameters (..., 10).

    The pseudo-inertia is the integral of d d' dm with d = [x y z 1]', in the frame of the
    parameters, whose order is that of `body_parameters`. A body is physical if and only if its
    pseudo-inertia is positive semidefinite (Wensing, Kim and Slotine, 2018).
    """
    out = np.empty((*values.shape[:-1], 4, 4))
    xx, xy, xz, yy, yz, zz = (values[..., k] for k in range(4, 10))
    half = 0.5 * (xx + yy + zz)
    out[..., 0, 0], out[..., 1, 1], out[..., 2, 2] = half - xx, half - yy, half - zz
    out[..., 0, 1] = out[..., 1, 0] = -xy
    out[..., 0, 2] = out[..., 2, 0] = -xz
    out[..., 1, 2] = out[..., 2, 1] = -yz
    out[..., :3, 3] = out[..., 3, :3] = values[..., 1:4]
    out[..., 3, 3] = values[..., 0]
    return out


def of_pseudo_inertias(J: FloatArray) -> FloatArray:
    """Convert pseudo-inertias (..., 4, 4) to inertial parameters (..., 10).

    It is the inverse of `pseudo_inertias`.
    """
    total = J[..., 0, 0] + J[..., 1, 1] + J[..., 2, 2]
    return np.stack(
        [
            J[..., 3, 3], J[..., 0, 3], J[..., 1, 3], J[..., 2, 3],
            total - J[..., 0, 0], -J[..., 0, 1], -J[..., 0, 2],
            total - J[..., 1, 1], -J[..., 1, 2], total - J[..., 2, 2],
        ],
        axis=-1,
    )  # fmt: skip


UNIT_BODIES = [
    BodyNumbers(1.0, np.zeros(3), np.zeros((3, 3))),
    *(BodyNumbers(1.0, axis, -parallel_axis_inertia(1.0, axis)) for axis in np.eye(3)),
    *(
        BodyNumbers(0.0, np.zeros(3), unit_inertia(row, column))
        for row, column in zip(ROWS, COLUMNS, strict=True)
    ),
]
