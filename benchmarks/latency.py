"""Command latency of the nodes beside a bare rclpy echo of the same messages in the same run.

Usage: `python benchmarks/latency.py [--seconds 5]`. States go to `inverse_dynamics`, which answers
with efforts, and to `condition_monitor`, which answers with numbers; and to an echo that answers
each with a message of the same type and size and computes nothing. Each is a process of its own.
Latency is from just before a state is published to its answer's callback.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

import numpy as np

RATES = (200, 500, 1000)
WARM_UP = 100


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="at each rate [s]")
    parser.add_argument("--echo", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 90))
    return echo() if given.echo else measure(given.seconds)


def echo() -> int:
    """Answer states with efforts that mean nothing: what rclpy itself takes."""
    import rclpy
    from nav_msgs.msg import Odometry
    from rclpy.node import Node
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    from robodyn_ros import qos

    rclpy.init()
    node = Node("echo")
    # what inverse_dynamics publishes for a state
    efforts = node.create_publisher(Float64MultiArray, "echo/efforts", qos.COMMAND)
    commands = node.create_publisher(JointState, "echo/joint_commands", qos.COMMAND)
    names = [f"leg{k}_actuator" for k in range(1, 7)]

    def answer(message: Odometry) -> None:
        efforts.publish(Float64MultiArray(data=[1.0] * 6))
        reply = JointState(name=names, effort=[1.0] * 6)
        reply.header.stamp = message.header.stamp
        commands.publish(reply)

    node.create_subscription(Odometry, "platform_state", answer, qos.LATEST)
    rclpy.spin(node)
    return 0


def measure(seconds: float) -> int:
    """Each rate in turn, all nodes in turn so that they do not share the processor."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor

    rclpy.init()
    node = rclpy.create_node("latency")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    rows = []
    for rate in RATES:
        base = None
        for name, command, topic in targets():
            process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            try:
                taken, lost = latencies(node, executor, topic, rate, seconds)
            finally:
                process.terminate()
                process.wait()
            base = taken if base is None else base
            rows.append((name, rate, taken, lost, base))
    rclpy.shutdown()
    sys.stdout.write(table(rows))
    return 0


def targets() -> list[tuple[str, list[str], str]]:
    """Name, command line and the topic that answers."""

    def executable(name: str) -> list[str]:
        return [sys.executable, "-c", f"from robodyn_ros.entry import {name}; {name}()"]

    model = ["--ros-args", "-p", "model:=stewart_symmetric"]
    control = ["-p", "mode:=computed_torque", "-p", "idle:=hold"]
    return [
        ("echo", [sys.executable, __file__, "--echo"], "echo/joint_commands"),
        ("inverse_dynamics", [*executable("inverse_dynamics"), *model, *control], "joint_commands"),
        ("condition_monitor", [*executable("condition_monitor"), *model], "condition_number"),
    ]


def latencies(node, executor, topic: str, rate: int, seconds: float) -> tuple[np.ndarray, int]:
    """Latencies [s] of the answers to states at a rate [Hz], and how many were not answered."""
    from nav_msgs.msg import Odometry
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64

    import robodyn as rd
    from robodyn_ros import messages, qos

    count = round(rate * seconds) + WARM_UP
    home = rd.load("stewart_symmetric").home
    sent, answered = np.full(count, np.nan), np.full(count, np.nan)
    period = round(1e9 / rate)

    def on_answer(message) -> None:
        # numbers carry no stamp: they answer the latest state
        index = published
        if isinstance(message, JointState):
            index = messages.to_nanoseconds(message.header.stamp) // period - 1
        if 0 <= index < count and np.isnan(answered[index]):
            answered[index] = time.perf_counter()

    published = -1
    kind = Float64 if topic == "condition_number" else JointState
    subscription = node.create_subscription(kind, topic, on_answer, qos.STATE)
    publisher = node.create_publisher(Odometry, "platform_state", qos.STATE)
    state = messages.odometry(0, ("base_link", "platform_link"), home, np.zeros(6))
    while not (publisher.get_subscription_count() and node.count_publishers(topic)):
        executor.spin_once(timeout_sec=0.1)
    time.sleep(0.5)
    begin = time.perf_counter()
    for current in range(count):
        due = begin + current / rate
        while (left := due - time.perf_counter()) > 0.0:
            executor.spin_once(timeout_sec=left)
        state.header.stamp = messages.to_stamp((current + 1) * period)
        published = current
        sent[current] = time.perf_counter()
        publisher.publish(state)
    end = time.perf_counter() + 0.3
    while (left := end - time.perf_counter()) > 0.0:
        executor.spin_once(timeout_sec=left)
    node.destroy_subscription(subscription)
    node.destroy_publisher(publisher)
    taken = (answered - sent)[WARM_UP:]
    return taken[np.isfinite(taken)], int(np.isnan(taken).sum())


def table(rows: list[tuple[str, int, np.ndarray, int, np.ndarray]]) -> str:
    """Medians, jitter and what is added, in microseconds, as Markdown."""
    lines = [
        "| rate [Hz] | node | median [us] | p99 [us] | jitter (std) [us] | of echo | added [us] "
        "| unanswered |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, rate, taken, lost, base in rows:
        median, p99 = 1e6 * np.percentile(taken, [50, 99])
        reference = 1e6 * np.median(base)
        lines.append(
            f"| {rate} | {name} | {median:.0f} | {p99:.0f} | {1e6 * taken.std():.0f} "
            f"| {median / reference:.2f} | {median - reference:+.0f} | {lost} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
