# SPDX-License-Identifier: Apache-2.0

"""`make dist`: the distributions, and every example with the wheel alone in fresh environments.

The source distribution is made from the checkout and the wheel from that, so what is missing in
either shows. The examples are those of the source distribution, run in a folder of their own, with
the oldest packages that `setup.py` admits (or, on a newer Python, the oldest that are made for it)
and with the newest.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from run import ROOT, environment

# name: Python, and packages as in pip's requirements
SYSTEMS = {
    "3.10-oldest": (
        "3.10",
        ["numpy==1.21.2", "scipy==1.8.0", "numba==0.55.0", "PyYAML==6.0", "typer==0.4.0",
         "click==8.0.3", "rich==10.3.0", "matplotlib==3.7.0", "bokeh==3.8.0", "pandas==1.5.3",
         "dask==2023.1.0", "distributed==2023.1.0", "xarray==2023.1.0", "zarr==2.13.0",
         "netCDF4==1.6.0", "gymnasium==1.1.0"],
    ),
    "3.10-newest": ("3.10", []),
    "3.13-oldest": (
        "3.13",
        ["numpy==2.1.0", "scipy==1.14.1", "numba==0.61.0", "PyYAML==6.0.2", "typer==0.4.1",
         "click==8.1.0", "rich==10.3.0", "matplotlib==3.9.2", "bokeh==3.8.0", "pandas==2.2.3",
         "dask==2024.10.0", "distributed==2024.10.0", "xarray==2024.10.0", "zarr==2.18.3",
         "numcodecs==0.15.1", "netCDF4==1.7.2", "gymnasium==1.1.0"],
    ),
    "3.13-newest": ("3.13", []),
}  # fmt: skip
EXTRAS = "report,sweep,gym,control,flight,casadi"  # pictures, xarray, learning, OSQP, JSBSim


def main() -> int:
    """Try the systems named, or all; the exit code is the number of those that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system", nargs="*", help=f"of {', '.join(SYSTEMS)}")
    parser.add_argument("--output", type=Path, help="folder for the distributions that passed")
    options = parser.parse_args()
    names = options.system or list(SYSTEMS)
    unknown = set(names) - set(SYSTEMS)
    if unknown:
        parser.error(f"no system {', '.join(sorted(unknown))}; known are {', '.join(SYSTEMS)}")
    with tempfile.TemporaryDirectory() as folder:
        wheel, examples = _distributions(Path(folder))
        failures = sum(not _try(name, wheel, examples) for name in names)
        if options.output and not failures:
            shutil.rmtree(options.output, ignore_errors=True)
            options.output.mkdir()
            for made in (wheel, *Path(folder).glob("*.tar.gz")):
                shutil.copy(made, options.output)
                print(f"{options.output / made.name}")
        return failures


def _distributions(folder: Path) -> tuple[Path, list[Path]]:
    """The wheel, and the examples of the source distribution from which it was made."""
    version = ".".join(map(str, sys.version_info[:2]))
    python = environment("build", version, ["build", "twine"])
    if python is None:
        raise SystemExit(1)
    print("making the source distribution and the wheel", flush=True)
    command = [str(python), "-m", "build", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    files = [str(file) for file in folder.iterdir()]
    check = [str(python), "-m", "twine", "check", "--strict", *files]
    if subprocess.run(check, check=False).returncode:
        raise SystemExit("twine objects to a distribution")
    (archive,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(archive, folder)
    return next(folder.glob("*.whl")), sorted(folder.glob("*/examples/[0-9]*.py"))


def _try(name: str, wheel: Path, examples: list[Path]) -> bool:
    version, packages = SYSTEMS[name]
    started = time.monotonic()
    print(f"{name}: Python {version}, {', '.join(packages) or 'newest packages'}", flush=True)
    # the wheel has another path each time, so the environment is a fresh one
    expected = f"robodyn[{EXTRAS}] @ {wheel.as_uri()}"
    python = environment(f"examples-{name}", version, [*packages, expected])
    if python is None:
        return False
    surroundings = os.environ | {
        "XDG_CACHE_HOME": str(python.parents[1] / "cache"),
        "MPLBACKEND": "agg",
    }
    for variable in ("NUMBA_CACHE_DIR", "PYTHONPATH"):
        surroundings.pop(variable, None)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for example in examples:
            command = [str(python), str(example)]
            done = subprocess.run(
                command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False
            )
            if done.returncode:
                failed.append(example.stem)
                print(f"{name}: {example.name}\n{done.stderr}", flush=True)
    word = f"FAILED: {', '.join(failed)}" if failed else f"{len(examples)} examples passed"
    print(f"{name}: {word} after {time.monotonic() - started:.0f} s", flush=True)
    return not failed


if __name__ == "__main__":
    sys.exit(main())
