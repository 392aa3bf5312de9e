# SPDX-License-Identifier: Apache-2.0

"""The `ros2` command for machines without ROS 2, and what it shares with `launch`."""
