# SPDX-License-Identifier: Apache-2.0

"""A vehicle's motion over real messages: what is felt and refused, silence, changed numbers."""

from __future__ import annotations

import socket
import struct

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Vector3
from local_graph import LocalGraph
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu

import robodyn as rd
from robodyn.motion_base.machine import DriveLimits
from robodyn.poses import rotation_matrix
from robodyn_ros import messages, qos

pytestmark = pytest.mark.ros
MODEL, RATE, GRAVITY = "stewart_symmetric", 50.0, 9.81
PLATFORM = rd.load(MODEL)


class Vehicle:
    """Vehicle that publishes its motion, and receives the platform's."""

    def __init__(self, graph):
        self.graph, self.stamp = graph, 0
        self.imu = graph.publisher(Imu, "vehicle/imu")
        self.received = graph.listen(Odometry, "platform_setpoint", qos.STATE)

    def publish(self, force_x, rate_z=0.0, later=1_000_000):
        self.stamp += later
        message = Imu(linear_acceleration=Vector3(x=float(force_x), z=GRAVITY))
        message.angular_velocity.z = rate_z
        message.header.stamp = messages.to_stamp(self.stamp)
        self.imu.publish(message)

    @property
    def pose(self):
        return messages.platform_state(self.received[-1])[1]

    @property
    def felt(self):
        """Forward specific force of the weight [m/s^2]: what is felt at rest."""
        return (rotation_matrix(self.pose).T @ [0.0, 0.0, GRAVITY])[0]

    def more(self, count=5):
        """Wait for the given number of further set-points."""
        expected = len(self.received) + count
        self.graph.until(lambda: len(self.received) >= expected, "set-points")

    def drive(self, condition, what, force_x):
        self.graph.until(condition, what, repeat=lambda: self.publish(force_x))

    def assert_continuous(self):
        """Legs' rates and accelerations by the stamps, which are those of the samples."""
        stamps, poses, twists = zip(*map(messages.platform_state, self.received), strict=True)
        steady = np.diff(stamps) == round(1e9 / RATE)
        legs = PLATFORM.joint_positions(np.array(poses))
        limits = DriveLimits.of(PLATFORM)
        second = np.diff(legs, 2, axis=0)[steady[1:] & steady[:-1]] * RATE**2
        assert len(second) > 20
        assert (np.abs(np.diff(legs, axis=0))[steady] * RATE <= limits.rates).all()
        assert (np.abs(second) <= limits.accelerations).all()
        reported = PLATFORM.joint_velocities(np.array(poses), np.array(twists))
        between = 0.5 * (reported[1:] + reported[:-1])[steady]
        np.testing.assert_allclose(np.diff(legs, axis=0)[steady] * RATE, between, atol=5e-3)


@pytest.fixture(params=["classical", "predictive"])
def vehicle(request):
    given = {"model": MODEL, "rate": RATE, "algorithm": request.param, "timeout": 2.0}
    given |= {"head": [0.0, 0.0, 0.5], "tilt_rate": [0.3], "force_gain": [0.5]}
    given |= {"force_washout": [3.0]}  # soon back at neutral
    with LocalGraph({"motion_cueing": given}) as graph:
        yield Vehicle(graph)


def test_rest_a_lasting_force_changed_numbers_and_silence(vehicle):
    graph, neutral = vehicle.graph, PLATFORM.body_pose(PLATFORM.home)
    vehicle.more()
    np.testing.assert_allclose(vehicle.pose, neutral, atol=1e-9)
    last = vehicle.received[-1]
    assert (last.header.frame_id, last.child_frame_id) == PLATFORM.frames
    vehicle.drive(lambda: vehicle.felt > 0.3, "a tilt", 2.0)
    # in the midst of it
    changes = {"force_gain": [0.8], "rotation_gain": [1.0], "tilt_lowpass": [1.5, 2.0, 2.0]}
    assert graph.set("motion_cueing", preset="small", **changes) == []
    vehicle.drive(lambda: vehicle.felt > 1.2, "more of it", 2.0)
    for wrong, reason in ([1.0, 2.0], "shape"), ([-1.0], "expected 0 to 100"):
        (reported,) = graph.set("motion_cueing", force_gain=wrong)
        assert reason in reported
    graph.line("vehicle/imu", "no message")
    graph.until(lambda: np.abs(vehicle.pose - neutral).max() < 1e-2, "neutral")
    vehicle.assert_continuous()


@pytest.mark.parametrize("vehicle", ["classical"], indirect=True)
def test_an_invalid_vehicle_motion_is_refused(vehicle):
    neutral = PLATFORM.body_pose(PLATFORM.home)
    for force, rate, later, words in (
        (np.nan, 0.0, 1, "nan"),
        (0.0, np.inf, 1, "inf"),
        (1e3, 0.0, 1, "1000"),
        (5.0, 0.0, -2, "must be after"),
    ):
        vehicle.publish(0.0)
        vehicle.publish(force, rate, later)
        vehicle.graph.line("vehicle/imu refused", words)
    vehicle.more()
    np.testing.assert_allclose(vehicle.pose, neutral, atol=1e-9)


def test_a_simulator_reports_over_udp_and_garbage_is_survived(rng):
    """Random datagrams, a flood of them, then a car that brakes: told as `motionsim`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind(("127.0.0.1", 0))
        port = sender.getsockname()[1]  # free again in a moment
    given = {"model": MODEL, "rate": RATE, "tilt_rate": [0.3], "telemetry": "motionsim"}
    given["telemetry"] = f"motionsim:127.0.0.1:{port}"
    with (
        LocalGraph({"motion_cueing": given}) as graph,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        received = graph.listen(Odometry, "platform_setpoint", qos.STATE)
        felt = graph.listen(Imu, "felt_imu", qos.STATE)
        reports = graph.listen(DiagnosticArray, "/diagnostics", qos.EVENTS)

        def send(datagram):
            sender.sendto(datagram, ("127.0.0.1", port))

        for size in rng.integers(0, 1500, 2000):
            send(rng.bytes(size))
        send(struct.pack("<4s21f", b"BNG1", *[np.nan] * 21))
        graph.line("telemetry refused", "another format")
        graph.until(lambda: len(received) > 5, "set-points")
        neutral = PLATFORM.body_pose(PLATFORM.home)
        np.testing.assert_allclose(messages.platform_state(received[-1])[1], neutral, atol=1e-9)

        def braked():
            send(struct.pack("<4s21f", b"BNG1", *[0.0] * 7, 2.0, *[0.0] * 13))
            return bool(felt) and felt[-1].linear_acceleration.x < -0.5

        graph.until(braked, "a force backwards")

        def counted():
            reported = [s for r in reports for s in r.status if s.name == "motion_cueing: cueing"]
            values = {each.key: each.value for s in reported[-1:] for each in s.values}
            return (
                int(values.get("taken", 0)) > 0
                and int(values["refused"]) > 0
                and int(values["late"]) == 0
            )

        graph.until(counted, "what was taken and refused")


@pytest.mark.parametrize(
    ("telemetry", "words"),
    [("simhub:127.0.0.1:9900", "expected one of csv"), ("csv:9900", "FORMAT:HOST:PORT")],
)
def test_telemetry_that_is_none(telemetry, words):
    with pytest.raises(rd.InvalidInput, match=words):
        LocalGraph({"motion_cueing": {"model": MODEL, "telemetry": telemetry}}).__enter__()
