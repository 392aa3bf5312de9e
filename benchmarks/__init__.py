# SPDX-License-Identifier: Apache-2.0

"""Comparisons with other engines, all in one process: `python -m benchmarks`."""
