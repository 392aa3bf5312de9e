# SPDX-License-Identifier: Apache-2.0

"""Mechanisms as people see them: figures, tables of parameters, variables to set by hand."""
