# SPDX-License-Identifier: Apache-2.0

"""inverse_dynamics with a real executor: modes, loads, limits, replacement, joints."""

from __future__ import annotations

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from local_graph import LocalGraph
from message_makers import joint_state, odometry
from nav_msgs.msg import Odometry
from ros_harness import LATCHED
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

import robodyn as rd
from robodyn.control import joint_motion
from robodyn.trajectories import (
    Motion,
    SampledTrajectory,
    knot_times,
    point_times,
    sampled_trajectory,
)
from robodyn_ros import messages

pytestmark = pytest.mark.ros
MODEL = "stewart_symmetric"
FRAMES = ("base_link", "platform_link")
REST = np.zeros(6)
SECOND = 1_000_000_000
INERTIA = [2.0, 0.1, 0.0, 2.5, 0.0, 3.0]
PUMA = {"model": "puma560", "mode": "gravity_compensation", "watchdog_timeout": 0.0}
PAYLOAD = {"payload_mass": 60.0, "payload_com": [0.1, -0.05, 0.3], "payload_inertia": INERTIA}


class Controller:
    """An inverse_dynamics node, and what goes in and out of it."""

    def __init__(self, **parameters: object) -> None:
        given = {"model": MODEL, "watchdog_timeout": 0.0} | parameters
        self.graph = graph = LocalGraph({"inverse_dynamics": given})
        self.states = graph.publisher(Odometry, "platform_state")
        self.wrenches = graph.publisher(WrenchStamped, "external_wrench")
        self.trajectories = graph.publisher(MultiDOFJointTrajectory, "platform_trajectory", LATCHED)
        self.joint_trajectories = graph.publisher(JointTrajectory, "joint_trajectory", LATCHED)
        self.commands = graph.listen(JointState, "joint_commands")
        self.efforts = graph.listen(Float64MultiArray, "effort_controller/commands")
        self.diagnostics = graph.listen(DiagnosticArray, "/diagnostics")

    def follow(self, path, start: int = 0) -> None:
        """Send a trajectory and wait until it is accepted."""
        times = knot_times(path.duration, path.switching_times, 0.005)
        message = messages.platform_trajectory("base_link", "j", times, path.sample(times))
        message.header.stamp = messages.to_stamp(start)
        self.send(self.trajectories, message)

    def send(self, publisher, message) -> None:
        known = self.count("points accepted")
        publisher.publish(message)
        self.graph.until(lambda: self.count("points accepted") > known, "a trajectory accepted")

    def count(self, text: str) -> int:
        return sum(text in line for line in self.graph.lines)

    def answer(self, stamp: int, pose, twist=REST) -> np.ndarray:
        """Return the efforts for a state."""
        known = len(self.commands)
        self.states.publish(odometry(stamp, FRAMES, pose, twist))
        self.graph.until(lambda: len(self.commands) > known, f"a command at {stamp}")
        assert messages.to_nanoseconds(self.commands[-1].header.stamp) == stamp
        return np.array(self.commands[-1].effort)

    def status(self, accept) -> DiagnosticStatus:
        """The next diagnostic that is accepted."""
        known = len(self.diagnostics)

        def found():
            new = [status for array in self.diagnostics[known:] for status in array.status]
            return next((status for status in new if accept(status)), None)

        return self.graph.until(found, "a diagnostic")


@pytest.fixture(scope="module")
def platform():
    return rd.load(MODEL)


@pytest.fixture
def controller(request):
    made = Controller(**getattr(request, "param", {}))
    with made.graph:
        yield made


def with_parameters(**parameters):
    return pytest.mark.parametrize("controller", [parameters], indirect=True, ids=[""])


def line_to(platform, xyz, rpy=(0.0, 0.0, 0.0), start=None, duration=2.0):
    home = platform.home if start is None else start
    return rd.plan_line(home, rd.pose_from_rpy(xyz, rpy), duration=duration)


def random_state(platform, rng):
    pose = platform.advance(platform.home, 0.05 * rng.normal(size=6))
    return pose, 0.1 * rng.normal(size=6)


def close(ours, theirs, relative=1e-9):
    np.testing.assert_allclose(ours, theirs, rtol=relative, atol=relative * np.abs(theirs).max())


def values(status):
    return {pair.key: pair.value for pair in status.values}


def test_a_stream_of_single_points_has_no_line_for_each(controller, platform):
    """As MoveIt Servo sends them: the first is a goal, the others take over within a period."""
    rest = np.zeros((1, 6))
    for k in range(8):
        at = platform.advance(platform.home, np.array([0.0, 0.0, 1e-3 * k, 0.0, 0.0, 0.0]))
        message = messages.platform_trajectory(
            "base_link", "j", np.array([0.02]), Motion(at[None], rest, rest)
        )
        if k == 0:
            controller.send(controller.trajectories, message)
        else:
            controller.trajectories.publish(message)
        controller.answer(20_000_000 * (k + 1), at)
    controller.follow(line_to(platform, [0.0, 0.0, 0.9]))
    assert controller.count("points accepted") == 2


@with_parameters(mode="gravity_compensation")
def test_gravity_compensation_holds_what_is_measured(controller, platform, rng):
    """Without a trajectory, at any speed, and against a wrench."""
    for stamp in (1, 2, 3):
        pose, twist = random_state(platform, rng)
        close(controller.answer(stamp, pose, twist), platform.inverse_dynamics(pose, REST, REST))
    controller.follow(line_to(platform, [0.1, 0.0, 0.9]))
    close(controller.answer(4, pose, twist), platform.inverse_dynamics(pose, REST, REST))


@with_parameters(mode="gravity_compensation")
def test_a_payload_set_at_run_time_is_the_librarys(controller, platform, rng):
    pose, _ = random_state(platform, rng)
    bare = platform.inverse_dynamics(pose, REST, REST)
    close(controller.answer(1, pose), bare)
    assert controller.graph.set("inverse_dynamics", payload_mass=60.0) == []
    point = platform.with_payload(60.0, np.zeros(3), np.zeros((3, 3)))
    close(controller.answer(2, pose), point.inverse_dynamics(pose, REST, REST))
    assert controller.graph.set("inverse_dynamics", **PAYLOAD) == []
    a, b, c, d, e, f = INERTIA
    loaded = platform.with_payload(60.0, PAYLOAD["payload_com"], [[a, b, c], [b, d, e], [c, e, f]])
    expected = loaded.inverse_dynamics(pose, REST, REST)
    close(controller.answer(3, pose), expected)
    assert np.abs(expected - bare).max() > 10.0
    for refused in (
        {"payload_mass": -1.0},
        {"payload_mass": float("nan")},
        {"payload_com": [0.0, 1.0]},
        {"payload_com": [0.0, float("inf"), 1.0]},
        {"payload_inertia": [1.0]},
        {"payload_mass": "heavy"},
        {"model": "puma560"},
    ):
        (reason,) = controller.graph.set("inverse_dynamics", **refused)
        assert reason, refused
    close(controller.answer(4, pose), expected)
    assert controller.graph.set("inverse_dynamics", payload_mass=0.0) == []
    close(controller.answer(5, pose), bare)


@with_parameters(mode="gravity_compensation")
def test_gravity_that_the_drives_compensate_is_left_out_at_once(controller, platform, rng):
    pose, _ = random_state(platform, rng)
    nothing = np.zeros(6)
    bare = platform.inverse_dynamics(pose, REST, REST)
    close(controller.answer(1, pose), bare)
    set_ = controller.graph.set
    assert set_("inverse_dynamics", compensate=["friction", "coriolis"]) == []
    np.testing.assert_allclose(controller.answer(2, pose), nothing, atol=1e-9)
    assert set_("inverse_dynamics", compensate=["gravity"], gravity=[0.0, 0.5, -9.7]) == []
    tilted = rd.with_gravity(platform, [0.0, 0.5, -9.7]).inverse_dynamics(pose, REST, REST)
    close(controller.answer(3, pose), tilted)
    assert np.abs(tilted - bare).max() > 1.0
    for refused in ({"compensate": ["weight"]}, {"gravity": [0.0, 1.0]}):
        (reason,) = set_("inverse_dynamics", **refused)
        assert reason, refused
    close(controller.answer(4, pose), tilted)


@with_parameters(mode="gravity_compensation", **PAYLOAD)
def test_a_payload_given_at_the_start_counts(controller, platform, rng):
    a, b, c, d, e, f = INERTIA
    loaded = platform.with_payload(60.0, PAYLOAD["payload_com"], [[a, b, c], [b, d, e], [c, e, f]])
    pose, _ = random_state(platform, rng)
    close(controller.answer(1, pose), loaded.inverse_dynamics(pose, REST, REST))


@with_parameters(mode="computed_torque")
def test_a_payload_changed_in_flight_is_in_the_next_command(controller, platform):
    path = line_to(platform, [0.1, 0.05, 0.9], [0.1, 0.0, 0.1])
    controller.follow(path, start=SECOND)
    motion = path.sample(0.5)
    stamp = SECOND + SECOND // 2
    close(controller.answer(stamp, *motion[:2]), platform.inverse_dynamics(*motion))
    assert controller.graph.set("inverse_dynamics", payload_mass=80.0) == []
    loaded = platform.with_payload(80.0, np.zeros(3), np.zeros((3, 3)))
    close(controller.answer(stamp + 1, *motion[:2]), loaded.inverse_dynamics(*motion), 1e-6)


@with_parameters(mode="gravity_compensation")
def test_a_wrench_acts_in_the_frame_of_its_header(controller, platform, rng):
    """A push along the platform's x leads to the same efforts in any frame."""
    pose = platform.advance(platform.home, 0.2 * rng.uniform(-1.0, 1.0, size=6))
    known_wrench = rng.normal(size=6) * [300, 300, 300, 30, 30, 30]
    turned = Rotation.from_quat(pose[3:]).apply(known_wrench.reshape(2, 3)).reshape(6)

    def bear(frame, wrench):
        message = WrenchStamped()
        message.header.frame_id = frame
        for part, three in (
            (message.wrench.force, wrench[:3]),
            (message.wrench.torque, wrench[3:]),
        ):
            part.x, part.y, part.z = map(float, three)
        controller.wrenches.publish(message)
        controller.graph.spin(0.05)

    expected = platform.inverse_dynamics(pose, REST, REST, turned)
    for stamp, (frame, wrench) in enumerate(
        (("platform_link", known_wrench), ("base_link", turned), ("", turned))
    ):
        bear(frame, wrench)
        close(controller.answer(stamp, pose), expected)
    # in the platform's frame it turns with the platform
    bear("platform_link", known_wrench)
    other, _ = random_state(platform, rng)
    turned = Rotation.from_quat(other[3:]).apply(known_wrench.reshape(2, 3)).reshape(6)
    expected = platform.inverse_dynamics(other, REST, REST, turned)
    close(controller.answer(10, other), expected)
    bear("elsewhere", np.zeros(6))
    controller.graph.line("external_wrench refused", "'elsewhere'", "platform_link")
    close(controller.answer(11, other), expected)
    # finite, but not once it is turned
    bear("platform_link", np.full(6, 1.5e308))
    close(controller.answer(12, other), expected)


# without a handover from where the platform is
@with_parameters(mode="computed_torque", kp=1000.0, handover=0.0, path_tolerance=0.0)
def test_efforts_beyond_the_limits_are_reduced_and_counted(controller, platform):
    path = line_to(platform, [0.1, 0.0, 0.9])
    controller.follow(path, start=SECOND)
    far = platform.advance(platform.home, np.array([0.04, 0, 0, 0, 0, 0]))
    control = rd.ComputedTorque(platform, kp=1000.0)
    required = control(0.0, far, REST, path)
    cut = np.abs(required) > platform.effort_limits
    assert cut.any()
    assert not cut.all()
    desired = path.sample(0.0)
    error = platform.difference(far, desired.configuration)
    friction = control.for_friction(error, desired)
    for _ in range(3):
        effort = controller.answer(SECOND, far)
        assert (np.abs(effort) <= platform.effort_limits).all()
        asked, caused = (
            control.friction.rest.forward_dynamics(far, REST, each - friction)
            for each in (required, effort)
        )
        fraction = (caused @ asked) / (asked @ asked)
        assert 0.0 < fraction < 1.0
        np.testing.assert_allclose(caused, fraction * asked, atol=1e-6 * np.abs(asked).max())
    status = controller.status(lambda s: values(s).get("saturated_commands") == "3")
    assert status.level == DiagnosticStatus.WARN
    assert "the acceleration is reduced" in status.message
    known_wrench = [int(values(status)[name]) for name in platform.joint_names]
    assert known_wrench == (3 * cut).tolist()
    # and fine again, with the count kept
    controller.answer(SECOND, platform.home)
    status = controller.status(lambda s: s.level == DiagnosticStatus.OK)
    assert values(status)["saturated_commands"] == "3"


@with_parameters(mode="computed_torque", handover=0.0)
def test_leg_lengths_are_followed_as_the_poses_they_mean(controller, platform, rng, scrambled):
    """With joints in any order; poses by forward kinematics from where it is."""
    path = line_to(platform, [0.1, -0.05, 0.95], [0.1, 0.05, -0.2])
    times = knot_times(path.duration, path.switching_times, 0.005)
    legs = joint_motion(platform, path, times)
    order = scrambled(6)
    message = messages.joint_trajectory(
        [platform.joint_names[i] for i in order],
        times,
        [rows[:, order] for rows in (legs.positions, legs.velocities, legs.accelerations)],
    )
    message.header.stamp = messages.to_stamp(9 * SECOND)
    controller.send(controller.joint_trajectories, message)
    control = rd.ComputedTorque(platform)
    for k in (0, 100, 317, 400):
        t = k * 0.005
        pose = platform.advance(path.sample(t).configuration, 0.005 * rng.normal(size=6))
        effort = controller.answer(9 * SECOND + k * 5_000_000, pose, path.sample(t).velocity)
        close(effort, control(t, pose, path.sample(t).velocity, path), 1e-6)


@pytest.mark.parametrize("spoil", ["missing", "unknown", "not_finite", "unreachable", "unequal"])
@with_parameters(mode="feedforward")
def test_leg_lengths_that_mean_no_pose_are_refused(controller, platform, spoil):
    path = line_to(platform, [0.0, 0.0, 0.9])
    controller.follow(path, start=SECOND)
    times = np.array([0.0, 1.0])
    lengths = np.tile(platform.inverse_kinematics(platform.home), (2, 1))
    message = messages.joint_trajectory(platform.joint_names, times, [lengths, 0 * lengths])
    if spoil == "missing":
        message.joint_names = list(platform.joint_names[:5])
    elif spoil == "unknown":
        message.joint_names = [*platform.joint_names[:5], "elbow"]
    elif spoil == "not_finite":
        message.points[1].positions[2] = float("nan")
    elif spoil == "unreachable":
        message.points[1].positions = [0.01, 9.0, 0.01, 9.0, 0.01, 9.0]
    else:
        message.points[1].velocities = [0.0]
    controller.joint_trajectories.publish(message)
    controller.graph.line("joint_trajectory refused")
    motion = path.sample(0.7)
    effort = controller.answer(SECOND + 700_000_000, platform.home)
    close(effort, platform.inverse_dynamics(*motion))


@with_parameters(mode="feedforward", payload_mass=50.0)
def test_joint_trajectory_with_effort_is_the_librarys(controller, platform):
    received = controller.graph.listen(
        JointTrajectory, "inverse_dynamics/joint_trajectory_with_effort", LATCHED
    )
    path = line_to(platform, [0.1, -0.05, 0.95], [0.1, 0.05, -0.2])
    controller.follow(path, start=3 * SECOND)
    message = controller.graph.until(lambda: received, "the trajectory")[-1]
    assert tuple(message.joint_names) == platform.joint_names
    assert messages.to_nanoseconds(message.header.stamp) == 3 * SECOND
    times = point_times(message.points)
    loaded = platform.with_payload(50.0, np.zeros(3), np.zeros((3, 3)))
    expected = joint_motion(loaded, path, times)
    for field, rows in zip(("positions", "velocities", "accelerations", "effort"), expected,
                           strict=True):  # fmt: skip
        close(np.array([getattr(point, field) for point in message.points]), rows)
    # commands equal the announced ones, knot for knot
    for k in (0, 57, len(times) - 1):
        stamp = 3 * SECOND + round(times[k] * SECOND)
        close(controller.answer(stamp, platform.home), message.points[k].effort, 1e-6)


@with_parameters(mode="feedforward", handover=0.0)
def test_a_motion_through_a_singularity_has_no_joint_trajectory(controller, platform):
    """It is reported; what can be executed of it is, and the next motion has one again."""
    received = controller.graph.listen(
        JointTrajectory, "inverse_dynamics/joint_trajectory_with_effort", LATCHED
    )
    turned = rd.pose_from_rpy(platform.home[:3], [0.0, 0.0, np.pi / 2])
    with pytest.raises(rd.KinematicsError):
        platform.inverse_dynamics(turned, REST, REST)
    poses, rest = np.array([platform.home, turned, platform.home]), np.zeros((3, 6))
    motion = Motion(poses, rest, rest)
    message = messages.platform_trajectory("base_link", "j", np.arange(3.0), motion)
    message.header.stamp = messages.to_stamp(SECOND)
    controller.send(controller.trajectories, message)
    controller.graph.line(
        "joint_trajectory_with_effort not published: singular configuration", "element [1]"
    )
    planned = sampled_trajectory(message, platform)
    for t in (0.05, 1.95):
        motion = planned.sample(t)
        rates = platform.joint_velocities(motion.configuration, motion.velocity)
        has = platform.drives.effort_limits_at(rates)
        expected = np.clip(platform.inverse_dynamics(*motion), -has, has)
        close(controller.answer(SECOND + round(t * SECOND), platform.home), expected)
    effort = controller.answer(2 * SECOND, platform.home)
    assert (np.abs(effort) <= platform.effort_limits).all()
    controller.graph.line("no efforts: singular configuration")
    assert received == []
    controller.follow(line_to(platform, [0.0, 0.0, 0.9]), start=3 * SECOND)
    controller.graph.until(lambda: received, "the trajectory of the next motion")
    assert messages.to_nanoseconds(received[-1].header.stamp) == 3 * SECOND


@pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")
def test_a_motion_that_overflows_is_refused():
    """For an arm, a rate whose square overflows."""
    arm = rd.load("puma560")
    given = {"model": "puma560", "mode": "feedforward", "handover": 0.0, "watchdog_timeout": 0.0}
    position, velocity, acceleration = np.zeros((3, 3, 6))
    velocity[1, 1] = 1e200
    with LocalGraph({"inverse_dynamics": given}) as graph:
        states = graph.publisher(JointState, "joint_states")
        trajectories = graph.publisher(JointTrajectory, "joint_trajectory", LATCHED)
        commands = graph.listen(JointState, "joint_commands")
        received = graph.listen(
            JointTrajectory, "inverse_dynamics/joint_trajectory_with_effort", LATCHED
        )

        def execute(velocity, start):
            motion = (position, velocity, acceleration)
            message = messages.joint_trajectory(arm.joint_names, np.arange(3.0), motion)
            message.header.stamp = messages.to_stamp(start)
            trajectories.publish(message)

        execute(velocity, SECOND)
        graph.line("joint_trajectory refused: velocity of point 1", "1.e+200")
        states.publish(joint_state(SECOND, arm.joint_names, REST, REST))
        graph.spin(0.5)
        assert commands == received == []
        # the next motion, at rest, is taken
        execute(np.zeros((3, 6)), 5 * SECOND)
        limits = arm.effort_limits
        weight = np.clip(arm.inverse_dynamics(REST, REST, REST), -limits, limits)
        points = graph.until(lambda: received, "the trajectory of the next motion")[0].points
        close(points[1].effort, weight)
        states.publish(joint_state(6 * SECOND, arm.joint_names, REST, REST))
        graph.until(lambda: commands, "a command")
        assert (np.abs(commands[-1].effort) <= limits).all()


@with_parameters(mode="computed_torque", handover=0.5)
def test_a_replacement_does_not_jump(controller, platform):
    """States on the desired motion are answered with efforts as smooth as that motion's."""
    first = line_to(platform, [0.1, 0.0, 0.9], duration=2.0)
    controller.follow(first, start=0)
    begun = SECOND
    period = 5_000_000

    def effort_at(k, pose, twist=REST):
        return controller.answer(begun + k * period, pose, twist)

    for k in range(0, 200, 20):
        motion = first.sample(k * period * 1e-9)
        close(effort_at(k, *motion[:2]), platform.inverse_dynamics(*motion), 1e-6)
    # from the midst of a motion at full speed to one that starts elsewhere, at rest
    second = line_to(platform, [-0.1, 0.1, 0.85], start=platform.home, duration=2.0)
    controller.follow(second)
    before = first.sample(200 * period * 1e-9)
    assert np.linalg.norm(before.velocity) > 0.05
    taken = effort_at(200, *before[:2])
    # position, velocity and acceleration of the old motion are met, so its efforts are too
    close(taken, platform.inverse_dynamics(*before), 1e-6)
    # well after the handover it is the new motion, begun when it was taken
    motion = second.sample(1.0)
    close(effort_at(400, *motion[:2]), platform.inverse_dynamics(*motion), 1e-6)


@with_parameters(mode="feedforward", use_scale=True)
def test_a_scale_slows_the_flight_down(controller, platform):
    scales = controller.graph.publisher(Float64, "condition_monitor/scale")
    path = line_to(platform, [0.1, 0.0, 0.9])
    controller.follow(path)
    close(controller.answer(SECOND, platform.home), platform.inverse_dynamics(*path.sample(0.0)))
    scales.publish(Float64(data=0.0))
    status = controller.status(lambda s: values(s).get("scale") == "0.0")
    assert status.level == DiagnosticStatus.OK
    for bad in (float("nan"), -0.1, 1.5):
        scales.publish(Float64(data=bad))
        controller.graph.line("condition_monitor/scale refused", f"scale is {bad}")
    # it came to rest on its path, and stays there however long
    first = [controller.answer(SECOND + k * SECOND, platform.home) for k in range(1, 4)]
    close(first[-1], first[-2])
    scales.publish(Float64(data=1.0))
    controller.status(lambda s: values(s).get("scale") == "1.0")
    # and reaches the end in the end
    for k in range(5, 10):
        last = controller.answer(SECOND + k * SECOND, platform.home)
    close(last, platform.inverse_dynamics(path.sample(path.duration).configuration, REST, REST))


@with_parameters(mode="computed_torque")
def test_late_repeated_and_stale_states(controller, platform, rng):
    """Each is answered for its own time; none sets the path back or forth for the others."""
    path = line_to(platform, [0.1, 0.0, 0.9])
    controller.follow(path, start=SECOND)
    control = rd.ComputedTorque(platform)
    stamps = rng.permutation(np.arange(1, 60)) * 5_000_000 + SECOND
    stamps = [SECOND, *stamps, *stamps[:5], *stamps[:1]]
    for stamp in map(int, stamps):
        t = (stamp - SECOND) * 1e-9
        pose, twist, _ = path.sample(t)
        close(controller.answer(stamp, pose, twist), control(t, pose, twist, path), 1e-6)


@with_parameters(mode="computed_torque", handover=0.0)
def test_a_time_that_jumps_back_begins_the_path_anew(controller, platform):
    path = line_to(platform, [0.1, 0.0, 0.9])
    controller.follow(path)
    control = rd.ComputedTorque(platform)
    for begin in (40 * SECOND, 0, 7 * SECOND):
        if begin == 7 * SECOND:
            controller.follow(path)
        for t in (0.0, 0.4, 1.2):
            pose, twist, _ = path.sample(t)
            effort = controller.answer(begin + round(t * SECOND), pose, twist)
            close(effort, control(t, pose, twist, path), 1e-6)


@with_parameters(mode="computed_torque", handover=0.2)
def test_two_planners_at_once(controller, platform, rng):
    """The last word counts; while they contend the efforts stay finite and within limits."""
    goals = ([0.1, 0.0, 0.9], [-0.1, 0.1, 0.8])
    paths = [line_to(platform, goal) for goal in goals]
    rivals = [
        controller.trajectories,
        controller.graph.publisher(MultiDOFJointTrajectory, "platform_trajectory", LATCHED),
    ]
    stamp = SECOND
    for k in range(12):
        path = paths[k % 2]
        times = knot_times(path.duration, path.switching_times, 0.05)
        message = messages.platform_trajectory("base_link", "j", times, path.sample(times))
        controller.send(rivals[k % 2], message)
        for _ in range(3):
            stamp += 5_000_000
            effort = controller.answer(stamp, platform.home)
            assert (np.abs(effort) <= platform.effort_limits).all()
    end = paths[1].sample(paths[1].duration).configuration
    at_rest = platform.inverse_dynamics(end, REST, REST)
    close(controller.answer(stamp + 5 * SECOND, end), at_rest, 1e-6)


def test_an_arms_joints_are_mapped_by_name(rng, scrambled):
    """Another order is accepted, other joints beside them too; one that is missing is named."""
    arm = rd.load("puma560")
    with LocalGraph({"inverse_dynamics": PUMA}) as graph:
        states = graph.publisher(JointState, "joint_states")
        commands = graph.listen(JointState, "joint_commands")
        n = len(arm.joint_names)
        order = scrambled(n)
        q, qd = rng.normal(size=n), rng.normal(size=n)
        names = [arm.joint_names[i] for i in order]
        zero = np.zeros(n)
        for stamp, more in ((1, []), (2, ["gripper"])):
            extra = np.full(len(more), 0.3)
            rows = (np.append(q[order], extra), np.append(qd[order], extra))
            states.publish(joint_state(stamp, names + more, *rows))
            graph.until(lambda stamp=stamp: len(commands) == stamp, "a command")
            assert tuple(commands[-1].name) == arm.joint_names
            limits = arm.effort_limits
            close(
                commands[-1].effort, np.clip(arm.inverse_dynamics(q, zero, zero), -limits, limits)
            )
        states.publish(joint_state(3, names[1:], q[order][1:], qd[order][1:]))
        graph.line("joint_states: no positions", names[0])
        graph.spin(1.0)
        states.publish(joint_state(4, names, np.append(q[1:], np.nan), qd[order]))
        graph.line("joint_states refused", "nan")
        graph.spin(0.1)
        assert len(commands) == 2


@with_parameters(idle="hold")
def test_a_trajectory_controller_is_commanded_to_hold_until_the_path_comes(controller, platform):
    """With the efforts of the weight, and where the mechanism is; again and again."""
    home, still, graph = platform.home, np.zeros((2, 6)), controller.graph
    weight = platform.inverse_dynamics(home, REST, REST)
    received = graph.listen(JointTrajectory, "inverse_dynamics/joint_trajectory_with_effort")
    controller.answer(SECOND, home)
    graph.until(lambda: len(received) > 2, "holds")
    for message in received:
        assert messages.to_nanoseconds(message.header.stamp) == 0  # from now on
        assert message.joint_names == [*platform.joint_names]
        for point in message.points:
            close(np.array(point.positions), platform.joint_positions(home))
            assert not np.any(point.velocities)
            close(np.array(point.effort), weight)
    path = SampledTrajectory(platform, [0.0, 3.0], Motion(np.array([home, home]), still, still))
    controller.follow(path, 2 * SECOND)
    graph.until(lambda: received[-1].header.stamp.sec == 2, "the path")
    known = len(received)
    graph.spin(0.5)
    assert len(received) == known
