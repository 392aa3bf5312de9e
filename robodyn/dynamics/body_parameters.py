# SPDX-License-Identifier: Apache-2.0

"""The ten numbers by which a rigid body enters the equations of motion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import FloatArray

# Where the six numbers of a symmetric matrix are in it.
ROWS, COLUMNS = np.triu_indices(3)


class BodyNumbers(NamedTuple):
    """A body as the models have it: mass, com (3,) and inertia (3, 3) about it."""

    mass: float
    com: FloatArray
    inertia: FloatArray


NOTHING = BodyNumbers(0.0, np.zeros(3), np.zeros((3, 3)))


def unit_inertia(row: Any, column: Any) -> FloatArray:
    """(3, 3) symmetric, of ones in these places."""
    tensor = np.zeros((3, 3))
    tensor[row, column] = tensor[column, row] = 1.0
    return tensor


def about_origin(mass: float, com: FloatArray) -> FloatArray:
    """(3, 3) [kg m^2] what the offset of its center of mass adds to a body's inertia."""
    return np.asarray(mass * (com @ com * np.eye(3) - np.outer(com, com)))


def body_parameters(mass: float, com: FloatArray, inertia: FloatArray) -> FloatArray:
    """(10,) of a body with this inertia (3, 3) about its center of mass."""
    at_origin = inertia + about_origin(mass, com)
    return np.array([mass, *(mass * com), *at_origin[ROWS, COLUMNS]])


def bodies_of_parameters(rows: FloatArray) -> list[BodyNumbers]:
    """The bodies with parameters (k, 10); one without mass has its center at the origin."""
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
    """(..., 4, 4) of bodies' parameters (..., 10): the integral of d d' dm, d = [x y z 1].

    A body exists exactly where it is positive semidefinite (Wensing, Kim and Slotine, 2018).
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
    """(..., 10) parameters of pseudo-inertias (..., 4, 4): inverts `pseudo_inertias`."""
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
    *(BodyNumbers(1.0, axis, -about_origin(1.0, axis)) for axis in np.eye(3)),
    *(
        BodyNumbers(0.0, np.zeros(3), unit_inertia(row, column))
        for row, column in zip(ROWS, COLUMNS, strict=True)
    ),
]
