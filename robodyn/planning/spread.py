# SPDX-License-Identifier: Apache-2.0
"""Chunks of a large sample: here, or on a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.sweeps.schedulers import cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from robodyn.arrays import FloatArray


def spread(
    function: Callable[[FloatArray], FloatArray], jobs: Sequence[FloatArray], scheduler: Any
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Points (..., 3) of each job, and what a function says of them, flattened.

    Args:
        function: of points (N, 3); it is sent to the workers.
        jobs: points (..., 3) each.
        scheduler: address of a scheduler, or a Client; None computes here.

    Raises:
        MissingExtra: there is no `dask.distributed`.
        ClusterError: there is no cluster at that address, or it failed.
    """
    if scheduler is None:
        for points in jobs:
            yield points, function(points.reshape(-1, 3))
        return
    with cluster(scheduler) as client:
        futures = [client.submit(function, points.reshape(-1, 3), pure=False) for points in jobs]
        for points, future in zip(jobs, futures, strict=True):
            yield points, future.result()
