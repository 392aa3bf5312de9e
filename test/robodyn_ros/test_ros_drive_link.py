# SPDX-License-Identifier: Apache-2.0

"""A machine on servos behind a serial line, a pseudo-terminal here, or behind UDP."""

import socket

import numpy as np
import pytest
from local_graph import LocalGraph
from pseudo_terminal import SerialServos
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

import robodyn as rd
from robodyn_ros import messages, qos
from robodyn_ros.line_ports import PortLost, open_port

SERVOS = {"format": "'{1:.1f} {2:.1f} {3:.1f}'", "scale": [600.0], "zero": [1500.0]}
SERVOS |= {"direction": [1.0, -1.0, 1.0], "horn": [0.35], "value_range": [500.0, 2500.0]}


class UdpServos:
    """Servos behind datagrams."""

    def __init__(self):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self.link, self.lines = f"udp:127.0.0.1:{self._socket.getsockname()[1]}", []

    def take(self):
        try:
            data, address = self._socket.recvfrom(65536)
        except BlockingIOError:
            return
        self.lines.append(data.decode().strip())
        self._socket.sendto(data, address)

    def close(self):
        self._socket.close()


@pytest.mark.parametrize("kind", [SerialServos, UdpServos])
def test_a_machine_on_servos_engages_and_parks(kind):
    servos, delta = kind(), {"model": "delta"}
    park = [0.2, 0.2, 0.2]
    commander = delta | {"rate": 100.0, "homing": "assumed", "park_positions": park, "ease": 0.2}
    link = delta | SERVOS | {"link": servos.link, "feedback": True}
    with LocalGraph({"drive_link": link, "joint_commander": commander}) as graph:
        states = graph.listen(String, "machine_state", qos.LATCHED)
        commands = graph.listen(JointState, "joint_commands")

        def is_in(state):
            servos.take()
            return states and states[-1].data == state

        graph.until(lambda: is_in("parked"), "parked")
        assert graph.call(Trigger, "joint_commander/engage").success
        graph.until(lambda: is_in("engaged"), "engaged")
        graph.until(lambda: is_in("engaged") and len(servos.lines) > 100, "lines")
        assert graph.call(Trigger, "joint_commander/park").success
        graph.until(lambda: is_in("parked"), "parked again")
        reported = [[float(word) for word in line.split(" ")] for line in servos.lines]
        home = rd.load("delta").joint_positions(rd.load("delta").home)
        seen = np.array([each for each in reported if len(each) == 3])
        at_home = 1500.0 + 600.0 * (home - 0.35) * [1.0, -1.0, 1.0]
        assert np.abs(seen - at_home).max(axis=1).min() <= 0.05
        # no jump: 0.1 rad a period, of which a busy machine may lose some
        stamps = np.array([messages.to_nanoseconds(m.header.stamp) for m in commands])
        periods = np.maximum(np.diff(stamps) / 10_000_000, 1.0)
        jumps = np.abs(np.diff([m.position for m in commands], axis=0)).max(axis=1)
        assert len(commands) > 100
        assert (jumps < 0.1 * periods).all()
    servos.close()


def test_servos_get_no_command_beyond_the_ends_of_their_joints():
    servos, delta = UdpServos(), rd.load("delta")
    link = {"model": "delta", "link": servos.link, "format": "'{1:.6f} {2:.6f} {3:.6f}'"}
    lower, upper = delta.position_limits.T
    inside = [lower, upper, 0.5 * (lower + upper)]
    outside = [lower - 1e-3, upper + 1e-3 * np.eye(3)[1], upper + 10.0]
    with LocalGraph({"drive_link": link}) as graph:
        publisher = graph.publisher(Float64MultiArray, "position_controller/commands")

        def received():
            servos.take()
            return len(servos.lines) + sum("refused: position of" in line for line in graph.lines)

        for k, positions in enumerate([*outside, *inside], start=1):
            publisher.publish(Float64MultiArray(data=positions.tolist()))
            graph.until(lambda k=k: received() >= k, f"a line or a refusal of {positions}")
    reported = np.array([[float(word) for word in line.split()] for line in servos.lines])
    np.testing.assert_allclose(reported, inside, atol=1e-6)
    servos.close()


def test_a_line_that_cannot_be_opened_says_so():
    with pytest.raises(rd.InvalidInput, match="/dev/no_such"):
        open_port("serial:/dev/no_such")
    with pytest.raises(rd.InvalidInput, match="expected serial:DEVICE"):
        open_port("can:0")
    with pytest.raises(rd.InvalidInput, match="cannot be opened"):
        open_port("udp:localhost:many")


def test_a_serial_line_that_is_pulled_out_is_said():
    servos = SerialServos()
    port = open_port(servos.link)
    assert port.send("1 2\n")
    servos.close()
    with pytest.raises(PortLost, match="the serial line is lost"):
        port.send("1 2\n")
    with pytest.raises(PortLost, match="the serial line is lost"):
        port.received()
    port.close()
