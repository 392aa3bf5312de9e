"""The action that groups others in a scope of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..action import Action
from ..condition import Condition
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_types import SomeSubstitutionsType
from .configurations import (
    PopLaunchConfigurations,
    PushLaunchConfigurations,
    ResetLaunchConfigurations,
    SetLaunchConfiguration,
)
from .environment import PopEnvironment, PushEnvironment, ResetEnvironment


class GroupAction(Action):
    """Yields actions; with `scoped`, what they set ends with the group.

    With `forwarding=False` the group sees no launch configurations but those given to it.
    """

    def __init__(
        self,
        actions: Iterable[LaunchDescriptionEntity],
        *,
        scoped: bool = True,
        forwarding: bool = True,
        launch_configurations: Mapping[SomeSubstitutionsType, SomeSubstitutionsType] | None = None,
        condition: Condition | None = None,
    ) -> None:
        """Keep the actions and the scope."""
        super().__init__(condition=condition)
        configurations = dict(launch_configurations or {})
        inside: list[LaunchDescriptionEntity] = []
        if scoped and not forwarding:
            inside = [ResetEnvironment(), ResetLaunchConfigurations(configurations)]
        else:
            inside = [SetLaunchConfiguration(k, v) for k, v in configurations.items()]
        inside += actions
        if scoped:
            before = [PushLaunchConfigurations(), PushEnvironment()]
            inside = [*before, *inside, PopEnvironment(), PopLaunchConfigurations()]
        self._entities = inside

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the actions with what makes the scope around them."""
        return self._entities

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Yield them."""
        return self._entities
