"""States at 1 kHz for a minute: is every node's memory bounded?

Usage: `python benchmarks/one_kilohertz.py [--seconds 60] [--node inverse_dynamics]`. Prints the
resident memory of the node's process over time, and fails if it grew by more than 5 MB after the
first tenth of the run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

RATE = 1000
ALLOWED = 5.0  # [MB]


def main() -> int:
    """Run, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--node", default="inverse_dynamics")
    given = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 90))

    import rclpy
    from nav_msgs.msg import Odometry

    import robodyn as rd
    from robodyn_ros import messages, qos

    home = rd.load("stewart_symmetric").home
    rclpy.init()
    node = rclpy.create_node("one_kilohertz")
    publisher = node.create_publisher(Odometry, "platform_state", qos.STATE)
    start = f"from robodyn_ros.entry import {given.node}; {given.node}()"
    command = [sys.executable, "-c", start, "--ros-args", "-p", "model:=stewart_symmetric"]
    if given.node == "inverse_dynamics":
        command += ["-p", "idle:=hold"]
    process = subprocess.Popen(command)
    try:
        while not publisher.get_subscription_count():
            time.sleep(0.1)
        state = messages.odometry(0, ("base_link", "platform_link"), home, np.zeros(6))
        begin, sizes, count = time.perf_counter(), [], round(given.seconds * RATE)
        for k in range(count):
            state.header.stamp = messages.to_stamp((k + 1) * 1_000_000)
            publisher.publish(state)
            if k % max(count // 20, 1) == 0:
                sizes.append(memory(process.pid))
                sys.stdout.write(f"{k / RATE:6.1f} s  {sizes[-1]:7.1f} MB\n")
            left = begin + (k + 1) / RATE - time.perf_counter()
            if left > 0.0:
                time.sleep(left)
        took = time.perf_counter() - begin
        alive = process.poll() is None
    finally:
        process.terminate()
        process.wait()
        rclpy.shutdown()
    grown = sizes[-1] - sizes[2]
    sys.stdout.write(
        f"{count} states in {took:.1f} s; {given.node} {'alive' if alive else 'dead'}, grown by "
        f"{grown:+.1f} MB\n"
    )
    return 0 if alive and grown < ALLOWED else 1


def memory(pid: int) -> float:
    """Resident memory of a process [MB]."""
    text = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in text.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024.0


if __name__ == "__main__":
    sys.exit(main())
