# SPDX-License-Identifier: Apache-2.0

"""Run a node by `python -m robodyn_ros NODE`, without `ros2 run`."""

import sys

from robodyn_ros.entry import start
from robodyn_ros.nodes import NODES

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NODES:
        sys.exit(f"usage: python -m robodyn_ros NODE [--ros-args ...]; nodes: {', '.join(NODES)}")
    start(sys.argv.pop(1))
