# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What calls the callbacks: the events it looks at seldom are not lost, a wrong choice is told."""

from __future__ import annotations

import os
import threading
import time

import pytest
import rclpy
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException
from rclpy.qos import QoSProfile, ReliabilityPolicy
from ros_harness import PATIENCE, free_domain
from std_msgs.msg import Float64

from robodyn.errors import InvalidInput
from robodyn_ros.spinning import KINDS, SELDOM, VARIABLE, LeanExecutor, chosen, spin

pytestmark = pytest.mark.ros
RELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
LOSSY = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


@pytest.fixture
def spinning(monkeypatch):
    """A node of the default context, which the executor waits in, and its executor."""
    monkeypatch.setitem(os.environ, "ROS_DOMAIN_ID", str(free_domain()))
    rclpy.init()
    made = rclpy.create_node("spinning")
    executor = LeanExecutor()
    executor.add_node(made)
    yield made, executor
    executor.shutdown()
    made.destroy_node()
    rclpy.try_shutdown()


def spin_until(executor, condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        executor.spin_once(timeout_sec=0.05)


def test_messages_timers_and_events_of_quality_all_arrive(spinning):
    """A writer that may lose messages does not suit a reader that wants all of them."""
    node, executor = spinning
    heard, events, ticks = [], [], []
    node.create_subscription(Float64, "suits", heard.append, RELIABLE)
    node.create_subscription(
        Float64,
        "does_not_suit",
        heard.append,
        RELIABLE,
        event_callbacks=SubscriptionEventCallbacks(incompatible_qos=events.append),
    )
    good = node.create_publisher(Float64, "suits", RELIABLE)
    node.create_timer(0.01, lambda: (ticks.append(1), good.publish(Float64(data=2.0))))
    spin_until(executor, lambda: heard and len(ticks) > 5)
    bad = node.create_publisher(Float64, "does_not_suit", LOSSY)
    spin_until(executor, lambda: events)
    assert events[0].total_count == 1
    assert {message.data for message in heard} == {2.0}
    node.destroy_publisher(bad)


def test_rounds_between_leave_out_nothing_but_events(spinning):
    node, executor = spinning
    subscription = node.create_subscription(Float64, "x", lambda _: None, RELIABLE)
    assert subscription.event_handlers, "rclpy makes events of its own by default"
    timer = node.create_timer(100.0, lambda: None)
    executor.spin_once(timeout_sec=0.0)
    executor._looks = False
    assert executor.can_execute(subscription)
    assert executor.can_execute(timer)
    assert not any(executor.can_execute(event) for event in subscription.event_handlers)
    executor._looks = True
    assert all(executor.can_execute(event) for event in subscription.event_handlers)
    assert 0.0 < SELDOM < 1.0


@pytest.mark.parametrize("kind", ["lean", "single"])
def test_a_shutdown_that_wakes_nobody_ends_it_all_the_same(spinning, monkeypatch, kind):
    """A signal may come to that: the wake-up first, and then, too late, the shutdown."""
    node, executor = spinning
    executor.remove_node(node)
    monkeypatch.setenv(VARIABLE, kind)
    ended = []

    def spin_to_the_end():
        with pytest.raises(ExternalShutdownException):
            spin(node)
        ended.append(True)

    thread = threading.Thread(target=spin_to_the_end, daemon=True)
    thread.start()
    time.sleep(1.2)
    assert not ended
    node.context.handle.shutdown()
    thread.join(PATIENCE)
    assert ended


def test_an_unknown_executor_is_refused_by_name(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert chosen() == KINDS[0] == "lean"
    monkeypatch.setenv(VARIABLE, "single")
    assert chosen() == "single"
    monkeypatch.setenv(VARIABLE, "fast")
    with pytest.raises(InvalidInput, match="ROBODYN_EXECUTOR is 'fast', expected lean, single"):
        chosen()
