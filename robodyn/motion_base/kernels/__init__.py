# SPDX-License-Identifier: Apache-2.0

"""Compiled: the next set-point of drives that take positions."""
