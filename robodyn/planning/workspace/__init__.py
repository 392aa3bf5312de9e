# SPDX-License-Identifier: Apache-2.0

"""Workspaces of mechanisms."""

from robodyn.planning.workspace.pose_region import connected
from robodyn.planning.workspace.requirements import Requirements, WorkspaceSettings
from robodyn.planning.workspace.surfaces import Surface, level_surface

__all__ = ["Requirements", "Surface", "WorkspaceSettings", "connected", "level_surface"]
