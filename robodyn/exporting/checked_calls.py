# SPDX-License-Identifier: Apache-2.0

"""Functions of an exported library that check their arguments and call `KindFunctions`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from robodyn.exporting.kind_functions import (
    FINE,
    INVALID,
    NO_RESULT,
    TOO_LARGE,
    KindFunctions,
    are_finite,
)
from robodyn.exporting.marshaling import ADDRESS, is_null
from robodyn.exporting.signatures import Argument, Function, Setting, sizes_of
from robodyn.numerics.compiler import inner
from robodyn.numerics.numba_compat import cgutils


def with_checks(function: Function, kind: KindFunctions, setting: Setting) -> Any:
    """Wrap an exported function in checks of its arguments and results.

    The wrapper returns the status INVALID for invalid arguments, TOO_LARGE if a result is not
    finite, and otherwise the status of the function itself.

    Args:
        function: declaration of the exported function. If its `fails_on_invalid` is True, arguments
            are checked only after a failure.
        kind: compiled functions of the mechanism.
        setting: variants of the mechanism's compiled functions.

    Returns:
        The exported function, not yet compiled. Its arguments are those of the declaration, with
        memory addresses for arrays, and it returns a status code.
    """
    find = inner(function.make(kind, setting))
    are_valid = _are_valid(function.arguments, kind, setting)
    are_results = _are_results(function, setting)

    def checked_first(*given: Any) -> int:
        status: int = find(*given) if are_valid(given) else INVALID
        return TOO_LARGE if status == FINE and not are_results(given) else status

    def checked_last(*given: Any) -> int:
        status: int = find(*given)
        if status == FINE and are_results(given):
            return FINE
        if not are_valid(given):
            return INVALID
        return TOO_LARGE if status == FINE else status

    return checked_last if function.fails_on_invalid else checked_first


def kind_function(name: str, failure: int = NO_RESULT) -> Callable[[KindFunctions, Setting], Any]:
    """Return a factory of exported functions that only call one of `KindFunctions`.

    Args:
        name: field of `KindFunctions` that contains the called function.
        failure: status code of the exported function if the called one has no result.

    Returns:
        A factory for the field `make` of a `Function`. The exported function that it creates passes
        its arguments on, and returns FINE or `failure`.
    """

    def make(kind: KindFunctions, setting: Setting) -> Any:
        find = getattr(kind, name)

        def call(*given: Any) -> int:
            return FINE if find(*given) else failure

        return call

    return make


def condition_number_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function for the condition number of the Jacobian.

    Returns:
        Function (configuration q, length, out), not yet compiled. It writes the condition number at
        q to `out` (1,); moments are divided by `length` [m]. q and `out` are memory addresses. Its
        status is FINE, INVALID if the length is not positive and finite, or NO_RESULT if there is
        no condition number.
    """
    find = kind.condition

    def condition_number(q: Any, length: float, out: Any) -> int:
        if not 0.0 < length < np.inf:
            return INVALID
        out[0] = find(q, length)
        return FINE if out[0] >= 0.0 else NO_RESULT

    return condition_number


def frictionless_dynamics_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function for inverse dynamics without joint friction.

    Returns:
        Function (configuration q, velocity v, acceleration, wrench, base, out) of memory addresses,
        not yet compiled. It writes the efforts (n,) to `out` and returns FINE, or NO_RESULT if
        there are none.
    """
    return kind_function("inverse")(setting.frictionless, setting)


def link_dynamics_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function for the link acceleration behind elastic drives.

    Returns:
        Function (configuration q, velocity v, efforts, wrench, base, out) of memory addresses, not
        yet compiled. From the efforts (n,) of the drives on the joints, it computes the
        acceleration (nv,), writes it to `out`, and returns FINE, or NO_RESULT if there is none. The
        rotors are not included.
    """
    assert setting.links is not None
    return kind_function("forward")(setting.links.rest, setting)


def side_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function whose result changes sign at type 2 singularities.

    Returns:
        Function (configuration q, out) of memory addresses, not yet compiled. It writes 1 or -1, or
        0 at such a singularity, to `out` (1,) and returns FINE.
    """
    find = kind.side

    def side(q: Any, out: Any) -> int:
        out[0] = find(q)
        return FINE

    return side


def difference_of(kind: KindFunctions, setting: Setting) -> Any:
    """Create the exported function for the displacement between two configurations.

    Returns:
        Function (configuration q, configuration goal, out) of memory addresses, not yet compiled.
        It writes the displacement (nv,) that leads from q to `goal` to `out`, and returns FINE.
    """
    find = kind.difference

    def difference(q: Any, goal: Any, out: Any) -> int:
        find(q, goal, out)
        return FINE

    return difference


def _are_valid(arguments: Sequence[Argument], kind: KindFunctions, setting: Setting) -> Any:
    """Compile a check that configurations are valid and other arguments are finite."""
    is_configuration = kind.is_configuration
    given = [k for k, each in enumerate(arguments) if each.size and each.use != "out"]
    sizes = sizes_of(setting.mechanism)
    counts = tuple(arguments[k].count(sizes) for k in given)
    are_configurations = tuple(arguments[k].size == "NQ" for k in given)
    addresses = _addresses(given)

    @inner
    def are_valid(values: Any) -> bool:
        valid, at = True, addresses(values)
        for k in range(len(counts)):
            if are_configurations[k]:
                valid = valid and is_configuration(at[k])
            elif not is_null(at[k]):
                valid = valid and are_finite(at[k], counts[k])
        return valid

    return are_valid


def _are_results(function: Function, setting: Setting) -> Any:
    """Compile a check that results are finite; a condition number may be infinite."""
    sizes = sizes_of(setting.mechanism)
    results = [k for k, each in enumerate(function.arguments) if each.use in ("out", "inout")]
    counts = tuple(function.arguments[k].count(sizes) for k in results)
    addresses = _addresses(results)
    may_be_infinite = function.name == "condition_number"

    @inner
    def are_results(values: Any) -> bool:
        finite, at = True, addresses(values)
        for k in range(len(counts)):
            finite = finite and are_finite(at[k], counts[k])
        return finite or may_be_infinite

    return are_results


def _addresses(places: Sequence[int]) -> Any:
    """Compile a function that selects the arguments at given indices from a tuple."""

    @intrinsic
    def addresses(typingctx: Any, values: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            found = cgutils.unpack_tuple(builder, args[0])
            return context.make_tuple(builder, sig.return_type, [found[k] for k in places])

        return types.UniTuple(ADDRESS, len(places))(values), codegen

    return addresses
