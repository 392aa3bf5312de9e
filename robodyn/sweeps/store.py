# SPDX-License-Identifier: Apache-2.0

"""Storage of a sweep's results, in memory or on disk; completed chunks survive a crash.

A sweep to `map.zarr` is first written to the folder `map.zarr.unfinished` (likewise `map.nc`):
`data.zarr` contains the arrays, whose chunks are those of the sweep, and `journal` contains a line
with the fingerprint and a line for every chunk that is completely written. At the end, the output
appears in one step. The process may be killed at any time: chunks that are not in the journal are
computed again.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.errors import OutputError, ResumeRefused
from robodyn.sweeps.dataset import FINGERPRINT, chunk_shapes, dataset
from robodyn.sweeps.packages import package
from robodyn.sweeps.plan import SweepPlan

try:
    import fcntl
except ImportError:  # on Windows there is no lock between two processes
    fcntl = None  # type: ignore[assignment]

SUFFIXES = (".zarr", ".nc")
# Size of pieces in the copy of a finished sweep from one format to the other.
MOST_PIECES = 10_000
_OURS = {"data.zarr", "journal", "journal.new", "lock", "data.nc"}


class Output:
    """Storage of a sweep's results in memory.

    Attributes:
        done: indices of the completed chunks.
    """

    def __init__(self, plan: SweepPlan) -> None:
        self._plan = plan
        self.done: set[int] = set()
        self._open()

    def _open(self) -> None:
        """Create the Dataset to which results are written."""
        self._data = dataset(self._plan, lambda shape, value: np.full(shape, value))
        self._arrays = {name: self._data[name].values for name in self._data.variables}

    def write(self, index: int, results: Mapping[str, NDArray[Any]]) -> None:
        """Write the results of a chunk, given its index; thread-safe."""
        region = self._plan.points.region(index)
        for name, array in results.items():
            self._arrays[name][region] = array

    def record(self, index: int) -> None:
        """Record that a chunk, given by its index, is completely written; thread-safe."""
        self.done.add(index)

    def finish(self) -> Any:
        """Return all results as an xarray Dataset."""
        return self._data

    def close(self) -> None:
        """Release open files; in memory there are none."""


class OutputFolder(Output):
    """Storage of the results of a new or a resumed sweep on disk.

    Args:
        plan: plan of the sweep.
        output: path ending in .zarr or .nc.
        overwrite: whether to discard existing results.

    Raises:
        ResumeRefused: the existing folder belongs to another sweep, or another process uses it.
        OutputError: the path has no known suffix, or cannot be written.
    """

    def __init__(self, plan: SweepPlan, output: str | Path, overwrite: bool = False) -> None:
        self.output, self._overwrite = check_path(output), overwrite
        self._folder = unfinished_folder(self.output)
        self._zarr = self._folder / "data.zarr"
        self._lock = self._journal = -1
        try:
            super().__init__(plan)
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        folder, fingerprint = self._folder, self._plan.fingerprint()
        if folder.exists() and not (
            folder.is_dir() and {item.name for item in folder.iterdir()} <= _OURS
        ):
            raise _foreign_output(folder)
        if self._overwrite and self.output.exists():
            if _fingerprint_of(self.output) is None:
                raise _foreign_output(self.output)
            if self.output.is_dir():
                shutil.rmtree(self.output)
            else:
                self.output.unlink()
        if self.output.exists():
            _compare(fingerprint, _fingerprint_of(self.output), self.output, "holds")
            self.done = set(range(self._plan.points.chunks))
            return
        folder.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        journal = folder / "journal"
        if self._overwrite or not journal.exists():
            self._begin(journal, fingerprint)
        text = journal.read_text(encoding="utf-8", errors="replace")
        complete = text[: text.rfind("\n") + 1]  # a process may have died while writing a line
        header, *lines = complete.splitlines() or ["{}"]
        _compare(fingerprint, _parse(header), folder, "was begun with")
        self.done = {int(line) for line in lines if line.isdigit()}
        self.done &= set(range(self._plan.points.chunks))
        self._journal = os.open(journal, os.O_WRONLY | os.O_APPEND)
        os.ftruncate(self._journal, len(complete.encode()))
        self._arrays = dict(package("zarr").open_group(str(self._zarr), mode="r+").arrays())

    def record(self, index: int) -> None:
        """Record on disk that a chunk, given by its index, is completely written."""
        os.write(self._journal, f"{index}\n".encode())  # atomic: a whole line or nothing
        super().record(index)

    def finish(self) -> Any:
        """Move the complete output to its path.

        Returns:
            An xarray Dataset whose arrays are read on demand.
        """
        if not self.output.exists():
            if self.output.suffix == ".nc":
                self._write_netcdf(self._folder / "data.nc")
                os.replace(self._folder / "data.nc", self.output)
            else:
                os.replace(self._zarr, self.output)
        shutil.rmtree(self._folder, ignore_errors=True)
        return open_output(self.output)

    def close(self) -> None:
        """Close the journal and the lock file."""
        for descriptor in (self._journal, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._lock = self._journal = -1

    def _begin(self, journal: Path, fingerprint: dict[str, str]) -> None:
        journal.unlink(missing_ok=True)
        shutil.rmtree(self._zarr, ignore_errors=True)
        dask_array, zarr = package("dask.array"), package("zarr")
        # one block: it is never computed, and its graph is small
        empty = dataset(self._plan, lambda shape, value: dask_array.full(shape, value, chunks=-1))
        shapes = chunk_shapes(self._plan, empty)
        # set on the variable: as an argument, xarray 2023.1 rejects it
        empty["reachable"].encoding["_FillValue"] = None  # else xarray reads booleans as numbers
        encoding: dict[str, Any] = {name: {"chunks": shape} for name, shape in shapes.items()}
        # the format that all versions of Zarr read
        version = {"zarr_format": 2} if int(zarr.__version__.split(".")[0]) > 2 else {}
        empty.to_zarr(str(self._zarr), compute=False, encoding=encoding, mode="w", **version)
        new = journal.with_suffix(".new")
        new.write_text(json.dumps(fingerprint) + "\n", encoding="utf-8")
        os.replace(new, journal)

    def _write_netcdf(self, path: Path) -> None:
        xarray, config = package("xarray"), package("dask.config")
        package("netCDF4")
        with xarray.open_zarr(str(self._zarr), chunks=None) as data:
            # in pieces of several chunks if there are many: Dask's graph of the copy stays small
            piece = -(-data.nbytes // min(self._plan.points.chunks, MOST_PIECES))
        with (
            config.set({"array.chunk-size": piece}),
            xarray.open_zarr(str(self._zarr), chunks="auto") as data,
        ):
            shapes = chunk_shapes(self._plan, data)
            for variable in data.variables.values():
                variable.encoding.clear()
            encoding = {
                name: {"zlib": True, "complevel": 1, "chunksizes": shape}
                for name, shape in shapes.items()
            }
            data.to_netcdf(path, engine="netcdf4", encoding=encoding)

    def _take_lock(self) -> None:
        self._lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if fcntl is not None:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ResumeRefused(
                f"{self._folder}: another process is writing there; wait for it or stop it",
                value=str(self._folder),
            ) from error


def check_path(output: str | Path) -> Path:
    """Return the path of an output after a check of its file extension.

    Raises:
        OutputError: the extension is neither .zarr nor .nc.
    """
    path = Path(output)
    if path.suffix not in SUFFIXES or path.stem in SUFFIXES:
        raise OutputError(
            f"{str(output)[:200]}: unknown kind of output, expected a name that ends in .zarr or "
            ".nc",
            value=str(output),
        )
    return path


def unfinished_folder(output: Path) -> Path:
    """Return the folder in which an output is written until it is complete."""
    return output.with_name(output.name + ".unfinished")


def open_output(output: Path) -> Any:
    """Open a complete output as an xarray Dataset whose arrays are read on demand."""
    xarray = package("xarray")
    if output.suffix == ".nc":
        package("netCDF4")
        return xarray.open_dataset(output, engine="netcdf4", chunks={})
    return xarray.open_zarr(str(output))


def _fingerprint_of(output: Path) -> dict[str, str] | None:
    try:
        with open_output(output) as data:
            return _parse(data.attrs.get(FINGERPRINT, "{}"))
    except (OSError, ValueError, KeyError, ImportError):
        return None


def _parse(text: Any) -> dict[str, str] | None:
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        return None
    return found if isinstance(found, dict) and found else None


def _compare(stated: dict[str, str], found: dict[str, str] | None, path: Path, verb: str) -> None:
    if found is None:
        raise _foreign_output(path)
    other = [name for name in stated if found.get(name) != stated[name]]
    if other:
        raise ResumeRefused(
            f"{path}: {verb} another sweep (different {', '.join(other)}); repeat the same "
            "command, overwrite it, or choose another output",
            value=other,
        )


def _foreign_output(path: Path) -> ResumeRefused:
    return ResumeRefused(
        f"{path}: exists and is not a sweep of robodyn, so it is not overwritten; choose another "
        "output",
        value=str(path),
    )
