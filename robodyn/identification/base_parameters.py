# SPDX-License-Identifier: Apache-2.0

"""Base parameters, and parameters that recordings do not determine.

Base parameters are the combinations of parameters on which the efforts depend. QR with column
pivoting selects independent columns of the regressor; every other column is a combination of these,
Y_d = Y_b X. With the parameters pi_b and pi_d of both groups of columns, efforts depend on pi_b + X
pi_d only (Gautier, 1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import RobodynError
from robodyn.identification.columns import Columns
from robodyn.mechanism.mechanism import Mechanism

# A column whose independent part is smaller than this, relative to its size, is dependent.
RANK = 1e-7
# Coefficients below this are omitted from names.
NOTICEABLE = 1e-4
# States around home that show which parameters are observable: number and distance from home.
STATES, SPREAD = 120, 0.3
SEED = 18


@dataclass(frozen=True)
class BaseColumns:
    """Independent columns of a regressor, and the other columns as combinations of them.

    Attributes:
        kept: (b,) indices of the independent columns, ascending.
        dropped: (d,) indices of the other columns.
        combination: (b, d) matrix with Y[:, dropped] = Y[:, kept] @ combination, where Y is the
            regressor.
    """

    kept: tuple[int, ...]
    dropped: tuple[int, ...]
    combination: FloatArray

    @property
    def matrix(self) -> FloatArray:
        """Matrix (b, p) from parameters to base parameters: base = matrix @ parameters."""
        out = np.zeros((len(self.kept), len(self.kept) + len(self.dropped)))
        out[range(len(self.kept)), self.kept] = 1.0
        out[:, self.dropped] = self.combination
        return out

    def names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the name of each base parameter, such as `a + 2 b - c`.

        `names` (p,) are the names of all parameters, one for each column of the regressor.

        Returns:
            (b,) names: sums of the parameters' names, with their coefficients.
        """
        out = []
        for row, column in zip(self.combination, self.kept, strict=True):
            text = names[column]
            for coefficient, other in zip(row, self.dropped, strict=True):
                if abs(coefficient) > NOTICEABLE:
                    sign = "+" if coefficient > 0.0 else "-"
                    size = abs(coefficient)
                    factor = "" if abs(size - 1.0) < NOTICEABLE else f"{size:.4g} "
                    text += f" {sign} {factor}{names[other]}"
            out.append(text)
        return tuple(out)

    def unobservable(self) -> tuple[int, ...]:
        """Return the indices of the parameters on which no base parameter depends."""
        alone = np.abs(self.combination).max(axis=0, initial=0.0) <= NOTICEABLE
        return tuple(c for c, zero in zip(self.dropped, alone, strict=True) if zero)


def find_base(Y: FloatArray) -> BaseColumns:
    """Select the independent columns of a regressor that is evaluated at many states.

    `Y` (rows, p) is the regressor; its rows are the efforts at all states.

    Returns:
        Indices of the independent columns and of the others, and the matrix that expresses the
        others as combinations of the independent ones.
    """
    from scipy.linalg import qr, solve_triangular  # slow to import

    size = np.linalg.norm(Y, axis=0)
    present = np.flatnonzero(size > 1e-12 * size.max(initial=0.0))
    scaled = Y / np.where(size > 0.0, size, 1.0)
    kept: list[int] = []
    if len(present):
        R, order = qr(scaled[:, present], mode="r", pivoting=True)
        rank = int((np.abs(np.diag(R)) > RANK).sum())
        kept = sorted(present[order[:rank]].tolist())
    dropped = [c for c in range(Y.shape[1]) if c not in set(kept)]
    Q, R = np.linalg.qr(scaled[:, kept])
    X = solve_triangular(R, Q.T @ scaled[:, dropped])
    X = X / size[kept][:, None] * np.where(size[dropped] > 0.0, size[dropped], 0.0)
    return BaseColumns(tuple(kept), tuple(dropped), X)


def missed_parameters(
    columns: Columns, base: BaseColumns
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Find the parameters that recordings do not determine.

    A parameter is missed if a motion near home would determine a combination with this parameter
    that is not a combination of the base parameters.

    Args:
        columns: parameters of the fit, and their regressor.
        base: base parameters that the recordings determine.

    Returns:
        Pairs of a missed parameter's name and a description of a motion that would determine it,
        and the names of parameters that no motion determines.
    """
    m, own = columns.mechanism, list(columns.own)
    at_rest, moving = states_around_home(m)
    possible = find_base(np.concatenate([at_rest, moving]).reshape(-1, at_rest.shape[-1])[:, own])
    hidden = tuple(columns.names[c] for c in possible.unobservable())
    known = [c for c in base.kept if c < len(own)]
    # the part of each possible base column that is no combination of observed ones
    everything = base.matrix[:, : len(own)]
    reach = np.linalg.lstsq(everything.T, np.eye(len(own)), rcond=None)[0]
    projector = everything.T @ reach
    missed = []
    for column in possible.kept:
        direction = possible.matrix[list(possible.kept).index(column)]
        lost = direction - projector @ direction
        if np.linalg.norm(lost) < 1e-3 * np.linalg.norm(direction) or column in known:
            continue
        missed.append((columns.names[column], _excitation_hint(m, at_rest, moving, own[column])))
    return tuple(missed), hidden


def _excitation_hint(m: Mechanism, at_rest: FloatArray, moving: FloatArray, column: int) -> str:
    still = np.sqrt((at_rest[..., column] ** 2).mean(axis=0))
    fast = np.sqrt((moving[..., column] ** 2).mean(axis=0))
    j = int(np.argmax(fast))
    joint = m.joint_names[j]
    if still[j] > 0.2 * fast[j]:
        return f"poses farther apart (the parameter adds to the weight on {joint})"
    return f"a faster motion with other rotations (the parameter adds to the inertia at {joint})"


def states_around_home(m: Any) -> tuple[FloatArray, FloatArray]:
    """Compute a mechanism's regressors at random states around home.

    Returns:
        Two regressors (S, n, p) at the same S random configurations: at rest, and with random
        generalized velocities and accelerations. p is the number of the mechanism's parameters.
    """
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
            continue  # the closed loop does not reach it
        if len(found) == STATES:
            break
    q = np.array(found)
    rates, changes = rng.normal(0.0, 1.0, (2, len(q), width))
    nothing = np.zeros_like(rates)
    return m.regressor(q, nothing, nothing), m.regressor(q, rates, 3.0 * changes)
