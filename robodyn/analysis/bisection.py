# SPDX-License-Identifier: Apache-2.0

"""Bisection of a condition."""

from __future__ import annotations

from collections.abc import Callable


def bisect(
    holds: Callable[[float], bool], good: float, bad: float, halvings: int
) -> tuple[float, float]:
    """Return the last number at which a condition holds, and the first at which it does not.

    Args:
        holds: condition that holds at `good` and not at `bad`.
        good, bad: ends of the interval.
        halvings: largest number of bisections; fewer if floating-point numbers permit no more.
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
