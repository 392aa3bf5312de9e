# SPDX-License-Identifier: Apache-2.0

"""Conversion of memory addresses and constants to array arguments of compiled functions.

A *kernel* is a compiled function of arrays that both Python and exported libraries call. C code
passes addresses, and the data of the mechanism are constants in the code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from robodyn.arrays import FloatArray
from robodyn.numerics import array_arguments as given
from robodyn.numerics.compiler import inner
from robodyn.numerics.numba_compat import cgutils

ADDRESS = types.CPointer(types.float64)
NULL: Any = "NULL"
NUMBER: Any = "a number of the caller"
_WORD = ir.IntType(64)


class ArraySpec(NamedTuple):
    """Description of an array argument of a kernel, and of the origin of its data.

    Attributes:
        kind: Numba type of the array.
        shape: shape of the array; an optional array at NULL has the length `ABSENT` instead.
        numbers: constant values, stored with the code; NULL for a missing array; None if the caller
            passes the address.
    """

    kind: given.BorrowedArrayType
    shape: tuple[int, ...]
    numbers: Any = None


def vector(size: int) -> ArraySpec:
    """Describe an input vector (size,) of a kernel, whose address the caller passes."""
    return ArraySpec(given.VECTOR, (size,))


def vector_out(size: int) -> ArraySpec:
    """Describe an output vector (size,) of a kernel, whose address the caller passes."""
    return ArraySpec(given.VECTOR_OUT, (size,))


def rows_out(*shape: int) -> ArraySpec:
    """Describe an output array of a kernel, whose address the caller passes."""
    return ArraySpec(given.MATRIX_OUT, shape)


def row(size: int) -> ArraySpec:
    """Describe an input vector that a kernel receives as a batch (1, size)."""
    return ArraySpec(given.ROWS_OF_ANY_STRIDE, (1, size))


def constant(numbers: FloatArray) -> ArraySpec:
    """Describe a constant vector or matrix that is stored with the compiled code."""
    return ArraySpec(given.VECTOR if numbers.ndim == 1 else given.MATRIX, numbers.shape, numbers)


# External wrench and base motion, of one state and of a batch of one.
LOAD = ArraySpec(given.VECTOR_OR_NONE, (6,)), ArraySpec(given.VECTOR_OR_NONE, (9,))
LOAD_ROW = ArraySpec(given.ROWS_OR_NONE, (1, 6)), ArraySpec(given.ROWS_OR_NONE, (1, 9))
UNLOADED = LOAD[0]._replace(numbers=NULL)


def marshaler(*parameters: Any, borrowed: bool = False) -> Any:
    """Compile a function that converts a caller's arguments to those of a kernel.

    Args:
        parameters: parameters of the kernel: each an `ArraySpec`, `NUMBER`, or a constant. The
            caller passes addresses or arrays, and numbers, in this order.
        borrowed: whether the kernel takes plain Numba arrays instead of `BorrowedArrayType`.

    Returns:
        A compiled function of the tuple of the caller's arguments that returns the tuple of the
        kernel's arguments.
    """

    @intrinsic
    def marshal_arguments(typingctx: Any, sources: Any) -> Any:
        origins = iter(sources)
        kinds = [_kind(parameter, origins, borrowed) for parameter in parameters]

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            values = zip(sources, cgutils.unpack_tuple(builder, args[0]), strict=True)
            found = [
                _marshal_argument(context, builder, parameter, kind, values)
                for parameter, kind in zip(parameters, kinds, strict=True)
            ]
            return context.make_tuple(builder, result, found)

        result = types.BaseTuple.from_types(kinds)
        return result(sources), codegen

    return marshal_arguments


def marshal(kernel: Any, *parameters: Any, borrowed: bool = False) -> Any:
    """Compile a function that takes addresses and calls a kernel with arrays.

    Args:
        kernel: compiled function of arrays.
        parameters, borrowed: as for `marshaler`.

    Returns:
        The compiled function. It takes the caller's arguments and returns the result of the kernel.
    """
    marshal_arguments = marshaler(*parameters, borrowed=borrowed)

    @inner
    def call(*sources: Any) -> Any:
        return kernel(*marshal_arguments(sources))

    return call


def _kind(parameter: Any, origins: Iterator[Any], borrowed: bool) -> Any:
    """Return the Numba type of a compiled function's argument from its description."""
    if isinstance(parameter, ArraySpec):
        if parameter.numbers is None:
            next(origins)
        return parameter.kind.array if borrowed else parameter.kind
    if parameter is NUMBER:
        return next(origins)
    return types.boolean if isinstance(parameter, bool) else types.float64


def _marshal_argument(
    context: Any, builder: Any, parameter: Any, kind: Any, values: Iterator[Any]
) -> Any:
    """Build the LLVM value of a function's argument from the caller's argument."""
    if parameter is NUMBER:
        return next(values)[1]
    if not isinstance(parameter, ArraySpec):
        return context.get_constant(kind, parameter)
    pointer = context.get_value_type(ADDRESS)
    if parameter.numbers is None:
        source, data = next(values)
        if isinstance(source, types.Array):
            data = context.make_array(source)(context, builder, data).data
    elif parameter.numbers is NULL:
        data = pointer(None)
    else:
        data = _kept(builder, parameter.numbers).bitcast(pointer)
    lengths = [_WORD(length) for length in parameter.shape]
    if parameter.kind.optional:
        absent = builder.icmp_unsigned("==", data, pointer(None))
        lengths = [builder.select(absent, _WORD(given.ABSENT), one) for one in lengths]
    array = context.make_array(parameter.kind.array)(context, builder)
    strides = [_WORD(8)]
    for length in parameter.shape[:0:-1]:
        strides.insert(0, _WORD(strides[0].constant * length))
    given._fill(builder, array, data, lengths, strides)
    return array._getvalue()


def _kept(builder: Any, array: FloatArray) -> Any:
    """Store an array in a global constant of the LLVM module; return that global."""
    # bits instead of decimals; functions share equal constants
    numbers = np.ascontiguousarray(array, dtype=np.float64).view(np.uint64).ravel().tolist()
    name = "numbers_" + hashlib.sha256(repr(numbers).encode()).hexdigest()[:24]
    kept = builder.module.globals.get(name)
    if kept is None:
        content = ir.ArrayType(_WORD, max(len(numbers), 1))
        kept = ir.GlobalVariable(builder.module, content, name)
        kept.initializer = ir.Constant(content, numbers or [0])
        kept.linkage, kept.global_constant, kept.align = "linkonce_odr", True, 64
    return kept


def address_of(array: FloatArray) -> Any:
    """Compile a function that returns the memory address of constants.

    The function has no arguments. The values of `array` are stored with the compiled code.
    """

    @intrinsic
    def address(typingctx: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.bitcast(_kept(builder, array), context.get_value_type(ADDRESS))

        return ADDRESS(), codegen

    return address


@intrinsic
def is_null(typingctx: Any, address: Any) -> Any:
    """Return whether a memory address is NULL (in compiled code)."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.icmp_unsigned("==", args[0], args[0].type(None))

    return types.boolean(address), codegen


@intrinsic
def address(typingctx: Any, array: Any) -> Any:
    """Return the memory address of an array's data (in compiled code)."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.make_array(array)(context, builder, args[0]).data

    return ADDRESS(array), codegen


@intrinsic
def null(typingctx: Any) -> Any:
    """Return the memory address NULL (in compiled code)."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.get_value_type(ADDRESS)(None)

    return ADDRESS(), codegen
