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

"""The part of ROS 2's `launch` that robodyn's launch files use, under the upstream names.

A launch file written for ROS 2 runs here unchanged as long as it stays within this part. Anything
else fails on import, or with a TypeError that names the argument; nothing is silently ignored.
"""

from .action import Action
from .conditions import Condition
from .event import Event
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity
from .launch_service import LaunchService
from .some_substitutions_type import SomeSubstitutionsType
from .substitution import Substitution

__all__ = [
    "Action",
    "Condition",
    "Event",
    "LaunchContext",
    "LaunchDescription",
    "LaunchDescriptionEntity",
    "LaunchService",
    "SomeSubstitutionsType",
    "Substitution",
]
