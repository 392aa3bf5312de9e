# SPDX-License-Identifier: Apache-2.0

"""An executable that needs no ROS: it ends with a given exit code, or waits."""

import sys
import time


def main() -> int:
    print("tool:", *sys.argv[1:], flush=True)
    if sys.argv[1] == "wait":
        time.sleep(600)
    return int(sys.argv[1])
