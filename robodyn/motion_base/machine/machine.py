# SPDX-License-Identifier: Apache-2.0

"""State machine of a motion platform: homing, parking, engaging, freezing, and set-points."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from robodyn.algorithms import motions
from robodyn.arrays import ArrayLike, FloatArray, Unpack
from robodyn.checks import LARGEST_STATE, as_exact, as_scalar, check_choice
from robodyn.errors import InvalidInput, RobodynError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.machine import machine_states as states
from robodyn.motion_base.machine.command_gate import CommandGate, CommandRefused
from robodyn.motion_base.machine.commander import PositionCommander, SetPoint
from robodyn.motion_base.machine.homing import HOMINGS, Homing
from robodyn.motion_base.machine.limits import DriveLimits
from robodyn.motion_base.machine.machine_states import RequestRefused
from robodyn.motion_base.machine.motion_sources import (
    MotionSource,
    MotorSource,
    TrajectorySource,
    goal,
)
from robodyn.motion_base.machine.set_points import SetPoints
from robodyn.motion_base.machine.stabilized import StabilizedSource

# Time [s] after the end of easing at which the machine counts as engaged, even if it lags its
# target.
PATIENCE = 5.0
# Distance [m or rad] from the parking position that counts as arrived.
PARKING_TOLERANCE = 1e-6
# Tolerance, relative to a joint's range, of a reported position beyond a limit, for a machine at
# its stops and for noise. The position counts as at the limit.
AT_END = 1e-3


@dataclass(frozen=True)
class MachineSettings:
    """Settings of a `Machine`.

    Attributes:
        homing: source of the positions: `absolute` (the drives report them), `assumed` (the machine
            is at its parking position; the drives report nothing), `stall` (each joint moves to a
            stop), see `Homing`.
        park_positions: (n,) parking positions of the driven joints; home by default.
        slow: fraction of the limits of velocity, acceleration and jerk for engaging, parking and
            homing.
        ease: time [s] in which the fraction `slow` grows to 1 during engaging.
        enable_required: whether the machine stays at rest until the first enable signal. Otherwise,
            a missing signal has an effect only after a first signal was received.
        enable_timeout: time [s] without the enable signal after which the machine freezes; 0: no
            limit.
        feedback_timeout: time [s] without measured positions that is a fault; 0: no limit.
        following_error: [m or rad] (n,) or one number, difference between command and measured
            position beyond which there is a fault; infinite: no limit.
        following_time: time [s] for which the difference must last to be a fault.
        drive_delay: delay [s] of the drives: positions are compared with the commands sent that
            long before.
        back_drives: whether the machine sinks if its drives lose power. If so, `reset` of a fault
            switches the machine off, and it must be homed again.
        condition_limit: see `Workspace`.
        compensate_sag: whether engaged motors lead by the static deflection of elastic drives under
            gravity, so that the joints follow the target.
    """

    homing: str = "absolute"
    park_positions: ArrayLike | None = None
    slow: float = 0.2
    ease: float = 3.0
    enable_required: bool = False
    enable_timeout: float = 0.5
    feedback_timeout: float = 0.5
    following_error: ArrayLike = np.inf
    following_time: float = 0.1
    drive_delay: float = 0.0
    back_drives: bool = False
    condition_limit: float = 60.0
    compensate_sag: bool = False


class MachineOptions(TypedDict, total=False):
    """Keyword arguments that set single fields of `MachineSettings`."""

    homing: str
    park_positions: ArrayLike | None
    slow: float
    ease: float
    enable_required: bool
    enable_timeout: float
    feedback_timeout: float
    following_error: ArrayLike
    following_time: float
    drive_delay: float
    back_drives: bool
    condition_limit: float
    compensate_sag: bool


class Machine:
    """State machine and set-points of a machine with position-controlled drives.

    Times are given in nanoseconds, once per tick; this class reads no clock. A message is old if
    its time differs from that of the tick by more than a timeout, in either direction. The machine
    counts its own durations in ticks.

    Every set-point passes a `CommandGate`. A set-point that fails is a fault: the machine brakes
    from the previous set-point.

    Args:
        mechanism, dt, limits: see `PositionCommander`.
        settings: all other settings.
        options: keyword arguments that override fields of `settings`.

    Attributes:
        state: one of `machine_states.STATES`.
        reason: reason for the last fault or freeze; empty if neither occurred since the machine
            engaged.
        motion_source: source of the target while engaged, see `MotionSource`; None: stay at home.
        stabilized: stabilization of the target in the world; None: relative to the base.

    Raises:
        InvalidInput: a number is out of range, parking positions are beyond an end or the limit of
            the condition number, homing by stops is requested for a joint without ends; or as for
            `PositionCommander`.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        dt: float,
        limits: DriveLimits | None = None,
        *,
        settings: MachineSettings | None = None,
        **options: Unpack[MachineOptions],
    ) -> None:
        self.settings = s = replace(settings or MachineSettings(), **options)
        check_choice("homing", s.homing, HOMINGS)
        n = len(mechanism.joint_names)
        home = mechanism.joint_positions(mechanism.home)
        park = home if s.park_positions is None else s.park_positions
        self._park = as_exact("park_positions", park, (n,), "m or rad").copy()
        self._slow = as_scalar("slow", s.slow, above=0.0)
        if self._slow > 1.0:
            raise InvalidInput(f"slow is {s.slow}, must be at most 1", value=s.slow)
        for name in ("ease", "enable_timeout", "feedback_timeout", "following_time", "drive_delay"):
            as_scalar(name, getattr(s, name), "s", at_least=0.0)
        self._largest = np.broadcast_to(np.asarray(s.following_error, dtype=np.float64), (n,))
        if not (self._largest > 0.0).all():
            raise InvalidInput(
                f"following_error is {s.following_error}, must be above 0 (infinite for no limit)",
                value=s.following_error,
            )
        self.mechanism, self.dt = mechanism, as_scalar("dt", dt, "s", above=0.0)
        limits = limits or DriveLimits.of(mechanism)
        self._refuse_settings(limits)
        self.commander = PositionCommander(
            mechanism, dt, limits, condition_limit=s.condition_limit, positions=self._park
        )
        why = self._describe_misfit(self._park)
        self._park = self.commander.set_points.state[0].copy()
        if why := why or self.commander.workspace.violation(self.commander.configuration):
            raise InvalidInput(
                f"park_positions: {why}; the machine cannot come to rest there", value=park
            )
        self._parking = goal(mechanism, self._park, mechanism.home)
        self._neutral: MotionSource = goal(mechanism, home, mechanism.home)
        self._compensate_sag(self._neutral).at(0)  # raises for rigid drives
        self.state, self.reason = "off", ""
        self.motion_source: MotionSource | None = None
        self.stabilized: StabilizedSource | None = None
        self._homing: Homing | None = None
        self._offset = np.zeros(n)
        self._gate = CommandGate(mechanism, limits, self.dt)
        self._measured: tuple[int, FloatArray] | None = None
        self._enabled: int | None = None
        self._stopped = False
        self._now = self._ticks = self._since = self._beyond_since = 0
        self._set_points_sent: deque[FloatArray] = deque(maxlen=1 + round(s.drive_delay / self.dt))

    def _refuse_settings(self, limits: DriveLimits) -> None:
        """Raise an error if the settings contradict the limits of the drives."""
        s, mechanism = self.settings, self.mechanism
        if why := limits.describe_excess(self._park, mechanism):
            raise InvalidInput(f"park_positions: {why}", value=s.park_positions)
        if s.homing == "stall" and len(mechanism.independent_joints) < len(self._park):
            raise InvalidInput(
                f"homing 'stall' moves each drive to its own stop, but the {len(self._park)} "
                f"drives of {mechanism.name} move only together: use homing 'absolute' or "
                "'assumed'",
                value=s.homing,
            )
        for joint, ends in zip(mechanism.joint_names, limits.positions, strict=True):
            if s.homing == "stall" and not np.isfinite(ends).all():
                raise InvalidInput(
                    f"homing 'stall' moves {joint} to its lower stop, but its limits are {ends}: "
                    "give both limits in the description, or use homing 'absolute' or 'assumed'",
                    value=ends,
                )

    @property
    def is_enabled(self) -> bool:
        """Whether the enable signal is present, or none is required."""
        s = self.settings
        if not s.enable_timeout:
            return True
        if self._enabled is None:
            return not s.enable_required
        return abs(self._now - self._enabled) <= round(s.enable_timeout * 1e9)

    def enable(self, time: int, requested: bool = True) -> None:
        """Record that the enable signal was received at `time` [ns].

        If `requested` is false, the enable signal is withdrawn at once.
        """
        self._enabled = time if requested else -(2**62)

    def emergency_stop(self, pressed: bool) -> None:
        """Record whether the emergency stop is pressed; a pressed stop is a fault."""
        self._stopped = pressed

    def measure(self, time: int, positions: ArrayLike) -> None:
        """Record the joints' measured positions (n,), received at `time` [ns].

        Raises:
            InvalidInput: these are not n finite numbers, or one is impossible for its joint; then
                nothing changes.
        """
        count = (len(self._park),)
        measured = as_exact("positions", positions, count, "m or rad").copy()
        if (np.abs(measured) > LARGEST_STATE).any():
            worst = int(np.argmax(np.abs(measured)))
            raise InvalidInput(
                f"{self.mechanism.joint_names[worst]} is reported at {measured[worst]:.9g} "
                f"{self.mechanism.drives.units[worst]}, expected at most {LARGEST_STATE:g}",
                value=measured[worst],
            )
        self._measured = time, measured

    def touch(self, joints: ArrayLike) -> None:
        """Record which switches (n,) at the stops are closed, for homing by stops."""
        if self._homing is not None:
            self._homing.touch(np.asarray(joints, dtype=bool))

    def skip(self, duration: int) -> None:
        """Account for a pause of `duration` [ns] without ticks.

        Messages do not age during the pause.
        """
        if self._measured is not None:
            self._measured = self._measured[0] + duration, self._measured[1]
        if self._enabled is not None:
            self._enabled += duration

    def set_clock(self, change: int) -> None:
        """Account for a change of the clock by `change` [ns].

        Messages that were received before keep their age, and a trajectory continues.
        """
        self.skip(change)
        if isinstance(self.motion_source, TrajectorySource):
            self.motion_source = self.motion_source._replace(
                start=self.motion_source.start + change
            )

    def request(self, request: str) -> str:
        """Request a transition to another state.

        `request` is one of `machine_states.REQUESTS`.

        Returns:
            The new state.

        Raises:
            RequestRefused: the request is rejected, with the reason.
        """
        state, begins = states.after(self.state, request), self.state == "off"
        refusal = ""
        if state in ("homing", "engaging", "parking") and not self.is_enabled:
            refusal = f"no enable message for {self.settings.enable_timeout:g} s or more"
        elif self.state == "fault" and not self._points.is_at_rest:
            refusal = "the machine has not come to rest yet"
        elif request == "reset" and not begins:
            again = self._homing is not None or self.settings.back_drives
            state, refusal = ("off", self._stop_reason) if again else (state, self._fault_cause())
        elif state == "homing":
            refusal = self._begin_homing()
        if refusal:
            raise RequestRefused(f"{request} refused: {refusal}", value=self.state)
        if request == "freeze":
            self.reason = "freeze was requested"
        self._change_state(state)
        return state

    def fault(self, reason: str) -> None:
        """Enter the fault state for a reason: come to rest, then wait for `reset`."""
        if self.state not in ("off", "fault"):
            self._change_state(states.after(self.state, "fault"), reason)

    def step(self, time: int) -> SetPoint | None:
        """Advance by one tick and return the set-point of the drives at `time` [ns].

        Returns:
            The set-point, or None while the machine is off.
        """
        self._now = time
        self._ticks += 1
        if self.state == "off":
            return None
        if not self.is_enabled:
            self._change_state(
                states.after(self.state, "enable_lost"), "the enable message is missing or false"
            )
        if self.state != "fault" and (cause := self._fault_cause()):
            self.fault(cause)
        points, before = self._points, self._points.state
        if self._homing is not None:
            point = self._step_homing(self._homing)
        else:
            self.commander.motion_source, pace = self._selected_source()
            point = self.commander.step(time, pace)
            if event := self._event(point):
                self._change_state(states.after(self.state, event))
            point = point._replace(positions=point.positions - self._offset)
            self._set_points_sent.append(point.positions)
        return self._check_point(point, points, before)

    def _check_point(
        self, point: SetPoint, points: SetPoints, before: FloatArray
    ) -> SetPoint | None:
        """Return a set-point if it passes the command gate, otherwise one that brakes.

        If the braking set-point does not pass either, the machine is turned off.
        """
        offset = self._offset if points is self.commander.set_points else 0.0
        for _ in range(2):
            try:
                self._gate.check(point.positions, point.velocities, point.efforts)
            except CommandRefused as error:
                reason = f"a command was not sent: {error}"
            else:
                return point
            self.fault(reason)
            points.state = before
            points.brake()
            p, v, a = points.state
            point = SetPoint(p - offset, v, a, np.zeros_like(p), reason)
        self._change_state("off", reason)
        return None

    @property
    def _points(self) -> SetPoints:
        return self.commander.set_points if self._homing is None else self._homing.points

    def _begin_homing(self) -> str:
        """Home the drives at known positions at once, or start their motion to the stops.

        Returns:
            The reason why homing cannot begin; empty if it has begun.
        """
        s, start, limits = self.settings, self._park, self.commander.limits
        if s.homing != "assumed":
            if self._measured is None or self._is_late(self._measured[0]):
                return (
                    f"the drives have not reported their positions, which homing {s.homing!r} "
                    "needs (for drives without position reports, use homing 'assumed')"
                )
            start = self._measured[1]
        if s.homing == "absolute":
            # at most one tick at full rate, so nothing jumps
            slack = limits.rates * self.dt
            width = np.diff(limits.positions, axis=1)[:, 0]
            if why := limits.describe_excess(
                start, self.mechanism, np.minimum(slack, AT_END * width)
            ):
                return (
                    f"{why}: move it inside by other means, or correct the zero of its drive or "
                    "the limit"
                )
            start = np.clip(start, *limits.positions.T)
        ends, homing = limits.positions, None
        if s.homing == "stall":
            homing = Homing(self.mechanism, limits, self.dt, start, self._slow)
            ends = homing.ends
        else:
            try:
                self.commander.reset(start)
            except RobodynError as error:
                return str(error)
            if why := self._describe_misfit(start):
                return f"{why}: correct the zeros of the drives"
        self._homing, self._offset, self.reason = homing, np.zeros_like(start), ""
        self._set_points_sent.clear()
        self._beyond_since = self._ticks
        self._gate.begin(ends)
        return ""

    def _describe_misfit(self, positions: FloatArray) -> str:
        """Describe how far redundant drives are from `positions`, which close the loops.

        Returns:
            The description; empty if the drives can correct the difference within one tick.
        """
        off = np.abs(self.commander.set_points.state[0] - positions)
        worst = int(np.argmax(off))
        if (off <= self.commander.limits.rates * self.dt).all():
            return ""
        return (
            f"positions of the drives are inconsistent by {off[worst]:.3g} "
            f"{self.mechanism.drives.units[worst]}"
        )

    def _step_homing(self, homing: Homing) -> SetPoint:
        """Advance homing by one tick; at its end, set the offsets of the drives."""
        if self.state == "homing" and homing.is_done:
            try:
                limits = self.commander.limits.positions
                found = homing.points.state[0] + homing.offset
                self.commander.reset(np.clip(found, *limits.T))
            except RobodynError as error:
                self.fault(f"homing ended at invalid positions: {error}")
            else:
                self._offset, self._homing = homing.offset, None
                self._gate.move_ends(limits - self._offset[:, None])
                self._change_state(states.after(self.state, "homed"))
        elif self.state == "homing" and self._measured is not None:
            homing.step(self._measured[1])
            if homing.problem:
                self.fault(homing.problem)
        else:
            homing.stop()
        return homing.point

    def _selected_source(self) -> tuple[MotionSource | None, float]:
        """Return the machine state's motion source and its usable fraction of the limits."""
        if self.state in ("homing", "parking", "parked"):
            return self._parking, self._slow
        if self.state == "engaging":
            grown = self._elapsed(self._since) / max(self.settings.ease, self.dt)
            return self._engaged_source(), min(self._slow + (1.0 - self._slow) * grown, 1.0)
        if self.state == "engaged":
            return self._engaged_source(), 1.0
        return None, 1.0  # come to rest

    def _engaged_source(self) -> MotionSource:
        motion_source = self._neutral if self.motion_source is None else self.motion_source
        if self.stabilized is not None:
            self.stabilized.motion_source = motion_source
            motion_source = self.stabilized
        return self._compensate_sag(motion_source)

    def _compensate_sag(self, source: MotionSource) -> MotionSource:
        """Wrap a motion source to compensate the drives' position error under load.

        Returns:
            The wrapped source, or `source` itself if `compensate_sag` is not set.
        """
        return MotorSource(self.mechanism, source) if self.settings.compensate_sag else source

    def _event(self, point: SetPoint) -> str:
        """Return the event of the state machine in this tick; empty if there is none."""
        rests = self.commander.set_points.is_at_rest
        if self.state == "homing":
            return "homed"
        if self.state == "engaging":
            late = self._elapsed(self._since) > self.settings.ease + PATIENCE
            return "arrived" if self.commander.has_arrived or late else ""
        if self.state == "parking":
            way = motions.joint_difference(self.mechanism, point.positions, self._park)
            there = np.abs(way).max() < PARKING_TOLERANCE
            return "arrived" if there and rests else ""
        return "stopped" if self.state == "freezing" and rests else ""

    @property
    def _stop_reason(self) -> str:
        return "the emergency stop is pressed" if self._stopped else ""

    def _fault_cause(self) -> str:
        """Return the cause for entering `fault` in this tick; empty if there is none."""
        s, measured = self.settings, self._measured
        if self._stopped:
            return self._stop_reason
        if s.homing != "assumed" and (measured is None or self._is_late(measured[0])):
            return f"the drives have not reported their positions for {s.feedback_timeout:g} s"
        if measured is None or not self._set_points_sent:
            return ""
        error = np.abs(
            motions.joint_difference(self.mechanism, self._set_points_sent[0], measured[1])
        )
        if (error <= self._largest).all():
            self._beyond_since = self._ticks
            return ""
        if self.state != "fault" and self._elapsed(self._beyond_since) < s.following_time:
            return ""
        joint = int(np.argmax(error / self._largest))
        return (
            f"{self.mechanism.joint_names[joint]} deviates from its command by {error[joint]:.3g} "
            f"{self.mechanism.drives.units[joint]}, the limit is {self._largest[joint]:.3g}"
        )

    def _is_late(self, received: int) -> bool:
        timeout = self.settings.feedback_timeout
        return bool(timeout) and abs(self._now - received) > round(timeout * 1e9)

    def _elapsed(self, since: int) -> float:
        """Return the time [s] since an earlier tick."""
        return (self._ticks - since) * self.dt

    def _change_state(self, state: str, reason: str = "") -> None:
        if state == self.state:
            return
        self.state, self._since = state, self._ticks
        if reason:
            self.reason = reason
        if state == "engaging":
            self.reason = ""
        if state == "parked":
            self.motion_source = None
        if state == "off":
            self._homing = None
        if state == "fault" and self._homing is not None:
            self.reason = f"homing was interrupted: {self.reason}"
