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

"""Losses by the numbers of messages, and writers that wait rather than lose."""

from __future__ import annotations

import pytest
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile

from robodyn_ros import lossless_publishing as sending
from robodyn_ros import qos
from robodyn_ros.losses import Losses
from robodyn_ros.runner import Finished

pytestmark = pytest.mark.ros


def test_gaps_are_counted_by_topic_and_told_once():
    losses = Losses()
    assert [losses.heard("/a", n) for n in (5, 6, 9, 10, 12)] == [False, False, True, False, False]
    assert not any(losses.heard("/b", n) for n in (1, 2, 3))
    assert losses.lost == {"/a": 3}
    assert losses.text == "/a 3"


def test_a_topic_of_several_publishers_is_not_counted():
    losses = Losses()
    for number in (1, 2, 40, 3, 41, 90):
        losses.heard("/diagnostics", number)
    assert losses.lost == {}
    assert losses.text == "none"


def test_without_numbers_nothing_is_known():
    losses = Losses()
    assert not losses.heard("/none", None)
    assert not losses.heard("/none", 7)
    assert losses.lost == {}
    assert losses.text == "not known, the middleware numbers no messages"


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
    sending.sender(stuck, stuck)("state")
    assert stuck.sent == ["state"]
    assert stuck.warnings == 5


def test_it_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(sending, "PATIENCE", 0.0)
    stuck = Stuck(qos.LOSSLESS, full=10**9)
    with pytest.raises(Finished, match="one of its 3 subscribers takes nothing"):
        sending.sender(stuck, stuck)("state")


def test_other_writers_never_wait():
    stuck = Stuck(qos.STATE, full=1)
    with pytest.raises(rclpy_implementation.RCLError):
        sending.sender(stuck, stuck)("state")
