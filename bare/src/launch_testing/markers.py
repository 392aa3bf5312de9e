"""Decorators of `generate_test_description`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Describe = TypeVar("Describe", bound=Callable[..., object])


def keep_alive(description: Describe) -> Describe:
    """Keep the launch running until the tests are done, even when all processes have ended."""
    description.__dict__.setdefault("__markers__", {})["keep_alive"] = True
    return description
