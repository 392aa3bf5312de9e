# SPDX-License-Identifier: Apache-2.0

"""Figures and statements of the five papers, reproduced beside the computed results."""
