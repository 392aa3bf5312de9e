# SPDX-License-Identifier: Apache-2.0

"""recorder where ROS is: rosbag2 writes the bag, and the package rosbags is not needed."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
import yaml
from recorder_run import Run, messages_of
from ros_harness import LATCHED
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64, String

from robodyn_ros import messages

pytestmark = pytest.mark.ros
SECOND = messages.NANOSECONDS
STAND_IN = Path(__file__).with_name("stand_ins")


@pytest.fixture
def with_rosbag2(tmp_path, monkeypatch):
    """A recorder in a process that has rosbag2, and in which rosbags cannot be imported."""
    hidden = tmp_path / "hidden" / "rosbags"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('No module named rosbags')\n")
    path = [str(hidden.parent), str(STAND_IN), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    runs = []

    def start(**parameters):
        runs.append(Run(tmp_path, parameters))
        return runs[-1]

    yield start
    for run in runs:
        run.close()


def test_rosbag2_writes_the_bag(with_rosbag2):
    run = with_rosbag2(compression="zstd")
    description = run.publisher(String, "robot_description", LATCHED)
    description.publish(String(data="<robot/>"))
    clock = run.publisher(Clock, "/clock")
    numbers = run.publisher(Float64, "numbers")
    sent = [Float64(data=float(k)) for k in range(50)]
    for k, message in enumerate(sent):
        clock.publish(Clock(clock=messages.to_stamp(10 * SECOND + k * 5_000_000)))
        numbers.publish(message)
        run.peer.spin(0.001)
    run.finish()

    bag = run.folder / "bag"
    whole = pickle.loads((bag / "bag.pickle").read_bytes())
    found: dict[str, list[tuple[int, bytes]]] = {}
    for topic, stamp, data in whole["messages"]:
        found.setdefault(topic, []).append((stamp, data))
    assert messages_of(found["/numbers"], Float64) == sent
    assert all(10 * SECOND <= stamp < 11 * SECOND for stamp, _ in found["/numbers"])
    assert messages_of(found["/robot_description"], String) == [String(data="<robot/>")]
    topics = whole["topics"]
    assert len({topic["id"] for topic in topics.values()}) == len(topics)
    assert topics["/numbers"]["type"] == "std_msgs/msg/Float64"
    assert topics["/numbers"]["type_description_hash"].startswith("RIHS01_")
    transient_local, volatile = 1, 2  # of rmw
    (offered,) = topics["/robot_description"]["offered_qos_profiles"]
    assert offered["durability"] == transient_local
    (offered,) = topics["/numbers"]["offered_qos_profiles"]
    assert offered["durability"] == volatile
    assert whole["options"]["storage_id"] == "mcap"
    assert whole["options"]["storage_preset_profile"] == "zstd_fast"
    assert "lost_messages" in yaml.safe_load((bag / "metadata.yaml").read_text())["custom_data"]


def test_a_bag_that_is_there_is_not_written_over(with_rosbag2, tmp_path):
    (tmp_path / "bag").mkdir()
    process = with_rosbag2().process
    assert process.wait() == 1
    (fatal,) = [line for line in process.lines if "[FATAL]" in line]
    assert "already exists" in fatal
    assert "Traceback" not in process.output
