# SPDX-License-Identifier: Apache-2.0

"""Compiled arithmetic independent of mechanisms: vectors, rotations, linear systems, integration.

No classes of mechanisms, unit checks or error messages here; those belong to the mechanisms.
"""
