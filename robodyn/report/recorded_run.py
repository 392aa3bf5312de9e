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

"""A recorded run against its plan: motion measured and planned, efforts commanded and modelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.errors import InvalidInput

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories.base import Motion, Trajectory


# A plan that fits best within this of the clock's zero [s] began there: a run in simulated time
# does, and fitting would hide a steady delay.
NEAR_ZERO = 0.1
# Instants looked at, and places tried, when a plan is laid over a run.
POINTS, PLACES = 200, 400
# A run that is nowhere nearer to its plan than this share of the way [-] flew something else.
ELSEWHERE = 0.2


@dataclass(frozen=True)
class FlownRun:
    """A run and its plan at the same times.

    Attributes:
        mechanism: what was recorded.
        time: (N,) [s] since the path began.
        measured: (N, ...) configurations.
        planned: the motion at those times.
        error: (N, nv) [m, rad] displacement from the planned to the measured configuration.
        commanded: (N, n) [N or N m] efforts.
        model: (N, n) [N or N m] that inverse dynamics asks for along the plan.
        start: [s] when the path began, by the recording's clock.
        fitted: whether that was found by laying the plan over the run.
    """

    mechanism: Mechanism
    time: FloatArray
    measured: FloatArray
    planned: Motion
    error: FloatArray
    commanded: FloatArray
    model: FloatArray
    start: float
    fitted: bool

    def to_dict(self) -> dict[str, Any]:
        """Largest errors and efforts, as plain numbers."""
        residual = self.commanded - self.model
        rows = [
            {
                "joint": name,
                "peak_commanded": float(np.abs(self.commanded[:, i]).max()),
                "peak_model": float(np.abs(self.model[:, i]).max()),
                "largest_difference": float(np.abs(residual[:, i]).max()),
                "rms_difference": float(np.sqrt((residual[:, i] ** 2).mean())),
            }
            for i, name in enumerate(self.mechanism.joint_names)
        ]
        tracking = {"joints": float(np.abs(self.error).max())}
        if self.mechanism.kind == "stewart":
            size = [np.linalg.norm(self.error[:, part], axis=1).max() for part in _PARTS]
            tracking = {"position": float(size[0]), "orientation": float(size[1])}
        return {
            "model": self.mechanism.name,
            "kind": self.mechanism.kind,
            "samples": len(self.time),
            "duration": float(self.time[-1] - self.time[0]),
            "path_start": {"time": self.start, "fitted": self.fitted},
            "tracking": tracking,
            "joints": rows,
        }


_PARTS = (slice(0, 3), slice(3, 6))


def flown_run(
    mechanism: Mechanism,
    times: FloatArray,
    measured: FloatArray,
    commanded: FloatArray,
    plan: Trajectory,
    start: float | None = None,
) -> FlownRun:
    """Lay a plan beside a recorded run.

    Args:
        mechanism: what was recorded.
        times: (N,) [s] by the recording's clock.
        measured: (N, ...) configurations.
        commanded: (N, n) [N or N m] efforts.
        plan: what was to be flown.
        start: [s] when it began, by the recording's clock; what was before it and after its end
            is left out. None: found by laying the plan over the run.

    Raises:
        InvalidInput: too short a recording, or one of another motion.
        KinematicsError: the model has no efforts along the plan.
    """
    if len(times) < 2:
        raise InvalidInput(f"a recording of {len(times)} states, expected two at least")
    fitted = False
    if start is None:
        start = _start(mechanism, times, measured, plan)
        fitted = abs(start) > NEAR_ZERO
        start = start if fitted else 0.0
    else:
        rows = (times >= start - 1e-9) & (times <= start + plan.duration + 1e-9)
        times, measured, commanded = times[rows], measured[rows], commanded[rows]
        if len(times) < 2:
            raise InvalidInput(
                f"the recording has {len(times)} states of its plan, from {start:g} s to "
                f"{start + plan.duration:g} s, expected two at least",
                value=start,
            )
    time = times - start
    planned = plan.sample(time)
    return FlownRun(
        mechanism,
        time,
        measured,
        planned,
        mechanism.difference(planned.configuration, measured),
        commanded,
        mechanism.inverse_dynamics(*planned),
        start,
        fitted,
    )


def _start(
    mechanism: Mechanism, times: FloatArray, measured: FloatArray, trajectory: Trajectory
) -> float:
    """When the path began [s], by least squares between the measured motion and the planned."""
    rows = np.unique(np.linspace(0, len(times) - 1, POINTS).astype(int))
    seen, at = measured[rows], times[rows]

    def miss(start: float) -> float:
        plan = trajectory.sample(at - start).configuration
        return float((mechanism.difference(plan, seen) ** 2).sum())

    low, high = times[0] - trajectory.duration, times[-1]
    places = np.linspace(low, high, PLACES)
    best = float(places[np.argmin([miss(place) for place in places])])
    step = (high - low) / (PLACES - 1)
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(miss, bounds=(best - step, best + step), method="bounded")
    ends = trajectory.sample(np.array([0.0, trajectory.duration])).configuration
    way = float(np.linalg.norm(mechanism.difference(ends[0], ends[1])))
    if np.sqrt(found.fun / len(rows)) > ELSEWHERE * way:
        raise InvalidInput(
            f"the recording is of another motion: at best it is "
            f"{np.sqrt(found.fun / len(rows)):.3g} (m, rad) off a path {way:.3g} long; name the "
            "path that was flown by --path",
            value=float(found.x),
        )
    return float(found.x)
