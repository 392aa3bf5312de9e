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

"""Sources of launch descriptions: Python launch files; XML and YAML ones are refused."""

from __future__ import annotations

import os
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from types import ModuleType

from .invalid_launch_file_error import InvalidLaunchFileError
from .launch_description import LaunchDescription
from .launch_description_source import LaunchDescriptionSource
from .some_types import SomeSubstitutionsType

__all__ = [
    "AnyLaunchDescriptionSource",
    "InvalidPythonLaunchFileError",
    "PythonLaunchDescriptionSource",
    "get_launch_description_from_any_launch_file",
    "get_launch_description_from_python_launch_file",
    "load_python_launch_file_as_module",
]


class InvalidPythonLaunchFileError(InvalidLaunchFileError):
    """A Python launch file lacks generate_launch_description()."""


def load_python_launch_file_as_module(python_launch_file_path: str) -> ModuleType:
    """Execute a Python launch file and return it as a module."""
    loader = SourceFileLoader("python_launch_file", python_launch_file_path)
    spec = spec_from_loader(loader.name, loader)
    if spec is None:
        raise InvalidPythonLaunchFileError(f"cannot load '{python_launch_file_path}'")
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def get_launch_description_from_python_launch_file(
    python_launch_file_path: str,
) -> LaunchDescription:
    """Return what the launch file's generate_launch_description() returns."""
    module = load_python_launch_file_as_module(python_launch_file_path)
    if not hasattr(module, "generate_launch_description"):
        raise InvalidPythonLaunchFileError(
            f"launch file at '{python_launch_file_path}' does not contain the required function "
            "'generate_launch_description()'"
        )
    return module.generate_launch_description()


def get_launch_description_from_any_launch_file(launch_file_path: str) -> LaunchDescription:
    """Return the description of a Python launch file; refuse the other formats by name."""
    extension = os.path.splitext(launch_file_path)[1]
    if extension != ".py":
        raise InvalidLaunchFileError(
            f"'{launch_file_path}': only Python launch files (.py) can be launched without "
            f"ROS 2, not '{extension or 'a file without extension'}'"
        )
    try:
        return get_launch_description_from_python_launch_file(launch_file_path)
    except InvalidLaunchFileError:
        raise
    except Exception as error:
        # As upstream: whatever goes wrong inside names the file it went wrong in.
        raise InvalidLaunchFileError(
            f"the launch file '{launch_file_path}' failed with {type(error).__name__}: {error}"
        ) from error


class AnyLaunchDescriptionSource(LaunchDescriptionSource):
    """A launch file of any format that is known here, which is Python."""

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        """Keep the path."""
        super().__init__(None, launch_file_path, "interpreted Python launch file")

    def _load(self, location: str) -> LaunchDescription:
        return get_launch_description_from_any_launch_file(location)


class PythonLaunchDescriptionSource(AnyLaunchDescriptionSource):
    """A Python launch file."""

    def _load(self, location: str) -> LaunchDescription:
        return get_launch_description_from_python_launch_file(location)
