# SPDX-License-Identifier: Apache-2.0

"""pose_sliders with a real executor, and its window on a display of its own."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from local_graph import LocalGraph
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

import robodyn as rd
from robodyn_ros import messages

pytestmark = pytest.mark.ros
MODEL = "stewart_symmetric"


def reach(graph, states, pose):
    graph.until(
        lambda: states and np.allclose(messages.platform_state(states[-1])[1], pose, atol=1e-9),
        f"the platform at {pose}",
    )


def test_all_joints_go_where_the_sliders_put_the_platform():
    platform = rd.load(MODEL)
    parameters = {"model": MODEL, "window": False}
    with LocalGraph({"pose_sliders": parameters}) as graph:
        states = graph.listen(Odometry, "platform_state")
        joints = graph.listen(JointState, "joint_states")
        reach(graph, states, platform.home)
        x, y, z = platform.home[:3] + np.array([0.05, -0.04, 0.03])
        assert graph.set("pose_sliders", x=x, y=y, z=z, roll=0.1, pitch=-0.2, yaw=0.3) == []
        pose = rd.pose_from_rpy([x, y, z], [0.1, -0.2, 0.3])
        reach(graph, states, pose)
        names, position, _ = platform.joint_states(pose, np.zeros(6))
        expected = pytest.approx(dict(zip(names, position, strict=True)), abs=1e-9)
        graph.until(
            lambda: dict(zip(joints[-1].name, joints[-1].position, strict=True)) == expected,
            f"joints at {expected}",
        )
        # out of a leg's reach is shown, and said
        assert graph.set("pose_sliders", z=z + 0.4) == []
        assert "limits" in graph.line("_actuator: ")
        assert graph.set("pose_sliders", z=z + 100.0) != []
        assert graph.set("pose_sliders", roll=float("nan")) != []


def test_an_arm_has_other_sliders():
    with pytest.raises(rd.ModelError, match="joint_state_publisher_gui"):
        LocalGraph({"pose_sliders": {"model": "puma560"}})


def test_without_a_display_the_parameters_remain(monkeypatch):
    monkeypatch.setenv("DISPLAY", ":987")
    with LocalGraph({"pose_sliders": {"model": MODEL}}) as graph:
        graph.line("no window", "set the parameters x, y, z, roll, pitch, yaw instead")
        assert graph.listen(Odometry, "platform_state") is not None


WINDOW = """
from robodyn_ros.parameters import Spec
from robodyn_ros.slider_window import SliderWindow

moved = []
specs = {"a": Spec(0.5, "a [m]", 0.0, 1.0), "b": Spec(0.0, "b [rad]", -1.0, 1.0)}
window = SliderWindow("test", specs, lambda name, value: moved.append((name, value)))
assert window.update([0.5, 0.0], "fine")
window._scales[0].set(0.75)
assert window.update([0.5, 0.0], "fine")
assert moved[-1] == ("a", 0.75), moved
assert window.update([0.25, 0.5], "out of reach")
assert (window._scales[0].get(), window._scales[1].get()) == (0.25, 0.5)
window._root.after(1, window._close)
while window.update([0.25, 0.5], ""):
    pass
print("closed")
"""


@pytest.mark.skipif(find_spec("tkinter") is None, reason="Python has no tkinter")
@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed")
def test_the_window_tells_and_shows():
    number = next(n for n in itertools.count(90) if not Path(f"/tmp/.X{n}-lock").exists())
    display = f":{number}"
    server = subprocess.Popen(
        ["Xvfb", display, "-screen", "0", "800x600x24"], stderr=subprocess.DEVNULL
    )
    try:
        socket = Path(f"/tmp/.X11-unix/X{number}")
        deadline = time.monotonic() + 30.0
        while not socket.exists() and server.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        done = subprocess.run(
            [sys.executable, "-c", WINDOW],
            env={**os.environ, "DISPLAY": display},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        server.kill()
        server.wait()
    assert done.returncode == 0, done.stderr
    assert done.stdout == "closed\n"
