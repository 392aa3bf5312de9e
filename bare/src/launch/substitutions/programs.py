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

"""Substitutions that run something: a Python expression, a command."""

from __future__ import annotations

import importlib
import shlex
import subprocess
from typing import Any

from ..launch_context import LaunchContext
from ..logging import get_logger
from ..some_types import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions
from .substitution_failure import SubstitutionFailure
from .values import describe_all


class PythonExpression(Substitution):
    """The value of a Python expression; the names of `math` are there without prefix."""

    def __init__(
        self,
        expression: SomeSubstitutionsType,
        python_modules: SomeSubstitutionsType = ("math",),
    ) -> None:
        """Keep the expression and the names of the modules it may use."""
        self.expression = normalize_to_list_of_substitutions(expression)
        self.python_modules = normalize_to_list_of_substitutions(python_modules)

    def describe(self) -> str:
        """Return the expression and its modules."""
        modules = ", ".join(sub.describe() for sub in self.python_modules)
        return f"PythonExpr({describe_all(self.expression)}, [{modules}])"

    def perform(self, context: LaunchContext) -> str:
        """Return the value as text."""
        names: dict[str, Any] = {}
        for sub in self.python_modules:
            module = importlib.import_module(context.perform_substitution(sub))
            if module.__name__ == "math":
                names.update(vars(module))
            names[module.__name__] = module
        expression = perform_substitutions(context, self.expression)
        try:
            return str(eval(expression, {}, names))
        except Exception as error:
            raise SubstitutionFailure(
                f"the Python expression {expression!r} failed: {error}"
            ) from error


class Command(Substitution):
    """What a command writes to its standard output."""

    def __init__(
        self, command: SomeSubstitutionsType, *, on_stderr: SomeSubstitutionsType = "fail"
    ) -> None:
        """Keep the command; `on_stderr` is 'fail', 'ignore', 'warn' or 'capture'."""
        self.command = normalize_to_list_of_substitutions(command)
        self.on_stderr = normalize_to_list_of_substitutions(on_stderr)

    def describe(self) -> str:
        """Return the command."""
        return f"Command({describe_all(self.command)})"

    def perform(self, context: LaunchContext) -> str:
        """Run the command (split as a shell would, but without one) and return its output."""
        command = perform_substitutions(context, self.command)
        on_stderr = perform_substitutions(context, self.on_stderr)
        if on_stderr not in ("fail", "ignore", "warn", "capture"):
            raise SubstitutionFailure(
                "expected 'on_stderr' to be one of: 'fail', 'ignore', 'warn' or 'capture', "
                f"got '{on_stderr}'"
            )
        stderr = subprocess.STDOUT if on_stderr == "capture" else subprocess.PIPE
        try:
            result = subprocess.run(
                shlex.split(command), stdout=subprocess.PIPE, stderr=stderr, text=True
            )
        except FileNotFoundError as error:
            raise SubstitutionFailure(f"file not found: {error}") from error
        if result.returncode != 0:
            message = f"executed command failed. Command: {command}"
            if result.stderr:
                message += f"\nCaptured stderr output: {result.stderr}"
            raise SubstitutionFailure(message)
        if result.stderr and on_stderr != "ignore":
            message = (
                f"executed command showed stderr output. Command: {command}\n"
                f"Captured stderr output:\n{result.stderr}"
            )
            if on_stderr == "fail":
                raise SubstitutionFailure(message)
            get_logger().warning(message)
        return result.stdout
