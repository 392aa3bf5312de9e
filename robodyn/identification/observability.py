# SPDX-License-Identifier: Apache-2.0

"""What recordings do not show: parameters that another motion would, and those that none would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.errors import RobodynError
from robodyn.identification.base_parameters import Base, find_base

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.identification.assembly import Columns
    from robodyn.mechanisms.mechanism import Mechanism

# States around home by which it is found what could be seen, and how far from it they are.
STATES, SPREAD = 120, 0.3
SEED = 18


def missed_parameters(
    m: Any, columns: Columns, base: Base
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Parameters that recordings do not show, with what would; and those that no motion shows.

    A parameter is missed if some motion near home shows a combination with it that is not a
    combination of the base parameters.
    """
    own = list(columns.own)
    at_rest, moving = states_around_home(m)
    possible = find_base(np.concatenate([at_rest, moving]).reshape(-1, at_rest.shape[-1])[:, own])
    hidden = tuple(columns.names[c] for c in possible.unseen())
    known = [c for c in base.kept if c < len(own)]
    # what of each possible base column is not seen: it is no combination of those that are
    everything = base.matrix[:, : len(own)]
    reach = np.linalg.lstsq(everything.T, np.eye(len(own)), rcond=None)[0]
    projector = everything.T @ reach
    missed = []
    for column in possible.kept:
        direction = possible.matrix[list(possible.kept).index(column)]
        lost = direction - projector @ direction
        if np.linalg.norm(lost) < 1e-3 * np.linalg.norm(direction) or column in known:
            continue
        missed.append((columns.names[column], _hint(m, at_rest, moving, own[column])))
    return tuple(missed), hidden


def _hint(m: Mechanism, at_rest: FloatArray, moving: FloatArray, column: int) -> str:
    still = np.sqrt((at_rest[..., column] ** 2).mean(axis=0))
    fast = np.sqrt((moving[..., column] ** 2).mean(axis=0))
    j = int(np.argmax(fast))
    joint = m.joint_names[j]
    if still[j] > 0.2 * fast[j]:
        return f"poses that differ more: it loads {joint} by its weight"
    return f"a quicker motion that turns it in other ways: it loads {joint} by its inertia"


def states_around_home(m: Any) -> tuple[FloatArray, FloatArray]:
    """Regressors at states around home, at rest and moving (S, n, p)."""
    rng = np.random.default_rng(SEED)
    width = m.mass_matrix(m.home).shape[-1]
    found = []
    for _ in range(4 * STATES):
        step = (
            SPREAD
            * rng.uniform(-1.0, 1.0, width)
            * np.array([m.size if unit == "m" else 1.0 for unit in m.coordinates.units])
        )
        try:
            found.append(m.advance(m.home, step))
        except RobodynError:
            continue  # out of reach of a closed loop
        if len(found) == STATES:
            break
    q = np.array(found)
    rates, changes = rng.normal(0.0, 1.0, (2, len(q), width))
    nothing = np.zeros_like(rates)
    return m.regressor(q, nothing, nothing), m.regressor(q, rates, 3.0 * changes)
