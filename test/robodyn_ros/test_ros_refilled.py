# SPDX-License-Identifier: Apache-2.0

"""Reused messages have the content of new ones, and nothing of earlier ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from message_makers import joint_state, odometry
from rclpy.serialization import deserialize_message, serialize_message
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState

from robodyn.errors import InvalidInput
from robodyn_ros import messages
from robodyn_ros.messages import JointStateMessage, MultiArrayMessage, OdometryMessage

pytestmark = pytest.mark.ros
NAMES = ("a", "b", "c")


def received(message: Any) -> Any:
    """The message that a subscriber gets; bytes between its fields may have any value."""
    return deserialize_message(serialize_message(message), type(message))


def test_joint_states_and_odometry_are_those_made_anew(rng):
    joints, refilled = JointStateMessage(NAMES), OdometryMessage(("base", "body"))
    for stamp in (0, 999_999_999, 1_000_000_001, 12_345_678_901, 2**31 * 10**9 + 3, -(10**20)):
        values = rng.normal(size=(3, 3))
        fresh = joint_state(stamp, NAMES, *values)
        assert received(joints.filled(stamp, *values)) == fresh
        turn = Rotation.random(random_state=rng).as_quat()
        pose, twist = np.concatenate([rng.normal(size=3), turn]), rng.normal(size=6)
        fresh = odometry(stamp, ("base", "body"), pose, twist)
        assert received(refilled.filled(stamp, pose, twist)) == fresh


def test_efforts_alone_leave_the_other_lists_empty(rng):
    effort = rng.normal(size=6)[::2]  # not contiguous
    message = JointStateMessage(NAMES).filled(7, effort=effort)
    assert message.effort.tolist() == effort.tolist()
    assert not message.position
    assert not message.velocity
    assert MultiArrayMessage().filled(effort).data.tolist() == effort.tolist()


def test_joints_are_mapped_by_name_whatever_order_comes_next(rng):
    """One publisher after another, each with its own order, some with more joints or fewer."""
    expected = tuple("abcdef")
    for _ in range(50):
        given = [*rng.permutation([*expected, "x", "y"])]
        values = rng.normal(size=8)
        message = JointState(name=[str(name) for name in given], effort=values.tolist())
        where = dict(zip(given, values, strict=True))
        found = messages.joint_values(message, expected, "effort")
        assert found.tolist() == [where[name] for name in expected]
        del message.name[given.index("b")]
        message.effort = message.effort[:7]
        with pytest.raises(InvalidInput, match="no effort for joint b"):
            messages.joint_values(message, expected, "effort")


def test_the_last_value_of_a_joint_named_twice_counts():
    message = JointState(name=["a", "b", "a", "c"], effort=[1.0, 2.0, 3.0, 4.0])
    assert messages.joint_values(message, NAMES, "effort").tolist() == [3.0, 2.0, 4.0]
