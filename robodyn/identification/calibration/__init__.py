# SPDX-License-Identifier: Apache-2.0

"""Kinematic calibration: a mechanism's dimensions from measured poses or constraints."""

from robodyn.identification.calibration.firmware import delta_settings
from robodyn.identification.calibration.problem import ALL, Frames, Freedoms, Problem
from robodyn.identification.calibration.tracking_frames import Frame
from robodyn.identification.calibration.unknowns import first_frames
from robodyn.identification.calibration.zeros import find_zeros, read_zero_samples

__all__ = [
    "ALL", "Frame", "Frames", "Freedoms", "Problem", "delta_settings", "find_zeros",
    "first_frames", "read_zero_samples",
]  # fmt: skip
