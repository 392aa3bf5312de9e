# SPDX-License-Identifier: Apache-2.0

"""Substitutions: text that is known only when the launch runs."""

from __future__ import annotations

from .launch_context import LaunchContext


class Substitution:
    """Text that is known only when the launch runs."""

    def describe(self) -> str:
        """Return a readable form, which `--show-args` prints for default values."""
        return repr(self)

    def perform(self, context: LaunchContext) -> str:
        """Return the text."""
        raise NotImplementedError(f"{type(self).__name__}.perform")


class TextSubstitution(Substitution):
    """Plain text."""

    def __init__(self, *, text: str) -> None:
        """Keep the text."""
        self.text = text

    def describe(self) -> str:
        """Return the text in quotes."""
        return f"'{self.text}'"

    def perform(self, context: LaunchContext) -> str:
        """Return the text."""
        return self.text


class SubstitutionFailure(RuntimeError):
    """A substitution that cannot be evaluated."""
