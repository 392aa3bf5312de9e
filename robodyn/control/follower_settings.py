# SPDX-License-Identifier: Apache-2.0

"""Settings and results of a trajectory follower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from robodyn.algorithms.motion import Motion
from robodyn.arrays import FloatArray

MODES = ("feedforward", "computed_torque", "gravity_compensation")


@dataclass(frozen=True)
class FollowerSettings:
    """Settings of a `TrajectoryFollower` except its mode and gains.

    Attributes:
        preview: preview [s] of computed torque, see `ComputedTorque`.
        hold_when_idle: without a trajectory, hold the first measured state; otherwise there is no
            command.
        handover: duration [s] of the transition to a trajectory that replaces another, or to the
            first one from a state that is not at its beginning. The transition takes longer if the
            limits of velocities and efforts require it; 0 permits a jump.
        scale_rate: rate [1/s] at which the speed approaches `scale`.
        predicts: whether computed torque uses the state predicted for the middle of the interval in
            which its efforts act, and the acceleration planned for that time. The interval is
            estimated from the time between states. Close to a singularity, constant efforts between
            two states would push the mechanism away; with prediction it stays much closer to the
            path.
        delay: time [s] from a state until its efforts begin to act; added to the prediction.
        stop_time: duration [s] in which `stop` brings a moving mechanism to rest. The stop takes
            another time if the limits require it; 0 permits a jump.
        path_tolerance: (n,) [m or rad] largest errors of the driven joints under computed torque,
            see `path_tolerances`; None for no limit. A larger error aborts the motion: the
            mechanism comes to rest and is held at its current position. If it is moved, the hold
            starts again from there, so that it does not jump when it follows commands again.
        compensates_coriolis: whether the efforts contain Coriolis and centrifugal terms; false for
            drives that add them. For drives that add gravity or friction, give a mechanism
            `with_gravity` of zeros or `without_friction`.
    """

    preview: float = 0.0
    hold_when_idle: bool = False
    handover: float = 0.5
    scale_rate: float = 2.0
    predicts: bool = False
    delay: float = 0.0
    stop_time: float = 0.25
    path_tolerance: FloatArray | None = None
    compensates_coriolis: bool = True


class FollowerOptions(TypedDict, total=False):
    """Fields of `FollowerSettings` as keyword arguments."""

    preview: float
    hold_when_idle: bool
    handover: float
    scale_rate: float
    predicts: bool
    delay: float
    stop_time: float
    path_tolerance: FloatArray | None
    compensates_coriolis: bool


class Command(NamedTuple):
    """Efforts commanded for one state, and the motion from which they were computed.

    Attributes:
        effort: (n,) [N or N m], always finite and within the actuators' limits, which depend on
            the velocities of the joints if motors have torque-speed curves.
        required: (n,) [N or N m] efforts before limiting.
        motion: configuration, velocity and acceleration for which the efforts were computed.
        problem: why the motion, a new trajectory or the efforts could not be used as requested;
            empty if there is no problem.
    """

    effort: FloatArray
    required: FloatArray
    motion: Motion
    problem: str = ""


class RequestedMotion(NamedTuple):
    """Motion for which a follower computes efforts, with the planned motion.

    Attributes:
        motion: the planned motion, or the measured one with a corrected acceleration.
        error: (nv,) displacement from the measured to the planned configuration; None unless
            friction is compensated for the planned motion.
        planned: the planned motion; None unless friction is compensated for it.
    """

    motion: Motion
    error: FloatArray | None = None
    planned: Motion | None = None
