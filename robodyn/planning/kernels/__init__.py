# SPDX-License-Identifier: Apache-2.0

"""Compiled functions for time-optimal motion: reachability and limits along a path."""

from robodyn.planning.kernels.intervals import Intervals, can_rest, limit_at, linear_rows
from robodyn.planning.kernels.peaks import peaks
from robodyn.planning.kernels.reachability import largest_first

__all__ = ["Intervals", "can_rest", "largest_first", "limit_at", "linear_rows", "peaks"]
