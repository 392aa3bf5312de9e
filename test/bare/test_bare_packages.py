# SPDX-License-Identifier: Apache-2.0

"""Search for packages and their executables."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

NEW = """
from launch import LaunchDescription
from launch.actions import LogInfo


def generate_launch_description():
    return LaunchDescription([LogInfo(msg='a')])
"""
PREPARE = "from robodyn_bare.environment import prepare; prepare()\n"
SOURCE = Path(__file__).parent / "package"


def python(ros2, code: str, **env: str) -> str:
    command = [sys.executable, "-c", code]
    env = {**ros2.env, **env}
    return subprocess.run(command, env=env, text=True, capture_output=True, check=True).stdout


def test_an_editable_installation_is_its_source(ros2):
    code = (
        PREPARE + "from ament_index_python.packages import *\n"
        "print(get_package_share_directory('bare_demo')); print(get_package_prefix('bare_demo'))\n"
        "print(get_package_prefix('std_msgs'))\n"
        "try: get_package_prefix('no_such_package')\n"
        "except PackageNotFoundError as error: print('not found')"
    )
    found, own, installed, last = python(ros2, code).splitlines()
    for name in ("package.xml", "launch/talker.launch.py", "config/talker.yaml"):
        assert Path(found, name).samefile(SOURCE / name)
    assert Path(found) == Path(own, "share", "bare_demo")
    assert {path.name for path in Path(own, "lib", "bare_demo").iterdir()} == {"talker", "tool"}
    assert Path(installed).samefile(sys.prefix)
    assert last == "not found"


def test_edits_need_no_installation(ros2):
    copy = ros2.folder / "copy"
    shutil.copytree(SOURCE, copy)
    (info,) = ros2.installed.iterdir()
    record = {"url": copy.as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(record))
    new = copy / "launch/new.launch.py"
    new.write_text(NEW)
    assert "[launch.user]: a" in ros2("launch", "bare_demo", "new.launch.py").stdout
    # of another length: Python knows an edited file by its length and second
    new.write_text(new.read_text().replace("'a'", "'bb'"))
    assert "[launch.user]: bb" in ros2("launch", "bare_demo", "new.launch.py").stdout
    # What is no part of the package is not searched: an environment, a build, another package.
    for folder in (".hidden", "build", "test", "somewhere", "other"):
        shutil.copytree(copy / "launch", copy / folder / "launch")
    (copy / "somewhere/pyvenv.cfg").touch()
    (copy / "other/COLCON_IGNORE").touch()
    assert "[launch.user]: bb" in ros2("launch", "bare_demo", "new.launch.py").stdout
    shutil.copytree(copy / "launch", copy / "more")
    (copy / "more/new.launch.py").unlink()
    (copy / "more/new.launch.py").write_text("")
    result = ros2("launch", "bare_demo", "new.launch.py")
    assert result.returncode == 1
    assert "was found more than once" in result.stderr


def test_run_passes_arguments_and_exit_codes(ros2):
    result = ros2("run", "bare_demo", "tool", "0", "--ros-args", "-p", "a:=b")
    assert (result.returncode, result.stdout) == (0, "tool: 0 --ros-args -p a:=b\n")
    result = ros2("run", "bare_demo", "tool", "4")
    assert result.returncode == 4
    assert "[ros2run]: Process exited with failure 4" in result.stdout


def test_discovery_stays_on_this_machine_by_default(ros2):
    code = PREPARE + "import os; print(os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'])"
    del ros2.env["ROS_AUTOMATIC_DISCOVERY_RANGE"]
    assert python(ros2, code) == "LOCALHOST\n"
    assert python(ros2, code, ROS_AUTOMATIC_DISCOVERY_RANGE="SUBNET") == "SUBNET\n"


def test_a_folder_named_launch_does_not_hide_the_package(ros2):
    (ros2.folder / "launch").mkdir()
    os.chdir(ros2.folder)
    assert python(ros2, "import launch; print(launch.LaunchService.__name__)") == "LaunchService\n"
