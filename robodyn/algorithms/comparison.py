# SPDX-License-Identifier: Apache-2.0

"""Comparison of two mechanisms, and their differences."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from robodyn.model import comparison


@singledispatch
def equality_key(mechanism: Any) -> Any:
    """Return the part of the model that comparisons use, as frozen data or a mapping."""
    return getattr(mechanism, "model", None)


def description(mechanism: Any) -> tuple[object, ...]:
    """Return the parts of a mechanism's model and options that comparisons use."""
    return equality_key(mechanism), *(mechanism._options or ("",))


def equal(mechanism: Any, other: Any) -> bool:
    """Return whether two mechanisms have the same options, and models equal within rounding."""
    (own, *options), (model, *others) = description(mechanism), description(other)
    return options == others and not comparison.differences(own, model, comparison.EQUALITY)


def differences(mechanism: Any, other: Any) -> list[str]:
    """List the differences of another mechanism's model, one line per field; empty if equal."""
    return comparison.differences(equality_key(mechanism), equality_key(other))
