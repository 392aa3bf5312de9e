# SPDX-License-Identifier: Apache-2.0

"""Planner, controller, monitor and simulator together, in lockstep, in one executor."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from local_graph import LocalGraph
from nav_msgs.msg import Odometry
from ros_harness import LATCHED
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from std_srvs.srv import Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory

import robodyn as rd
from robodyn_ros import messages

pytestmark = pytest.mark.ros
MODEL = "stewart_symmetric"
SECOND, PERIOD = 1_000_000_000, 5_000_000
SIMULATOR = {"command_timeout": 600.0}
CONTROLLER = {"watchdog_timeout": 0.0}


class Flight:
    """A graph that flies; states and commands by their stamps."""

    def __init__(self, model: str, nodes: dict[str, dict[str, object]]) -> None:
        given = {name: {"model": model} | parameters for name, parameters in nodes.items()}
        self.graph = LocalGraph(given)
        self.goals = self.graph.publisher(PoseStamped, "goal_pose")
        self.poses, self.twists, self.efforts = {}, {}, {}
        self.latest = -1
        self.graph.peer.create_subscription(Odometry, "platform_state", self._on_state, 1000)
        self.graph.peer.create_subscription(JointState, "joint_commands", self._on_command, 1000)

    def _on_state(self, message: Odometry) -> None:
        stamp, pose, twist = messages.platform_state(message)
        self.poses[stamp], self.twists[stamp] = pose, twist
        self.latest = stamp

    def _on_command(self, message: JointState) -> None:
        self.efforts[messages.to_nanoseconds(message.header.stamp)] = np.array(message.effort)

    def go(self, xyz, rpy=(0.0, 0.0, 0.0)) -> None:
        """Send a goal and wait until its trajectory is accepted."""
        message = PoseStamped()
        messages.fill_pose(message.pose, rd.pose_from_rpy(xyz, rpy))
        before = self.accepted()
        self.goals.publish(message)
        self.graph.until(lambda: self.accepted() > before, f"a path to {xyz}")

    def accepted(self) -> int:
        return sum("points accepted" in line for line in self.graph.lines)

    def fly(self, until: float) -> None:
        self.graph.until(lambda: self.latest >= until * SECOND, f"t = {until} s")

    def rows(self, by_stamp, begin: float = 0.0, end: float = 1e6):
        stamps = [s for s in sorted(by_stamp) if begin * SECOND <= s <= end * SECOND]
        return np.array(stamps) * 1e-9, np.array([by_stamp[stamp] for stamp in stamps])


@pytest.fixture(scope="module")
def platform():
    return rd.load(MODEL)


def flight_to_replace(handover):
    return Flight(
        MODEL,
        {
            "trajectory_planner": {"v_max": 0.4, "w_max": 0.4},
            "inverse_dynamics": CONTROLLER | {"idle": "hold", "handover": handover},
            # both, and the test: a planner without a state rejects a goal
            "forward_simulator": SIMULATOR | {"min_subscribers": 3},
        },
    )


def replaced(handover):
    """Largest jump of the efforts from one command to the next, and of the velocity.

    The second goal comes while the platform moves at full speed to the first. Its plan begins at
    rest, where the platform was measured.
    """
    flight = flight_to_replace(handover)
    with flight.graph:
        flight.fly(0.1)
        flight.go([0.15, 0.0, 0.82])
        begun = flight.latest * 1e-9
        flight.fly(begun + 0.35)
        assert flight.twists[flight.latest][0] > 0.2
        flight.go([0.0, 0.1, 0.9], [0.0, 0.05, 0.0])
        changed = flight.latest * 1e-9
        flight.fly(changed + 2.0)
    times, efforts = flight.rows(flight.efforts, changed - 0.02, changed + 0.05)
    assert np.diff(times).max() == pytest.approx(0.005, abs=1e-6)
    _, twists = flight.rows(flight.twists, changed - 0.02, changed + 0.05)
    end = flight.poses[flight.latest]
    goal = rd.pose_from_rpy([0.0, 0.1, 0.9], [0.0, 0.05, 0.0])
    np.testing.assert_allclose(end, goal, rtol=0, atol=1e-3)
    return np.abs(np.diff(efforts, axis=0)).max(), np.abs(np.diff(twists, axis=0)).max()


def test_a_running_trajectory_is_replaced_without_a_jump():
    effort, twist = replaced(0.5)
    jump, bump = replaced(0.0)
    assert effort < 0.25 * jump
    assert twist < 0.5 * bump


def test_a_reset_in_mid_path_flies_it_again_to_the_last_bit():
    """Simulated time jumps back while all other processes continue."""
    flight = Flight(
        "stewart_dasgupta",
        {
            "trajectory_planner": {"path": "II", "limits": "warn"},
            "inverse_dynamics": CONTROLLER,
            "condition_monitor": {},
            "forward_simulator": SIMULATOR | {"path": "II", "min_subscribers": 4},
        },
    )
    mechanism, path = rd.load("stewart_dasgupta"), rd.paper_path("II")
    library = rd.simulate(
        mechanism, rd.ComputedTorque(mechanism), path, dt=1e-3, control_dt=PERIOD * 1e-9
    )
    with flight.graph:
        numbers = flight.graph.listen(Float64, "condition_number")
        flight.fly(0.4)
        first = {stamp: pose for stamp, pose in flight.poses.items() if stamp <= 0.4 * SECOND}
        flight.poses.clear()
        assert flight.graph.call(Trigger, "forward_simulator/reset").success
        flight.graph.until(lambda: 0 in flight.poses, "the state at t = 0")
        known = len(numbers)
        flight.fly(0.4)
        for k, configuration in enumerate(library.configuration[: len(first)]):
            assert (flight.poses[k * PERIOD] == first[k * PERIOD]).all(), k
            # the path itself is left by 2.4 mm here: commands are held for 5 ms
            np.testing.assert_allclose(first[k * PERIOD], configuration, rtol=0, atol=1e-12)
        assert len(first) == 81
        assert len(numbers) > known + 50


def test_the_scale_slows_the_flight_before_a_singularity():
    """The singularity of path III is not reached, and the way back is free."""
    flight = Flight(
        "stewart_dasgupta",
        {
            "trajectory_planner": {"path": "III", "limits": "ignore", "v_max": 0.5, "w_max": 0.5},
            "inverse_dynamics": CONTROLLER | {"use_scale": True},
            "condition_monitor": {
                "characteristic_length": 0.3,
                "scale_from": 205.0,
                "scale_to": 300.0,
            },
            "forward_simulator": SIMULATOR | {"path": "III", "min_subscribers": 4},
        },
    )
    mechanism = rd.load("stewart_dasgupta")
    with flight.graph:
        scales = flight.graph.listen(Float64, "condition_monitor/scale")
        scaled = flight.graph.listen(Float64, "condition_monitor/condition_number_scaled")
        flight.fly(0.4)
        assert scales[-1].data > 0.8
        flight.graph.until(lambda: flight.latest > 2.5 * SECOND, "t = 2.5 s")
        # less of the path lies behind it than without the scale
        planned = np.linalg.norm(rd.paper_path("III").sample(2.5).velocity)
        assert np.linalg.norm(flight.twists[flight.latest]) < 0.75 * planned
        assert 0.0 <= scales[-1].data < 0.5
        assert max(message.data for message in scaled) < 300.0
        pose = flight.poses[flight.latest]
        assert scaled[-1].data == pytest.approx(
            float(mechanism.condition_number(pose, 0.3)), rel=0.05
        )
        # away from it the way is free
        known = len(scales)
        messages_to = PoseStamped()
        messages.fill_pose(messages_to.pose, rd.paper_path("III").sample(0.0).configuration)
        flight.goals.publish(messages_to)
        flight.graph.until(lambda: 1.0 in [m.data for m in scales[known:]], "a scale of 1")
        flight.fly(flight.latest * 1e-9 + 0.8)
        assert scaled[-1].data < max(message.data for message in scaled)
        efforts = np.array(list(flight.efforts.values()))
        assert (np.abs(efforts) <= mechanism.effort_limits).all()


def test_a_flight_that_stands_before_a_singularity_leaves_by_itself():
    """It stands at 1200 on path III, on the path, and goes when its way leads out."""
    flight = Flight(
        "stewart_dasgupta",
        {
            "trajectory_planner": {"path": "III", "limits": "ignore", "v_max": 0.3, "w_max": 0.5},
            "inverse_dynamics": CONTROLLER | {"use_scale": True},
            "condition_monitor": {"scale_from": 1100.0, "scale_to": 1200.0},
            "forward_simulator": SIMULATOR | {"path": "III", "min_subscribers": 4},
        },
    )
    mechanism, path = rd.load("stewart_dasgupta"), rd.paper_path("III")
    with flight.graph:
        scales = flight.graph.listen(Float64, "condition_monitor/scale")

        def stands() -> bool:
            return scales[-1].data < 0.01 and np.abs(flight.twists[flight.latest]).max() < 2e-3

        flight.fly(3.3)
        flight.graph.until(stands, "the end of its motion")
        times = np.linspace(0.0, 3.67, 3671)
        standing = flight.poses[flight.latest]
        apart = mechanism.difference(path.sample(times).configuration, standing)
        assert np.linalg.norm(apart, axis=1).min() < 1e-3
        assert float(mechanism.condition_number(standing)) < 1350.0
        # the only thing that changes is where the plan leads
        back = path.sample(2.0).configuration
        message = PoseStamped()
        messages.fill_pose(message.pose, back)
        flight.goals.publish(message)

        def arrived() -> bool:
            return np.abs(mechanism.difference(back, flight.poses[flight.latest])).max() < 2e-3

        flight.graph.until(arrived, "the platform where it was sent")
        efforts = np.array(list(flight.efforts.values()))
        assert (np.abs(efforts) <= mechanism.effort_limits).all()


def test_a_payload_known_to_the_controller_lifts_the_platform_back(platform):
    """Sagging by g m / (M kp) under an unknown load, and back when it is known."""
    flight = Flight(
        MODEL,
        {
            # dry friction would bear a part of the load
            "inverse_dynamics": CONTROLLER | {"idle": "hold", "friction": False},
            "trajectory_planner": {},
            "forward_simulator": SIMULATOR | {"payload_mass": 50.0, "friction": False},
        },
    )

    def sag():
        return platform.home[2] - flight.poses[flight.latest][2]

    with flight.graph:
        received = flight.graph.listen(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)
        flight.fly(2.0)
        mass = platform.mass_matrix(platform.home)[2, 2]
        assert sag() == pytest.approx(9.81 * 50.0 / (mass * 100.0), rel=0.05)
        assert flight.graph.set("inverse_dynamics", payload_mass=50.0) == []
        flight.fly(4.0)
        assert abs(sag()) < 1e-5
        assert received == []
