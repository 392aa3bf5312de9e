# SPDX-License-Identifier: Apache-2.0

"""Position set-points for position-controlled drives: always continuous and within limits."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from robodyn.algorithms import motions
from robodyn.algorithms.motion import Motion
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion
from robodyn.checks import LARGEST_STATE, as_scalar
from robodyn.control.computed_torque import limited_efforts
from robodyn.errors import InvalidInput, RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.machine.coupled_set_points import CoupledSetPoints
from robodyn.motion_base.machine.limits import DriveLimits
from robodyn.motion_base.machine.motion_sources import MotionSource, goal
from robodyn.motion_base.machine.set_points import SetPoints
from robodyn.motion_base.machine.workspace import Workspace

# Bandwidth [rad/s] with which the nearest reachable pose is followed, as it has corners and is
# known to first order only.
EDGE = 30.0
# Fraction of a drive's effort limit above which all drives slow down, least fraction of the limits,
# and rates of slowing down and of recovery [1/s].
EFFORT_THRESHOLD, LEAST_SCALE, SLOWING_RATE, RECOVERY_RATE = 0.7, 0.2, 45.0, 4.0
# Time [s] of a detour along the edge of the workspace, after which the direct way is tried again.
DETOUR = 0.1


class SetPoint(NamedTuple):
    """Set-point of the drives at one tick; arrays are (n,).

    Attributes:
        positions: [m or rad] of the driven joints.
        velocities: [m/s or rad/s] of the driven joints.
        accelerations: [m/s^2 or rad/s^2] of the driven joints.
        efforts: [N or N m] of this motion, as feedforward; always finite and within the limits of
            the drives.
        problem: reason for a difference from the target; empty without a difference.
    """

    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray
    efforts: FloatArray
    problem: str = ""


class PositionCommander:
    """Generator of set-points for driven joints that follow a target within limits.

    The joints follow the target as closely as the limits permit. At every tick the machine can come
    to rest within all limits and away from singularities: a step after which this would be
    impossible is replaced by a braking motion. If drives approach their effort limits, the other
    limits are reduced; only braking uses them in full.

    Args:
        mechanism: mechanism whose independent joints are all driven. It may have redundant drives;
            all of its set-points close the loops.
        dt: duration [s] of a tick.
        limits: limits of its joints; by default `DriveLimits.of(mechanism)`.
        condition_limit: see `Workspace`.
        positions: (n,) initial positions of the driven joints, at rest; home by default.

    Attributes:
        motion_source: source of the target; None: come to rest.
        base: motion of the base, for the efforts; None: at rest.
        configuration: (nq,) configuration at the last set-point.
        target: (nq,) target configuration, or the nearest one that can be reached; None without a
            target.

    Raises:
        InvalidInput: an independent joint is not driven, or a number is out of range.
        NoSolution: the loops cannot be closed with these positions.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        dt: float,
        limits: DriveLimits | None = None,
        *,
        condition_limit: float = 60.0,
        positions: ArrayLike | None = None,
    ) -> None:
        independent = set(mechanism.independent_joints)
        if not independent <= set(mechanism.joint_names):
            raise InvalidInput(
                f"{mechanism.name}: independent but not driven: "
                f"{', '.join(sorted(independent - set(mechanism.joint_names)))}; name driven "
                "joints in `independent_joints`",
                value=mechanism.independent_joints,
            )
        self.mechanism, self.limits = mechanism, limits or DriveLimits.of(mechanism)
        start = mechanism.joint_positions(mechanism.home) if positions is None else positions
        redundant = len(independent) < len(mechanism.joint_names)
        self._coupled = CoupledSetPoints(mechanism, self.limits, dt, start) if redundant else None
        self.set_points = self._coupled or SetPoints(self.limits, dt, start)
        condition_limit = as_scalar("condition_limit", condition_limit, at_least=1.0)
        self.workspace = Workspace(mechanism, self.limits.positions, condition_limit)
        self._dt = self.set_points.dt
        self.base: BaseMotion | None = None
        self._efforts = np.zeros(len(mechanism.joint_names))
        self.reset(start)

    def reset(self, positions: ArrayLike) -> None:
        """Set positions (n,) of the driven joints, at rest.

        With redundant drives, the nearest positions that close the loops are used.

        Raises:
            InvalidInput: these are not n finite numbers.
            NoSolution: the loops cannot be closed with them.
        """
        self.set_points.reset(positions)
        self.configuration = self.mechanism.assemble(self.set_points.state[0], self.mechanism.home)
        self.motion_source: MotionSource | None = None
        self.target: FloatArray | None = None
        self._inside: FloatArray | None = None
        self._target: FloatArray | None = None
        self._smooth, self._ease = self.set_points.state, 1.0
        self._blocked = self._obstacle = ""
        self._detour = 0

    def warm_up(self) -> None:
        """Run all code of `step` once, so that no later call is slow.

        The first call to a compiled function loads it. The state is then reset to rest.
        """
        start = self.set_points.state[0]
        far = self.limits.positions[:, 1]
        far = np.where(np.isfinite(far), far, start + 1.0)
        with suppress(RobodynError):
            near = 0.9 * start + 0.1 * far
            self.motion_source = goal(self.mechanism, near, self.configuration)
            for _ in range(3):
                self.step(0)
            self.motion_source = None
            self.step(0)
            self.workspace.nearest(self.configuration, self.mechanism.home)
        self.reset(start)

    @property
    def has_arrived(self) -> bool:
        """Whether the drives follow the target exactly or, without a target, are at rest."""
        if self._target is None:
            return self.set_points.is_at_rest
        error = np.abs(self.set_points.state - self._target)
        limits = self.limits
        return bool(
            (error[0] <= 1e-3 * limits.rates * self._dt + 1e-9).all()
            and (error[1] <= 1e-3 * limits.rates).all()
        )

    def step(self, time: int, pace: float = 1.0) -> SetPoint:
        """Return the set-point for `time` [ns], one tick after the last.

        Args:
            time: time [ns] of the set-point, at which the target is evaluated.
            pace: fraction of the limits of velocity, acceleration and jerk that may be used.

        Returns:
            Positions, velocities, accelerations and efforts of the drives.

        Raises:
            InvalidInput: the pace is not above 0 and at most 1.
        """
        if not 0.0 < pace <= 1.0:
            raise InvalidInput(
                f"pace is {pace}, expected a number above 0 and at most 1", value=pace
            )
        self._target, problem = self._requested_target(time)
        if self._target is None:
            self._blocked, self._detour = "", 0
            self.set_points.brake()
            return self._set_point(problem)
        violation = self._blocked or self._step_toward(self._target, pace * self._ease)
        if violation and not self._blocked and not self._detour:
            self.set_points.brake()
            self._obstacle, self._detour = violation, max(round(DETOUR / self._dt), 1)
        elif violation:
            # come to rest before trying anything else, which avoids hunting
            self.set_points.brake()
            self._blocked, self._detour = "" if self.set_points.is_at_rest else violation, 0
        elif self._detour:
            self._target = self.set_points.state + np.inf  # it has not arrived
            self._detour -= 1
        return self._set_point(violation or problem)

    def _step_toward(self, target: FloatArray, pace: float) -> str:
        """Advance the set-points by one step toward a target (3, n), if it is permitted.

        Returns:
            The reason why the step is not permitted; empty if it was taken.
        """
        later, rest = self.set_points.next_state(target, pace)
        violation = self._path_violation(later, rest)
        if not violation:
            self.set_points.take(later, rest)
        return violation

    def _requested_target(self, time: int) -> tuple[FloatArray | None, str]:
        """Return the drives' target at a time, and why it differs from the request.

        Returns:
            Positions, rates and accelerations (3, n), or None if there is no target; and the reason
            for a difference, empty if there is none.
        """
        problem = ""
        try:
            motion = None if self.motion_source is None else self.motion_source.at(time)
            if motion is not None and np.abs(np.concatenate(motion)).max() <= LARGEST_STATE:
                return self._admissible_target(motion)
            if motion is not None:
                problem = (
                    f"the requested motion is not finite, or has a value beyond {LARGEST_STATE:g}"
                )
        except RobodynError as error:
            problem = str(error)
        self.target = self._inside = None
        return None, problem

    def _admissible_target(self, motion: Motion) -> tuple[FloatArray, str]:
        """Return the permitted target nearest to a requested motion.

        Returns:
            Positions, rates and accelerations (3, n) of the drives, and the reason why they differ
            from the request; empty if they do not.
        """
        mechanism = self.mechanism
        if self._detour:
            self.target = self.workspace.nearest(motion.configuration, self.configuration)
            self._inside, positions = None, mechanism.joint_positions(self.target)
            return np.array([positions, 0.0 * positions, 0.0 * positions]), self._obstacle
        problem = self.workspace.violation(motion.configuration)
        if not problem:
            self.target, self._inside = motion.configuration, None
            target = np.array(motions.driven_motion(mechanism, *motion))
            here = self.set_points.state[0]
            target[0] = here + motions.joint_difference(mechanism, here, target[0])
            return target, ""
        last = self._inside
        inside = self.configuration if last is None else last
        self.target = self._inside = self.workspace.nearest(motion.configuration, inside)
        positions, dt = mechanism.joint_positions(self._inside), self._dt
        p, v, _ = self.set_points.state if last is None else self._smooth
        a = EDGE * (EDGE * motions.joint_difference(mechanism, p, positions) - 2.0 * v)
        self._smooth = np.array([p + dt * (v + 0.5 * dt * a), v + dt * a, a])
        return self._smooth, f"{problem}: moving to the nearest pose inside the workspace"

    def _path_violation(self, later: FloatArray, rest: FloatArray) -> str:
        """Return why a step of the set-points is not permitted; empty if it is.

        A step is permitted if the machine can come to rest after it without leaving the
        workspace. `later` (3, n) is the state after the step, and `rest` (n,) the positions at
        which the drives then come to rest.
        """
        mechanism, way = self.mechanism, [self.configuration]
        if self._coupled is not None:
            way = list(self._coupled.ahead)
        else:
            try:
                for positions in (later[0], 0.5 * (later[0] + rest), rest):
                    way.append(motions.assemble_near(mechanism, positions, way[-1]))
            except RobodynError as error:
                return f"the path to the target is blocked: {error}"
        why = self.workspace.path_violation(np.array(way))
        return f"the path to the target is blocked: {why}" if why else ""

    def _set_point(self, problem: str) -> SetPoint:
        p, v, a = self.set_points.state
        try:
            if self._coupled is not None:
                motion = self._coupled.motion
            else:
                motion = motions.motion_of_joints(self.mechanism, p, v, a, self.configuration)
            self.configuration = motion.configuration
            efforts = self.mechanism.inverse_dynamics(*motion, base=self.base)
            if np.isfinite(efforts).all():
                limits = self.mechanism.drives.effort_limits_at(v)
                problem = problem or self._derate(efforts, limits)
                self._efforts = limited_efforts(self.mechanism, motion, efforts, limits, self.base)
        except RobodynError as error:  # keep the last efforts
            problem = problem or str(error)
        return SetPoint(p, v, a, self._efforts, problem)

    def _derate(self, efforts: FloatArray, limits: FloatArray) -> str:
        """Reduce the speed factor if any effort (n,) is near its limit; else increase it.

        Returns:
            A message if an effort exceeds its limit, otherwise an empty string.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            strain = np.nan_to_num(np.abs(efforts) / limits)
        worst = int(np.argmax(strain))
        change = -SLOWING_RATE if strain[worst] > EFFORT_THRESHOLD else RECOVERY_RATE
        self._ease = min(max(self._ease * np.exp(change * self._dt), LEAST_SCALE), 1.0)
        if strain[worst] <= 1.0:
            return ""
        name = self.mechanism.joint_names[worst]
        return f"{name} needs {strain[worst]:.3g} times its effort limit: slowing down"
