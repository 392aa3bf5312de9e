# SPDX-License-Identifier: Apache-2.0

"""Executors: rare events are not lost, an invalid choice is reported."""

from __future__ import annotations

import os
import re
import threading
import time
from contextlib import ExitStack, suppress
from itertools import pairwise

import pytest
import rclpy
from builtin_interfaces.msg import Time
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException
from rclpy.guard_condition import GuardCondition
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.waitable import NumberOfEntities, Waitable
from ros_harness import PATIENCE, free_domain
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

from robodyn.errors import InvalidInput
from robodyn_ros.executor import (
    KINDS,
    SELDOM,
    VARIABLE,
    Finished,
    LeanExecutor,
    Waiting,
    executor_name,
    spin,
    take_and_dispatch,
)
from robodyn_ros.interfaces import Ticks, steady_timer
from robodyn_ros.refusals import AT_ONCE, PERIOD, Refusals

pytestmark = pytest.mark.ros
RELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
KEPT = QoSProfile(depth=5000, reliability=ReliabilityPolicy.RELIABLE)
LOSSY = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)


@pytest.fixture
def node(monkeypatch):
    """A node of the default context, which the executor waits in."""
    monkeypatch.setitem(os.environ, "ROS_DOMAIN_ID", str(free_domain()))
    rclpy.init()
    made = rclpy.create_node("spinning")
    yield made
    made.destroy_node()
    rclpy.try_shutdown()


@pytest.fixture
def spinning(node):
    """Return a node and its executor, which spins in a thread of its own."""
    executor = LeanExecutor(node)

    def spin_to_the_end():
        with suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin_to_the_end, daemon=True)
    thread.start()
    yield node, executor
    rclpy.try_shutdown()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_messages_timers_services_and_events_of_quality_all_arrive(spinning):
    """A writer that may lose messages does not suit a reader that requires all of them."""
    node, _ = spinning
    received, events, ticks = [], [], []
    node.create_subscription(Float64, "suits", received.append, RELIABLE)
    node.create_subscription(
        Float64,
        "does_not_suit",
        received.append,
        RELIABLE,
        event_callbacks=SubscriptionEventCallbacks(incompatible_qos=events.append),
    )
    good = node.create_publisher(Float64, "suits", RELIABLE)
    node.create_timer(0.01, lambda: (ticks.append(1), good.publish(Float64(data=2.0))))
    node.create_service(Trigger, "serves", lambda _, answer: answered(answer))
    client = node.create_client(Trigger, "serves")
    wait_until(lambda: received and len(ticks) > 5)
    asked = client.call_async(Trigger.Request())
    wait_until(asked.done)
    assert asked.result().message == "served"
    bad = node.create_publisher(Float64, "does_not_suit", LOSSY)
    wait_until(lambda: events)
    assert events[0].total_count == 1
    assert {message.data for message in received} == {2.0}
    node.destroy_publisher(bad)


class Bell(Waitable):
    """Something else that a node can wait for, as actions are: rung from another thread."""

    def __init__(self, node):
        super().__init__(node.default_callback_group)
        self.guard = GuardCondition(None, None, context=node.context)
        self.guard_ready, self.received = False, []

    def get_num_entities(self):
        return NumberOfEntities(num_gcs=1)

    def add_to_wait_set(self, wait_set):
        wait_set.add_guard_condition(self.guard.handle)

    def is_ready(self, wait_set):
        return self.guard.handle.pointer in wait_set.get_ready_entities("guard_condition")

    def take_data(self):
        return "rung"

    async def execute(self, taken):
        self.received.append(taken)


def test_waitables_as_actions_are_served_at_once(spinning, monkeypatch):
    monkeypatch.setattr("robodyn_ros.executor.SELDOM", 1e6)
    node, executor = spinning
    bell = Bell(node)
    node.add_waitable(bell)
    executor.wake()
    for rung in range(1, 4):
        bell.guard.trigger()
        wait_until(lambda: len(bell.received) >= rung)  # noqa: B023, called in the loop
    assert bell.received == ["rung"] * 3
    node.remove_waitable(bell)


def test_an_executor_that_does_not_fit_is_replaced_by_that_of_rclpy(node, monkeypatch, capfd):
    """As in a release whose wait set takes other arguments."""
    received = []
    node.create_subscription(Float64, "numbers", received.append, RELIABLE)
    sender = node.create_publisher(Float64, "numbers", RELIABLE)
    node.create_timer(0.01, lambda: sender.publish(Float64(data=1.0)))
    assert LeanExecutor(node).incompatibility() == ""

    def other(*_):
        raise TypeError("WaitSet takes 9 arguments")

    monkeypatch.setattr("robodyn_ros.executor.Waiting", other)
    ended = threading.Thread(target=lambda: suppress_shutdown(node), daemon=True)
    ended.start()
    wait_until(lambda: received)
    rclpy.try_shutdown()
    ended.join(PATIENCE)
    reported = capfd.readouterr().err
    assert "rclpy's own executor" in reported
    assert "TypeError" in reported


def suppress_shutdown(node):
    with suppress(ExternalShutdownException):
        spin(node)


def answered(answer):
    answer.success, answer.message = True, "served"
    return answer


@pytest.mark.parametrize("with_info", [False, True])
def test_every_message_is_handed_over_once_and_in_order(spinning, with_info):
    node, _ = spinning
    received, sent = [], []

    def receive(message, info):
        received.append(message)
        sent.append(info["source_timestamp"])

    node.create_subscription(Float64, "many", receive if with_info else received.append, KEPT)
    publisher = node.create_publisher(Float64, "many", KEPT)
    wait_until(publisher.get_subscription_count)
    for number in range(2000):
        publisher.publish(Float64(data=float(number)))
    wait_until(lambda: len(received) >= 2000)
    assert [message.data for message in received] == list(range(2000))
    assert sent == sorted(sent)


def test_the_executor_reacts_at_once_to_entities_of_other_threads(spinning, monkeypatch):
    """Not only when it looks at what can wait, which here it does once in an hour."""
    node, executor = spinning
    monkeypatch.setattr("robodyn_ros.executor.SELDOM", 3600.0)
    time.sleep(2 * SELDOM)
    for index in range(10):
        received, done = [], []
        publisher = node.create_publisher(Float64, f"new{index}", KEPT)
        subscription = node.create_subscription(Float64, f"new{index}", received.append, KEPT)
        wait_until(publisher.get_subscription_count)
        publisher.publish(Float64(data=1.0))
        wait_until(lambda received=received: received)
        executor.create_task(done.append, index)
        wait_until(lambda done=done: done)
        guard = node.create_guard_condition(lambda done=done: done.append("guard"))
        guard.trigger()
        wait_until(lambda done=done: len(done) == 2)
        node.destroy_guard_condition(guard)
        node.destroy_subscription(subscription)
    assert list(node.subscriptions) == []


def test_a_subscription_that_a_callback_destroys_receives_no_more(node):
    """Even of a message that has come already."""
    received = []
    publishers = [node.create_publisher(Float64, name, KEPT) for name in ("first", "second")]
    node.create_subscription(Float64, "first", lambda _: node.destroy_subscription(second), KEPT)
    second = node.create_subscription(Float64, "second", received.append, KEPT)
    wait_until(lambda: all(p.get_subscription_count() for p in publishers))
    for publisher in publishers:
        publisher.publish(Float64())
    time.sleep(0.2)
    with ExitStack() as held:
        waiting = Waiting(node, [], held, Refusals(node))
        waiting.wait(1.0)
        assert not waiting.is_current()
    assert received == []
    take_and_dispatch(second, False, Refusals(node))
    assert received == []


def test_an_exception_in_a_timer_callback_ends_spinning(node):
    def fail():
        raise ValueError("on purpose")

    node.create_timer(0.01, fail)
    with pytest.raises(ValueError, match="on purpose"):
        LeanExecutor(node).spin()


def test_ticks_that_take_longer_than_their_period_leave_time_for_messages(node):
    """A busy computer must not make a machine deaf to an emergency stop."""
    ticks = []

    def tick():
        ticks.append(time.sleep(0.003))
        assert len(ticks) < 100, "nothing else is executed"

    def receive(message):
        raise Finished(0, "received")

    publisher = node.create_publisher(Float64, "number", RELIABLE)
    node.create_subscription(Float64, "number", receive, RELIABLE)
    node.create_timer(0.01, lambda: (ticks.clear(), publisher.publish(Float64(data=1.0))))
    _ = Ticks(node, 500.0, tick)
    with pytest.raises(Finished):
        LeanExecutor(node).spin()


def test_ticks_of_a_process_that_is_interrupted_between_its_clocks_keep_their_time(node):
    """The time that passes in between is no change of the clock."""
    times, changes, delays = [], [], iter([0.0] * 40 + [0.5] * 2)

    def tick():
        times.append(ticks.time)
        if len(times) > 100:
            raise Finished(0)

    class InterruptedClock:
        def now(self):
            time.sleep(next(delays, 0.0))
            return node.get_clock().now()

    ticks = Ticks(node, 500.0, tick, set_clock=changes.append)
    ticks._clock = InterruptedClock()
    with pytest.raises(Finished):
        LeanExecutor(node).spin()
    assert changes == []
    assert all(later > earlier for earlier, later in pairwise(times))


@pytest.mark.parametrize("kind", ["lean", "single"])
def test_a_message_that_a_callback_fails_for_is_dropped_and_logged_a_few_times(
    node, monkeypatch, kind
):
    """Also on topics that rclpy itself subscribes to; what a callback ends on purpose ends."""
    monkeypatch.setenv(VARIABLE, kind)
    count, lines = 0, []

    def fail(_):
        nonlocal count
        count += 1
        if count == 200:
            raise Finished(7)
        raise OverflowError("x" * 100_000)

    logger = node.get_logger()
    monkeypatch.setattr(type(node), "get_logger", lambda _: logger)
    monkeypatch.setattr(logger, "error", lines.append)
    node.create_subscription(Float64, "x", fail, KEPT)
    publisher = node.create_publisher(Float64, "x", KEPT)
    node.create_timer(0.001, lambda: publisher.publish(Float64()))
    with pytest.raises(Finished):
        spin(node)
    assert 1 <= len(lines) <= 10
    assert all("x dropped" in line and "OverflowError" in line for line in lines)
    assert max(map(len, lines)) < 1000


def test_a_clock_before_1970_is_refused_and_the_next_one_counts(node, monkeypatch):
    lines, logger = [], node.get_logger()
    monkeypatch.setattr(type(node), "get_logger", lambda _: logger)
    monkeypatch.setattr(logger, "error", lines.append)
    node.set_parameters([Parameter("use_sim_time", value=True)])
    publisher = node.create_publisher(Clock, "/clock", KEPT)
    sent = 0

    def send():
        nonlocal sent
        sent += 1
        publisher.publish(Clock(clock=Time(sec=-5 if sent % 2 else sent)))
        if node.get_clock().now().nanoseconds >= 20 * 10**9:
            raise Finished(0)

    steady_timer(node, 0.001, send)
    with pytest.raises(Finished):
        spin(node)
    assert "/clock refused" in lines[0]
    assert not any("unexpected" in line for line in lines)


def test_a_flood_of_refusals_is_one_line_per_period_with_their_number(node, monkeypatch):
    now, lines = [0.0], []
    monkeypatch.setattr("robodyn_ros.refusals.time.monotonic", lambda: now[0])
    logger = node.get_logger()
    monkeypatch.setattr(type(node), "get_logger", lambda _: logger)
    monkeypatch.setattr(logger, "error", lines.append)
    refusals = Refusals(node)
    for _ in range(1000):
        refusals.add("flooded", "refused: \x1b[31m" + "n" * 100_000 + "\ud800\nnext")
        now[0] += 0.05  # 50 s in all
    refusals.add("other", "refused: nothing")
    assert AT_ONCE <= len(lines) - 1 <= AT_ONCE + 50.0 / PERIOD
    assert "other refused: nothing" in lines[-1]
    # messages that were not logged are counted, except those since the last line
    counted = [int(n) for line in lines for n in re.findall(r"\((\d+) more", line)]
    assert 1000 - PERIOD / 0.05 <= sum(counted) + len(lines) - 1 <= 1000
    assert all(line.isprintable() and len(line) < 700 for line in lines)


@pytest.mark.parametrize("kind", ["lean", "single"])
def test_a_shutdown_that_wakes_nobody_ends_it_all_the_same(node, monkeypatch, kind):
    """A signal may come to that: the wake-up first, and then, too late, the shutdown."""
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
    assert executor_name() == KINDS[0] == "lean"
    monkeypatch.setenv(VARIABLE, "single")
    assert executor_name() == "single"
    monkeypatch.setenv(VARIABLE, "fast")
    with pytest.raises(InvalidInput, match="ROBODYN_EXECUTOR is 'fast', expected lean, single"):
        executor_name()
