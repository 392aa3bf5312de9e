# SPDX-License-Identifier: Apache-2.0

"""Kinds of mechanism, a folder each: recognition, packing, kernels and a class."""
