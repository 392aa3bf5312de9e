"""An executable that needs no ROS."""

import sys


def main() -> int:
    print("tool:", *sys.argv[1:], flush=True)
    return int(sys.argv[1]) if len(sys.argv) > 1 else 0
