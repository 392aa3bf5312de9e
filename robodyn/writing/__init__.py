# SPDX-License-Identifier: Apache-2.0

"""Writers of a model as URDF, SDF and MJCF."""
