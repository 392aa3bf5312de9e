# SPDX-License-Identifier: Apache-2.0

"""Compiled equations of the 6-UPS Stewart platform."""
