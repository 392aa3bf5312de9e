# SPDX-License-Identifier: Apache-2.0

"""Compiled code of time-optimal motion: reachability and limits along a path."""
