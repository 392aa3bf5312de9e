# SPDX-License-Identifier: Apache-2.0

"""The part of ROS 2's `launch_ros` that robodyn's launch files use, under the upstream names."""
