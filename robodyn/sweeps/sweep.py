# SPDX-License-Identifier: Apache-2.0

"""Execution of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from robodyn.arrays import Unpack
from robodyn.errors import writing
from robodyn.loading.load import load
from robodyn.mechanism.mechanism import Mechanism
from robodyn.sweeps.packages import package
from robodyn.sweeps.plan import DEFAULT, SweepPlan, make_plan
from robodyn.sweeps.schedulers import on_cluster, on_threads
from robodyn.sweeps.settings import SweepOptions, SweepSettings
from robodyn.sweeps.store import Output, OutputFolder


class SweepOutcome(NamedTuple):
    """Result of a sweep.

    Attributes:
        data: xarray Dataset of the results.
        computed: number of chunks computed in this run.
        kept: number of chunks completed in earlier runs.
    """

    data: Any
    computed: int
    kept: int


def sweep(
    mechanism: Mechanism | str | Path,
    axes: Mapping[str, Any],
    quantities: Collection[str] = ("condition_number",),
    *,
    output: str | Path | None = None,
    settings: SweepSettings = DEFAULT,
    scheduler: Any = None,
    overwrite: bool = False,
    progress: Callable[[float], None] | None = None,
    **options: Unpack[SweepOptions],
) -> Any:
    """Compute quantities over a grid or a sample of poses, loads and parameters.

    ```python
    data = rd.sweep("stewart_symmetric", {"x": "-0.2:0.2:41", "y": "-0.2:0.2:41", "z": 0.82})
    data.condition_number.plot()
    ```

    Args:
        mechanism: a mechanism, or an argument of `rd.load`.
        axes: for each varied or constant variable `"low:high:count"`, an increasing array (n,), a
            number or, with `samples`, `"low:high"`. The variables of a pose are x, y, z [m], roll,
            pitch and yaw [rad]; those of an arm are its joints by name; docs/sweeps.md lists all
            variables. All other variables have their values at home, at rest, without load.
        quantities: quantities to compute: `condition_number`, `smallest_singular_value`,
            `weakest_direction`, `manipulability`, `joint_positions`, `pose`, `effort`,
            `effort_extremes`.
        output: path ending in .zarr or .nc to which the results are written; an interrupted sweep
            to the same path is resumed. By default the results are in memory.
        settings: distribution of the states, and further parameters of the quantities.
        scheduler: address of a running `dask.distributed` scheduler, or a `Client`; by default
            threads of this process compute the sweep.
        overwrite: start again and replace existing results, instead of resuming the sweep.
        progress: called with the completed fraction, from 0 to 1.
        options: fields that replace those of the settings, such as `samples`.

    Returns:
        An `xarray.Dataset` with units in its attributes. It contains `reachable` and the
        quantities, which are NaN for poses that are unreachable or have no solution. With an
        output, its arrays are read on demand.

    Raises:
        InvalidInput: an argument is invalid.
        MissingExtra: the packages of the extra `sweep` are not installed.
        OutputError: the output cannot be written.
        ResumeRefused: the output belongs to another sweep.
        ClusterError: there is no cluster at that address, or it failed.
    """
    plan = make_plan(
        load(mechanism) if isinstance(mechanism, (str, Path)) else mechanism,
        axes,
        quantities,
        settings=settings,
        **options,
    )
    return run(plan, output, scheduler, overwrite, progress).data


def run(
    plan: SweepPlan,
    output: str | Path | None = None,
    scheduler: Any = None,
    overwrite: bool = False,
    progress: Callable[[float], None] | None = None,
) -> SweepOutcome:
    """Compute the chunks of a planned sweep that its output does not contain yet.

    Args:
        plan: plan of the sweep.
        output, scheduler, overwrite, progress: as for `sweep`.

    Returns:
        The Dataset, the number of chunks computed now, and the number computed in earlier runs.
    """
    for name in ("xarray",) if output is None else ("dask", "xarray", "zarr"):
        package(name)
    with writing(str(output)):
        where = Output(plan) if output is None else OutputFolder(plan, output, overwrite)
        with closing(where) as sink:
            kept, count = len(sink.done), plan.points.chunks

            def report_progress() -> None:
                if progress is not None:
                    progress(len(sink.done) / count)

            chunks = [index for index in range(count) if index not in sink.done]
            report_progress()
            if scheduler is None:
                on_threads(plan, chunks, sink, report_progress)
            elif chunks:
                on_cluster(plan, chunks, sink, report_progress, scheduler)
            return SweepOutcome(sink.finish(), count - kept, kept)
