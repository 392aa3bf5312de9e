# SPDX-License-Identifier: Apache-2.0

"""Comparison of cueing presets on a recorded ride, and a recommendation."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.cueing.parameters import (
    PRESETS,
    PredictiveParameters,
    WashoutParameters,
)
from robodyn.motion_base.cueing.perception import CANALS, OTOLITHS
from robodyn.motion_base.cueing.ride import Ride, ride, rms
from robodyn.motion_base.cueing.vehicle import VehicleMotion
from robodyn.motion_base.machine.head_motion import REST

PREDICTIVE = "predictive"


class CueingResult(NamedTuple):
    """Result of a ride with one washout preset, or with predictive cueing.

    Attributes:
        name: name of the washout's preset, or `predictive`.
        ride: motion of the platform, and forces felt on it.
        force_error, rate_error: perceived errors relative to the perceived motion of the vehicle: 0
            for a perfect reproduction, 1 for a platform at rest.
        false_cues: fraction of time in which a horizontal force is felt in the wrong direction.
        distance: (n,) [m or rad] least distance of each driven joint from an end of its range;
            infinite without limits.
        tilt_rate: [rad/s] largest angular velocity about horizontal axes.
        problem: limit that the motion exceeds; empty if all limits hold.
    """

    name: str
    ride: Ride
    force_error: float
    rate_error: float
    false_cues: float
    distance: FloatArray
    tilt_rate: float
    problem: str

    @property
    def score(self) -> float:
        """Root mean square of `force_error` and `rate_error`; the smaller, the better."""
        return float(np.hypot(self.force_error, self.rate_error) / np.sqrt(2.0))


def compare_cueing(
    mechanism: Mechanism,
    vehicle: VehicleMotion,
    *,
    head: ArrayLike | None = None,
    dt: float = 0.01,
    progress: Callable[[float], None] | None = None,
) -> list[CueingResult]:
    """Compute a ride with each cueing preset and with predictive cueing, best first.

    Motions that exceed limits come last; the others are in the order of their scores.

    Args:
        mechanism: platform, or another mechanism that moves a body.
        vehicle: recorded motion of the vehicle.
        head, dt: as for `ride`.
        progress: called with the completed fraction, from 0 to 1.

    Returns:
        A result for each preset, and one for predictive cueing.

    Raises:
        InvalidInput: as for `ride`.
    """
    names = [*PRESETS, PREDICTIVE]
    found = []
    for k, name in enumerate(names):
        parameters: WashoutParameters | PredictiveParameters = (
            PredictiveParameters() if name == PREDICTIVE else WashoutParameters.preset(name)
        )
        found.append(_evaluate_ride(name, ride(mechanism, vehicle, parameters, head=head, dt=dt)))
        if progress is not None:
            progress((k + 1) / len(names))
    return sorted(found, key=lambda each: (bool(each.problem), each.score))


def _evaluate_ride(name: str, found: Ride) -> CueingResult:
    dt = float(found.time[1])
    try:
        low, high = found.mechanism.position_limits.T
        positions = found.joint_positions
        distance = np.minimum(positions - low, high - positions).min(axis=0)
    except KinematicsError:
        distance = np.full(len(found.mechanism.joint_names), np.nan)

    def relative_to(error: FloatArray, whole: FloatArray) -> float:
        size = float(np.linalg.norm(whole))
        return float(np.linalg.norm(error)) / size if size else 0.0

    return CueingResult(
        name,
        found,
        relative_to(
            found.perceived_force_error, rms(OTOLITHS.perceived(found.vehicle_force - REST, dt))
        ),
        relative_to(found.perceived_rate_error, rms(CANALS.perceived(found.vehicle_rate, dt))),
        found.false_cues,
        distance,
        float(np.linalg.norm(found.twist[:, 3:5], axis=1).max()),
        found.problem,
    )
