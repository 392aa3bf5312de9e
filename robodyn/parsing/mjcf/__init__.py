# SPDX-License-Identifier: Apache-2.0

"""MJCF, the format of MuJoCo: read by MuJoCo itself.

MuJoCo resolves includes, defaults, angles and inertias of geoms; robodyn reads the compiled model.
"""
