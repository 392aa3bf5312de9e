# SPDX-License-Identifier: Apache-2.0

"""Kinematic calibration: the dimensions of a mechanism from measured poses or constraints."""
