# SPDX-License-Identifier: Apache-2.0

"""Thousands of states: each gets one command if the sender waits, and memory stays bounded.

The short version of `python -m benchmarks.one_kilohertz`, which keeps to the clock for a minute.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

import robodyn as rd
from robodyn_ros import messages
from robodyn_ros.messages import OdometryMessage

pytestmark = pytest.mark.ros
PERIOD = 1_000_000
WARM_UP, IN_TURN, AT_ONCE = 300, 1500, 1500
ALLOWED = 5.0  # [MB]


def memory(pid: int) -> float:
    """Resident memory [MB]."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def test_a_flood_of_states(peer, start, mechanism):
    process = start("inverse_dynamics", {"idle": "hold", "watchdog_timeout": 0.0})
    publisher = peer.publisher(Odometry, "platform_state")
    received = peer.listen(JointState, "joint_commands")
    state, path = OdometryMessage(mechanism.frames), rd.paper_path("I")

    def send(number: int) -> int:
        stamp = (number + 1) * PERIOD
        publisher.publish(state.filled(stamp, *path.sample(number * 1e-3)[:2]))
        return stamp

    def stamps() -> list[int]:
        return [messages.to_nanoseconds(message.header.stamp) for message in received]

    def first_is_answered() -> bool:
        send(0)
        peer.spin(0.2)
        return bool(received)

    peer.until(first_is_answered, "the first effort")
    peer.spin(0.5)
    received.clear()
    before = 0.0
    for number in range(1, WARM_UP + IN_TURN):
        if number == WARM_UP:
            before = memory(process.pid)
        send(number)
        peer.until(lambda count=number: len(received) >= count, f"effort {number}")
    assert stamps() == [(number + 1) * PERIOD for number in range(1, WARM_UP + IN_TURN)]
    # now without waiting: the latest counts, and gets a command
    last = 0
    for number in range(WARM_UP + IN_TURN, WARM_UP + IN_TURN + AT_ONCE):
        last = send(number)
    peer.until(lambda: stamps()[-1] == last, "the effort of the last state")
    assert (np.diff(stamps()) > 0).all(), "an effort came twice, or late"
    assert all(np.isfinite(message.effort).all() for message in received)
    grown = memory(process.pid) - before
    assert grown < ALLOWED, f"memory grew by {grown:.1f} MB"
    assert process.alive
