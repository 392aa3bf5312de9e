# SPDX-License-Identifier: Apache-2.0

"""Telemetry of simulators over UDP, converted to specific force and angular velocity.

Only documented formats are supported: X-Plane's DATA and RREF ("Exchanging Data with X-Plane", in
its folder Instructions), FlightGear's generic protocol (README.protocol), BeamNG's MotionSim and
OutGauge (documentation.beamng.com/modding/protocols), and a line of numbers for custom programs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact
from robodyn.errors import InvalidInput
from robodyn.motion_base.machine.head_motion import GRAVITY, REST

FOOT = 0.3048
# From an airplane's axes (x forward, y right, z down) to ours.
FLIPPED = np.array([1.0, -1.0, -1.0])
# Data requested from X-Plane, by the index of its responses: loads along the axes [g], then roll,
# pitch and yaw rates [rad/s].
DATAREFS = (
    *(f"sim/flightmodel/forces/g_{axis}" for axis in ("axil", "side", "nrml")),
    *(f"sim/flightmodel/position/{rate}rad" for rate in "PQR"),
)
# X-Plane's groups of eight floats: loads, and angular velocities.
LOADS, RATES = 4, 16
# Time [s] in which a change of speed, the only data of OutGauge, gives an acceleration.
SMOOTHED = 0.2
# A game that repeats its last values for longer than this [s] is paused. The deviation of these
# values from rest then fades with this time constant [s].
PAUSED, FADING = 0.5, 1.0
# Largest speed [m/s] of a car.
FASTEST = 500.0


class Sample(NamedTuple):
    """Specific force (3,) [m/s^2] and angular velocity (3,) [rad/s] in a vehicle's axes."""

    force: FloatArray
    rate: FloatArray


class Telemetry:
    """Parser of telemetry datagrams of one format, see `FORMATS`.

    Args:
        kind: name of the format.
        signs: (6,) factors, 1 or -1, for x, y and z of the specific force minus that at rest, then
            of the angular velocity.

    Raises:
        InvalidInput: there is no such format, or the signs are not six finite numbers.
    """

    def __init__(self, kind: str, signs: ArrayLike = (1.0,) * 6) -> None:
        if kind not in FORMATS:
            raise InvalidInput(f"telemetry {kind!r}: expected one of {', '.join(FORMATS)}")
        self._read = FORMATS[kind]
        self._signs = as_exact("signs", signs, (6,))
        self._speed: tuple[float, float, float] | None = None
        self._values: FloatArray | None = None
        self._since = 0.0  # [s] time of the first of equal values

    def read(self, datagram: bytes, time: float) -> Sample:
        """Parse a datagram that was received at a time [s].

        If the received values stay exactly the same, as in a paused game, the result fades to the
        values at rest.

        Returns:
            Specific force [m/s^2] and angular velocity [rad/s] in the vehicle's axes.

        Raises:
            InvalidInput: another format, or numbers that are not finite.
        """
        try:
            values = np.array(self._read(datagram), dtype=np.float64)
            if self._read is _outgauge:
                forward = self._acceleration(float(values[0]), time)
                values = np.array([forward, 0.0, GRAVITY, 0.0, 0.0, 0.0])
        except (struct.error, ValueError, KeyError) as error:
            start = datagram[:16]
            raise InvalidInput(
                f"datagram {start!r}... has another format: {error}", value=start
            ) from error
        if values.shape != (6,) or not np.isfinite(values).all():
            raise InvalidInput(
                f"datagram has {len(values)} values, {values}, expected six finite values"
            )
        turned = self._signs * values
        turned[:3] += (1.0 - self._signs[:3]) * REST
        if self._values is None or not np.array_equal(values, self._values):
            self._values, self._since = values, time
        left = np.exp(-max(time - self._since - PAUSED, 0.0) / FADING)
        return Sample(REST + left * (turned[:3] - REST), left * turned[3:])

    def _acceleration(self, speed: float, time: float) -> float:
        before, rate, since = self._speed or (speed, 0.0, time - SMOOTHED)
        dt = time - since
        if dt > 0.0:
            rate += min(dt / SMOOTHED, 1.0) * ((speed - before) / dt - rate)
            self._speed = speed, rate, time
        return rate


def _line(datagram: bytes) -> list[float]:
    """Parse the last line of a datagram: an optional time, then six values.

    Returns:
        The six values: specific force and angular velocity.
    """
    cells = datagram.decode("ascii").strip().rpartition("\n")[2].split(",")
    if len(cells) not in (6, 7):
        raise ValueError(f"{len(cells)} values, expected 6, or 7 with a time")
    return [float(cell) for cell in cells[-6:]]


def _flightgear(datagram: bytes) -> FloatArray:
    force, rate = np.reshape(_line(datagram), (2, 3))
    return np.concatenate([FOOT * FLIPPED * force, FLIPPED * rate])


def _loads(axial: float, side: float, normal: float) -> list[float]:
    """Convert load factors [g] (forward, right, up) to specific force (3,) [m/s^2]."""
    return [GRAVITY * axial, -GRAVITY * side, GRAVITY * normal]


def _xplane(datagram: bytes) -> list[float]:
    if datagram[:4] != b"RREF":
        raise ValueError("no RREF")
    values: dict[int, float] = dict(struct.iter_unpack("<if", datagram[5:]))
    axial, side, normal, roll, pitch, yaw = (values[k] for k in range(6))
    return [*_loads(axial, side, normal), roll, -pitch, -yaw]


def _xplane_data(datagram: bytes, version: int) -> list[float]:
    if datagram[:4] != b"DATA":
        raise ValueError("no DATA")
    groups = {int(k): rest for k, *rest in struct.iter_unpack("<i8f", datagram[5:])}
    if version == 11:
        pitch, roll, yaw = groups[RATES][:3]
    else:
        roll, pitch, yaw = np.radians(groups[RATES][:3]).tolist()
    normal, axial, side = groups[LOADS][4:7]
    return [*_loads(axial, side, normal), roll, -pitch, -yaw]


def _motionsim(datagram: bytes) -> list[float]:
    magic, *values = struct.unpack("<4s21f", datagram)
    if magic != b"BNG1":
        raise ValueError("no BNG1")
    # accelerations without the weight, to the left, backwards and up
    left, back, up = values[6:9]
    roll, pitch = values[12:14]  # right side down, nose up
    weight = GRAVITY * np.array(
        [np.sin(pitch), np.sin(roll) * np.cos(pitch), np.cos(roll) * np.cos(pitch)]
    )
    rates = values[15:18]
    return [weight[0] - back, weight[1] + left, weight[2] + up, rates[0], -rates[1], rates[2]]


def _outgauge(datagram: bytes) -> list[float]:
    """Parse the vehicle's speed [m/s] from an OutGauge datagram."""
    if len(datagram) not in (92, 96):
        raise ValueError(f"{len(datagram)} bytes, expected 92 or 96")
    (speed,) = struct.unpack_from("<f", datagram, 12)
    pedals = struct.unpack_from("<3f", datagram, 48)
    # this format has no identifying first bytes
    if not (abs(speed) < FASTEST and all(0.0 <= each <= 1.0 for each in pedals)):
        raise ValueError(f"implausible speed {speed:g} m/s, or throttle, brake and clutch {pedals}")
    return [speed]


FORMATS: dict[str, Callable[[bytes], ArrayLike]] = {
    "csv": _line,
    "flightgear": _flightgear,
    "xplane": _xplane,
    "xplane11_data": partial(_xplane_data, version=11),
    "xplane12_data": partial(_xplane_data, version=12),
    "motionsim": _motionsim,
    "outgauge": _outgauge,
}


def requests(rate: int) -> list[bytes]:
    """Create the datagrams that request `DATAREFS` from X-Plane at a rate [Hz].

    Returns:
        A datagram of the RREF format for each of the `DATAREFS`.
    """
    return [
        struct.pack("<5sii400s", b"RREF\0", rate, k, name.encode())
        for k, name in enumerate(DATAREFS)
    ]
