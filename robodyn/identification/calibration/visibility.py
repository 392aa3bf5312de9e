# SPDX-License-Identifier: Apache-2.0

"""Which parameters the measurements show, and which combinations of them they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.arrays import FloatArray

# Of a combination that is not seen, shares smaller than this are left out of its name.
SHARE = 0.05
TERMS = 6


@dataclass(frozen=True)
class Visibility:
    """What measurements say of the parameters beyond what was known before.

    Attributes:
        singular_values: (p,) of the identification Jacobian, largest first, its columns times the
            parameters' tolerances, its rows over the noise, frames eliminated. A direction with the
            value s is known 1 / sqrt(1 + s^2) times as well as before.
        unseen: (k, p) directions in scaled parameters whose singular value is below one, each row
            with as few parameters as possible.
        condition: ratio of the largest singular value to the smallest one of at least one.
    """

    singular_values: FloatArray
    unseen: FloatArray

    @property
    def condition(self) -> float:
        """Ratio of the extreme singular values of what is seen."""
        seen = self.singular_values[self.singular_values >= 1.0]
        return float(seen[0] / seen[-1]) if len(seen) else float("inf")


def visibility(whitened: FloatArray, count: int) -> Visibility:
    """What is seen of the first `count` unknowns, the others being of no interest.

    Args:
        whitened: (rows, U) derivatives of the residuals over their noise; see `Problem`.
        count: how many unknowns are parameters.
    """
    parameters, others = whitened[:, :count], whitened[:, count:]
    if others.shape[1]:
        u, s, _ = np.linalg.svd(others, full_matrices=False)
        basis = u[:, s > 1e-12 * s.max(initial=0.0)]
        parameters = parameters - basis @ (basis.T @ parameters)
    values, rows = right_singular(parameters)
    return Visibility(values, _sparse(rows[values < 1.0]))


def right_singular(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """All U singular values, zeros included, and right singular vectors (U, U) of (rows, U)."""
    count = matrix.shape[1]
    square = np.zeros((count, count))
    upper = np.linalg.qr(matrix, mode="r")
    square[: len(upper)] = upper
    _, values, vectors = np.linalg.svd(square)
    return np.asarray(values), np.asarray(vectors)


def _sparse(rows: FloatArray) -> FloatArray:
    """Rows (k, p) of the same span, by elimination with complete pivoting."""
    out: FloatArray = rows.copy()
    left = list(range(len(out)))
    chosen: list[int] = []
    while left:
        sizes = np.abs(out[left])
        sizes[:, chosen] = 0.0
        row, column = np.unravel_index(int(sizes.argmax()), sizes.shape)
        pivot = left.pop(int(row))
        chosen.append(int(column))
        out[pivot] /= out[pivot, column]
        for other in range(len(out)):
            if other != pivot:
                out[other] -= out[other, column] * out[pivot]
    return out


def combination(direction: FloatArray, names: Sequence[str]) -> str:
    """A direction in words: `leg1.offset`, or `leg1.base.z + leg1.platform.z and 3 more`."""
    largest = np.abs(direction).max()
    order = np.argsort(-np.abs(direction), kind="stable")
    kept = [i for i in order if abs(direction[i]) > SHARE * largest]
    parts: list[str] = []
    for i in kept[:TERMS]:
        factor = direction[i] / largest
        size = "" if abs(abs(factor) - 1.0) < 0.005 else f"{abs(factor):.2g} "
        sign = ("- " if factor < 0.0 else "+ ") if parts else ("-" if factor < 0.0 else "")
        parts.append(f"{sign}{size}{names[i]}")
    more = f" and {len(kept) - TERMS} more" if len(kept) > TERMS else ""
    return " ".join(parts) + more
