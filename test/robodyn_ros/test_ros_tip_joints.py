# SPDX-License-Identifier: Apache-2.0

"""Trajectories of the joints of a tip's pose, as a planner of trees sends them, over DDS."""

from __future__ import annotations

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

import robodyn as rd
from robodyn.trajectories import TipJoints
from robodyn_ros import messages

pytestmark = pytest.mark.ros


def test_a_delta_is_moved_by_its_tip(peer, start):
    tip = TipJoints(rd.load("delta"))
    home = tip.positions(tip.mechanism.home)
    start("inverse_dynamics", {"model": "delta", "idle": "hold", "watchdog_timeout": 0.0})
    start("forward_simulator", {"model": "delta"})
    reported = peer.listen(JointState, "inverse_dynamics/tip_joint_states")
    send = peer.publisher(JointTrajectory, "joint_trajectory")
    peer.until(lambda: reported, "where the tip is")
    assert list(reported[0].name) == list(tip.independent_joints)
    np.testing.assert_allclose(reported[0].position, home, atol=1e-6)
    goal = home + np.array([0.05, -0.03, 0.02])
    rows = [np.array([home, goal]), np.zeros((2, 3)), np.zeros((2, 3))]
    send.publish(messages.joint_trajectory(tip.independent_joints, np.array([0.0, 2.0]), rows))
    peer.until(lambda: np.allclose(reported[-1].position, goal, atol=1e-4), "the tip at its goal")
