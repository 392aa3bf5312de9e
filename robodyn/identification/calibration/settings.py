# SPDX-License-Identifier: Apache-2.0

"""Settings of a calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from robodyn.arrays import ArrayLike

KNOWN, UNKNOWN = "known", "unknown"

Constraint = Literal["point", "plane", "orientation"]
Point = ArrayLike | str | Sequence[str]
Loss = Literal["linear", "soft_l1", "huber", "cauchy"]


@dataclass(frozen=True)
class CalibrationSettings:
    """Settings of a calibration: unknowns, their tolerances, and measurement noise.

    Attributes:
        tracker: `unknown`, `known` (it measures in the mechanism's base frame), or the pose (7,) of
            the base in the tracker's frame.
        target: `unknown`, `known` (its frame is that of the body), or its pose (7,) in the body's
            frame.
        constraint: instead of a tracker: `point`, a fixed point of the body; `plane`, a point of
            the body in a fixed plane; `orientation`, a fixed orientation of the body.
        sensor_zeros: whether the zero offsets of measured passive joints are unknown.
        parameters: names, or prefixes of names, of the unknown parameters; by default all.
        tolerance: standard deviation of lengths [m], and of angles [rad], from the nominal ones;
            by default 0.3 % of the mechanism's size, and 0.02 rad.
        noise: standard deviations `position` [m], `orientation`, `passive` [rad], and `joints` [m
            or rad] of the driven joints; omitted groups are estimated, and omitted joints have no
            noise.
        loss: `linear`, or `soft_l1`, `huber` or `cauchy` for samples with outliers.
    """

    tracker: Literal["unknown", "known", ""] | ArrayLike = ""
    target: Literal["unknown", "known", ""] | ArrayLike = ""
    constraint: Constraint | Literal[""] = ""
    sensor_zeros: bool = True
    parameters: Sequence[str] = ()
    tolerance: float | Sequence[float] | None = None
    noise: Mapping[str, float] | None = None
    loss: Loss = "linear"


class CalibrationOptions(TypedDict, total=False):
    """Keyword arguments that set single fields of `CalibrationSettings`."""

    tracker: Literal["unknown", "known", ""] | ArrayLike
    target: Literal["unknown", "known", ""] | ArrayLike
    constraint: Constraint | Literal[""]
    sensor_zeros: bool
    parameters: Sequence[str]
    tolerance: float | Sequence[float] | None
    noise: Mapping[str, float] | None
    loss: Loss


@dataclass(frozen=True)
class PoseSettings:
    """Settings for selecting the poses to measure.

    Attributes:
        measure: `pose` or `position` of a target, `height` of the tip or `distance` of points.
        tracker_known: whether the frames of tracker and target are known.
        height, radius: [m] of the bed on which heights are measured, and of the circle about the
            base's z axis that is measured.
        points: pairs of a point of the base and one of the body, for distances.
        parameters, tolerance: unknown parameters and their standard deviations, as for `calibrate`.
        candidates: number of random poses.
        margin: fraction of the joints' ranges to avoid at either end.
        max_condition: largest condition number of the Jacobian, with moments divided by the
            characteristic length. Near a singularity, small errors of the dimensions move the body
            far.
        noise: noise of the tracker: standard deviation of positions, relative to the mechanism's
            size, and of orientations [rad].
        seed: seed of the random numbers.
    """

    measure: Literal["pose", "position", "height", "distance"] = "pose"
    tracker_known: bool = False
    height: float | None = None
    radius: float = float("inf")
    points: Sequence[tuple[Point, Point]] = ()
    parameters: Sequence[str] = ()
    tolerance: float | Sequence[float] | None = None
    candidates: int = 300
    margin: float = 0.02
    max_condition: float = 100.0
    noise: float = 1e-4
    seed: int = 0


class PoseOptions(TypedDict, total=False):
    """Keyword arguments that set single fields of `PoseSettings`."""

    measure: Literal["pose", "position", "height", "distance"]
    tracker_known: bool
    height: float | None
    radius: float
    points: Sequence[tuple[Point, Point]]
    parameters: Sequence[str]
    tolerance: float | Sequence[float] | None
    candidates: int
    margin: float
    max_condition: float
    noise: float
    seed: int
