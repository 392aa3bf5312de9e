# SPDX-License-Identifier: Apache-2.0

"""Compiled code of motion platforms: set-points, brakes, filters and soft limits."""
