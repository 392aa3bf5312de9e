# SPDX-License-Identifier: Apache-2.0

"""Workspaces of mechanisms."""

from robodyn.planning.workspace.pose_region import connected_cells
from robodyn.planning.workspace.requirements import Requirements, WorkspaceSettings
from robodyn.planning.workspace.surfaces import Surface, level_surface

__all__ = ["Requirements", "Surface", "WorkspaceSettings", "connected_cells", "level_surface"]
