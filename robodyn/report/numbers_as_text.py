# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Numbers written as text for tables, labels and statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

# Anything smaller is rounding error, in every unit used here.
ROUNDING = 1e-12


def decimal(value: float) -> str:
    """A number in plain decimal notation where it has few digits, else with an exponent."""
    if value == 0.0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.10g}".replace("-", "−")
    mantissa, exponent = f"{value:e}".split("e")
    digits = f"{float(mantissa):g}"
    return f"{digits}e{int(exponent)}".replace("-", "−")


def number(value: float) -> str:
    """A number rounded to four significant digits; a dash for NaN."""
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) < ROUNDING:
        return "0"
    return "–" if np.isnan(value) else decimal(float(f"{value:.4g}"))


def vector(values: Iterable[float]) -> str:
    """Numbers separated by commas; an infinity sign for a limit that does not exist."""
    return ", ".join(number(value) for value in values)
