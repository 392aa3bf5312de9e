# SPDX-License-Identifier: Apache-2.0

"""Mechanisms from files, texts and names, and back to files; the registry of kinds."""

from robodyn.loading.as_closed_loop import from_tree
from robodyn.loading.load import use_options
from robodyn.loading.registry import unregister_kind
from robodyn.loading.robot_description import PLUGIN, frictionless

__all__ = ["PLUGIN", "frictionless", "from_tree", "unregister_kind", "use_options"]
