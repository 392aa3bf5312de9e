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

"""The substitutions $(...) in a parameter file."""

from __future__ import annotations

import re
import shlex

from launch.launch_context import LaunchContext
from launch.substitution import Substitution
from launch.substitutions import (
    EnvironmentVariable,
    LaunchConfiguration,
    SubstitutionFailure,
    ThisLaunchFileDir,
)

from .substitutions import FindPackagePrefix, FindPackageShare

# Innermost first: what has no further $( inside.
INNERMOST = re.compile(r"\$\(([^()$]*)\)")


def substitute_in_text(context: LaunchContext, text: str) -> str:
    """Replace $(var NAME [DEFAULT]), $(env NAME [DEFAULT]), $(find-pkg-share NAME), $(dirname).

    These may be nested. Upstream knows more; any other is refused by name.
    """
    while INNERMOST.search(text):
        text = INNERMOST.sub(lambda match: _perform(context, match.group(1)), text)
    if "$(" in text:
        raise SubstitutionFailure(f"unbalanced substitution: {text[text.index('$(') :][:40]}")
    return text


def _perform(context: LaunchContext, inside: str) -> str:
    word, *arguments = shlex.split(inside) or [""]
    substitution: Substitution
    if word == "var" and len(arguments) in (1, 2):
        default = arguments[1] if len(arguments) == 2 else None
        substitution = LaunchConfiguration(arguments[0], default=default)
    elif word == "env" and len(arguments) in (1, 2):
        default = arguments[1] if len(arguments) == 2 else None
        substitution = EnvironmentVariable(arguments[0], default_value=default)
    elif word == "find-pkg-share" and len(arguments) == 1:
        substitution = FindPackageShare(arguments[0])
    elif word == "find-pkg-prefix" and len(arguments) == 1:
        substitution = FindPackagePrefix(arguments[0])
    elif word == "dirname" and not arguments:
        substitution = ThisLaunchFileDir()
    else:
        raise SubstitutionFailure(
            f"$({inside}): only var, env, find-pkg-share, find-pkg-prefix and dirname can be "
            "used in a parameter file without ROS 2"
        )
    return substitution.perform(context)
