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

"""Descriptions of parameters: a typed value, a named value, a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

from launch.launch_context import LaunchContext
from launch.some_types import SomeSubstitutionsType
from launch.substitution import Substitution
from launch.substitutions import SubstitutionFailure
from launch.utilities import (
    ensure_argument_type,
    normalize_to_list_of_substitutions,
    perform_substitutions,
)
from launch.utilities.type_utils import normalize_typed_substitution, perform_typed_substitution

from .file_substitutions import substitute_in_text
from .temporary_files import write_temporary

__all__ = ["Parameter", "ParameterFile", "ParameterValue"]


class ParameterValue:
    """A value, or a substitution for it, with the type it is to have.

    `value_type` is bool, int, float, str, a List of one of these, or None for YAML's rules.
    """

    def __init__(self, value: Any, *, value_type: Any = None) -> None:
        """Keep value and type."""
        self.value = normalize_typed_substitution(value, value_type)
        self.value_type = value_type

    def evaluate(self, context: LaunchContext) -> Any:
        """Return the value."""
        return perform_typed_substitution(context, self.value, self.value_type)


class Parameter:
    """A parameter's name and value, passed to the node with `-p`."""

    def __init__(self, name: SomeSubstitutionsType, value: Any, *, value_type: Any = None) -> None:
        """Keep name and value."""
        self.name = normalize_to_list_of_substitutions(name)
        self._value = ParameterValue(value, value_type=value_type)

    def evaluate(self, context: LaunchContext) -> tuple[str, Any]:
        """Return name and value."""
        return perform_substitutions(context, self.name), self._value.evaluate(context)


class ParameterFile:
    """A file of parameters; with `allow_substs` its $(var ...) and $(env ...) are replaced."""

    def __init__(
        self,
        param_file: os.PathLike | SomeSubstitutionsType,
        *,
        allow_substs: bool | SomeSubstitutionsType = False,
    ) -> None:
        """Keep the path."""
        ensure_argument_type(
            param_file, (str, Substitution, list, tuple, os.PathLike), "param_file", "ParameterFile"
        )
        path = os.fspath(param_file) if isinstance(param_file, os.PathLike) else param_file
        self.param_file = normalize_to_list_of_substitutions(path)
        self.allow_substs = normalize_typed_substitution(allow_substs, bool)

    def evaluate(self, context: LaunchContext) -> Path:
        """Return the path of the file, or of a copy with the substitutions performed."""
        path = Path(perform_substitutions(context, self.param_file))
        if not perform_typed_substitution(context, self.allow_substs, bool):
            return path
        text = substitute_in_text(context, path.read_text(encoding="utf-8"))
        try:
            yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise SubstitutionFailure(
                f"the substituted parameter file '{path}' is not a valid yaml file: {error}"
            ) from error
        return write_temporary(text)
