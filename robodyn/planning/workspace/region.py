# SPDX-License-Identifier: Apache-2.0

"""Common interface of all workspaces."""

from __future__ import annotations

from pathlib import Path

from robodyn.planning.workspace.requirements import Requirements
from robodyn.planning.workspace.surfaces import Surface


class Region:
    """Region of positions (3,) [m], or of roll, pitch and yaw (3,) [rad].

    Attributes:
        kind: name of the region, such as `reachable`.
        needs: requirements that are met within the region.
        dimensions: 3, or fewer if positions are in a plane or on a line.
        volume, volume_error: volume of the region and its error, in `unit`.
    """

    dimensions = 3
    volume: float
    volume_error: float

    def __init__(self, needs: Requirements, kind: str) -> None:
        self.needs, self.kind = needs, kind

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text})"

    @property
    def unit(self) -> str:
        """Unit of the volume, such as `m^3` or `rad^2`."""
        unit = "rad" if self.kind == "orientation" else "m"
        return unit if self.dimensions == 1 else f"{unit}^{self.dimensions}"

    @property
    def text(self) -> str:
        """Volume and error in one line; for an empty region also the violated requirement."""
        raise NotImplementedError

    @property
    def boundary(self) -> Surface:
        """Triangle mesh around the region, vertices [m or rad]."""
        raise NotImplementedError

    def save(self, path: str | Path) -> None:
        """Write the boundary to a .stl or .ply file, lengths in meters.

        Raises:
            InvalidInput: the file extension is neither .stl nor .ply.
            OutputError: the file cannot be written.
        """
        self.boundary.save(path)
