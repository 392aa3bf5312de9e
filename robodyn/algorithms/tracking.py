# SPDX-License-Identifier: Apache-2.0

"""Components of a mechanism's tracking error, and detection of a mechanism off its path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.arrays import BoolArray, FloatArray


@dataclass(frozen=True)
class ErrorPart:
    """Component of a tracking error, reported as one magnitude (e.g. position).

    Attributes:
        name: `position`, `orientation` or `joints`.
        columns: columns of a displacement (..., nv) that belong to this component.
        unit: `m`, `rad`, or `rad or m` where revolute and prismatic joints are compared.
        bound: [unit] above which the mechanism counts as off its path.
        euclidean: whether the magnitude is the length of the vector, or its largest absolute entry.
    """

    name: str
    columns: slice
    unit: str
    bound: float
    euclidean: bool

    def exceeded(self, error: FloatArray) -> BoolArray:
        """Return whether this component of displacements (..., nv) exceeds the bound (...)."""
        if self.euclidean:
            return np.asarray(self.size(error) > self.bound)
        return np.asarray((np.abs(error[..., self.columns]) > self.bound).any(axis=-1))

    def size(self, error: FloatArray) -> FloatArray:
        """Compute the magnitude (...) [unit] of this component of displacements (..., nv)."""
        own = error[..., self.columns]
        if self.euclidean:
            return np.asarray(np.linalg.norm(own, axis=-1))
        return np.asarray(np.abs(own).max(axis=-1))


@dataclass(frozen=True)
class Tracking:
    """Components of the tracking error that are reported for a kind of mechanism.

    Attributes:
        parts: components that together cover the displacement.
        by_coordinate: whether a summary also lists the largest error of each coordinate.
    """

    parts: tuple[ErrorPart, ...]
    by_coordinate: bool = False

    def is_lost(self, error: FloatArray) -> BoolArray:
        """Return whether displacements (..., nv) from the plan exceed a bound, one boolean each."""
        return np.asarray(np.logical_or.reduce([part.exceeded(error) for part in self.parts]))

    def largest(self, error: FloatArray) -> dict[str, float]:
        """Return the largest magnitude of each error component, by its name.

        The maximum is over N displacements (N, nv) from the plan.
        """
        return {part.name: float(part.size(error).max()) for part in self.parts}

    @property
    def bounds(self) -> str:
        """Description of the bounds of all components with their units, for messages."""
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


def tracking_of(mechanism: Any) -> Tracking:
    """Return the components and bounds of tracking errors for a mechanism."""
    return POSE_TRACKING if mechanism.coordinates.is_pose else JOINT_TRACKING
