# SPDX-License-Identifier: Apache-2.0

"""Limits of a motion along a path, one file for each."""
