# SPDX-License-Identifier: Apache-2.0

"""Files and texts of mechanisms as parts of a model: URDF, SDF, MJCF."""
