# SPDX-License-Identifier: Apache-2.0

"""`robodyn.export`: write a folder with a mechanism's C library, and packages around it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict

from robodyn.algorithms import motions
from robodyn.arrays import Unpack
from robodyn.errors import OutputError, writing
from robodyn.exporting.escaping import in_comment
from robodyn.exporting.fmu import refuse_target, write_fmus
from robodyn.exporting.functions import functions_of
from robodyn.exporting.linking import compile_source, compiler, link
from robodyn.exporting.machine_code import llvm_of, object_of, target_of
from robodyn.exporting.ros2_control import package_texts
from robodyn.exporting.texts import c_name, casadi_source, fill_template, header, motor_texts
from robodyn.exporting.wasm import wasm_linker, write_wasm
from robodyn.formats.output_file import write_text
from robodyn.mechanism.mechanism import Mechanism
from robodyn.version import __version__


class ExportResult(NamedTuple):
    """Result of an export: name, folder and files.

    Attributes:
        name: prefix of all names in C.
        folder: folder of the export.
        files: names of the files in it, in the order of writing.
    """

    name: str
    folder: Path
    files: tuple[str, ...]


@dataclass(frozen=True)
class ExportSettings:
    """Settings for `export`: contents of the folder, and target machine.

    Attributes:
        name: prefix of all names in C; by default from the mechanism's name.
        target: x86_64, aarch64, armv7, thumbv7em or riscv64, or a triple that begins with one; by
            default this machine.
        cpu: native (this machine's, the default), baseline, v2, v3, v4, or a name of LLVM.
        ros2_control: write a colcon package for ros2_control, with the library in its folder
            `library`: a chainable controller, and the mechanism as simulated hardware.
        fmu: write NAME.fmu and NAME_controller.fmu beside the library: the mechanism as a plant,
            and its computed torque, both for co-simulation and model exchange.
        fmi: version of FMI, 2.0 or 3.0.
        casadi: add functions for `casadi.external`, `NAME_casadi_forward_dynamics` and
            `NAME_casadi_inverse_dynamics` with their Jacobians, and their source NAME_casadi.c.
        wasm: write NAME.wasm, NAME.mjs and NAME.d.ts beside the library: a module for web pages,
            Node and Deno, and its wrapper in JavaScript with types.
        force: write into a folder that is not empty.
    """

    name: str = ""
    target: str = ""
    cpu: str = ""
    ros2_control: bool = False
    fmu: bool = False
    fmi: Literal["2.0", "3.0"] = "2.0"
    casadi: bool = False
    wasm: bool = False
    force: bool = False


class ExportOptions(TypedDict, total=False):
    """Keyword arguments of `export`: the fields of `ExportSettings`, all optional."""

    name: str
    target: str
    cpu: str
    ros2_control: bool
    fmu: bool
    fmi: Literal["2.0", "3.0"]
    casadi: bool
    wasm: bool
    force: bool


DEFAULT = ExportSettings()


def export(
    mechanism: Mechanism,
    folder: str | Path,
    *,
    settings: ExportSettings = DEFAULT,
    progress: Callable[[float], None] | None = None,
    **options: Unpack[ExportOptions],
) -> ExportResult:
    """Write a C library of a mechanism's dynamics: header, static and shared library, examples.

    The library contains the compiled functions that robodyn runs in Python. On the default target,
    the processor of this machine, its results are bit-identical to those in Python.

    Args:
        mechanism: mechanism of any kind; closed loops with as many motors as degrees of freedom.
        folder: folder to write; created if it does not exist.
        settings: contents and target machine.
        progress: called with the completed fraction, from 0 to 1.
        options: fields that replace those of the settings.

    Returns:
        Name, folder and files of the export.

    Raises:
        InvalidInput: the name is not valid in C, or the target is unknown.
        ModelError: the mechanism cannot be exported; the message names the reason.
        OutputError: the folder is not empty, or not writable.
        MissingExtra: there is no C compiler for the target.
    """
    how = replace(settings, **options)
    called, target = c_name(mechanism, how.name), target_of(how.target, how.cpu)
    place = Path(folder)
    if place.exists() and not how.force and (not place.is_dir() or any(place.iterdir())):
        raise OutputError(f"{place} exists and is not an empty folder; --force writes into it")
    compiler(target)
    if how.fmu:
        refuse_target(target, how.fmi)
    texts = dict(library_texts(called, mechanism))
    if how.casadi:
        texts[f"{called}_casadi.c"] = casadi_source(called, mechanism)
    inside = ""
    if how.wasm:
        wasm_linker()
    if how.ros2_control:
        inside = "library/"
        texts = {f"{inside}{file}": text for file, text in texts.items()}
        texts |= dict(package_texts(called, mechanism))
    functions = functions_of(mechanism)
    llvm = llvm_of(called, mechanism, functions, progress)
    code = object_of(llvm, target)
    written = []
    with writing(place):
        for file, text in texts.items():
            write_text(place / file, text)
            written.append(file)
        endings = ["a"] if target.is_bare else ["a", "so"]
        libraries = [f"{inside}lib{called}.{ending}" for ending in endings]
        with tempfile.TemporaryDirectory() as scratch:
            obj = Path(scratch) / f"{called}.o"
            obj.write_bytes(code)
            objects = [obj]
            if how.casadi:
                objects.append(Path(scratch) / f"{called}_casadi.o")
                compile_source(target, place / f"{inside}{called}_casadi.c", objects[1])
            static, *shared = (place / file for file in libraries)
            link(target, objects, static, shared[0] if shared else None)
        if how.fmu:
            text = header(called, mechanism)
            units = write_fmus(called, mechanism, target, text, static, how.fmi)
            libraries += [f"{inside}{file}" for file in units]
        if how.wasm:
            made = write_wasm(called, mechanism, llvm, functions, place / inside)
            libraries += [f"{inside}{file}" for file in made]
    if progress is not None:
        progress(1.0)
    return ExportResult(called, place, (*written, *libraries))


def library_texts(name: str, mechanism: Mechanism) -> Iterable[tuple[str, str]]:
    """Yield name and content of each text file in an exported library's folder."""
    values = {
        "NAME": name,
        "UPPER": name.upper(),
        "MECHANISM": in_comment(mechanism.name),
        "PC_VERSION": __version__,
        **motor_texts(name, mechanism),
        "WRAPS": ", ".join(str(int(wraps)) for wraps in motions.wrapping_driven(mechanism)),
    }
    yield f"{name}.h", header(name, mechanism)
    yield f"{name}Config.cmake", fill_template("library/config.cmake", values)
    yield f"{name}.pc", fill_template("library/library.pc", values)
    yield f"{name}_controller.h", fill_template("library/controller.h", values)
    for example in ("example.c", "example.cpp", "loop.c"):
        yield example, fill_template(f"library/{example}", values)
