"""Base of everything that becomes text only when the launch runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class Substitution:
    """Text that is known only at launch time."""

    def describe(self) -> str:
        """Return a readable form, as `--show-args` prints it for default values."""
        return repr(self)

    def perform(self, context: LaunchContext) -> str:
        """Return the text."""
        raise NotImplementedError(f"{type(self).__name__}.perform")
