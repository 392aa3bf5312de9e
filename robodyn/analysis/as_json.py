# SPDX-License-Identifier: Apache-2.0

"""Conversion of results to standard JSON: infinity and not-a-number become null."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np


def as_json(value: Any, indent: int | None = 2) -> str:
    """Format dicts, lists, arrays and scalars as JSON; NaN and infinity become null."""
    return json.dumps(_plain(value), indent=indent, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
