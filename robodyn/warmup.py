# SPDX-License-Identifier: Apache-2.0

"""Loading of a mechanism's compiled functions in advance, so that later calls are fast."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from robodyn.algorithms import conditioning, motions
from robodyn.analysis.run import RunHistory
from robodyn.control.conditioning import condition_rate, weakest_direction
from robodyn.control.follower import TrajectoryFollower
from robodyn.control.joint_space import joint_motion
from robodyn.control.lookahead import look_ahead
from robodyn.control.path_tolerance import DEFAULT_TOLERANCE, path_tolerances
from robodyn.control.slowing import SpeedScale
from robodyn.errors import RobodynError, UnderActuated
from robodyn.mechanism.mechanism import Mechanism
from robodyn.simulation.plant import Plant
from robodyn.trajectories import Motion, SampledTrajectory, TipJoints

SECOND = 1_000_000_000  # [ns]
STEP = 1e-4  # [m or rad] away from home


def warm_up(mechanism: Mechanism) -> None:
    """Load the compiled functions for control and simulation of a mechanism.

    It calls each function once, so that later calls are fast. The first call takes about 0.1 s if
    its machine code is cached on disk, otherwise seconds.
    """
    home = mechanism.home
    rest = mechanism.difference(home, home)
    mechanism.solver.warm_up()
    mechanism.joint_velocities(home, rest)
    mechanism.body_pose(home[None])
    effort = np.zeros(len(mechanism.joint_names))
    with suppress(UnderActuated):  # it can still move
        effort = mechanism.inverse_dynamics(home, rest, rest)
    mechanism.drives.effort_limits_at(np.zeros(len(mechanism.joint_names)))
    Plant(mechanism).hold(np.asarray(effort), 1)
    # an unsuitable home is reported when it is used
    with suppress(RobodynError):
        path = _motion_near_home(mechanism)
        _follow(mechanism, path)
        joint_motion(mechanism, path, path.times)
        if motions.determining_rows(mechanism):
            TipJoints(mechanism).warm_up()


def warm_up_watching(mechanism: Mechanism) -> None:
    """Load the compiled functions that monitor a mechanism for singularities."""
    home, rest = mechanism.home, np.zeros(mechanism.coordinates.velocity_size)
    with suppress(RobodynError):
        path = _motion_near_home(mechanism)
        mechanism.condition_number(home)
        conditioning.singular_values(mechanism, home)
        weakest_direction(mechanism, home)
        condition_rate(mechanism, home, rest)
        scale = SpeedScale(mechanism, 1.0, 1e300)
        scale.follow(path)
        scale.at(0, home, rest)
        look_ahead(mechanism, path)


def warm_up_summary(mechanism: Mechanism) -> None:
    """Load the compiled functions that summarize a run of a mechanism."""
    with suppress(RobodynError):
        path = _motion_near_home(mechanism)
        moved = path.sample(path.times)
        effort = np.zeros((len(path.times), len(mechanism.joint_names)))
        RunHistory(mechanism, "", "", path.times, *moved[:2], effort, moved).summary()


def _motion_near_home(mechanism: Mechanism) -> SampledTrajectory:
    """Return a motion from home to a nearby configuration and back, 1 s each way."""
    home = mechanism.home
    aside = mechanism.advance(home, np.full(mechanism.coordinates.velocity_size, STEP))
    # two intervals, since arrays of one row have another type in the kernels
    still = np.zeros((3, mechanism.coordinates.velocity_size))
    motion = Motion(np.array([home, aside, home]), still, still)
    return SampledTrajectory(mechanism, [0.0, 1.0, 2.0], motion)


def _follow(mechanism: Mechanism, path: SampledTrajectory) -> None:
    """Follow a path with a trajectory follower, replace it halfway, and stop."""
    tolerance = path_tolerances(mechanism, DEFAULT_TOLERANCE)
    follower = TrajectoryFollower(mechanism, predicts=True, path_tolerance=tolerance)
    follower.follow(path)
    rest = np.zeros(mechanism.coordinates.velocity_size)
    for time in (0, SECOND // 4, SECOND // 2, SECOND):
        if time == SECOND // 2:
            follower.follow(path, time)
        follower.command(time, mechanism.home, rest, np.zeros(6))
    follower.stop()
    follower.command(SECOND + 1, mechanism.home, rest + STEP, np.zeros(6))
