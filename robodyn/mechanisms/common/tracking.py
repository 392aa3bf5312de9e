# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What counts as tracking error of a mechanism, and when it has lost its path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robodyn.arrays import FloatArray


@dataclass(frozen=True)
class ErrorPart:
    """Coordinates of a tracking error whose size is told in one number.

    Attributes:
        name: `position`, `orientation` or `joints`.
        columns: of a displacement (..., nv).
        unit: `m`, `rad`, or `rad or m` where joints of both sorts are compared.
        bound: [unit] beyond which the mechanism no longer follows its path.
        euclidean: whether the size is the length of the vector, or the largest of its entries.
    """

    name: str
    columns: slice
    unit: str
    bound: float
    euclidean: bool

    def size(self, error: FloatArray) -> FloatArray:
        """Size (...) of this part of displacements (..., nv)."""
        own = error[..., self.columns]
        if self.euclidean:
            return np.asarray(np.linalg.norm(own, axis=-1))
        return np.asarray(np.abs(own).max(axis=-1))


@dataclass(frozen=True)
class Tracking:
    """How the tracking error of a kind of mechanism is told.

    Attributes:
        parts: which together cover the displacement.
        by_coordinate: whether a summary lists the largest error of each coordinate, too.
    """

    parts: tuple[ErrorPart, ...]
    by_coordinate: bool = False

    def is_lost(self, error: FloatArray) -> NDArray[np.bool_]:
        """Whether displacements (..., nv) from the planned configuration exceed a bound."""
        beyond = [part.size(error) > part.bound for part in self.parts]
        return np.asarray(np.logical_or.reduce(beyond))

    def largest(self, error: FloatArray) -> dict[str, float]:
        """Largest size of each part of displacements (N, nv), by name."""
        return {part.name: float(part.size(error).max()) for part in self.parts}

    @property
    def bounds(self) -> str:
        """The bounds in words."""
        return " or ".join(f"{part.bound:g} {part.unit}" for part in self.parts)


POSE_TRACKING = Tracking(
    (
        ErrorPart("position", slice(0, 3), "m", 0.05, euclidean=True),
        ErrorPart("orientation", slice(3, 6), "rad", 0.1, euclidean=True),
    )
)
JOINT_TRACKING = Tracking(
    (ErrorPart("joints", slice(None), "rad or m", 0.1, euclidean=False),), by_coordinate=True
)
