# SPDX-License-Identifier: Apache-2.0

"""Compiled code of time-optimal motion: reachability along a path, and an interior-point method."""
