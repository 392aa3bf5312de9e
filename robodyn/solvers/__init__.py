# SPDX-License-Identifier: Apache-2.0

"""Kinds of mechanism, one folder each: recognition, packing, compiled equations and a class."""
