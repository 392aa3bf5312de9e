"""Following trajectories that come and go: the whole behaviour of an inverse-dynamics node.

States arrive with their own time in nanoseconds; nothing here looks at a clock. Should that time
go back to before the motion began, a simulation was reset: what began with a state begins anew,
what was to begin at a time of its own waits for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.checks import as_exact
from robodyn.control.computed_torque import ComputedTorque
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.trajectories.base import Motion
from robodyn.trajectories.sampled import SampledTrajectory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from robodyn.mechanism import Mechanism
    from robodyn.trajectories.base import Trajectory

    FloatArray = NDArray[np.float64]

MODES = ("feedforward", "computed_torque")


class Command(NamedTuple):
    """What to do at one state.

    Attributes:
        effort: (n,) [N or N m] always finite and within the actuators' limits.
        required: (n,) before the limits.
        motion: the configuration, velocity and acceleration it was computed for.
        problem: what went wrong in a line, or nothing.
    """

    effort: FloatArray
    required: FloatArray
    motion: Motion
    problem: str = ""


class TrajectoryFollower:
    """Turns each measured state into efforts.

    Args:
        mechanism: the model.
        mode: `feedforward` or `computed_torque`.
        kp, kv, preview: of computed torque, see `ComputedTorque`.
        hold_when_idle: without a trajectory, stay at the first state seen; else answer nothing.

    Attributes:
        saturated: how many commands were cut, per actuator (n,).

    Raises:
        InvalidInput: unknown mode or gains out of range.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        mode: str = "computed_torque",
        kp: ArrayLike = 100.0,
        kv: ArrayLike = 20.0,
        *,
        preview: float = 0.0,
        hold_when_idle: bool = False,
    ) -> None:
        if mode not in MODES:
            raise InvalidInput(f"mode is {mode!r}, expected one of {', '.join(MODES)}", value=mode)
        self.mechanism = mechanism
        self.mode = mode
        self.saturated = np.zeros(len(mechanism.joint_names), dtype=np.int64)
        self._control = ComputedTorque(mechanism, kp, kv, preview)
        self._hold_when_idle = hold_when_idle
        self._trajectory: Trajectory | None = None
        self._start: int | None = None
        self._from_state = True  # it begins with a state, not at a time of its own
        self._holding = False
        self._last_effort = np.zeros(len(mechanism.joint_names))

    def follow(self, trajectory: Trajectory, start: int | None = None) -> None:
        """Begin a trajectory at time `start` [ns], or at the next state that arrives."""
        self._trajectory, self._start = trajectory, start
        self._from_state, self._holding = start is None, False

    def stop(self) -> None:
        """Leave the trajectory and hold what the next state finds."""
        self._trajectory, self._start, self._hold_when_idle = None, None, True
        self._from_state = True

    def command(
        self,
        time: int,
        configuration: FloatArray,
        velocity: FloatArray,
        wrench: ArrayLike | None = None,
    ) -> Command | None:
        """The command for the state measured at `time` [ns]; None while there is nothing to do.

        Where the mechanism has no answer, being singular, the last efforts stand.

        Raises:
            InvalidInput: a state or a wrench of the wrong shape or not finite.
        """
        rest = self.mechanism.difference(configuration, configuration)
        configuration = as_exact("configuration", configuration, np.shape(configuration)[-1:])
        velocity = as_exact("velocity", velocity, rest.shape)
        if wrench is not None:
            wrench = as_exact("wrench", wrench, (6,), "N, N m")
        desired = self._desired(time, configuration, rest)
        if desired is None:
            return None
        motion = desired
        if self.mode == "computed_torque":
            desired = self._control.looking_ahead(desired, self._trajectory, self._since(time))
            with np.errstate(over="ignore", invalid="ignore"):  # judged by what comes of it
                corrected = self._control.acceleration(configuration, velocity, desired)
            motion = Motion(configuration, velocity, corrected)
        return self._effort(motion, wrench)

    def _desired(self, time: int, configuration: FloatArray, rest: FloatArray) -> Motion | None:
        if self._start is not None and time < self._start and self._from_state:
            self._start = None
            if self._holding:
                self._trajectory = None
        if self._trajectory is None:
            if not self._hold_when_idle:
                return None
            here = Motion(configuration[None], rest[None], rest[None])
            self._trajectory = SampledTrajectory(self.mechanism, [0.0], here)
            self._holding = True
        if self._start is None:
            self._start = time
        return self._trajectory.sample(self._since(time))

    def _since(self, time: int) -> float:
        """Time [s] on the trajectory; 0 before it has a start."""
        return (time - (time if self._start is None else self._start)) * 1e-9

    def _effort(self, motion: Motion, wrench: ArrayLike | None) -> Command:
        try:
            if not np.isfinite(motion.acceleration).all():
                return self._keep(motion, "the state is too far off for any acceleration")
            required = self.mechanism.inverse_dynamics(*motion, wrench)
        except KinematicsError as error:
            return self._keep(motion, str(error))
        if not np.isfinite(required).all():
            return self._keep(motion, f"the motion asks for {required}")
        effort = np.clip(required, -self.mechanism.effort_limits, self.mechanism.effort_limits)
        cut = effort != required
        problem = ""
        if cut.any():
            self.saturated += cut
            worst = int(np.abs(required / self.mechanism.effort_limits).argmax())
            problem = (
                f"{self.mechanism.joint_names[worst]} needs {required[worst]:.6g}, cut to its "
                f"limit of {self.mechanism.effort_limits[worst]:.6g}"
            )
        self._last_effort = effort
        return Command(effort, required, motion, problem)

    def _keep(self, motion: Motion, why: str) -> Command:
        return Command(self._last_effort, self._last_effort, motion, f"no efforts: {why}")
