# SPDX-License-Identifier: Apache-2.0

"""Kinematic calibration: a mechanism's dimensions from measured poses or constraints."""
