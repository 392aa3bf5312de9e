# SPDX-License-Identifier: Apache-2.0

"""inverse_dynamics as a managed node: what each of its states commands, and how it leaves them."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from lifecycle_msgs.msg import State, Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableStates, GetAvailableTransitions, GetState
from local_graph import LocalGraph
from message_makers import odometry
from nav_msgs.msg import Odometry
from ros_harness import LATCHED
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory

import robodyn as rd
from robodyn.trajectories import knot_times
from robodyn_ros import messages
from robodyn_ros.inverse_dynamics import InverseDynamics

pytestmark = pytest.mark.ros
MODEL = "stewart_symmetric"
FRAMES = ("base_link", "platform_link")
REST = np.zeros(6)
PERIOD = 5_000_000
QUICK = {"watchdog_hold": 0.2, "watchdog_ramp": 0.5, "stop_time": 0.1, "watchdog_timeout": 0.0}


@pytest.fixture(scope="module")
def platform():
    return rd.load(MODEL)


class Clock:
    """Stands in for the module `time` of the controller; it advances on request."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


class Managed:
    """The node, and what goes in and out of it."""

    def __init__(self, graph: LocalGraph) -> None:
        self.graph, self.stamp = graph, 0

    def listen(self) -> None:
        """Once it is configured."""
        graph = self.graph
        self.trajectories = graph.publisher(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)
        self.states = graph.publisher(Odometry, "platform_state")
        self.commands = graph.listen(JointState, "joint_commands")

    def state(self) -> int:
        return self.graph.call(GetState, "/inverse_dynamics/get_state").current_state.id

    def change(self, number: int, label: str = "") -> bool:
        request = ChangeState.Request(transition=Transition(id=number, label=label))
        return self.graph.call(ChangeState, "/inverse_dynamics/change_state", request).success

    def follow(self, path) -> None:
        times = knot_times(path.duration, path.switching_times, 0.01)
        message = messages.platform_trajectory("base_link", "j", times, path.sample(times))
        self.trajectories.publish(message)

    def answer(self, motion) -> np.ndarray:
        """Return the efforts for a state."""
        self.stamp += PERIOD
        self.states.publish(odometry(self.stamp, FRAMES, motion.configuration, motion.velocity))

        def found():
            last = self.commands[-1].header.stamp if self.commands else None
            return last is not None and messages.to_nanoseconds(last) == self.stamp

        self.graph.until(found, f"an answer to {self.stamp}")
        return np.array(self.commands[-1].effort)


def test_a_fault_in_a_step_is_raised_and_leaves_the_state(monkeypatch):
    def fault(_):
        raise KeyError("a bug")

    with LocalGraph({"inverse_dynamics": {"model": MODEL, "autostart": False}}) as graph:
        node = Managed(graph)
        assert node.change(Transition.TRANSITION_CONFIGURE)
        monkeypatch.setattr(InverseDynamics, "activate", fault)
        with pytest.raises(KeyError, match="a bug"):
            node.change(Transition.TRANSITION_ACTIVATE)
        assert node.state() == State.PRIMARY_STATE_INACTIVE


def test_a_round_trip_in_flight(platform, monkeypatch):
    clock = Clock()
    monkeypatch.setattr("robodyn_ros.inverse_dynamics.time", clock)
    path = rd.plan_line(platform.home, rd.pose_from_rpy([0.1, 0.0, 0.9], [0, 0, 0]), duration=2.0)
    with LocalGraph({"inverse_dynamics": {"model": MODEL, "autostart": False} | QUICK}) as graph:
        node = Managed(graph)
        events = graph.listen(TransitionEvent, "inverse_dynamics/transition_event")
        assert node.state() == State.PRIMARY_STATE_UNCONFIGURED
        # an impossible request gets a response, and does not change the node
        assert not node.change(Transition.TRANSITION_ACTIVATE)
        graph.line("no transition activate from unconfigured; possible: configure, shutdown")
        assert not node.change(77)
        graph.line("no transition 77 from unconfigured; possible: configure, shutdown")
        assert node.change(0, "configure")
        assert node.state() == State.PRIMARY_STATE_INACTIVE

        # inactive: it listens, takes no trajectory and commands nothing
        node.listen()
        node.follow(path)
        graph.line("trajectory", "inactive")
        start = path.sample(0.0)
        for stamp in (1, 2, 3):
            node.states.publish(odometry(stamp, FRAMES, start.configuration, REST))
            graph.spin_some(20)
        assert not graph.call(Trigger, "/inverse_dynamics/stop").success
        assert node.change(Transition.TRANSITION_ACTIVATE)
        assert node.commands == []

        # active: the trajectory's efforts
        node.follow(path)
        graph.line("points accepted")
        for k in range(180):
            motion = path.sample(k * PERIOD * 1e-9)
            effort = node.answer(motion)
        np.testing.assert_allclose(effort, platform.inverse_dynamics(*motion), rtol=1e-6)
        assert np.abs(motion.velocity).max() > 0.01

        # deactivated in flight: it stops, holds, and the efforts come down to zero and end
        assert node.change(Transition.TRANSITION_DEACTIVATE)
        end = motion
        for _ in range(40):  # 0.2 s for a stop of 0.1 s
            held = node.answer(motion)
            end = motion._replace(velocity=0.0 * motion.velocity)
            motion = end
        weight = platform.inverse_dynamics(end.configuration, REST, REST)
        np.testing.assert_allclose(node.answer(end), weight, rtol=1e-3)
        for later, fraction in ((0.2, 1.0), (0.45, 0.5), (0.6, 0.2)):
            clock.now = 100.0 + later
            np.testing.assert_allclose(node.answer(end), fraction * weight, rtol=1e-3, atol=1e-9)
        assert not node.change(Transition.TRANSITION_CLEANUP)
        graph.line("cleanup refused", "efforts")
        clock.now = 101.0
        assert not node.answer(end).any()
        graph.line("efforts are zero")
        before = len(node.commands)
        node.states.publish(odometry(node.stamp + 1, FRAMES, end.configuration, REST))

        # up again, from its position; a command to that state would have come before the response
        assert node.change(Transition.TRANSITION_ACTIVATE)
        assert len(node.commands) == before
        node.follow(path)
        graph.until(lambda: sum("points accepted" in line for line in graph.lines) > 1, "the path")
        np.testing.assert_allclose(node.answer(end), weight, rtol=1e-3)

        # down and up while efforts are let go: it is held where it is
        assert node.change(Transition.TRANSITION_DEACTIVATE)
        clock.now += 0.45
        np.testing.assert_allclose(node.answer(end), 0.5 * weight, rtol=1e-3)
        assert node.change(Transition.TRANSITION_ACTIVATE)
        np.testing.assert_allclose(node.answer(end), weight, rtol=1e-9)
        # else PlotJuggler would reject a bag with them
        assert all(int(float(e.timestamp)) == e.timestamp > 0 for e in events)
        assert [e.goal_state.label for e in events[:4]] == [
            "configuring", "inactive", "activating", "active",
        ]  # fmt: skip
        assert held.any()


def test_efforts_that_are_let_go_are_not_said_to_be_cut(platform, monkeypatch):
    clock = Clock()
    monkeypatch.setattr("robodyn_ros.inverse_dynamics.time", clock)
    path = rd.plan_line(platform.home, rd.pose_from_rpy([0.1, 0.0, 0.9], [0, 0, 0]), duration=2.0)
    given = {"model": MODEL, "path_tolerance": 0.0} | QUICK
    with LocalGraph({"inverse_dynamics": given}) as graph:
        node = Managed(graph)
        node.listen()
        node.follow(path)
        graph.line("points accepted")
        there = path.sample(0.0)
        node.answer(there)
        assert node.change(Transition.TRANSITION_DEACTIVATE)
        node.answer(there)
        # it sinks, as it will without efforts, and the controller would lift it with all it has
        clock.now += 0.45
        sunk = platform.advance(there.configuration, [0.0, 0.0, -0.2, 0.0, 0.0, 0.0])
        sinks = there._replace(configuration=sunk, velocity=np.array([0.0, 0, -5.0, 0, 0, 0]))
        node.answer(sinks)
        assert graph.nodes["inverse_dynamics"]._follower.saturated.any()
        clock.now += 1.0
        node.answer(sinks)
        graph.line("efforts are zero")
        assert not [line for line in graph.lines if "the acceleration is reduced" in line]


def sizes(node) -> list[int]:
    return [len(list(each)) for each in (node.subscriptions, node.publishers, node.services)]


def test_cleaned_up_it_receives_nothing_and_can_be_configured_again(platform):
    with LocalGraph({"inverse_dynamics": {"model": MODEL} | QUICK}) as graph:
        node = Managed(graph)
        made = graph.nodes["inverse_dynamics"]
        states = graph.publisher(Odometry, "platform_state")
        everything = sizes(made)
        assert node.state() == State.PRIMARY_STATE_ACTIVE
        assert node.change(Transition.TRANSITION_DEACTIVATE)
        for _ in range(2):
            assert node.change(Transition.TRANSITION_CLEANUP)
            graph.until(lambda: not states.get_subscription_count(), "no subscription of states")
            assert not list(made.timers)
            # parameters may be set meanwhile, and count then
            assert graph.set("inverse_dynamics", kp=55.0) == []
            assert node.change(Transition.TRANSITION_CONFIGURE)
            graph.until(states.get_subscription_count, "a subscription of states")
        assert sizes(made) == everything
        assert graph.set("inverse_dynamics", kp=-1.0) != []
        assert node.change(Transition.TRANSITION_INACTIVE_SHUTDOWN)
        assert node.state() == State.PRIMARY_STATE_FINALIZED
        assert not node.change(Transition.TRANSITION_CONFIGURE)
        name = "/inverse_dynamics/"
        graph_of = graph.call(GetAvailableTransitions, f"{name}get_transition_graph")
        assert len(graph_of.available_transitions) == 25
        possible = graph.call(GetAvailableTransitions, f"{name}get_available_transitions")
        assert possible.available_transitions == []
        states = graph.call(GetAvailableStates, f"{name}get_available_states").available_states
        assert {s.label for s in states} >= {"unconfigured", "inactive", "active", "finalized"}


def test_a_model_that_cannot_be_read_leaves_it_unconfigured():
    with LocalGraph({"inverse_dynamics": {"model": "nowhere.urdf", "autostart": False}}) as graph:
        node = Managed(graph)
        assert not node.change(Transition.TRANSITION_CONFIGURE)
        graph.line("configure refused", "nowhere.urdf")
        assert node.state() == State.PRIMARY_STATE_UNCONFIGURED


def test_a_node_that_ended_does_not_silence_a_later_one_of_its_name():
    """A reference to a node would take the log of the next with it when it is collected."""
    with LocalGraph({"inverse_dynamics": {"model": MODEL}}) as graph:
        graph.start("inverse_dynamics")
        gc.collect()
        graph.nodes["inverse_dynamics"].get_logger().info("still heard")
        graph.line("still heard")
