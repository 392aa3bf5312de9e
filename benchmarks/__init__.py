"""Comparisons with other engines, all in one process: `python -m benchmarks`."""
