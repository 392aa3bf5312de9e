# SPDX-License-Identifier: Apache-2.0

"""Loading and saving of mechanisms, and the registry of kinds."""

from robodyn.loading.inspection import (
    LoadWarnings,
    actuators_at_home,
    comparison_report,
    describe,
    read,
)
from robodyn.loading.load import use_options
from robodyn.loading.load_types import LoopName, SerialName, StewartName
from robodyn.loading.registry import kind_of, templates, unregister_kind
from robodyn.loading.robot_description import PLUGIN, frictionless, robot_description

__all__ = [
    "PLUGIN", "LoadWarnings", "LoopName", "SerialName", "StewartName", "actuators_at_home",
    "comparison_report", "describe", "frictionless", "kind_of", "read", "robot_description",
    "templates", "unregister_kind", "use_options",
]  # fmt: skip
