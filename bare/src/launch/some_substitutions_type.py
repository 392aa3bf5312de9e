"""Upstream's module for this alias."""

from .some_types import SomeSubstitutionsType
from .substitution import Substitution

SomeSubstitutionsType_types_tuple = (str, Substitution, list, tuple)

__all__ = ["SomeSubstitutionsType", "SomeSubstitutionsType_types_tuple"]
