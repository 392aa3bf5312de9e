# SPDX-License-Identifier: Apache-2.0

"""Concurrent calls of several threads."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import robodyn as rd
from robodyn.dynamics.batch_calls import evaluate_unchecked
from robodyn.numerics.broadcasting import states
from robodyn.threads import cached_threadsafe, each, split

COUNT = 8


def test_once_is_called_once_by_threads_that_come_together():
    together, calls = threading.Barrier(COUNT), []

    @cached_threadsafe
    def slow():
        calls.append(threading.get_ident())
        time.sleep(0.05)
        return object()

    def use(_):
        together.wait()
        return slow()

    with ThreadPoolExecutor(COUNT) as pool:
        results = set(pool.map(use, range(COUNT)))
    assert (len(calls), len(results)) == (1, 1)


def test_once_tries_again_after_an_error():
    answers = iter([ValueError("not yet"), 7])

    @cached_threadsafe
    def fails_first():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(ValueError, match="not yet"):
        fails_first()
    assert fails_first() == fails_first() == 7


FIRST_CALLS = """
import threading, numpy as np, robodyn as rd
from concurrent.futures import ThreadPoolExecutor
m = rd.load("stewart_symmetric")
poses = np.tile(m.home, (9, 1))
together = threading.Barrier(4)
def use(_):
    together.wait()
    return m.condition_number(poses), m.inverse_dynamics(poses, np.zeros(6), np.zeros(6))
with ThreadPoolExecutor(4) as pool:
    found = list(pool.map(use, range(4)))
assert all((a == found[0][0]).all() and (b == found[0][1]).all() for a, b in found)
"""


@pytest.mark.slow
def test_first_calls_may_come_from_several_threads():
    subprocess.run([sys.executable, "-c", FIRST_CALLS], check=True, timeout=120)


@pytest.fixture(params=[1, 4])
def threads(request):
    before = rd.get_threads()
    rd.set_threads(request.param)
    yield request.param
    rd.set_threads(before)


def test_each_is_called_once_for_every_number(threads):
    seen = []
    done = list(each(seen.append, 20))
    assert sorted(done) == sorted(seen) == list(range(20))


def test_exception_of_one_item_is_raised_and_the_other_threads_stop(threads):
    running = []

    def work(item):
        running.append(item)
        if item == 3:
            raise ValueError("three")
        time.sleep(0.002)
        running.remove(item)

    with pytest.raises(ValueError, match="three"):
        list(each(work, 200))
    assert running == [3]


def test_threads_never_wait_for_each_other(threads):
    """Work that shares a large batch is done by the thread that has it."""
    seen = []

    def work(item):
        me = threading.get_ident()
        split(lambda first, last: not seen.append((item, me, threading.get_ident())), 100_000)

    list(each(work, 8))
    assert {item for item, _, _ in seen} == set(range(8))
    assert [has for _, has, _ in seen] == [does for _, _, does in seen]
    workers = {has for _, has, _ in seen}
    if threads == 1:
        assert workers == {threading.get_ident()}
    else:
        assert threading.get_ident() not in workers


def test_a_large_batch_is_shared_by_as_many_threads_as_are_set(threads):
    together, fractions = threading.Barrier(threads), []

    def work(first, last):
        if len(fractions) < threads and threads > 1:
            together.wait(60.0)  # passes only if so many are at work at once
        fractions.append((first, last, threading.get_ident()))
        return True

    assert split(work, 40_000)
    covered = sorted((first, last) for first, last, _ in fractions)
    assert covered[0][0] == 0
    assert covered[-1][1] == 40_000
    assert all(one[1] == other[0] for one, other in zip(covered, covered[1:], strict=False))
    assert len({thread for _, _, thread in fractions}) == threads


def test_a_wrong_call_of_a_compiled_batch_is_reported():
    """It used to pass as numbers of another type, with one call per state."""
    with pytest.raises(TypeError):
        evaluate_unchecked(
            lambda numbers, out: 1, ([1.0],), states([1], [np.ones((4, 1))]), (1,), "more"
        )
