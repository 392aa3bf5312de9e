# SPDX-License-Identifier: Apache-2.0

"""Ctrl-C works at every moment of a node's life, and a second one does no harm."""

from __future__ import annotations

import signal
import sys

import pytest
from ros_harness import Process, free_domain

pytestmark = pytest.mark.ros

# Interrupts itself at one moment or another, then runs a node that never ends by itself.
NODE = """
import os, signal, sys
import rclpy
from rclpy.node import Node
from robodyn_ros import entry

interrupt = lambda *_: os.kill(os.getpid(), signal.SIGINT)
init = rclpy.init

def before(args=None):
    interrupt()
    init(args=args)

def after(args=None):
    init(args=args)
    interrupt()

class Idle(Node):
    def __init__(self):
        super().__init__("idle")
        if sys.argv[1] == "making":
            interrupt()
        if sys.argv[1] == "spinning":
            self.create_timer(0.05, interrupt)

rclpy.init = {"before": before, "after": after}.get(sys.argv[1], init)
sys.modules["robodyn_ros.idle"] = sys.modules["__main__"]
entry._start("idle", "Idle")
"""


# Ends by Ctrl-C, or by itself, and is interrupted again while it tidies up.
TIDY = """
import os, signal, sys
from rclpy.node import Node
from robodyn_ros import entry
from robodyn_ros.runner import Finished

interrupt = lambda *_: os.kill(os.getpid(), signal.SIGINT)

def finish():
    raise Finished(3, "done")

class Tidy(Node):
    def __init__(self):
        super().__init__("tidy")
        self.create_timer(0.05, {"interrupted": interrupt, "finished": finish}[sys.argv[1]])

    def destroy_node(self):
        interrupt()
        sys.stdout.write("tidied up\\n")
        interrupt()
        super().destroy_node()

sys.modules["robodyn_ros.tidy"] = sys.modules["__main__"]
entry._start("tidy", "Tidy")
"""


# As a lock inside a library that is never released.
STUCK = """
import threading
from robodyn_ros import runner
runner.LEAVE = 0.5
runner.rclpy.try_shutdown = threading.Event().wait
"""
# Of a library, which never ends.
THREAD = """
import threading, time
threading.Thread(target=time.sleep, args=(1e6,)).start()
"""


# As if rclpy's signal handler shut the context down between the check of rclpy and its own call.
RACE = """
import rclpy
from rclpy.utilities import get_default_context

def shut_down_twice():
    for _ in range(2):
        get_default_context().handle.shutdown()

rclpy.try_shutdown = shut_down_twice
"""


@pytest.mark.parametrize(("how", "code"), [("interrupted", 0), ("finished", 3)])
def test_a_second_ctrl_c_does_not_break_an_orderly_end(how, code):
    process = Process([sys.executable, "-c", TIDY, how], free_domain())
    try:
        assert process.wait() == code, process.output
        reported = [line for line in process.lines if "[FATAL]" not in line]
        assert reported == ["tidied up"]
    finally:
        process.close()


@pytest.mark.parametrize(
    ("held", "code", "texts"),
    [(THREAD, 3, []), (STUCK, 1, ["Timeout", "runner.py"]), (RACE, 3, [])],
    ids=["thread", "shutdown", "race"],
)
def test_runner_ends_a_process_that_a_library_holds(held, code, texts):
    """By a thread that never ends; or in the graph, then with the stack of each thread."""
    process = Process([sys.executable, "-c", held + TIDY, "finished"], free_domain())
    try:
        assert process.wait() == code, process.output
        assert "tidied up" in process.lines
        assert all(text in process.output for text in texts)
    finally:
        process.close()


# Cannot be created, and is interrupted while the reason is logged, or after that.
REFUSED = """
import os, signal, sys
import rclpy
from rclpy.node import Node
from robodyn.errors import InvalidInput
from robodyn_ros import entry

interrupt = lambda *_: os.kill(os.getpid(), signal.SIGINT)
shutdown = rclpy.try_shutdown

class TooHeavy(InvalidInput):
    def __str__(self):
        interrupt()
        return "too heavy"

def interrupted_shutdown():
    interrupt()
    shutdown()

class Refused(Node):
    def __init__(self):
        super().__init__("refused")
        raise {"telling": TooHeavy, "ending": InvalidInput, "failing": ValueError}[sys.argv[1]](
            "too heavy"
        )

if sys.argv[1] != "telling":
    rclpy.try_shutdown = interrupted_shutdown
sys.modules["robodyn_ros.refused"] = sys.modules["__main__"]
entry._start("refused", "Refused")
"""


@pytest.mark.parametrize("when", ["telling", "ending", "failing"])
def test_ctrl_c_does_not_hide_why_a_node_cannot_be_made(when):
    process = Process([sys.executable, "-c", REFUSED, when], free_domain())
    try:
        assert process.wait() == 1, process.output
        assert "too heavy" in process.output
        assert ("Traceback" in process.output) == (when == "failing")
    finally:
        process.close()


@pytest.mark.parametrize("when", ["before", "after", "making", "spinning"])
def test_ctrl_c_is_never_lost(when):
    process = Process([sys.executable, "-c", NODE, when], free_domain())
    try:
        assert process.wait() == 0, process.output
        assert process.lines == []
    finally:
        process.close()


# Computes outside of Python, where no signal handler runs, as a compiler does.
BUSY = """
import ctypes, sys
from rclpy.node import Node
from robodyn_ros import entry, runner

runner.GRACE = 0.2

def compute():
    print("computing", flush=True)
    wait = ctypes.CDLL(None).select
    while True:  # a signal ends the call, and the next one begins
        wait(0, None, None, None, ctypes.byref((ctypes.c_long * 2)(60, 0)))

class Busy(Node):
    def __init__(self):
        super().__init__("busy")
        self.create_timer(0.05, compute)
        if sys.argv[1] == "making":
            compute()

sys.modules["robodyn_ros.busy"] = sys.modules["__main__"]
entry._start("busy", "Busy")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("when", ["making", "spinning"])
def test_runner_ends_a_node_that_computes_when_a_signal_arrives(when, number):
    process = Process([sys.executable, "-c", BUSY, when], free_domain())
    try:
        process.wait_for_line("computing")
        process.signal(number)
        assert process.wait() == 0
    finally:
        process.close()


@pytest.mark.parametrize("domain", ["abc", "250", "-1", "1.5"])
def test_runner_names_a_ros_domain_id_that_is_none(domain):
    process = Process([sys.executable, "-c", NODE, "never"], domain)
    try:
        assert process.wait() == 1
        (line,) = process.lines
        assert "ROS_DOMAIN_ID" in line
        assert repr(domain) in line
        assert "232" in line
    finally:
        process.close()


def test_runner_starts_a_node_without_home(monkeypatch):
    for name in ("HOME", "ROS_HOME", "ROS_LOG_DIR"):
        monkeypatch.delenv(name, raising=False)
    process = Process([sys.executable, "-c", NODE, "spinning"], free_domain())
    try:
        assert process.wait() == 0, process.output
        assert not process.output
    finally:
        process.close()


def test_a_node_without_its_simulated_time_reports_it():
    arguments = ["never", "--ros-args", "-p", "use_sim_time:=true"]
    process = Process([sys.executable, "-c", NODE, *arguments], free_domain())
    try:
        process.wait_for_line("waiting for /clock, because use_sim_time is true: no publisher")
    finally:
        process.close()
