# SPDX-License-Identifier: Apache-2.0

"""Named numbers in packed arrays, so that kernels read `link.mass`.

A `Layout` maps names to positions. In Python its attributes are offsets. In compiled code a record,
created by the function that `record_of` returns, is two addresses, of integers and of floats, and
its attributes are the numbers there: one, or a tuple of several. It costs the same as indexing, and
compiles faster than an array.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_getattr_generic, models, register_model

from robodyn.numerics.numba_compat import AttributeTemplate, cgutils, infer_getattr
from robodyn.numerics.simd.lanes import LANES, ROWS, WIDTH, load_row, make_rows, start_of

_WORD = ir.IntType(64)


class Layout:
    """Memory layout of named values in an array; `layout.name` is the offset of a name.

    Args:
        counts: number of values of each name, in the order of storage.
    """

    def __init__(self, **counts: int) -> None:
        self.counts = counts
        self.offsets: dict[str, int] = {}
        self.size = 0
        for name, count in counts.items():
            self.offsets[name] = self.size
            self.size += count

    def __getattr__(self, name: str) -> int:
        try:
            return int(self.__dict__["offsets"][name])
        except KeyError:
            raise AttributeError(name) from None

    def numbers(self, **values: float) -> list[int]:
        """Return integer values, given by name, in the order of the layout.

        Missing values are zero.
        """
        assert values.keys() <= self.counts.keys(), values
        return [int(values.get(name, 0)) for name in self.counts]


class RecordType(types.Type):  # type: ignore[misc]  # Numba is untyped
    """Numba type of a record: addresses of its integers and of its floats.

    The floats may be SIMD vectors.
    """

    def __init__(self, name: str, integers: Layout, numbers: Layout, lanes: bool) -> None:
        self.pointers = {
            "integers": types.CPointer(types.int64),
            "numbers": ROWS if lanes else types.CPointer(types.float64),
        }
        self.fields = {
            name: (kind, place, layout.counts[name])
            for kind, layout in (("integers", integers), ("numbers", numbers))
            for name, place in layout.offsets.items()
        }
        super().__init__(f"record({name}, {lanes})")


@register_model(RecordType)
class _RecordModel(models.StructModel):  # type: ignore[misc]  # Numba is untyped
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, list(kind.pointers.items()))


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]  # Numba is untyped
    key = RecordType

    def generic_resolve(self, record: Any, name: str) -> Any:
        # the addresses are attributes, for data beyond the named numbers
        if name in record.pointers:
            return record.pointers[name]
        if name not in record.fields:
            return None
        where, _, count = record.fields[name]
        pointer = record.pointers[where]
        one = LANES if pointer == ROWS else pointer.dtype
        return one if count == 1 else types.UniTuple(one, count)


@lower_getattr_generic(RecordType)
def _get(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    record = cgutils.create_struct_proxy(kind)(context, builder, value=value)
    if name in kind.pointers:
        return getattr(record, name)
    where, place, count = kind.fields[name]
    start = getattr(record, where)
    if kind.pointers[where] == ROWS:
        found = [load_row(builder, start, _WORD(place + k)) for k in range(count)]
    else:
        found = [
            builder.load(builder.gep(start, [_WORD(place + k)], inbounds=True))
            for k in range(count)
        ]
    return found[0] if count == 1 else cgutils.pack_array(builder, found)


def record_of(name: str, integers: Layout, numbers: Layout) -> Any:
    """Return a compiled function that creates records from two arrays.

    The arguments of that function are an array or address of integers, the index of the record's
    first integer, an array or address of floats, and the index of its first float. An array of the
    type `BorrowedArrayType` contains integers reinterpreted as float64. If the floats are `Rows`,
    the values of the record are SIMD vectors.
    """
    records = [RecordType(name, integers, numbers, lanes) for lanes in (False, True)]

    @intrinsic
    def made(typingctx: Any, integers: Any, at: Any, numbers: Any, place: Any) -> Any:
        record = records[numbers == ROWS]

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            found = cgutils.create_struct_proxy(record)(context, builder)
            for part, (kind, source, offset) in zip(
                record.pointers, zip(sig.args[::2], args[::2], args[1::2], strict=True), strict=True
            ):
                if kind == ROWS:
                    first = builder.mul(offset, _WORD(WIDTH))
                    start = builder.gep(start_of(builder, source), [first], inbounds=True)
                    setattr(found, part, make_rows(context, builder, start, _WORD(0)))
                    continue
                start = source
                if not isinstance(kind, types.CPointer):
                    start = context.make_array(kind.array)(context, builder, source).data
                start = builder.bitcast(start, context.get_value_type(record.pointers[part]))
                setattr(found, part, builder.gep(start, [offset], inbounds=True))
            return found._getvalue()

        return record(integers, types.intp, numbers, types.intp), codegen

    return made
