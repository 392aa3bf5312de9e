# SPDX-License-Identifier: Apache-2.0

"""Comparison of two models, field by field."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

# Relative or absolute tolerance of equal numbers: the rounding of a rotation converted to URDF's
# roll-pitch-yaw and back.
EQUALITY = 1e-12


class Comparable:
    """Base class of models that compare equal if their values agree within `EQUALITY`."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return not differences(self, other, EQUALITY)

    __hash__ = None  # type: ignore[assignment]  # equal within rounding cannot hash alike


def differences(a: Any, b: Any, tolerance: float = 1e-9) -> list[str]:
    """List the differences between two models, one line for each differing field.

    Values are equal if they agree within `tolerance`, either absolutely or relative to the largest
    value of their array. Fields that describe the file rather than the mechanism (dataclass fields
    with `compare=False`: names, source) are ignored.

    Returns:
        A line for each difference, which names the field and both values.
    """
    if type(a) is not type(b):
        return [f"kind: {type(a).__name__} against {type(b).__name__}"]
    return list(_walk("", a, b, tolerance))


def _walk(path: str, a: Any, b: Any, tolerance: float) -> list[str]:
    if is_dataclass(a) and type(a) is type(b):
        found = []
        for item in fields(a):
            if item.compare:
                where = f"{path}.{item.name}" if path else item.name
                left, right = getattr(a, item.name), getattr(b, item.name)
                found += _walk(where, left, right, tolerance)
        return found
    if isinstance(a, dict) and isinstance(b, dict):
        return [
            line
            for name in a | b
            for line in _walk(
                f"{path}.{name}" if path else name, a.get(name), b.get(name), tolerance
            )
        ]
    if _is_list_of_parts(a) and _is_list_of_parts(b):
        if len(a) != len(b):
            return [f"{path}: {len(a)} entries against {len(b)}"]
        pairs = zip(a, b, strict=True)
        return [
            line
            for index, (left, right) in enumerate(pairs)
            for line in _walk(f"{path}[{index}]", left, right, tolerance)
        ]
    if a is None and b is None:
        return []
    if not (_is_numeric(a) and _is_numeric(b)):
        same = type(a) is type(b) and a == b
        return [] if same else [f"{path}: {_show(a)} against {_show(b)}"]
    return _numbers(path, np.asarray(a, dtype=float), np.asarray(b, dtype=float), tolerance)


def _is_numeric(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "fiu"


def _is_list_of_parts(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and any(
        is_dataclass(item) or isinstance(item, dict) for item in value
    )


def _numbers(path: str, a: Any, b: Any, tolerance: float) -> list[str]:
    if a.shape != b.shape:
        return [f"{path}: shape {a.shape} against {b.shape}"]
    finite = np.isfinite(a) & np.isfinite(b)
    left, right = np.where(finite, a, 0.0), np.where(finite, b, 0.0)
    gap = np.abs(left - right)
    scale = max(1.0, np.abs(left).max(initial=0.0), np.abs(right).max(initial=0.0))
    if (gap <= tolerance * scale).all() and (finite | (a == b)).all():
        return []
    by = f" (by {gap.max():.3g})" if finite.all() else ""
    return [f"{path}: {_show(a)} against {_show(b)}{by}"]


def _show(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.ndim:
        return " ".join(np.array2string(value, precision=9, separator=", ").split())
    return repr(value.item() if isinstance(value, np.ndarray) else value)
