# SPDX-License-Identifier: Apache-2.0

"""A state of a mechanism, as the kernels of every kind take it, and its checks.

What makes a state here does not count references: a kernel that allocates arrays makes a `State` of
them itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robodyn.dynamics.kernels.base_motion import BASE, WRENCH
from robodyn.numerics.array_arguments import ABSENT, borrowed_array
from robodyn.numerics.compiler import inner


class State(NamedTuple):
    """A state, of floats or of lanes.

    Attributes:
        q: configuration.
        rates: velocity.
        acceleration_or_effort: acceleration or efforts.
        wrench: (6,) external, read if there is `contact`.
        contact: whether there is a wrench.
        base: (9,) motion of the base, see `base_motion`, read if it `moves`.
        moves: whether there is one.
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
    """A state, of the arrays that were given; a wrench or a base may be absent."""
    parts = borrowed_array(q), borrowed_array(rates), borrowed_array(acceleration_or_effort)
    load, contact = borrow_optional(wrench, parts[1])
    motion, moves = borrow_optional(base, parts[1])
    return State(parts[0], parts[1], parts[2], load, contact, motion, moves)


@inner
def borrow_optional(given: Any, other: Any) -> Any:
    """An array that was given, and whether there is one; if not, any other.

    Of what is None by its type, what is done if it is there is not compiled.
    """
    if given is None:
        return other, False
    array = borrowed_array(given)
    return array, array.shape[0] != ABSENT


@inner
def unloaded(q: Any, rates: Any, acceleration_or_effort: Any) -> Any:
    """A state without a wrench, on a base that does not move."""
    return State(q, rates, acceleration_or_effort, q, False, q, False)


@inner
def loaded(q: Any, rates: Any, acceleration_or_effort: Any, load: Any, contact: bool) -> Any:
    """A state under a load: its wrench, if that counts, and the motion of the base after it."""
    base = load[WRENCH:]
    return State(q, rates, acceleration_or_effort, load, contact, base, base.shape[0] == BASE)


@inner
def are_numbers(array: Any, count: int) -> bool:
    """Whether an array has `count` finite numbers."""
    if array.shape[0] != count:
        return False
    # 0 times infinity or NaN is NaN, which equals nothing
    total = 0.0
    for j in range(count):
        total += 0.0 * array[j]
    return bool(total == 0.0)


@inner
def is_motion(state: Any, rates: int, acceleration_or_effort: int) -> bool:
    """Whether all but the configuration have their lengths, these or their own, and are finite."""
    if not (
        are_numbers(state.rates, rates)
        and are_numbers(state.acceleration_or_effort, acceleration_or_effort)
    ):
        return False
    if state.moves and not are_numbers(state.base, BASE):
        return False
    return not state.contact or are_numbers(state.wrench, 6)
