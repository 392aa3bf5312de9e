# SPDX-License-Identifier: Apache-2.0

"""Thousands of random sequences of messages at each node: it survives, with valid output.

A property test of real nodes. The first sequences of each case travel over DDS; the others are
handed to the callbacks of the node's subscriptions, timers and services as an executor does it.
`--seed` replays a run that failed. ROBODYN_STORM sets how many sequences a node gets.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from local_graph import LocalGraph
from message_judge import Judge
from message_storm import TRANSFORMS, Storm
from rclpy.logging import LoggingSeverity
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from ros_harness import LATCHED, RELIABLE
from std_srvs.srv import Trigger

import robodyn as rd
from robodyn_ros.executor import takes_info
from robodyn_ros.nodes import NOT_COMPLETED
from robodyn_ros.runner import Finished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.ros
SEQUENCES = int(os.environ.get("ROBODYN_STORM", "500"))
OVER_DDS = 60
MODELS = {"platform": "stewart_symmetric", "arm": "puma560"}
STATE = {"platform": "platform_state", "arm": "joint_states"}
PATH = {"platform": "platform_trajectory", "arm": "joint_trajectory"}


class Case(NamedTuple):
    """A node with parameters, its fraction of the sequences, and the messages that it gets."""

    node: str
    kind: str
    fraction: float
    weights: dict[str, float]
    parameters: dict[str, object]


def controller(kind: str, fraction: float, **parameters: object) -> Case:
    weights = {STATE[kind]: 0.8, "external_wrench": 0.05, "base_imu": 0.05,
               "condition_monitor/scale": 0.03, "joint_trajectory": 0.03}  # fmt: skip
    weights[PATH[kind]] = 0.06
    given = {"watchdog_timeout": 0.0, "use_scale": True} | parameters
    return Case("inverse_dynamics", kind, fraction, weights, given)


def simulator(kind: str, fraction: float, stepping: str) -> Case:
    weights = {"joint_commands": 0.6, "effort_controller/commands": 0.3, "external_wrench": 0.05,
               "base_imu": 0.05}  # fmt: skip
    given = {"stepping": stepping, "min_subscribers": 0, "dt": 0.001, "hold_until_command": False}
    return Case("forward_simulator", kind, fraction, weights, given)


def summary(kind: str, fraction: float) -> Case:
    weights = {STATE[kind]: 0.45, "joint_states": 0.45, "joint_commands": 0.1,
               "diagnostics": 0.1, PATH[kind]: 0.01}  # fmt: skip
    return Case("run_summary", kind, fraction, weights, {"monitor_timeout": 0.0})


CASES = {
    "computed_torque": controller("platform", 0.4, mode="computed_torque", idle="hold"),
    "feedforward": controller("platform", 0.15, mode="feedforward", handover=0.05),
    "gravity": controller("platform", 0.15, mode="gravity_compensation", watchdog_timeout=0.01),
    "arm_control": controller("arm", 0.3, mode="computed_torque", preview=0.01),
    "lockstep": simulator("platform", 0.5, "lockstep"),
    "realtime": simulator("platform", 0.2, "realtime"),
    "arm_lockstep": simulator("arm", 0.3, "lockstep"),
    "monitor": Case("condition_monitor", "platform", 0.7,
                    {"platform_state": 0.997, "platform_trajectory": 0.003}, {}),
    "arm_monitor": Case("condition_monitor", "arm", 0.3,
                        {"joint_states": 0.99, "joint_trajectory": 0.01}, {}),
    "planner": Case("trajectory_planner", "platform", 0.7,
                    {"platform_state": 0.95, "goal_pose": 0.03, "goal_joints": 0.02},
                    {"sample_period": 0.1, "limits": "ignore", "v_max": 100.0, "w_max": 100.0}),
    "arm_planner": Case("trajectory_planner", "arm", 0.3,
                        {"joint_states": 0.95, "goal_joints": 0.04, "goal_pose": 0.01},
                        {"sample_period": 0.1, "limits": "warn", "v_max": 100.0}),
    "estimator": Case("state_estimator", "platform", 1.0, {"joint_states": 1.0}, {}),
    "markers": Case("force_markers", "platform", 1.0,
                    {"platform_state": 0.4, "inverse_dynamics/forces": 0.4,
                     "condition_number": 0.2}, {"values": True}),
    "summary": summary("platform", 3.0),
    "arm_summary": summary("arm", 3.0),
}  # fmt: skip


class Target:
    """Node under test; a run that has ended is started again."""

    def __init__(self, graph: LocalGraph, case: Case, output: Path) -> None:
        self.graph, self.case, self.output = graph, case, output
        self.runs = self.checked = 0
        self._take(graph.nodes[case.node])

    def _take(self, node: Any) -> None:
        node.get_logger().set_level(LoggingSeverity.FATAL)
        self.node = node
        self.timers = list(node.timers)
        self.services = [s for s in node.services if s.srv_type is Trigger]
        self.callbacks = self._callbacks()

    def _callbacks(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for subscription in self.node.subscriptions:
            called = subscription.callback, takes_info(subscription), subscription.raw
            found.setdefault(subscription.topic_name[1:], []).append(called)
        return found

    @property
    def topics(self) -> set[str]:
        """Return the topics that it subscribes to at present, for a storm."""
        return set(self._callbacks()) - {"parameter_events", *TRANSFORMS}

    def deliver(self, topic: str, message: object) -> None:
        if topic in TRANSFORMS:
            self.callbacks = self._callbacks()
        self.checked += 1  # the same message by any subscription
        information = {"source_timestamp": self.checked}
        for callback, informed, raw in self.callbacks.get(topic, ()):
            given = serialize_message(message) if raw else message
            arguments = (given, information) if informed else (given,)
            self._finishing(lambda: callback(*arguments))  # noqa: B023

    def look(self) -> None:
        for timer in self.timers:
            self._finishing(timer.callback)

    def spin(self, times: int) -> None:
        self._finishing(lambda: self.graph.spin_some(times))

    def _finishing(self, action: Callable[[], object]) -> None:
        """Run a callback. A run that it ended is summarized or rejected; another begins."""
        with contextlib.redirect_stdout(io.StringIO()):
            end = ending_of(action)
        if end is None:
            return
        assert self.case.node == "run_summary", str(end)
        if end.code not in (0, NOT_COMPLETED):
            assert "nothing to summarize" in str(end)
        else:
            status = json.loads((self.output / "summary.json").read_text())["status"]
            assert (status == "completed") == (end.code == 0)
            self.runs += 1
        self._take(self.graph.start(self.case.node))


def ending_of(action: Callable[[], object]) -> Finished | None:
    try:
        action()
    except Finished as end:
        return end
    return None


def payload(storm: Storm) -> list[Parameter]:
    """A change at run time, sound or not."""
    values = {
        "payload_mass": float(storm.spoilt(np.array([storm.rng.uniform(0, 80)]))[0]),
        "payload_com": storm.spoilt(storm.rng.normal(size=3) * 0.1).tolist(),
    }
    name = str(storm.rng.choice(list(values)))
    return [Parameter(name, value=values[name])]


def sequences(storm: Storm, case: Case) -> Iterator[list[str]]:
    """Topics of one, two or three messages that follow each other."""
    names, weights = list(case.weights), np.array(list(case.weights.values()))
    names = [*names, *TRANSFORMS]
    weights = np.append(weights, [0.01 * weights.sum()] * len(TRANSFORMS))
    for _ in range(round(case.fraction * SEQUENCES)):
        yield list(
            storm.rng.choice(names, size=storm.rng.integers(1, 4), p=weights / weights.sum())
        )


@pytest.mark.parametrize("name", CASES)
# numbers like 1e155 overflow before they are rejected; a node logs this on stderr and continues
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_random_messages(name, monkeypatch, tmp_path, rng):
    case = CASES[name]
    mechanism = rd.load(MODELS[case.kind])
    storm = Storm(mechanism, rng)
    judge = Judge(mechanism, monkeypatch)
    parameters = {"model": MODELS[case.kind]} | case.parameters
    if case.node == "run_summary":
        parameters["output"] = str(tmp_path)
    with LocalGraph({case.node: parameters}) as graph:
        target = Target(graph, case, tmp_path)
        assert target.topics == set(case.weights)
        publishers = {
            topic: graph.publisher(
                storm.makers[topic][0], topic, LATCHED if "trajectory" in topic else RELIABLE
            )
            for topic in case.weights
        }
        judge.exempt.extend(publishers.values())
        for k, topics in enumerate(sequences(storm, case)):
            storm.now = max(judge.now, storm.now) if case.node != "forward_simulator" else judge.now
            for topic in topics:
                if case.node != "forward_simulator":
                    storm.now += int(storm.rng.integers(0, 10_000_000))
                message = storm.makers[topic][1]()
                if k < OVER_DDS and topic in publishers:
                    publishers[topic].publish(message)
                    target.spin(3)
                else:
                    target.deliver(topic, message)
            if storm.chance(0.2):
                target.look()
            if k % 20 == 0 and target.node.has_parameter("payload_mass"):
                target.node.set_parameters(payload(storm))
            if k % 50 == 49 and target.services:
                service = target.services[storm.rng.integers(len(target.services))]
                service.callback(Trigger.Request(), Trigger.Response())
            assert judge.wrong == [], f"sequence {k}: {judge.wrong[0]}"
        target.spin(20)
        assert target.topics == set(case.weights)
        assert judge.wrong == [], judge.wrong[0]
        assert judge.checked > 0.01 * case.fraction * SEQUENCES
        assert target.runs > 0 or case.node != "run_summary"
