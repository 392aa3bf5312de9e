# SPDX-License-Identifier: Apache-2.0

"""pose_sliders with a real executor."""

from __future__ import annotations

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
    parameters = {"model": MODEL}
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
        # a pose out of a leg's reach is shown, and logged
        assert graph.set("pose_sliders", z=z + 0.4) == []
        assert "limits" in graph.line("_actuator is ")
        assert graph.set("pose_sliders", z=z + 100.0) != []
        assert graph.set("pose_sliders", roll=float("nan")) != []


def test_an_arm_has_other_sliders():
    with pytest.raises(rd.ModelError, match="joint_state_publisher_gui"):
        LocalGraph({"pose_sliders": {"model": "puma560"}})
