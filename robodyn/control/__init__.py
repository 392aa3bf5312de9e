"""Controllers: from a measured state and a trajectory to efforts."""

from robodyn.control.computed_torque import ComputedTorque, Controller, Feedforward
from robodyn.control.follower import Command, TrajectoryFollower
from robodyn.control.watchdog import Watchdog, WatchdogState

__all__ = [
    "Command",
    "ComputedTorque",
    "Controller",
    "Feedforward",
    "TrajectoryFollower",
    "Watchdog",
    "WatchdogState",
]
