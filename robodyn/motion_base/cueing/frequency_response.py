# SPDX-License-Identifier: Apache-2.0

"""Frequency response of a platform to vehicle motion: the objective motion cueing test.

ICAO Doc 9625, Manual of Criteria for the Qualification of Flight Simulation Training Devices, and
Hosman and Advani (2016), "Design and evaluation of the objective motion cueing test and criterion",
The Aeronautical Journal 120, require the response at twelve frequencies, along each axis and
between axes.
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

# Frequencies [rad/s], five per decade.
FREQUENCIES = 10.0 ** np.linspace(-1.0, 1.2, 12)
# Amplitude of each sine [m/s^2, rad/s], small enough that no limit is reached.
FORCE, RATE = 0.1, 0.01
# Duration [s] of the transient, and number of periods of the slowest sine after it.
SETTLING, PERIODS = 30.0, 1.5


class Channel(NamedTuple):
    """Channel of the cueing test: indices of a felt axis and a vehicle axis.

    The six axes are force x, y, z and rate x, y, z.
    """

    name: str
    felt: int
    vehicle: int


CHANNELS = (
    Channel("pitch", 4, 4), Channel("surge due to pitch", 0, 4),
    Channel("roll", 3, 3), Channel("sway due to roll", 1, 3),
    Channel("yaw", 5, 5),
    Channel("surge", 0, 0), Channel("pitch due to surge", 4, 0),
    Channel("sway", 1, 1), Channel("roll due to sway", 3, 1),
    Channel("heave", 2, 2),
)  # fmt: skip


class FrequencyResponse(NamedTuple):
    """Frequency response from the motion of a vehicle to that felt on the platform.

    Attributes:
        frequencies: (k,) [rad/s] of the vehicle's motion.
        matrix: (k, 6, 6) complex gains from the vehicle's motion along each axis (last index) to
            the motion felt along each axis: specific force minus that at rest [m/s^2], then angular
            velocity [rad/s].
    """

    frequencies: FloatArray
    matrix: np.ndarray

    def modulus(self, channel: Channel) -> FloatArray:
        """Return the gain of a channel at the frequencies of the response.

        Returns:
            Gains (k,): of force per rate in [m/s], of rate per force in [s/m], otherwise without a
            unit.
        """
        return np.asarray(np.abs(self.matrix[:, channel.felt, channel.vehicle]))

    def phase(self, channel: Channel) -> FloatArray:
        """Return the phase (k,) [deg] of a channel at the frequencies of the response.

        Phases are between -180 and 180 degrees.
        """
        return np.asarray(np.angle(self.matrix[:, channel.felt, channel.vehicle], deg=True))


def frequency_response(
    mechanism: Mechanism,
    parameters: WashoutParameters | PredictiveParameters | None = None,
    *,
    head: ArrayLike | None = None,
    dt: float = 0.02,
    frequencies: FloatArray = FREQUENCIES,
    progress: Callable[[float], None] | None = None,
) -> FrequencyResponse:
    """Compute a platform's frequency response to vehicle motion by simulation.

    The vehicle moves along one axis at a time, by a sum of sines of all frequencies. Rotations of
    the vehicle do not change the direction of gravity in its specific force.

    Args:
        mechanism, parameters, head, dt, progress: as for `ride`.
        frequencies: (k,) [rad/s]; by default the test's twelve.

    Returns:
        Response of forces and angular velocities at the head.

    Raises:
        InvalidInput: as for `ride`.
    """
    duration = SETTLING + PERIODS * 2.0 * np.pi / frequencies.min()
    time = np.arange(0.0, duration, dt)
    # Schroeder phases, for low peaks
    number = np.arange(len(frequencies))
    angle = np.outer(time, frequencies) + np.pi * number**2 / len(number)
    lasting = time > SETTLING
    basis = np.hstack([np.sin(angle), np.cos(angle)])
    matrix = np.zeros((len(number), 6, 6), complex)
    for axis in range(6):
        size = FORCE if axis < 3 else RATE
        motion = np.zeros((len(time), 6))
        motion[:, axis] = size * np.sin(angle).sum(axis=1)

        def report_progress(fraction: float, axis: int = axis) -> None:
            if progress is not None:
                progress((axis + fraction) / 6.0)

        vehicle = VehicleMotion(time, REST + motion[:, :3], motion[:, 3:])
        found = ride(mechanism, vehicle, parameters, head=head, dt=dt, progress=report_progress)
        felt = np.hstack([found.felt_force - REST, found.felt_rate])
        kept = lasting[: len(felt)]
        parts = np.linalg.lstsq(basis[: len(felt)][kept], felt[kept], rcond=None)[0] / size
        matrix[:, :, axis] = parts[: len(number)] + 1j * parts[len(number) :]
    return FrequencyResponse(frequencies, matrix)
