# SPDX-License-Identifier: Apache-2.0

"""Distribution of large batches to threads; kernels release the interpreter lock while they run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from functools import wraps
from typing import ParamSpec, TypeVar, cast

from robodyn.checks import as_integer

P = ParamSpec("P")
T = TypeVar("T")

# Number of states below which a thread costs more than it saves.
SMALLEST_SHARE = 2048
# States per task: few enough that no thread waits long for the last one.
LARGEST_SHARE = 65536

_NAME = "robodyn-worker"

# Python has one stack size for all new threads.
_ONE_STACK_SIZE = threading.Lock()

_count: int | None = None
_pool: ThreadPoolExecutor | None = None


def set_threads(count: int | None) -> None:
    """Set the number of threads that large batches use.

    Args:
        count: number of threads; None means one per available processor.

    Raises:
        InvalidInput: `count` is not an integer or is below 1.
    """
    global _count
    if count is not None:
        count = as_integer("count", count, at_least=1)
    _count = count
    _forget_pool()


def get_threads() -> int:
    """Return the number of threads that large batches use."""
    if _count is not None:
        return _count
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def split(work: Callable[[int, int], bool], count: int) -> bool:
    """Run a loop over `count` items on several threads.

    Args:
        work: function of the first index and the end of a range; it returns whether it succeeded.
        count: number of items.

    Returns:
        Whether all calls succeeded. No more calls are started after one has failed.
    """
    threads = min(get_threads(), count // SMALLEST_SHARE)
    if _is_worker():
        threads = 1
    step = min(LARGEST_SHARE, -(-count // max(threads, 1)))
    step += -step % 8  # whole vectors
    parts = [(first, min(first + step, count)) for first in range(0, count, step)]
    if threads < 2:
        return all(work(*part) for part in parts)
    pending = [_get_pool().submit(work, *part) for part in parts]
    done = True
    for future in pending:
        if not done and future.cancel():
            continue
        done = future.result() and done
    return done


def cached_threadsafe(make: Callable[P, T]) -> Callable[P, T]:
    """Wrap a function so that its result is computed once for the same arguments.

    If several threads call it at the same time, the others wait for the first one, whereas
    `functools.cache` would let all of them call the function.
    """
    lock = threading.Lock()
    made: dict[tuple[object, ...], object] = {}

    @wraps(make)
    def get(*args: P.args, **kwargs: P.kwargs) -> T:
        key = (args, *sorted(kwargs.items())) if kwargs else args
        found = made.get(key, lock)  # one look-up: hashing types takes longer than many kernels
        if found is lock:
            with lock:
                if key not in made:
                    made[key] = make(*args, **kwargs)
                found = made[key]
        return cast("T", found)

    return get


def each(work: Callable[[int], None], count: int) -> Iterator[int]:
    """Call work(0) to work(count - 1) on threads; yield each index after its call.

    An exception in a call is raised here, and no more calls are started.
    """
    if get_threads() < 2 or count < 2 or _is_worker():
        for item in range(count):
            work(item)
            yield item
        return
    pending = {_get_pool().submit(work, item): item for item in range(count)}
    try:
        for future in as_completed(pending):
            future.result()
            yield pending[future]
    finally:
        for future in pending:
            future.cancel()
        wait(pending)  # they write into memory that the caller may now release or read


def with_stack(size: int, call: Callable[P, T]) -> Callable[P, T]:
    """Wrap a function so that it runs on a new thread with a stack of `size` bytes."""

    def on_thread(*args: P.args, **kwargs: P.kwargs) -> T:
        found: Future[T] = Future()

        def work() -> None:
            try:
                found.set_result(call(*args, **kwargs))
            except BaseException as error:
                found.set_exception(error)

        with _ONE_STACK_SIZE:
            usual = threading.stack_size(size + -size % 4096)
            try:
                thread = threading.Thread(target=work)
                thread.start()
            finally:
                threading.stack_size(usual)
        thread.join()
        return found.result()

    return on_thread


def _is_worker() -> bool:
    """Return whether this thread is a worker, which must not wait for other workers."""
    return threading.current_thread().name.startswith(_NAME)


def _get_pool() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(get_threads(), thread_name_prefix=_NAME)
    return _pool


def _forget_pool() -> None:
    global _pool
    pool, _pool = _pool, None
    if pool is not None:
        pool.shutdown(wait=False)


def _after_fork() -> None:
    global _pool
    _pool = None  # threads do not survive a fork


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
