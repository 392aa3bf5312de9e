# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
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
