# SPDX-License-Identifier: Apache-2.0

"""Timing of calls on a shared machine: contenders take turns in rounds; medians are reported."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Clock = Callable[[], float]


class Contender(NamedTuple):
    """One way to do the work; `states` is the number of states per call."""

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


def compare(
    contenders: list[Contender],
    rounds: int = 101,
    duration: float = 0.002,
    clock: Clock = time.thread_time,
) -> list[Timing]:
    """Time every contender once per round, so that a busy moment affects all of them.

    The clock is this thread's time on the processor, which excludes other processes; where
    several threads work it has to be that on the wall.
    """
    counts = [_calls_within(contender.call, duration, clock) for contender in contenders]
    taken = np.empty((rounds, len(contenders)))
    gc.disable()
    try:
        for row in taken:
            for i, (contender, count) in enumerate(zip(contenders, counts, strict=True)):
                row[i] = _time(contender.call, count, clock) / (count * contender.states) * 1e6
    finally:
        gc.enable()
    low, median, high = np.percentile(taken, [25, 50, 75], axis=0)
    return [
        Timing(c.name, *map(float, numbers))
        for c, *numbers in zip(contenders, median, low, high, taken.min(axis=0), strict=True)
    ]


def _time(call: Callable[[], object], count: int, clock: Clock) -> float:
    started = clock()
    for _ in range(count):
        call()
    return clock() - started


def _calls_within(call: Callable[[], object], duration: float, clock: Clock) -> int:
    call()
    count = 1
    while (taken := _time(call, count, clock)) < duration / 4:
        count *= 2
    return max(1, int(count * duration / taken))
