"""Decorators of test classes."""

from __future__ import annotations

from collections.abc import Callable


def post_shutdown_test() -> Callable[[type], type]:
    """Run a class's tests when all processes have ended."""

    def decorate(test_class: type) -> type:
        test_class.__post_shutdown_test__ = True  # type: ignore[attr-defined]
        return test_class

    return decorate
