# SPDX-License-Identifier: Apache-2.0

"""Formatting of numbers for tables, labels and sentences."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from robodyn.presentation.report_answers import Cell

# Anything smaller is rounding error, in every unit used here.
SMALLEST_SHOWN = 1e-12


def decimal(value: float) -> str:
    """Format a number with up to ten digits.

    Magnitudes below 1e-3 or from 1e4 on have an exponent.
    """
    if value == 0.0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.10g}".replace("-", "−")
    mantissa, exponent = f"{value:e}".split("e")
    digits = f"{float(mantissa):g}"
    return f"{digits}e{int(exponent)}".replace("-", "−")


def number(value: float) -> str:
    """Format a number with four significant digits; NaN becomes a dash."""
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) < SMALLEST_SHOWN:
        return "0"
    return "–" if np.isnan(value) else decimal(float(f"{value:.4g}"))


def vector(values: Iterable[float]) -> str:
    """Format the components of a vector with four digits, separated by commas.

    Infinite components become an infinity sign.
    """
    return ", ".join(number(value) for value in values)


def cell_text(cell: Cell) -> str:
    """Format a table cell: text, a number, a vector, or a matrix row by row."""
    if isinstance(cell, str):
        return cell
    values = np.asarray(cell)
    if values.ndim == 0:
        return number(float(values))
    return vector(values) if values.ndim == 1 else "; ".join(vector(row) for row in values)
