# SPDX-License-Identifier: Apache-2.0

"""Machine code of an exported library: Numba's code, linked and optimized by LLVM.

The functions are those that Python runs: from the cache on disk if possible, otherwise compiled
now. The object file does not need Numba's runtime.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types

from robodyn.algorithms.elasticity import motors_at_home
from robodyn.errors import InvalidInput
from robodyn.exporting.kind_functions import STATUSES
from robodyn.exporting.marshaling import ADDRESS
from robodyn.exporting.signatures import Function
from robodyn.mechanism.mechanism import Mechanism
from robodyn.numerics.compiler import inner
from robodyn.numerics.numba_compat import global_compiler_lock
from robodyn.numerics.parts import LinkingLibrary

_C_TYPES = {"double": types.float64, "int": types.int32}
_BYTE, _INT, _WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)


@dataclass(frozen=True)
class Target:
    """Target machine of an export: LLVM triple, CPU and features.

    Attributes:
        triple: target triple of LLVM and of C compilers; empty for this machine.
        cpu: LLVM's name of the CPU; empty for this machine's own, or the baseline of the triple.
        features: CPU features in LLVM's notation.
    """

    triple: str = ""
    cpu: str = ""
    features: str = ""

    @property
    def is_native(self) -> bool:
        """Whether the target is the machine on which this process runs."""
        return not self.triple

    @property
    def full_triple(self) -> str:
        """Target triple that includes the vendor, as LLVM requires."""
        arch, *rest = (self.triple or binding.get_process_triple()).split("-")
        return "-".join([arch, *["unknown"] * (rest[0] in ("linux", "none")), *rest])

    @property
    def links_here(self) -> bool:
        """Whether the linker of this machine can create libraries for the target."""
        own = binding.get_process_triple()
        return self.is_native or self.triple.split("-")[0] == own.split("-")[0]

    @property
    def is_bare(self) -> bool:
        """Whether the target supports no shared libraries, such as a microcontroller."""
        return "none" in self.triple or "wasm" in self.triple


# Triple and features by the first part of a triple.
TARGETS = {
    "x86_64": ("x86_64-linux-gnu", ""),
    "aarch64": ("aarch64-linux-gnu", ""),
    "armv7": ("armv7-linux-gnueabihf", "+vfp3,+neon"),
    "thumbv7em": ("thumbv7em-none-eabihf", "+vfp4d16"),
    "riscv64": ("riscv64-linux-gnu", "+m,+a,+f,+d,+c"),
    "wasm32": ("wasm32-unknown-unknown", "+simd128,+bulk-memory"),
}
_CPUS = {"baseline": "", "v2": "x86-64-v2", "v3": "x86-64-v3", "v4": "x86-64-v4"}


def target_of(name: str, cpu: str) -> Target:
    """Return the target machine with a given name and CPU.

    Args:
        name: one of `TARGETS` or a target triple that begins with one; empty for this machine.
        cpu: `native`, `baseline`, `v2`, `v3`, `v4` or LLVM's name of a CPU; empty for the default.

    Raises:
        InvalidInput: there is no such target.
    """
    known = [key for key in TARGETS if name and name.split("-")[0] == key]
    if name and not known:
        raise InvalidInput(
            f"target is {name!r}, expected one of {', '.join(TARGETS)}, or a triple that begins "
            "with one; without a target the library is for this machine",
            value=name,
        )
    if not name and cpu in ("", "native"):
        return Target()
    if not known:
        known = [binding.get_process_triple().split("-")[0]]
        if known[0] not in TARGETS:
            raise InvalidInput(
                f"cpu is {cpu!r}; on this computer, also specify a target", value=cpu
            )
    triple, features = TARGETS[known[0]]
    if cpu == "native":
        raise InvalidInput(
            "cpu 'native' is the processor of this computer and cannot be combined with a target",
            value=cpu,
        )
    return Target(name if "-" in name else triple, _CPUS.get(cpu, cpu), features)


class _Library(LinkingLibrary):
    """Numba code library that is optimized as a whole and not run in this process.

    Only the functions `visible` keep external linkage.
    """

    visible: frozenset[str] = frozenset()

    def _optimize_final_module(self) -> None:
        for part in (*self._final_module.functions, *self._final_module.global_variables):
            if not part.is_declaration and part.name not in self.visible:
                part.linkage = "internal"
        managers = self._codegen._module_pass_manager()
        if isinstance(managers, tuple):  # LLVM's new pass manager; one run is enough
            # entries contain copies of the same helper functions; one of them is optimized
            merging = binding.create_new_module_pass_manager()
            merging.add_merge_functions_pass()
            merging.run(self._final_module, managers[1])
            managers[0].run(self._final_module, managers[1])
        else:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalized = True


def llvm_of(
    name: str,
    mechanism: Mechanism,
    functions: dict[Function, Any],
    progress: Callable[[float], None] | None = None,
) -> str:
    """Compile the functions of a library to LLVM IR.

    Args:
        name: prefix of all symbols, a valid C identifier.
        mechanism: mechanism whose data are included.
        functions: functions to compile, by declaration.
        progress: called with the completed fraction, from 0 to 1.

    Returns:
        LLVM IR of the module as a string.
    """
    with global_compiler_lock:
        module, library = ir.Module(name), None
        visible = {f"{name}_{text}" for text in _add_data(module, name, mechanism)}
        for k, (function, python) in enumerate(functions.items()):
            if progress is not None:
                progress(0.8 * k / len(functions))
            signature = tuple(
                _C_TYPES.get(argument.use, ADDRESS) for argument in function.arguments
            )
            part: Any = inner(python)
            part.compile((types.StarArgTuple(signature),))
            (compiled,) = part.overloads.values()
            if library is None:
                library = _Library(compiled.library._codegen, name)
            library.add_linking_library(compiled.library)
            visible.add(f"{name}_{function.name}")
            _add_function(module, f"{name}_{function.name}", compiled, signature)
        assert library is not None
        library.visible = frozenset(visible)
        library.add_ir_module(module)
        library.finalize()
        return str(library._final_module)


def object_of(llvm: str, target: Target) -> bytes:
    """Compile LLVM IR for a target machine; return the content of the object file."""
    cpu, features = target.cpu, target.features
    if target.is_native:
        cpu, features = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    else:
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(target.full_triple).create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="pic", codemodel="default"
    )
    if not target.is_native:
        for word, own in (("triple", target.full_triple), ("datalayout", machine.target_data)):
            llvm = re.sub(f'target {word} = "[^"]*"', f'target {word} = "{own}"', llvm)
    found: bytes = machine.emit_object(binding.parse_assembly(llvm))
    return found


def _add_function(module: Any, name: str, compiled: Any, signature: tuple[Any, ...]) -> None:
    """Add to an LLVM module a C function that calls a function compiled by Numba."""
    context, described = compiled.target_context, compiled.fndesc
    kinds = [context.get_value_type(kind) for kind in signature]
    function = ir.Function(module, ir.FunctionType(_INT, kinds), name)
    builder = ir.IRBuilder(function.append_basic_block())
    callee = context.declare_function(module, described)
    given = context.make_tuple(builder, described.argtypes[0], function.args)
    _, found = context.call_conv.call_function(
        builder, callee, described.restype, described.argtypes, [given]
    )
    builder.ret(builder.trunc(found, _INT) if found.type != _INT else found)


def _add_data(module: Any, name: str, mechanism: Mechanism) -> list[str]:
    """Add a mechanism's data and the status messages to an LLVM module.

    Returns the names of their symbols without the prefix.
    """
    numbers = {
        "home": mechanism.home,
        "position_limits": mechanism.position_limits,
        "velocity_limits": mechanism.velocity_limits,
        "effort_limits": mechanism.effort_limits,
        "effort_range": mechanism.drives.effort_ends.T,
    }
    if mechanism.drives.elasticity is not None:
        numbers["home_motors"] = motors_at_home(mechanism)
    for key, array in numbers.items():
        bits = np.ascontiguousarray(array, dtype=np.float64).view(np.uint64).ravel().tolist()
        _add_constant(module, f"{name}_{key}", ir.Constant(ir.ArrayType(_WORD, len(bits)), bits))
    _add_texts(module, f"{name}_joint_names", mechanism.joint_names)
    texts = _add_texts(
        module, f"{name}_texts", [*STATUSES.values(), "not a status of this library"]
    )
    status = ir.Function(module, ir.FunctionType(_BYTE.as_pointer(), [_INT]), f"{name}_status_text")
    builder = ir.IRBuilder(status.append_basic_block())
    known = builder.icmp_unsigned("<", status.args[0], _INT(len(STATUSES)))
    index = builder.select(known, status.args[0], _INT(len(STATUSES)))
    builder.ret(builder.load(builder.gep(texts, [_INT(0), index], inbounds=True)))
    return [*numbers, "joint_names", "status_text"]


def _add_texts(module: Any, name: str, texts: Sequence[str]) -> Any:
    """Add an array of C strings to an LLVM module; return its global variable."""
    pointers = []
    for k, text in enumerate(texts):
        content = bytearray(text.encode() + b"\0")
        one = _add_constant(
            module, f"{name}_{k}", ir.Constant(ir.ArrayType(_BYTE, len(content)), content)
        )
        pointers.append(one.bitcast(_BYTE.as_pointer()))
    kind = ir.ArrayType(_BYTE.as_pointer(), len(pointers))
    return _add_constant(module, name, ir.Constant(kind, pointers))


def _add_constant(module: Any, name: str, content: Any) -> Any:
    found = ir.GlobalVariable(module, content.type, name)
    found.initializer, found.global_constant = content, True
    return found
