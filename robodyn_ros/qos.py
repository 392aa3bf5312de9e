"""Quality of service of our topics, and why.

States and commands are reliable: in lockstep a lost one would stall the run, and reliable
publishers serve best-effort subscribers too. What is recorded is read with a history that keeps
all. A trajectory and a robot description are latched for those who come late.
"""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

# A burst this long may wait in the writer for a slow reader.
STATE = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
LATEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
COMMAND = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
LOSSLESS = QoSProfile(history=HistoryPolicy.KEEP_ALL, reliability=ReliabilityPolicy.RELIABLE)
LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
# Depth 1 and best effort is how rclpy itself subscribes to /clock; a reliable writer fits both.
CLOCK = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
EVENTS = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
