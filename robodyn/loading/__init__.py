# SPDX-License-Identifier: Apache-2.0

"""Loading and saving of mechanisms, and the registry of kinds."""

from robodyn.loading.load import use_options
from robodyn.loading.registry import unregister_kind
from robodyn.loading.robot_description import PLUGIN, frictionless

__all__ = ["PLUGIN", "frictionless", "unregister_kind", "use_options"]
