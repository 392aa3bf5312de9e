# SPDX-License-Identifier: Apache-2.0

"""Node `web_viewer` over DDS: what it shows, what its buttons do, and that it changes no run."""

from __future__ import annotations

import importlib.util
import itertools
import re
import socket
import sys
import warnings
from contextlib import ExitStack, contextmanager
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

if importlib.util.find_spec("viser") is None:
    pytest.skip("the package viser is not installed", allow_module_level=True)

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import WrenchStamped
from message_makers import joint_state, odometry
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.parameter import Parameter, parameter_value_to_python
from ros_harness import (
    LATCHED,
    Peer,
    Process,
    executable,
    free_domain,
    ros_arguments,
    zero_length_pose,
)
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

import robodyn as rd
from robodyn.poses import rotation_matrix
from robodyn.solvers.stewart.drawing import platform_urdf
from robodyn_ros import messages

sys.path.insert(0, str(Path(__file__).parents[1] / "robodyn" / "view"))

from viser_client import Client

pytestmark = pytest.mark.ros
FRAMES = ("base_link", "platform_link")


@contextmanager
def viewing(parameters):
    """Start a web_viewer with the peer as its only publisher, and open its page."""
    with ExitStack() as closing:
        peer = Peer(free_domain())
        closing.callback(peer.close)
        words = ros_arguments(parameters)
        process = Process([executable("web_viewer"), *words], peer.domain)
        closing.callback(process.close)

        def connect(model):
            line = process.wait_for_line(f"showing {model} at")
            client = Client(int(re.search(r"localhost:(\d+)", line).group(1)))
            closing.callback(client.close)
            return client

        yield peer, process, connect


def is_plotted(client, effort) -> bool:
    """Whether a plot of six curves ends in these."""
    return any(
        len(curve) == 7 and np.allclose([c[-1] for c in curve[1:]], effort)
        for curve in client.curves
    )


def test_the_viewer_reports_what_it_cannot_show(mechanism):
    """Only the peer publishes; each time it continues with the remaining data."""
    robot = ElementTree.fromstring(platform_urdf(mechanism))
    for link in robot.iter("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
    nowhere, effort = zero_length_pose(mechanism), np.arange(1.0, 7.0)
    with viewing({"port": 0}) as (peer, process, connect):
        description = peer.node.create_publisher(String, "robot_description", LATCHED)
        description.publish(String(data=ElementTree.tostring(robot, encoding="unicode")))
        client = connect("stewart_dasgupta")
        process.wait_for_line("[WARN]", "the model has no visuals; only sticks")
        # it has its mechanism; another description, a broken one, is nothing to it
        description.publish(String(data="<robot/>"))
        states = peer.node.create_publisher(Odometry, "platform_state", 10)
        forces = peer.node.create_publisher(JointState, "inverse_dynamics/forces", 10)
        stamps = itertools.count(0, 50_000_000)

        def send(pose):
            states.publish(odometry(next(stamps), FRAMES, pose, np.zeros(6)))

        def send_forces(effort):
            forces.publish(joint_state(0, mechanism.joint_names, effort=effort))

        def shown(pose):
            send(pose)
            place = client.frames.get("/model/platform_link")
            return place is not None and np.allclose(place[:3, 3], pose[:3], atol=1e-6)

        def plotted():
            send(mechanism.home)
            send_forces(effort)
            return is_plotted(client, effort)

        peer.until(lambda: shown(mechanism.home), "the platform's place")
        # a pose in which a leg has no direction
        process.provoke(lambda: send(nowhere), "cannot be displayed: leg 1 has zero length")
        moved = mechanism.advance(mechanism.home, np.array([0.01, 0.02, 0.03, 0.0, 0.0, 0.0]))
        peer.until(lambda: shown(moved), "the next place")
        process.provoke(lambda: send_forces(effort * np.nan), "forces refused", "nan")
        peer.until(plotted, "the forces in a plot")
        # there is no simulator to pause
        client.set("Run", "Pause")
        reported = "forward_simulator/pause: is its node running?"
        peer.until(lambda: shown(moved) and reported in client.texts, "the missing simulator told")
        assert "paused" not in client.texts
        assert "robot_description refused" not in process.output
        assert process.alive, process.output


def test_an_arm_stands_where_its_joints_are():
    """Without a clock, like a real arm; only the peer publishes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm = rd.load("puma560")
    with viewing({"port": 0, "model": "puma560"}) as (peer, process, connect):
        client = connect("puma560")
        q = np.array([0.4, 0.7, -0.5, 0.3, 0.9, -1.1])
        effort = np.arange(1.0, 7.0)
        states = peer.node.create_publisher(JointState, "joint_states", 10)
        forces = peer.node.create_publisher(JointState, "inverse_dynamics/forces", 10)
        tip = f"/model/{arm.frames[1]}"
        place = arm.forward_kinematics(q)

        stamps = itertools.count(0, 50_000_000)

        def there():
            stamp = next(stamps)
            states.publish(joint_state(stamp, arm.joint_names, q, np.zeros(6)))
            forces.publish(joint_state(stamp, arm.joint_names, effort=effort))
            return tip in client.frames and np.allclose(
                client.frames[tip][:3, 3], place[:3], atol=1e-6
            )

        peer.until(there, "the tip's place")
        assert abs(client.frames[tip][:3, :3] - rotation_matrix(place)).max() < 1e-6
        peer.until(lambda: there() and is_plotted(client, effort), "the torques in a plot")
        assert process.alive, process.output


def test_a_busy_port_ends_it_with_one_line_and_code_1():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        process = Process(
            [
                executable("web_viewer"),
                *ros_arguments({"port": port, "model": "stewart_dasgupta"}),
            ],
            free_domain(),
        )
        assert process.wait() == 1
    assert len(process.lines) == 1, process.output
    assert f"port {port} of 127.0.0.1 is in use" in process.output


def test_the_viewer_reads_its_mechanism_from_robot_description(peer, mechanism):
    process = Process([executable("web_viewer"), *ros_arguments({"port": 0})], peer.domain)
    try:
        process.wait_for_line("waiting for the topic robot_description")
        description = peer.node.create_publisher(String, "robot_description", LATCHED)
        # files that exist, and MJCF with an own text that is no JSON
        texts = ["<robot/>", __file__, "puma560", '<mujoco><include file="/etc/passwd"/></mujoco>']
        for count, text in enumerate(texts, start=1):
            description.publish(String(data=text))
            peer.until(
                lambda n=count: process.output.count("robot_description refused") == n,
                f"a refusal of {text}",
            )
        description.publish(String(data=platform_urdf(mechanism)))
        peer.until(lambda: "showing stewart_dasgupta at" in process.output, "a page")
    finally:
        process.close()


@pytest.fixture(scope="module")
def viewer(peer, start):
    """The node and a client of its page, beside a simulator in real time.

    Both run from here to the end of the module: what needs neither stands above.
    """
    simulator = start("forward_simulator", {"path": "I", "stepping": "realtime"})
    process = start("web_viewer", {"port": 0})
    line = process.wait_for_line("showing stewart_dasgupta at")
    client = Client(int(re.search(r"localhost:(\d+)", line).group(1)))
    peer.until(lambda: "running" in client.texts, "a state on the page")
    yield client
    client.close()
    assert simulator.alive, simulator.output
    assert process.alive, process.output


def time_on(client):
    return float(re.search(r"t =\s+([\d.]+) s", client.texts).group(1))


def test_the_scene_stands_where_the_topics_have_the_platform(viewer, peer):
    states = peer.listen(Odometry, "platform_state")
    joints = peer.listen(JointState, "joint_states")
    peer.until(lambda: states and joints, "states")
    pose = messages.pose_array(states[-1].pose.pose)  # held until the first command

    def there():
        return np.allclose(viewer.frames["/model/platform_link"][:3, 3], pose[:3], atol=1e-6)

    peer.until(there, "the platform's place")
    where = dict(zip(joints[-1].name, joints[-1].position, strict=True))
    for leg in range(1, 7):
        foot, tip = (viewer.frames[f"/model/leg{leg}_{part}"] for part in ("lower", "upper"))
        length = np.linalg.norm(tip[:3, 3] - foot[:3, 3])
        assert length == pytest.approx(where[f"leg{leg}_actuator"], abs=1e-5)


def test_forces_are_plotted(viewer, peer, mechanism):
    forces = peer.publisher(JointState, "inverse_dynamics/forces")
    effort = np.array([100.0, -200.0, 300.0, -400.0, 500.0, -600.0])

    def plotted():
        forces.publish(joint_state(0, mechanism.joint_names, effort=effort))
        return is_plotted(viewer, effort)

    peer.until(plotted, "the forces in a plot")


def test_pause_and_play_reach_the_simulator(viewer, peer):
    states = peer.listen(Odometry, "platform_state")
    viewer.set("Run", "Pause")
    peer.until(lambda: "paused" in viewer.texts, "paused")
    peer.spin(0.2)
    stopped = len(states)
    peer.spin(0.2)
    assert len(states) == stopped
    before = time_on(viewer)
    viewer.set("Run", "Play")
    peer.until(lambda: len(states) > stopped and time_on(viewer) > before, "running again")


def test_reset_reaches_the_simulator(viewer, peer):
    peer.until(lambda: time_on(viewer) > 0.5, "some time")
    before = time_on(viewer)
    viewer.set("Run", "Reset")
    peer.until(lambda: time_on(viewer) < before, "time from the start")


def test_a_push_is_published_and_ends(viewer, peer):
    wrenches = peer.listen(WrenchStamped, "external_wrench")
    pushes = [props for props in viewer.gui.values() if props.get("label") == "Push"]
    peer.until(lambda: [props["visible"] for props in pushes] == [True], "the controls of a push")
    viewer.set("Direction", "+y")
    viewer.set("Force [N]", 50.0)
    peer.spin(0.2)
    viewer.set("Push for 0.3 s", True)
    peer.until(lambda: len(wrenches) >= 2, "a push and its end")
    begin, end = (messages.wrench_array(message.wrench) for message in wrenches[:2])
    np.testing.assert_array_equal(begin, [0.0, 50.0, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(end, np.zeros(6))
    assert wrenches[0].header.frame_id == "base_link"


def test_a_push_moves_the_platform_that_nothing_holds(peer, start, viewer, mechanism):
    states = peer.listen(Odometry, "platform_state")
    commands = peer.publisher(JointState, "joint_commands")
    rest = np.zeros(6)
    hold = mechanism.inverse_dynamics(mechanism.home, rest, rest)
    commands.publish(joint_state(0, mechanism.joint_names, effort=hold))
    peer.until(lambda: states, "a state")
    before = messages.pose_array(states[-1].pose.pose)
    viewer.set("Push for 0.3 s", True)
    peer.until(
        lambda: messages.pose_array(states[-1].pose.pose)[1] > before[1] + 1e-3, "it moves along y"
    )


def test_a_machine_has_its_state_its_target_and_its_buttons_on_the_page():
    with viewing({"port": 0, "model": "stewart_symmetric"}) as (peer, process, connect):
        client, asked = connect("stewart_symmetric"), []

        def answer(_, response):
            asked.append("freeze")
            response.message = "freeze refused: the machine is parked"
            return response

        peer.node.create_service(Trigger, "joint_commander/freeze", answer)
        state = peer.node.create_publisher(String, "machine_state", LATCHED)
        targets = peer.node.create_publisher(Odometry, "joint_commander/target_state", 10)
        state.publish(String(data="parked"))
        home = rd.load("stewart_symmetric").home
        stamps = itertools.count(1_764_000_000 * 10**9, 50_000_000)  # times of day
        states = peer.node.create_publisher(Odometry, "platform_state", 10)

        def shown():
            for each in (states, targets):
                each.publish(odometry(next(stamps), FRAMES, home, np.zeros(6)))
            place = client.frames.get("/target")
            reported = "parked" in client.texts or "fault" in client.texts
            return reported and place is not None and place[2, 3] == home[2]

        peer.until(shown, "the machine's state and target")
        felt, plots = peer.node.create_publisher(Imu, "felt_imu", 10), len(client.curves)

        def rode():
            felt.publish(Imu())
            return shown() and len(client.curves) == plots + 3

        peer.until(rode, "felt force and force in the vehicle")
        # the time since the first state, though stamps are times of day; nothing to pause
        peer.until(lambda: shown() and "t = " in client.texts, "a state on the page")
        assert 0.0 <= time_on(client) < 3600.0
        assert "running" not in client.texts
        assert client.gui[client.control("Run")]["visible"] is False
        # no subscriber of a wrench: nothing to push
        pushes = [props for props in client.gui.values() if props.get("label") == "Push"]
        assert [props["visible"] for props in pushes] == [False]
        # a vehicle that is silent stands still
        assert any(len(curve) == 3 and curve[1][-1] == 9.81 for curve in client.curves)
        # no efforts received: no curves of zeros
        efforts = [props for props in client.gui.values() if len(props.get("data", ())) == 7]
        assert [props["visible"] for props in efforts] == [False]
        statuses = peer.node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        reported = [
            DiagnosticStatus(name="joint_commander: machine", message="fault: drive 3 is silent"),
            DiagnosticStatus(
                name="motion_cueing: cueing",
                message="messages from the vehicle arrive",
                values=[
                    KeyValue(key="source", value="beamng:127.0.0.1:4444"),
                    KeyValue(key="rate", value="60 Hz"),
                    KeyValue(key="age", value="0.02 s"),
                    KeyValue(key="refused", value="5"),
                ],
            ),
        ]

        def explained(*words):
            statuses.publish(DiagnosticArray(status=reported))
            return shown() and all(word in client.texts for word in words)

        peer.until(
            lambda: explained("4444, rate 60 Hz, age 0.02 s, refused 5"),
            "the state of the telemetry",
        )
        assert "drive 3 is silent" not in client.texts  # it is parked
        state.publish(String(data="fault"))
        peer.until(lambda: explained(">fault<", "drive 3 is silent"), "the fault and its reason")
        state.publish(String(data="parked"))
        peer.until(lambda: shown() and "drive 3 is silent" not in client.texts, "no reason")
        client.set("Command", "Freeze")
        peer.until(lambda: shown() and "freeze refused" in client.texts, "the refusal on the page")
        assert asked == ["freeze"]
        assert process.alive, process.output


def test_the_page_tunes_the_washout_and_saves_what_was_tuned(tmp_path):
    file = tmp_path / "mine.yaml"
    given = {"port": 0, "model": "stewart_symmetric", "cueing_file": str(file)}
    with viewing(given) as (peer, _, connect):
        client, expected = connect("stewart_symmetric"), []

        def present(request, response):
            # a node answers nothing at all if one of the names is not set
            if request.names == ["preset"]:
                response.values = [Parameter("", value="small").get_parameter_value()]
            return response

        def take(request, response):
            values = {
                each.name: parameter_value_to_python(each.value) for each in request.parameters
            }
            expected.append(values)
            refused = values["force_gain"][0] > 0.5
            response.results = [
                SetParametersResult(successful=not refused, reason="too strong") for _ in given
            ]
            return response

        peer.node.create_service(GetParameters, "motion_cueing/get_parameters", present)
        peer.node.create_service(SetParameters, "motion_cueing/set_parameters", take)
        state = peer.node.create_publisher(String, "machine_state", LATCHED)
        statuses = peer.node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        state.publish(String(data="engaged"))
        reported = DiagnosticStatus(
            name="motion_cueing: cueing", message="messages arrive",
            values=[KeyValue(key="algorithm", value="classical")],
        )  # fmt: skip

        def has_controls():
            statuses.publish(DiagnosticArray(status=[reported]))
            return any(props.get("label") == "Force gain" for props in client.gui.values())

        peer.until(has_controls, "controls of the washout")
        client.set("Force gain", 2.0)  # twice that of the preset: 0.2
        peer.until(lambda: expected, "new parameters")
        small = rd.WashoutParameters.preset("small")
        assert expected[-1]["preset"] == "small"
        assert expected[-1]["force_gain"] == pytest.approx([0.4] * 3)
        assert expected[-1]["rotation_gain"] == pytest.approx([small.rotation_gain] * 3)
        assert expected[-1]["force_washout"] == pytest.approx([small.force_washout] * 3)
        client.set("Save to YAML", True)
        peer.until(file.exists, "the file")
        saved = yaml.safe_load(file.read_text())
        assert saved == {"/**/motion_cueing": {"ros__parameters": expected[-1]}}
        client.set("Force gain", 3.0)
        home = rd.load("stewart_symmetric").home
        stamps = itertools.count(1_764_000_000 * 10**9, 50_000_000)
        states = peer.node.create_publisher(Odometry, "platform_state", 10)

        def is_refused():
            states.publish(odometry(next(stamps), FRAMES, home, np.zeros(6)))
            return "too strong" in client.texts

        peer.until(is_refused, "the refusal on the page")
