# SPDX-License-Identifier: Apache-2.0

"""Single states of an arm."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from robodyn.mechanisms.common import single_calls as single
from robodyn.mechanisms.serial.kernels import entries as kernels
from robodyn.numerics.array_arguments import MATRIX, VECTOR
from robodyn.threads import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray


@once
def _entries() -> single.Single:
    return single.entries(kernels, MATRIX, VECTOR)


@once
def _condition() -> Callable[..., float]:
    return single.condition_entry(kernels, MATRIX)


def condition(chain: FloatArray) -> Callable[[Any, Any, bool], float]:
    """The condition number at q, given a length and a flag that skips checks; -1 if none."""
    return partial(_condition(), chain)


def dynamics(chain: FloatArray, gravity: FloatArray) -> single.Single:
    """Entry points for an arm; compiled or read from disk on first use."""
    return single.of_mechanism(_entries(), chain, gravity)


class UncheckedArm(single.UncheckedSingle):
    """An arm's dynamics without checks; see the base class."""

    def __init__(self, chain: FloatArray, gravity: FloatArray) -> None:
        super().__init__(dynamics(chain, gravity))

    def difference(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        """Displacement (n,) from start to goal (n,)."""
        return goal - start

    def advance(self, q: FloatArray, displacement: FloatArray) -> FloatArray:
        """Configuration (n,) after a displacement (n,)."""
        return q + displacement
