# SPDX-License-Identifier: Apache-2.0

"""SDF, the format of Gazebo."""
