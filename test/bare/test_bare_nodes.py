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

"""Real nodes, started by `ros2 launch` and looked at with the other commands."""

import json
import signal

import pytest
import yaml

pytest.importorskip("rclpy")


@pytest.fixture(scope="module")
def talkers(shared_ros2):
    """Two talkers, launched."""
    running = shared_ros2.start(
        "launch", "bare_demo", "talker.launch.py", "rate:=40", BARE_WHO="world"
    )
    running.wait_for("[talker-1] talker:")
    running.wait_for("[second-2] talker:")
    yield running
    assert running.end(signal.SIGINT) == 0
    assert running.text.count("process has finished cleanly") == 2, running.text


def told(running, prefix: str) -> dict:
    line = running.wait_for(f"[{prefix}] talker:")
    return json.JSONDecoder().raw_decode(line.split("talker: ", 1)[1])[0]


def test_names_remappings_and_parameters_reach_the_node(talkers):
    assert told(talkers, "talker-1") == {
        "name": "/robot/bob",
        "topic": "/robot/gossip",
        "text": "from the wildcard",
        "rate": 40.0,
        "count": 42,
        "gains": [1.0, 2.5],
        "flag": True,
        "nested.name": "yes",
    }
    assert "['first']" in talkers.wait_for("[talker-1] talker:")
    second = told(talkers, "second-2")
    assert second["name"] == "/other/talker"
    assert second["topic"] == "/other/chatter"
    assert second["text"] == "good morning world"
    assert (second["flag"], second["count"]) == (True, 40)


def test_node_list(talkers, shared_ros2):
    result = shared_ros2("node", "list")
    assert result.stdout.splitlines() == ["/other/talker", "/robot/bob"]
    assert result.returncode == 0


def test_topic_list(talkers, shared_ros2):
    lines = shared_ros2("topic", "list", "-t").stdout.splitlines()
    assert "/robot/gossip [std_msgs/msg/String]" in lines
    assert "/other/chatter [std_msgs/msg/String]" in lines
    assert "/rosout [rcl_interfaces/msg/Log]" in lines


def test_topic_echo(talkers, shared_ros2):
    result = shared_ros2("topic", "echo", "/robot/gossip", "--once")
    assert (result.returncode, result.stdout) == (0, "data: from the wildcard\n---\n")
    # A relative name, a given type, and a field of it.
    words = ("robot/gossip", "std_msgs/msg/String", "--field", "data", "--once")
    assert shared_ros2("topic", "echo", *words).stdout == "from the wildcard\n---\n"


def test_topic_echo_goes_on_until_interrupted(talkers, shared_ros2):
    echo = shared_ros2.start("topic", "echo", "/robot/gossip")
    echo.wait_for("---")
    assert echo.end(signal.SIGINT) == signal.SIGINT, echo.text
    assert "Traceback" not in echo.text


def test_topic_echo_of_nothing(talkers, shared_ros2):
    result = shared_ros2("topic", "echo", "/nothing", "--once")
    assert result.returncode == 1
    assert result.stderr == "Could not determine the type for the passed topic\n"
    result = shared_ros2("topic", "echo", "/robot/gossip", "std_msgs/msg/Strin")
    assert result.returncode == 1
    assert "type is invalid" in result.stderr


def test_topic_hz(talkers, shared_ros2):
    hz = shared_ros2.start("topic", "hz", "/robot/gossip")
    rate = float(hz.wait_for("average rate:").split(":")[1])
    assert hz.end(signal.SIGINT) == signal.SIGINT
    # The machine may be busy: this is no test of the talker.
    assert 20.0 < rate < 60.0


def test_topic_pub_and_echo(shared_ros2):
    words = ("geometry_msgs/msg/PoseStamped", "--once", "--flow-style", "--timeout", "15")
    echo = shared_ros2.start("topic", "echo", "/poses", *words)
    values = "{header: {frame_id: base, stamp: {sec: 3}}, pose: {position: {x: 1, z: -2.5}}}"
    result = shared_ros2("topic", "pub", "-1", "/poses", words[0], values)
    assert result.returncode == 0, result.stderr
    assert "publishing #1:" in result.stdout
    assert echo.end() == 0
    heard = yaml.safe_load(echo.text.removesuffix("---"))
    assert heard["header"] == {"stamp": {"sec": 3, "nanosec": 0}, "frame_id": "base"}
    assert heard["pose"]["position"] == {"x": 1.0, "y": 0.0, "z": -2.5}
    result = shared_ros2("topic", "pub", "-1", "/poses", words[0], "{nonsense: 1}")
    assert (result.returncode, len(result.stderr.splitlines())) == (1, 1)
    assert "no field 'nonsense'" in result.stderr


def test_param_get(talkers, shared_ros2):
    for name, shown in {
        "count": "Integer value is: 42",
        "text": "String value is: from the wildcard",
        "gains": "Double values are: [1.0, 2.5]",
    }.items():
        assert shared_ros2("param", "get", "/robot/bob", name).stdout == f"{shown}\n"
    result = shared_ros2("param", "get", "/robot/bob", "none")
    assert (result.returncode, result.stderr) == (1, "Parameter not set\n")
    result = shared_ros2("param", "get", "/robot/nobody", "count", "--timeout", "0.5")
    assert (result.returncode, result.stderr) == (1, "Node not found\n")


def test_param_set(talkers, shared_ros2):
    result = shared_ros2("param", "set", "/other/talker", "text", "changed")
    assert (result.returncode, result.stdout) == (0, "Set parameter successful\n")
    shown = shared_ros2("param", "get", "--hide-type", "other/talker", "text").stdout
    assert shown == "changed\n"
    result = shared_ros2("param", "set", "/other/talker", "rate", "fast")
    assert result.returncode == 1
    assert result.stderr.startswith("Setting parameter failed: Wrong parameter type")
    assert len(result.stderr.splitlines()) == 1


def test_param_list_and_dump(talkers, shared_ros2):
    lines = shared_ros2("param", "list", "/robot/bob").stdout.splitlines()
    assert {"  count", "  gains", "  nested.name", "  text", "  use_sim_time"} <= set(lines)
    lines = shared_ros2("param", "list", "--param-type", "--filter", "coun").stdout.splitlines()
    shown = "  count (type: integer)"
    assert lines == ["/other/talker:", shown, "/robot/bob:", shown]
    dumped = yaml.safe_load(shared_ros2("param", "dump", "/robot/bob").stdout)
    parameters = dumped["/robot/bob"]["ros__parameters"]
    assert parameters["nested"] == {"name": "yes"}
    assert (parameters["count"], parameters["gains"]) == (42, [1.0, 2.5])


def test_service_call(talkers, shared_ros2):
    assert "/robot/bob/start [std_srvs/srv/Trigger]" in shared_ros2("service", "list", "-t").stdout
    result = shared_ros2("service", "call", "/robot/bob/start", "std_srvs/srv/Trigger")
    assert result.returncode == 0
    assert "std_srvs.srv.Trigger_Response(success=True, message='started')" in result.stdout


def test_run_a_node(shared_ros2):
    words = ("--ros-args", "-r", "__node:=carol", "-p", "count:=5", "-p", "rate:=1.0")
    running = shared_ros2.start("run", "bare_demo", "talker", *words)
    line = running.wait_for("talker:")
    assert '"name": "/carol"' in line
    assert '"count": 5' in line
    assert running.end(signal.SIGTERM) == 0
