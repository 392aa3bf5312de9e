# SPDX-License-Identifier: Apache-2.0

"""The efforts of a motion, split into what each effect contributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robodyn.errors import KinematicsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from robodyn.arrays import FloatArray


class EffortTerms(NamedTuple):
    """Efforts of a motion and the terms they are made of.

    Attributes:
        total: (N, n) [N or N m]; NaN where no efforts exist.
        terms: (N, n) each, by name, such as `massless` and `dynamic`, or `inertial`, `coriolis`,
            `gravity`, `friction`.
        reactions: named tuple of arrays (N, k, 3) in the mechanism's joints; None where a kind of
            mechanism does not compute them.
    """

    total: FloatArray
    terms: Mapping[str, FloatArray]
    reactions: Any = None


def where_regular(
    function: Callable[..., FloatArray], states: Sequence[FloatArray], core: tuple[int, ...]
) -> FloatArray:
    """A function of rows of states, (N, *core), NaN where the mechanism is singular."""
    try:
        return function(*states)
    except KinematicsError:
        rows = np.full((len(states[0]), *core), np.nan)
    for row, state in zip(rows, zip(*states, strict=True), strict=True):
        try:
            row[...] = function(*state)
        except KinematicsError:
            continue
    return rows
