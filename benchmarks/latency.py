# SPDX-License-Identifier: Apache-2.0

"""Command latency of the nodes beside a bare rclpy echo of the same messages in the same run.

Usage: `python -m benchmarks.latency [--seconds 3] [--executors lean single events]`. Each node of
the loop is a process of its own, and so is its echo, which gets the same messages and answers with
messages of the same types and sizes, but computes nothing. They take turns of half a second each,
so that a busy machine affects both. Latency is from just before a message is published to the
callback of its answer.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.latency_client import BLOCK, Client
from benchmarks.latency_scenarios import SCENARIOS, Scenario

RATES = (200, 500, 1000)


class Row(NamedTuple):
    """Results of one scenario at one rate: latencies [s] and unanswered messages of both."""

    scenario: Scenario
    executor: str
    rate: int
    node: np.ndarray
    echo: np.ndarray
    lost: tuple[int, int]
    busy: tuple[float, float]


def main() -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of node and echo, at each rate")
    parser.add_argument("--executors", nargs="+", default=["lean"], help="of the node")
    parser.add_argument("--echo", default="single", help="executor of the echo; `same`: the node's")
    parser.add_argument("--nodes", nargs="+", default=[s.node for s in SCENARIOS])
    parser.add_argument("--rates", nargs="+", type=int, default=RATES)
    given = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 90))
    client, blocks = Client(), max(round(given.seconds / BLOCK), 2)
    rows = []
    for scenario in (s for s in SCENARIOS if s.node in given.nodes):
        for executor in given.executors:
            echo = executor if given.echo == "same" else given.echo
            for rate in given.rates:
                with (
                    running("/node", scenario, executor, rate) as node,
                    running("/echo", scenario, echo, rate) as bare,
                ):
                    found = client.measure(scenario, rate, blocks, node.pid, bare.pid)
                rows.append(Row(scenario, executor, rate, *found))
                sys.stdout.write(line(rows[-1]) if len(rows) > 1 else HEAD + line(rows[-1]))
                sys.stdout.flush()
    client.close()
    return 0


@contextmanager
def running(
    namespace: str, scenario: Scenario, executor: str, rate: int
) -> Iterator[subprocess.Popen[bytes]]:
    """The node of a scenario, or in the namespace /echo its echo, as a process."""
    name, model, topic, *_ = scenario
    if namespace == "/echo":
        command = [sys.executable, "-m", "benchmarks.latency_echo", name, model, topic]
        parameters = []
    else:
        command = [sys.executable, "-m", "robodyn_ros", name]
        parameters = [f"model:={model}"]
    if parameters and name == "forward_simulator":
        parameters += [f"control_rate:={float(rate)}", "min_subscribers:=0"]
    process = subprocess.Popen(
        [
            *(*command, "--ros-args", "-r", f"__ns:={namespace}", "--log-level", "fatal"),
            *(word for parameter in parameters for word in ("-p", parameter)),
        ],
        env=os.environ | {"ROBODYN_EXECUTOR": executor},
        cwd=Path(__file__).parents[1],
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


HEAD = (
    "| node | model | executor | rate [Hz] | median [us] | p99 [us] | jitter [us] | echo: median "
    "[us] | p99 [us] | jitter [us] | added [us] | least added [us] | processor, node - echo [us] "
    "| unanswered, node, echo |\n" + "|---" * 14 + "|\n"
)


def line(row: Row) -> str:
    """Medians, jitter (standard deviation) and what the node adds, as a line of a table."""
    cells = [row.scenario.node, row.scenario.model, row.executor, str(row.rate)]
    for taken in (row.node, row.echo):
        cells += [f"{1e6 * value:.0f}" for value in (*np.percentile(taken, [50, 99]), taken.std())]
    cells.append(f"{1e6 * (np.median(row.node) - np.median(row.echo)):+.0f}")
    cells.append(f"{1e6 * (row.node.min() - row.echo.min()):+.0f}")
    cells.append(f"{row.busy[0]:.0f} - {row.busy[1]:.0f}")
    cells.append(f"{row.lost[0]}, {row.lost[1]}")
    return "| " + " | ".join(cells) + " |\n"


if __name__ == "__main__":
    sys.exit(main())
