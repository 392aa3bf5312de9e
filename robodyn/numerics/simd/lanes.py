# SPDX-License-Identifier: Apache-2.0

"""Eight numbers that pass through the kernels as one SIMD vector.

A kernel is a function of numbers; called with `Lanes` instead of floats the same source computes
eight legs, or eight states, at once. LLVM receives vector types, so nothing depends on its
auto-vectorizer: one instruction with AVX-512, two with AVX2, four with NEON.

`Rows` represents an array (n, 8) of which a kernel sees one axis: `rows[k]` is row k as Lanes. In
place of scalar branches, code for both kinds uses `choose` and `any_of`.

No optimization that changes a bit is enabled: infinities and NaN are preserved, and a state has the
same forces alone and in a batch.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.extending import (
    intrinsic,
    lower_builtin,
    lower_cast,
    lower_getattr,
    models,
    register_model,
)

from robodyn.numerics.numba_compat import (
    AbstractTemplate,
    AttributeTemplate,
    Conversion,
    cgutils,
    infer_getattr,
    infer_global,
    signature,
)

WIDTH: Final = 8
VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_BITS = ir.VectorType(ir.IntType(1), WIDTH)


class LanesType(types.Type):  # type: ignore[misc]  # Numba is untyped
    """Numba type of a SIMD vector of eight float64."""

    def __init__(self) -> None:
        super().__init__("lanes")

    def unify(self, context: Any, other: Any) -> Any:
        """Return the common Numba type of a SIMD vector and another value, or None.

        A float is repeated in all lanes; other types have no common type.
        """
        return self if other == types.float64 else None

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """Return Numba's safe conversion from floats, which are repeated in all lanes.

        The result is None for other types.
        """
        return Conversion.safe if other == types.float64 else None


class MaskType(types.Type):  # type: ignore[misc]  # Numba is untyped
    """Numba type of a SIMD vector of eight booleans."""

    def __init__(self) -> None:
        super().__init__("lane_mask")


class RowsType(types.Type):  # type: ignore[misc]  # Numba is untyped
    """Numba type of several SIMD vectors of eight float64, stored as address and count."""

    def __init__(self) -> None:
        super().__init__("lane_rows")


LANES, MASK, ROWS = LanesType(), MaskType(), RowsType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]  # Numba is untyped
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


@register_model(MaskType)
class _MaskModel(models.PrimitiveModel):  # type: ignore[misc]  # Numba is untyped
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _BITS)


@register_model(RowsType)
class _RowsModel(models.StructModel):  # type: ignore[misc]  # Numba is untyped
    def __init__(self, manager: Any, kind: Any) -> None:
        fields = [("data", types.CPointer(types.float64)), ("count", types.intp)]
        super().__init__(manager, kind, fields)


@infer_getattr
class _RowsAttributes(AttributeTemplate):  # type: ignore[misc]  # Numba is untyped
    key = RowsType

    def resolve_shape(self, rows: Any) -> Any:
        return types.UniTuple(types.intp, 1)


@lower_getattr(RowsType, "shape")
def _shape(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return cgutils.pack_array(builder, [builder.extract_value(value, 1)])


def make_rows(context: Any, builder: Any, data: Any, count: Any) -> Any:
    """Create the LLVM value of `Rows` from their address and count."""
    rows = cgutils.create_struct_proxy(ROWS)(context, builder)
    rows.data, rows.count = data, count
    return rows._getvalue()


def start_of(builder: Any, rows: Any) -> Any:
    """Return the address of `Rows` as an LLVM pointer to float64."""
    return builder.extract_value(rows, 0)


def _repeat(builder: Any, scalar: Any) -> Any:
    first = builder.insert_element(
        ir.Constant(VECTOR, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0)
    )
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, ir.Constant(VECTOR, ir.Undefined), zeros)


def as_lanes(builder: Any, kind: Any, value: Any) -> Any:
    """Return an LLVM vector: the given one, or a float repeated eight times."""
    return value if kind == LANES else _repeat(builder, value)


@lower_cast(types.Float, LanesType)
def _cast(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    return _repeat(builder, value)


def _declare_binary(operation: Any, instruction: Any, result: Any) -> None:
    @infer_global(operation)
    class _Binary(AbstractTemplate):  # type: ignore[misc]  # Numba is untyped
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and LANES in args and all(a in (LANES, types.float64) for a in args):
                return signature(result, *args)
            return None

    for kinds in ((LANES, LANES), (LANES, types.float64), (types.float64, LANES)):

        @lower_builtin(operation, *kinds)
        def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            a, b = (as_lanes(builder, k, v) for k, v in zip(sig.args, args, strict=True))
            return instruction(builder, a, b)


for _operation, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
    # `a += b` on a number is `a = a + b`
    (operator.iadd, "fadd"),
    (operator.isub, "fsub"),
    (operator.imul, "fmul"),
    (operator.itruediv, "fdiv"),
):
    _declare_binary(_operation, lambda b, x, y, name=_name: getattr(b, name)(x, y), LANES)
for _operation, _sign in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
):
    _declare_binary(_operation, lambda b, x, y, sign=_sign: b.fcmp_ordered(sign, x, y), MASK)
_declare_binary(operator.ne, lambda b, x, y: b.fcmp_unordered("!=", x, y), MASK)


def _declare(operation: Any, kinds: tuple[Any, ...], instruction: Any) -> None:
    """Declare an operator on SIMD types whose operands and result have the same type."""

    @infer_global(operation)
    class _Operation(AbstractTemplate):  # type: ignore[misc]  # Numba is untyped
        def generic(self, args: Any, kws: Any) -> Any:
            return signature(kinds[0], *kinds) if tuple(args) == kinds else None

    @lower_builtin(operation, *kinds)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return instruction(builder, *args)


def _call(name: str) -> Any:
    def instruction(builder: Any, value: Any) -> Any:
        kind = ir.FunctionType(VECTOR, [VECTOR])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{WIDTH}f64")
        return builder.call(function, [value])

    return instruction


_declare(operator.neg, (LANES,), lambda b, x: b.fneg(x))
_declare(operator.invert, (MASK,), lambda b, x: b.not_(x))
_declare(operator.and_, (MASK, MASK), lambda b, x, y: b.and_(x, y))
_declare(operator.or_, (MASK, MASK), lambda b, x, y: b.or_(x, y))
_declare(abs, (LANES,), _call("fabs"))
for _name in ("sqrt", "sin", "cos"):
    _declare(getattr(math, _name), (LANES,), _call(_name))


@infer_global(operator.getitem)
class _RowsGet(AbstractTemplate):  # type: ignore[misc]  # Numba is untyped
    def generic(self, args: Any, kws: Any) -> Any:
        rows, index = args
        if rows == ROWS and isinstance(index, types.Integer):
            return signature(LANES, ROWS, types.intp)
        return None


@infer_global(operator.setitem)
class _RowsSet(AbstractTemplate):  # type: ignore[misc]  # Numba is untyped
    def generic(self, args: Any, kws: Any) -> Any:
        rows, index, value = args
        if rows == ROWS and isinstance(index, types.Integer) and value in (LANES, types.float64):
            return signature(types.none, ROWS, types.intp, value)
        return None


def _row(builder: Any, rows: Any, index: Any) -> Any:
    width = ir.Constant(index.type, WIDTH)
    start = builder.gep(start_of(builder, rows), [builder.mul(index, width)], inbounds=True)
    return builder.bitcast(start, VECTOR.as_pointer())


def load_row(builder: Any, rows: Any, index: Any) -> Any:
    """Generate code that loads one of several rows as a SIMD vector."""
    return builder.load(_row(builder, rows, index), align=8)


@lower_builtin(operator.getitem, ROWS, types.intp)
def _get_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return load_row(builder, *args)


@lower_builtin(operator.setitem, ROWS, types.intp, LANES)
@lower_builtin(operator.setitem, ROWS, types.intp, types.float64)
def _set_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    rows, index, value = args
    builder.store(as_lanes(builder, sig.args[2], value), _row(builder, rows, index), align=8)
    return context.get_dummy_value()


@intrinsic
def choose(typingctx: Any, mask: Any, a: Any, b: Any) -> Any:
    """Return `a` if a condition is true, else `b`; in each lane of SIMD vectors.

    Both are evaluated. The arguments are floats or SIMD vectors.
    """
    result = LANES if LANES in (a, b) or mask == MASK else types.float64

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        mask, a, b = args
        if result == LANES:
            a, b = as_lanes(builder, sig.args[1], a), as_lanes(builder, sig.args[2], b)
        return builder.select(mask, a, b)

    return result(mask, a, b), codegen


@intrinsic
def any_of(typingctx: Any, mask: Any) -> Any:
    """Return whether a condition is true; for SIMD vectors, in at least one lane."""
    return types.boolean(mask), _compare("!=", 0)


@intrinsic
def all_of(typingctx: Any, mask: Any) -> Any:
    """Return whether a condition is true; for SIMD vectors, in all lanes."""
    return types.boolean(mask), _compare("==", 2**WIDTH - 1)


@intrinsic
def to_index(typingctx: Any, value: Any) -> Any:
    """Convert a float, or the first lane of a SIMD vector, to an integer index."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        number = args[0]
        if sig.args[0] == LANES:
            number = builder.extract_element(number, ir.IntType(32)(0))
        return builder.fptosi(number, context.get_value_type(types.intp))

    return types.intp(value), codegen


@intrinsic
def largest_of(typingctx: Any, a: Any, b: Any) -> Any:
    """Return the larger of two numbers, in each lane of SIMD vectors.

    The result is `b` if either is NaN.
    """
    result = LANES if LANES in (a, b) else types.float64

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b = args
        if result == LANES:
            a, b = as_lanes(builder, sig.args[0], a), as_lanes(builder, sig.args[1], b)
        return builder.select(builder.fcmp_ordered(">", a, b), a, b)

    return result(a, b), codegen


def _compare(sign: str, bits: int) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if sig.args[0] != MASK:
            return args[0]
        byte = ir.IntType(WIDTH)
        return builder.icmp_unsigned(sign, builder.bitcast(args[0], byte), byte(bits))

    return codegen
