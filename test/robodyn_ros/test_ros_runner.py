# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Ctrl-C is heard at every moment of a node's life."""

from __future__ import annotations

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


@pytest.mark.parametrize("when", ["before", "after", "making", "spinning"])
def test_ctrl_c_is_never_lost(when):
    process = Process([sys.executable, "-c", NODE, when], free_domain())
    try:
        assert process.wait() == 0, process.output
        assert process.lines == []
    finally:
        process.close()
