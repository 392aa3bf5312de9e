# SPDX-License-Identifier: Apache-2.0

"""State of a mechanism as an argument of compiled functions, and its checks.

No function here counts references; a function that allocates arrays makes a `State` of them itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robodyn.dynamics.kernels.base_motion import BASE, WRENCH
from robodyn.numerics.array_arguments import ABSENT, borrowed_array
from robodyn.numerics.compiler import inner


class State(NamedTuple):
    """State of a mechanism with loads, as arrays of floats or SIMD lanes.

    Attributes:
        q: (nq,) configuration.
        rates: (nv,) velocity.
        acceleration_or_effort: (nv,) acceleration, or (n,) efforts of the driven joints.
        wrench: (6,) external wrench on the tip or platform, read if there is `contact`.
        contact: whether there is a wrench.
        base: (9,) motion of the base, see `base_motion`, read if it `moves`.
        moves: whether the base moves.
    """

    q: Any
    rates: Any
    acceleration_or_effort: Any
    wrench: Any
    contact: bool
    base: Any
    moves: bool


@inner
def state_of(q: Any, rates: Any, acceleration_or_effort: Any, wrench: Any, base: Any) -> Any:
    """Create a `State` from the arguments of a compiled function.

    The external wrench and the motion of the base may be None.
    """
    parts = borrowed_array(q), borrowed_array(rates), borrowed_array(acceleration_or_effort)
    load, contact = borrow_optional(wrench, parts[1])
    motion, moves = borrow_optional(base, parts[1])
    return State(parts[0], parts[1], parts[2], load, contact, motion, moves)


@inner
def borrow_optional(given: Any, other: Any) -> Any:
    """Return (array, True) for an optional argument, or (`other`, False) if it is absent.

    The array is borrowed for the call. If the type of `given` is None, the code for its presence is
    not compiled.
    """
    if given is None:
        return other, False
    array = borrowed_array(given)
    return array, array.shape[0] != ABSENT


@inner
def state_without_load(q: Any, rates: Any, acceleration_or_effort: Any) -> Any:
    """Create a `State` without an external wrench, on a fixed base."""
    return State(q, rates, acceleration_or_effort, q, False, q, False)


@inner
def state_with_load(
    q: Any, rates: Any, acceleration_or_effort: Any, load: Any, contact: bool
) -> Any:
    """Create a `State` from a load (6 or 15,): external wrench, then motion of the base."""
    base = load[WRENCH:]
    return State(q, rates, acceleration_or_effort, load, contact, base, base.shape[0] == BASE)


@inner
def are_numbers(array: Any, count: int) -> bool:
    """Return whether an array has `count` elements, all finite."""
    if array.shape[0] != count:
        return False
    # 0 times infinity or NaN is NaN, which equals nothing
    total = 0.0
    for j in range(count):
        total += 0.0 * array[j]
    return bool(total == 0.0)


@inner
def is_motion(state: Any, rates: int, acceleration_or_effort: int) -> bool:
    """Return whether all arrays of a `State` but the configuration are finite and fit.

    Args:
        state: `State` to check; absent loads are not checked.
        rates, acceleration_or_effort: required lengths of these two arrays.
    """
    if not (
        are_numbers(state.rates, rates)
        and are_numbers(state.acceleration_or_effort, acceleration_or_effort)
    ):
        return False
    if state.moves and not are_numbers(state.base, BASE):
        return False
    return not state.contact or are_numbers(state.wrench, 6)
