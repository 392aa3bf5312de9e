# SPDX-License-Identifier: Apache-2.0

"""Entry points of the compiled equations, for single states and batches.

They are compiled, or read from the cache, on first use.

A state of a batch without a solution is NaN in the results.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numba import types

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.dynamics.batch_calls import CONFIGURATION, STATE, evaluate_unchecked, types_of_state
from robodyn.dynamics.single_calls import Single, UncheckedSingle
from robodyn.numerics.array_arguments import (
    MATRIX,
    MATRIX_OUT,
    VECTOR,
    VECTOR_OR_NONE,
    VECTOR_OUT,
    direct,
)
from robodyn.numerics.broadcasting import states
from robodyn.numerics.simd.lanes import WIDTH
from robodyn.solvers.tree.kernels import entries as kernels
from robodyn.solvers.tree.kernels import lanes, layout
from robodyn.solvers.tree.kernels.articulated import (
    forward_dynamics_of_tree,
    forward_dynamics_of_trees,
)
from robodyn.solvers.tree.kernels.conditions import condition_numbers, sides
from robodyn.solvers.tree.kernels.regressor import regressor
from robodyn.solvers.tree.packing import PackedMechanism
from robodyn.threads import cached_threadsafe, with_stack

_MECHANISM = (VECTOR,) * 2
_LOADED = (VECTOR, VECTOR, VECTOR, VECTOR_OR_NONE, VECTOR_OR_NONE)
_STATE = (*_LOADED, types.boolean, VECTOR_OUT)
# Arguments of kernels for single states besides the mechanism.
_SINGLE: dict[str, tuple[Any, ...]] = {
    "equations": (VECTOR, VECTOR_OUT, VECTOR_OUT),
    "tree_state": (VECTOR, VECTOR, MATRIX_OUT),
    "inverse_dynamics": _STATE,
    "forward_dynamics": _STATE,
    "free_efforts": _STATE,
    "tree_efforts": (*_LOADED, VECTOR_OUT, MATRIX_OUT),
    "jacobian": (VECTOR, types.boolean, MATRIX_OUT),
    "displace": (VECTOR_OUT, VECTOR, types.float64),
    "displace_all": (MATRIX_OUT, MATRIX, types.boolean, types.float64, types.float64),
    "tip_pose": (VECTOR, VECTOR_OUT),
    "reach": (VECTOR_OUT, VECTOR, VECTOR, types.float64, types.int64),
    "reach_all": (
        VECTOR,
        MATRIX,
        VECTOR,
        types.float64,
        types.float64,
        types.int64,
        MATRIX_OUT,
    ),
    "mass_matrix": (VECTOR, types.boolean, MATRIX_OUT),
    "tangent": (VECTOR, MATRIX_OUT),
    "motion": (VECTOR, VECTOR, VECTOR, VECTOR_OUT),
    "advance": (VECTOR_OUT, VECTOR),
    "configuration_rate": (VECTOR, VECTOR, VECTOR_OUT),
}
# Arguments of kernels for batches besides the mechanism.
_BATCH: dict[str, tuple[Any, ...]] = {
    "inverse_dynamics": STATE,
    "forward_dynamics": STATE,
    "jacobian": CONFIGURATION,
    "tangent": CONFIGURATION,
    "mass_matrix": CONFIGURATION,
    "conditions": (*CONFIGURATION, VECTOR, VECTOR, MATRIX, types.float64),
    "motion": CONFIGURATION * 3,
    "frames": (*CONFIGURATION, types.int64),
    "displace_lanes": (*CONFIGURATION * 2, types.float64, types.float64),
    "forward_dynamics_of_trees": STATE,
    "regressor": (*CONFIGURATION * 3, MATRIX, MATRIX),
    "body_motions": (*CONFIGURATION * 4, VECTOR, types.float64, types.float64),
}
# Kernels of batches that are not in `kernels.lanes`.
_ELSEWHERE: dict[str, Any] = {
    "regressor": regressor,
    "forward_dynamics_of_trees": forward_dynamics_of_trees,
}


@cached_threadsafe
def condition_entry() -> Callable[..., None]:
    """Return the compiled function for condition numbers at a batch of configurations."""
    known = (*_MECHANISM, VECTOR, VECTOR, MATRIX)
    return direct(condition_numbers, *known, types.float64, MATRIX, MATRIX_OUT)


@cached_threadsafe
def side_entry() -> Callable[..., None]:
    """Return the compiled function `sides`, the batch version of `conditions.side`."""
    return direct(sides, *_MECHANISM, *(VECTOR,) * 4, MATRIX, VECTOR_OUT)


@cached_threadsafe
def _entry(name: str) -> Callable[..., Any]:
    return direct(getattr(kernels, name), *_MECHANISM, *_SINGLE[name])


def entry(name: str, packed: PackedMechanism) -> Callable[..., Any]:
    """Return a compiled function for single states of a mechanism.

    It is the function `name` of `kernels.entries`, bound to the packed arrays. If the independent
    joints are the driven ones, `free_efforts` replaces `inverse_dynamics`: it omits the
    distribution over redundant drives, a third of the code to be compiled.
    """
    if name == "inverse_dynamics" and packed.head["drives_free"]:
        name = "free_efforts"
    return partial(_entry(name), *packed.given)


def single_dynamics(packed: PackedMechanism, *, is_open_tree: bool = False) -> Single:
    """Return the compiled dynamics of single states, for a fixed or a moving base."""
    special: dict[str, Any] = {}
    if packed.head["drives_free"]:
        special["inverse_dynamics"] = kernels.free_efforts
    if is_open_tree:
        special["forward_dynamics"] = forward_dynamics_of_tree
    return Single(kernels, packed.given, VECTOR_OR_NONE, **special)


@cached_threadsafe
def _batch_entry(name: str, *inputs: Any) -> Callable[..., int]:
    kernel = _ELSEWHERE[name] if name in _ELSEWHERE else getattr(lanes, name)
    return direct(kernel, *_MECHANISM, *inputs, MATRIX_OUT)


def batch(
    name: str,
    packed: PackedMechanism,
    widths: tuple[int, ...],
    core: tuple[int, ...],
    values: tuple[ArrayLike | None, ...],
    *settings: Any,
    scratch: int = 0,
) -> FloatArray | None:
    """Call a compiled function for a batch of states in SIMD lanes.

    Args:
        name: name of the compiled function.
        packed: the mechanism.
        widths: last dimension of each array in `values`.
        core: shape of one result.
        values: arrays (..., width), first the closed configurations; a wrench may be None.
        settings: arguments that are the same for all states.
        scratch: number of float64 values of scratch memory per state, if it is not constant.

    Returns:
        Results (..., *core), NaN for each state without a solution; None if an argument is invalid
        or the function has no version for batches.
    """
    given = states(widths, values) if name in _BATCH else None
    if given is None:
        return None
    inputs = types_of_state(values) if _BATCH[name] is STATE else _BATCH[name]
    with suppress(TypeError):  # None for a required argument
        compiled = _batch_entry(name, *inputs)
        if scratch > layout.MOST:
            compiled = with_stack(8 * WIDTH * scratch + 2**20, compiled)
        return evaluate_unchecked(compiled, packed.given, given, core, *settings)
    return None


class UncheckedLoop(UncheckedSingle):
    """Dynamics of a mechanism with closed loops for inner loops, without checks."""

    def __init__(self, mechanism: Any) -> None:
        super().__init__(mechanism, mechanism.solver.one)
        self._free = mechanism.solver.free_at
        self._displace = entry("displace", mechanism.structure.packed)

    def difference(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        """Compute the displacement (mobility,) between two configurations (nq,).

        It is that of the independent coordinates.
        """
        if self._mechanism.solver.free_poses:
            return np.asarray(self._mechanism.difference(start, goal))
        return np.asarray(self._shortest(goal[self._free] - start[self._free]))

    def advance(self, configuration: FloatArray, displacement: FloatArray) -> FloatArray:
        """Return the closed configuration (nq,) after a displacement (mobility,).

        The displacement is that of the independent coordinates.
        """
        moved = self.try_advance(configuration, displacement)
        if moved is not None:
            return moved
        advanced: FloatArray = self._mechanism.advance(configuration, displacement)
        return advanced

    def try_advance(self, configuration: FloatArray, displacement: FloatArray) -> FloatArray | None:
        """Return the closed configuration (nq,) after a displacement (mobility,), or None.

        The result is None if Newton's method does not close the loops.
        """
        moved = np.array(configuration)
        closed = 0.0 <= self._displace(moved, displacement, 1e-13) <= 1e-11
        return moved if closed else None
