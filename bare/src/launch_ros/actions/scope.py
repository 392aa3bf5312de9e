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

"""Actions that hold for all nodes that follow in the same scope."""

from __future__ import annotations

import os
from typing import Any

from launch.action import Action
from launch.condition import Condition
from launch.launch_context import LaunchContext
from launch.some_types import SomeSubstitutionsType
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from ..parameter_descriptions import ParameterFile
from ..utilities import (
    evaluate_parameter_dict,
    make_namespace_absolute,
    normalize_parameter_dict,
    prefix_namespace,
)
from ..utilities.names import check_namespace


class PushROSNamespace(Action):
    """Puts the nodes that follow below a namespace, until the scoped group around it ends."""

    def __init__(
        self, namespace: SomeSubstitutionsType, *, condition: Condition | None = None
    ) -> None:
        """Keep the namespace."""
        super().__init__(condition=condition)
        self.namespace = normalize_to_list_of_substitutions(namespace)

    def execute(self, context: LaunchContext) -> None:
        """Push it below what is there."""
        pushed = perform_substitutions(context, self.namespace)
        previous = context.launch_configurations.get("ros_namespace")
        namespace = make_namespace_absolute(prefix_namespace(previous, pushed))
        try:
            check_namespace(namespace)
        except ValueError as error:
            raise SubstitutionFailure(
                f"The resulting namespace is invalid: [previous_namespace='{previous}', "
                f"pushed_namespace='{pushed}']"
            ) from error
        context.launch_configurations["ros_namespace"] = namespace


# Upstream's older spelling of the same.
PushRosNamespace = PushROSNamespace


class SetParameter(Action):
    """Sets a parameter of the nodes that follow; their own parameters win."""

    def __init__(
        self, name: SomeSubstitutionsType, value: Any, *, condition: Condition | None = None
    ) -> None:
        """Keep name and value."""
        super().__init__(condition=condition)
        key = tuple(normalize_to_list_of_substitutions(name))
        self._parameters = normalize_parameter_dict({key: value})

    def execute(self, context: LaunchContext) -> None:
        """Add it to what nodes get."""
        values = evaluate_parameter_dict(context, self._parameters)
        context.launch_configurations.setdefault("global_params", []).extend(values.items())


class SetUseSimTime(SetParameter):
    """Sets use_sim_time of the nodes that follow."""

    def __init__(
        self, value: bool | SomeSubstitutionsType, *, condition: Condition | None = None
    ) -> None:
        """Keep the value."""
        super().__init__("use_sim_time", value, condition=condition)


class SetParametersFromFile(Action):
    """Sets parameters of the nodes that follow from a file."""

    def __init__(
        self, filename: os.PathLike | SomeSubstitutionsType, *, condition: Condition | None = None
    ) -> None:
        """Keep the path."""
        super().__init__(condition=condition)
        self._file = ParameterFile(filename)

    def execute(self, context: LaunchContext) -> None:
        """Add it to what nodes get."""
        path = str(self._file.evaluate(context))
        context.launch_configurations.setdefault("global_params", []).append(path)


class SetRemap(Action):
    """Remaps a name of the nodes that follow."""

    def __init__(
        self,
        src: SomeSubstitutionsType,
        dst: SomeSubstitutionsType,
        *,
        condition: Condition | None = None,
    ) -> None:
        """Keep both names."""
        super().__init__(condition=condition)
        self._rule = [normalize_to_list_of_substitutions(x) for x in (src, dst)]

    def execute(self, context: LaunchContext) -> None:
        """Add it to what nodes get."""
        src, dst = (perform_substitutions(context, x) for x in self._rule)
        context.launch_configurations.setdefault("ros_remaps", []).append((src, dst))
