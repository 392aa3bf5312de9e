# SPDX-License-Identifier: Apache-2.0

"""A machine over real messages: brought up, moved, frozen, parked; what cannot be is refused."""

import numpy as np
import pytest
from geometry_msgs.msg import Twist
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from local_graph import LocalGraph
from nav_msgs.msg import Odometry
from rclpy.time import Time
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Bool, Float64MultiArray, String
from std_srvs.srv import Trigger

import robodyn as rd
from robodyn.motion_base.machine import DriveLimits
from robodyn_ros import messages, qos
from robodyn_ros.joint_commander import JointCommander

# A joint that turns without ends.
CONTINUOUS = """<robot name="turntable"><link name="base"/><link name="table">
  <inertial><mass value="2.0"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="table"/><axis xyz="0 0 1"/>
  <limit effort="10" velocity="2"/></joint></robot>"""
MODEL = {"model": "stewart_symmetric"}
RATE = 100.0
PLATFORM = rd.load("stewart_symmetric")
SIGN, OFFSET = PLATFORM.drives.signs, PLATFORM.drives.offsets


class Operator:
    """A graph with a machine in it; sends requests, and records their results."""

    def __init__(self, graph):
        self.graph = graph
        self.states = graph.listen(String, "machine_state", qos.LATCHED)
        self.commands = graph.listen(JointState, "joint_commands", qos.STATE)

    def wait(self, state):
        self.graph.until(lambda: any(each.data == state for each in self.states), state)
        self.states.clear()

    def ask(self, request):
        return self.graph.call(Trigger, f"joint_commander/{request}")

    def engage(self):
        self.wait("parked")
        assert self.ask("engage").success
        self.wait("engaged")


@pytest.fixture
def operator():
    commander = MODEL | {"rate": RATE, "ease": 0.3, "slow": 0.5, "following_error": 0.05}
    commander |= {"drive_delay": 0.05, "feedback_timeout": 20.0, "enable_timeout": 20.0}
    drives = MODEL | {"rate": RATE, "bandwidth": 20.0}
    with LocalGraph({"joint_commander": commander, "simulated_drives": drives}) as graph:
        yield Operator(graph)


def setpoint(graph, pose):
    message = Odometry()
    message.header.frame_id = PLATFORM.frames[0]
    message.header.stamp = graph.peer.get_clock().now().to_msg()
    messages.fill_pose(message.pose.pose, pose)
    message.twist.twist = Twist()
    return message


def test_engage_a_path_a_jump_freeze_ease_back_park(operator):
    graph, home = operator.graph, PLATFORM.home
    raw = graph.listen(Float64MultiArray, "position_controller/commands", qos.STATE)
    refused = operator.ask("engage")
    assert not refused.success
    assert refused.message.startswith("engage refused: the machine is ")
    operator.engage()
    aside = rd.pose_from_rpy(home[:3] + np.array([0.0, 0.06, 0.0]), [0.0, 0.0, 0.1])
    path = rd.plan_line(home, aside, duration=1.0)
    times = np.linspace(0.0, path.duration, 51)
    planner = graph.publisher(messages.MultiDOFJointTrajectory, "platform_trajectory", qos.LATCHED)
    planner.publish(
        messages.platform_trajectory(
            PLATFORM.frames[0], "platform_joint", times, path.sample(times)
        )
    )
    goal = SIGN * (PLATFORM.joint_positions(aside) - OFFSET)
    graph.until(
        lambda: raw and np.abs(np.array(raw[-1].data) - goal).max() < 1e-4, "the path's end"
    )
    stream = graph.publisher(Odometry, "platform_setpoint")
    stream.publish(setpoint(graph, home))  # a jump
    graph.spin(0.2)
    assert operator.ask("freeze").message in ("freezing", "frozen")
    operator.wait("frozen")
    # commands from before, also those at rest at the path's end, may still be on their way
    frozen, sent = graph.peer.get_clock().now(), operator.commands
    graph.until(lambda: Time.from_msg(sent[-1].header.stamp) > frozen, "commands at standstill")
    received, still = len(operator.commands), operator.commands[-1].position
    graph.until(lambda: len(operator.commands) > received + 5, "more commands")
    assert operator.commands[-1].position == still
    assert operator.ask("engage").success
    operator.wait("engaged")
    assert operator.ask("park").success
    operator.wait("parked")
    refused = operator.ask("park")
    assert not refused.success
    assert "parked" in refused.message
    assert_continuous(operator.commands)


def test_the_motors_of_an_engaged_machine_lead_by_their_sag(tmp_path):
    m = PLATFORM.with_drive_stiffness(1e5)
    (path,) = rd.save(m, tmp_path / "elastic.yaml")
    model = {"model": str(path)}
    commander = model | {"rate": RATE, "ease": 0.3, "slow": 0.5, "compensate_sag": True}
    commander |= {"feedback_timeout": 20.0, "enable_timeout": 20.0}
    drives = model | {"rate": RATE, "bandwidth": 20.0}
    with LocalGraph({"joint_commander": commander, "simulated_drives": drives}) as graph:
        operator = Operator(graph)
        operator.engage()
        joints = m.joint_positions(m.home)
        motors = SIGN * (joints + m.gravity(m.home) / 1e5 - OFFSET)
        graph.until(
            lambda: np.abs(operator.commands[-1].position - motors).max() < 1e-6, "the lead"
        )
        assert np.abs(motors - SIGN * (joints - OFFSET)).max() > 1e-3
        assert operator.ask("park").success, graph.lines
        parked = SIGN * (joints - OFFSET)
        graph.until(lambda: np.abs(operator.commands[-1].position - parked).max() < 1e-5, "no lead")


def steady_runs(commands):
    """The first of each four commands of which none is missing, by stamps, which are the ticks'."""
    stamps = np.array([messages.to_nanoseconds(each.header.stamp) for each in commands]) * 1e-9
    steady = np.abs(np.diff(stamps) * RATE - 1.0) < 1e-3
    return np.flatnonzero(steady[2:] & steady[1:-1] & steady[:-2])


def assert_continuous(commands):
    """Rate, acceleration and jerk."""
    limits, runs = DriveLimits.of(PLATFORM), steady_runs(commands)
    positions = np.array([each.position for each in commands])
    assert len(runs) > 100
    assert (np.abs(np.diff(positions, axis=0)) * RATE <= limits.rates * (1 + 1e-6)).all()
    second = np.diff(positions, 2, axis=0)[runs] * RATE**2
    third = np.diff(positions, 3, axis=0)[runs] * RATE**3
    assert (np.abs(second) <= limits.accelerations * (1.0 + 1e-6)).all()
    assert (np.abs(third) <= limits.jerks * (1.0 + 1e-6)).all()
    for each in commands:
        assert np.isfinite(each.effort).all()
        assert len(each.velocity) == 6


def test_enable_withdrawn_freezes_and_an_emergency_stop_is_a_fault_until_it_is_reset(operator):
    graph = operator.graph
    enable = graph.publisher(Bool, "enable")
    stop = graph.publisher(Bool, "emergency_stop")
    operator.engage()
    enable.publish(Bool(data=False))
    operator.wait("frozen")
    assert "no enable message" in operator.ask("engage").message
    enable.publish(Bool(data=True))
    graph.until(lambda: operator.ask("engage").success, "engage")
    operator.wait("engaged")
    stop.publish(Bool(data=True))
    operator.wait("fault")
    assert "brakes and stays" in graph.line("engaged -> fault: the emergency stop is pressed")
    graph.spin(0.3)
    assert operator.ask("reset").message == "reset refused: the emergency stop is pressed"
    stop.publish(Bool(data=False))
    graph.until(lambda: operator.ask("reset").success, "reset")
    operator.wait("frozen")


def test_a_stabilized_platform_waits_for_its_imu_and_is_held_level(operator):
    graph, lean = operator.graph, np.radians(2.0)
    imu = graph.publisher(Imu, "base_imu")
    rates = graph.listen(Float64MultiArray, "velocity_controller/commands", qos.STATE)
    operator.engage()
    assert graph.set("joint_commander", stabilize=True) == []
    graph.line("pose of the base")
    commander, felt = graph.nodes["joint_commander"], Imu()
    felt.linear_acceleration.x, felt.linear_acceleration.z = (
        9.81 * np.sin(lean),
        9.81 * np.cos(lean),
    )

    def now():
        return graph.peer.get_clock().now().nanoseconds

    # it settles in 60 s, for which the test need not wait; a gap before now would begin it again
    stamp = now() - 70 * 10**9
    while stamp < now():
        felt.header.stamp = Time(nanoseconds=stamp).to_msg()
        commander._base._receive(felt)
        stamp += 50_000_000
    level = commander._machine.commander

    def publish():
        felt.header.stamp = Time(nanoseconds=now()).to_msg()
        imu.publish(felt)

    def is_held():
        angles = rd.rpy_from_pose(PLATFORM.body_pose(level.configuration))[1]
        return np.abs(angles - [0.0, lean, 0.0]).max() < 1e-3 and level.has_arrived

    graph.until(is_held, "level", repeat=publish)
    assert len(rates[-1].data) == 6
    imu.publish(felt)  # its stamp is not after the last
    graph.line("base_imu refused", "after the previous")
    graph.until(lambda: len(steady_runs(operator.commands)) > 100, "commands in time")
    assert_continuous(operator.commands)


def test_faults_of_drives_on_ros2_controls_interfaces():
    messages_of = pytest.importorskip("control_msgs.msg")
    commander = MODEL | {"drive_faults": "[drive1/fault]", "homing": "assumed"}
    with LocalGraph({"joint_commander": commander}) as graph:
        operator = Operator(graph)
        gpio = graph.publisher(messages_of.DynamicJointState, "dynamic_joint_states")
        operator.wait("parked")
        reported = messages_of.DynamicJointState(joint_names=["leg1_actuator", "drive1"])
        value = messages_of.InterfaceValue
        reported.interface_values = [
            value(interface_names=["position"], values=[0.1]),
            value(interface_names=["temperature", "fault"], values=[300.0, 0.0]),
        ]
        gpio.publish(reported)
        graph.spin(0.2)
        assert graph.nodes["joint_commander"]._machine.state == "parked"
        reported.interface_values[1].values[1] = 7.0
        gpio.publish(reported)
        operator.wait("fault")
        graph.line("parked -> fault: drive1/fault is 7")


def test_an_impossible_request_is_refused_with_the_reason(operator):
    graph, home = operator.graph, PLATFORM.home
    operator.wait("parked")
    stream = graph.publisher(Odometry, "platform_setpoint")
    stream.publish(setpoint(graph, home))
    graph.line("platform_setpoint is ignored while the machine is parked")
    for _ in range(3):
        stream.publish(setpoint(graph, home))
    graph.spin(0.3)
    assert sum("is ignored while" in line for line in graph.lines) == 1
    assert operator.ask("engage").success
    operator.wait("engaged")
    nan, strange, old = (setpoint(graph, home) for _ in range(3))
    nan.pose.pose.position.x = np.nan
    strange.header.frame_id = "moon"
    old.header.stamp.sec -= 5
    for message, text in ((nan, "pose"), (strange, "'moon'"), (old, "s old, at most 0.2 s")):
        stream.publish(message)
        graph.line("platform_setpoint refused", text)
        graph.spin(1.1)  # the log is throttled
    change = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_DEACTIVATE))
    assert not graph.call(ChangeState, "joint_commander/change_state", change).success
    graph.line("deactivate refused", "park or freeze it first")
    assert operator.ask("park").success
    operator.wait("parked")
    assert graph.call(ChangeState, "joint_commander/change_state", change).success
    operator.wait("off")


def test_a_second_commander_of_the_same_drives_does_not_start(operator):
    graph = operator.graph
    operator.engage()
    second = JointCommander()
    graph.nodes["second"] = second
    graph._executor.add_node(second)
    graph.line("power_on refused: /", "has another publisher")
    begun = len(operator.commands)
    graph.until(lambda: len(operator.commands) > begun + 50, "commands")
    assert second._machine.state == "off"
    assert second._point is None
    assert "has another publisher" not in graph.nodes["joint_commander"]._machine.reason


def test_another_commander_of_the_drives_is_named_and_ends_the_motion(operator):
    graph, topic = operator.graph, "position_controller/commands"
    operator.engage()
    other = graph.publisher(Float64MultiArray, topic, qos.COMMAND)
    graph.until(lambda: graph.nodes["joint_commander"]._commands._watched, "a look at others")
    own = graph.listen(Float64MultiArray, topic, qos.COMMAND)
    graph.until(lambda: len(own) > 50, "commands")
    assert graph.nodes["joint_commander"]._machine.state == "engaged"  # the other publishes nothing
    other.publish(own[-1])
    aside = Float64MultiArray(data=[value + 0.02 for value in own[-1].data])

    def is_off():
        other.publish(aside)  # unlike ours, it may be lost
        return graph.nodes["joint_commander"]._machine.state == "off"

    graph.until(is_off, "off")
    graph.line("-> off", topic, "/peer")
    assert "/peer" in operator.ask("reset").message
    graph.peer.destroy_publisher(other)
    graph.until(lambda: operator.ask("reset").success, "reset")
    operator.wait("parked")


def test_the_clock_is_set_back_while_poses_come():
    """Poses of the new time are followed at once, and the platform goes nowhere else."""
    timed = MODEL | {"rate": RATE, "use_sim_time": True}
    nodes = {"joint_commander": timed | {"ease": 0.2, "slow": 0.5}, "simulated_drives": timed}
    with LocalGraph(nodes) as graph:
        operator, home = Operator(graph), PLATFORM.home
        clock = graph.publisher(Clock, "/clock", qos.CLOCK)
        stream = graph.publisher(Odometry, "platform_setpoint")
        steady, streams = graph.peer.get_clock(), []
        first = steady.now().nanoseconds
        shift = [1000 * 10**9 - first]

        def tick():
            now = Time(nanoseconds=steady.now().nanoseconds + shift[0])
            clock.publish(Clock(clock=now.to_msg()))
            if streams:
                t = now.nanoseconds * 1e-9
                message = setpoint(graph, home + 0.03 * np.sin(t) * np.eye(7)[0])
                message.twist.twist.linear.x = 0.03 * np.cos(t)
                message.header.stamp = now.to_msg()
                stream.publish(message)

        graph.peer.create_timer(0.01, tick)
        operator.engage()
        streams.append(True)
        machine = graph.nodes["joint_commander"]._machine
        graph.until(
            lambda: machine.motion_source is not None and machine.commander.has_arrived, "caught"
        )
        shift[0] -= 2 * 10**9
        graph.line("clock was", "by -", "engaged")
        began = len(operator.commands)
        graph.until(lambda: len(operator.commands) > began + 200, "commands")
        assert machine.state == "engaged"
        positions = np.array([each.position for each in operator.commands[began:]])
        ends = [PLATFORM.joint_positions(home + x * np.eye(7)[0]) for x in (-0.032, 0.032)]
        assert (SIGN * positions + OFFSET >= np.min(ends, axis=0) - 1e-4).all()
        assert (SIGN * positions + OFFSET <= np.max(ends, axis=0) + 1e-4).all()


def test_a_drive_beyond_its_end_is_named_and_nothing_is_commanded():
    arm = rd.load("puma560")
    with LocalGraph({"joint_commander": {"model": "puma560", "rate": RATE}}) as graph:
        commands = graph.listen(JointState, "joint_commands")
        states = graph.publisher(JointState, "joint_states")
        at = arm.joint_positions(arm.home)
        for far in (10.0, 1e30):
            reported = JointState(name=list(arm.joint_names), position=[far, *at[1:]])
            graph.peer.create_timer(0.05, lambda reported=reported: states.publish(reported))
            if far < 1e6:
                line = graph.line("joint1", f"{far:g} rad")
                assert f"{arm.position_limits[0, 1]:.6g}" in line
            else:  # no position of any joint
                graph.line("joint_states refused", "1.e+30")
        assert graph.nodes["joint_commander"]._machine.state == "off"
        assert commands == []


def test_homing_by_stops_is_refused_where_a_joint_has_none(tmp_path):
    model = tmp_path / "turntable.urdf"
    model.write_text(CONTINUOUS)
    with (
        pytest.raises(rd.RobodynError, match="homing 'stall' moves turn to its lower stop"),
        LocalGraph({"joint_commander": {"model": str(model), "homing": "stall"}}),
    ):
        pass


def test_simulated_drives_have_stops_by_which_joints_are_homed():
    commander = MODEL | {"rate": RATE, "homing": "stall", "feedback_timeout": 20.0}
    drives = MODEL | {"rate": RATE, "bandwidth": 2.0}
    with LocalGraph({"joint_commander": commander, "simulated_drives": drives}) as graph:
        operator = Operator(graph)
        operator.wait("parked")
        machine = graph.nodes["joint_commander"]._machine
        assert np.abs(machine._offset).max() < 2e-3
        assert_continuous(operator.commands)
