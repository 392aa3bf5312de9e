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

"""Quality of service of our topics, and why.

States and commands are reliable: in lockstep a lost one would stall the run, and reliable
publishers serve best-effort subscribers too. A trajectory and a robot description are latched for
those who come late.

In lockstep states and the clock keep all: the run waits for the slowest of those who read them in
the same way, as a recorder does. Commands are one to a state, and their writer keeps as many as
fit before the states are held up, so none of them is lost either. In real time nobody waits: who
falls behind by more than a burst loses the oldest.
"""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

# What may wait in a writer for slow readers: as many as the middleware keeps for "keep all".
BURST = 5000
STATE = QoSProfile(depth=BURST, reliability=ReliabilityPolicy.RELIABLE)
COMMAND = STATE
LATEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
# To act on what comes, without working off what is stale.
RECENT = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
LOSSLESS = QoSProfile(history=HistoryPolicy.KEEP_ALL, reliability=ReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
# Best effort and depth 1 is how rclpy itself subscribes to /clock; a reliable writer fits that.
CLOCK = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
EVENTS = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
