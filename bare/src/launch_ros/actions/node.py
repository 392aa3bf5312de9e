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

"""The action that runs a ROS node."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from launch.actions import ExecuteProcess
from launch.launch_context import LaunchContext
from launch.logging import get_logger
from launch.some_types import SomeSubstitutionsType
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from ..parameter_descriptions import Parameter, ParameterFile
from ..substitutions import ExecutableInPackage
from ..temporary_files import write_temporary
from ..utilities import (
    evaluate_parameter_dict,
    make_namespace_absolute,
    normalize_parameter_dict,
    prefix_namespace,
)
from ..utilities.names import check_namespace, check_node_name


class Node(ExecuteProcess):
    """Runs the executable of a package as a node.

    `parameters` is a list of dictionaries, files and `Parameter`s, later ones winning. A file is
    passed on as it is, so that rcl resolves its wildcards and names; a dictionary is written to a
    temporary file, for this node alone if its name and namespace are known, else for `/**`.
    A relative `namespace` is below that of PushROSNamespace. All other arguments, such as
    `output`, `on_exit` or `condition`, are those of `ExecuteProcess`.
    """

    def __init__(
        self,
        *,
        executable: SomeSubstitutionsType,
        package: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        namespace: SomeSubstitutionsType | None = None,
        exec_name: SomeSubstitutionsType | None = None,
        parameters: Sequence[Any] | None = None,
        remappings: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        ros_arguments: Iterable[SomeSubstitutionsType] | None = None,
        arguments: Iterable[SomeSubstitutionsType] | None = None,
        **kwargs: Any,
    ) -> None:
        """Keep the description."""
        if "cmd" in kwargs:
            raise TypeError("Node has no argument 'cmd': use 'executable' and 'arguments'")
        program = (
            executable
            if package is None
            else ExecutableInPackage(package=package, executable=executable)
        )
        cmd = [program, *(arguments or ())]
        if ros_arguments is not None:
            cmd += ["--ros-args", *ros_arguments]
        super().__init__(cmd=cmd, name=exec_name, **kwargs)
        self._node_name = name
        self._namespace = namespace
        if parameters is not None and (
            isinstance(parameters, (str, Mapping)) or not isinstance(parameters, Sequence)
        ):
            raise TypeError(f"Node 'parameters' must be a list, got {parameters!r}")
        self._parameters = [self._normalize(item) for item in parameters or ()]
        self._remappings = []
        for rule in remappings or ():
            if not isinstance(rule, tuple) or len(rule) != 2:
                raise TypeError(f"a remapping must be a tuple of two names, got {rule!r}")
            self._remappings.append(tuple(normalize_to_list_of_substitutions(x) for x in rule))
        self._full_name: str | None = None

    @staticmethod
    def _normalize(item: Any) -> Any:
        if isinstance(item, Mapping):
            return normalize_parameter_dict(item)
        return item if isinstance(item, (Parameter, ParameterFile)) else ParameterFile(item)

    @property
    def node_name(self) -> str:
        """The full name of the node, with a placeholder for what only the node itself knows."""
        if self._full_name is None:
            raise RuntimeError("cannot access 'node_name' before executing action")
        return self._full_name

    def is_node_name_fully_specified(self) -> bool:
        """Return whether name and namespace are both known."""
        return "<" not in self.node_name

    def _prepare(self, context: LaunchContext) -> None:
        words = [*self._name_arguments(context)]
        for item in context.launch_configurations.get("global_params", []):
            if isinstance(item, tuple):
                words += ["-p", f"{item[0]}:={self._flow(item[1])}"]
            else:
                words += self._file_arguments(Path(item))
        for item in self._parameters:
            words += self._parameter_arguments(context, item)
        rules = list(context.launch_configurations.get("ros_remaps", []))
        rules += [
            tuple(perform_substitutions(context, x) for x in rule) for rule in self._remappings
        ]
        for src, dst in rules:
            words += ["-r", f"{src}:={dst}"]
        self._cmd += [normalize_to_list_of_substitutions(x) for x in ["--ros-args", *words]]
        super()._prepare(context)

    def _name_arguments(self, context: LaunchContext) -> Iterable[str]:
        def optional(some: SomeSubstitutionsType | None) -> str | None:
            if some is None:
                return None
            return perform_substitutions(context, normalize_to_list_of_substitutions(some))

        name = optional(self._node_name)
        base = context.launch_configurations.get("ros_namespace")
        namespace = make_namespace_absolute(prefix_namespace(base, optional(self._namespace)))
        if name is not None:
            check_node_name(name)
            yield from ("-r", f"__node:={name}")
        if namespace is not None:
            check_namespace(namespace)
            yield from ("-r", f"__ns:={namespace}")
        self._full_name = prefix_namespace(
            namespace or "<node_namespace_unspecified>", name or "<node_name_unspecified>"
        )

    def _parameter_arguments(self, context: LaunchContext, item: Any) -> list[str]:
        if isinstance(item, Parameter):
            name, value = item.evaluate(context)
            return ["-p", f"{name}:={self._flow(value)}"]
        if isinstance(item, ParameterFile):
            return self._file_arguments(item.evaluate(context))
        values = evaluate_parameter_dict(context, item)
        whom = self.node_name if self.is_node_name_fully_specified() else "/**"
        text = yaml.safe_dump({whom: {"ros__parameters": values}}, default_flow_style=False)
        return ["--params-file", str(write_temporary(text))]

    def _file_arguments(self, path: Path) -> list[str]:
        if not path.is_file():
            get_logger("launch_ros.actions.node").warning(
                "Parameter file path is not a file: %s", path
            )
            return []
        return ["--params-file", os.path.abspath(path)]

    @staticmethod
    def _flow(value: Any) -> str:
        # One line, and without the document end that YAML puts after a scalar.
        text = yaml.safe_dump(value, default_flow_style=True, width=float("inf"))
        return text.removesuffix("...\n").rstrip("\n")
