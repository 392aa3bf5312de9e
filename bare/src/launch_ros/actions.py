# SPDX-License-Identifier: Apache-2.0

"""The action that runs a ROS node."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import yaml
from ament_index_python.packages import get_package_prefix

from launch.actions import ExecuteProcess
from launch.launch_context import LaunchContext
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from .parameter_descriptions import Evaluated, evaluate_parameter

__all__ = ["Node"]

NAMESPACE = re.compile(r"/|(/[A-Za-z_]\w*)+", re.ASCII)
Remapping = tuple[SomeSubstitutionsType, SomeSubstitutionsType]


class Node(ExecuteProcess):
    """Runs an executable of a package as a node.

    `parameters` is a list of dictionaries and parameter files, later ones winning. A file is passed
    on as it is, so that rcl resolves its wildcards and names; a dictionary is written to a
    temporary file, for this node alone if its name is given, else for all nodes of the process.
    `ros_arguments` follow `--ros-args`, `arguments` come before it.
    """

    def __init__(
        self,
        *,
        package: str,
        executable: str,
        name: str | None = None,
        namespace: SomeSubstitutionsType = "",
        parameters: Iterable[Mapping[str, Any] | SomeSubstitutionsType] = (),
        remappings: Iterable[Remapping] = (),
        ros_arguments: Iterable[str] = (),
        arguments: Iterable[str] = (),
        output: str = "log",
    ) -> None:
        """Keep the description."""
        super().__init__(cmd=(), name=executable, output=output)
        self._package, self._executable = package, executable
        self._node_name, self._namespace = name, normalize_to_list_of_substitutions(namespace)
        self._parameters = [
            item if isinstance(item, Mapping) else normalize_to_list_of_substitutions(item)
            for item in parameters
        ]
        self._remappings = [
            tuple(normalize_to_list_of_substitutions(name) for name in pair) for pair in remappings
        ]
        self._ros_arguments, self._arguments = list(ros_arguments), list(arguments)

    def command(self, context: LaunchContext) -> list[str]:
        """Return the words of the command."""
        namespace = self._absolute_namespace(context)
        words = ["-r", f"__ns:={namespace}"]
        whom = "/**"
        if self._node_name is not None:
            words += ["-r", f"__node:={self._node_name}"]
            whom = f"{namespace.rstrip('/')}/{self._node_name}"
        for item in self._parameters:
            words += ["--params-file", self._parameter_file(context, item, whom)]
        for pair in self._remappings:
            source, target = (perform_substitutions(context, name) for name in pair)
            words += ["-r", f"{source}:={target}"]
        path = find_executable(self._package, self._executable)
        return [path, *self._arguments, "--ros-args", *self._ros_arguments, *words]

    def _absolute_namespace(self, context: LaunchContext) -> str:
        text = perform_substitutions(context, self._namespace)
        absolute = (text if text.startswith("/") else f"/{text}").rstrip("/") or "/"
        if not NAMESPACE.fullmatch(absolute):
            raise ValueError(f"invalid namespace '{text}'")
        return absolute

    def _parameter_file(self, context: LaunchContext, item: Any, whom: str) -> str:
        if isinstance(item, Mapping):
            values = {name: evaluate_parameter(context, name, item[name]) for name in item}
            return _write_temporary({whom: {"ros__parameters": values}})
        path = os.path.abspath(perform_substitutions(context, item))
        if not os.path.isfile(path):
            raise RuntimeError(f"parameter file '{path}' does not exist")
        return path


def find_executable(package: str, executable: str) -> str:
    """Return the path of a package's executable; raise SubstitutionFailure if it has none."""
    folder = os.path.join(get_package_prefix(package), "lib", package)
    path = shutil.which(executable, path=folder)
    if path is None:
        raise SubstitutionFailure(
            f"executable '{executable}' not found on the libexec directory '{folder}'"
        )
    return path


def _write_temporary(parameters: Mapping[str, Mapping[str, Mapping[str, Evaluated]]]) -> str:
    """Write a parameter file that is removed when the launch ends; return its path."""
    with NamedTemporaryFile(
        "w", prefix="launch_params_", suffix=".yaml", delete=False, encoding="utf-8"
    ) as file:
        yaml.safe_dump(parameters, file, default_flow_style=False)
    atexit.register(_remove, Path(file.name))
    return file.name


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
