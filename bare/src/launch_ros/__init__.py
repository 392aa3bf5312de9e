"""The part of ROS 2's `launch_ros` that robodyn's launch files use, under the upstream names."""

import launch  # noqa: F401  (prepares the environment)

from . import actions, parameter_descriptions, substitutions, utilities

__all__ = ["actions", "parameter_descriptions", "substitutions", "utilities"]
