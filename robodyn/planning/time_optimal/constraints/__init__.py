# SPDX-License-Identifier: Apache-2.0

"""Limits of a motion along a path: of the motion, of efforts, of their rates."""
