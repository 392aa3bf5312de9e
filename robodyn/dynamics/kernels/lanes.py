# SPDX-License-Identifier: Apache-2.0

"""Batches of states of a mechanism, evaluated eight at a time in SIMD lanes.

The equations are those of single states, called with lanes of eight numbers instead of floats.
Arrays are borrowed for the call, (N, k) with any strides. Kernels release the interpreter lock, so
several threads can share a batch; scratch memory is on the stack.
"""

from __future__ import annotations

import math
from typing import Any

from robodyn.dynamics.kernels.base_motion import BASE
from robodyn.dynamics.kernels.state import State
from robodyn.numerics.array_arguments import borrowed_array
from robodyn.numerics.compiler import entry_of, inner
from robodyn.numerics.simd.lanes import WIDTH
from robodyn.numerics.simd.states import all_finite, read, write
from robodyn.numerics.simd.tables import new_table


@inner
def evaluate_lanes(
    find: Any, mechanism: Any, given: Any, width: int, settings: Any, alone: bool, s: Any, out: Any
) -> int:
    """Compute a result (k,) for each of N states, eight at a time in SIMD lanes.

    Args:
        find: function find(mechanism, state, settings, s, found), all in lanes; writes a result, a
            row of numbers, and returns a status, zero on success. An `inner` function.
        mechanism, settings, s: arguments of `find`; the last is scratch.
        given: configurations, rates, accelerations or efforts, wrenches and motions of the base,
            each (N, k) or absent; trailing ones may be left out. Without a base, code for its
            motion is not compiled.
        width: largest k.
        alone: whether the states of a group of eight without a common result are then computed one
            by one, with NaN for failures.
        out: (N, k) the results.

    Returns:
        Number of states before the first group of eight that contains a state that is not finite
        or, unless `alone`, has no result; N if there is no such group. Only the results of these
        states are written.
    """
    found, table = new_table(1, out.shape[1])[0], new_table(5, width)
    # an array without columns counts as absent
    contact = len(given) >= 4 and given[min(3, len(given) - 1)].shape[1] > 0
    moves = len(given) == 5 and given[len(given) - 1].shape[1] > 0
    state = State(table[0], table[1], table[2], table[3], contact, table[4], moves)
    last, first, singles = out.shape[0], 0, 0
    while first < last:
        # those before `singles` are computed one by one, as one of eight had no result
        to = min(first + 1 if first < singles else first + WIDTH, last)
        for k in range(len(given)):
            if given[k].shape[1] > 0:
                read(given[k], first, to, table[k])
                if not all_finite(table[k], given[k].shape[1]):
                    return first
        if find(mechanism, state, settings, s, found) == 0:
            write(found, first, to, out)
        elif not alone:
            return first
        elif to > first + 1:
            singles = to
            continue
        else:
            for k in range(out.shape[1]):
                out[first, k] = math.nan
        first = to
    return int(last)


@inner
def evaluate_without_scratch(
    find: Any, first: Any, second: Any, given: Any, settings: Any, out: Any
) -> int:
    """Compute a result for each of N states, by a function without scratch arrays.

    `first` and `second` are the two arrays of a packed mechanism. The other arguments and the
    return value are as for `evaluate_lanes`.
    """
    mechanism, states, width = borrowed_array((first, second)), borrowed_array(given), BASE
    for k in range(len(states)):
        width = max(width, states[k].shape[1])
    return evaluate_lanes(find, mechanism, states, width, settings, False, 0, borrowed_array(out))


def entry_makers(
    module: str, evaluate_states: Any = evaluate_without_scratch
) -> tuple[Any, Any, Any]:
    """Return functions that create the batch functions of a kind of mechanism.

    The batch functions take the two arrays of a packed mechanism, arrays of states and an array
    `out` (N, k) for the results, and return what `evaluate_lanes` returns:

        of_configurations(name, find, settings): entry(first, second, q, out).
        of_states(name, find, settings): entry(first, second, q, v, third, wrench, base, out).
        of_derivatives(name, find): entry(first, second, q, v, acceleration, efforts, wrench, base,
            forward, out), with `forward` as settings. Efforts are not read.

    Args:
        module: name of the module to which the functions belong.
        evaluate_states: evaluate_states(find, first, second, states, settings, out), which calls
            `evaluate_lanes`; an `inner` function.
    """

    def of_configurations(name: str, find: Any, settings: Any = False) -> Any:
        def evaluate(first: Any, second: Any, q: Any, out: Any) -> int:
            return int(evaluate_states(find, first, second, (q,), settings, out))

        return entry_of(evaluate, module, name)

    def of_states(name: str, find: Any, settings: Any = False) -> Any:
        def evaluate(
            first: Any, second: Any, q: Any, v: Any, third: Any, wrench: Any, base: Any, out: Any
        ) -> int:
            state = q, v, third, wrench, base
            return int(evaluate_states(find, first, second, state, settings, out))

        return entry_of(evaluate, module, name)

    def of_derivatives(name: str, find: Any) -> Any:
        def evaluate(
            first: Any, second: Any, q: Any, v: Any, acceleration: Any, efforts: Any, wrench: Any,
            base: Any, forward: bool, out: Any,
        ) -> int:  # fmt: skip
            state = q, v, acceleration, wrench, base
            return int(evaluate_states(find, first, second, state, forward, out))

        return entry_of(evaluate, module, name)

    return of_configurations, of_states, of_derivatives
