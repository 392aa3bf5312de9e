"""How long calls take when the machine is not ours alone: rounds in turn, and their medians."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Contender(NamedTuple):
    """One way to do the work; `states` is what one call does."""

    name: str
    call: Callable[[], object]
    states: int = 1


class Timing(NamedTuple):
    """Microseconds for one state: median, quartiles and fastest of the rounds."""

    name: str
    median: float
    low: float
    high: float
    best: float


def compare(contenders: list[Contender], rounds: int = 31, duration: float = 0.01) -> list[Timing]:
    """Time every contender once a round, so that a busy moment meets all of them."""
    counts = [_calls_within(contender.call, duration) for contender in contenders]
    taken = np.empty((rounds, len(contenders)))
    gc.disable()
    try:
        for row in taken:
            for i, (contender, count) in enumerate(zip(contenders, counts, strict=True)):
                row[i] = _time(contender.call, count) / (count * contender.states) * 1e6
    finally:
        gc.enable()
    low, median, high = np.percentile(taken, [25, 50, 75], axis=0)
    return [
        Timing(c.name, *map(float, numbers))
        for c, *numbers in zip(contenders, median, low, high, taken.min(axis=0), strict=True)
    ]


def _time(call: Callable[[], object], count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - started


def _calls_within(call: Callable[[], object], duration: float) -> int:
    call()
    count = 1
    while (taken := _time(call, count)) < duration / 4:
        count *= 2
    return max(1, int(count * duration / taken))
