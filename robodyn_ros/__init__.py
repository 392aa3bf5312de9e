"""ROS 2 nodes: thin adapters from messages and parameters to the library `robodyn`."""
