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

"""TFMessage's bytes and hash against rosbags, and the tree of frames against scipy."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pytest.importorskip("rclpy")
import rclpy
from geometry_msgs.msg import TransformStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.time import Time
from rosbags.typesys import Stores, get_typestore
from tf2_msgs.msg import TFMessage
from tf2_msgs.type_support import HASH
from tf2_ros import (
    Buffer,
    ConnectivityException,
    ExtrapolationException,
    LookupException,
    TransformBroadcaster,
    TransformListener,
)

NAME = "tf2_msgs/msg/TFMessage"


def transform(parent, child, numbers, stamp=0):
    made = TransformStamped(child_frame_id=child)
    made.header.frame_id = parent
    made.header.stamp.sec = stamp
    t, q = made.transform.translation, made.transform.rotation
    t.x, t.y, t.z, q.x, q.y, q.z, q.w = (float(value) for value in numbers)
    return made


def random_numbers(rng):
    return [*rng.normal(size=3), *Rotation.random(random_state=rng).as_quat()]


def matrix(numbers):
    made = np.identity(4)
    made[:3, :3], made[:3, 3] = Rotation.from_quat(numbers[3:]).as_matrix(), numbers[:3]
    return made


def numbers_of(found):
    t, q = found.transform.translation, found.transform.rotation
    return [t.x, t.y, t.z, q.x, q.y, q.z, q.w]


def test_the_type_is_the_one_that_ros_2_has():
    assert get_typestore(Stores.ROS2_JAZZY).hash_rihs01(NAME) == f"RIHS01_{HASH}"


@pytest.mark.parametrize("frames", [[], [("a", "b")], [("map", "x" * k) for k in range(1, 12)]])
def test_messages_are_written_and_read_as_others_do(rng, frames):
    """Names of every length, for what follows a string is aligned."""
    message = TFMessage(
        transforms=[transform(p, c, random_numbers(rng), k) for k, (p, c) in enumerate(frames)]
    )
    store = get_typestore(Stores.ROS2_JAZZY)
    theirs = store.deserialize_cdr(bytes(message), NAME)
    assert [t.child_frame_id for t in theirs.transforms] == [c for _, c in frames]
    for ours, other in zip(message.transforms, theirs.transforms, strict=True):
        assert other.header.stamp.sec == ours.header.stamp.sec
        np.testing.assert_array_equal(numbers_of(other), numbers_of(ours))
    for little in (True, False):
        data = bytes(store.serialize_cdr(theirs, NAME, little_endian=little))
        assert TFMessage.from_bytes(data) == message


def test_bytes_that_are_no_message_are_refused(rng):
    good = bytes(TFMessage(transforms=[transform("a", "b", random_numbers(rng))]))
    for cut in range(len(good)):
        with pytest.raises(ValueError, match=r"."):
            TFMessage.from_bytes(good[:cut])
    with pytest.raises(ValueError, match="cannot hold"):
        TFMessage.from_bytes(good[:4] + b"\xff\xff\xff\xff" + good[8:])


def test_transforms_compose_along_the_tree(rng):
    numbers = {name: random_numbers(rng) for name in "abcd"}
    buffer = Buffer()
    for parent, child in ("wa", "ab", "wc", "cd"):
        buffer.set_transform(transform(parent, child, numbers[child], ord(child)), "test")
    found = buffer.lookup_transform("d", "b", Time())
    w_b = matrix(numbers["a"]) @ matrix(numbers["b"])
    w_d = matrix(numbers["c"]) @ matrix(numbers["d"])
    np.testing.assert_allclose(
        matrix(numbers_of(found)), np.linalg.solve(w_d, w_b), rtol=0, atol=1e-12
    )
    # as old as the oldest on the way
    assert found.header.stamp.sec == ord("a")
    assert (found.header.frame_id, found.child_frame_id) == ("d", "b")
    same = buffer.lookup_transform("b", "b", Time())
    np.testing.assert_allclose(matrix(numbers_of(same)), np.identity(4), atol=1e-15)


def test_what_cannot_be_looked_up_says_why():
    buffer = Buffer()
    one = [0, 0, 0, 0, 0, 0, 1]
    for parent, child in ("wa", "xb", "pq", "qp"):
        buffer.set_transform(transform(parent, child, one, 1), "test")
    with pytest.raises(LookupException, match=r'"nobody".*does not exist'):
        buffer.lookup_transform("a", "nobody", Time())
    with pytest.raises(ConnectivityException, match="two or more unconnected trees"):
        buffer.lookup_transform("a", "b", Time())
    with pytest.raises(LookupException, match="loop"):
        buffer.lookup_transform("p", "q", Time())
    with pytest.raises(ExtrapolationException, match="latest"):
        buffer.lookup_transform("w", "a", Time(seconds=3))


@pytest.mark.parametrize(
    "numbers", [[np.nan, 0, 0, 0, 0, 0, 1], [0] * 7, [0, 0, 0, 0, 0, 0, 2], [np.inf] * 7]
)
def test_a_transform_that_is_none_is_not_taken(numbers):
    buffer = Buffer()
    buffer.set_transform(transform("a", "b", numbers), "test")
    buffer.set_transform(transform("b", "b", [0, 0, 0, 0, 0, 0, 1]), "test")
    assert buffer.all_frames_as_string() == ""


def test_what_is_broadcast_is_heard(rng, monkeypatch):
    """One transform or several, from node to node."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(rng.integers(100)))
    numbers = {name: random_numbers(rng) for name in "abc"}
    context = rclpy.Context()
    context.init()
    node = rclpy.create_node("both", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        buffer, sky = Buffer(), TransformBroadcaster(node)
        TransformListener(buffer, node)
        a, b, c = (transform("w", name, numbers[name], 1) for name in "abc")
        deadline = time.monotonic() + 20.0
        while not all(buffer.can_transform("w", name, Time()) for name in "abc"):
            assert time.monotonic() < deadline
            sky.sendTransform(a)
            sky.sendTransform([b, c])
            executor.spin_once(timeout_sec=0.05)
        for name in "abc":
            found = numbers_of(buffer.lookup_transform("w", name, Time()))
            np.testing.assert_allclose(matrix(found), matrix(numbers[name]), rtol=0, atol=1e-12)
    finally:
        executor.shutdown()
        node.destroy_node()
        context.shutdown()
