# SPDX-License-Identifier: Apache-2.0

"""Arrays that a C program passes as addresses, and a mechanism's numbers, as kernels take them."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from robodyn.arrays import FloatArray
from robodyn.numerics import array_arguments as given

ADDRESS = types.CPointer(types.float64)
_WORD = ir.IntType(64)


def lend(kind: given.GivenType) -> Any:
    """A compiled function (source, shape) that lends an address or an array as a given array.

    `shape` is a tuple; of an optional array that is NULL it becomes the length `ABSENT`.
    """

    @intrinsic
    def lent(typingctx: Any, source: Any, shape: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            data, lengths = args[0], cgutils.unpack_tuple(builder, args[1])
            if isinstance(source, types.Array):
                data = context.make_array(source)(context, builder, data).data
            if kind.optional:
                absent = builder.icmp_unsigned("==", data, data.type(None))
                lengths = [builder.select(absent, _WORD(given.ABSENT), one) for one in lengths]
            array = context.make_array(kind.array)(context, builder)
            strides = [_WORD(8)]
            for length in lengths[:0:-1]:
                strides.insert(0, builder.mul(strides[0], length))
            given._fill(builder, array, data, lengths, strides)
            return array._getvalue()

        return kind(source, types.UniTuple(types.intp, kind.ndim)), codegen

    return lent


vector, rows, stack_of_rows = (lend(given.GivenType(ndim)) for ndim in (1, 2, 3))
vector_or_null, rows_or_null = lend(given.VECTOR_OR_NONE), lend(given.ROWS_OR_NONE)
vector_out, rows_out = lend(given.VECTOR_OUT), lend(given.MATRIX_OUT)
any_rows = lend(given.ROWS_OF_ANY_STRIDE)


def constant(array: FloatArray) -> Any:
    """A compiled function () that gives the address of these numbers, kept with the code."""
    numbers = np.ascontiguousarray(array, dtype=np.float64).view(np.uint64).ravel().tolist()
    content = ir.ArrayType(_WORD, max(len(numbers), 1))
    name = "numbers_" + hashlib.sha256(repr(numbers).encode()).hexdigest()[:24]

    @intrinsic
    def address(typingctx: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            known = builder.module.globals.get(name)
            if known is None:
                known = ir.GlobalVariable(builder.module, content, name)
                # bits instead of decimals; the functions that use the same share them
                known.initializer = ir.Constant(content, numbers or [0])
                known.linkage, known.global_constant, known.align = "linkonce_odr", True, 64
            return builder.bitcast(known, context.get_value_type(ADDRESS))

        return ADDRESS(), codegen

    return address


@intrinsic
def is_null(typingctx: Any, address: Any) -> Any:
    """Whether an address is NULL."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.icmp_unsigned("==", args[0], args[0].type(None))

    return types.boolean(address), codegen


@intrinsic
def address(typingctx: Any, array: Any) -> Any:
    """The address of an array's numbers."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.make_array(array)(context, builder, args[0]).data

    return ADDRESS(array), codegen


@intrinsic
def null(typingctx: Any) -> Any:
    """NULL."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.get_value_type(ADDRESS)(None)

    return ADDRESS(), codegen
