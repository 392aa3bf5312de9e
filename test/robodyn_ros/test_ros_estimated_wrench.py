# SPDX-License-Identifier: Apache-2.0

"""Pushes over real messages: estimates are published, and a collision stops motion or machine."""

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from local_graph import LocalGraph
from message_makers import odometry
from nav_msgs.msg import Odometry
from ros_harness import LATCHED, RELIABLE
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import MultiDOFJointTrajectory

import robodyn as rd
from robodyn.simulation import Plant
from robodyn.trajectories import knot_times
from robodyn_ros import messages, qos

MODEL = "stewart_symmetric"
PERIOD = 4_000_000  # [ns]
PUSH = np.array([200.0, -100.0, 150.0, 0.0, 0.0, 0.0])
FEEL = {"observer_bandwidth": 40.0, "collision_threshold": 150.0}


class Flight:
    """A plant of the test's own, flown by the node in lockstep."""

    def __init__(self, graph, platform):
        self.graph = graph
        self.plant = Plant(platform, dt=1e-3)
        self.states = graph.publisher(Odometry, "platform_state")
        self.answers = {}
        commands = graph.peer.create_subscription(
            JointState, "joint_commands", self._on_command, RELIABLE
        )
        graph.until(commands.get_publisher_count, "who publishes joint_commands")
        self.felt = graph.listen(WrenchStamped, "estimated_wrench")
        self.stamp = 0

    def _on_command(self, message):
        self.answers[messages.to_nanoseconds(message.header.stamp)] = np.array(message.effort)

    def fly(self, periods, wrench=None):
        for _ in range(periods):
            self.stamp += PERIOD
            state = self.plant.configuration, self.plant.velocity
            self.states.publish(odometry(self.stamp, ("base_link", "platform_link"), *state))
            self.graph.until(lambda: self.stamp in self.answers, "an answer")
            self.plant.hold(self.answers[self.stamp], 4, wrench)

    def estimate(self):
        self.graph.until(
            lambda: self.felt and messages.to_nanoseconds(self.felt[-1].header.stamp) == self.stamp,
            "the estimate of the last state",
        )
        assert self.felt[-1].header.frame_id == "base_link"
        return messages.wrench_array(self.felt[-1].wrench)


def test_a_push_is_published_and_a_collision_ends_the_motion():
    """After the time stated in the docs: -ln(1 - threshold / push) / bandwidth and a period."""
    platform = rd.load(MODEL).without_friction()
    path = rd.plan_line(platform.home, rd.pose_from_rpy([0.1, 0.0, 0.9], [0, 0, 0]), duration=4.0)
    given = {"model": MODEL, "friction": False, "idle": "hold"} | FEEL
    with LocalGraph({"inverse_dynamics": given}) as graph:
        flight = Flight(graph, platform)
        diagnostics = graph.listen(DiagnosticArray, "/diagnostics")
        flight.fly(40)
        times = knot_times(path.duration, path.switching_times, 0.01)
        message = messages.platform_trajectory("base_link", "j", times, path.sample(times))
        message.header.stamp = messages.to_stamp(flight.stamp + PERIOD)
        graph.publisher(MultiDOFJointTrajectory, "platform_trajectory", LATCHED).publish(message)
        graph.line("points accepted")
        flight.fly(200)
        assert np.linalg.norm(flight.estimate()[:3]) < 10.0
        moving = np.linalg.norm(flight.plant.velocity)
        assert moving > 0.01
        # 0.557 of a push of 269 N: 0.0204 s
        begun = flight.stamp
        flight.fly(5, PUSH)
        assert not graph.nodes["inverse_dynamics"]._follower.abandoned
        flight.fly(2, PUSH)
        text = graph.line("collision", "holds its position")
        assert "150 N" in text
        assert flight.stamp - begun == 7 * PERIOD
        flight.fly(150, PUSH)
        np.testing.assert_allclose(flight.estimate()[:3], PUSH[:3], rtol=0.02, atol=2.0)
        flight.fly(250)
        assert np.linalg.norm(flight.plant.velocity) < 0.05 * moving
        graph.until(
            lambda: any(
                status.level == b"\x02" and "collision" in status.message
                for array in diagnostics
                for status in array.status
            ),
            "the diagnostic",
        )


def test_a_push_that_drives_feel_is_a_fault_of_the_machine():
    m = rd.load(MODEL)
    given = {"model": MODEL, "rate": 100.0, "ease": 0.1, "feedback_timeout": 60.0} | FEEL
    with LocalGraph({"joint_commander": given}) as graph:
        states = graph.listen(String, "machine_state", qos.LATCHED)
        felt = graph.listen(WrenchStamped, "estimated_wrench")
        drives = graph.publisher(JointState, "joint_states")
        still = np.zeros(6)

        def drive(seconds, wrench=None):
            """Return messages of drives that hold the platform at home."""
            efforts = m.inverse_dynamics(m.home, still, still, wrench)
            reported = JointState(name=list(m.joint_names), velocity=still, effort=efforts)
            reported.position = m.drives.signs * (m.joint_positions(m.home) - m.drives.offsets)
            for _ in range(round(seconds * 100)):
                reported.header.stamp = graph.peer.get_clock().now().to_msg()
                drives.publish(reported)
                graph.spin(0.01)

        def wait(state, wrench=None):
            def reached():
                drive(0.05, wrench)
                return any(each.data == state for each in states)

            graph.until(reached, state)

        wait("parked")
        drive(0.2)
        np.testing.assert_allclose(messages.wrench_array(felt[-1].wrench), 0.0, atol=1e-6)
        wait("fault", PUSH)
        # topics have no order among each other: the state may be here before the wrench
        graph.until(
            lambda: np.linalg.norm(messages.wrench_array(felt[-1].wrench)[:3]) > 150.0, "the wrench"
        )
        graph.line("-> fault: collision", "150 N")
