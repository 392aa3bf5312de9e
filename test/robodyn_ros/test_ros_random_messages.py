"""Ten thousand random sequences of messages at each node: it lives, its efforts are sound.

A property test with real nodes, topics and executors. The seed of a run is printed.
"""

from __future__ import annotations

import math
import os
from typing import NamedTuple

import numpy as np
import pytest
from local_graph import LocalGraph
from message_storm import Storm
from nav_msgs.msg import Odometry
from rclpy.logging import LoggingSeverity
from rclpy.parameter import Parameter
from ros_harness import LATCHED, RELIABLE
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

import robodyn as rd
from robodyn_ros import messages

pytestmark = pytest.mark.ros
SEQUENCES = int(os.environ.get("ROBODYN_STORM", "1000"))
MODELS = {"platform": "stewart_symmetric", "arm": "puma560"}
STATE = {"platform": "platform_state", "arm": "joint_states"}
PATH = {"platform": "platform_trajectory", "arm": "joint_trajectory"}


class Case(NamedTuple):
    """A node with parameters, and how often what is thrown at it."""

    node: str
    kind: str
    share: float
    weights: dict[str, float]
    parameters: dict[str, object]


def controller(kind: str, share: float, **parameters: object) -> Case:
    weights = {STATE[kind]: 0.8, PATH[kind]: 0.06, "external_wrench": 0.08,
               "condition_monitor/scale": 0.03}  # fmt: skip
    weights["joint_trajectory"] = 0.03
    given = {"watchdog_timeout": 0.0, "use_scale": True} | parameters
    return Case("inverse_dynamics", kind, share, weights, given)


def simulator(kind: str, share: float, stepping: str) -> Case:
    weights = {"joint_commands": 0.6, "effort_controller/commands": 0.3, "external_wrench": 0.1}
    given = {"stepping": stepping, "min_subscribers": 0, "dt": 0.001, "hold_until_command": False}
    return Case("forward_simulator", kind, share, weights, given)


CASES = {
    "computed_torque": controller("platform", 0.4, mode="computed_torque", idle="hold"),
    "feedforward": controller("platform", 0.15, mode="feedforward", handover=0.05),
    "gravity": controller("platform", 0.15, mode="gravity_compensation", watchdog_timeout=0.01),
    "arm_control": controller("arm", 0.3, mode="computed_torque", preview=0.01),
    "lockstep": simulator("platform", 0.5, "lockstep"),
    "realtime": simulator("platform", 0.2, "realtime"),
    "arm_lockstep": simulator("arm", 0.3, "lockstep"),
    "monitor": Case("condition_monitor", "platform", 0.7,
                    {"platform_state": 0.98, "platform_trajectory": 0.02}, {}),
    "arm_monitor": Case("condition_monitor", "arm", 0.3,
                        {"joint_states": 0.98, "joint_trajectory": 0.02}, {}),
    "planner": Case("trajectory_planner", "platform", 0.7,
                    {"platform_state": 0.9, "goal_pose": 0.05, "goal_joints": 0.05},
                    {"sample_period": 0.1, "limits": "ignore", "v_max": 100.0, "w_max": 100.0}),
    "arm_planner": Case("trajectory_planner", "arm", 0.3,
                        {"joint_states": 0.9, "goal_joints": 0.1},
                        {"sample_period": 0.1, "limits": "warn", "v_max": 100.0}),
}  # fmt: skip


class Judge:
    """Listens to every output; remembers the first that is wrong."""

    def __init__(self, graph: LocalGraph, mechanism, node: str) -> None:
        self.limits = dict(zip(mechanism.joint_names, mechanism.effort_limits, strict=True))
        self.bounds = mechanism.effort_limits
        self.heard = 0
        self.wrong: list[str] = []
        self.now = 0
        listeners = {
            "effort_controller/commands": (Float64MultiArray, self._efforts),
            "joint_commands": (JointState, self._joints),
            "inverse_dynamics/forces": (JointState, self._finite_joints),
            "inverse_dynamics/massless_forces": (JointState, self._finite_joints),
            "inverse_dynamics/joint_trajectory_with_effort": (JointTrajectory, self._path),
            "joint_trajectory": (JointTrajectory, self._path),
            "platform_trajectory": (MultiDOFJointTrajectory, self._platform_path),
            "joint_states": (JointState, self._joints),
            "platform_state": (Odometry, self._state),
            "condition_monitor/scale": (Float64, self._scale),
        }
        told = {publisher.topic_name for publisher in graph.nodes[node].publishers}
        for topic, (kind, hear) in listeners.items():
            if f"/{topic}" in told:
                graph.peer.create_subscription(kind, topic, hear, 100)

    def _check(self, sound: bool, message) -> None:
        self.heard += 1
        if not sound and len(self.wrong) < 3:
            self.wrong.append(str(message)[:1500])

    def _efforts(self, message: Float64MultiArray) -> None:
        self._check(bool((np.abs(message.data) <= self.bounds).all()), message)

    def _finite_joints(self, message: JointState) -> None:
        self._check(bool(np.isfinite(message.effort).all()), message)

    def _joints(self, message: JointState) -> None:
        self.now = messages.to_nanoseconds(message.header.stamp)
        values = [*message.position, *message.velocity, *message.effort]
        bounds = [self.limits.get(name, 0.0) for name in message.name]
        within = all(abs(e) <= b for e, b in zip(message.effort, bounds, strict=True))
        self._check(within and bool(np.isfinite(values).all()), message)

    def _path(self, message: JointTrajectory) -> None:
        for point in message.points:
            rows = [*point.positions, *point.velocities, *point.accelerations]
            within = not point.effort or bool((np.abs(point.effort) <= self.bounds).all())
            self._check(within and bool(np.isfinite(rows).all()), point)

    def _platform_path(self, message: MultiDOFJointTrajectory) -> None:
        for point in message.points:
            twists = [messages.twist_array(t) for t in (*point.velocities, *point.accelerations)]
            values = np.concatenate([messages.pose_array(point.transforms[0]), *twists])
            self._check(bool(np.isfinite(values).all()), point)

    def _state(self, message: Odometry) -> None:
        values = (messages.pose_array(message.pose.pose), messages.twist_array(message.twist.twist))
        self._check(bool(np.isfinite(np.concatenate(values)).all()), message)

    def _scale(self, message: Float64) -> None:
        self._check(0.0 <= message.data <= 1.0, message)


def payload(storm: Storm) -> list[Parameter]:
    """A change at run time, sound or not."""
    values = {
        "payload_mass": float(storm.spoilt(np.array([storm.rng.uniform(0, 80)]))[0]),
        "payload_com": storm.spoilt(storm.rng.normal(size=3) * 0.1).tolist(),
    }
    name = str(storm.rng.choice(list(values)))
    return [Parameter(name, value=values[name])]


@pytest.mark.parametrize("name", CASES)
# numbers like 1e155 overflow on their way to being refused; a node says so on stderr and goes on
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_random_messages(name):
    case = CASES[name]
    seed = np.random.SeedSequence().entropy
    print(f"seed {seed}")
    mechanism = rd.load(MODELS[case.kind])
    storm = Storm(mechanism, np.random.default_rng(seed))
    parameters = {"model": MODELS[case.kind]} | case.parameters
    with LocalGraph({case.node: parameters}) as graph:
        node = graph.nodes[case.node]
        node.get_logger().set_level(LoggingSeverity.FATAL)
        judge = Judge(graph, mechanism, case.node)
        topics = {subscription.topic_name for subscription in node.subscriptions}
        weights = {topic: w for topic, w in case.weights.items() if f"/{topic}" in topics}
        publishers = {
            topic: graph.publisher(
                storm.makers[topic][0], topic, LATCHED if "trajectory" in topic else RELIABLE
            )
            for topic in weights
        }
        total = math.fsum(weights.values())
        names, shares = list(weights), [w / total for w in weights.values()]
        services = [s.srv_name for s in node.services if s.srv_type is Trigger]
        for k in range(round(case.share * SEQUENCES)):
            if judge.now:
                storm.now = judge.now
            for topic in storm.rng.choice(names, size=storm.rng.integers(1, 4), p=shares):
                if case.node != "forward_simulator":
                    storm.now += int(storm.rng.integers(0, 10_000_000))
                publishers[topic].publish(storm.makers[topic][1]())
                graph.spin_some(2)
            graph.spin_some(1)
            if k % 20 == 0 and node.has_parameter("payload_mass"):
                node.set_parameters(payload(storm))
            if k % 250 == 249:
                service = str(storm.rng.choice([s for s in services if "plan" not in s] or ["~/"]))
                if service != "~/":
                    graph.call(Trigger, service.replace("~", case.node))
            assert judge.wrong == [], f"seed {seed}, sequence {k}: {judge.wrong[0]}"
        graph.spin(0.05)
        assert judge.wrong == [], f"seed {seed}: {judge.wrong[0]}"
        assert judge.heard > 0.01 * case.share * SEQUENCES, f"seed {seed}"
