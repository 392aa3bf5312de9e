# SPDX-License-Identifier: Apache-2.0

"""Entry points of the compiled equations, for single states and batches.

They are compiled, or read from the cache, on first use.

A state of a batch without a solution is NaN in the results.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class Call:
    """A computation of a mechanism: its kernels, and types of their arguments.

    The packed arrays of the mechanism are the first arguments of both kernels.

    Attributes:
        kernel: kernel of one state; None if there is none.
        given: types of its other arguments, up to the array of the result.
        lanes: kernel of a batch of states; None if there is none.
        inputs: types of its other arguments, without the array of results.
    """

    kernel: Any
    given: tuple[Any, ...] = ()
    lanes: Any = None
    inputs: tuple[Any, ...] = ()


_MATRIX_AT = (VECTOR, types.boolean, MATRIX_OUT)
_TWO = (types.float64, types.float64)
EQUATIONS = Call(kernels.equations, (VECTOR, VECTOR_OUT, VECTOR_OUT))
TREE_STATE = Call(kernels.tree_state, (VECTOR, VECTOR, MATRIX_OUT))
TREE_EFFORTS = Call(kernels.tree_efforts, (*_LOADED, VECTOR_OUT, MATRIX_OUT))
TIP_POSE = Call(kernels.tip_pose, (VECTOR, VECTOR_OUT))
CONFIGURATION_RATE = Call(kernels.configuration_rate, (VECTOR, VECTOR, VECTOR_OUT))
ADVANCE = Call(kernels.advance, (VECTOR_OUT, VECTOR))
DISPLACE = Call(
    kernels.displace,
    (VECTOR_OUT, VECTOR, types.float64),
    lanes.displace_lanes,
    (*CONFIGURATION * 2, *_TWO),
)
DISPLACE_ALL = Call(kernels.displace_all, (MATRIX_OUT, MATRIX, types.boolean, *_TWO))
REACH = Call(
    kernels.reach,
    (VECTOR_OUT, VECTOR, VECTOR, types.float64, types.int64),
    lanes.body_motions,
    (*CONFIGURATION * 4, VECTOR, *_TWO),
)
REACH_ALL = Call(kernels.reach_all, (VECTOR, MATRIX, VECTOR, *_TWO, types.int64, MATRIX_OUT))
INVERSE_DYNAMICS = Call(kernels.inverse_dynamics, _STATE, lanes.inverse_dynamics, STATE)
FORWARD_DYNAMICS = Call(kernels.forward_dynamics, _STATE, lanes.forward_dynamics, STATE)
FORWARD_DYNAMICS_OF_TREE = Call(forward_dynamics_of_tree, _STATE, forward_dynamics_of_trees, STATE)
FREE_EFFORTS = Call(kernels.free_efforts, _STATE)
MASS_MATRIX = Call(kernels.mass_matrix, _MATRIX_AT, lanes.mass_matrix, CONFIGURATION)
JACOBIAN = Call(kernels.jacobian, _MATRIX_AT, lanes.jacobian, CONFIGURATION)
TANGENT = Call(kernels.tangent, (VECTOR, MATRIX_OUT), lanes.tangent, CONFIGURATION)
MOTION = Call(kernels.motion, (VECTOR, VECTOR, VECTOR, VECTOR_OUT), lanes.motion, CONFIGURATION * 3)
FRAMES = Call(None, (), lanes.frames, (*CONFIGURATION, types.int64))
CONDITIONS = Call(
    None, (), lanes.conditions, (*CONFIGURATION, VECTOR, VECTOR, MATRIX, types.float64)
)
REGRESSOR = Call(None, (), regressor, (*CONFIGURATION * 3, MATRIX, MATRIX))


@cached_threadsafe
def condition_entry() -> Callable[..., None]:
    """Return the compiled function `condition_numbers` for a batch of configurations."""
    known = (*_MECHANISM, VECTOR, VECTOR, MATRIX)
    return direct(condition_numbers, *known, types.float64, MATRIX, MATRIX_OUT)


@cached_threadsafe
def side_entry() -> Callable[..., None]:
    """Return the compiled function `sides`, the batch version of `conditions.side`."""
    return direct(sides, *_MECHANISM, *(VECTOR,) * 4, MATRIX, VECTOR_OUT)


@cached_threadsafe
def _entry(kernel: Any, *given: Any) -> Callable[..., Any]:
    return direct(kernel, *_MECHANISM, *given)


def entry(call: Call, packed: PackedMechanism) -> Callable[..., Any]:
    """Return the compiled function of a computation for single states of a mechanism.

    It is bound to the packed arrays. If the independent joints are the driven ones, `FREE_EFFORTS`
    replaces `INVERSE_DYNAMICS`: it omits the distribution over redundant drives, a third of the
    code to be compiled.
    """
    if call is INVERSE_DYNAMICS and packed.head["drives_free"]:
        call = FREE_EFFORTS
    return partial(_entry(call.kernel, *call.given), *packed.given)


def single_dynamics(packed: PackedMechanism, *, is_open_tree: bool = False) -> Single:
    """Return the compiled dynamics of single states, for a fixed or a moving base."""
    inverse = FREE_EFFORTS if packed.head["drives_free"] else INVERSE_DYNAMICS
    forward = FORWARD_DYNAMICS_OF_TREE if is_open_tree else FORWARD_DYNAMICS
    found = inverse.kernel, forward.kernel, kernels.mass_matrix
    return Single(found, packed.given, VECTOR_OR_NONE)


def batch(
    call: Call | None,
    packed: PackedMechanism,
    widths: tuple[int, ...],
    core: tuple[int, ...],
    values: tuple[ArrayLike | None, ...],
    *settings: Any,
    scratch: int = 0,
) -> FloatArray | None:
    """Call a compiled function for a batch of states in SIMD lanes.

    Args:
        call: the computation.
        packed: the mechanism.
        widths: last dimension of each array in `values`.
        core: shape of one result.
        values: arrays (..., width), first the closed configurations; a wrench may be None.
        settings: arguments that are the same for all states.
        scratch: number of float64 values of scratch memory per state, if it is not constant.

    Returns:
        Results (..., *core), NaN for each state without a solution; None if an argument is invalid
        or there is no kernel for batches.
    """
    given = None if call is None or call.lanes is None else states(widths, values)
    if call is None or given is None:
        return None
    inputs = types_of_state(values) if call.inputs is STATE else call.inputs
    with suppress(TypeError):  # None for a required argument
        compiled = _entry(call.lanes, *inputs, MATRIX_OUT)
        if scratch > layout.MOST:
            compiled = with_stack(8 * WIDTH * scratch + 2**20, compiled)
        return evaluate_unchecked(compiled, packed.given, given, core, *settings)
    return None


class UncheckedLoop(UncheckedSingle):
    """Dynamics of a mechanism with closed loops without argument checks, for fast callers."""

    def __init__(self, mechanism: Any) -> None:
        super().__init__(mechanism, mechanism.solver.one)
        self._free = mechanism.solver.free_at
        self._displace = entry(DISPLACE, mechanism.structure.packed)

    def difference(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        """Compute the displacement (mobility,) from configuration `start` to `goal`.

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
