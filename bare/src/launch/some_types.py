"""Type aliases shared by the package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from .launch_description_entity import LaunchDescriptionEntity
    from .substitution import Substitution

SomeSubstitutionsType = Union[str, "Substitution", Iterable[Union[str, "Substitution"]]]
SomeEntitiesType = Union["LaunchDescriptionEntity", Iterable["LaunchDescriptionEntity"]]
