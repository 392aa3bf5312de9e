# SPDX-License-Identifier: Apache-2.0

"""Parameters of motion cueing, with checks and presets."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact
from robodyn.errors import InvalidInput

MAY_BE_ZERO = ("gain", "weight", "tail")


class _Parameters:
    """Base class of cueing parameters; rejects negative values, and 0 where invalid."""

    def __post_init__(self) -> None:
        """Raise an error if a value is negative, or zero where it must be positive."""
        for each in fields(self):  # type: ignore[arg-type]
            values = self.of_axes(each.name)
            lowest = 0.0 if each.name.endswith(MAY_BE_ZERO) else np.nextafter(0.0, 1.0)
            if (values < lowest).any():
                expected = "not be negative" if each.name.endswith(MAY_BE_ZERO) else "be positive"
                raise InvalidInput(f"{each.name} = {getattr(self, each.name)}: must {expected}")

    def of_axes(self, name: str) -> FloatArray:
        """Return the values (3,) of the named parameter for the x, y and z axes."""
        value: ArrayLike = getattr(self, name)
        given = np.full(3, value) if np.ndim(value) == 0 else value
        values: FloatArray = as_exact(name, given, (3,)).copy()
        return values


@dataclass(frozen=True)
class WashoutParameters(_Parameters):
    """Gains, limits and cutoff frequencies of a `ClassicalWashout`.

    Each parameter is one number for all axes, or three numbers for x (forward), y (left) and z (up)
    of the vehicle.

    Attributes:
        force_gain: gain of the specific force minus gravity.
        force_limit: limit [m/s^2] of the scaled specific force.
        rotation_gain: gain of the angular velocity.
        rotation_limit: limit [rad/s] of the scaled angular velocity.
        force_highpass: cutoff [rad/s] of the translation's second-order high-pass filter.
        force_highpass_damping: damping ratio of that filter.
        force_washout: further pole [rad/s] that returns the platform to neutral.
        tilt_lowpass: cutoff [rad/s] of the low-pass filter of the force that is produced by tilt.
        tilt_lowpass_damping: damping ratio of that filter.
        tilt_rate: largest rate [rad/s] of the tilt, below what people perceive as rotation.
        rotation_highpass: cutoff [rad/s] of the rotation's high-pass filter.

    Raises:
        InvalidInput: a value is neither one number nor three, or is not finite or not positive
            (gains may be zero).
    """

    force_gain: ArrayLike = 0.5
    force_limit: ArrayLike = 10.0
    rotation_gain: ArrayLike = 0.5
    rotation_limit: ArrayLike = 1.0
    force_highpass: ArrayLike = 2.5
    force_highpass_damping: ArrayLike = 1.0
    force_washout: ArrayLike = 0.25
    tilt_lowpass: ArrayLike = 2.5
    tilt_lowpass_damping: ArrayLike = 1.0
    tilt_rate: ArrayLike = 0.05
    rotation_highpass: ArrayLike = 0.5

    @classmethod
    def preset(cls, name: str) -> WashoutParameters:
        """Return the washout parameters of a preset for a typical use.

        Args:
            name: `driving`, `airliner` or `small` (a desktop platform).

        Raises:
            InvalidInput: there is no preset of that name.
        """
        if name not in PRESETS:
            raise InvalidInput(
                f"unknown washout preset {name!r}, expected one of {', '.join(PRESETS)}"
            )
        return PRESETS[name]


@dataclass(frozen=True)
class PredictiveParameters(_Parameters):
    """Gains and weights of `PredictiveCueing`.

    Gains and times are one number for all axes, or three numbers. Weights multiply time integrals
    of squared perceived errors, relative to the thresholds of perception.

    Attributes:
        force_gain: gain of the specific force minus gravity.
        rotation_gain: gain of the angular velocity.
        horizon: duration [s] of the plan.
        tail: time [s] after the plan for which the cost of its last pose is counted.
        fading: time [s] in which the deviation from the mean force is expected to fade.
        force_weight: weight of the specific force's error.
        rotation_weight: weight of the angular velocity's error.
        position_weight: weight [1/m^2] of the head's displacement from neutral.
        angle_weight: weight [1/rad^2] of roll, pitch and yaw.
        jerk_weight: weight [s^6/m^2, s^6/rad^2] of the change of accelerations.

    Raises:
        InvalidInput: a value is neither one number nor three, or is not finite or not positive
            (gains and weights may be zero).
    """

    force_gain: ArrayLike = 1.0
    rotation_gain: ArrayLike = 1.0
    horizon: float = 2.0
    tail: float = 1.0
    fading: ArrayLike = (1.0, 1.0, 0.2)
    force_weight: float = 1.0
    rotation_weight: float = 2.0
    position_weight: float = 30.0
    angle_weight: float = 30.0
    jerk_weight: float = 1e-3


PRESETS = {
    # Short, strong accelerations: mostly translation, fast washout.
    "driving": WashoutParameters(
        force_gain=0.5, rotation_gain=0.6, force_highpass=3.0, tilt_lowpass=3.0, tilt_rate=0.06
    ),
    # Long, mild accelerations: mostly tilt, below the threshold of perceived rotation.
    "airliner": WashoutParameters(
        force_gain=(0.5, 0.5, 0.3), rotation_gain=0.7, force_highpass=(2.0, 2.0, 3.5),
        tilt_lowpass=2.0, tilt_rate=0.04, rotation_highpass=0.3,
    ),
    # A few centimeters of travel.
    "small": WashoutParameters(
        force_gain=0.2, rotation_gain=0.4, force_highpass=5.0, force_washout=0.5,
        tilt_lowpass=4.0, tilt_rate=0.1, rotation_highpass=1.0,
    ),
}  # fmt: skip
