# SPDX-License-Identifier: Apache-2.0

"""States at 1 kHz for a minute: is every state answered, and does the node's memory stay bounded?

Usage: `python -m benchmarks.one_kilohertz [--seconds 60] [--node inverse_dynamics] [--model ...]`.
Publishes a trajectory, prints the resident memory of the node's process over time, and fails if the
node dies or its memory grows by more than 5 MB after the first tenth of the run. Of states that
come faster than they are answered `inverse_dynamics` answers the latest: one that was overtaken
by the next has no effort, and is counted.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.latency import running
from benchmarks.latency_scenarios import ARM, PLATFORM, SCENARIOS

if TYPE_CHECKING:
    from benchmarks.latency_scenarios import Scenario

RATE = 1000
ALLOWED = 5.0  # [MB]


class Endurance(NamedTuple):
    """Result of a run.

    Attributes:
        sizes: (K, 2) times [s] and resident memory [MB].
        latencies: [s] of the answers.
        sent, unanswered: states.
        alive: whether the node still ran in the end.
    """

    sizes: np.ndarray
    latencies: np.ndarray
    sent: int
    unanswered: int
    alive: bool

    @property
    def grown(self) -> float:
        """Memory gained [MB] after the first tenth of the run, when all has been called once."""
        return float(self.sizes[-1, 1] - self.sizes[len(self.sizes) // 10 + 1, 1])


def endure(scenario: Scenario, seconds: float, rate: int = RATE) -> Endurance:
    """Send states at a rate [Hz], with or without replies."""
    from benchmarks.latency_client import Client, Peer, Questions

    client, questions = Client(), Questions(scenario, rate)
    try:
        with running("/node", scenario, "lean", rate) as process:
            peer = Peer(client.node, scenario, "/node", process.pid)
            client.publish_trajectory(scenario, questions)
            client.meet(peer)
            begin, sizes, count = time.perf_counter(), [], round(seconds * rate)
            for index in range(count):
                client.spin(begin + index / rate)
                peer.ask(questions(index, peer))
                if index % max(count // 40, 1) == 0 or index == count - 1:
                    sizes.append((index / rate, peer.memory()))
            client.settle(peer)
            peer.settle(keep=True)
            alive = process.poll() is None
            peer.close()
    finally:
        client.close()
    return Endurance(np.array(sizes), np.array(peer.latencies), count, peer.unanswered, alive)


def main() -> int:
    """Run, print the result, and check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--node", default="inverse_dynamics", choices={s.node for s in SCENARIOS})
    parser.add_argument("--model", default=PLATFORM, choices=(PLATFORM, ARM))
    given = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 90))
    found = [s for s in SCENARIOS if (s.node, s.model) == (given.node, given.model)]
    if not found:
        parser.error(f"{given.node} is not for {given.model}")
    result = endure(found[0], given.seconds)
    for at, size in result.sizes:
        sys.stdout.write(f"{at:6.1f} s  {size:7.1f} MB\n")
    median, p99 = 1e6 * np.percentile(result.latencies, [50, 99])
    sys.stdout.write(
        f"{given.node} of {given.model} {'alive' if result.alive else 'dead'}: {result.sent} "
        f"states, {result.unanswered} overtaken or lost, latency {median:.0f} us (p99 {p99:.0f}), "
        f"memory grown by {result.grown:+.2f} MB\n"
    )
    return 0 if result.alive and result.grown < ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
