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

"""When a motion meets a singularity, or its condition number crosses a threshold.

A singularity is where the determinant of the mechanism's Jacobian changes sign; the condition
number has a pole there, so a search on the condition number itself would be unreliable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.checks import as_scalar
from robodyn.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories.base import Trajectory


TIME_TOLERANCE = 1e-12
SAMPLES = 1000


class Crossing(NamedTuple):
    """A time [s] at which the condition number crosses a threshold, upwards or downwards."""

    time: float
    upward: bool


def singular_times(
    mechanism: Mechanism, trajectory: Trajectory, samples: int = SAMPLES
) -> FloatArray:
    """Times (n,) [s] at which a motion passes through a singularity, to 1e-12 of its duration.

    Args:
        mechanism: one with a square Jacobian.
        trajectory: the motion.
        samples: intervals at whose ends the determinant's sign is compared. Two singularities
            within one interval, and a singularity that is touched but not crossed, are not seen.

    Raises:
        InvalidInput: the Jacobian is not square, or there is no interval.
    """

    def determinant(t: FloatArray) -> FloatArray:
        J = mechanism.jacobian(trajectory.sample(t).configuration)
        if J.shape[-1] != J.shape[-2]:
            raise InvalidInput(
                f"{mechanism.name}: the Jacobian is {J.shape[-2]} x {J.shape[-1]}; only a square "
                "one has a determinant",
                value=J.shape,
            )
        return np.asarray(np.linalg.det(J))

    changes = _sign_changes(determinant, trajectory, samples, np.empty(0))
    return np.array([time for time, _ in changes])


def threshold_crossings(
    mechanism: Mechanism,
    trajectory: Trajectory,
    threshold: float,
    characteristic_length: float = 1.0,
    samples: int = SAMPLES,
) -> tuple[Crossing, ...]:
    """When a motion's condition number crosses `threshold`; arguments as for `singular_times`.

    A rise above the threshold and back within one of the `samples` is found only around a
    singularity, for the intervals also end at the singular times.

    Raises:
        InvalidInput: a threshold that no condition number can cross, or no interval.
    """
    as_scalar("threshold", threshold, above=1.0)

    def excess(t: FloatArray) -> FloatArray:
        # the inverse has a zero where the condition number has a pole
        configuration = trajectory.sample(t).configuration
        return np.asarray(
            1.0 / threshold - 1.0 / mechanism.condition_number(configuration, characteristic_length)
        )

    J = mechanism.jacobian(trajectory.sample(0.0).configuration)
    square = J.shape[-1] == J.shape[-2]
    poles = singular_times(mechanism, trajectory, samples) if square else np.empty(0)
    return tuple(
        Crossing(time, upward) for time, upward in _sign_changes(excess, trajectory, samples, poles)
    )


def _sign_changes(
    function: Callable[[FloatArray], FloatArray],
    trajectory: Trajectory,
    samples: int,
    extra: FloatArray,
) -> list[tuple[float, bool]]:
    intervals = int(as_scalar("samples", samples, at_least=1.0))
    grid = np.union1d(np.linspace(0.0, trajectory.duration, intervals + 1), extra)
    positive = function(grid) > 0.0
    changes = np.flatnonzero(positive[1:] != positive[:-1])
    roots: list[tuple[float, bool]] = []
    if not changes.size:
        return roots
    # slow to import and rarely needed
    from scipy.optimize import brentq

    for i in changes:
        try:
            root = brentq(
                lambda t: float(function(np.asarray(t))),
                grid[i],
                grid[i + 1],
                xtol=TIME_TOLERANCE * trajectory.duration,
            )
        except ValueError as error:  # numbers so large that they are none on the way
            raise InvalidInput(
                f"the motion cannot be examined near t = {grid[i]:.6g} s: {error}", value=grid[i]
            ) from error
        roots.append((float(root), bool(positive[i + 1])))
    return roots
