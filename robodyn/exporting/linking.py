# SPDX-License-Identifier: Apache-2.0

"""Compilation and linking of libraries, by the machine's tools or those of the extra `export`."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from robodyn.errors import MissingExtra, RobodynError
from robodyn.exporting.machine_code import Target
from robodyn.extras import how_to_install
from robodyn.formats.output_file import atomic_write


class ExportFailed(RobodynError):
    """Error raised if a compiler or linker fails; contains the tool's message."""


def compiler(target: Target) -> list[str]:
    """Return the command of a C compiler for a target machine.

    Raises:
        MissingExtra: no compiler is installed.
    """
    own = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if own and target.links_here and shutil.which("ar"):
        return [own]
    if importlib.util.find_spec("ziglang") is None:
        what = "no C compiler and archiver (cc, ar)" if target.links_here else "no cross compiler"
        raise MissingExtra(f"{what} to link with; install one: {how_to_install('export')}")
    # the clang triple for all of these
    triple = target.triple.replace("armv7-", "arm-").replace("thumbv7em-", "thumb-")
    return [sys.executable, "-m", "ziglang", "cc", "-target", triple or "native"]


def compile_source(target: Target, source: Path, obj: Path) -> None:
    """Compile the C file `source` to the object file `obj` for a target machine.

    Raises:
        MissingExtra: there is no compiler.
        ExportFailed: the compiler fails.
    """
    flags = ["-O2", "-fPIC", "-ffp-contract=off", "-fno-math-errno"]
    run([*compiler(target), *flags, "-c", str(source), "-o", str(obj)])


def link(target: Target, objects: Sequence[Path], static: Path, shared: Path | None) -> None:
    """Create a static library and, optionally, a shared one from object files.

    Args:
        target: target machine.
        objects: object files.
        static: path of the static library.
        shared: path of the shared library, or None.

    Raises:
        MissingExtra: there is no compiler.
        ExportFailed: a tool fails.
    """
    cc = compiler(target)
    archiver = ["ar"] if len(cc) == 1 else [*cc[: cc.index("cc")], "ar"]
    files = [str(obj) for obj in objects]
    with atomic_write(static) as draft:
        draft.unlink()  # ar adds to a file that exists
        run([*archiver, "rcs", str(draft), *files])
    if shared is not None:
        with atomic_write(shared) as draft:
            run([*cc, "-shared", "-o", str(draft), *files, f"-Wl,-soname,{shared.name}", "-lm"])


def run(command: list[str]) -> str:
    """Run a command and return its output as a string.

    Raises:
        ExportFailed: the command fails; the error contains its output.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        output = (done.stderr or done.stdout).strip()
        raise ExportFailed(f"{' '.join(command)} failed: {output[-2000:]}")
    return done.stdout
