# SPDX-License-Identifier: Apache-2.0

"""The type of every argument that takes text, substitutions, or several of both to concatenate."""

from collections.abc import Iterable

from .substitution import Substitution

SomeSubstitutionsType = str | Substitution | Iterable[str | Substitution]

__all__ = ["SomeSubstitutionsType"]
