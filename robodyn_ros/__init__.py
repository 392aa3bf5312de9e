# SPDX-License-Identifier: Apache-2.0

"""ROS 2 nodes: thin adapters from messages and parameters to the library `robodyn`."""
