# SPDX-License-Identifier: Apache-2.0

"""Random states of a mechanism, and the results of the library one by one."""

from typing import NamedTuple

import numpy as np

import robodyn as rd


class States(NamedTuple):
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    w: np.ndarray
    b: np.ndarray


def random_states(m, rows, seed=0):
    """Configurations near home, velocities, accelerations, efforts, wrenches, motions of the base.

    Each (rows, ...); the first is at rest.
    """
    rng = np.random.default_rng(seed)
    nv, n = m.coordinates.velocity_size, len(m.joint_names)
    span = [0.1 * m.size if unit == "m" else 0.1 for unit in m.coordinates.units]
    q = np.array([m.advance(m.home, span * rng.uniform(-1.0, 1.0, nv)) for _ in range(rows)])
    v, a = rng.normal(size=(2, rows, nv))
    v[0] = 0.0
    b = rng.normal(size=(rows, 9))
    b[:, 2] += 9.81
    # what is light is pushed less, or it would leave all bounds within a step
    pushed = np.abs(m.forward_dynamics(m.home, np.zeros(nv), np.full(n, 10.0))).max()
    push = min(1.0, 1e3 / pushed)
    tau, w = 10.0 * push * rng.normal(size=(rows, n)), 5.0 * push * rng.normal(size=(rows, 6))
    return States(q, v, a, tau, w, b)


def expected(call, *columns):
    """Results of single states, row by row; NaN where there is none."""
    found, shape = [], None
    for row in zip(*columns, strict=True):
        try:
            answer = call(*row)
            parts = answer if isinstance(answer, tuple) else (answer,)
            found.append(np.concatenate([np.ravel(part) for part in parts]))
            shape = found[-1].shape
        except rd.RobodynError:
            found.append(None)
    return np.array([np.full(shape, np.nan) if one is None else one for one in found])
