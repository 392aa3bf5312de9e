# SPDX-License-Identifier: Apache-2.0

"""Exported libraries with only some of their functions, as all of them take long to compile."""

from robodyn.exporting import Exported, Target, functions_of, header, link, llvm_of, object_of


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
    return Exported(name, folder, ())
