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

"""What is shared by actions, conditions and substitutions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..substitution import Substitution

if TYPE_CHECKING:
    from ..launch_context import LaunchContext
    from ..launch_description_entity import LaunchDescriptionEntity
    from ..some_types import SomeSubstitutionsType

__all__ = [
    "ensure_argument_type",
    "is_a_subclass",
    "normalize_to_list_of_entities",
    "normalize_to_list_of_substitutions",
    "perform_substitutions",
    "visit_all_entities_and_collect_futures",
]


def is_a_subclass(obj: Any, entity_type: type) -> bool:
    """Return whether `obj` is an instance of the type."""
    return isinstance(obj, entity_type)


def ensure_argument_type(
    argument: Any, types: type | Iterable[type], argument_name: str, caller: str | None = None
) -> None:
    """Raise a TypeError that names the argument unless it is of one of the types."""
    expected = types if isinstance(types, type) else tuple(types)
    if not isinstance(argument, expected):
        prefix = f"{caller} " if caller else ""
        raise TypeError(
            f"{prefix}'{argument_name}' expected to be one of {expected}, got {argument!r}"
        )


def normalize_to_list_of_substitutions(subs: SomeSubstitutionsType) -> list[Substitution]:
    """Return a list of substitutions from text, a substitution, or an iterable of both."""
    from ..substitutions import TextSubstitution

    if isinstance(subs, str):
        return [TextSubstitution(text=subs)]
    if isinstance(subs, Substitution):
        return [subs]
    if not isinstance(subs, Iterable):
        raise TypeError(
            f"expected text, a Substitution or an iterable of both, got {subs!r} "
            f"of type {type(subs).__name__}"
        )
    normalized: list[Substitution] = []
    for sub in subs:
        if not isinstance(sub, (str, Substitution)):
            raise TypeError(
                f"expected text or a Substitution, got {sub!r} of type {type(sub).__name__}"
            )
        normalized.append(TextSubstitution(text=sub) if isinstance(sub, str) else sub)
    return normalized


def perform_substitutions(context: LaunchContext, subs: Iterable[Substitution]) -> str:
    """Return the concatenated text of the substitutions."""
    return "".join(context.perform_substitution(sub) for sub in subs)


def normalize_to_list_of_entities(entities: Any) -> list[LaunchDescriptionEntity]:
    """Return a flat list of entities from one of them or (nested) iterables."""
    from ..launch_description_entity import LaunchDescriptionEntity

    if isinstance(entities, LaunchDescriptionEntity):
        return [entities]
    if not isinstance(entities, Iterable):
        raise TypeError(f"expected launch entities, got {entities!r}")
    return [entity for item in entities for entity in normalize_to_list_of_entities(item)]


def visit_all_entities_and_collect_futures(
    entity: LaunchDescriptionEntity, context: LaunchContext
) -> list[tuple[LaunchDescriptionEntity, asyncio.Future[None]]]:
    """Visit an entity and, depth first, all it yields; return what is still going on."""
    sub_entities = entity.visit(context)
    future = entity.get_asyncio_future()
    pairs = [] if future is None else [(entity, future)]
    if sub_entities is not None:
        for sub_entity in normalize_to_list_of_entities(sub_entities):
            pairs += visit_all_entities_and_collect_futures(sub_entity, context)
    return pairs
