# SPDX-License-Identifier: Apache-2.0

"""Reader of SDF files, the format of Gazebo."""
