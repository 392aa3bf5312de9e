# SPDX-License-Identifier: Apache-2.0

"""A model as a file: URDF, SDF, MJCF."""
