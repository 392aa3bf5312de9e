# SPDX-License-Identifier: Apache-2.0

"""Exported libraries with only some of their functions, as all of them take long to compile."""

from robodyn.exporting import (
    ExportResult,
    Target,
    functions_of,
    header,
    library_functions,
    library_texts,
    link,
    llvm_of,
    object_of,
)

# Functions that neither the supervised controller nor its tests call.
NOT_FOR_CONTROL = (
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "twist_jacobian",
    "condition_number",
)


def partial_llvm(m, name, *functions):
    """Return the LLVM IR of an export that has only the named functions."""
    made = {each: python for each, python in functions_of(m).items() if each.name in functions}
    assert len(made) == len(functions)
    return llvm_of(name, m, made)


def write_library(m, name, folder, llvm, target=None):
    """Write header and static library of an export, and for this machine the shared one."""
    target = target or Target()
    obj = folder / f"{name}.o"
    obj.write_bytes(object_of(llvm, target))
    shared = folder / f"lib{name}.so" if target.is_native else None
    link(target, [obj], folder / f"lib{name}.a", shared)
    folder.joinpath(f"{name}.h").write_text(header(name, m))
    return ExportResult(name, folder, ())


def write_controller(m, name, folder):
    """Write an export that has what the supervised controller and its tests call."""
    functions = {each.name for each in library_functions(m)} - {*NOT_FOR_CONTROL}
    folder.mkdir(exist_ok=True)
    made = write_library(m, name, folder, partial_llvm(m, name, *functions))
    controller = f"{name}_controller.h"
    folder.joinpath(controller).write_text(dict(library_texts(name, m))[controller])
    return made
