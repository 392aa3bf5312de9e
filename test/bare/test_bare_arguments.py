# SPDX-License-Identifier: Apache-2.0

"""Launch arguments, conditions, substitutions, and mistakes in them, through `ros2 launch`."""

import pytest

FILE = ("launch", "bare_demo", "arguments.launch.py")


def output_lines(output: str) -> list[str]:
    mark = "[INFO] [launch.user]: "
    return [line.removeprefix(mark) for line in output.splitlines() if line.startswith(mark)]


def test_launch_arguments_have_defaults(ros2):
    result = ros2(*FILE)
    assert result.returncode == 0, result.stdout
    assert output_lines(result.stdout) == [
        "mode is slow",
        "path a/bslow/c",
        "opaque slow <slow>",
        "undeclared -",
        "now not slow",
        "idle",
    ]


def test_launch_arguments_on_the_command_line_are_passed(ros2):
    words = ("mode:=slow", "mode:=fast", "undeclared:=known", "extra:=a:=b")
    result = ros2(*FILE, *words)
    lines = output_lines(result.stdout)
    # The last of a name wins; as upstream, an argument need not be declared.
    assert lines[0] == "mode is fast"
    assert "opaque fast a:=b" in lines
    assert "undeclared known" in lines
    assert result.returncode == 0


def test_a_path_instead_of_a_package(ros2):
    path = ros2.write(described("LogInfo(msg=LaunchConfiguration('first'))"))
    assert output_lines(ros2("launch", path, "first:=given").stdout) == ["given"]


def test_show_args(ros2):
    for option in ("-s", "--show-args"):
        result = ros2(*FILE, option)
        assert result.returncode == 0
        assert result.stdout == (
            "Arguments (pass arguments as '<name>:=<value>'):\n"
            "\n    'mode':\n        How to go. Valid choices are: ['slow', 'fast']\n"
            "        (default: 'slow')\n"
            "\n    'extra':\n        More.\n"
            "        (default: '<' + LaunchConfig('mode') + '>')\n"
        )
    # Nothing was launched, so nothing was logged.
    assert not (ros2.folder / "log").exists()
    assert "No arguments." in ros2("launch", ros2.write(described("")), "-s").stdout


def errors(result) -> list[str]:
    text = result.stdout + result.stderr
    assert "Traceback" not in text
    return [line for line in text.splitlines() if line.startswith("[ERROR]")]


def test_a_value_outside_the_choices_is_refused(ros2):
    result = ros2(*FILE, "mode:=medium")
    assert result.returncode == 1
    # twice, as upstream
    assert len(errors(result)) == 2
    assert errors(result)[-1].endswith(
        'Caught exception in launch (see debug for traceback): Argument "mode" provided value '
        "\"medium\" is not valid. Valid options are: ['slow', 'fast']"
    )
    assert not any("mode is" in line for line in output_lines(result.stdout))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*FILE, "mode=fast"), "malformed launch argument 'mode=fast'"),
        ((*FILE, ":=fast"), "malformed launch argument ':=fast'"),
        (("launch", "bare_demo", "none.launch.py"), "'none.launch.py' was not found in the share"),
        (("launch", "no_such_package", "a.launch.py"), "Package 'no_such_package' not found"),
        (("launch", "/no/such.launch.py"), "launch file '/no/such.launch.py' does not exist"),
        (("launch", "bare_demo"), "name its launch file too"),
        (("run", "bare_demo", "nothing"), "No executable found"),
        (("run", "no_such_package", "nothing"), "Package 'no_such_package' not found"),
    ],
)
def test_mistakes_are_one_line(ros2, words, message):
    result = ros2(*words)
    assert result.returncode == 1
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def described(entity: str) -> str:
    return f"def generate_launch_description():\n    return LaunchDescription([{entity}])\n"


NODE = "Node(package='bare_demo', executable='talker', {})"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("def generate_launch_description():\n    return 1 / 0", "ZeroDivisionError: division by"),
        ("generate = None", "does not contain the required function"),
        ("from launch.actions import TimerAction", "cannot import name 'TimerAction'"),
        (described("sleeper(shell=True)"), "unexpected keyword argument 'shell'"),
        (described("sleeper(output='both')"), "output is 'both', expected one of"),
        (described("LogInfo(msg=LaunchConfiguration('nowhere'))"), "'nowhere' does not exist"),
        (described("on_exit(sleeper(), [LogInfo(msg='x')])"), "an event handler needs a function"),
        (described("LogInfo(msg=3)"), "expected text, a Substitution or an iterable"),
        (described("OpaqueFunction(function=lambda _: 3)"), "expected launch entities, got 3"),
        (described(NODE.format("parameters=[{'a': None}]")), "parameter a is None: expected"),
        (described(NODE.format("parameters=['/no/file']")), "'/no/file' does not exist"),
        (described(NODE.format("namespace='7'")), "invalid namespace '7'"),
    ],
)
def test_mistakes_in_a_launch_file_are_one_line(ros2, body, message):
    result = ros2("launch", ros2.write(body))
    assert result.returncode == 1
    (line,) = errors(result)
    assert line.startswith("[ERROR] [launch]: Caught exception in launch")
    assert message in line


def test_other_formats_are_refused_by_name(ros2):
    path = ros2.folder / "a.launch.xml"
    path.write_text("<launch/>")
    result = ros2("launch", str(path))
    assert result.returncode == 1
    assert "only Python launch files (.py)" in errors(result)[-1]


def test_debug_shows_the_traceback(ros2):
    body = "def generate_launch_description():\n    return 1 / 0"
    assert "ZeroDivisionError" in ros2("launch", "-d", ros2.write(body)).stdout


def test_every_command_has_help(ros2):
    for words in ((), ("launch",), ("run",), ("topic", "echo"), ("param", "set"), ("service",)):
        result = ros2(*words, "--help")
        assert result.returncode == 0
        assert result.stdout.startswith("usage: ros2")
    for words in ((), ("topic",)):
        assert ros2(*words).returncode == 0
    assert ros2("no-such-command").returncode == 2


def test_a_sourced_ros2_is_left_alone(ros2):
    marker = ros2.folder / "opt/share/ament_index/resource_index/packages/ros2cli"
    marker.parent.mkdir(parents=True)
    marker.touch()
    result = ros2("topic", "list", AMENT_PREFIX_PATH=str(ros2.folder / "opt"))
    assert result.returncode == 1
    assert "ROS 2 is sourced" in result.stderr
