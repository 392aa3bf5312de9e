# SPDX-License-Identifier: Apache-2.0

"""Measurements of a mechanism's state, with noise, resolution, sampling and delay."""

from __future__ import annotations

from collections import deque

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_exact, as_integer
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism

State = tuple[FloatArray, FloatArray]


class Sensor:
    """Sensor that measures a state once per control period.

    Noise is normally distributed and independent in the coordinates of the velocity; a noisy pose
    is still a valid pose. Displacements from home and velocities are then rounded to the
    resolution.

    Args:
        mechanism: mechanism whose state is measured.
        position_noise: standard deviation [m or rad], one number or (nv,).
        velocity_noise: standard deviation [m/s or rad/s], one number or (nv,).
        latency: delay in periods; until a measurement is old enough, the first one is returned.
        seed: seed of the noise.
        position_step, velocity_step: resolutions [m or rad] and [m/s or rad/s], one number or
            (nv,); 0 for exact values.
        every: number of control periods between samples; in between, the last sample is returned.

    Raises:
        InvalidInput: deviations or steps are negative or have another shape, or `latency` is not an
            integer of at least 0, or `every` not one of at least 1.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        position_noise: ArrayLike = 0.0,
        velocity_noise: ArrayLike = 0.0,
        latency: int = 0,
        seed: int = 0,
        *,
        position_step: ArrayLike = 0.0,
        velocity_step: ArrayLike = 0.0,
        every: int = 1,
    ) -> None:
        size = mechanism.coordinates.velocity_size
        self._mechanism = mechanism
        self._position_noise = _deviation("position_noise", position_noise, size)
        self._velocity_noise = _deviation("velocity_noise", velocity_noise, size)
        self._position_step = _deviation("position_step", position_step, size)
        self._velocity_step = _deviation("velocity_step", velocity_step, size)
        self._latency = as_integer("latency", latency, at_least=0)
        self._seed = as_integer("seed", seed, at_least=0)
        self._every = as_integer("every", every, at_least=1)
        self.reset()

    def reset(self) -> None:
        """Discard all measurements and restart the noise from its seed."""
        self._random = np.random.default_rng(self._seed)
        self._taken: deque[State] = deque(maxlen=self._latency + 1)
        self._count = 0

    def measure(self, configuration: FloatArray, velocity: FloatArray) -> State:
        """Return the measurement of a true state; must be called once per period.

        Args:
            configuration: (nq,) true configuration.
            velocity: (nv,) true velocity.

        Returns:
            Measured configuration (nq,) and velocity (nv,).

        Raises:
            InvalidInput: shapes are wrong or values not finite.
        """
        rest = self._mechanism.difference(configuration, configuration)
        configuration = as_exact("configuration", configuration, np.shape(configuration)[-1:])
        velocity = as_exact("velocity", velocity, rest.shape)
        self._count += 1
        if (self._count - 1) % self._every:
            self._taken.append(self._taken[-1])
            return self._taken[0]
        # always drawn, so that one noise does not depend on the presence of the other
        position_error, velocity_error = self._random.normal(size=(2, *rest.shape))
        if self._position_noise.any():
            displacement = self._position_noise * position_error
            configuration = self._mechanism.advance(configuration, displacement)
        if self._velocity_noise.any():
            velocity = velocity + self._velocity_noise * velocity_error
        if self._position_step.any():
            home = self._mechanism.home
            away = self._mechanism.difference(home, configuration)
            configuration = self._mechanism.advance(home, _round(away, self._position_step))
        velocity = _round(velocity, self._velocity_step)
        self._taken.append((configuration.copy(), velocity.copy()))
        return self._taken[0]


def _deviation(name: str, value: ArrayLike, size: int) -> FloatArray:
    deviation = as_array(name, value, ())
    if deviation.shape not in {(), (size,)}:
        raise InvalidInput(
            f"{name} has shape {deviation.shape}, expected one number or ({size},)", value=value
        )
    if (deviation < 0.0).any():
        raise InvalidInput(f"{name} is {deviation.min()}, must be at least 0", value=value)
    return deviation


def _round(values: FloatArray, step: FloatArray) -> FloatArray:
    """Return values rounded to multiples of a step, unchanged if the step is zero."""
    size = np.where(step > 0.0, step, 1.0)
    return np.asarray(np.where(step > 0.0, size * np.round(values / size), values))
