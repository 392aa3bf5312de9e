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
from robodyn.simulation import simulate
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
    follower = TrajectoryFollower(known, mode, kp=kp, kv=kv, preview=preview)
    follower.follow(trajectory, 0)
    problems: list[tuple[float, str]] = []

    def control(
        time: float, configuration: FloatArray, velocity: FloatArray, trajectory: Trajectory
    ) -> FloatArray:
        command = follower.command(round(time * 1e9), configuration, velocity)
        assert command is not None  # it has a trajectory
        if command.problem.startswith("no efforts") and not problems:
            problems.append((time, command.problem))
        return command.required

    ahead = look_ahead(mechanism, trajectory)
    stopped = ""
    # in a run without incidents the follower equals its controller, which is compiled
    laws: dict[str, Callable[[Mechanism], Controller]] = {
        "computed_torque": partial(ComputedTorque, kp=kp, kv=kv, preview=preview),
        "feedforward": Feedforward,
        "gravity_compensation": GravityCompensation,
    }
    plain, path_of = laws[mode](known), _InNanoseconds(trajectory)
    try:
        result = simulate(mechanism, plain, path_of, dt, control_dt, progress=progress)
    except SimulationFailed:
        try:
            result = simulate(mechanism, control, trajectory, dt, control_dt, progress=progress)
        except SimulationFailed as error:
            # repeat the run up to the failure, with the same result
            sound = control_dt * int(error.time / control_dt * (1.0 + 1e-9))
            if sound <= 0.0:
                raise
            stopped = f"simulation stopped {error}"
            problems.clear()
            result = simulate(mechanism, control, trajectory, dt, control_dt, duration=sound)
    wall = clock() if clock is not None else 0.0
    stops: dict[str, tuple[float, str]] = {}
    for event in result.events:
        if event.kind != "saturation":  # the run counts saturation itself
            where = "at its end stop" if event.kind == "end_stop" else "beyond its limit"
            text = f"{event.joint} {where}, at position {event.value:.6g}"
            stops.setdefault(event.joint, (event.time, text))
    problems += stops.values()
    warnings = []
    if ahead.severity:
        warnings.append(f"{('', 'WARN', 'ERROR')[ahead.severity]} ahead: {ahead.text}")
    warnings += [f"WARN at t = {time:.3f} s: {text}" for time, text in sorted(problems)]
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


class _InNanoseconds:
    """Trajectory sampled at whole nanoseconds, like the time stamps of states.

    Without rounding, a command at a switching time could get the acceleration of the wrong side of
    the jump.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        self._trajectory = trajectory
        self.duration = trajectory.duration
        self.switching_times = trajectory.switching_times

    def sample(self, t: ArrayLike) -> Motion:
        """Return the motion at times t (...) [s], rounded to nanoseconds."""
        return self._trajectory.sample(np.round(np.multiply(t, 1e9)) * 1e-9)
