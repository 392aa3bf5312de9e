# SPDX-License-Identifier: Apache-2.0

"""Access to SIMD vectors: rows on the stack or in an array, single lanes, sums over legs."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from robodyn.numerics.numba_compat import cgutils
from robodyn.numerics.simd.lanes import LANES, ROWS, VECTOR, WIDTH, make_rows, start_of


@intrinsic
def rows_of(typingctx: Any, array: Any, start: Any) -> Any:
    """Return a view of a contiguous array, from `start` on, as SIMD vectors.

    Each of the `Rows` has eight floats. The array must outlive them.
    """

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        given = context.make_array(sig.args[0])(context, builder, args[0])
        data = builder.gep(given.data, [args[1]], inbounds=True)
        width = ir.Constant(args[1].type, WIDTH)
        count = builder.sdiv(builder.sub(given.nitems, args[1]), width)
        return make_rows(context, builder, data, count)

    return ROWS(array, types.intp), codegen


@intrinsic(prefer_literal=True)
def new_rows(typingctx: Any, count: Any) -> Any:
    """Allocate uninitialized SIMD vectors on the stack; `count` is a literal integer."""
    if not isinstance(count, types.IntegerLiteral):
        return None
    size = count.literal_value * WIDTH

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        room = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), size))
        room.align = 64
        data = builder.bitcast(room, ir.DoubleType().as_pointer())
        rows = context.get_constant(types.intp, count.literal_value)
        return make_rows(context, builder, data, rows)

    return ROWS(count), codegen


@intrinsic
def entry(typingctx: Any, rows: Any, row: Any, column: Any) -> Any:
    """Return the float in a given lane of one of several SIMD vectors."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_entry(builder, *args))

    return types.float64(ROWS, types.intp, types.intp), codegen


@intrinsic
def set_entry(typingctx: Any, rows: Any, row: Any, column: Any, value: Any) -> Any:
    """Write a float to a given lane of one of several SIMD vectors."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[3], _entry(builder, *args[:3]))
        return context.get_dummy_value()

    return types.none(ROWS, types.intp, types.intp, types.float64), codegen


def _entry(builder: Any, rows: Any, row: Any, column: Any) -> Any:
    index = builder.add(builder.mul(row, ir.Constant(row.type, WIDTH)), column)
    return builder.gep(start_of(builder, rows), [index], inbounds=True)


@intrinsic
def lane(typingctx: Any, lanes: Any, index: Any) -> Any:
    """Return the float in one of the eight lanes of a SIMD vector, by index."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(args[0], args[1])

    return types.float64(LANES, types.intp), codegen


@intrinsic
def as_lane(typingctx: Any, value: Any) -> Any:
    """Return a SIMD vector with a float in the first lane; the others are undefined."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.insert_element(
            ir.Constant(VECTOR, ir.Undefined), args[0], ir.Constant(ir.IntType(32), 0)
        )

    return LANES(types.float64), codegen


@intrinsic
def with_lane(typingctx: Any, lanes: Any, index: Any, value: Any) -> Any:
    """Return a copy of a SIMD vector with the float in lane `index` replaced."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.insert_element(args[0], args[2], args[1])

    return LANES(LANES, types.intp, types.float64), codegen


@intrinsic
def sum_of_six(typingctx: Any, lanes: Any) -> Any:
    """Return the sum of the first six lanes of a SIMD vector.

    The lanes are the six legs of a platform.
    """

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = args[0]

        def shuffle(value: Any, order: list[int]) -> Any:
            kind = ir.VectorType(ir.IntType(32), len(order))
            return builder.shuffle_vector(
                value, ir.Constant(value.type, ir.Undefined), ir.Constant(kind, order)
            )

        pairs = builder.fadd(shuffle(vector, [0, 1]), shuffle(vector, [2, 3]))
        pairs = builder.fadd(pairs, shuffle(vector, [4, 5]))
        index = ir.IntType(32)
        return builder.fadd(
            builder.extract_element(pairs, index(0)), builder.extract_element(pairs, index(1))
        )

    return types.float64(LANES), codegen
