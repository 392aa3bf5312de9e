# SPDX-License-Identifier: Apache-2.0

"""Parallel computation of chunks: on threads of this process, or on a Dask cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Protocol

from numpy.typing import NDArray

from robodyn.errors import ClusterError, RobodynError
from robodyn.sweeps.packages import package
from robodyn.sweeps.plan import SweepPlan
from robodyn.threads import each

# Chunks given to the threads at once.
ROUND = 2048
# Chunks in flight per thread of a cluster: one is computed while another is transferred.
AHEAD = 2
# Timeout for a scheduler and its first worker to answer [s].
PATIENCE = 10.0
# Workers that may die on the same chunk before the sweep is aborted.
FAILURES = 10


class Sink(Protocol):
    """Destination of results."""

    def write(self, index: int, results: Mapping[str, NDArray[Any]]) -> None:
        """Store the results of a chunk; thread-safe."""

    def record(self, index: int) -> None:
        """Note that a chunk is stored; thread-safe."""


def on_threads(
    plan: SweepPlan, chunks: Sequence[int], sink: Sink, finished: Callable[[int], None]
) -> None:
    """Compute chunks on as many threads as `robodyn.get_threads` says.

    `finished` is called in the calling thread, after a chunk has been written. However this ends,
    also by Ctrl-C, no thread is still at work afterwards.
    """
    for first in range(0, len(chunks), ROUND):
        some = chunks[first : first + ROUND]

        def work(item: int, some: Sequence[int] = some) -> None:
            sink.write(some[item], plan.part(some[item]).compute())
            sink.record(some[item])

        for item in each(work, len(some)):
            finished(some[item])


def on_cluster(
    plan: SweepPlan,
    chunks: Sequence[int],
    sink: Sink,
    finished: Callable[[int], None],
    scheduler: Any,
) -> None:
    """Compute chunks on the workers of a `dask.distributed` cluster.

    Args:
        plan, chunks, sink, finished: as for `on_threads`; results are written by this process.
        scheduler: its address, or a `distributed.Client`.

    Raises:
        ClusterError: no scheduler or no worker answers, the scheduler is lost, or a worker has
            another version of the library.
    """
    waiting = iter(chunks)
    with cluster(scheduler) as client:
        threads = sum(client.nthreads().values())

        def submit(index: int) -> Any:
            return client.submit(_compute, plan.part(index), index, pure=False, retries=FAILURES)

        pending = package("distributed").as_completed(
            [submit(index) for index in islice(waiting, AHEAD * threads)], loop=client.loop
        )
        for future in pending:
            index, results = future.result()
            sink.write(index, results)
            sink.record(index)
            finished(index)
            future.release()
            following = next(waiting, None)
            if following is not None:
                pending.add(submit(following))


def _compute(plan: SweepPlan, index: int) -> tuple[int, dict[str, Any]]:
    return index, plan.compute()


@contextmanager
def cluster(scheduler: Any) -> Iterator[Any]:
    """A client of a cluster that has workers.

    Args:
        scheduler: its address, or a `distributed.Client`.

    Raises:
        MissingExtra: there is no `dask.distributed`.
        ClusterError: no scheduler or no worker answers, or the cluster fails meanwhile.
    """
    with _client(scheduler) as client:
        _wait_for_workers(client, scheduler)
        try:
            yield client
        except RobodynError:
            raise
        except Exception as error:  # from Dask, the network, or a worker without robodyn
            reason = " ".join(str(error).split()) or type(error).__name__
            raise ClusterError(
                f"the cluster at {_address(scheduler)} failed: {reason[:300]}", value=str(error)
            ) from error


@contextmanager
def _client(scheduler: Any) -> Iterator[Any]:
    distributed = package("distributed")
    if isinstance(scheduler, distributed.Client):
        yield scheduler
        return
    # its log lines about lost workers would break the progress bar
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(str(scheduler), timeout=PATIENCE, set_as_default=False)
    except Exception as error:  # an invalid address, no scheduler there, or a failed handshake
        raise ClusterError(
            f"no Dask scheduler answers at {_address(scheduler)}; start one with `dask scheduler`",
            value=str(scheduler),
        ) from error
    try:
        yield client
    finally:
        client.close(timeout=2)


def _wait_for_workers(client: Any, scheduler: Any) -> None:
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except Exception as error:
        raise ClusterError(
            f"the scheduler at {_address(scheduler)} has no workers; start some with "
            f"`dask worker {_address(scheduler)}`",
            value=_address(scheduler),
        ) from error


def _address(scheduler: Any) -> str:
    found = getattr(getattr(scheduler, "scheduler", None), "address", scheduler)
    return str(found)[:200]
