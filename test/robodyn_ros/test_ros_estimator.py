# SPDX-License-Identifier: Apache-2.0

"""state_estimator as a process: leg lengths in, pose, twist and passive joints out."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from local_graph import LocalGraph
from message_makers import joint_state
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

import robodyn as rd
from robodyn.algorithms import Encoders, quantization_deviation
from robodyn.poses import twist_covariance_in_body
from robodyn.solvers.stewart.estimation import motion_covariance
from robodyn.solvers.tree.conditions import force_condition, motion_condition
from robodyn.solvers.tree.estimation import LoopEstimator
from robodyn_ros import messages

pytestmark = pytest.mark.ros
PERIOD = 5_000_000
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
RESOLUTION, RATE_RESOLUTION = 1e-6, 1e-5


class Estimator:
    """The process, and what goes in and out of it; each reading is a period after the last."""

    def __init__(self, peer, start, platform) -> None:
        self.peer, self.platform = peer, platform
        parameters = {"length_resolution": RESOLUTION, "rate_resolution": RATE_RESOLUTION}
        self.process = start("state_estimator", {**parameters, "timeout": 1.0})
        self.joints = peer.publisher(JointState, "joint_states")
        self.states = peer.listen(Odometry, "platform_state")
        self.received = peer.listen(JointState, "joint_states")
        self.diagnostics = peer.listen(DiagnosticArray, "/diagnostics")
        self.stamp = 10**9
        self.pose = platform.home

    def message(self, pose, twist, stamp=None) -> JointState:
        if stamp is None:
            self.stamp += PERIOD
            stamp = self.stamp
        lengths = self.platform.joint_positions(pose)
        rates = self.platform.joint_velocities(pose, twist)
        return joint_state(stamp, self.platform.joint_names, lengths, rates)

    def answer(self, message, stamp=None) -> Odometry:
        """Return the state for a reading, which is sent again if it was lost."""
        stamp = messages.to_nanoseconds(message.header.stamp) if stamp is None else stamp

        known = len(self.states)

        def find():
            return next((s for s in self.states[known:] if nanoseconds(s) == stamp), None)

        for _ in range(60):
            self.joints.publish(message)
            try:
                return self.peer.until(find, "a state", timeout=1.0)
            except AssertionError:
                assert self.process.alive, self.process.output
        raise AssertionError(f"no state for t = {stamp}:\n{self.process.output}")

    def status(self, level, *texts) -> DiagnosticStatus:
        """A diagnostic yet to come; meanwhile readings continue, unless silence is requested."""
        known = len(self.diagnostics)
        sent = 0.0

        def find():
            nonlocal sent
            # no faster than they are received here, or the queue overflows
            if texts != ("no joint_states",) and time.monotonic() - sent > 0.02:
                sent = time.monotonic()
                send_next(self, self.message(self.pose, np.zeros(6)))
            for array in self.diagnostics[known:]:
                for status in array.status:
                    if status.level == level and all(text in status.message for text in texts):
                        return status
            return None

        return self.peer.until(find, f"a diagnostic with {texts}")


def test_a_delta_is_estimated_and_watched_by_its_motors_alone():
    """The tip's state with covariances, passive joints, and the monitor beside it unperturbed."""
    delta = rd.load("delta")
    given = {"model": "delta", "angle_resolution": 1e-4, "timeout": 3600.0}
    q, u = delta.advance(delta.home, [0.1, -0.2, 0.15]), np.array([0.5, 0.2, -0.3])
    reading, rates = delta.joint_positions(q), delta.joint_velocities(q, u)
    expected = LoopEstimator(delta, encoders=Encoders(angle=1e-4)).update(1, reading, rates)
    with LocalGraph({"state_estimator": given, "condition_monitor": {"model": "delta"}}) as graph:
        joints = graph.publisher(JointState, "joint_states")
        paths = graph.publisher(JointTrajectory, "joint_trajectory")
        states = graph.listen(Odometry, "platform_state")
        received = graph.listen(JointState, "joint_states")
        numbers = graph.listen(Float64, "condition_number")
        diagnostics = graph.listen(DiagnosticArray, "/diagnostics")
        joints.publish(joint_state(10**9, delta.joint_names, reading, rates))
        state = graph.until(lambda: states, "a state")[0]
        assert (state.header.frame_id, state.child_frame_id) == delta.frames
        _, pose, twist = messages.platform_state(state)
        np.testing.assert_allclose(pose, delta.body_pose(q), rtol=0, atol=1e-9)
        np.testing.assert_allclose(twist, delta.jacobian(q) @ u, rtol=0, atol=1e-9)
        np.testing.assert_allclose(
            np.reshape(state.pose.covariance, (6, 6)), expected.pose_covariance, atol=1e-15
        )
        passive = graph.until(lambda: [m for m in received if len(m.name) > 3], "passive joints")[0]
        names, positions, velocities = delta.joint_states(q, u)
        assert tuple(passive.name) == delta.passive_joint_names
        at = [names.index(name) for name in passive.name]
        np.testing.assert_allclose(passive.position, positions[at], rtol=0, atol=1e-9)
        np.testing.assert_allclose(passive.velocity, velocities[at], rtol=0, atol=1e-9)
        # the monitor reads the motors' message and passes over that of passive joints
        number = graph.until(lambda: numbers, "a condition number")[0].data
        assert number == pytest.approx(float(delta.condition_number(q)), rel=1e-9)
        # all arms and rods in line: an end of travel
        start, end = delta.joint_positions(delta.home), np.full(3, 1.9)
        rates_of_path = np.tile(end - start, (30, 1))
        rows = np.linspace(start, end, 30), rates_of_path, 0.0 * rates_of_path
        paths.publish(messages.joint_trajectory(delta.joint_names, np.linspace(0.0, 1.0, 30), rows))
        graph.line("trajectory ahead: singular at", "type 1: an end of travel")
        graph.until(lambda: len(_statuses(diagnostics, "trajectory ahead")) > 0, "what lies ahead")
        ahead = _statuses(diagnostics, "trajectory ahead")[-1]
        assert value(ahead, "singular_times, type 2") == "[]"
        assert value(ahead, "singular_times, type 1") == value(ahead, "singular_times") != "[]"
        now = _statuses(diagnostics, "condition number")[-1]
        for name, condition in (
            ("1", motion_condition(delta, q)),
            ("2", force_condition(delta, q)),
        ):
            reported = float(value(now, f"condition_number, type {name}"))
            assert reported == pytest.approx(float(condition), rel=1e-6)
        # no assembly has these positions; the closure is named, and the next reading is processed
        assert not [line for line in graph.lines if "refused" in line]
        joints.publish(joint_state(10**9 + PERIOD, delta.joint_names, end * [2, 0, 0]))
        graph.line("the tip's pose is lost", "_tip' stays open")
        joints.publish(joint_state(10**9 + 2 * PERIOD, delta.joint_names, reading, rates))
        graph.line("pose of the tip found again, from home")


def _statuses(arrays, name):
    return [s for array in arrays for s in array.status if s.name.endswith(f": {name}")]


def nanoseconds(message) -> int:
    return messages.to_nanoseconds(message.header.stamp)


@pytest.fixture(scope="module")
def estimator(peer, start, mechanism):
    return Estimator(peer, start, mechanism)


@pytest.fixture(scope="module")
def home(estimator, mechanism):
    """Send a reading at rest at home until both sides have discovered each other."""
    estimator.answer(estimator.message(mechanism.home, np.zeros(6)))
    return mechanism.home


def test_silence_is_an_error_until_readings_come(estimator, mechanism):
    status = estimator.status(ERROR, "no joint_states")
    assert status.name == "state_estimator: state estimation"
    estimator.answer(estimator.message(mechanism.home, np.zeros(6)))
    estimator.status(OK, "tracking")


def test_path_one_is_reproduced_though_messages_are_lost(estimator, home, mechanism, rng):
    lost = rng.random(1200) < 0.01
    t = PERIOD * 1e-9 * np.arange(1200)
    motion = rd.paper_path("I").sample(t)
    known = len(estimator.states)
    first = estimator.message(motion.configuration[0], motion.velocity[0])
    estimator.answer(first)
    expected = {nanoseconds(first): 0}
    for i in np.flatnonzero(~lost)[1:]:
        stamp = nanoseconds(first) + int(i) * PERIOD
        message = estimator.message(motion.configuration[i], motion.velocity[i], stamp)
        if i % 3 == 0:  # joints in another order, with others among them
            message = shuffled(message)
        estimator.joints.publish(message)
        expected[stamp] = i
        # no faster than it replies: queues are finite, and the machine may be busy
        enough = known + len(expected) - 100
        estimator.peer.until(lambda enough=enough: len(estimator.states) >= enough, "states")
    estimator.stamp = max(expected)

    def answered():
        return {nanoseconds(s): s for s in estimator.states if nanoseconds(s) in expected}

    reference = known + len(expected)
    estimator.peer.until(lambda: len(estimator.states) >= reference, "all states")
    estimator.received.clear()
    for stamp, state in answered().items():
        i = expected[stamp]
        _, pose, twist = messages.platform_state(state)
        error = mechanism.difference(motion.configuration[i], pose)
        assert np.abs(error).max() < 1e-9, f"reading {i}"
        assert np.abs(twist - motion.velocity[i]).max() < 1e-9, f"reading {i}"


def shuffled(message) -> JointState:
    order = [3, 0, 5, 1, 4, 2]
    mixed = JointState(header=message.header, name=["gripper", *(message.name[i] for i in order)])
    mixed.position = [0.0, *(message.position[i] for i in order)]
    mixed.velocity = [0.0, *(message.velocity[i] for i in order)]
    return mixed


def test_a_state_carries_the_covariances_of_the_encoders(estimator, home, mechanism):
    twist = np.array([0.1, -0.2, 0.05, 0.3, 0.1, -0.2])
    state = estimator.answer(estimator.message(home, twist))
    assert (state.header.frame_id, state.child_frame_id) == mechanism.frames
    deviations = quantization_deviation(RESOLUTION), quantization_deviation(RATE_RESOLUTION)
    of_pose, of_twist = motion_covariance(mechanism, home, twist, *deviations)
    of_twist = twist_covariance_in_body(home, of_twist)
    assert np.allclose(np.reshape(state.pose.covariance, (6, 6)), of_pose, rtol=1e-6)
    assert np.allclose(np.reshape(state.twist.covariance, (6, 6)), of_twist, rtol=1e-6, atol=1e-18)


def test_passive_joints_come_in_messages_of_their_own(estimator, home, mechanism):
    twist = np.array([0.1, -0.2, 0.05, 0.3, 0.1, -0.2])
    pose = mechanism.advance(home, 0.01 * twist)
    state = estimator.answer(estimator.message(pose, twist))

    def passive():
        return [
            m
            for m in estimator.received
            if nanoseconds(m) == nanoseconds(state) and "leg1_universal_1" in m.name
        ]

    message = estimator.peer.until(passive, "passive joints")[0]
    names, position, velocity = mechanism.joint_states(pose, twist)
    assert len(message.name) == 12
    assert set(message.name) == set(names) - set(mechanism.joint_names)
    for name, q, qd in zip(message.name, message.position, message.velocity, strict=True):
        index = names.index(name)
        assert abs(q - position[index]) < 1e-9
        assert abs(qd - velocity[index]) < 1e-9
    # and the node does not process its own messages
    known = len(estimator.states)
    estimator.joints.publish(message)
    estimator.peer.spin(0.3)
    assert len(estimator.states) == known
    assert len(passive()) == 2


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda m: setattr(m, "position", [float("nan")] * 6), "is nan"),
        (lambda m: setattr(m, "velocity", [float("inf")] * 6), "is inf"),
        (lambda m: setattr(m, "position", [0.5] * 5), "6 joint names but 5 positions"),
        (lambda m: setattr(m, "position", [-0.5] * 6), "expected positive"),
    ],
)
def test_a_broken_reading_is_refused_and_harmless(estimator, home, change, text):
    known = len(estimator.states)
    message = estimator.message(home, np.zeros(6))
    change(message)
    line = estimator.process.provoke(
        lambda: estimator.joints.publish(message), "joint_states refused", text
    )
    assert "[WARN]" in line
    assert len(estimator.states) == known
    estimator.answer(estimator.message(home, np.zeros(6)))


def test_joints_whose_readings_cease_are_named(estimator, home):
    estimator.answer(estimator.message(home, np.zeros(6)))
    message = estimator.message(home, np.zeros(6))
    message.name = ["leg1_actuator", *"bcdef"]
    estimator.process.provoke(
        lambda: estimator.joints.publish(message), "joint_states", "leg2_actuator"
    )
    estimator.answer(estimator.message(home, np.zeros(6)))


def test_late_and_repeated_readings_have_no_answer(estimator, home):
    fresh = estimator.message(home, np.zeros(6))
    estimator.answer(fresh)
    known = len(estimator.states)
    for stamp in (estimator.stamp, estimator.stamp - 3 * PERIOD, estimator.stamp - 100 * PERIOD):
        estimator.joints.publish(estimator.message(home, np.zeros(6), stamp))
    estimator.peer.spin(0.3)
    assert len(estimator.states) == known
    assert int(value(estimator.status(OK, "tracking"), "stale")) >= 3


def value(status, key) -> str:
    return next(pair.value for pair in status.values if pair.key == key)


def test_rates_may_be_missing(estimator, home, mechanism):
    twist = np.array([0.02, 0.01, -0.03, 0.05, 0.02, -0.04])
    estimator.answer(estimator.message(home, np.zeros(6)))
    message = estimator.message(mechanism.advance(home, PERIOD * 1e-9 * twist), twist)
    message.velocity = []
    _, _, found = messages.platform_state(estimator.answer(message))
    assert np.allclose(found, twist, rtol=0, atol=1e-4)


def test_a_jump_is_a_warning_and_the_platform_is_found(estimator, home, mechanism):
    pose = mechanism.advance(home, np.array([0.1, 0.05, 0.1, 0.1, 0.0, 0.1]))
    state = estimator.answer(estimator.message(pose, np.zeros(6)))
    _, found, _ = messages.platform_state(state)
    assert np.abs(mechanism.difference(pose, found)).max() < 1e-9
    estimator.pose = pose
    status = estimator.status(WARN, "jumped")
    estimator.pose = home
    assert int(value(status, "jumps")) >= 1
    estimator.answer(estimator.message(home, np.zeros(6)))
    estimator.status(OK, "tracking")


def test_lengths_of_no_pose_are_an_error_until_good_ones_come(estimator, home):
    message = estimator.message(home, np.zeros(6))
    message.position[0] = 30.0
    send = lambda: send_next(estimator, message)
    estimator.process.provoke(send, "[ERROR]", "the platform's pose is lost")
    estimator.status(ERROR, "the platform's pose is lost")
    state = estimator.answer(estimator.message(home, np.zeros(6)))
    assert np.allclose(messages.platform_state(state)[1], home, rtol=0, atol=1e-9)
    estimator.status(OK, "tracking")


def send_next(estimator, message) -> None:
    estimator.stamp += PERIOD
    message.header.stamp = messages.to_stamp(estimator.stamp)
    estimator.joints.publish(message)


def test_time_set_back_and_reset_begin_anew(estimator, home):
    estimator.stamp = 10**8
    estimator.answer(estimator.message(home, np.zeros(6)))
    assert int(value(estimator.status(WARN, "found again"), "set_backs")) == 1
    # the last of the readings on their way: none of them may come after the reset
    estimator.answer(estimator.message(home, np.zeros(6)))
    assert estimator.peer.call(Trigger, "state_estimator/reset").success
    # after a reset even an older stamp is taken
    estimator.stamp = 5 * 10**7
    estimator.answer(estimator.message(home, np.zeros(6)))


def test_ctrl_c_ends_it_without_a_word(estimator, peer):
    peer.partners.remove(estimator.process)
    known = len(estimator.process.lines)
    estimator.process.signal(signal.SIGINT)
    assert estimator.process.wait() == 0
    assert estimator.process.lines[known:] == []


@pytest.mark.parametrize(
    ("node", "reason"),
    [("state_estimator", "needs no estimator"), ("force_markers", "has no legs")],
)
def test_an_arm_is_refused(node, reason):
    with pytest.raises(rd.RobodynError, match=f"puma560 {reason}"):
        LocalGraph({node: {"model": "puma560"}})
