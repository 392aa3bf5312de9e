# SPDX-License-Identifier: Apache-2.0

"""Recordings: a bag that rosbags wrote, played as it was flown; bags that cannot be shown."""

from __future__ import annotations

import re

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.solvers.stewart.drawing import platform_urdf
from robodyn.view import Replay

pytest.importorskip("rosbags", reason="reading bags needs the package rosbags")

from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from robodyn.view import read_run

STORE = get_typestore(Stores.ROS2_JAZZY)
KIND = STORE.types
TIMES = np.linspace(0.0, 6.0, 121)
# not its own inverse
ORDER = [3, 0, 5, 1, 4, 2]


def header(t):
    nanoseconds = round(t * 1e9)
    stamp = KIND["builtin_interfaces/msg/Time"](
        sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9
    )
    return KIND["std_msgs/msg/Header"](stamp=stamp, frame_id="base_link")


def odometry(t, pose):
    vector, twist = (
        KIND["geometry_msgs/msg/Vector3"](0.0, 0.0, 0.0),
        KIND["geometry_msgs/msg/Twist"],
    )
    place = KIND["geometry_msgs/msg/Pose"](
        position=KIND["geometry_msgs/msg/Point"](*pose[:3]),
        orientation=KIND["geometry_msgs/msg/Quaternion"](*pose[3:]),
    )
    none = np.zeros(36)
    return KIND["nav_msgs/msg/Odometry"](
        header=header(t),
        child_frame_id="platform_link",
        pose=KIND["geometry_msgs/msg/PoseWithCovariance"](pose=place, covariance=none),
        twist=KIND["geometry_msgs/msg/TwistWithCovariance"](
            twist=twist(linear=vector, angular=vector), covariance=none
        ),
    )


def forces(t, names, effort):
    none = np.zeros(0)
    return KIND["sensor_msgs/msg/JointState"](
        header(t), list(names), none, none, np.ascontiguousarray(effort)
    )


def write(folder, rows):
    """A bag of (topic, message, time) rows."""
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connections = {}
        for topic, message, t in rows:
            kind = message.__msgtype__
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=STORE)
            writer.write(connections[topic], round(t * 1e9), STORE.serialize_cdr(message, kind))
    return folder


@pytest.fixture(scope="module")
def flight(dasgupta):
    motion = rd.paper_path("I").sample(TIMES)
    return motion, dasgupta.inverse_dynamics(*motion)


@pytest.fixture(scope="module")
def bag(tmp_path_factory, dasgupta, flight):
    motion, efforts = flight
    text = KIND["std_msgs/msg/String"](platform_urdf(dasgupta))
    rows = [("/cell/robot_description", text, 0.0)]
    for t, pose, effort in zip(TIMES, motion.configuration, efforts, strict=True):
        rows.append(("/cell/platform_state", odometry(t, pose), t))
        rows.append(("/cell/platform_state", odometry(t, pose), t))  # lockstep repeats it
        message = forces(t, [dasgupta.joint_names[i] for i in ORDER], effort[ORDER])
        rows.append(("/cell/inverse_dynamics/forces", message, t))
    return write(tmp_path_factory.mktemp("bags") / "run", rows)


@pytest.mark.parametrize("model", ["", "stewart_dasgupta"])
@pytest.mark.parametrize("file", ["", "run.mcap"])
@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_a_bag_is_played_as_it_was_flown(bag, flight, file, model):
    recording = read_run(bag / file, model).replay
    recording.set_playing(False)
    assert recording.duration == pytest.approx(6.0)
    for moment in (0.0, 2.5, 6.0):
        recording.seek(moment)
        now = recording.snapshot()
        index = int(np.argmin(np.abs(TIMES - now.time)))
        assert now.time == pytest.approx(moment, abs=0.051)
        np.testing.assert_allclose(now.configuration, flight[0].configuration[index])
        np.testing.assert_allclose(now.effort, flight[1][index])


@pytest.mark.parametrize("clock", [0.0, 1.8e9], ids=["simulated", "wall"])
@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_a_plan_starts_with_the_command_after_it_by_whatever_clock(tmp_path, clock):
    """Stamps are simulated; a recorder may log the times of receipt by the wall clock."""
    arm = rd.load("puma560")
    point = KIND["trajectory_msgs/msg/JointTrajectoryPoint"]
    duration, none = KIND["builtin_interfaces/msg/Duration"], np.zeros(0)
    points = [point(arm.home + t, none, none, none, duration(t, 0)) for t in (0, 1)]
    plan = KIND["trajectory_msgs/msg/JointTrajectory"](header(0.0), list(arm.joint_names), points)
    state = KIND["sensor_msgs/msg/JointState"]
    rows = [("/joint_trajectory", plan, clock + 0.35)]
    for t in np.arange(20) * 0.1:
        where = state(header(t), list(arm.joint_names), arm.home, none, none)
        rows += [("/joint_states", where, clock + t)]
        rows += [("/joint_commands", forces(t, arm.joint_names, np.zeros(6)), clock + t)]
    found, start = read_run(write(tmp_path / "run", rows), "puma560").plan()
    assert start == pytest.approx(0.4)
    assert found.duration == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("rows", "model", "message"),
    [
        ([], "", "the bag has no robot_description; name the model"),
        ([], "stewart_dasgupta", "no platform_state of stewart_dasgupta; recorded topics: /other"),
        ([], "puma560", "no joint_states of puma560; recorded topics: /other"),
    ],
)
@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_a_bag_without_what_is_needed_is_refused_in_one_line(tmp_path, rows, model, message):
    other = ("/other", KIND["std_msgs/msg/String"]("hello"), 0.0)
    folder = write(tmp_path / "run", [other, *rows])
    with pytest.raises(InvalidInput, match=re.escape(message)) as caught:
        read_run(folder, model)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "there is no such file"),
        (b"", "this bag cannot be read"),
        (b"no bag at all", "this bag cannot be read"),
    ],
)
def test_read_run_rejects_what_is_no_bag_in_one_line(tmp_path, content, reason):
    file = tmp_path / "run.mcap"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidInput, match=rf"run\.mcap: {reason}") as caught:
        read_run(file, "stewart_dasgupta")
    assert "\n" not in str(caught.value)


def test_replay_plays_at_its_speed_and_stops_at_its_end(dasgupta, flight, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("robodyn.view.replay.time.monotonic", lambda: now[0])
    recording = Replay(dasgupta, TIMES, flight[0].configuration, flight[1])
    now[0] += 1.0
    assert recording.snapshot().time == pytest.approx(1.0)
    recording.speed = 2.0
    now[0] += 1.0
    assert recording.snapshot().time == pytest.approx(3.0)
    recording.set_playing(False)
    now[0] += 1.0
    assert recording.snapshot().time == pytest.approx(3.0)
    assert not recording.snapshot().playing
    recording.set_playing(True)
    now[0] += 100.0
    assert recording.snapshot().time == pytest.approx(6.0)
    recording.reset()
    assert recording.snapshot().time == 0.0
