# SPDX-License-Identifier: Apache-2.0

"""machine.launch.py as users type it, with servos behind a serial line: a pseudo-terminal."""

import signal

import numpy as np
import pytest
import yaml
from launch_harness import ros2
from pseudo_terminal import SerialServos
from ros_harness import PATIENCE, Peer, Process, free_domain
from std_msgs.msg import String
from std_srvs.srv import Trigger

import robodyn as rd
from robodyn_ros import qos

pytestmark = pytest.mark.system

SCALE, ZERO = 10_000.0, 500.0  # of the servos, per m
PARAMETERS = {
    "joint_commander": {
        "rate": 50.0,
        "homing": "assumed",
        "slow": 0.5,
        "ease": 0.3,
        "following_error": 0.2,
        "feedback_timeout": 0.0,
    },
    "drive_link": {"scale": [SCALE], "zero": [ZERO], "format": "{1:.1f} {2:.1f} {3:.1f} {4:.1f} "
                   "{5:.1f} {6:.1f}", "feedback": True},
    "trajectory_planner": {"auto_start": False, "start_in": 0.2},
}  # fmt: skip


class Bench:
    """The launch, the servos, and a client of its services."""

    def __init__(self, folder):
        self.servos, domain = SerialServos(), free_domain()
        file = folder / "servos.yaml"
        nodes = {f"/**/{name}": {"ros__parameters": p} for name, p in PARAMETERS.items()}
        file.write_text(yaml.safe_dump(nodes))
        given = {"hardware": "link", "link": self.servos.link, "params_file": file}
        words = [f"{name}:={value}" for name, value in given.items()]
        words.append(f"sigterm_timeout:={PATIENCE}")
        command = [ros2(), "launch", "robodyn", "machine.launch.py", *words]
        self.process = Process(command, domain, cwd=folder)
        self.peer = Peer(domain)
        self.peer.partners.append(self.process)
        self.states = self.peer.listen(String, "machine_state", qos.LATCHED)

    def until(self, condition, what):
        def happens():
            self.servos.take()
            return condition()

        self.peer.until(happens, what)

    def wait(self, state):
        self.until(lambda: self.states and self.states[-1].data == state, state)

    def ask(self, service):
        answer = self.peer.call(Trigger, service)
        assert answer.success, answer.message

    @property
    def lengths(self):
        """Commanded leg lengths (k, 6) [m] of the servos."""
        reported = [[float(word) for word in line.split(" ")] for line in self.servos.lines]
        return (np.array(reported) - ZERO) / SCALE

    def close(self):
        self.peer.close()
        self.process.close()
        self.servos.close()


@pytest.fixture
def bench(tmp_path):
    made = Bench(tmp_path)
    yield made
    made.close()


def test_engage_a_path_freeze_ease_back_park(bench):
    m = rd.load("stewart_symmetric")
    home = m.drives.signs * (m.joint_positions(m.home) - m.drives.offsets)
    bench.wait("parked")
    bench.ask("joint_commander/engage")
    bench.wait("engaged")
    bench.ask("trajectory_planner/start")
    bench.until(lambda: np.abs(bench.lengths[-1] - home).max() > 0.01, "the path")
    bench.ask("joint_commander/freeze")
    bench.wait("frozen")
    count = len(bench.servos.lines)
    bench.until(lambda: len(bench.servos.lines) > count + 20, "lines")
    still = bench.lengths[count + 5 :]
    assert np.abs(still[-1] - home).max() > 0.005
    assert np.ptp(still, axis=0).max() == 0.0
    bench.ask("joint_commander/engage")
    bench.wait("engaged")
    bench.ask("joint_commander/park")
    bench.wait("parked")
    # a line is the last one's successor or, on a busy machine, that of one lost
    np.testing.assert_allclose(bench.lengths[-1], home, atol=1e-3)
    assert np.abs(np.diff(bench.lengths, axis=0)).max() < 0.1
    bench.process.signal(signal.SIGINT)
    assert bench.process.wait() == 0, bench.process.output
    assert "Traceback" not in bench.process.output
