# SPDX-License-Identifier: Apache-2.0

"""The kinds of mechanism, a folder each: recognition, packing, kernels and a class."""
