# SPDX-License-Identifier: Apache-2.0

"""Forward dynamics where the independent joints do not determine the motion: in other ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.errors import SingularMassMatrix
from robodyn.mechanisms.closed_loop.calls import entry, single_dynamics
from robodyn.mechanisms.closed_loop.equations import least_step

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray


def forward_anywhere(
    mechanism: Any, q: FloatArray, rates: FloatArray, effort: FloatArray, *load: FloatArray | None
) -> FloatArray:
    """Accelerations (mobility,) of the independent joints at a closed configuration.

    The motion is told in the coordinates that determine it best there; of the motions with these
    rates of the independent joints, the least is taken. `load` is a wrench and the rows of a base.

    Raises:
        SingularMassMatrix: some motion has no inertia.
    """
    structure, pivots = mechanism.structure, mechanism._pivots
    free = pivots.best_free(q)
    packed = pivots.at(q, free)
    v = full_rates(structure, q, rates)
    other = np.empty(len(free))
    if not single_dynamics(packed).forward(q, v[list(free)], effort, *load, True, other):
        raise SingularMassMatrix(
            f"{mechanism.name}: a motion of the mechanism has no inertia, so no acceleration "
            "follows; give its links mass",
            value=q,
        )
    count = mechanism._tree.rates
    motion = np.empty(2 * count + 6)
    entry("motion", packed)(q, v[list(free)], other, motion)
    return np.asarray(motion[count : 2 * count][list(structure.free)])


def full_rates(structure: Any, q: FloatArray, rates: FloatArray) -> FloatArray:
    """The least rates (rates,) of the tree with these of the independent coordinates."""
    _, K = structure.equations.at(q)
    columns = structure.equations.columns
    rows = np.zeros((len(structure.free), K.shape[1]))
    for n, rate in enumerate(structure.free):
        rows[n, rate] = 1.0
    wanted = np.concatenate([np.zeros(len(K)), rates / columns[list(structure.free)]])
    return np.asarray(least_step(np.vstack([K, rows]), wanted) * columns)
