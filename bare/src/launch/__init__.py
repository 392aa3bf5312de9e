# SPDX-License-Identifier: Apache-2.0

"""The part of ROS 2's `launch` that robodyn's launch files use, under the upstream names.

A launch file written for ROS 2 runs here unchanged as long as it stays within this part. Anything
else fails on import, or with a TypeError that names the argument; nothing is silently ignored.
"""

from .action import Action
from .event import Event
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity
from .launch_service import LaunchService
from .some_substitutions_type import SomeSubstitutionsType
from .substitution import Substitution

__all__ = [
    "Action",
    "Event",
    "LaunchContext",
    "LaunchDescription",
    "LaunchDescriptionEntity",
    "LaunchService",
    "SomeSubstitutionsType",
    "Substitution",
]
