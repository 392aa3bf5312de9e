# SPDX-License-Identifier: Apache-2.0

"""Motions planned with the dynamics of a mechanism."""
