# SPDX-License-Identifier: Apache-2.0

"""What all workspaces have in common."""

from __future__ import annotations

from pathlib import Path

from robodyn.planning.workspace.requirements import Requirements
from robodyn.planning.workspace.surfaces import Surface


class Region:
    """A region of positions (3,) [m], or of roll, pitch and yaw (3,) [rad].

    Attributes:
        kind: which region of its mechanism.
        needs: what is required within.
        dimensions: 3, or fewer where positions are in a plane or on a line.
        volume, volume_error: in `unit`.
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
        """Of the volume."""
        return "rad^3" if self.kind == "orientation" else f"m^{self.dimensions}"

    @property
    def text(self) -> str:
        """The volume in a line; of an empty region also what is in the way."""
        raise NotImplementedError

    @property
    def boundary(self) -> Surface:
        """Triangles around the region."""
        raise NotImplementedError

    def save(self, path: str | Path) -> None:
        """Write the boundary to a file that ends in .stl or .ply; its lengths are meters.

        Raises:
            InvalidInput: another ending.
            OutputError: the file cannot be written.
        """
        self.boundary.save(path)
