# SPDX-License-Identifier: Apache-2.0

"""Trajectory follower: the complete behavior of an inverse-dynamics node.

States carry their own time in nanoseconds; this module reads no clock.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray, Unpack
from robodyn.base_motion import BaseMotion
from robodyn.checks import all_finite, as_exact, as_scalar, check_choice, refuse_beyond
from robodyn.control.active_trajectory import ActiveTrajectory
from robodyn.control.computed_torque import ComputedTorque, reduced_efforts
from robodyn.control.follower_settings import (
    MODES,
    Command,
    FollowerOptions,
    FollowerSettings,
    RequestedMotion,
)
from robodyn.control.path_clock import LATE
from robodyn.control.path_tolerance import describe_deviation
from robodyn.errors import InfeasibleTrajectory, InvalidInput, KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Motion


class TrajectoryFollower(ActiveTrajectory):
    """Trajectory follower that computes efforts for each measured state.

    Args:
        mechanism: model of the controller.
        mode: `feedforward`, `computed_torque`, or `gravity_compensation`: the efforts that hold
            the measured configuration at rest, for any trajectory.
        kp, kv: gains of computed torque, see `ComputedTorque`.
        settings: all other settings.
        options: keyword arguments that override fields of `settings`.

    Attributes:
        abandoned: reason why the motion was aborted; cleared when another motion begins.
        saturated: (n,) for each actuator, the number of commands that were limited.
        refused: the latest trajectory that was dropped because no handover within the limits
            exists; the previous trajectory, or a hold, continued.
        desired: motion planned for the latest state; None without a trajectory.
        base: measured motion of the base, set by the caller; None for a base at rest.
        compensates_coriolis: see `FollowerSettings`.

    Raises:
        InvalidInput: the mode is unknown, or a number is out of range.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        mode: str = "computed_torque",
        kp: ArrayLike = 100.0,
        kv: ArrayLike = 20.0,
        *,
        settings: FollowerSettings | None = None,
        **options: Unpack[FollowerOptions],
    ) -> None:
        requested = replace(settings or FollowerSettings(), **options)
        self.path_tolerance = requested.path_tolerance
        self.compensates_coriolis = requested.compensates_coriolis
        self.abandoned = ""
        clock = (
            requested.handover,
            requested.scale_rate,
            requested.hold_when_idle,
            requested.stop_time,
        )
        super().__init__(mechanism, *clock)
        self.saturated = np.zeros(len(mechanism.joint_names), dtype=np.int64)
        self._set_model(mechanism)
        self.refused: InfeasibleTrajectory | None = None
        self.desired: Motion | None = None
        self.base: BaseMotion | None = None
        self.predicts = requested.predicts
        self.delay = as_scalar("delay", requested.delay, "s", at_least=0.0)
        check_choice("mode", mode, MODES)
        self._mode = mode
        self._control = ComputedTorque(mechanism, kp, kv, requested.preview)
        self._last_time: int | None = None
        self._period = 0.0  # [s] between the last two states
        self._last_effort = np.zeros(len(mechanism.joint_names))

    @property
    def mode(self) -> str:
        """Control mode: `feedforward`, `computed_torque` or `gravity_compensation`.

        When the mode `gravity_compensation` is left, the mechanism holds the next measured state.

        Raises:
            InvalidInput: the new mode is unknown.
        """
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        check_choice("mode", mode, MODES)
        before, self._mode = self._mode, mode
        if before == "gravity_compensation" != mode and self.is_started:
            self.discard_path()  # the mechanism has not followed the trajectory meanwhile
            self.stop()

    @property
    def scale(self) -> float:
        """Requested speed along the path, from 0 (rest) to 1 (as planned).

        Raises:
            InvalidInput: the new value is not a number from 0 to 1.
        """
        return self.clock.target

    @scale.setter
    def scale(self, value: float) -> None:
        scale = as_scalar("scale", value)
        if not 0.0 <= scale <= 1.0:
            raise InvalidInput(f"scale is {scale}, must be from 0 to 1", value=value)
        self.clock.target = scale

    def abandon(self, why: str) -> None:
        """Abort the motion because commands have no effect.

        The mechanism comes to rest as after `stop`. The reason `why` is stored in `abandoned`.
        """
        self.abandoned = why
        self.stop()

    def set_gains(self, kp: ArrayLike, kv: ArrayLike, preview: float = 0.0) -> None:
        """Change the gains and the preview of computed torque, see `ComputedTorque`.

        Raises:
            InvalidInput: gains are not positive, or the preview is negative.
        """
        self._control = ComputedTorque(self.mechanism, kp, kv, preview)

    def set_mechanism(self, mechanism: Mechanism) -> None:
        """Replace the model by another of the same mechanism, for example with a payload.

        Raises:
            InvalidInput: its joints differ.
        """
        if mechanism.joint_names != self.mechanism.joint_names:
            raise InvalidInput(
                f"{mechanism.name} drives {', '.join(mechanism.joint_names)}; expected "
                f"{', '.join(self.mechanism.joint_names)}",
                value=mechanism.joint_names,
            )
        control = self._control
        self._control = ComputedTorque(mechanism, control.kp, control.kv, control.preview)
        self._set_model(mechanism)

    def _set_model(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        # cached: used at every update
        self._coordinates = mechanism.coordinates
        self._limits = mechanism.effort_limits
        self._frictionless: Mechanism | None = None
        least, largest = mechanism.drives.effort_ends
        self._least, self._largest = float(least.max()), float(largest.min())
        self._rates = (self._coordinates.velocity_size,)

    def command(
        self,
        time: int,
        configuration: FloatArray,
        velocity: FloatArray,
        wrench: ArrayLike | None = None,
    ) -> Command | None:
        """Compute the efforts for a measured state at `time` [ns].

        In a singular configuration, where no efforts exist, the last efforts are repeated.

        Args:
            time: time [ns] of the state.
            configuration, velocity: (nq,) and (nv,) measured state.
            wrench: (6,) [N, N m] external wrench on the body about its reference point, base frame;
                zero by default.

        Returns:
            Efforts, and the motion for which they were computed. None if there is neither a
            trajectory nor a configuration to hold.

        Raises:
            InvalidInput: a state or a wrench has the wrong shape or is not finite, or a state is
                outside any plausible workspace.
        """
        # not checked again below
        configuration = self._coordinates.single("configuration", configuration)
        velocity = as_exact("velocity", velocity, self._rates)
        # a hold or a handover from such a state would corrupt all later commands
        refuse_beyond("configuration", configuration)
        refuse_beyond("velocity", velocity)
        load = None if wrench is None else as_exact("wrench", wrench, (6,), "N, N m")
        # intermediate overflow is allowed, the results are checked
        with np.errstate(over="ignore", invalid="ignore"):
            return self.command_unchecked(time, configuration, velocity, load)

    def command_unchecked(
        self,
        time: int,
        configuration: FloatArray,
        velocity: FloatArray,
        wrench: FloatArray | None = None,
    ) -> Command | None:
        """Compute the efforts for a measured state, without checking the arguments.

        See `command` for arguments and result. The quaternion of a pose is normalized. NumPy may
        warn of overflow.
        """
        if self._mode == "gravity_compensation":
            rest = np.zeros(self._rates)
            return self._command(RequestedMotion(Motion(configuration, rest, rest)), wrench)
        self._update_period(time)
        before = self.abandoned
        try:
            requested = self._requested_motion(time, configuration, velocity)
        except InfeasibleTrajectory as error:
            self.refused = error
            requested = self._requested_motion(time, configuration, velocity)
            assert requested is not None  # previous trajectory, or a hold
            return self._command(requested, wrench)._replace(problem=f"trajectory refused: {error}")
        if requested is None:
            return None
        command = self._command(requested, wrench)
        news = self.warning if self.abandoned == before else self.abandoned
        if news:
            command = command._replace(problem=news)
            self.warning = ""
        return command

    def _requested_motion(
        self, time: int, configuration: FloatArray, velocity: FloatArray
    ) -> RequestedMotion | None:
        """Return the motion for which inverse dynamics computes the efforts, or None.

        In mode `computed_torque`, it is the measured state, predicted if there is a delay, with a
        feedback acceleration; in the other modes, it is the planned motion.
        """
        # feedforward does not use the state
        seen = velocity if self._mode == "computed_torque" else None
        found = self.at(time, configuration, seen)
        if found is None:
            self.desired = None
            return None
        pace, path = found
        if not self.is_holding:
            self.abandoned = ""
        self.desired = desired = pace.motion(path)
        if self._mode != "computed_torque":
            return RequestedMotion(desired)
        if self.path_tolerance is not None and self._deviates(configuration, velocity, desired):
            found = self.at(time, configuration, seen)
            assert found is not None  # it comes to rest
            pace, path = found
            self.desired = desired = pace.motion(path)
        later = self.delay + 0.5 * self._period if self.predicts and self._period else 0.0
        if ahead := self._control.preview + later:
            desired = desired._replace(acceleration=pace.motion(path, ahead).acceleration)
        error = self.mechanism.solver.unchecked.difference(
            configuration, np.ascontiguousarray(desired.configuration, dtype=np.float64)
        )
        corrected = self._control.feedback_acceleration(error, velocity, desired)
        if later:
            step = later * velocity + 0.5 * later**2 * corrected
            configuration = self.mechanism.advance(configuration, step)
            velocity = velocity + later * corrected
        motion = Motion(configuration, velocity, corrected)
        if self._control.friction.exists:
            return RequestedMotion(motion, error, desired)
        return RequestedMotion(motion)

    def _deviates(self, configuration: FloatArray, velocity: FloatArray, desired: Motion) -> bool:
        """Stop if the tracking error exceeds the path tolerance; return whether it does.

        The first such error aborts the motion, later ones restart the stop.
        """
        limits, lost = self.path_tolerance, bool(self.abandoned)
        assert limits is not None
        why = describe_deviation(
            self.mechanism, limits, desired, configuration, velocity if lost else None
        )
        if not why:
            return False
        if not lost:
            self.abandon(f"motion abandoned, as the mechanism does not follow its commands: {why}")
        self.restart_stop()
        return True

    def _update_period(self, time: int) -> None:
        since = 0 if self._last_time is None else time - self._last_time
        if 0 < since <= LATE:
            self._period = since * 1e-9
        elif since:
            self._period = 0.0
        self._last_time = time

    def hold_effort(self, configuration: FloatArray, wrench: ArrayLike | None = None) -> FloatArray:
        """Compute efforts (n,) [N or N m] that hold a configuration under a wrench.

        The efforts are within the limits of the drives. The external wrench (6,) [N, N m] acts on
        the body about its reference point, base frame; it is zero by default.

        In a singular configuration, where no efforts exist, the last efforts are repeated.

        Raises:
            InvalidInput: the shape is wrong or a value is not finite.
        """
        at, rest = self._coordinates.single("configuration", configuration), np.zeros(self._rates)
        load = None if wrench is None else as_exact("wrench", wrench, (6,), "N, N m")
        return self._command(RequestedMotion(Motion(at, rest, rest)), load).effort

    def _command(self, requested: RequestedMotion, wrench: FloatArray | None) -> Command:
        motion, error, planned = requested
        try:
            if not all_finite(motion.acceleration):
                return self._last_command(
                    motion, "the state is too far from the motion for a finite acceleration"
                )
            corrects = error is not None and planned is not None
            model = self._control.friction.rest if corrects else self.mechanism
            required = model.inverse_dynamics(*motion, wrench, base=self.base)
            more = np.zeros(len(required))
            if error is not None and planned is not None:
                more = self._control.for_friction(error, planned)
            if not self.compensates_coriolis:
                more = more - self._coriolis(*motion[:2])
            required = required + more
            if not all_finite(required):
                return self._last_command(
                    motion, f"the computed efforts are not finite: {required}"
                )
            effort, problem = required, self._describe_saturation(required, motion)
            if problem:
                q, v, _ = motion
                resting = model.inverse_dynamics(q, v, 0.0 * v, wrench, base=self.base) + more
                limits = self._limits_at(motion)
                effort = reduced_efforts(self.mechanism, q, resting, required, limits)
        except KinematicsError as failure:
            return self._last_command(motion, str(failure))
        self._last_effort = effort
        return Command(effort, required, motion, problem)

    def _coriolis(self, configuration: FloatArray, velocity: FloatArray) -> FloatArray:
        """Compute the Coriolis and centrifugal efforts (n,)."""
        if self._frictionless is None:
            self._frictionless = self.mechanism.without_friction()
        rest, dynamics = np.zeros(self._rates), self._frictionless.inverse_dynamics
        moving = dynamics(configuration, velocity, rest)
        return np.asarray(moving - dynamics(configuration, rest, rest))

    def _limits_at(self, motion: Motion) -> FloatArray:
        """Return the effort limits (n,) of the drives at the velocities of a motion."""
        if not self.mechanism.drives.has_torque_speed_curve:
            return self._limits
        rates = self.mechanism.joint_velocities(motion.configuration, motion.velocity)
        return self.mechanism.drives.effort_limits_at(rates)

    def _describe_saturation(self, required: FloatArray, motion: Motion) -> str:
        """Count saturations of each joint; return a warning about the largest excess.

        The warning is empty if no effort in `required` (n,) exceeds its limit.
        """
        mechanism = self.mechanism
        if not mechanism.drives.has_torque_speed_curve:
            numbers = required.tolist()
            if max(numbers) <= self._largest and min(numbers) >= self._least:
                return ""
        limits = self._limits_at(motion)
        exceeds = mechanism.drives.cut_efforts(required, limits) != required
        if not exceeds.any():
            return ""
        self.saturated += exceeds
        most = np.minimum(np.abs(np.where(required < 0.0, *mechanism.drives.effort_ends)), limits)
        with np.errstate(divide="ignore", invalid="ignore"):  # a motor may have no effort left
            worst = int(np.where(exceeds, np.abs(required / most), 0.0).argmax())
        return (
            f"{mechanism.joint_names[worst]} needs an effort of {required[worst]:.6g}, but its "
            f"limit is {most[worst]:.6g}: the acceleration is reduced"
        )

    def _last_command(self, motion: Motion, why: str) -> Command:
        kept = self.mechanism.drives.cut_efforts(
            self._last_effort
        )  # they may belong to another payload
        return Command(kept, kept, motion, f"no efforts: {why}; the last efforts are repeated")
