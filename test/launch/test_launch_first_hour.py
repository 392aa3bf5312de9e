# SPDX-License-Identifier: Apache-2.0

"""The first hour with one's own hexapod: described, checked, viewed, moved, recorded, reported.

Every step is a command as its user types it; goals and parameters come from other programs.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from launch_harness import FLIGHT, Launch
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from ros_harness import Peer, Process, free_domain
from sensor_msgs.msg import JointState

import robodyn as rd
from robodyn_ros import messages, qos

pytestmark = pytest.mark.system

GOALS = (
    rd.pose_from_rpy([0.04, 0.0, 0.36], [0.0, 0.0, 0.0]),
    rd.pose_from_rpy([0.0, -0.03, 0.34], [0.05, 0.0, 0.1]),
    rd.pose_from_rpy([0.0, 0.0, 0.37], [0.0, -0.08, 0.0]),
)
PAYLOAD = 3.0  # kg
POSITION, ANGLE, AT_REST = 1e-3, 2e-3, 1e-3
RESTING = 20  # commands in a row that are the same


def robodyn(folder, *arguments):
    command = [sys.executable, "-m", "robodyn", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("first_hour")
    robodyn(made, "new", "hexapod")
    return made


@pytest.fixture(scope="module")
def hexapod(folder):
    return rd.load(folder / "my_hexapod.yaml")


def test_the_new_hexapod_is_checked(folder):
    pytest.importorskip("matplotlib")
    found = json.loads(robodyn(folder, "check", "my_hexapod.yaml", "--json", "--png", "home.png"))
    assert found["remarks"] == found["unphysical"] == []
    assert found["at_home"]["payload"]["mass"] > PAYLOAD
    reach = {row["variable"]: row for row in found["at_home"]["reach"]}
    for goal in GOALS:
        assert reach["z"]["lowest"] < goal[2] < reach["z"]["highest"]
    assert (folder / "home.png").stat().st_size > 0


def test_robodyn_view_shows_the_new_hexapod(folder):
    pytest.importorskip("viser")
    words = ("view", "my_hexapod.yaml", "--port", "0", "--no-browser")
    view = Process([sys.executable, "-m", "robodyn", *words], free_domain(), cwd=folder)
    try:
        line = view.wait_for_line("my_hexapod: http://localhost:", timeout=FLIGHT)
        address = line[line.index("http") :].split()[0]
        with urllib.request.urlopen(address, timeout=60) as page:
            assert page.status == 200
            assert b"<html" in page.read().lower()
    finally:
        view.close()


class Flight:
    """A bringup launch of the hexapod, and a node that sends goals."""

    def __init__(self, folder):
        settings = folder / "settings.yaml"
        # with commands 55 ms late on a busy machine the controller would no longer be stable
        settings.write_text("forward_simulator: {ros__parameters: {real_time_factor: 0.25}}")
        self.launch = Launch(
            folder,
            {
                "model": folder / "my_hexapod.yaml",
                "path": "none",
                "record": "true",
                "params_file": settings,
            },
            "mechanism_sim.launch.py",
        )
        self.peer = Peer(self.launch.domain)
        self.peer.partners.append(self.launch.process)

    def meet(self):
        # on a busy machine a node that processes every message would soon be late
        self.states = self.peer.listen(Odometry, "platform_state", qos.LATEST)
        self.commands = self.peer.listen(JointState, "joint_commands", qos.LATEST)
        # the planner, and the recorder, which may have found it sooner
        self.goals = self.peer.publisher(PoseStamped, "goal_pose", listeners=2)

    def go(self, pose):
        message = PoseStamped()
        message.header.frame_id = "base_link"
        messages.fill_pose(message.pose, pose)
        self.goals.publish(message)

    def rests_at(self, pose):
        """Whether the platform stands at a pose, by its latest state, under constant efforts.

        A platform that a payload was put on in flight may stand still for an instant on its way.
        """
        if not self.states or len(self.commands) < RESTING:
            return False
        held = np.array([command.effort for command in self.commands[-RESTING:]])
        if np.ptp(held, axis=0).max() > 0.001 * np.abs(held).max():
            return False
        _, at, twist = messages.platform_state(self.states[-1])
        angle = 2.0 * np.arccos(np.clip(abs(at[3:] @ pose[3:]), 0.0, 1.0))
        return (
            np.linalg.norm(at[:3] - pose[:3]) < POSITION
            and angle < ANGLE
            and np.abs(twist).max() < AT_REST
        )

    def set_parameter(self, node, name, number):
        value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=number)
        request = SetParameters.Request(parameters=[Parameter(name=name, value=value)])
        answer = self.peer.call(SetParameters, f"{node}/set_parameters", request)
        assert answer.results[0].successful, answer.results[0].reason

    def efforts(self, joints):
        latest = self.commands[-1]
        given = dict(zip(latest.name, latest.effort, strict=True))
        return np.array([given[joint] for joint in joints])

    def close(self):
        self.peer.close()
        self.launch.close()


@pytest.fixture(scope="module")
def flown(folder, hexapod):
    """Efforts at rest with the payload, and the folder of the run, which is over."""
    flight = Flight(folder)
    try:
        flight.meet()
        # 40 mm in 0.3 s: commands that come 0.1 s late on a busy machine would end the motion
        flight.set_parameter("inverse_dynamics", "path_tolerance", 0.0)
        for goal in GOALS[:2]:
            flight.go(goal)
            flight.peer.until(lambda goal=goal: flight.rests_at(goal), f"a rest at {goal}", FLIGHT)
        flight.go(GOALS[2])
        flight.peer.spin(0.3)
        for node in ("forward_simulator", "inverse_dynamics"):
            flight.set_parameter(node, "payload_mass", PAYLOAD)
        flight.peer.until(lambda: flight.rests_at(GOALS[2]), "a rest with the payload", FLIGHT)
        efforts = flight.efforts(hexapod.joint_names)
        flight.launch.process.signal(signal.SIGINT)
        flight.peer.partners.clear()
        code = flight.launch.wait()
        assert code == 0, flight.launch.output
        # it stayed until it was stopped, which is no fault
        for text in ("run_summary", "before the run was done", "Traceback"):
            assert text not in flight.launch.output
        yield efforts, flight.launch.output_folder
    except AssertionError:
        print(flight.launch.output)
        raise
    finally:
        flight.close()


def test_controller_holds_the_payload_added_in_flight(flown, hexapod):
    efforts, _ = flown
    rest = np.zeros(6)
    expected = hexapod.with_payload(PAYLOAD).inverse_dynamics(GOALS[2], rest, rest)
    np.testing.assert_allclose(efforts, expected, rtol=0.02)
    bare = hexapod.inverse_dynamics(GOALS[2], rest, rest)
    assert (np.abs(efforts) > 1.1 * np.abs(bare)).all()


def test_the_recording_is_reported(flown, folder):
    pytest.importorskip("rosbags", reason="the extra `record` is not installed")
    _, output = flown
    bags = [path.parent for path in output.rglob("metadata.yaml")]
    assert len(bags) == 1
    options = "--bag", bags[0], "--html", "report.html", "--json"
    found = json.loads(robodyn(folder, "analyze", *options))
    assert found["model"] == "my_hexapod"
    assert found["margins"]["hold"]
    html = (folder / "report.html").read_text()
    assert 'id="limits"' in html
    assert "my_hexapod" in html
