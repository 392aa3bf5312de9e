# SPDX-License-Identifier: Apache-2.0

"""Compiled functions for time-optimal motion: reachability and limits along a path."""

from robodyn.planning.kernels.intervals import Intervals, can_rest, limit_at, linear_rows
from robodyn.planning.kernels.peaks import peaks
from robodyn.planning.kernels.reachability import maximize_first

__all__ = ["Intervals", "can_rest", "limit_at", "linear_rows", "maximize_first", "peaks"]
