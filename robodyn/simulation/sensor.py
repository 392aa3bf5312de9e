# SPDX-License-Identifier: Apache-2.0

"""What is measured of a mechanism's state: with noise, and some control periods late."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from robodyn.checks import as_array, as_exact, as_scalar
from robodyn.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism

    State = tuple[FloatArray, FloatArray]


class Sensor:
    """Measures a state once a control period.

    Noise is normal and independent, in the coordinates of velocity: a pose is displaced and
    turned, and stays a pose.

    Args:
        mechanism: whose state it measures.
        position_noise: [m or rad] standard deviation, one number or (nv,).
        velocity_noise: [m/s or rad/s] likewise.
        latency: by how many periods a measurement is late; until one is old enough, the first
            is answered.
        seed: of the noise.

    Raises:
        InvalidInput: deviations below zero or of another shape, or a latency that is no whole
            number of at least 0.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        position_noise: ArrayLike = 0.0,
        velocity_noise: ArrayLike = 0.0,
        latency: int = 0,
        seed: int = 0,
    ) -> None:
        size = mechanism.coordinates.velocity_size
        self._mechanism = mechanism
        self._position_noise = _deviation("position_noise", position_noise, size)
        self._velocity_noise = _deviation("velocity_noise", velocity_noise, size)
        self._latency = _whole("latency", latency)
        self._seed = _whole("seed", seed)
        self.reset()

    def reset(self) -> None:
        """Forget all measurements and begin the noise anew."""
        self._random = np.random.default_rng(self._seed)
        self._taken: deque[State] = deque(maxlen=self._latency + 1)

    def measure(self, configuration: FloatArray, velocity: FloatArray) -> State:
        """The measured state for a true one, configuration and velocity; call it every period.

        Raises:
            InvalidInput: wrong shapes or not finite.
        """
        rest = self._mechanism.difference(configuration, configuration)
        configuration = as_exact("configuration", configuration, np.shape(configuration)[-1:])
        velocity = as_exact("velocity", velocity, rest.shape)
        # drawn in any case, so that one noise does not depend on whether there is the other
        position_error, velocity_error = self._random.normal(size=(2, *rest.shape))
        if self._position_noise.any():
            displacement = self._position_noise * position_error
            configuration = self._mechanism.advance(configuration, displacement)
        if self._velocity_noise.any():
            velocity = velocity + self._velocity_noise * velocity_error
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


def _whole(name: str, value: int) -> int:
    number = as_scalar(name, value, at_least=0.0)
    if number != int(number):
        raise InvalidInput(f"{name} is {number}, must be a whole number", value=value)
    return int(value)
