# SPDX-License-Identifier: Apache-2.0

"""Count the multiplications and additions of a kernel by running it on counting numbers.

A compiled kernel keeps its Python function. `interpreted` rebuilds that function with every kernel
it calls, and numpy and math, replaced by their Python or counting forms. The operations counted are
those of the code that runs, not of a second copy of the equations.

Counted: each * and /, each + and -, as the code performs them, a multiplication by a value that
happens to be zero included. Free: a change of sign, a comparison, a sine or a cosine.
"""

from __future__ import annotations

import contextlib
import math
import types
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.numerics.kernel_keys import is_compiled_module
from robodyn.numerics.simd.lanes import all_of, any_of, choose
from robodyn.numerics.trigonometry import sine_cosine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


@dataclass
class Tally:
    """Operations so far, in total and by row.

    A row is a name under which the operations of functions are counted; those of a function without
    a row count for the row of its caller.

    Attributes:
        rows: function name -> row.
        multiplications, additions: row -> count; operations outside all rows are under "".
        functions: square roots, by name.
    """

    rows: Mapping[str, str] = field(default_factory=dict)
    multiplications: Counter[str] = field(default_factory=Counter)
    additions: Counter[str] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)
    running: str = ""

    def total(self, without: Iterable[str] = ()) -> tuple[int, int]:
        """Multiplications and additions of all rows except some."""
        skipped = set(without)
        return (
            sum(count for row, count in self.multiplications.items() if row not in skipped),
            sum(count for row, count in self.additions.items() if row not in skipped),
        )

    @contextlib.contextmanager
    def row_of(self, function: str) -> Iterator[None]:
        """Count the operations inside for the row of a function, if it has one."""
        before = self.running
        self.running = self.rows.get(function, before)
        try:
            yield
        finally:
            self.running = before


class Counted:
    """A number that counts each operation on it.

    Comparisons are NumPy's: `~` of those is what it is in compiled code.
    """

    __slots__ = ("tally", "value")
    __hash__ = None  # type: ignore[assignment]  # compared by value like any other number

    def __init__(self, value: float, tally: Tally) -> None:
        self.value = float(value)
        self.tally = tally

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"Counted({self.value!r})"

    def _sum(self, value: float) -> Counted:
        self.tally.additions[self.tally.running] += 1
        return Counted(value, self.tally)

    def _product(self, value: float) -> Counted:
        self.tally.multiplications[self.tally.running] += 1
        return Counted(value, self.tally)

    def __add__(self, other: Any) -> Counted:
        return self._sum(self.value + float(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Counted:
        return self._sum(self.value - float(other))

    def __rsub__(self, other: Any) -> Counted:
        return self._sum(float(other) - self.value)

    def __mul__(self, other: Any) -> Counted:
        return self._product(self.value * float(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Counted:
        return self._product(self.value / float(other))

    def __rtruediv__(self, other: Any) -> Counted:
        return self._product(float(other) / self.value)

    def __pow__(self, exponent: float) -> Counted:
        if exponent == 2:
            return self._product(self.value * self.value)
        self.tally.functions["sqrt" if exponent == 0.5 else "pow"] += 1
        return Counted(self.value**exponent, self.tally)

    def __neg__(self) -> Counted:
        return Counted(-self.value, self.tally)

    def __abs__(self) -> Counted:
        return Counted(abs(self.value), self.tally)

    def __eq__(self, other: object) -> np.bool_:
        return np.bool_(self.value == float(other))  # type: ignore[arg-type]

    def __lt__(self, other: Any) -> np.bool_:
        return np.bool_(self.value < float(other))

    def __le__(self, other: Any) -> np.bool_:
        return np.bool_(self.value <= float(other))

    def __gt__(self, other: Any) -> np.bool_:
        return np.bool_(self.value > float(other))

    def __ge__(self, other: Any) -> np.bool_:
        return np.bool_(self.value >= float(other))


def count_operations(
    kernel: Callable[..., Any], *arguments: Any, rows: Mapping[str, str] | None = None
) -> tuple[Tally, Any]:
    """Run a compiled kernel on counting numbers.

    Args:
        kernel: decorated with `robodyn.numerics.compiler.kernel`.
        arguments: as the kernel takes them; arrays of floats become arrays of counting numbers,
            so what the kernel writes into them is in the copies that are returned.
        rows: function name -> row to which its operations count.

    Returns:
        The tally, and the arguments after the call, as plain arrays and numbers.
    """
    tally = Tally(rows or {})
    counted = [_counted(argument, tally) for argument in arguments]
    interpreted(kernel, tally)(*counted)
    return tally, [_plain(argument) for argument in counted]


def interpreted(kernel: Callable[..., Any], tally: Tally) -> Callable[..., Any]:
    """The Python form of a compiled kernel, and of all it calls, on counting numbers."""
    return _Interpreter(tally).function(kernel)


class _Interpreter:
    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.done: dict[int, Callable[..., Any]] = {}
        arrays = dict.fromkeys(("empty", "zeros"), lambda shape: _zeros(shape, tally))
        self.numpy = _Substitute("numpy", np, arrays)
        functions = {"sqrt": self._sqrt, "sin": self._free(math.sin), "cos": self._free(math.cos)}
        self.math = _Substitute("math", math, functions)
        self.substitutes = {
            id(choose): lambda condition, a, b: a if condition else b,
            id(any_of): bool,
            id(all_of): bool,
            id(sine_cosine): lambda angle: (functions["sin"](angle), functions["cos"](angle)),
        }

    def function(self, kernel: Any) -> Callable[..., Any]:
        if id(kernel) in self.done:
            return self.done[id(kernel)]
        python = kernel.py_func
        scope: dict[str, Any] = {}
        clone = types.FunctionType(
            python.__code__, scope, python.__name__, python.__defaults__, python.__closure__
        )

        def counting(*arguments: Any) -> Any:
            with self.tally.row_of(python.__name__):
                return clone(*arguments)

        self.done[id(kernel)] = counting
        for name, value in python.__globals__.items():
            scope[name] = self._replaced(value)
        return counting

    def _replaced(self, value: Any) -> Any:
        if id(value) in self.substitutes:
            return self.substitutes[id(value)]
        if hasattr(value, "py_func"):
            return self.function(value)
        if value is np:
            return self.numpy
        if value is math:
            return self.math
        if isinstance(value, types.ModuleType) and is_compiled_module(value.__name__):
            kernels = {
                name: self.function(item)
                for name, item in vars(value).items()
                if hasattr(item, "py_func")
            }
            return _Substitute(value.__name__, value, kernels)
        return value

    def _sqrt(self, value: Any) -> Counted:
        self.tally.functions["sqrt"] += 1
        return Counted(math.sqrt(float(value)), self.tally)

    def _free(self, function: Callable[[float], float]) -> Callable[[Any], Counted]:
        return lambda value: Counted(function(float(value)), self.tally)


class _Substitute:
    """A module with some of its functions replaced."""

    def __init__(self, name: str, module: Any, replaced: Mapping[str, Any]) -> None:
        self._name, self._module, self._replaced = name, module, replaced

    def __getattr__(self, name: str) -> Any:
        if name in self._replaced:
            return self._replaced[name]
        return getattr(self._module, name)


class _CountingArray(np.ndarray):
    """An array of counting numbers; plain numbers assigned to it become counting numbers."""

    tally: Tally

    def __array_finalize__(self, parent: Any) -> None:
        if isinstance(parent, _CountingArray):
            self.tally = parent.tally

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(
            key, Counted(value, self.tally) if isinstance(value, (int, float)) else value
        )


def _zeros(shape: Any, tally: Tally) -> _CountingArray:
    out = np.empty(shape, dtype=object).view(_CountingArray)
    out.tally = tally
    for index in np.ndindex(out.shape):
        out[index] = 0.0
    return out


def _counted(argument: Any, tally: Tally) -> Any:
    if isinstance(argument, tuple) and hasattr(argument, "rates"):  # a state of a mechanism
        return type(argument)(*(_counted(part, tally) for part in argument))
    if isinstance(argument, np.ndarray) and argument.dtype == np.float64:
        out = _zeros(argument.shape, tally)
        for index in np.ndindex(argument.shape):
            out[index] = float(argument[index])
        return out
    return Counted(argument, tally) if isinstance(argument, float) else argument


def _plain(argument: Any) -> Any:
    if isinstance(argument, np.ndarray) and argument.dtype == object:
        flat = [float(item) for item in argument.ravel()]
        return np.array(flat).reshape(argument.shape)
    return float(argument) if isinstance(argument, Counted) else argument
