# SPDX-License-Identifier: Apache-2.0

"""Calls to kernels from Python without Numba's dispatcher.

A call takes a few nanoseconds per argument. `direct` returns a kernel's compiled entry point. Its
arguments are arrays of the types below: dtype float64, number of dimensions, contiguity and
writability are read from the object; anything else is a TypeError. `borrowed_array` gives a kernel
the array without a new reference: the caller holds one until the kernel returns.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.extending import NativeValue, intrinsic, models, register_model, unbox

from robodyn.numerics.numba_compat import cgutils

# Offsets of the fields in NumPy's C structures of an array and of its dtype
# (numpy/ndarraytypes.h), after the two words that begin every Python object.
_TYPE, _DATA, _NDIM, _SHAPE, _STRIDES, _DTYPE, _FLAGS = 8, 16, 24, 32, 40, 56, 64
_BYTE_ORDER, _NUMBER = 26, 28
_CONTIGUOUS, _ALIGNED, _WRITABLE = 0x1, 0x100, 0x400
ABSENT: Final = -1  # length of an array that is None
_WORD, _HALF, _BYTE = ir.IntType(64), ir.IntType(32), ir.IntType(8)

_FLOAT64 = np.dtype(np.float64)
# Compiled code refers to this object by name, so that it can be cached on disk.
binding.add_symbol("robodyn_ndarray", id(np.ndarray))


def layout_is_known() -> bool:
    """Return whether NumPy arrays have the memory layout that this module relies on."""
    array = np.zeros((2, 3))[:, ::2]
    start = id(array)

    def word(offset: int, kind: Any = ctypes.c_int64, start: int = start) -> int:
        return int(kind.from_address(start + offset).value)

    def words(offset: int) -> tuple[int, ...]:
        return tuple((ctypes.c_int64 * 2).from_address(word(offset)))

    if object.__basicsize__ != _DATA or ctypes.sizeof(ctypes.c_void_p) != _TYPE:
        return False
    return (
        word(_TYPE) == id(np.ndarray)
        and word(_DATA) == array.ctypes.data
        and word(_NDIM, ctypes.c_int32) == array.ndim
        and words(_SHAPE) == array.shape
        and words(_STRIDES) == array.strides
        and word(_DTYPE) == id(_FLOAT64)
        and word(_FLAGS, ctypes.c_int32) == array.flags.num
        and all(
            word(_NUMBER, ctypes.c_int32, id(kind)) == kind.num
            and word(_BYTE_ORDER, ctypes.c_uint8, id(kind)) == ord(kind.byteorder)
            for kind in (_FLOAT64, _FLOAT64.newbyteorder(), np.dtype(np.int8))
        )
    )


class BorrowedArrayType(types.Type):  # type: ignore[misc]  # Numba is untyped
    """Numba type of a float64 array that a compiled function borrows for one call.

    The array's layout is `A`, any strides, or `C`, contiguous.
    """

    def __init__(
        self, ndim: int, layout: str = "C", *, writable: bool = False, optional: bool = False
    ) -> None:
        self.ndim, self.layout, self.dtype = ndim, layout, types.float64
        self.writable, self.optional = writable, optional
        super().__init__(f"given({ndim}, {layout}, {writable}, {optional})")

    @property
    def array(self) -> Any:
        """Numba array type that the compiled function receives for this argument."""
        return types.Array(types.float64, self.ndim, self.layout)


register_model(BorrowedArrayType)(models.ArrayModel)

VECTOR, MATRIX = BorrowedArrayType(1), BorrowedArrayType(2)
VECTOR_OR_NONE = BorrowedArrayType(1, optional=True)
ROWS_OF_ANY_STRIDE = BorrowedArrayType(2, "A")
ROWS_OR_NONE = BorrowedArrayType(2, "A", optional=True)
VECTOR_OUT, MATRIX_OUT = BorrowedArrayType(1, writable=True), BorrowedArrayType(2, writable=True)


@intrinsic
def borrowed_array(typingctx: Any, given: Any) -> Any:
    """Return borrowed arguments as Numba arrays, in compiled code.

    The argument is of type `BorrowedArrayType`, or a tuple of such arguments, of which the result
    omits those that are None.
    """
    if isinstance(given, types.BaseTuple):
        kept = [k for k, item in enumerate(given) if item != types.none]
        result = types.Tuple([given[k].array for k in kept])

        def unpack(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            # the tuple's layout depends on whether its items have one type
            parts = cgutils.unpack_tuple(builder, args[0])
            return context.make_tuple(builder, result, [parts[k] for k in kept])

        return result(given), unpack

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return args[0]

    return given.array(given), codegen


@intrinsic
def stack(typingctx: Any, rows: Any, columns: Any) -> Any:
    """Allocate an array (rows, columns) of floats on the stack, not initialized.

    It is valid until the compiled function returns.
    """
    result = types.Array(types.float64, 2, "C")

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _on_stack(context, builder, result, list(args))

    return result(types.intp, types.intp), codegen


@intrinsic
def stack_all(typingctx: Any, shapes: Any) -> Any:
    """Allocate arrays of floats on the stack, with the shapes in a named tuple.

    A shape is a length or a pair of lengths. The arrays, which are not initialized, are returned in
    a named tuple of the same class; for a tuple of named tuples, in a tuple of such named tuples.
    """
    return allocation(
        shapes, lambda shape: types.Array(types.float64, getattr(shape, "count", 1), "C"), _on_stack
    )


def allocation(shapes: Any, type_of: Any, allocate: Any) -> Any:
    """Return signature and code generator of a Numba intrinsic that allocates arrays.

    Args:
        shapes: Numba type of the intrinsic's argument, a tuple of shapes.
        type_of: function from the type of a shape to the type of the allocated array.
        allocate: function allocate(context, builder, type, lengths) that generates the code.
    """

    def result_of(kind: Any) -> Any:
        if _is_shape(kind):
            return type_of(kind)
        items = [result_of(item) for item in kind]
        return types.BaseTuple.from_types(items, getattr(kind, "instance_class", None))

    def make(context: Any, builder: Any, result: Any, kind: Any, value: Any) -> Any:
        if isinstance(kind, types.Integer):
            return allocate(context, builder, result, [value])
        parts = cgutils.unpack_tuple(builder, value)
        if _is_shape(kind):
            return allocate(context, builder, result, parts)
        made = [make(context, builder, *each) for each in zip(result, kind, parts, strict=True)]
        return context.make_tuple(builder, result, made)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return make(context, builder, result, shapes, args[0])

    result = result_of(shapes)
    return result(shapes), codegen


def _is_shape(kind: Any) -> bool:
    """Return whether a Numba type is a shape: an integer or a pair of integers."""
    if isinstance(kind, types.BaseTuple) and not hasattr(kind, "instance_class"):
        return all(isinstance(item, types.Integer) for item in kind)
    return isinstance(kind, types.Integer)


def _on_stack(context: Any, builder: Any, kind: Any, lengths: list[Any]) -> Any:
    """Generate code that allocates an array with given type and shape on the stack."""
    strides = [_WORD(8)]
    total = lengths[-1]
    for length in lengths[-2::-1]:
        strides.insert(0, builder.mul(total, _WORD(8)))
        total = builder.mul(total, length)
    data = builder.alloca(ir.DoubleType(), size=total)
    data.align = 64
    array = context.make_array(kind)(context, builder)
    _fill(builder, array, data, lengths, strides)
    return array._getvalue()


def direct(compiled: Any, *signature: Any) -> Callable[..., Any]:
    """Return a compiled function for given argument types, callable without dispatch.

    It is compiled or loaded from disk. It takes no keyword arguments. Arguments of other types
    raise TypeError, as do arrays with an unexpected memory layout.
    """
    if not layout_is_known():
        return _refuse
    compiled.compile(signature)
    entry: Callable[..., Any] = compiled.get_overload(signature)
    return entry


def _refuse(*arguments: Any) -> Any:
    raise TypeError("arrays of this Python are not laid out as compiled code expects")


@unbox(BorrowedArrayType)
def _unbox(kind: Any, item: Any, c: Any) -> Any:
    """Generate code that reads address, shape and strides from a NumPy array object."""
    builder = c.builder
    array = c.context.make_array(kind.array)(c.context, builder)
    accepted = cgutils.alloca_once_value(builder, cgutils.false_bit)
    address = builder.ptrtoint(item, _WORD)

    def read(offset: int, type_: Any, start: Any = address) -> Any:
        where = builder.add(start, _WORD(offset))
        return builder.load(builder.inttoptr(where, type_.as_pointer()))

    def is_object(value: Any, name: str) -> Any:
        known = c.context.get_c_value(builder, ir.IntType(8), name)
        return builder.icmp_unsigned("==", value, builder.ptrtoint(known, _WORD))

    def describe_array() -> None:
        needed = _ALIGNED | (_CONTIGUOUS if kind.layout == "C" else 0)
        needed |= _WRITABLE if kind.writable else 0
        flags = builder.and_(read(_FLAGS, _HALF), _HALF(needed))
        fits = builder.icmp_signed("==", read(_NDIM, _HALF), _HALF(kind.ndim))
        fits = builder.and_(fits, builder.icmp_signed("==", flags, _HALF(needed)))
        # by value, not by identity, as unpickling creates a new dtype object
        dtype = read(_DTYPE, _WORD)
        for offset, kind_of, value in (
            (_NUMBER, _HALF, _FLOAT64.num),
            (_BYTE_ORDER, _BYTE, ord(_FLOAT64.byteorder)),
        ):
            same = builder.icmp_signed("==", read(offset, kind_of, dtype), kind_of(value))
            fits = builder.and_(fits, same)
        with builder.if_then(fits, likely=True):
            pointer = _WORD.as_pointer()
            shape, strides = read(_SHAPE, pointer), read(_STRIDES, pointer)
            lengths, steps = (
                [builder.load(builder.gep(start, [_HALF(axis)])) for axis in range(kind.ndim)]
                for start in (shape, strides)
            )
            _fill(builder, array, read(_DATA, array.data.type), lengths, steps)
            builder.store(cgutils.true_bit, accepted)

    def describe_if_array() -> None:
        with builder.if_then(is_object(read(_TYPE, _WORD), "robodyn_ndarray"), likely=True):
            describe_array()

    if kind.optional:
        with builder.if_else(is_object(address, "_Py_NoneStruct"), likely=True) as (none, other):
            with none:  # first, as it is the usual case
                absent = [_WORD(ABSENT)] * kind.ndim
                _fill(builder, array, array.data.type(None), absent, absent)
                builder.store(cgutils.true_bit, accepted)
            with other:
                describe_if_array()
    else:
        describe_if_array()
    failed = builder.not_(builder.load(accepted))
    with builder.if_then(failed, likely=False):
        c.pyapi.err_set_string(
            "PyExc_TypeError",
            "expected a float64 array with the declared dimensions and memory layout",
        )
    return NativeValue(array._getvalue(), is_error=failed)


def _fill(builder: Any, array: Any, data: Any, shape: list[Any], strides: list[Any]) -> None:
    """Generate code that fills a Numba array struct that does not own its memory."""
    total = shape[0]
    for length in shape[1:]:
        total = builder.mul(total, length)
    array.meminfo, array.parent = array.meminfo.type(None), array.parent.type(None)
    array.nitems, array.itemsize, array.data = total, array.itemsize.type(8), data
    array.shape = cgutils.pack_array(builder, shape)
    array.strides = cgutils.pack_array(builder, strides)
