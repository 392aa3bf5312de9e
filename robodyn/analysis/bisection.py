# SPDX-License-Identifier: Apache-2.0

"""Where what holds ends, by halving."""

from __future__ import annotations

from collections.abc import Callable


def bisected(
    holds: Callable[[float], bool], good: float, bad: float, halvings: int
) -> tuple[float, float]:
    """The last number at which something holds, and the first at which it does not.

    Args:
        holds: what does at `good` and does not at `bad`.
        good, bad: between which it ends.
        halvings: of the interval between them, as far as floating-point numbers allow.
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
