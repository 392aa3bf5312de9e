# SPDX-License-Identifier: Apache-2.0

"""Parallel computation of a sweep, on threads of this process or on a Dask cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any

from robodyn.errors import ClusterError, InvalidInput, RobodynError
from robodyn.sweeps.packages import package
from robodyn.sweeps.plan import SweepPlan
from robodyn.sweeps.store import Output
from robodyn.threads import each

# Number of chunks given to the threads at once.
ROUND = 2048
# Chunks in flight per thread of a cluster: one is computed while another is transferred.
CHUNKS_IN_FLIGHT = 2
# Timeout [s] for responses of a scheduler and its first worker.
TIMEOUT = 10.0
# Number of workers that may die on the same chunk before the sweep is aborted.
FAILURES = 10


def on_threads(
    plan: SweepPlan, chunks: Sequence[int], sink: Output, report_progress: Callable[[], None]
) -> None:
    """Compute chunks of a sweep on `robodyn.get_threads()` threads.

    No thread is running any more when the function returns or Ctrl-C interrupts it.

    Args:
        plan: plan of the sweep.
        chunks: indices of the chunks to compute.
        sink: storage of the results.
        report_progress: called in the calling thread after each written chunk.
    """
    for first in range(0, len(chunks), ROUND):
        some = chunks[first : first + ROUND]

        def work(item: int, some: Sequence[int] = some) -> None:
            sink.write(some[item], plan.part(some[item]).compute())
            sink.record(some[item])

        for _ in each(work, len(some)):
            report_progress()


def on_cluster(
    plan: SweepPlan,
    chunks: Sequence[int],
    sink: Output,
    report_progress: Callable[[], None],
    scheduler: Any,
) -> None:
    """Compute chunks of a sweep on the workers of a `dask.distributed` cluster.

    Args:
        plan, chunks, sink, report_progress: as for `on_threads`; this process writes the results.
        scheduler: address of the scheduler, or a `distributed.Client`.

    Raises:
        ClusterError: no scheduler or no worker responds, the connection to the scheduler is lost,
            or a worker has another version of the library.
    """
    waiting = iter(chunks)
    with cluster(scheduler) as client:
        threads = sum(client.nthreads().values())

        def submit(index: int) -> Any:
            return client.submit(_compute, plan.part(index), index, pure=False, retries=FAILURES)

        pending = package("distributed").as_completed(
            [submit(index) for index in islice(waiting, CHUNKS_IN_FLIGHT * threads)],
            loop=client.loop,
        )
        for future in pending:
            index, results = future.result()
            sink.write(index, results)
            sink.record(index)
            report_progress()
            future.release()
            following = next(waiting, None)
            if following is not None:
                pending.add(submit(following))


def _compute(plan: SweepPlan, index: int) -> tuple[int, dict[str, Any]]:
    return index, plan.compute()


def check_scheduler(scheduler: Any) -> None:
    """Reject a scheduler that is neither an address nor a `distributed.Client`.

    Raises:
        InvalidInput: the scheduler is neither of them.
    """
    if not (scheduler is None or isinstance(scheduler, str) or hasattr(scheduler, "scheduler")):
        raise InvalidInput(
            f"scheduler is a {type(scheduler).__name__}, expected the address of a Dask scheduler, "
            "such as tcp://127.0.0.1:8786, or a distributed.Client",
            value=scheduler,
        )


@contextmanager
def cluster(scheduler: Any) -> Iterator[Any]:
    """Connect to a `dask.distributed` cluster with workers, and yield a client.

    Args:
        scheduler: address of the scheduler, or a `distributed.Client`.

    Raises:
        MissingExtra: `dask.distributed` is not installed.
        ClusterError: no scheduler or no worker responds, or the cluster fails during the
            computation.
    """
    distributed = package("distributed")
    address = str(getattr(getattr(scheduler, "scheduler", None), "address", scheduler))[:200]
    with ExitStack() as stack:
        client = scheduler
        if not isinstance(scheduler, distributed.Client):
            # its log lines about lost workers would break the progress bar
            logging.getLogger("distributed").setLevel(logging.CRITICAL)
            # an invalid address, no scheduler there, or a failed handshake
            with _converted_errors(
                f"no Dask scheduler responds at {address}; start one with `dask scheduler`"
            ):
                client = distributed.Client(str(scheduler), timeout=TIMEOUT, set_as_default=False)
            stack.callback(client.close, timeout=2)
        with _converted_errors(
            f"the scheduler at {address} has no workers; start at least one with "
            f"`dask worker {address}`"
        ):
            client.wait_for_workers(1, timeout=TIMEOUT)
        # from Dask, the network, or a worker without robodyn
        with _converted_errors(f"the cluster at {address} failed: %s"):
            yield client


@contextmanager
def _converted_errors(text: str) -> Iterator[None]:
    """Convert errors of other libraries to `ClusterError` within this context.

    `text` is the new message, in which `%s` stands for the original message.
    """
    try:
        yield
    except RobodynError:
        raise
    except Exception as error:
        reason = (" ".join(str(error).split()) or type(error).__name__)[:300]
        raise ClusterError(text.replace("%s", reason), value=str(error)) from error
