# SPDX-License-Identifier: Apache-2.0

"""forward_simulator as processes: lockstep to the last bit, realtime by the wall clock."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from local_graph import LocalGraph
from message_makers import joint_state, odometry
from nav_msgs.msg import Odometry
from ros_harness import Peer, Process, executable, free_domain, ros_arguments
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

import robodyn as rd
from robodyn.simulation import Plant
from robodyn_ros import messages

pytestmark = pytest.mark.ros
FRAMES = ("base_link", "platform_link")
PERIOD = 5_000_000
STEPS = 5


class Simulator:
    """A simulator that only the test commands."""

    def __init__(self, peer, process) -> None:
        self.peer, self.process = peer, process
        self.states = peer.listen(Odometry, "platform_state")
        self.joints = peer.listen(JointState, "joint_states")
        self.clock = peer.listen(Clock, "/clock")
        self.diagnostics = peer.listen(DiagnosticArray, "/diagnostics")
        self.commands = peer.publisher(JointState, "joint_commands")
        self.efforts = peer.publisher(Float64MultiArray, "effort_controller/commands")
        self.wrenches = peer.publisher(WrenchStamped, "external_wrench")

    def stamps(self) -> list[int]:
        return [messages.to_nanoseconds(state.header.stamp) for state in self.states]

    def state_at(self, stamp: int) -> Odometry:
        def found():
            return [s for s in self.states if messages.to_nanoseconds(s.header.stamp) == stamp]

        return self.peer.until(found, f"a state at {stamp}")[-1]

    def joints_at(self, stamp: int) -> JointState:
        def found():
            return [s for s in self.joints if messages.to_nanoseconds(s.header.stamp) == stamp]

        return self.peer.until(found, f"joints at {stamp}")[-1]

    def command(self, stamp: int, effort, names) -> None:
        self.commands.publish(joint_state(stamp, names, effort=np.asarray(effort)))

    def reset(self) -> None:
        """Reset the simulator and wait for its first state; earlier states are discarded."""
        assert self.peer.call(Trigger, "forward_simulator/reset").success
        # earlier messages arrive before the response or do not matter
        self.peer.spin(0.05)
        self.states.clear(), self.joints.clear(), self.clock.clear()
        self.state_at(0)


@pytest.fixture(scope="module")
def lockstep(peer, start):
    process = start(
        "forward_simulator", {"path": "II", "min_subscribers": 1, "command_timeout": 600.0}
    )
    return Simulator(peer, process)


@pytest.fixture(scope="module")
def impatient():
    """Start while the others are tested; it receives no commands."""
    domain = free_domain()
    process = Process([executable("forward_simulator"), *ros_arguments(
        {"model": "stewart_dasgupta", "command_timeout": 2.0})], domain)  # fmt: skip
    yield process
    process.close()


@pytest.fixture
def plant(mechanism):
    start = rd.paper_path("II").sample(0.0)
    return Plant(mechanism, start.configuration, start.velocity, dt=1e-3)


def same(simulator, stamp, plant, mechanism):
    """The state on the topics is the plant's, bit for bit."""
    state = simulator.state_at(stamp)
    reported = odometry(stamp, FRAMES, plant.configuration, plant.velocity)
    assert state.pose.pose == reported.pose.pose
    assert state.twist.twist == reported.twist.twist
    assert (state.header.frame_id, state.child_frame_id) == FRAMES
    joints = simulator.joints_at(stamp)
    names = mechanism.joint_names
    for field, expected in (
        ("position", mechanism.joint_positions(plant.configuration)),
        ("velocity", mechanism.joint_velocities(plant.configuration, plant.velocity)),
        ("effort", plant.effort),
    ):
        ours = dict(zip(joints.name, getattr(joints, field), strict=True))
        assert [ours[name] for name in names] == pytest.approx(expected.tolist(), rel=1e-12)
    clock = simulator.peer.until(
        lambda: [c for c in simulator.clock if messages.to_nanoseconds(c.clock) == stamp],
        f"/clock at {stamp}",
    )
    assert clock


def test_the_simulator_starts_at_the_start_of_the_path(impatient, lockstep, plant, mechanism):
    lockstep.state_at(0)
    same(lockstep, 0, plant, mechanism)


def test_the_simulator_equals_the_plant_to_the_last_bit(lockstep, plant, mechanism, rng, scrambled):
    lockstep.reset()
    efforts = mechanism.inverse_dynamics(*rd.paper_path("II").sample(0.0))
    shuffled = scrambled(6)
    names = [mechanism.joint_names[i] for i in shuffled]
    for k in range(40):
        effort = efforts * (1.0 + 0.02 * rng.normal(size=6))
        # the order of joints in a message means nothing
        lockstep.command(k * PERIOD, effort[shuffled], names)
        plant.hold(effort, STEPS)
        same(lockstep, (k + 1) * PERIOD, plant, mechanism)


def test_all_joints_of_the_legs_are_reported(lockstep, mechanism):
    """Driven and passive ones: a robot model can be drawn of them."""
    lockstep.reset()
    joints = lockstep.joints_at(0)
    assert len(joints.name) == len(set(joints.name)) == 18
    assert set(mechanism.joint_names) < set(joints.name)
    assert len(joints.position) == len(joints.velocity) == 18
    assert np.isfinite([*joints.position, *joints.velocity]).all()


@pytest.mark.parametrize("side", ["motor", "joint"])
def test_elastic_drives_are_measured_at_the_side_of_feedback(side, tmp_path):
    """The published state is what the encoders of `Plant.measured` see, bit for bit."""
    arm = rd.load("puma560").with_drive_stiffness(1e4, 20.0)
    (model,) = rd.save(arm, tmp_path / "arm.yaml")
    arm = rd.load(model)
    plant = Plant(arm, dt=1e-3)
    given = {"model": str(model), "feedback": side, "command_timeout": 600.0}
    with LocalGraph({"forward_simulator": given}) as graph:
        joints = graph.listen(JointState, "joint_states")
        commands = graph.publisher(JointState, "joint_commands")
        for period in range(3):
            stamp = period * PERIOD
            graph.until(lambda: [
                j for j in joints if messages.to_nanoseconds(j.header.stamp) == stamp  # noqa: B023
            ], f"joints at {stamp}")  # fmt: skip
            reported = joints[-1]
            q, v = plant.measured(side)
            np.testing.assert_array_equal(reported.position, q)
            np.testing.assert_array_equal(reported.velocity, v)
            commands.publish(joint_state(stamp, arm.joint_names, effort=np.zeros(6)))
            plant.hold(np.zeros(6), STEPS)
    assert np.abs(plant.measured("motor")[0] - plant.measured("joint")[0]).max() > 1e-4


def test_only_the_command_for_the_latest_state_moves_it(lockstep, plant, mechanism):
    lockstep.reset()
    names = mechanism.joint_names
    hold = mechanism.inverse_dynamics(*rd.paper_path("II").sample(0.0))
    push = hold + 100.0
    effort_only = Float64MultiArray(data=push.tolist())
    for k in range(5):
        now = k * PERIOD
        for other in (now - PERIOD, now + PERIOD, now + 1, 10**12):
            if other >= 0:
                lockstep.command(other, push, names)
        lockstep.command(now, [np.nan, 0, 0, 0, 0, 0], names)
        lockstep.command(now, [np.inf, 0, 0, 0, 0, 0], names)
        lockstep.command(now, push[:5], names[:5])
        lockstep.efforts.publish(effort_only)
        lockstep.command(now, hold, names)
        # a repeated one counts once
        lockstep.command(now, push, names)
        plant.hold(hold, STEPS)
        same(lockstep, now + PERIOD, plant, mechanism)
    # more than two repetitions of the state, and it still stands
    lockstep.peer.spin(0.5)
    assert max(lockstep.stamps()) == 5 * PERIOD
    same(lockstep, 5 * PERIOD, plant, mechanism)


def test_efforts_beyond_the_limits_are_cut_and_reported(lockstep, plant, mechanism):
    lockstep.reset()
    effort = np.array([1e9, -1e9, 0.0, 1e300, 5.0, -5.0])
    lockstep.command(0, effort, mechanism.joint_names)
    plant.hold(effort, STEPS)
    same(lockstep, PERIOD, plant, mechanism)
    assert (np.abs(plant.effort) <= mechanism.effort_limits).all()
    lockstep.peer.until(
        lambda: any(
            status.level == DiagnosticStatus.WARN and "limited" in status.message
            for array in lockstep.diagnostics
            for status in array.status
        ),
        "a warning of cut efforts",
    )
    lockstep.reset()


def test_an_external_wrench_acts(lockstep, mechanism):
    effort = mechanism.inverse_dynamics(*rd.paper_path("II").sample(0.0))
    start = rd.paper_path("II").sample(0.0)
    message = WrenchStamped()
    message.header.frame_id = "base_link"
    message.wrench.force.x, message.wrench.torque.z = 200.0, 10.0

    def pose_after_a_period():
        lockstep.reset()
        lockstep.command(0, effort, mechanism.joint_names)
        return messages.pose_array(lockstep.state_at(PERIOD).pose.pose)

    for sent, wrench in ((message, [200.0, 0, 0, 0, 0, 10.0]), (WrenchStamped(), np.zeros(6))):
        plant = Plant(mechanism, start.configuration, start.velocity, dt=1e-3)
        plant.hold(effort, STEPS, wrench)
        expected = plant.configuration

        def acts(sent=sent, expected=expected):
            lockstep.wrenches.publish(sent)
            return (pose_after_a_period() == expected).all()

        lockstep.peer.until(acts, "the wrench to act", timeout=20.0)


def test_pause_stops_lockstep_and_lets_it_go_on(lockstep, plant, mechanism):
    lockstep.reset()
    effort = mechanism.inverse_dynamics(*rd.paper_path("II").sample(0.0))
    pause = "forward_simulator/pause"
    assert lockstep.peer.call(SetBool, pause, SetBool.Request(data=True)).success
    lockstep.command(0, effort * 1.1, mechanism.joint_names)
    lockstep.peer.spin(0.3)
    assert max(lockstep.stamps()) == 0
    assert lockstep.peer.call(SetBool, pause, SetBool.Request(data=False)).success
    lockstep.command(0, effort, mechanism.joint_names)
    plant.hold(effort, STEPS)
    same(lockstep, PERIOD, plant, mechanism)


def test_ctrl_c_ends_lockstep_without_a_word(lockstep, peer):
    assert lockstep.process.alive
    peer.partners.remove(lockstep.process)
    known = len(lockstep.process.lines)
    lockstep.process.signal(signal.SIGINT)
    assert lockstep.process.wait() == 0
    assert lockstep.process.lines[known:] == []
    assert "Traceback" not in lockstep.process.output


def test_a_command_that_never_comes_ends_it_with_one_line(impatient):
    assert impatient.wait() == 1
    fatal = [line for line in impatient.lines if "[FATAL]" in line]
    assert len(fatal) == 1
    assert "no joint_commands" in fatal[0]
    assert "within 2 s" in fatal[0]
    assert impatient.lines[-1] == fatal[0]
    assert "Traceback" not in impatient.output


@pytest.fixture(scope="module")
def realtime():
    peer = Peer(free_domain())
    process = Process([executable("forward_simulator"), *ros_arguments(
        {"model": "stewart_dasgupta", "stepping": "realtime", "real_time_factor": 0.5})],
        peer.domain)  # fmt: skip
    peer.partners.append(process)
    try:
        simulator = Simulator(peer, process)
        peer.until(lambda: simulator.states, "a state")
        yield simulator
    finally:
        process.close()
        peer.close()


def test_realtime_follows_the_wall_clock_at_its_factor(realtime):
    def speed() -> float:
        marks = []
        for _ in range(2):
            known = len(realtime.clock)
            realtime.peer.until(lambda known=known: len(realtime.clock) > known, "/clock")
            marks.append((time.monotonic(), messages.to_nanoseconds(realtime.clock[-1].clock)))
            realtime.peer.spin(1.0)
        (wall0, sim0), (wall1, sim1) = marks
        return (sim1 - sim0) * 1e-9 / (wall1 - wall0)

    # on a busy machine one look may find messages late; it never stays so
    realtime.peer.until(lambda: abs(speed() - 0.5) < 0.05, "half the speed of the wall clock")
    steps = np.diff(sorted({messages.to_nanoseconds(c.clock) for c in realtime.clock}))
    assert (steps % PERIOD == 0).all()


def test_realtime_is_held_until_the_first_command(realtime, mechanism):
    assert realtime.stamps()
    for state in realtime.states:
        assert (messages.pose_array(state.pose.pose) == mechanism.home).all()


def test_realtime_ignores_what_is_no_command(realtime, mechanism):
    for data in ([np.nan] * 6, [np.inf] * 6, [1.0] * 5, []):
        bad = Float64MultiArray(data=data)
        realtime.process.provoke(
            lambda bad=bad: realtime.efforts.publish(bad), "effort_controller/commands ignored"
        )
    known = len(realtime.states)
    realtime.peer.until(lambda: len(realtime.states) > known + 20, "more states")
    last = realtime.states[-1]
    assert (messages.pose_array(last.pose.pose) == mechanism.home).all()


def test_efforts_of_zero_do_not_open_the_brakes(realtime, mechanism):
    realtime.efforts.publish(Float64MultiArray(data=[0.0] * 6))
    known = len(realtime.states)
    realtime.peer.until(lambda: len(realtime.states) > known + 20, "more states")
    assert (messages.pose_array(realtime.states[-1].pose.pose) == mechanism.home).all()


def test_realtime_brakes_when_no_command_comes(realtime, mechanism):
    """One command that nearly carries it; the platform sinks and is caught."""
    carrying = mechanism.inverse_dynamics(mechanism.home, np.zeros(6), np.zeros(6))
    realtime.efforts.publish(Float64MultiArray(data=(0.9 * carrying).tolist()))
    realtime.process.wait_for_line("no command for 0.2 s: brakes closed")

    def caught() -> bool:
        state = realtime.states[-1]
        sunk = state.pose.pose.position.z < mechanism.home[2]
        return sunk and state.twist.twist.linear.z == 0.0

    realtime.peer.until(caught, "a platform that has sunk and stands")
    known = len(realtime.states)
    realtime.peer.until(lambda: len(realtime.states) > known + 20, "more states")
    still = [messages.pose_array(state.pose.pose) for state in realtime.states[known:]]
    assert (np.array(still) == still[0]).all()
    # a tenth of g for 0.2 s, or a period more: 20 mm
    assert 0.01 < mechanism.home[2] - still[-1][2] < 0.03
    assert realtime.peer.call(Trigger, "forward_simulator/reset").success


def test_realtime_moves_by_the_latest_command_and_resets(realtime, mechanism):
    realtime.efforts.publish(Float64MultiArray(data=[1.0] * 6))
    realtime.peer.until(
        lambda: realtime.states[-1].pose.pose.position.z < mechanism.home[2] - 0.01,
        "a platform without forces to fall",
    )
    assert realtime.peer.call(Trigger, "forward_simulator/reset").success
    realtime.peer.until(
        lambda: (
            messages.to_nanoseconds(realtime.states[-1].header.stamp) < 2_000_000_000
            and (messages.pose_array(realtime.states[-1].pose.pose) == mechanism.home).all()
        ),
        "the initial state again",
    )
    # the reset forgot the command too: it is held again
    known = len(realtime.states)
    realtime.peer.until(lambda: len(realtime.states) > known + 20, "more states")
    assert (messages.pose_array(realtime.states[-1].pose.pose) == mechanism.home).all()


def test_pause_stops_realtime_and_lets_it_go_on(realtime):
    pause = "forward_simulator/pause"
    assert realtime.peer.call(SetBool, pause, SetBool.Request(data=True)).success
    realtime.peer.spin(0.3)
    stood = realtime.stamps()[-1]
    realtime.peer.spin(0.5)
    assert realtime.stamps()[-1] == stood
    assert realtime.peer.call(SetBool, pause, SetBool.Request(data=False)).success
    realtime.peer.until(lambda: realtime.stamps()[-1] > stood + PERIOD, "time to go on")
    # the pause itself was no time
    after = [stamp for stamp in realtime.stamps() if stamp > stood]
    assert min(after) - stood <= 2 * PERIOD


def test_ctrl_c_ends_realtime_without_a_word(realtime):
    realtime.peer.partners.clear()
    realtime.process.signal(signal.SIGINT)
    assert realtime.process.wait() == 0
    assert "Traceback" not in realtime.process.output
