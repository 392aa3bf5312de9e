# SPDX-License-Identifier: Apache-2.0

"""Placement of a frame on a link."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.model.fields import as_rotation, frozen


@dataclass(frozen=True, eq=False)
class Placement:
    """Frame fixed to a link, given by rotation and translation.

    Attributes:
        rotation: (3, 3) axes of the frame, as columns, in the link's frame.
        translation: (3,) [m] origin of the frame, in the link's frame.
    """

    rotation: FloatArray = field(default_factory=lambda: np.eye(3))
    translation: FloatArray = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "rotation", as_rotation("rotation", self.rotation))
        put(self, "translation", frozen("translation", self.translation, (3,), "m"))

    @classmethod
    def of(cls, frame: FloatArray) -> Placement:
        """Create the placement for the homogeneous transform (4, 4) of a frame."""
        return cls(frame[:3, :3], frame[:3, 3])

    @cached_property
    def matrix(self) -> FloatArray:
        """Homogeneous transform (4, 4) from this frame to the link's; read-only."""
        out = np.eye(4)
        out[:3, :3], out[:3, 3] = self.rotation, self.translation
        out.setflags(write=False)
        return out

    @cached_property
    def is_link_frame(self) -> bool:
        """Whether the placement is the link's own frame."""
        return np.array_equal(self.matrix, np.eye(4))
