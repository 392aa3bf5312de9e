# SPDX-License-Identifier: Apache-2.0

"""`make test-versions`: the library and its command with the packages that systems ship.

For each row of the table an environment is made in .venv-versions/, with its Python from pyenv or
the path, and tests that need nothing but the library are run there: the command as a process, the
reference data of each kind of mechanism, and what a damaged or read-only kernel cache comes to.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv-versions"
# name: Python, and packages as in pip's requirements
SYSTEMS = {
    "ubuntu-22.04": (
        "3.10",
        ["typer==0.4.0", "click==8.0.3", "rich==10.16.2", "numba==0.56.4", "numpy<1.24",
         "scipy<1.11", "colorama"],
    ),
    # what package.xml names, and no more; numba 0.56.4, which Debian has, is not on PyPI for 3.11
    "debian-12": (
        "3.11",
        ["typer==0.7.0", "click==8.1.3", "rich==13.3.1", "numba==0.57.1", "numpy==1.24.2",
         "scipy==1.10.1", "pytest==7.2.1", "hypothesis==6.67.1", "jsonschema==4.10.3",
         "pytest-xdist==3.1.0"],
    ),
    "ubuntu-24.04": (
        "3.12",
        ["typer==0.9.0", "click==8.1.6", "rich==13.7.1", "numba==0.59.1", "numpy<2", "scipy<1.14"],
    ),
    "newest": ("3.13", ["typer", "rich", "numba<0.69", "numpy", "scipy"]),
    # release candidates, too, and beyond the bound on numba in setup.py: what breaks next
    "next": ("3.13", ["--pre", "typer", "rich", "numba", "numpy", "scipy"]),
}  # fmt: skip
# The CI tries it every week by itself: it may fail through no change of ours.
APART = "next"
COMMON = ["PyYAML", "urdf_parser_py", "xacro", "pytest", "setuptools"]
TESTS = [
    "test/robodyn/cli/test_cli_processes.py",
    "test/robodyn/numerics/test_kernel_cache.py",
    "test/robodyn/solvers/stewart/test_stewart_reference.py",
    "test/robodyn/solvers/serial/test_arm_reference.py",
    "test/robodyn/solvers/tree/test_closed_loop_reference.py",
]
# There all tests of the library run, as colcon calls pytest.
WHOLE = "debian-12"


def main() -> int:
    """Try the systems named, or all; the exit code is the number of those that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system", nargs="*", help=f"of {', '.join(SYSTEMS)}")
    names = parser.parse_args().system or [name for name in SYSTEMS if name != APART]
    unknown = set(names) - set(SYSTEMS)
    if unknown:
        parser.error(f"no system {', '.join(sorted(unknown))}; known are {', '.join(SYSTEMS)}")
    return sum(not _try(name) for name in names)


def _try(name: str) -> bool:
    version, packages = SYSTEMS[name]
    started = time.monotonic()
    print(f"{name}: Python {version}, {', '.join(packages)}", flush=True)
    python = environment(name, version, [*packages, *COMMON])
    if python is None:
        return False
    print(f"{name}: tests", flush=True)
    # a separate cache: machine code of every version is compiled again
    surroundings = os.environ | {"XDG_CACHE_HOME": str(FOLDER / name / "cache")}
    surroundings.pop("NUMBA_CACHE_DIR", None)
    options = ["-q", "-p", "no:cacheprovider", "-o", "addopts=", "-o", "filterwarnings="]
    command = [str(python), "-m", "pytest", *options, *TESTS]
    if name == WHOLE:
        results = ["--junit-xml", str(FOLDER / name / "pytest.xml"), "--junit-prefix=robodyn"]
        cache = ["-o", f"cache_dir={FOLDER / name / 'pytest_cache'}"]
        # scripts that tests start find the library, as in a workspace
        surroundings["PYTHONPATH"] = str(ROOT)
        command[3:] = ["--tb=short", *results, *cache, "test/lint", "test/robodyn"]
    done = subprocess.run(command, cwd=ROOT, env=surroundings, check=False)
    word = "passed" if done.returncode == 0 else "FAILED"
    print(f"{name}: {word} after {time.monotonic() - started:.0f} s", flush=True)
    return done.returncode == 0


def environment(name: str, version: str, packages: list[str]) -> Path | None:
    """The Python of an environment with these packages, made where it is not there yet."""
    base = _interpreter(version)
    if base is None:
        print(f"{name}: FAILED, no Python {version} in pyenv or on the path", flush=True)
        return None
    folder = FOLDER / name
    python = folder / "bin" / "python"
    expected = "\n".join([version, *packages])
    note = folder / "installed.txt"
    if note.is_file() and note.read_text() == expected:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{name}: installing", flush=True)
    subprocess.run([base, "-m", "venv", str(folder)], check=True)
    install = [str(python), "-m", "pip", "--disable-pip-version-check", "-qq", "install"]
    done = subprocess.run([*install, *packages], check=False)
    if done.returncode:
        print(f"{name}: FAILED, pip could not install its packages", flush=True)
        return None
    note.write_text(expected)
    return python


def _interpreter(version: str) -> str | None:
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = sorted(pyenv.glob(f"{version}.*/bin/python"))
    return str(found[-1]) if found else shutil.which(f"python{version}")


if __name__ == "__main__":
    sys.exit(main())
