# SPDX-License-Identifier: Apache-2.0

"""Calls to compiled functions for batches of states, on several threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numba import types

from robodyn import threads
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_pose
from robodyn.numerics import array_arguments
from robodyn.numerics.broadcasting import StateBatch, element, flatten, states
from robodyn.threads import cached_threadsafe

# Types of a configuration, and of a whole state: three arrays, a wrench, the base's motion.
CONFIGURATION = (array_arguments.ROWS_OF_ANY_STRIDE,)
STATE = (*CONFIGURATION * 3, array_arguments.ROWS_OR_NONE, array_arguments.ROWS_OR_NONE)


def types_of_state(values: Sequence[ArrayLike | None]) -> tuple[Any, ...]:
    """Return the Numba types of a state's arguments, with or without a base motion.

    Args:
        values: configuration, velocity, acceleration or efforts, wrench, and base motion or None.

    Returns:
        A type for each of these arguments, as for `entry`.
    """
    return STATE if values[-1] is not None else (*STATE[:-1], types.none)


@cached_threadsafe
def entry(kernel: Any, *inputs: Any) -> Callable[..., int]:
    """Compile a batch function of a mechanism for calls from Python.

    Args:
        kernel: function to compile.
        inputs: Numba types of its arguments between the mechanism's two parameter arrays and the
            array of results.

    Returns:
        Function (matrix, vector, *inputs, out) that returns the number of solved states.
    """
    return array_arguments.direct(
        kernel, array_arguments.MATRIX, array_arguments.VECTOR, *inputs, array_arguments.MATRIX_OUT
    )


class ArrayArgument(NamedTuple):
    """Name, width and unit of an array argument (..., width), used to check its values."""

    name: str
    width: int
    unit: str = ""

    def checked(self, value: ArrayLike | None) -> FloatArray:
        """Check a value and return it as a float64 array.

        A missing wrench (None) becomes zeros (6,), a missing base motion an empty array.

        Raises:
            InvalidInput: the shape is wrong, a value is not finite, or a quaternion is not of unit
                length.
        """
        if value is None and self is WRENCH:
            return np.zeros(6)
        if value is None and self is BASE:
            return np.zeros(0)
        given: Any = value
        if self is POSE:
            return as_pose(self.name, given)
        return as_array(self.name, given, (self.width,), self.unit)


POSE = ArrayArgument("pose", 7)
WRENCH = ArrayArgument("wrench", 6, "N, N m")
BASE = ArrayArgument("base", 9)


class Arguments:
    """Names, widths and units of a method's array arguments, to check their values."""

    __slots__ = ("items", "widths")

    def __init__(self, *items: ArrayArgument) -> None:
        self.items, self.widths = items, [item.width for item in items]

    def flattened(
        self, values: Sequence[ArrayLike | None]
    ) -> tuple[tuple[int, ...], list[FloatArray]]:
        """Check values, broadcast their leading dimensions and flatten them to (N, k).

        Returns:
            The common leading shape, and an array (N, k) for each value; (N, 0) for a missing base
            motion.

        Raises:
            InvalidInput: as for `ArrayArgument.checked`, or leading shapes do not broadcast.
        """
        pairs = zip(self.items, values, strict=True)
        return flatten(**{item.name: item.checked(value) for item, value in pairs})


class NoSolutionAt(Exception):
    """Error raised if the equations of a state in a batch have no solution.

    Attributes:
        index: index of the first such state in the batch, () for a single state.
        state: its checked arguments.
    """

    def __init__(self, index: tuple[int, ...], state: list[FloatArray]) -> None:
        super().__init__(index)
        self.index, self.state = index, state


def evaluate_kernel(
    kernel: Callable[..., int],
    numbers: tuple[FloatArray, ...],
    arguments: Arguments,
    values: Sequence[ArrayLike | None],
    core: tuple[int, ...],
    *settings: Any,
) -> FloatArray:
    """Check a batch of states and evaluate a compiled function for each state.

    Args:
        kernel: compiled function; it takes the mechanism's parameters, arrays (n, k) of states, the
            settings and an array (n, prod(core)) for the results; returns the number of solved
            states, counted from the first, in whole SIMD vectors.
        numbers: the mechanism's parameters.
        arguments: names and widths of the arguments of a state.
        values: value of each argument, broadcast against each other; None if absent.
        core: shape of one result.
        settings: further arguments for the kernel, equal for all states.

    Returns:
        The results (..., *core).

    Raises:
        InvalidInput: an argument has the wrong shape or is not finite.
        NoSolutionAt: all arguments are valid, but a state has no result; the error contains the
            first such state.
    """
    batch = states(arguments.widths, values)
    if batch is not None:
        # None as a required argument raises a TypeError; it is rejected by name below
        with suppress(TypeError):
            results = evaluate_unchecked(kernel, numbers, batch, core, *settings)
            if results is not None:
                return results
    # an argument is invalid or a state has no result: only now spend time on finding out which
    shape, flat = arguments.flattened(values)
    flat_batch = StateBatch((len(flat[0]),), list(flat))
    out, done = _run(kernel, numbers, flat_batch, core, settings)
    if done == flat_batch.count:
        return out.reshape(*shape, *core)
    one = np.empty((1, out.shape[1]))
    for n in range(done, flat_batch.count):
        if not kernel(*numbers, *flat_batch.part(n, n + 1), *settings, one):
            break
    raise NoSolutionAt(element(shape, n), [array[n] for array in flat])


def evaluate_unchecked(
    kernel: Callable[..., int],
    numbers: tuple[FloatArray, ...],
    states: StateBatch,
    core: tuple[int, ...],
    *settings: Any,
) -> FloatArray | None:
    """Evaluate a compiled function for a batch of states without argument checks.

    The arguments are as for `evaluate_kernel`, with valid states.

    Returns:
        The results (..., *core); None if a state has no solution.
    """
    out, done = _run(kernel, numbers, states, core, settings)
    return out.reshape(*states.shape, *core) if done == states.count else None


def _run(
    kernel: Callable[..., int],
    numbers: tuple[FloatArray, ...],
    states: StateBatch,
    core: tuple[int, ...],
    settings: tuple[Any, ...],
) -> tuple[FloatArray, int]:
    """Run a batch kernel for N states, in several threads if there are enough.

    Return the results (N, prod(core)), and the number of states before the first failure.
    """
    out = np.empty((states.count, math.prod(core)))
    if 0 < states.count < 2 * threads.SMALLEST_SHARE:  # too small for several threads
        return out, kernel(*numbers, *states.part(0, states.count), *settings, out)
    stopped: list[int] = []

    def work(first: int, last: int) -> bool:
        done = kernel(*numbers, *states.part(first, last), *settings, out[first:last])
        if done < last - first:
            stopped.append(first + done)
            return False
        return True

    if states.count:
        threads.split(work, states.count)
    return out, min(stopped, default=states.count)
