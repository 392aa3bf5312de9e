# SPDX-License-Identifier: Apache-2.0

"""Single poses and motions of a platform through the vector kernels."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.mechanisms.common import single_calls as single
from robodyn.mechanisms.stewart.kernels import entries as kernels
from robodyn.numerics.array_arguments import VECTOR, VECTOR_OUT, direct
from robodyn.threads import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray


@once
def _entries() -> single.Single:
    return single.entries(kernels, VECTOR)


@once
def _condition() -> Callable[..., float]:
    return single.condition_entry(kernels, VECTOR)


@once
def _steps() -> tuple[Callable[..., None], Callable[..., None]]:
    return (
        direct(kernels.pose_difference, VECTOR, VECTOR, VECTOR_OUT),
        direct(kernels.advanced_pose, VECTOR, VECTOR, VECTOR_OUT),
    )


def dynamics(lanes: FloatArray) -> single.Single:
    """Entry points for a platform; compiled or read from disk on first use."""
    return single.of_mechanism(_entries(), lanes)


def condition(lanes: FloatArray) -> Callable[[Any, Any, bool], float]:
    """The condition number at a pose, given a length and a flag that skips checks; -1 if none."""
    return partial(_condition(), lanes)


class UncheckedPlatform(single.UncheckedSingle):
    """A platform's dynamics and condition number without checks; see the base class."""

    def __init__(self, lanes: FloatArray) -> None:
        super().__init__(dynamics(lanes))
        self._condition = condition(lanes)
        self._difference, self._advance = _steps()

    def difference(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        """Displacement (6,) from start to goal (7,), both of them normalised."""
        out = np.empty(6)
        self._difference(start, goal, out)
        return out

    def advance(self, pose: FloatArray, displacement: FloatArray) -> FloatArray:
        """Pose (7,) after a displacement (6,)."""
        out = np.empty(7)
        self._advance(pose, displacement, out)
        return out

    def condition_number(self, pose: FloatArray, characteristic_length: float = 1.0) -> float:
        """Condition number at pose (7,), -1 if there is none."""
        return self._condition(pose, characteristic_length, True)
