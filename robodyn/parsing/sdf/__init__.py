# SPDX-License-Identifier: Apache-2.0

"""SDF, the format of Gazebo: read as XML and written as URDF text, as MJCF is."""
