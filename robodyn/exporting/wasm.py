# SPDX-License-Identifier: Apache-2.0

"""WebAssembly module of a mechanism's functions, and its typed wrapper in JavaScript."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from robodyn.errors import MissingExtra
from robodyn.exporting.escaping import in_comment
from robodyn.exporting.kind_functions import LIMITED, STATUSES
from robodyn.exporting.linking import run
from robodyn.exporting.machine_code import object_of, target_of
from robodyn.exporting.signatures import Argument, Function, sizes_of
from robodyn.exporting.texts import coordinates_text, fill_template
from robodyn.extras import how_to_install
from robodyn.formats.output_file import atomic_write, write_text
from robodyn.mechanism.mechanism import Mechanism
from robodyn.version import __version__


def wasm_linker() -> list[str]:
    """Return the command of LLVM's linker for WebAssembly (wasm-ld).

    Raises:
        MissingExtra: no linker is installed.
    """
    own = shutil.which("wasm-ld")
    if own:
        return [own]
    if find_spec("ziglang") is None:
        raise MissingExtra(f"no wasm-ld to link with; install one: {how_to_install('export')}")
    return [sys.executable, "-m", "ziglang", "wasm-ld"]


def write_wasm(
    name: str, mechanism: Mechanism, llvm: str, functions: Collection[Function], folder: Path
) -> Iterator[str]:
    """Write a WebAssembly module, its JavaScript wrapper and TypeScript declarations.

    Args:
        name: prefix of the symbols in `llvm`.
        mechanism: exported mechanism.
        llvm: LLVM IR from `machine_code.llvm_of`.
        functions: functions to export; code of others is removed.
        folder: output folder.

    Yields:
        Names of the files: NAME.wasm, NAME.mjs and NAME.d.ts.

    Raises:
        MissingExtra, ExportFailed: a linker is missing or fails.
    """
    with tempfile.TemporaryDirectory() as scratch:
        obj = Path(scratch) / f"{name}.o"
        obj.write_bytes(object_of(llvm, target_of("wasm32", "")))
        exported = [f"--export={name}_{function.name}" for function in functions]
        # functions of libc are imported; kernels use the stack only
        flags = ["--no-entry", "--allow-undefined", "-O2", "--strip-all", "--gc-sections"]
        flags += ["-z", "stack-size=262144"]
        with atomic_write(folder / f"{name}.wasm") as draft:
            run([*wasm_linker(), *exported, *flags, "-o", str(draft), str(obj)])
    yield f"{name}.wasm"
    sizes = sizes_of(mechanism)
    listed = {
        function.name: [(a.name, a.count(sizes), _use(a)) for a in function.arguments]
        for function in functions
    }
    values = {
        "NAME": name,
        "MECHANISM": in_comment(mechanism.name),
        "VERSION": __version__,
        "LIMITED": LIMITED,
        "STATUSES": json.dumps(list(STATUSES.values()), indent=2),
        "FUNCTIONS": format_object(listed),
        "DATA": format_object(data_of(mechanism)),
        "COORDINATES": coordinates_text(mechanism),
        "METHODS": "\n".join(_declare(function, sizes) for function in functions),
    }
    for template in ("module.mjs", "module.d.ts"):
        file = template.replace("module", name)
        write_text(folder / file, fill_template(f"wasm/{template}", values))
        yield file


def data_of(mechanism: Mechanism) -> dict[str, object]:
    """Return the data of a mechanism for JavaScript, by JavaScript key.

    The data are the names, units and limits of the driven joints, and the home configuration.
    """
    return {
        "jointNames": list(mechanism.joint_names),
        "jointUnits": list(mechanism.drives.units),
        "home": mechanism.home.tolist(),
        "positionLimits": mechanism.position_limits.tolist(),
        "velocityLimits": mechanism.velocity_limits.tolist(),
        "effortLimits": mechanism.effort_limits.tolist(),
    }


def format_object(listed: Mapping[str, object]) -> str:
    """Format a JavaScript object literal with one key per line and exact numbers."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in listed.items()]
    return "\n".join(["{", *lines, "}"])


def _use(argument: Argument) -> str:
    """Return the use of an argument in JavaScript; `number` for a scalar result."""
    return "number" if argument.use == "out" and argument.size == "1" else argument.use


def _declare(function: Function, sizes: dict[str, int]) -> str:
    """Format the TypeScript declaration of a method, with a comment on its arguments."""
    parameters, given, notes = [], [], []
    for argument in function.arguments:
        kind = "number" if argument.use in ("double", "int") else "ArrayLike<number>"
        kind += " | null" if argument.use == "maybe" else ""
        if argument.use in ("out", "inout"):
            what = "number" if _use(argument) == "number" else "Float64Array"
            given.append(f"{argument.name}: {what}")
        if argument.use != "out":
            parameters.append(f"{argument.name}: {kind}")
        size = f" ({argument.count(sizes)})" if argument.size else ""
        notes.append(f"   * {argument.name}{size}{argument.meaning and ': ' + argument.meaning}")
    result = f"{{ {'; '.join(given)} }}" if given[1:] else given[0].split(": ")[1]
    # trailing arguments that may be null are optional
    for k in range(len(parameters) - 1, -1, -1):
        if not parameters[k].endswith("| null"):
            break
        parameters[k] = parameters[k].replace(":", "?:", 1)
    method = re.sub("_(.)", lambda found: found[1].upper(), function.name)
    comment = "\n".join([f"  /** {function.about}", *notes, "   */"])
    return f"{comment}\n  {method}({', '.join(parameters)}): {result};"
