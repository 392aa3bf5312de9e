# SPDX-License-Identifier: Apache-2.0

"""Transition from one motion to another without a jump: their difference fades out.

The difference, a displacement in the coordinates of the mechanism (see `displacements`), follows
the quintic with its value, rate and acceleration at the start, and zero value and derivatives at
the end.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_scalar
from robodyn.mechanism.mechanism import Mechanism
from robodyn.numerics.rotations_batch import (
    composed_motions,
    rotation_vector_motions,
    rotation_vector_rates,
)
from robodyn.trajectories.base import Motion, RowTrajectory, Trajectory
from robodyn.trajectories.displacements import add_displacements, hermite_quintic


class Handover(RowTrajectory):
    """Trajectory that starts in the state of an old motion and blends into a new one.

    Args:
        mechanism: mechanism that moves.
        old: state (configuration, velocity, acceleration) of the old motion at the moment of
            replacement; the trajectory has this state at `start`.
        new: motion that follows; from `start + blend` on it is followed exactly.
        blend: duration [s] in which the difference fades out.
        start: time [s] on `new` at the moment of replacement.

    Raises:
        InvalidInput: a motion has another shape or is not finite, or a time is not positive.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        old: Motion,
        new: Trajectory,
        blend: float,
        *,
        start: float = 0.0,
    ) -> None:
        self.new = new
        self.blend = as_scalar("blend", blend, "s", above=0.0)
        self.start = as_scalar("start", start, "s", at_least=0.0)
        self._mechanism = mechanism
        first = Motion(*new.sample(self.start))
        configuration = as_exact("old.configuration", old.configuration, first.configuration.shape)
        self._first = configuration
        lead = Motion(
            mechanism.difference(first.configuration, configuration),
            as_exact("old.velocity", old.velocity, first.velocity.shape) - first.velocity,
            as_exact("old.acceleration", old.acceleration, first.velocity.shape)
            - first.acceleration,
        )
        for own in mechanism.coordinates.rotations:
            _rotation_part(lead, old, first, own)
        ended = np.zeros_like(lead.velocity)
        begun = lead.configuration, lead.velocity * self.blend, lead.acceleration * self.blend**2
        self._coefficients = hermite_quintic(begun, (ended, ended, ended))

    @property
    def duration(self) -> float:
        """Duration [s]: the end of `new`, or of the transition if that is later."""
        return max(self.new.duration, self.start + self.blend)

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Switching times [s] of `new`, and the end of `new` if the transition is longer."""
        times = (*self.new.switching_times, self.new.duration)
        return tuple(t for t in times if self.start < t < self.duration)

    def sample(self, t: ArrayLike) -> Motion:
        """Return configuration, velocity and acceleration at times t (...) [s].

        Returns:
            Configurations (..., nq), velocities and accelerations (..., nv).

        Raises:
            InvalidInput: t is not finite.
        """
        if isinstance(t, float) and t - self.start >= self.blend:
            return self.new.sample(t)
        return super().sample(t)

    def _rows(self, t: FloatArray) -> Motion:
        result = Motion(*(np.array(values) for values in self.new.sample(t)))
        fading = np.flatnonzero(t - self.start < self.blend)
        if fading.size and self._coefficients.any():
            inner = Motion(*(values[fading] for values in result))
            x = np.clip((t[fading] - self.start) / self.blend, 0.0, 1.0)
            blended = add_displacements(
                self._mechanism, inner, self._coefficients, x, np.float64(self.blend)
            )
            for values, found in zip(result, blended, strict=True):
                values[fading] = found
        before = t < self.start
        if before.any():
            result.configuration[before] = self._first
            result.velocity[before] = 0.0
            result.acceleration[before] = 0.0
        return result


def _rotation_part(lead: Motion, old: Motion, new: Motion, own: slice) -> None:
    """Set derivatives of the rotation vector from `new` to `old`, in place.

    The rotation vector is `lead.configuration[own]`. Its first and second derivatives are set so
    that `new`, rotated by it, has the angular velocity and acceleration of `old`.
    """
    o = lead.configuration[None, own]
    carried, change = np.zeros((2, 1, 3))
    composed_motions(o, carried, change, new.velocity[None, own], new.acceleration[None, own])
    omega = np.asarray(old.velocity)[None, own] - carried
    alpha = np.asarray(old.acceleration)[None, own] - change - np.cross(omega, carried)
    rate, second = np.empty((2, 1, 3))
    rotation_vector_rates(o, omega, rate)
    # alpha is linear in o'' with the map that turns o' into omega, plus what o'' = 0 leaves
    turning, leaves = rate.copy(), np.zeros((1, 3))
    rotation_vector_motions(o, turning, leaves)
    rotation_vector_rates(o, alpha - leaves, second)
    lead.velocity[own] = rate[0]
    lead.acceleration[own] = second[0]
