# SPDX-License-Identifier: Apache-2.0

"""Compiled functions (Numba kernels) shared by all kinds of mechanisms."""
