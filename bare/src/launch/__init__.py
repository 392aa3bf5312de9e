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

A launch file written for ROS 2 runs here unchanged as long as it stays within this part; what is
not here fails on import or with a TypeError that names the argument, never silently.
Importing this package makes the packages installed in the Python environment visible to
`ament_index_python`, as sourcing a setup file does on a machine with ROS 2.
"""

from robodyn_bare import environment as _environment

_environment.prepare()

from . import logging, utilities  # noqa: E402
from .action import Action  # noqa: E402
from .condition import Condition  # noqa: E402
from .event import Event  # noqa: E402
from .event_handler import BaseEventHandler, EventHandler  # noqa: E402
from .launch_context import LaunchContext  # noqa: E402
from .launch_description_entity import LaunchDescriptionEntity  # noqa: E402
from .some_types import SomeEntitiesType, SomeSubstitutionsType  # noqa: E402
from .substitution import Substitution  # noqa: E402

# isort: split
from . import substitutions  # noqa: E402, I001
from . import conditions, events, event_handlers, actions  # noqa: E402
from .launch_description import LaunchDescription  # noqa: E402
from .launch_description_source import LaunchDescriptionSource  # noqa: E402
from .launch_service import LaunchService  # noqa: E402
from . import launch_description_sources  # noqa: E402

__all__ = [
    "Action",
    "BaseEventHandler",
    "Condition",
    "Event",
    "EventHandler",
    "LaunchContext",
    "LaunchDescription",
    "LaunchDescriptionEntity",
    "LaunchDescriptionSource",
    "LaunchService",
    "SomeEntitiesType",
    "SomeSubstitutionsType",
    "Substitution",
    "actions",
    "conditions",
    "event_handlers",
    "events",
    "launch_description_sources",
    "logging",
    "substitutions",
    "utilities",
]
