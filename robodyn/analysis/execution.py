# SPDX-License-Identifier: Apache-2.0

"""Execution of a path in simulation, with the follower and the summary of the ROS 2 nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from robodyn.analysis.run import RunHistory
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.control import (
    ComputedTorque,
    Controller,
    Feedforward,
    GravityCompensation,
    TrajectoryFollower,
)
from robodyn.control.lookahead import look_ahead
from robodyn.errors import SimulationFailed
from robodyn.mechanism.mechanism import Mechanism
from robodyn.simulation import SimulationResult, simulate
from robodyn.trajectories import Motion, Trajectory


def execute(
    mechanism: Mechanism,
    trajectory: Trajectory,
    path: str,
    mode: str = "computed_torque",
    *,
    control_dt: float = 0.005,
    dt: float = 1e-3,
    model: Mechanism | None = None,
    progress: Callable[[float], None] | None = None,
    clock: Callable[[], float] | None = None,
    kp: ArrayLike = 100.0,
    kv: ArrayLike = 20.0,
    preview: float = 0.0,
) -> RunHistory:
    """Simulate a mechanism that follows a trajectory, and return the run's history.

    Args:
        mechanism: mechanism to simulate.
        trajectory: motion to follow, from its start.
        path: name of the trajectory in the summary.
        mode: `computed_torque`, or `feedforward`: planned efforts without feedback.
        model: mechanism on which the controller's model is based; by default the simulated
            mechanism.
        dt: longest integration step [s].
        control_dt, progress: see `simulate`.
        clock: function that returns elapsed seconds, for the real-time factor.
        kp, kv, preview: see `ComputedTorque`.

    Returns:
        The history of the run.

    Raises:
        InvalidInput: arguments are out of range.
        SimulationFailed: the simulation failed in its first step.
    """
    known = model or mechanism
    follower = _FollowerController(
        TrajectoryFollower(known, mode, kp=kp, kv=kv, preview=preview), trajectory
    )
    ahead = look_ahead(mechanism, trajectory)
    # in a run without incidents the follower equals its controller, which is compiled
    laws: dict[str, Callable[[Mechanism], Controller]] = {
        "computed_torque": partial(ComputedTorque, kp=kp, kv=kv, preview=preview),
        "feedforward": Feedforward,
        "gravity_compensation": GravityCompensation,
    }
    run = partial(simulate, mechanism, dt=dt, control_dt=control_dt)
    try:
        result, stopped = run(laws[mode](known), _InNanoseconds(trajectory), progress=progress), ""
    except SimulationFailed:
        result, stopped = _simulate_until_failure(run, follower, trajectory, control_dt, progress)
    wall = clock() if clock is not None else 0.0
    warnings = []
    if ahead.severity:
        warnings.append(f"{('', 'WARN', 'ERROR')[ahead.severity]} ahead: {ahead.text}")
    incidents = sorted([*follower.problems, *_limit_violations(result)])
    warnings += [f"WARN at t = {time:.3f} s: {text}" for time, text in incidents]
    assert result.desired is not None
    return RunHistory(
        mechanism,
        path,
        mode,
        result.time,
        result.configuration,
        result.velocity,
        result.effort,
        result.desired,
        stopped,
        float(result.time[-1]) / wall if wall > 0.0 else 0.0,
        warnings,
    )


class _FollowerController:
    """Controller that applies a trajectory follower's efforts, and records its first failure."""

    def __init__(self, follower: TrajectoryFollower, trajectory: Trajectory) -> None:
        follower.follow(trajectory, 0)
        self._follower = follower
        self.problems: list[tuple[float, str]] = []

    def __call__(
        self, time: float, configuration: FloatArray, velocity: FloatArray, trajectory: Trajectory
    ) -> FloatArray:
        command = self._follower.command(round(time * 1e9), configuration, velocity)
        assert command is not None  # it has a trajectory
        if command.problem.startswith("no efforts") and not self.problems:
            self.problems.append((time, command.problem))
        return command.required


def _simulate_until_failure(
    run: Callable[..., SimulationResult],
    follower: _FollowerController,
    trajectory: Trajectory,
    control_dt: float,
    progress: Callable[[float], None] | None,
) -> tuple[SimulationResult, str]:
    """Simulate with a follower until it fails, if ever; return result and failure."""
    try:
        return run(follower, trajectory, progress=progress), ""
    except SimulationFailed as error:
        # repeat the run up to the failure, with the same result
        sound = control_dt * int(error.time / control_dt * (1.0 + 1e-9))
        if sound <= 0.0:
            raise
        follower.problems.clear()
        return run(follower, trajectory, duration=sound), f"simulation stopped {error}"


def _limit_violations(result: SimulationResult) -> list[tuple[float, str]]:
    """Return time [s] and description of the first limit violation of each joint."""
    found: dict[str, tuple[float, str]] = {}
    for event in result.events:
        if event.kind != "saturation":  # the run counts saturation itself
            where = "at its end stop" if event.kind == "end_stop" else "beyond its limit"
            text = f"{event.joint} is {where}: its position is {event.value:.6g}"
            found.setdefault(event.joint, (event.time, text))
    return list(found.values())


class _InNanoseconds:
    """Trajectory sampled at whole nanoseconds, like the time stamps of states.

    Without rounding, a command at a switching time could get the acceleration on the wrong side of
    the jump.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        self._trajectory = trajectory
        self.duration = trajectory.duration
        self.switching_times = trajectory.switching_times

    def sample(self, t: ArrayLike) -> Motion:
        """Return the motion at times t (...) [s], rounded to nanoseconds."""
        return self._trajectory.sample(np.round(np.multiply(t, 1e9)) * 1e-9)
