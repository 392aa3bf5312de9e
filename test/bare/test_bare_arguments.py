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

"""Launch arguments, conditions and substitutions, through `ros2 launch`."""

import pytest

FILE = ("launch", "bare_demo", "arguments.launch.py")


def said(output: str) -> list[str]:
    mark = "[INFO] [launch.user]: "
    return [line.removeprefix(mark) for line in output.splitlines() if line.startswith(mark)]


def test_defaults(ros2):
    result = ros2(*FILE)
    assert result.returncode == 0, result.stdout
    assert said(result.stdout) == [
        "mode is slow",
        "quiet",
        "sum 3",
        "pi 3.14",
        "echo a b c",
        "unset -",
        "unknown -",
        "opaque slow <slow>",
        "in inner inner",
        "out slow -",
        "included for slow",
    ]


def test_given_arguments(ros2):
    words = ("mode:=slow", "loud:=True", "mode:=fast", "unknown:=known", "extra:=a:=b")
    result = ros2(*FILE, *words)
    lines = said(result.stdout)
    # The last of a name wins; an argument that nobody declared is a configuration all the same.
    assert lines[:4] == ["mode is fast", "LOUD", "equal", "deprecated"]
    assert "unknown known" in lines
    assert "opaque fast a:=b" in lines
    assert result.returncode == 0


def test_show_args(ros2):
    for option in ("-s", "--show-args"):
        result = ros2(*FILE, option)
        assert result.returncode == 0
        assert result.stdout.startswith("Arguments (pass arguments as '<name>:=<value>'):\n")
        assert (
            "\n    'mode':\n        How to go. Valid choices are: ['slow', 'fast']\n"
            "        (default: 'slow')\n" in result.stdout
        )
        assert "        (default: '<' + LaunchConfig('mode') + '>')\n" in result.stdout
        assert "\n    'rare':*\n        no description given\n" in result.stdout
        assert "* argument(s) which are only used if specific conditions occur" in result.stdout
    # Nothing was launched, so nothing was logged.
    assert not (ros2.folder / "log").exists()


def test_show_args_of_an_include_that_can_be_read_ahead(ros2):
    included = ros2.write("""
def generate_launch_description():
    return LaunchDescription([DeclareLaunchArgument('inner', default_value='x')])
""")
    outer = ros2.write(f"""
def generate_launch_description():
    return LaunchDescription([IncludeLaunchDescription({included!r})])
""")
    assert "'inner':" in ros2("launch", outer, "-s").stdout
    assert (
        "No arguments."
        in ros2(
            "launch",
            ros2.write("""
def generate_launch_description():
    return LaunchDescription([])
"""),
            "-s",
        ).stdout
    )


def test_an_include_may_give_what_its_file_requires(ros2):
    inner = ros2.write("""
def generate_launch_description():
    needed = DeclareLaunchArgument('needed')
    return LaunchDescription([needed, LogInfo(msg=['got ', LaunchConfiguration('needed')])])
""")
    body = """
def generate_launch_description():
    return LaunchDescription([IncludeLaunchDescription({!r}, launch_arguments={!r}.items())])
"""
    result = ros2("launch", ros2.write(body.format(inner, {"needed": "x"})))
    assert (result.returncode, said(result.stdout)) == (0, ["got x"])
    # As upstream, setting it around the include is not enough.
    result = ros2("launch", ros2.write(body.format(inner, {})), "needed:=x")
    assert result.returncode == 1
    assert "missing required argument 'needed'" in errors(result)[-1]


def errors(result) -> list[str]:
    text = result.stdout + result.stderr
    assert "Traceback" not in text
    return [line for line in text.splitlines() if line.startswith("[ERROR]")]


def test_a_value_outside_the_choices_is_refused(ros2):
    result = ros2(*FILE, "mode:=medium")
    assert result.returncode == 1
    assert errors(result)[-1].endswith(
        'Caught exception in launch (see debug for traceback): Argument "mode" provided value '
        "\"medium\" is not valid. Valid options are: ['slow', 'fast']"
    )
    assert said(result.stdout) == []


def test_a_required_argument_is_required(ros2):
    result = ros2("launch", "bare_demo", "included.launch.py")
    assert result.returncode == 1
    assert "missing required argument 'needed' (description: 'Something needed')" in result.stdout
    result = ros2("launch", "bare_demo", "included.launch.py", "needed:=this")
    assert result.returncode == 0
    assert said(result.stdout) == ["included this"]


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


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("def generate_launch_description():\n    return 1 / 0", "division by zero"),
        ("generate = None", "does not contain the required function"),
        ("from launch.actions import NoSuchAction", "NoSuchAction"),
        (
            "def generate_launch_description():\n"
            "    return LaunchDescription([sleeper(output_format='x')])",
            "unexpected keyword argument 'output_format'",
        ),
        (
            "def generate_launch_description():\n"
            "    return LaunchDescription([LogInfo(msg=LaunchConfiguration('nowhere'))])",
            "launch configuration 'nowhere' does not exist",
        ),
        (
            "def generate_launch_description():\n"
            "    return LaunchDescription([LogInfo(msg='x', condition=IfCondition('maybe'))])",
            "got 'maybe'",
        ),
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


def test_help(ros2):
    for words in ((), ("launch",), ("run",), ("topic", "echo"), ("param", "set"), ("node", "list")):
        result = ros2(*words, "--help")
        assert result.returncode == 0
        assert result.stdout.startswith("usage: ros2")
    assert ros2().returncode == 0
    assert ros2("no-such-command").returncode == 2


def test_a_sourced_ros2_is_left_alone(ros2):
    marker = ros2.folder / "opt/share/ament_index/resource_index/packages/ros2cli"
    marker.parent.mkdir(parents=True)
    marker.touch()
    result = ros2("node", "list", AMENT_PREFIX_PATH=str(ros2.folder / "opt"))
    assert result.returncode == 1
    assert "ROS 2 is sourced" in result.stderr
