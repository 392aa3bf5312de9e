# SPDX-License-Identifier: Apache-2.0

"""A moving base: its pose, and the state of the mechanism on it, from inertial measurements."""

from robodyn.motion_base.base.base_pose import BasePoseEstimator, ImuNoise

__all__ = ["BasePoseEstimator", "ImuNoise"]
