# SPDX-License-Identifier: Apache-2.0

"""Real nodes, started by `ros2 launch` and looked at with the other commands."""

import json
import signal

import pytest
import yaml

pytest.importorskip("rclpy")


@pytest.fixture(scope="module")
def talkers(shared_ros2):
    """Two talkers, launched."""
    running = shared_ros2.start("launch", "bare_demo", "talker.launch.py", "rate:=40")
    running.wait_for("[talker-1] talker:")
    running.wait_for("[talker-2] talker:")
    yield running
    assert running.end(signal.SIGINT) == 0
    assert running.text.count("process has finished cleanly") == 2, running.text


def parse_report(running, prefix: str) -> dict:
    line = running.wait_for(f"[{prefix}] talker:")
    return json.JSONDecoder().raw_decode(line.split("talker: ", 1)[1])[0]


def test_names_remappings_and_parameters_reach_the_node(talkers):
    assert parse_report(talkers, "talker-1") == {
        "name": "/robot/bob",
        "topic": "/robot/gossip",
        "text": "from the wildcard",
        "rate": 40.0,
        "count": 42,
        "names": ["40", "b"],
        "flag": True,
        "complain": False,
        "nested.name": "yes",
    }
    assert "['first']" in talkers.wait_for("[talker-1] talker:")
    second = parse_report(talkers, "talker-2")
    assert second["name"] == "/other/talker"
    assert second["topic"] == "/other/chatter"
    # The same launch argument, as the types that were asked for.
    assert (second["text"], second["count"], second["flag"]) == ("40", 40, True)


def test_conditions_choose_the_nodes(shared_ros2):
    running = shared_ros2.start("launch", "bare_demo", "talker.launch.py", "named:=false")
    alone = parse_report(running, "talker-1")
    assert (alone["name"], alone["text"]) == ("/talker", "hello")
    assert running.end(signal.SIGINT) == 0
    assert running.text.count("process started") == 1


def test_topic_list(talkers, shared_ros2):
    lines = shared_ros2("topic", "list", "-t").stdout.splitlines()
    assert "/robot/gossip [std_msgs/msg/String]" in lines
    assert "/other/chatter [std_msgs/msg/String]" in lines
    assert "/rosout [rcl_interfaces/msg/Log]" in lines
    assert "/robot/gossip" in shared_ros2("topic", "list").stdout.splitlines()


def test_topic_echo(talkers, shared_ros2):
    result = shared_ros2("topic", "echo", "/robot/gossip", "--once")
    assert (result.returncode, result.stdout) == (0, "data: from the wildcard\n---\n")


def test_topic_echo_of_nested_messages_and_long_texts(talkers, shared_ros2):
    echo = shared_ros2.start("topic", "echo", "/rosout", "--once")
    words = ("--ros-args", "-p", "rate:=5.0", "-p", "complain:=true")
    running = shared_ros2.start("run", "bare_demo", "talker", *words)
    assert echo.end() == 0, echo.text
    received = yaml.safe_load(echo.text.removesuffix("---"))
    assert set(received["stamp"]) == {"sec", "nanosec"}
    assert received["name"] == "talker"
    assert received["msg"] == 128 * "x" + "..."
    assert received["line"] > 0
    assert running.end(signal.SIGTERM) == 0


def test_topic_echo_goes_on_until_interrupted(talkers, shared_ros2):
    echo = shared_ros2.start("topic", "echo", "robot/gossip")
    echo.wait_for("---")
    assert echo.end(signal.SIGINT) == signal.SIGINT, echo.text
    assert "Traceback" not in echo.text


def test_topic_echo_of_nothing(talkers, shared_ros2):
    result = shared_ros2("topic", "echo", "/nothing", "--once")
    assert result.returncode == 1
    assert result.stderr == "publisher of /nothing not found\n"


def test_topic_pub(shared_ros2):
    """Nested fields, lists of messages and integers for floats, received by another process."""
    values = (
        "{joint_names: [a, b], header: {frame_id: base}, "
        "points: [{positions: [1, 2.5], time_from_start: {sec: 3}}]}"
    )
    kind = "trajectory_msgs/msg/JointTrajectory"
    running = shared_ros2.start("topic", "pub", "-r", "20", "numbers", kind, values)
    running.wait_for("publishing #1:")
    received = yaml.safe_load(shared_ros2("topic", "echo", "numbers", "--once").stdout[:-4])
    assert received["joint_names"] == ["a", "b"]
    assert received["header"]["frame_id"] == "base"
    (point,) = received["points"]
    assert point["positions"] == [1.0, 2.5]
    assert point["time_from_start"] == {"sec": 3, "nanosec": 0}
    assert running.end(signal.SIGINT) == signal.SIGINT, running.text
    assert "Traceback" not in running.text


def test_topic_pub_once_waits_for_a_listener(shared_ros2):
    words = ("topic", "pub", "--once", "unheard", "std_msgs/msg/String", "{data: hello}")
    result = shared_ros2(*words)
    assert result.returncode == 1
    assert result.stderr == "subscription of /unheard not found\n"
    result = shared_ros2(*words[:-1], "{date: hello}")
    assert result.returncode == 1
    assert "Failed to populate field: 'String' object has no attribute 'date'" in result.stderr


def test_param_get(talkers, shared_ros2):
    for name, shown in {
        "count": "Integer value is: 42",
        "text": "String value is: from the wildcard",
        "names": "String values are: ['40', 'b']",
    }.items():
        assert shared_ros2("param", "get", "/robot/bob", name).stdout == f"{shown}\n"
    result = shared_ros2("param", "get", "/robot/bob", "none")
    assert (result.returncode, result.stderr) == (1, "Parameter not set\n")
    result = shared_ros2("param", "get", "/robot/nobody", "count")
    assert (result.returncode, result.stderr) == (1, "Node /robot/nobody not found\n")


def test_param_set(talkers, shared_ros2):
    result = shared_ros2("param", "set", "/other/talker", "text", "changed")
    assert (result.returncode, result.stdout) == (0, "Set parameter successful\n")
    shown = shared_ros2("param", "get", "other/talker", "text").stdout
    assert shown == "String value is: changed\n"
    result = shared_ros2("param", "set", "/other/talker", "count", "fast")
    assert result.returncode == 1
    assert result.stderr.startswith("Setting parameter failed: Wrong parameter type")
    assert len(result.stderr.splitlines()) == 1


def test_param_list_and_describe(talkers, shared_ros2):
    lines = shared_ros2("param", "list", "/robot/bob").stdout.splitlines()
    assert {"  count", "  names", "  nested.name", "  text", "  use_sim_time"} <= set(lines)
    assert lines == sorted(lines)
    result = shared_ros2("param", "describe", "/robot/bob", "rate")
    assert result.stdout == (
        "Parameter name: rate\n"
        "  Type: double\n"
        "  Description: messages a second\n"
        "  Constraints:\n"
        "    Read only: true\n"
        "    Min value: 0.1\n"
        "    Max value: 100.0\n"
    )
    result = shared_ros2("param", "describe", "/robot/bob", "text")
    assert result.stdout == "Parameter name: text\n  Type: string\n  Constraints:\n"


def test_service_call(talkers, shared_ros2):
    assert "/robot/bob/start [std_srvs/srv/Trigger]" in shared_ros2("service", "list", "-t").stdout
    result = shared_ros2("service", "call", "/robot/bob/start", "std_srvs/srv/Trigger")
    assert result.returncode == 0
    assert "std_srvs.srv.Trigger_Response(success=True, message='started')" in result.stdout
    shout = ("/robot/bob/shout", "std_srvs/srv/SetBool")
    result = shared_ros2("service", "call", *shout, "{data: true}")
    assert "message='shout: True'" in result.stdout
    for words, line in (
        ((*shout, "{data: loud}"), "Failed to populate the request:"),
        ((*shout, "{volume: 3}"), "Failed to populate the request:"),
        (("/robot/bob/stop", "std_srvs/srv/Trigger"), "service /robot/bob/stop not found\n"),
        (("/robot/bob/start", "std_srvs/srv/Tigger"), "passed type is invalid: 'std_srvs/srv/Tig"),
    ):
        result = shared_ros2("service", "call", *words)
        assert result.returncode == 1
        assert line in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_run_a_node(shared_ros2):
    words = ("--ros-args", "-r", "__node:=carol", "-p", "count:=5", "-p", "rate:=1.0")
    running = shared_ros2.start("run", "bare_demo", "talker", *words)
    line = running.wait_for("talker:")
    assert '"name": "/carol"' in line
    assert '"count": 5' in line
    assert running.end(signal.SIGTERM) == 0
