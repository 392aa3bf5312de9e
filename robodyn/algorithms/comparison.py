# SPDX-License-Identifier: Apache-2.0

"""Comparison of two mechanisms, and their differences."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from robodyn.model import comparison


@singledispatch
def equality_key(mechanism: Any) -> Any:
    """Return the model data by which mechanisms of a kind are compared."""
    return getattr(mechanism, "model", None)


def description(mechanism: Any) -> tuple[object, ...]:
    """Return a tuple of model data and constructor options, for comparisons.

    Two mechanisms of a kind are equal if these are.
    """
    return equality_key(mechanism), *(mechanism._options or ("",))


def equal(mechanism: Any, other: Any) -> bool:
    """Return whether two mechanisms have the same options, and models equal within rounding."""
    (own, *options), (model, *others) = description(mechanism), description(other)
    return options == others and not comparison.differences(own, model, comparison.EQUALITY)


def differences(mechanism: Any, other: Any) -> list[str]:
    """List how another mechanism's model differs; empty if the models are equal.

    Returns:
        A line for each field that differs, with both values.
    """
    return comparison.differences(equality_key(mechanism), equality_key(other))
