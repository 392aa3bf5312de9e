# SPDX-License-Identifier: Apache-2.0

"""Interactive simulation in real time, in a thread of this process.

It uses the same plant and the same trajectory follower as the ROS 2 nodes. Time advances in whole
control periods. After a short delay the simulation catches up with the wall clock; longer delays
are not made up for, but counted as lost time.
"""

from __future__ import annotations

import threading
import time

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_scalar
from robodyn.control import TrajectoryFollower
from robodyn.errors import InvalidInput, RobodynError, UnderActuated
from robodyn.mechanism.mechanism import Mechanism
from robodyn.simulation import Pacer, Plant
from robodyn.simulation.settings import Side
from robodyn.trajectories import Motion, Trajectory
from robodyn.view.snapshot import Snapshot, snapshot_of
from robodyn.warmup import warm_up

BY_HAND = "by hand"
# Longest delay that the simulation catches up with, and duration of the display of a path's end
# [s].
SLACK = 0.25
# Angular speed of manual motion [rad/s].
W_MAX = 0.8
PAUSE_AT_END = 1.0
# Integration step [s], and number of steps in a control period.
STEP, STEPS = 1e-3, 5


class ManualMotion:
    """Trajectory in a straight line at limited speed to a goal that may change.

    `step` moves it toward the attribute `goal` by one period. Between two steps, `sample` returns
    the same motion for any time.

    Args:
        mechanism: mechanism that moves.
        start: initial configuration.
        v_max: largest speed, [m/s] of a body's translation or [rad/s or m/s] of joints.
    """

    duration = float("inf")
    switching_times: tuple[float, ...] = ()

    def __init__(self, mechanism: Mechanism, start: FloatArray, v_max: float) -> None:
        self._mechanism = mechanism
        self._here = np.array(start)
        self._rate = mechanism.difference(start, start)
        self.goal = self._here
        self._limits = np.full(self._rate.shape, v_max)
        for turns in mechanism.coordinates.rotations:
            self._limits[turns] = W_MAX

    def step(self, period: float) -> None:
        """Move toward `goal` at limited speed for one period [s]."""
        way = self._mechanism.difference(self._here, self.goal)
        slowest = float(np.max(np.abs(way) / (self._limits * period)))
        step = way / max(slowest, 1.0)
        self._rate = step / period
        self._here = self._mechanism.advance(self._here, step)

    def sample(self, t: ArrayLike) -> Motion:
        """Return the current motion for times (...) [s], with zero acceleration."""
        shape = np.shape(t)
        here, rate = (np.broadcast_to(v, (*shape, len(v))) for v in (self._here, self._rate))
        return Motion(here, rate, np.zeros_like(rate))


class LiveSimulation:
    """Real-time simulation of a mechanism under computed-torque control.

    The mechanism follows a path or is moved manually.

    All methods may be called from any thread.

    Args:
        mechanism: mechanism to simulate.
        paths: trajectories by name; the simulation starts with the first one. Without paths, the
            mechanism is moved manually from home.
        speed: simulated seconds per second of real time.
        repeat: whether to restart the path at its end.
        v_max: largest speed [m/s or rad/s] of manual motion.
        feedback: side of elastic drives at which the controller measures the state, `motor` or
            `joint`.

    Attributes:
        mechanism: mechanism without payload.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        paths: dict[str, Trajectory],
        *,
        speed: float = 1.0,
        repeat: bool = False,
        v_max: float = 0.3,
        feedback: Side = "motor",
    ) -> None:
        self.mechanism = mechanism
        self.paths = dict(paths)
        self.repeat = repeat
        self._period = round(STEPS * STEP * 1e9)
        self._pacer = Pacer(self.period)
        self._v_max, self._feedback = v_max, feedback
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._plant = Plant(mechanism, dt=STEP)
        self._known = mechanism
        self._wrench, self._wrench_until = np.zeros(6), 0
        self._stamp = 0
        self._playing = True
        self._message = ""
        self.speed = speed
        self.path = next(iter(self.paths), BY_HAND)
        warm_up(mechanism)
        self.choose(self.path)

    @property
    def speed(self) -> float:
        """Playback speed: simulated seconds per second of real time."""
        return self._pacer.factor

    @speed.setter
    def speed(self, value: float) -> None:
        self._pacer.factor = as_scalar("speed", value, above=0.0)
        self._pacer.slack = int(SLACK * self.speed / self.period)

    @property
    def lost(self) -> float:
        """Accumulated delay [s] behind the wall clock that is not made up for."""
        return self._pacer.lost

    @property
    def period(self) -> float:
        """Control period [s]."""
        return self._period * 1e-9

    @property
    def body_poses(self) -> FloatArray:
        """Planned poses (N, 7) of the body on the chosen path; N = 0 in manual motion."""
        if self.path == BY_HAND:
            return np.empty((0, 7))
        path = self.paths[self.path]
        times = np.linspace(0.0, path.duration, 200)
        return self.mechanism.body_pose(path.sample(times).configuration)

    def start(self) -> None:
        """Start the simulation in a thread."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="simulation", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop the thread of the simulation."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def snapshot(self) -> Snapshot:
        """Return the current state of the simulated mechanism."""
        with self._lock:
            plant, stamp = self._plant, self._stamp
            configuration, effort = plant.configuration, plant.effort
            playing, message = self._playing, self._message
        return snapshot_of(self.mechanism, stamp * 1e-9, configuration, effort, playing, message)

    def set_playing(self, playing: bool) -> None:
        """Resume or pause the simulation.

        After a failure, only `reset` resumes it.
        """
        with self._lock:
            self._playing = playing and not self._message

    def reset(self) -> None:
        """Return to time zero, at the start of the path or at home.

        The simulation runs or is paused as before.
        """
        with self._lock:
            failed = bool(self._message)
            self._stamp, self._wrench_until, self._message = 0, 0, ""
            if self.path == BY_HAND:
                start = self.mechanism.home
                self._followed: Trajectory = ManualMotion(self.mechanism, start, self._v_max)
            else:
                self._followed = self.paths[self.path]
                start = self._followed.sample(0.0).configuration
            self._plant.reset(start)
            self._follow(0)
            plant = self._plant
            self._playing = self._playing or failed
            try:
                command = self._follower.command(0, *plant.measured(self._feedback))
            except UnderActuated as error:
                self._stop(error)
                return
            # effort shown in the first period: the mechanism is held, not dropped
            plant.effort = plant.effort if command is None else command.effort

    def choose(self, path: str) -> None:
        """Restart on a path with a given name, or switch to manual motion.

        Manual motion, `by hand`, begins at the current configuration.

        Raises:
            InvalidInput: there is no such path.
        """
        with self._lock:
            if path == BY_HAND:
                self.path = path
                self._followed = ManualMotion(
                    self.mechanism, self._plant.configuration, self._v_max
                )
                self._follow(self._stamp)
                return
            if path not in self.paths:
                known = ", ".join((*self.paths, BY_HAND))
                raise InvalidInput(f"no path {path!r}; expected one of {known}", value=path)
            self.path = path
            self.reset()

    def steer(self, configuration: ArrayLike) -> None:
        """Switch to manual motion and move to a configuration (nq,) in a straight line.

        Raises:
            InvalidInput: the shape is wrong or a value is not finite.
        """
        goal = as_exact("configuration", configuration, np.shape(self.mechanism.home))
        with self._lock:
            if self.path != BY_HAND:
                self.choose(BY_HAND)
            if isinstance(self._followed, ManualMotion):
                self._followed.goal = goal

    def set_payload(self, mass: float, known: bool = True) -> None:
        """Attach a payload to the simulated mechanism, in place of the previous one.

        Args:
            mass: mass [kg] at the body's reference point; 0 for no payload.
            known: whether the controller's model includes the payload.

        Raises:
            InvalidInput: the mass is negative.
        """
        added = as_scalar("payload", mass, "kg", at_least=0.0)
        loaded = self.mechanism.with_payload(added) if added > 0.0 else self.mechanism
        with self._lock:
            self._plant.mechanism = loaded
            self._known = loaded if known else self.mechanism
            self._follow(self._stamp if self.path == BY_HAND else 0)

    def push(self, wrench: ArrayLike, duration: float = 0.3) -> None:
        """Apply a wrench to the body for a duration; the controller does not know it.

        Args:
            wrench: (6,) [N, N m] force and moment about the body's reference point, base frame.
            duration: duration [s] in simulated time.

        Raises:
            InvalidInput: the shape is wrong or a value is not finite.
        """
        load = as_exact("wrench", wrench, (6,), "N, N m")
        with self._lock:
            self._wrench = load
            self._wrench_until = self._stamp + round(duration * 1e9)

    def step(self) -> None:
        """Advance by one control period; pause with a message after a failure."""
        with self._lock:
            if isinstance(self._followed, ManualMotion):
                self._followed.step(self.period)
            plant = self._plant
            wrench = self._wrench if self._stamp < self._wrench_until else None
            try:
                measured = plant.measured(self._feedback)
                command = self._follower.command(self._stamp, *measured)
                effort = plant.effort if command is None else command.effort
                plant.hold(effort, STEPS, wrench)
            except RobodynError as error:
                self._stop(error)
                return
            self._stamp += self._period
            end = self._followed.duration + PAUSE_AT_END
            if self.repeat and self._stamp * 1e-9 > end:
                self.reset()

    def _stop(self, error: RobodynError) -> None:
        self._message = f"simulation stopped: {error}"
        self._playing = False

    def _follow(self, start: int) -> None:
        """Create a follower that tracks the selected trajectory from a stamp [ns] on.

        The trajectory starts at the current state, so no handover is needed.
        """
        self._follower = TrajectoryFollower(self._known, handover=0.0)
        self._follower.follow(self._followed, start)

    def _run(self) -> None:
        while not self._ended.wait(self.period):
            now = time.monotonic()
            while self._pacer.due(now, running=self._playing and not self._ended.is_set()):
                self.step()
