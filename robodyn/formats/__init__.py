# SPDX-License-Identifier: Apache-2.0

"""YAML, URDF, xacro and XML as text and trees, independent of mechanisms."""
