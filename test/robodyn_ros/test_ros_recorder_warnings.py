# SPDX-License-Identifier: Apache-2.0

"""recorder: it warns about data that it cannot record properly, and records all else."""

from __future__ import annotations

import shutil
import signal
import time
from pathlib import Path

import pytest
import yaml
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.utilities import get_rmw_implementation_identifier
from recorder_run import contents, messages_of
from ros_harness import PATIENCE, Peer
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64, Float64MultiArray, String
from visualization_msgs.msg import Marker

import robodyn as rd
from robodyn_ros import messages

pytest.importorskip("rosbags.rosbag2", reason="the extra `record` is not installed")

pytestmark = pytest.mark.ros
SECOND = messages.NANOSECONDS


def tick(seconds: int) -> Clock:
    return Clock(clock=messages.to_stamp(seconds * SECOND))


def stamp_of(recorded: list[tuple[int, bytes]]) -> dict[float, int]:
    """When each number was recorded [ns]."""
    return {
        message.data: stamp
        for (stamp, _), message in zip(recorded, messages_of(recorded, Float64), strict=True)
    }


def test_recorder_records_one_type_of_a_topic_with_two_types(record):
    """The log names it.

    It takes up a state only when it knows what to begin with, which comes after the state's
    publishers: it sees both of them at once.
    """
    run = record({"begin_with": "[one, other]", "clock_wait": 600.0})
    other = Peer(run.peer.domain, "other")  # one participant has one type of a topic
    try:
        numbers = run.peer.node.create_publisher(Float64, "platform_state", 10)
        texts = other.node.create_publisher(String, "platform_state", 10)
        run.peer.publisher(Float64, "one")
        other.publisher(Float64, "other")
        run.process.wait_for_line(
            "[WARN]",
            "/platform_state has several types, std_msgs/msg/Float64, std_msgs/msg/String",
            "only std_msgs/msg/Float64 is recorded",
        )
        run.peer.until(lambda: numbers.get_subscription_count() > 0, "recorder on the numbers")
        texts.publish(String(data="not this one"))
        numbers.publish(Float64(data=7.0))
        run.finish()
    finally:
        other.close()
    found = contents(run.folder / "bag")
    assert [m.data for m in messages_of(found["/platform_state"], Float64)] == [7.0]
    assert run.process.output.count("has several types") == 1


def test_a_topic_of_a_type_that_is_not_installed_is_left_out(record, tmp_path, monkeypatch):
    """A package of that name that cannot be imported stands for none."""
    hidden = tmp_path / "hidden" / "visualization_msgs"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('No module of that name')\n")
    monkeypatch.setenv("PYTHONPATH", str(hidden.parent), prepend=":")
    run = record()
    markers = run.peer.node.create_publisher(Marker, "marker", 10)
    run.process.wait_for_line(
        "[WARN]", "/marker is not recorded: message type visualization_msgs/msg/Marker"
    )
    # which does not prevent recording later messages
    numbers = run.publisher(Float64, "number")
    markers.publish(Marker())
    numbers.publish(Float64(data=2.0))
    run.finish()
    found = contents(run.folder / "bag")
    assert [m.data for m in messages_of(found["/number"], Float64)] == [2.0]
    assert "/marker" not in found
    assert run.process.output.count("is not recorded") == 1


def test_a_clock_that_comes_too_late_changes_no_stamp(record_here):
    begun = time.time_ns()
    run = record_here({"clock_wait": 0.2})
    numbers = run.publisher(Float64, "number")
    numbers.publish(Float64(data=0.0))
    run.line("no /clock: stamps are those of the wall clock")
    numbers.publish(Float64(data=1.0))
    clock = run.publisher(Clock, "/clock", listeners=2)
    for seconds in (5, 6):
        clock.publish(tick(seconds))
    run.line("/clock appeared too late: stamps remain those of the wall clock")
    numbers.publish(Float64(data=2.0))
    found = run.finish()
    stamps = stamp_of(found["/number"])
    assert sorted(stamps) == [0.0, 1.0, 2.0]
    ended = time.time_ns()
    assert all(begun <= stamp <= ended for stamp in stamps.values())
    assert [m.clock.sec for m in messages_of(found["/clock"], Clock)] == [5, 6]
    assert all(begun <= stamp <= ended for stamp, _ in found["/clock"])
    assert sum("appeared too late" in line for line in run.lines) == 1


@pytest.mark.parametrize("parameters", [{"clock_wait": 0.0}, {"use_sim_time": True}])
def test_a_simulator_that_takes_long_to_start_gives_the_stamps(record_here, parameters):
    """Its clock is published, or known to come, long before the first tick."""
    run = record_here({"begin_with": "[number]", "clock_wait": 0.2} | parameters)
    clock = run.peer.create_publisher(Clock, "/clock", 10)
    states = run.peer.create_publisher(Float64, "platform_state", 10)
    texts = run.publisher(String, "text")
    texts.publish(String(data="early"))
    run.spin(0.6)  # far longer than clock_wait
    assert not any("no /clock" in line for line in run.lines)
    assert states.get_subscription_count() == 0  # no time has passed that counts
    run.until(lambda: clock.get_subscription_count() >= 2, "recorder on the clock")
    for seconds in (5, 6):
        clock.publish(tick(seconds))
    run.until(lambda: states.get_subscription_count() > 0, "a second of simulated time")
    assert [stamp for stamp, _ in run.finish()["/text"]] == [5 * SECOND]


@pytest.mark.parametrize("parameters", [{}, {"topics": "[number]"}, {"exclude": "[/clock]"}])
def test_a_best_effort_clock_gives_the_stamps(record_here, parameters):
    """Whether it is recorded or not."""
    run = record_here({"time": "sim"} | parameters, "--log-level", "recorder:=debug")
    profile = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
    clock = run.peer.create_publisher(Clock, "/clock", profile)
    numbers = run.publisher(Float64, "number")
    for seconds in (20, 21):
        reported = f"at t = {seconds}.000 s"

        def received(seconds=seconds, reported=reported):
            clock.publish(tick(seconds))
            return any(reported in line for line in run.lines)

        run.until(received, reported)
        numbers.publish(Float64(data=float(seconds)))
        run.spin(0.05)
    found = run.finish()
    assert stamp_of(found["/number"]) == {20.0: 20 * SECOND, 21.0: 21 * SECOND}
    assert ("/clock" in found) == (not parameters)
    ticks = found.get("/clock", [])
    assert {m.clock.sec for m in messages_of(ticks, Clock)} <= {20, 21}
    assert {stamp for stamp, _ in ticks} <= {20 * SECOND, 21 * SECOND}


def test_a_clock_that_goes_back_is_reported(record_here):
    run = record_here()
    clock = run.publisher(Clock, "/clock", listeners=2)
    numbers = run.publisher(Float64, "number")
    clock.publish(tick(10))
    numbers.publish(Float64(data=10.0))
    clock.publish(tick(3))
    run.line("/clock went back from 10.000 s to 3.000 s")
    numbers.publish(Float64(data=3.0))
    stamps = stamp_of(run.finish()["/number"])
    assert stamps == {10.0: 10 * SECOND, 3.0: 3 * SECOND}


@pytest.mark.skipif(
    "cyclone" in get_rmw_implementation_identifier(), reason="Cyclone DDS numbers no messages"
)
@pytest.mark.parametrize("reliability", ["BEST_EFFORT", "RELIABLE"])
def test_messages_lost_are_reported_and_counted(record, reliability):
    """A publisher that keeps a few messages continues while the recorder pauses for a moment."""
    run = record({"time": "wall"})
    profile = QoSProfile(depth=5, reliability=ReliabilityPolicy[reliability])
    publisher = run.publisher(Float64MultiArray, "lossy", profile)
    kept = run.publisher(Float64, "kept")
    sent = 0

    def send() -> None:
        nonlocal sent
        publisher.publish(Float64MultiArray(data=[float(sent)] + [0.0] * 1000))
        sent += 1

    for _ in range(10):
        send()
        kept.publish(Float64(data=float(sent)))
        run.peer.spin(0.02)
    run.process.signal(signal.SIGSTOP)
    try:
        stands_still(run.process.pid)
        for _ in range(3000):  # 24 MB, more than any transport holds
            send()
    finally:
        run.process.signal(signal.SIGCONT)

    def reported() -> bool:
        send()  # later messages show the gap
        return "/lossy: a message was lost, more may follow" in run.process.output

    run.peer.until(reported, "the loss told")
    run.finish()

    found = contents(run.folder / "bag")
    numbers = [int(m.data[0]) for m in messages_of(found["/lossy"], Float64MultiArray)]
    assert numbers == sorted(set(numbers))
    missing = numbers[-1] - numbers[0] + 1 - len(numbers)
    assert missing > 0
    assert run.process.output.count("a message was lost") == 1
    assert run.process.lines[-1].partition("messages lost: ")[2] == f"/lossy {missing}"
    metadata = yaml.safe_load((run.folder / "bag" / "metadata.yaml").read_text())
    own = metadata["rosbag2_bagfile_information"]["custom_data"]
    assert own["lost_messages"] == f"/lossy {missing}"
    assert [m.data for m in messages_of(found["/kept"], Float64)] == list(range(1, 11))


def stands_still(pid: int) -> None:
    """Wait until a process that was sent SIGSTOP runs no more."""
    deadline = time.monotonic() + PATIENCE
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_the_urdf_of_a_model_that_came_without_one_is_in_the_bag(record_here, tmp_path):
    arm = tmp_path / "arm.yaml"
    shutil.copy(Path(rd.__file__).parent / "bundled" / "puma560.yaml", arm)
    run = record_here({"model": arm})
    run.publisher(Float64, "number").publish(Float64(data=1.0))
    (description,) = messages_of(run.finish()["/robot_description"], String)
    assert rd.load(description.data).joint_names == rd.load(arm).joint_names
