# SPDX-License-Identifier: Apache-2.0

"""`python -m robodyn_ros NODE`: a node where no `ros2 run` is at hand."""

import sys

from robodyn_ros.entry import start
from robodyn_ros.nodes import NODES

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NODES:
        sys.exit(f"usage: python -m robodyn_ros NODE [--ros-args ...]; nodes: {', '.join(NODES)}")
    start(sys.argv.pop(1))
