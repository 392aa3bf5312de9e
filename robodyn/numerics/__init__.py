# SPDX-License-Identifier: Apache-2.0

"""Compiled arithmetic independent of mechanisms: vectors, rotations, linear systems, integration.

This package contains no classes of mechanisms, unit checks or error messages.
"""
