# SPDX-License-Identifier: Apache-2.0

"""Parameters of a controller of efforts: mode, gains, handovers, stops and the watchdog."""

from __future__ import annotations

from robodyn_ros.parameters import Spec, live

MODES = ("feedforward", "computed_torque", "gravity_compensation")
CONTROL = {
    "mode": live(
        "computed_torque",
        "feedforward: efforts of the planned motion; computed_torque: with feedback; "
        "gravity_compensation: efforts that hold the measured configuration",
        choices=MODES,
    ),
    "kp": live(100.0, "computed torque: proportional gain [1/s^2]", 0.0, 1e6),
    "kv": live(20.0, "computed torque: derivative gain [1/s]", 0.0, 1e5),
    "preview": live(0.0, "computed torque: preview time of the planned acceleration [s]", 0.0, 1.0),
    "delay": live(
        0.0,
        "computed torque: delay from a state until its efforts act [s]; if it is not 0, they are "
        "computed for the state predicted for that time plus half a period",
        0.0,
        0.1,
    ),
    "handover": live(
        0.5,
        "time over which a new trajectory takes over from the active one, or from a state away "
        "from its start [s]; longer, up to 30 s, where limits of rates and efforts ask for it",
        0.0,
        60.0,
    ),
    "stop_time": live(
        0.25,
        "time in which ~/stop brings a moving mechanism to rest [s]; another time where limits of "
        "rates, efforts and positions ask for it; 0: a jump",
        0.0,
        10.0,
    ),
    "idle": Spec(
        "wait",
        "without a trajectory: wait (publish nothing) or hold (stay at the present configuration)",
        choices=("wait", "hold"),
    ),
    "use_scale": live(
        False,
        "slow down by condition_monitor/scale; computed torque is then evaluated halfway between "
        "two states, which tracks better close to a singularity",
    ),
    "watchdog_timeout": live(
        0.5,
        "longest time without a state before the watchdog acts [s]; 0: no watchdog",
        0.0,
    ),
    "watchdog_hold": live(
        1.0, "watchdog: time for which efforts hold the last configuration [s]", 0.0
    ),
    "watchdog_ramp": live(2.0, "watchdog: time in which efforts then fall to zero [s]", 0.0),
}
