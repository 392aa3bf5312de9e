# SPDX-License-Identifier: Apache-2.0

"""Sweeps: analyses of a mechanism over a grid or a sample of poses, loads and parameters."""
