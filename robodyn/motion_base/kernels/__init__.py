# SPDX-License-Identifier: Apache-2.0

"""Compiled functions for motion platforms: set-points, braking, filters and soft limits."""
