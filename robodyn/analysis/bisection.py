# SPDX-License-Identifier: Apache-2.0

"""Bisection for the point at which a condition ceases to hold."""

from __future__ import annotations

from collections.abc import Callable


def bisect(
    holds: Callable[[float], bool], good: float, bad: float, halvings: int
) -> tuple[float, float]:
    """Find by bisection where a condition ceases to hold between two numbers.

    Args:
        holds: function that returns whether the condition holds at a number; True at `good` and
            False at `bad`.
        good, bad: ends of the interval.
        halvings: largest number of bisections; fewer if the floating-point resolution is reached.

    Returns:
        The last value at which the condition held, and the last one at which it did not.
    """
    for _ in range(halvings):
        middle = 0.5 * (good + bad)
        if middle in (good, bad):
            break
        if holds(middle):
            good = middle
        else:
            bad = middle
    return good, bad
