# SPDX-License-Identifier: Apache-2.0

"""recorder: what was published is in the bag, with all that players need."""

from __future__ import annotations

import json
import math
import os
import re
import resource
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import yaml
from ament_index_python.packages import get_package_share_directory
from builtin_interfaces.msg import Time
from message_makers import joint_state, odometry
from nav_msgs.msg import Odometry
from recorder_run import contents, messages_of
from ros_harness import LATCHED, Process, executable, free_domain, ros_arguments
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String

from robodyn.errors import IncompleteBagWarning, InvalidInput
from robodyn.extras import how_to_install
from robodyn.formats import read_bag
from robodyn_ros import messages
from robodyn_ros.bag_writer import BagClock, BagWriter, RecordingFailed
from robodyn_ros.recorded_transforms import transforms_are_missing
from robodyn_ros.recorder import _message_class

highlevel = pytest.importorskip("rosbags.highlevel", reason="the extra `record` is not installed")

pytestmark = pytest.mark.ros
SECOND = messages.NANOSECONDS


def test_all_that_is_published_in_simulated_time_is_in_the_bag(record, mechanism, rng):
    run = record()
    description = run.publisher(String, "robot_description", LATCHED)
    description.publish(String(data="<robot/>"))
    clock = run.publisher(Clock, "/clock")
    states = run.publisher(Odometry, "platform_state")
    joints = run.publisher(JointState, "left/joint_states")
    sent: dict[str, list[object]] = {"/platform_state": [], "/left/joint_states": []}
    for k in range(300):
        clock.publish(Clock(clock=messages.to_stamp(10 * SECOND + k * 5_000_000)))
        twist = rng.normal(size=6)
        state = odometry(k, mechanism.frames, mechanism.home, twist)
        joint = joint_state(k, [f"joint{k}"], *twist[:3, None])
        for publisher, message in ((states, state), (joints, joint)):
            publisher.publish(message)
            sent["/" + publisher.topic_name.strip("/")].append(message)
        run.peer.spin(0.001)
    # a topic that comes late is recorded, too
    late = run.publisher(Float64, "condition_number")
    late.publish(Float64(data=12.5))
    run.finish()

    bag = run.folder / "bag"
    found = contents(bag)
    for topic, given in sent.items():
        assert messages_of(found[topic], type(given[0])) == given
    for recorded in found.values():
        assert all(10 * SECOND <= stamp <= 12 * SECOND for stamp, _ in recorded)
    stamps = [stamp for stamp, _ in found["/platform_state"]]
    assert stamps == sorted(stamps)
    assert len(set(stamps)) > 100

    # the typed reader needs nothing but the bag
    with highlevel.AnyReader([bag]) as reader:
        assert reader.typestore.fielddefs
        by_topic = {c.topic: c for c in reader.connections}
        for connection, _, raw in reader.messages([by_topic["/platform_state"]]):
            state = reader.deserialize(raw, connection.msgtype)
            assert state.child_frame_id == mechanism.frames[1]
            assert state.pose.pose.position.z == mechanism.home[2]
        (connection, _, raw), *_ = reader.messages([by_topic["/robot_description"]])
        assert reader.deserialize(raw, connection.msgtype).data == "<robot/>"
        (connection, _, raw), *_ = reader.messages([by_topic["/condition_number"]])
        assert reader.deserialize(raw, connection.msgtype).data == 12.5
        latched = by_topic["/robot_description"].ext.offered_qos_profiles[0]
        assert latched.durability.name == "TRANSIENT_LOCAL"
        assert latched.reliability.name == "RELIABLE"
        volatile = by_topic["/condition_number"].ext.offered_qos_profiles[0]
        assert volatile.durability.name == "VOLATILE"
    check_metadata(bag, found)


# REP-2016, of tf2_msgs/msg/TFMessage as ROS 2 has it from Iron to Lyrical
TF_HASH = "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"


@pytest.mark.skipif(not transforms_are_missing(), reason="with tf2 they are recorded as broadcast")
def test_without_tf2_the_transforms_are_made_from_the_states(record_here, mechanism, rng):
    run = record_here()
    clock = run.publisher(Clock, "/clock")
    states = run.publisher(Odometry, "platform_state")
    sent = []
    for k in range(50):
        clock.publish(Clock(clock=messages.to_stamp(SECOND + k * 5_000_000)))
        pose = rng.normal(size=7)
        pose[3:] /= np.linalg.norm(pose[3:])
        sent.append(odometry(SECOND + k, mechanism.frames, pose, np.zeros(6)))
        states.publish(sent[-1])
        run.spin(0.001)
    found = run.finish()

    assert any("/tf written from /platform_state" in line for line in run.lines)
    bag = run.folder / "bag"
    assert [stamp for stamp, _ in found["/tf"]] == [stamp for stamp, _ in found["/platform_state"]]
    check_metadata(bag, found)
    with highlevel.AnyReader([bag]) as reader:
        (connection,) = (each for each in reader.connections if each.topic == "/tf")
        assert (connection.msgtype, connection.digest) == ("tf2_msgs/msg/TFMessage", TF_HASH)
        reported = [
            transform
            for _, _, raw in reader.messages([connection])
            for transform in reader.deserialize(raw, connection.msgtype).transforms
        ]
    assert len(reported) == len(sent)
    for transform, state in zip(reported, sent, strict=True):
        assert transform.header.stamp.sec == state.header.stamp.sec
        assert transform.header.stamp.nanosec == state.header.stamp.nanosec
        assert (transform.header.frame_id, transform.child_frame_id) == mechanism.frames
        place, q = transform.transform.translation, transform.transform.rotation
        numbers = [place.x, place.y, place.z, q.x, q.y, q.z, q.w]
        assert numbers == messages.pose_array(state.pose.pose).tolist()


@pytest.mark.skipif(not transforms_are_missing(), reason="with tf2 they are recorded as broadcast")
@pytest.mark.parametrize("parameter", [{"exclude": "[/tf]"}, {"topics": "[platform_state]"}])
def test_transforms_that_no_node_requests_are_not_made(record_here, mechanism, parameter):
    run = record_here(parameter)
    states = run.publisher(Odometry, "platform_state")
    states.publish(odometry(1, mechanism.frames, mechanism.home, np.zeros(6)))
    found = run.finish()
    assert "/platform_state" in found
    assert "/tf" not in found


def check_metadata(bag: Path, found: dict[str, list[tuple[int, bytes]]]) -> None:
    """Check that metadata.yaml describes the bag, as rosbag2 from Humble on reads it."""
    reported = yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    stamps = [stamp for recorded in found.values() for stamp, _ in recorded]
    assert reported["version"] == 8
    assert reported["storage_identifier"] == "mcap"
    assert [Path(p).name for p in reported["relative_file_paths"]] == [
        p.name for p in bag.glob("*.mcap")
    ]
    assert reported["message_count"] == len(stamps)
    assert reported["starting_time"]["nanoseconds_since_epoch"] == min(stamps)
    assert reported["duration"]["nanoseconds"] == max(stamps) - min(stamps)
    counts = {
        t["topic_metadata"]["name"]: t["message_count"]
        for t in reported["topics_with_message_count"]
    }
    assert {topic: count for topic, count in counts.items() if count} == {
        topic: len(recorded) for topic, recorded in found.items()
    }
    for topic in reported["topics_with_message_count"]:
        meta = topic["topic_metadata"]
        assert meta["serialization_format"] == "cdr"
        assert meta["type_description_hash"] == installed_hash(meta["type"])
        assert yaml.safe_load(meta["offered_qos_profiles"])[0]["reliability"] in (1, 2)


def installed_hash(name: str) -> str:
    """Return the hash that rosidl computed when the package was built."""
    if name == "tf2_msgs/msg/TFMessage":  # which may not be installed
        return TF_HASH
    package, folder, kind = name.split("/")
    path = Path(get_package_share_directory(package), folder, f"{kind}.json")
    hashes = json.loads(path.read_text())["type_hashes"]
    return next(h["hash_string"] for h in hashes if h["type_name"] == name)


def test_chosen_topics_by_the_wall_clock_compressed(record):
    run = record(
        {"topics": "[chosen, absent]", "compression": "zstd", "time": "wall", "name": "'7'"},
        "-r",
        "__ns:=/robot",
    )
    chosen = run.publisher(Float64, "/robot/chosen")
    other = run.peer.node.create_publisher(Float64, "/robot/other", 10)
    for k in range(50):
        chosen.publish(Float64(data=float(k)))
        other.publish(Float64(data=-1.0))
        run.peer.spin(0.002)
    run.finish()
    found = contents(run.folder / "7")
    assert list(found) == ["/robot/chosen"]
    values = [message.data for message in messages_of(found["/robot/chosen"], Float64)]
    assert values == list(range(50))
    mtime = (run.folder / "7" / "metadata.yaml").stat().st_mtime_ns
    assert all(mtime - 60 * SECOND < stamp < mtime for stamp, _ in found["/robot/chosen"])


def test_a_bag_is_never_written_over(record, tmp_path):
    (tmp_path / "bag").mkdir()
    process = record().process
    assert process.wait() == 1
    fatal = [line for line in process.lines if "[FATAL]" in line]
    assert len(fatal) == 1
    assert "exists already" in fatal[0]
    assert "Traceback" not in process.output


def test_without_rosbags_one_line_says_how_to_install_it(tmp_path, monkeypatch):
    """A package of that name that cannot be imported stands for none."""
    hidden = tmp_path / "hidden" / "rosbags"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('No module named rosbags')\n")
    path = os.pathsep.join([str(hidden.parent), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)
    process = Process([executable("recorder"), *ros_arguments({"output": tmp_path})], free_domain())
    assert process.wait() == 1
    fatal = [line for line in process.lines if "[FATAL]" in line]
    assert len(fatal) == 1
    assert how_to_install("record") in fatal[0]
    assert "Traceback" not in process.output
    assert not list(tmp_path.glob("rosbag2*"))


def test_a_type_that_rosbags_does_not_have_is_named(tmp_path):
    bag = BagWriter(tmp_path / "bag")
    with pytest.raises(InvalidInput, match="no definition of message type no_msgs/msg/Thing"):
        bag.add_topic("/a", "no_msgs/msg/Thing", [])
    bag.close()


def test_messages_before_the_first_tick_get_its_time():
    written = []
    clock = BagClock("auto", lambda *row: written.append(row))
    clock.take(0, 99, 99, b"a")
    clock.take(1, 100, 100, b"b")
    assert written == []
    assert not clock.tick(5, 101)
    clock.take(0, 102, 102, b"c")
    assert not clock.tick(6, 103)
    # received late: it was sent before the second tick
    clock.take(0, 102, 200, b"d")
    clock.take(0, 103, 103, b"e")
    assert clock.tick(2, 104)
    clock.use_wall_clock()
    clock.take(0, 105, 105, b"f")
    assert [row[:2] for row in written] == [(0, 5), (1, 5), (0, 5), (0, 5), (0, 6), (0, 2)]
    assert b"".join(row[2] for row in written) == b"abcdef"
    assert clock.source == "sim"


@pytest.mark.parametrize("source", ["auto", "sim", "wall"])
def test_without_a_tick_the_wall_clock_counts(source):
    written = []
    clock = BagClock(source, lambda *row: written.append(row))
    clock.take(0, 99, 99, b"a")
    clock.use_wall_clock()
    clock.take(0, 100, 100, b"b")
    # a clock that comes too late does not mix its time in
    clock.tick(5, 101)
    clock.take(0, 101, 101, b"c")
    assert written == [(0, 99, b"a"), (0, 100, b"b"), (0, 101, b"c")]


def test_the_queue_of_the_recorder_is_bounded():
    written = []
    clock = BagClock("auto", lambda *row: written.append(row), most_held=1000)
    for k in range(20):
        clock.take(0, k, k, bytes(100))
    assert [stamp for _, stamp, _ in written] == list(range(20))


def test_a_disk_that_fails_is_reported_once(tmp_path, monkeypatch):
    bag = BagWriter(tmp_path / "bag")
    topic = bag.add_topic("/a", "std_msgs/msg/String", [])

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bag._storage, "write", full)

    with pytest.raises(RecordingFailed, match="No space left on device"):
        bag.write(topic, 0, bytes(500))
    bag.write(topic, 0, b"")
    bag.close()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")
def test_a_bag_that_cannot_be_completed_is_a_failure(record):
    """Ctrl-C comes, and the disk takes no more: the launch must not call that a recorded run."""
    run = record()
    publisher = run.publisher(String, "notes")
    publisher.publish(String(data="x" * 50_000))
    run.process.wait_for_line("recording to")
    run.peer.spin(0.5)
    run.peer.partners.clear()
    resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    run.process.signal(signal.SIGINT)
    assert run.process.wait() == 1, run.process.output
    fatal = [line for line in run.process.lines if "[FATAL]" in line]
    assert len(fatal) == 1
    assert str(run.folder / "bag") in fatal[0]
    # if coverage is measured, its file cannot be written either, with a long message
    assert "robodyn_ros/" not in "".join(re.findall(r'File "(.*)"', run.process.output))


FLOOD = """
import os, rclpy
from std_msgs.msg import String

rclpy.init()
notes = rclpy.create_node("flood").create_publisher(String, "notes", 10)
message = String(data=os.urandom(100_000).hex())
while True:
    notes.publish(message)
"""


def test_a_recorder_ends_on_ctrl_c_while_others_send_faster_than_it_takes(record):
    run = record({"time": "wall", "compression": "zstd"})
    floods = [Process([sys.executable, "-c", FLOOD], run.peer.domain) for _ in range(2)]
    try:
        bag = run.folder / "bag" / "bag.mcap"
        run.peer.until(lambda: bag.exists() and bag.stat().st_size > 5_000_000, "a flood")
        run.peer.partners.clear()
        run.process.signal(signal.SIGINT)
        assert run.process.wait(60.0) == 0
        assert all(flood.alive for flood in floods)
        assert read_bag(run.folder / "bag", is_note).messages
    finally:
        for flood in floods:
            flood.close()


def is_note(topic, _):
    return topic == "/notes"


def read_quietly(bag):
    """Return the part of a bag that `read_bag` recovers; nothing while it has no message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteBagWarning)
        try:
            return read_bag(bag, is_note).messages
        except InvalidInput:
            return []


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_a_recorder_that_is_killed_leaves_what_it_was_sent_until_a_second_before(
    record, compression
):
    run = record({"time": "wall", "compression": compression})
    notes = run.publisher(String, "notes")
    for k in range(50):
        notes.publish(String(data=f"note {k}"))
    bag = run.folder / "bag"
    # small as they are: it does not wait for a megabyte
    run.peer.until(lambda: len(read_quietly(bag)) == 50, "all messages in the file")
    run.peer.partners.clear()
    run.process.signal(signal.SIGKILL)
    run.process.wait()
    assert not (bag / "metadata.yaml").exists()
    with pytest.warns(IncompleteBagWarning):
        found = read_bag(bag, is_note)
    assert [message.data for *_, message in found.messages] == [f"note {k}" for k in range(50)]


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")
def test_a_disk_that_is_full_ends_the_recorder_and_what_was_written_is_read(record):
    run = record({"time": "wall"})
    notes = run.publisher(String, "notes")
    notes.publish(String(data="first"))
    bag = run.folder / "bag"
    run.peer.until(lambda: len(read_quietly(bag)) == 1, "the first message in the file")
    size = (bag / "bag.mcap").stat().st_size
    limit = size + 100_000, resource.RLIM_INFINITY
    resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE, limit)
    run.peer.partners.clear()
    while run.process.alive:
        notes.publish(String(data="x" * 10_000))
        run.peer.spin(0.01)
    assert run.process.wait() == 1
    assert "cannot be written" in run.process.output
    with pytest.warns(IncompleteBagWarning):
        found = read_bag(bag, is_note).messages
    # up to the message at which the disk was full
    assert 8 <= len(found) <= 11
    assert {message.data for *_, message in found} == {"first", "x" * 10_000}


def test_messages_of_any_bytes_and_stamps_cost_neither_the_recorder_nor_the_bag(record_here):
    run = record_here({"time": "auto"})
    clock = run.publisher(Clock, "/clock", listeners=2)
    states = run.publisher(Odometry, "platform_state")
    sound = odometry(SECOND, ("base", "platform"), np.array([0, 0, 1.0, 0, 0, 0, 1]), np.zeros(6))
    clock.publish(messages_at(-5))
    clock.publish(messages_at(3))
    run.spin(0.2)
    for seconds, rest in ((2**31 - 1, 2**32 - 1), (-(2**31), 0), (0, 2**32 - 1)):
        wild = Odometry()
        wild.pose.pose.position.x = math.nan
        for message in (sound, wild):
            message.header.stamp.sec, message.header.stamp.nanosec = seconds, rest
            states.publish(message)
    for data in (b"", b"\0", b"\0\1\0\0\1\0\0\0", b"\xff" * 30, b"\0\1\0\0" + b"\xff" * 100):
        states.publish(data)
    clock.publish(messages_at(-(2**31)))
    states.publish(sound)
    run.until(
        lambda: run.nodes["recorder"]._counts.get("/platform_state", (0, 0))[0] == 12, "all of them"
    )
    recorded = run.finish()
    assert len(recorded["/platform_state"]) == 12
    assert {stamp for stamp, _ in recorded["/platform_state"]} == {3 * SECOND}
    with pytest.warns(IncompleteBagWarning, match="5 of /platform_state"):
        found = read_bag(run.folder / "bag", lambda topic, _: topic == "/platform_state")
    assert len(found.messages) == 7


def messages_at(seconds: int) -> Clock:
    return Clock(clock=Time(sec=seconds))


@pytest.mark.parametrize(
    "name", ["idlelib/idle/main", "os/path/x", "a/msg", "std_msgs/msg/json", "x"]
)
def test_a_type_that_is_no_message_imports_nothing(name):
    modules = set(sys.modules)
    with pytest.raises(InvalidInput, match="is not installed"):
        _message_class(name)
    assert "idlelib.idle" not in sys.modules
    assert not [each for each in set(sys.modules) - modules if "msg" not in each]
