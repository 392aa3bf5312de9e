# SPDX-License-Identifier: Apache-2.0

"""Losses by the numbers of messages, and writers that wait rather than lose."""

from __future__ import annotations

import pytest
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile

from robodyn_ros import qos
from robodyn_ros.losses import Losses, StateFlow
from robodyn_ros.parameters import elect_logger
from robodyn_ros.runner import Finished

pytestmark = pytest.mark.ros


def test_gaps_are_counted_by_topic_and_reported_once():
    losses = Losses(lambda topic: False)
    first = [losses.count_message("/a", n) for n in (5, 6, 9, 10, 12)]
    assert first == [False, False, True, False, False]
    assert not any(losses.count_message("/b", n) for n in (1, 2, 3))
    assert losses.lost == {"/a": 3}
    assert losses.text == "/a 3"


def test_a_topic_of_several_publishers_is_not_counted():
    losses = Losses(lambda topic: False)
    for number in (1, 2, 40, 3, 41, 90):
        losses.count_message("/diagnostics", number)
    assert losses.lost == {}
    assert losses.text == "none"


def test_a_second_publisher_with_larger_numbers_has_lost_nothing():
    """Nodes that have published for a while are met one after the other, as at a busy start."""
    losses = Losses(lambda topic: topic == "/rosout")
    assert not any(losses.count_message("/rosout", number) for number in (3, 4, 9, 5, 10))
    assert losses.count_message("/joint_states", 3) is False
    assert losses.count_message("/joint_states", 9) is True
    assert losses.lost == {"/joint_states": 5}


def test_what_was_counted_is_forgotten_once_there_is_another_publisher():
    losses = Losses(lambda topic: False)
    for number in (3, 9):
        losses.count_message("/diagnostics", number)
    losses.exclude("/diagnostics")
    assert not losses.count_message("/diagnostics", 20)
    assert losses.text == "none"


def test_without_numbers_nothing_is_known():
    losses = Losses(lambda topic: False)
    assert not losses.count_message("/none", None)
    assert not losses.count_message("/none", 7)
    assert losses.lost == {}
    assert losses.text.startswith("unknown")


@pytest.mark.parametrize("jitter", [0, 700_000])
def test_states_that_a_busy_machine_loses_are_counted(jitter):
    flow, period = StateFlow(), 5_000_000
    for k in range(200):
        if k not in {40, 41, 42, 90}:
            flow.take(k * period + (jitter if k % 2 else 0))
    assert (flow.received, flow.lost, flow.late) == (196, 4, 0)
    assert flow.longest == pytest.approx(0.02, abs=1e-3)
    assert flow.text.startswith("4 of 200 states lost, 0 late")


def test_states_out_of_order_are_late_and_a_clock_set_back_begins_anew():
    flow = StateFlow()
    for k in (*range(30), 31, 30, 32, 32, *range(33, 50), *range(40)):
        flow.take(k * 5_000_000)
    # number 30 was missed when 31 came, and came too late
    assert (flow.lost, flow.late) == (1, 1)
    assert StateFlow().text == ""


def test_a_trajectory_that_is_begun_too_late_is_said():
    flow = StateFlow()
    flow.begun_late = 0.62
    assert "trajectory" in flow.text
    assert "0.62 s" in flow.text


def test_elect_logger_elects_one_of_many_processes(tmp_path):
    file = tmp_path / "voice"
    with elect_logger(file) as first:
        with elect_logger(file) as second:
            assert (first, second) == (True, False)
        with elect_logger(None) as alone:
            assert alone
    with elect_logger(file) as third:
        assert third


class Stuck:
    """Node and publisher at once, full for a number of calls."""

    topic_name = "/state"

    def __init__(self, profile: QoSProfile, full: int) -> None:
        self.qos_profile, self.full, self.sent = profile, full, []
        self.context = self
        self.warnings = 0

    def publish(self, message):
        if self.full:
            self.full -= 1
            raise rclpy_implementation.RCLError("cannot publish data")
        self.sent.append(message)

    def ok(self):
        return True

    def get_logger(self):
        return self

    def warning(self, *_, **__):
        self.warnings += 1

    def get_subscription_count(self):
        return 3


def test_a_writer_that_keeps_all_waits_for_the_slowest():
    stuck = Stuck(qos.LOSSLESS, full=5)
    qos.sender(stuck, stuck)("state")
    assert stuck.sent == ["state"]
    assert stuck.warnings == 5


def test_a_publisher_does_not_wait_for_a_reader_for_ever(monkeypatch):
    monkeypatch.setattr(qos, "PATIENCE", 0.0)
    stuck = Stuck(qos.LOSSLESS, full=10**9)
    with pytest.raises(Finished, match="3 subscribers"):
        qos.sender(stuck, stuck)("state")


def test_other_writers_never_wait():
    stuck = Stuck(qos.STATE, full=1)
    with pytest.raises(rclpy_implementation.RCLError):
        qos.sender(stuck, stuck)("state")
