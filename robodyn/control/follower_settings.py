# SPDX-License-Identifier: Apache-2.0

"""What a follower of trajectories is asked for, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput
from robodyn.mechanisms.common.motion import Motion

MODES = ("feedforward", "computed_torque", "gravity_compensation")


@dataclass(frozen=True)
class FollowerSettings:
    """What a `TrajectoryFollower` is asked for besides its mode and gains.

    Attributes:
        preview: [s] of computed torque, see `ComputedTorque`.
        hold_when_idle: without a trajectory, stay at the first state seen; else answer nothing.
        handover: [s] in which a trajectory that replaces another takes over, or the first one from
            a state that is not at its beginning; longer where the limits of the joints' rates and
            efforts ask for it; 0 for a jump.
        scale_rate: [1/s] how fast the speed follows `scale`.
        predicts: computed torque for where the mechanism will be in the middle of the time for
            which its efforts hold, going by the time between states, and for the acceleration that
            is planned for then. Close to a singularity efforts that hold from one state to the next
            push it off; so it stays on the path much closer.
        delay: [s] from a state to when its efforts begin to act; where it predicts, it predicts so
            much further.
        stop_time: [s] in which `stop` brings a moving mechanism to rest; another time where the
            limits of the joints ask for it; 0 for a jump.
        path_tolerance: (n,) [m or rad] largest errors of the driven joints under computed torque,
            see `path_tolerances`; None for any. Beyond one the motion is abandoned: it comes to
            rest and holds where the mechanism is, and goes on doing so from where it is found
            whenever it is moved on, so that whoever made it obey again gets no jump.
    """

    preview: float = 0.0
    hold_when_idle: bool = False
    handover: float = 0.5
    scale_rate: float = 2.0
    predicts: bool = False
    delay: float = 0.0
    stop_time: float = 0.25
    path_tolerance: FloatArray | None = None


class Command(NamedTuple):
    """What to do at one state.

    Attributes:
        effort: (n,) [N or N m] always finite and within the actuators' limits, which fall with the
            rates of the joints where motors have torque-speed curves.
        required: (n,) before the limits.
        motion: the configuration, velocity and acceleration it was computed for.
        problem: what went wrong in a line, or nothing.
    """

    effort: FloatArray
    required: FloatArray
    motion: Motion
    problem: str = ""


class Wanted(NamedTuple):
    """The motion to find efforts for.

    Attributes:
        motion: the planned one, or the measured one corrected.
        error: displacement to the plan, where friction is compensated for the planned motion.
        planned: that motion.
    """

    motion: Motion
    error: FloatArray | None = None
    planned: Motion | None = None


def checked_mode(mode: str) -> str:
    """One of MODES.

    Raises:
        InvalidInput: another one.
    """
    if mode not in MODES:
        raise InvalidInput(f"mode is {mode!r}, expected one of {', '.join(MODES)}", value=mode)
    return mode
