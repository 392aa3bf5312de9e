# SPDX-License-Identifier: Apache-2.0

"""Solvers for each kind of mechanism, with its recognition, compiled equations and class."""
