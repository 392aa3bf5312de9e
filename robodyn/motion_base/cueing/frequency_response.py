# SPDX-License-Identifier: Apache-2.0

"""How a platform responds to sines of a vehicle's motion: the objective motion cueing test.

ICAO Doc 9625, Manual of Criteria for the Qualification of Flight Simulation Training Devices, and
Hosman and Advani (2016), "Design and evaluation of the objective motion cueing test and criterion",
The Aeronautical Journal 120, ask for the response at twelve frequencies, of each axis and across.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.cueing.parameters import PredictiveParameters, WashoutParameters
from robodyn.motion_base.cueing.ride import ride
from robodyn.motion_base.cueing.vehicle import VehicleMotion
from robodyn.motion_base.machine.head_motion import REST

# [rad/s], five to a decade.
FREQUENCIES = 10.0 ** np.linspace(-1.0, 1.2, 12)
# Of each sine [m/s^2, rad/s]: small, so that no limit is reached.
FORCE, RATE = 0.1, 0.01
# [s] until what began the motion is forgotten, and periods of the slowest sine after that.
SETTLING, PERIODS = 30.0, 1.5


class Channel(NamedTuple):
    """A response that the test asks for: places among force x, y, z and rate x, y, z."""

    name: str
    felt: int
    told: int


CHANNELS = (
    Channel("pitch", 4, 4), Channel("surge due to pitch", 0, 4),
    Channel("roll", 3, 3), Channel("sway due to roll", 1, 3),
    Channel("yaw", 5, 5),
    Channel("surge", 0, 0), Channel("pitch due to surge", 4, 0),
    Channel("sway", 1, 1), Channel("roll due to sway", 3, 1),
    Channel("heave", 2, 2),
)  # fmt: skip


class FrequencyResponse(NamedTuple):
    """What is felt over what the vehicle does, at the head.

    Attributes:
        frequencies: (k,) [rad/s].
        matrix: (k, 6, 6) complex: specific force less that at rest [m/s^2] and angular velocity
            [rad/s] that are felt, of those of the vehicle, one axis at a time.
    """

    frequencies: FloatArray
    matrix: np.ndarray

    def modulus(self, channel: Channel) -> FloatArray:
        """(k,) of a channel; across, of a force by a rate [m/s], or the reverse [s/m]."""
        return np.asarray(np.abs(self.matrix[:, channel.felt, channel.told]))

    def phase(self, channel: Channel) -> FloatArray:
        """(k,) [deg] of a channel, -180 to 180."""
        return np.asarray(np.angle(self.matrix[:, channel.felt, channel.told], deg=True))


def frequency_response(
    mechanism: Mechanism,
    parameters: WashoutParameters | PredictiveParameters | None = None,
    *,
    head: ArrayLike | None = None,
    dt: float = 0.02,
    frequencies: FloatArray = FREQUENCIES,
    progress: Callable[[float], None] | None = None,
) -> FrequencyResponse:
    """The response to sines of all frequencies at once, one axis of the vehicle after another.

    A rate is told without the force that the weight would add in a vehicle that turns.

    Args:
        mechanism, parameters, head, dt, progress: as for `ride`.
        frequencies: (k,) [rad/s]; by default the test's twelve.

    Raises:
        InvalidInput: as for `ride`.
    """
    duration = SETTLING + PERIODS * 2.0 * np.pi / frequencies.min()
    time = np.arange(0.0, duration, dt)
    # phases of Schroeder's: no high peaks
    number = np.arange(len(frequencies))
    angle = np.outer(time, frequencies) + np.pi * number**2 / len(number)
    lasting = time > SETTLING
    basis = np.hstack([np.sin(angle), np.cos(angle)])
    matrix = np.zeros((len(number), 6, 6), complex)
    for axis in range(6):
        size = FORCE if axis < 3 else RATE
        told = np.zeros((len(time), 6))
        told[:, axis] = size * np.sin(angle).sum(axis=1)

        def tell(share: float, axis: int = axis) -> None:
            if progress is not None:
                progress((axis + share) / 6.0)

        vehicle = VehicleMotion(time, REST + told[:, :3], told[:, 3:])
        found = ride(mechanism, vehicle, parameters, head=head, dt=dt, progress=tell)
        felt = np.hstack([found.felt_force - REST, found.felt_rate])
        kept = lasting[: len(felt)]
        parts = np.linalg.lstsq(basis[: len(felt)][kept], felt[kept], rcond=None)[0] / size
        matrix[:, :, axis] = parts[: len(number)] + 1j * parts[len(number) :]
    return FrequencyResponse(frequencies, matrix)
