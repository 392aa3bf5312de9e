# SPDX-License-Identifier: Apache-2.0

"""Result of a calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from robodyn.arrays import FloatArray, short_repr
from robodyn.loading.save import save
from robodyn.mechanism.mechanism import Mechanism


@dataclass(frozen=True)
class CalibratedParameter:
    """Value of one dimension before and after a calibration.

    Attributes:
        name, unit: name and unit.
        before, after: values [m or rad].
        deviation: standard deviation of `after` [m or rad].
        seen: whether the measurements determine it better than its tolerance.
    """

    name: str
    unit: str
    before: float
    after: float
    deviation: float
    seen: bool

    @property
    def change(self) -> float:
        """Change of the dimension by the calibration [m or rad]."""
        return self.after - self.before


@dataclass(frozen=True)
class Calibration:
    """Result of a calibration, with the calibrated mechanism.

    Attributes:
        mechanism: calibrated mechanism.
        nominal: mechanism before the calibration.
        parameters: all dimensions, before and after.
        unseen: combinations of parameters that the measurements do not determine; they keep their
            nominal values.
        rmse_before, rmse_after: root mean square of the residuals by group: `position` [m],
            `orientation` [rad], `passive` [rad]. `rmse_before` is that of the nominal dimensions
            with the frames that fit them best.
        residuals: (N, r) measured minus predicted, a row for each sample.
        groups: group of each column of the residuals.
        noise: standard deviation by group, given or estimated.
        singular_values: of the scaled identification Jacobian; see `fit.Visibility`.
        condition: ratio of the largest of these to the smallest that is at least 1.
        tracker: (7,) pose of the mechanism's base in the tracker's frame.
        target: (7,) pose of the target on the body.
        covariance: (p, p) of the free parameters [m, rad], in the order of `free`.
        free: names of the fitted parameters.
        notes: remarks about the result.
    """

    mechanism: Mechanism
    nominal: Mechanism
    parameters: tuple[CalibratedParameter, ...]
    unseen: tuple[str, ...]
    rmse_before: Mapping[str, float]
    rmse_after: Mapping[str, float]
    residuals: FloatArray
    groups: tuple[str, ...]
    noise: Mapping[str, float]
    singular_values: FloatArray
    condition: float
    tracker: FloatArray
    target: FloatArray
    covariance: FloatArray
    free: tuple[str, ...]
    notes: tuple[str, ...]

    __repr__ = short_repr

    def save(self, path: str | Path) -> None:
        """Write the calibrated mechanism as a .yaml or .urdf file.

        Args:
            path: file to write.

        Raises:
            OutputError: the file cannot be written.
        """
        save(self.mechanism, path)

    def to_dict(self) -> dict[str, Any]:
        """Convert the result to dictionaries, lists and numbers, without the mechanisms."""
        return {
            "model": self.nominal.name,
            "samples": len(self.residuals),
            "parameters": [asdict(each) for each in self.parameters],
            "unseen": list(self.unseen),
            "rmse_before": dict(self.rmse_before),
            "rmse_after": dict(self.rmse_after),
            "noise": dict(self.noise),
            "condition": self.condition,
            "tracker": self.tracker.tolist(),
            "target": self.target.tolist(),
            "notes": list(self.notes),
        }
