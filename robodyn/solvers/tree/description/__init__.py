# SPDX-License-Identifier: Apache-2.0

"""Mechanisms with closed loops from YAML: short forms of legs, and additions to a URDF."""
