# SPDX-License-Identifier: Apache-2.0

"""Whether two mechanisms are the same, and in what they differ."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from robodyn.model import comparison


@singledispatch
def compared(mechanism: Any) -> Any:
    """What of the model counts where mechanisms are compared, as frozen data."""
    return getattr(mechanism, "model", None)


def description(mechanism: Any) -> tuple[object, ...]:
    """What the mechanism was built from, as far as it counts: model and further options."""
    return compared(mechanism), *(mechanism.options or ("",))


def differences(mechanism: Any, other: Any) -> list[str]:
    """Differences of another mechanism's model, one line per field; empty if equal."""
    return comparison.differences(compared(mechanism), compared(other))
