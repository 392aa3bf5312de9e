# SPDX-License-Identifier: Apache-2.0

"""inverse_dynamics as processes: the efforts for every state equal the library's."""

from __future__ import annotations

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from message_makers import odometry
from nav_msgs.msg import Odometry
from ros_harness import LATCHED
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import MultiDOFJointTrajectory

import robodyn as rd
from robodyn.trajectories import knot_times
from robodyn_ros import messages

pytestmark = pytest.mark.ros
FRAMES = ("base_link", "platform_link")
PERIOD = 5_000_000
GAINS = {"kp": 144.0, "kv": 24.0}
# every test begins a path of its own at once, and states come when they come
JUMP = {"handover": 0.0, "watchdog_timeout": 0.0}


class Controller:
    """One inverse_dynamics process in a namespace of its own, and what goes in and out of it."""

    def __init__(self, peer, start, mode: str, **parameters: object) -> None:
        self.peer = peer
        self.process = start(
            "inverse_dynamics", {"mode": mode} | JUMP | parameters, "-r", f"__ns:=/{mode}"
        )
        self.trajectories = peer.node.create_publisher(
            MultiDOFJointTrajectory, f"/{mode}/platform_trajectory", LATCHED
        )
        self.states = peer.publisher(Odometry, f"/{mode}/platform_state")
        self.wrenches = peer.publisher(WrenchStamped, f"/{mode}/external_wrench")
        self.commands = peer.listen(JointState, f"/{mode}/joint_commands")
        self.efforts = peer.listen(Float64MultiArray, f"/{mode}/effort_controller/commands")
        self.forces = peer.listen(JointState, f"/{mode}/inverse_dynamics/forces")
        self.massless = peer.listen(JointState, f"/{mode}/inverse_dynamics/massless_forces")
        self.stop = f"/{mode}/inverse_dynamics/stop"

    def follow(self, path, start: int = 0) -> None:
        """Send a trajectory and wait until it is accepted."""
        times = knot_times(path.duration, path.switching_times, 0.005)
        message = messages.platform_trajectory("base_link", "j", times, path.sample(times))
        message.header.stamp = messages.to_stamp(start)
        before = self.count("points accepted")
        self.trajectories.publish(message)
        self.process.wait_for_line("points accepted", times=before + 1)

    def count(self, text: str) -> int:
        return sum(text in line for line in self.process.lines)

    def answer(self, stamp: int, pose, twist) -> np.ndarray:
        """Return the efforts for a state."""
        known = len(self.commands)
        state = odometry(stamp, FRAMES, pose, twist)

        def answered():
            return [c for c in self.commands[known:] if c.header.stamp == state.header.stamp]

        for _ in range(100):
            # the first may be lost while the two are still finding each other
            self.states.publish(state)
            try:
                found = self.peer.until(answered, f"a command at {stamp}", timeout=1.0)
                break
            except AssertionError:
                assert self.process.alive, self.process.output
        else:
            raise AssertionError(f"no command for the state at {stamp}:\n{self.process.output}")
        return np.array(found[0].effort)

    def bear(self, wrench: WrenchStamped, expected: np.ndarray, state: tuple) -> None:
        """Send a wrench until a state leads to the expected efforts."""

        def borne() -> bool:
            self.wrenches.publish(wrench)
            return np.allclose(self.answer(*state), expected, rtol=1e-9, atol=1e-7)

        self.peer.until(borne, "efforts against the wrench", timeout=20.0)


@pytest.fixture(scope="module")
def feedforward(peer, start):
    return Controller(peer, start, "feedforward")


@pytest.fixture(scope="module")
def computed_torque(peer, start):
    return Controller(peer, start, "computed_torque", **GAINS)


def close(ours, theirs, relative=1e-9):
    scale = np.abs(theirs).max()
    np.testing.assert_allclose(ours, theirs, rtol=relative, atol=relative * scale)


def test_without_a_trajectory_nothing_is_commanded(feedforward, peer):
    pose, twist, _ = rd.paper_path("II").sample(0.0)
    # the next test's first instant: a busy node may take this state after that test's trajectory,
    # which then begins here
    feedforward.states.publish(odometry(7 * PERIOD, FRAMES, pose, twist))
    peer.spin(0.3)
    assert feedforward.commands == []


def test_feedforward_is_the_inverse_dynamics_of_the_plan(feedforward, mechanism, peer):
    path = rd.paper_path("II")
    feedforward.follow(path)
    wrong_pose, rest = rd.pose_from_rpy([0.2, 0.1, 0.5], [0.1, 0, 0]), np.zeros(6)
    commands, efforts = feedforward.commands, feedforward.efforts
    # the path begins at the first state that comes
    feedforward.answer(7 * PERIOD, wrong_pose, rest)
    peer.until(lambda: efforts, "effort_controller/commands")
    first = len(commands)
    for k in range(0, 130, 3):
        t = k * PERIOD
        effort = feedforward.answer(7 * PERIOD + t, wrong_pose, rest)
        close(effort, mechanism.inverse_dynamics(*path.sample(t * 1e-9)))
        assert commands[-1].name == list(mechanism.joint_names)
        assert messages.to_nanoseconds(commands[-1].header.stamp) == 7 * PERIOD + t
    reported = [list(command.effort) for command in commands[first:]]
    peer.until(
        lambda: [list(message.data) for message in efforts[-len(reported) :]] == reported,
        "the same efforts on effort_controller/commands",
    )


def test_forces_for_plots_follow(feedforward, mechanism, peer):
    path = rd.paper_path("II")
    feedforward.follow(path, start=1_000_000_000)
    motion = path.sample(0.2)
    feedforward.answer(1_200_000_000, *motion[:2])

    def reported(received):
        return [m for m in received if messages.to_nanoseconds(m.header.stamp) == 1_200_000_000]

    for received, formulation in (
        (feedforward.forces, "exact"),
        (feedforward.massless, "massless"),
    ):
        message = peer.until(lambda received=received: reported(received), f"{formulation} forces")[
            0
        ]
        close(message.effort, mechanism.inverse_dynamics(*motion, formulation=formulation))


def test_computed_torque_is_the_librarys(computed_torque, mechanism, rng):
    path = rd.paper_path("I")
    start = 2_000_000_000
    computed_torque.follow(path, start)
    control = rd.ComputedTorque(mechanism, **GAINS)
    for t in (0.0, 0.6, 3.0, 5.995):
        desired = path.sample(t)
        pose = mechanism.advance(desired.configuration, 0.01 * rng.normal(size=6))
        twist = desired.velocity + 0.05 * rng.normal(size=6)
        effort = computed_torque.answer(start + round(t * 1e9), pose, twist)
        close(effort, control(t, pose, twist, path))


def wrench_message(frame: str, values) -> WrenchStamped:
    message = WrenchStamped()
    message.header.frame_id = frame
    w, numbers = message.wrench, [float(value) for value in values]
    w.force.x, w.force.y, w.force.z, w.torque.x, w.torque.y, w.torque.z = numbers
    return message


@pytest.mark.parametrize("frame", ["base_link", ""])
def test_an_external_wrench_is_carried(feedforward, mechanism, frame):
    """One that is not finite changes nothing, one of zero takes it away."""
    path = rd.paper_path("I")
    start = 3_000_000_000
    feedforward.follow(path, start)
    motion = path.sample(3.0)
    state = (start + 3_000_000_000, *motion[:2])
    wrench = np.arange(10.0, 70.0, 10.0)
    expected = mechanism.inverse_dynamics(*motion, wrench)
    try:
        feedforward.bear(wrench_message(frame, wrench), expected, state)
        spoilt = wrench_message(frame, [np.nan, 0, 0, 0, 0, 0])
        feedforward.process.provoke(
            lambda: feedforward.wrenches.publish(spoilt), "external_wrench refused", "nan"
        )
        close(feedforward.answer(*state), expected)
    finally:
        feedforward.bear(
            wrench_message("", np.zeros(6)), mechanism.inverse_dynamics(*motion), state
        )


def test_a_wrench_in_the_platforms_frame_is_turned_into_the_base(computed_torque, mechanism):
    path = rd.paper_path("I")
    start = 4_000_000_000
    computed_torque.follow(path, start)
    desired = path.sample(1.0)
    state = (start + 1_000_000_000, *desired[:2])
    wrench = np.array([100.0, 0, 0, 0, 30.0, 0])
    turned = Rotation.from_quat(desired.configuration[3:]).apply(wrench.reshape(2, 3)).reshape(6)
    try:
        computed_torque.bear(
            wrench_message("platform_link", wrench),
            mechanism.inverse_dynamics(*desired, turned),
            state,
        )
        elsewhere = wrench_message("nobody_knows", wrench)
        computed_torque.process.provoke(
            lambda: computed_torque.wrenches.publish(elsewhere), "external_wrench", "'nobody_knows'"
        )
    finally:
        computed_torque.bear(
            wrench_message("", np.zeros(6)), mechanism.inverse_dynamics(*desired), state
        )


@pytest.mark.parametrize("spoilt", ["position", "quaternion", "zero_quaternion", "twist"])
def test_a_state_that_is_none_is_ignored(computed_torque, peer, spoilt):
    path = rd.paper_path("II")
    start = 6_000_000_000
    computed_torque.follow(path, start)
    state = odometry(start + 1, FRAMES, *path.sample(0.1)[:2])
    position, rotation = state.pose.pose.position, state.pose.pose.orientation
    if spoilt == "position":
        position.x = float("nan")
    elif spoilt == "quaternion":
        rotation.w = 1.7
    elif spoilt == "zero_quaternion":
        rotation.x = rotation.y = rotation.z = rotation.w = 0.0
    else:
        state.twist.twist.angular.z = float("inf")
    known = len(computed_torque.commands)
    computed_torque.process.provoke(
        lambda: computed_torque.states.publish(state), "platform_state refused"
    )
    # a good state after it leads to a command, the bad one does not
    computed_torque.answer(start + PERIOD, *path.sample(0.005)[:2])
    stamps = [messages.to_nanoseconds(c.header.stamp) for c in computed_torque.commands[known:]]
    assert start + 1 not in stamps
    assert computed_torque.process.alive


def test_nothing_but_finite_efforts_within_the_limits(computed_torque, mechanism):
    """Far off the path, at absurd speeds, at a singular pose, and where there is no geometry."""
    path = rd.paper_path("III")
    start = 8_000_000_000
    computed_torque.follow(path, start)
    singular = path.sample(3.670504110).configuration
    states = [
        (np.array([1e3, 0, 0.5, 0, 0, 0, 1.0]), np.zeros(6)),
        (path.sample(0.0).configuration, np.full(6, 5e5)),
        (singular, np.zeros(6)),
        (np.array([0.3, 0.2, -0.1, 0, 0, 0, 1.0]), np.zeros(6)),
    ]
    for k, (pose, twist) in enumerate(states):
        effort = computed_torque.answer(start + k * PERIOD, pose, twist)
        assert np.isfinite(effort).all(), (k, effort)
        assert (np.abs(effort) <= mechanism.effort_limits).all(), (k, effort)
    # an impossible pose is no state
    nowhere = odometry(start, FRAMES, [1e150, 0, 0.5, 0, 0, 0, 1.0], np.zeros(6))
    computed_torque.process.provoke(
        lambda: computed_torque.states.publish(nowhere), "refused", "1.e+150"
    )
    for message in computed_torque.efforts:
        assert np.isfinite(message.data).all()
    assert computed_torque.process.alive
    assert "Traceback" not in computed_torque.process.output


def _no_points(message):
    message.points = []


def _not_finite(message):
    message.points[1].transforms[0].translation.x = float("nan")


def _not_a_rotation(message):
    message.points[1].transforms[0].rotation.w = 5.0


def _times_decrease(message):
    message.points[1].time_from_start.sec = 100


@pytest.mark.parametrize("spoil", [_no_points, _not_finite, _not_a_rotation, _times_decrease],
                         ids=lambda spoil: spoil.__name__.strip("_"))  # fmt: skip
def test_a_malformed_trajectory_is_refused_and_the_old_one_stays(feedforward, mechanism, spoil):
    path = rd.paper_path("II")
    start = 9_000_000_000
    feedforward.follow(path, start)
    times = np.linspace(0.0, 6.0, 5)
    message = messages.platform_trajectory(
        "base_link", "j", times, rd.paper_path("I").sample(times)
    )
    spoil(message)
    feedforward.process.provoke(
        lambda: feedforward.trajectories.publish(message), "trajectory refused"
    )
    motion = path.sample(0.3)
    close(feedforward.answer(start + 300_000_000, *motion[:2]), mechanism.inverse_dynamics(*motion))


def test_stop_holds_the_mechanism_where_it_is(computed_torque, mechanism, peer):
    path = rd.paper_path("I")
    start = 20_000_000_000
    computed_torque.follow(path, start)
    here, twist, _ = path.sample(2.0)
    computed_torque.answer(start + 2_000_000_000, here, twist)
    assert peer.call(Trigger, computed_torque.stop).success
    # it continues its motion, and slows down from there
    effort = computed_torque.answer(start + 2_005_000_000, here, twist)
    close(effort, mechanism.inverse_dynamics(here, twist, np.zeros(6)))
    # at rest where it stopped: the efforts of a mechanism that stands still, any time later
    effort = computed_torque.answer(start + 60_000_000_000, here, np.zeros(6))
    close(effort, mechanism.inverse_dynamics(here, np.zeros(6), np.zeros(6)))


def test_both_processes_lived_through_all_of_it(feedforward, computed_torque):
    for controller in (feedforward, computed_torque):
        assert controller.process.alive
        assert "Traceback" not in controller.process.output
