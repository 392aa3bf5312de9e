# SPDX-License-Identifier: Apache-2.0

"""What is measured of a mechanism's state: with noise, in steps, now and then, and late."""

from __future__ import annotations

from collections import deque

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_exact, as_scalar
from robodyn.errors import InvalidInput
from robodyn.mechanisms.mechanism import Mechanism

State = tuple[FloatArray, FloatArray]


class Sensor:
    """Measures a state once a control period.

    Noise is normal and independent, in the coordinates of velocity: a pose is displaced and
    turned, and stays a pose. After it, displacements from home and velocities are rounded to whole
    steps.

    Args:
        mechanism: whose state it measures.
        position_noise: [m or rad] standard deviation, one number or (nv,).
        velocity_noise: [m/s or rad/s] likewise.
        latency: by how many periods a measurement is late; until one is old enough, the first
            is answered.
        seed: of the noise.
        position_step, velocity_step: resolutions in the units of the noise, likewise; none if 0.
        every: periods from one sample to the next; in between the last one is measured again.

    Raises:
        InvalidInput: deviations or steps below zero or of another shape, or a latency or a rate
            that is no whole number, of at least 0 and 1.
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
        self._latency, self._seed = _whole("latency", latency), _whole("seed", seed)
        self._every = _whole("every", every, at_least=1)
        self.reset()

    def reset(self) -> None:
        """Forget all measurements and begin the noise anew."""
        self._random = np.random.default_rng(self._seed)
        self._taken: deque[State] = deque(maxlen=self._latency + 1)
        self._count = 0

    def measure(self, configuration: FloatArray, velocity: FloatArray) -> State:
        """The measured state for a true one, configuration and velocity; call it every period.

        Raises:
            InvalidInput: wrong shapes or not finite.
        """
        rest = self._mechanism.difference(configuration, configuration)
        configuration = as_exact("configuration", configuration, np.shape(configuration)[-1:])
        velocity = as_exact("velocity", velocity, rest.shape)
        self._count += 1
        if (self._count - 1) % self._every:
            self._taken.append(self._taken[-1])
            return self._taken[0]
        # drawn in any case, so that one noise does not depend on whether there is the other
        position_error, velocity_error = self._random.normal(size=(2, *rest.shape))
        if self._position_noise.any():
            displacement = self._position_noise * position_error
            configuration = self._mechanism.advance(configuration, displacement)
        if self._velocity_noise.any():
            velocity = velocity + self._velocity_noise * velocity_error
        if self._position_step.any():
            home = self._mechanism.home
            away = self._mechanism.difference(home, configuration)
            configuration = self._mechanism.advance(home, _rounded(away, self._position_step))
        velocity = _rounded(velocity, self._velocity_step)
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


def _rounded(values: FloatArray, step: FloatArray) -> FloatArray:
    """Whole multiples of a step; as they are where it is zero."""
    size = np.where(step > 0.0, step, 1.0)
    return np.asarray(np.where(step > 0.0, size * np.round(values / size), values))


def _whole(name: str, value: int, at_least: int = 0) -> int:
    number = as_scalar(name, value, at_least=float(at_least))
    if number != int(number):
        raise InvalidInput(f"{name} is {number}, must be a whole number", value=value)
    return int(value)
