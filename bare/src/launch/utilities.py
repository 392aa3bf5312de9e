# SPDX-License-Identifier: Apache-2.0

"""Common functions of actions and substitutions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .launch_context import LaunchContext
from .launch_description_entity import LaunchDescriptionEntity
from .some_substitutions_type import SomeSubstitutionsType
from .substitution import Substitution, TextSubstitution


def normalize_to_list_of_substitutions(subs: SomeSubstitutionsType) -> list[Substitution]:
    """Return a list of substitutions; raise TypeError for anything but text and substitutions."""
    if isinstance(subs, str):
        return [TextSubstitution(text=subs)]
    if isinstance(subs, Substitution):
        return [subs]
    if not isinstance(subs, Iterable):
        raise TypeError(
            f"expected text, a Substitution or an iterable of both, got {subs!r} "
            f"of type {type(subs).__name__}"
        )
    return [part for sub in subs for part in normalize_to_list_of_substitutions(sub)]


def perform_substitutions(context: LaunchContext, subs: SomeSubstitutionsType) -> str:
    """Return the concatenated text of the substitutions."""
    return "".join(sub.perform(context) for sub in normalize_to_list_of_substitutions(subs))


def describe_substitutions(subs: Iterable[Substitution]) -> str:
    """Return the readable form of several substitutions."""
    return " + ".join(sub.describe() for sub in subs)


def visit_all_entities(entities: Any, context: LaunchContext) -> None:
    """Visit an entity, or several, and depth first all that they yield."""
    if entities is None:
        return
    if isinstance(entities, LaunchDescriptionEntity):
        visit_all_entities(entities.visit(context), context)
    elif isinstance(entities, Iterable):
        for entity in entities:
            visit_all_entities(entity, context)
    else:
        raise TypeError(f"expected launch entities, got {entities!r}")
