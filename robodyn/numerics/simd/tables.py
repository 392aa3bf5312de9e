# SPDX-License-Identifier: Apache-2.0

"""Arrays (n, k) of SIMD vectors, for compiled functions with k numbers for each joint."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, lower_getattr, models, register_model

from robodyn.numerics.array_arguments import allocation
from robodyn.numerics.compiler import inner
from robodyn.numerics.numba_compat import (
    AbstractTemplate,
    AttributeTemplate,
    cgutils,
    infer_getattr,
    infer_global,
    signature,
)
from robodyn.numerics.simd.lanes import LANES, ROWS, VECTOR, WIDTH, as_lanes, make_rows, start_of


class TableType(types.Type):  # type: ignore[misc]  # Numba is untyped
    """Numba type of an array of SIMD vectors, each of eight float64."""

    def __init__(self) -> None:
        super().__init__("lane_table")


TABLE = TableType()
_PAIR = types.UniTuple(types.intp, 2)


@register_model(TableType)
class _TableModel(models.StructModel):  # type: ignore[misc]  # Numba is untyped
    def __init__(self, manager: Any, kind: Any) -> None:
        data = types.CPointer(types.float64)
        super().__init__(
            manager, kind, [("data", data), ("count", types.intp), ("width", types.intp)]
        )


@infer_getattr
class _TableAttributes(AttributeTemplate):  # type: ignore[misc]  # Numba is untyped
    key = TableType

    def resolve_shape(self, table: Any) -> Any:
        return _PAIR


@lower_getattr(TableType, "shape")
def _shape(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    table = cgutils.create_struct_proxy(TABLE)(context, builder, value=value)
    return cgutils.pack_array(builder, [table.count, table.width])


@intrinsic
def new_table(typingctx: Any, count: Any, width: Any) -> Any:
    """Allocate an array (count, width) of SIMD vectors on the stack.

    It is valid until the compiled function returns. `table[i]` is row i, `table[i, j]` one SIMD
    vector.
    """

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _new_table(context, builder, *args)

    return TABLE(types.intp, types.intp), codegen


@intrinsic
def new_tables(typingctx: Any, shapes: Any) -> Any:
    """Allocate arrays of SIMD vectors on the stack, with the shapes in a named tuple.

    The result is a named tuple of the same class. A pair of lengths gives an array (count, width),
    a single length a one-dimensional one.
    """

    def allocate(context: Any, builder: Any, kind: Any, lengths: Any) -> Any:
        if kind == TABLE:
            return _new_table(context, builder, *lengths)
        return make_rows(context, builder, _new_rows(builder, *lengths), *lengths)

    return allocation(
        shapes, lambda shape: TABLE if isinstance(shape, types.BaseTuple) else ROWS, allocate
    )


@intrinsic
def table_of(typingctx: Any, rows: Any, count: Any, width: Any) -> Any:
    """Return a view of SIMD vectors as an array (count, width)."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        table = cgutils.create_struct_proxy(TABLE)(context, builder)
        rows, table.count, table.width = args
        table.data = start_of(builder, rows)
        return table._getvalue()

    return TABLE(ROWS, types.intp, types.intp), codegen


@inner
def as_table(rows: Any, width: int) -> Any:
    """Return a view of SIMD vectors as an array of given width and unknown length."""
    return table_of(rows, 0, width)


def _new_table(context: Any, builder: Any, count: Any, width: Any) -> Any:
    table = cgutils.create_struct_proxy(TABLE)(context, builder)
    table.data, table.count = _new_rows(builder, builder.mul(count, width)), count
    table.width = width
    return table._getvalue()


def _new_rows(builder: Any, count: Any) -> Any:
    size = builder.mul(count, ir.Constant(count.type, WIDTH))
    rows = builder.alloca(ir.DoubleType(), size=size)
    rows.align = 64
    return rows


@infer_global(operator.getitem)
class _TableGet(AbstractTemplate):  # type: ignore[misc]  # Numba is untyped
    def generic(self, args: Any, kws: Any) -> Any:
        table, index = args
        if table != TABLE:
            return None
        if isinstance(index, types.Integer):
            return signature(ROWS, TABLE, types.intp)
        return signature(LANES, TABLE, _PAIR)


@infer_global(operator.setitem)
class _TableSet(AbstractTemplate):  # type: ignore[misc]  # Numba is untyped
    def generic(self, args: Any, kws: Any) -> Any:
        table, _, value = args
        return signature(types.none, TABLE, _PAIR, value) if table == TABLE else None


def _table_row(context: Any, builder: Any, table: Any, index: Any, column: Any = None) -> Any:
    table = cgutils.create_struct_proxy(TABLE)(context, builder, value=table)
    first = builder.mul(index, table.width)
    if column is not None:
        first = builder.add(first, column)
    first = builder.mul(first, ir.Constant(first.type, WIDTH))
    return builder.gep(table.data, [first], inbounds=True), table.width


@lower_builtin(operator.getitem, TABLE, types.intp)
def _get_table_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return make_rows(context, builder, *_table_row(context, builder, *args))


@lower_builtin(operator.getitem, TABLE, _PAIR)
def _get_table_entry(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    table, pair = args
    row, _ = _table_row(context, builder, table, *cgutils.unpack_tuple(builder, pair))
    return builder.load(builder.bitcast(row, VECTOR.as_pointer()), align=8)


@lower_builtin(operator.setitem, TABLE, _PAIR, LANES)
@lower_builtin(operator.setitem, TABLE, _PAIR, types.float64)
def _set_table_entry(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    table, pair, value = args
    row, _ = _table_row(context, builder, table, *cgutils.unpack_tuple(builder, pair))
    row = builder.bitcast(row, VECTOR.as_pointer())
    builder.store(as_lanes(builder, sig.args[2], value), row, align=8)
    return context.get_dummy_value()
