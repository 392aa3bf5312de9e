# SPDX-License-Identifier: Apache-2.0

"""SIMD: several states at once in the vector registers of the processor."""
