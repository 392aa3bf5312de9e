# SPDX-License-Identifier: Apache-2.0

"""Check of a motion against the limits of a mechanism."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple, get_args

import numpy as np

from robodyn.algorithms import conditioning, travel
from robodyn.algorithms.motors import LIMIT_TOLERANCE
from robodyn.algorithms.travel import travel_limits, travel_positions
from robodyn.analysis.bisection import bisect
from robodyn.arrays import BoolArray, FloatArray
from robodyn.checks import as_integer, as_scalar
from robodyn.errors import KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.base import Trajectory, refuse_other

Quantity = Literal["position", "velocity", "effort", "condition number", "geometry"]

MOTION_SAMPLES = 1000
# Resolution of the time of a violation, as a fraction of the duration.
TIME_TOLERANCE = 1e-12
_UNITS = {"position": ("rad", "m"), "velocity": ("rad/s", "m/s"), "effort": ("N m", "N")}


class Violation(NamedTuple):
    """First violation of a limit by a motion.

    Attributes:
        time: time [s] at which it is exceeded.
        joint: joint with the limit; empty for the condition number, or if no single joint is
            concerned.
        quantity: `position`, `velocity`, `effort`, `condition number`, or `geometry` if the
            mechanism cannot have that configuration or no efforts can hold it there.
        value: worst value before the motion returns within the limit; NaN for geometry.
        limit: exceeded limit; NaN for geometry.
        text: description in one line.
    """

    time: float
    joint: str
    quantity: Quantity
    value: float
    limit: float
    text: str


def check_limits(
    mechanism: Mechanism,
    trajectory: Trajectory,
    max_condition: float = np.inf,
    samples: int = MOTION_SAMPLES,
    dt: float | None = None,
    *,
    characteristic_length: float = 1.0,
    quantities: Collection[Quantity] = get_args(Quantity),
) -> Violation | None:
    """Find the first violation of a limit along a motion.

    The limits are those of positions of all joints, passive ones included (see `travel_limits`), of
    velocities and efforts (by inverse dynamics) of the driven joints, and of the condition number.
    If motors have torque-speed curves, efforts are compared with the torques available at the
    current velocity. A platform's passage through a singularity, at which no efforts suffice, is
    detected by a change of the determinant's sign.

    Args:
        mechanism: mechanism with the limits.
        trajectory: motion to check, evaluated at equal intervals and on both sides of its switching
            times. A violation that begins and ends within an interval is not found.
        max_condition: largest permitted condition number of the Jacobian.
        samples: number of intervals.
        dt: length [s] of the intervals, instead of `samples`.
        characteristic_length: length [m] by which moments are divided in the condition number.
        quantities: quantities to check; the others are treated as unlimited. A configuration that
            does not exist is always a violation.

    Returns:
        The first violation, or None if all limits hold.

    Raises:
        InvalidInput: arguments are out of range, or the trajectory belongs to another kind of
            mechanism.
    """
    check = _LimitCheck(mechanism, trajectory, max_condition, characteristic_length, quantities)
    times = _grid(trajectory, samples, dt)
    values = check.rows(times)
    exceeded = np.flatnonzero(check.exceeded(values).any(axis=1))
    end = int(exceeded[0]) if exceeded.size else len(values)
    if end == 0:
        return check.report(float(times[0]), times, values)
    pole = check.pole(times[: min(end + 1, len(values))])
    if pole is not None:
        when = check.boundary(*pole)
    elif end < len(times):
        when = check.boundary(float(times[end - 1]), float(times[end]))
    else:
        return None
    return check.report(when, times, values)


def _grid(trajectory: Trajectory, samples: int, dt: float | None) -> FloatArray:
    end = trajectory.duration
    if dt is None:
        times = np.linspace(0.0, end, as_integer("samples", samples, at_least=1) + 1)
    else:
        times = np.append(np.arange(0.0, end, as_scalar("dt", dt, "s", above=0.0)), end)
    # accelerations jump there, and efforts with them
    switches = np.array(trajectory.switching_times)
    return np.unique(np.concatenate([times, switches, np.nextafter(switches, 0.0)]))


class _LimitCheck:
    """Values of a motion and their limits, as tables with one column per limited quantity.

    The columns are positions, velocities and efforts of the driven joints, the condition number,
    and positions and velocities of passive joints with limits.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        trajectory: Trajectory,
        max_condition: float,
        length: float,
        quantities: Collection[Quantity],
    ) -> None:
        refuse_other(mechanism, trajectory)
        self._mechanism, self._trajectory, self._length = mechanism, trajectory, length
        self._efforts = "effort" in quantities
        if "condition number" not in quantities:
            max_condition = np.inf
        if max_condition != np.inf:
            max_condition = as_scalar("max_condition", max_condition, at_least=1.0)
        velocity, effort = mechanism.velocity_limits, mechanism.drives.effort_ranges.T
        lower, upper = mechanism.position_limits.T
        self._condition = max_condition
        # passive joints follow the columns of the driven ones
        passive = travel.travel_bounds(mechanism)[len(velocity) :].T
        if "position" not in quantities:
            passive = passive[:, :0]
        self._passive = passive.shape[1]
        self._passive_speed_limits = _passive_speeds(mechanism) if "velocity" in quantities else {}
        speeds = np.array([*self._passive_speed_limits.values()])
        self._lower = np.concatenate([lower, -velocity, effort[0], [-np.inf], passive[0], -speeds])
        self._upper = np.concatenate(
            [upper, velocity, effort[1], [max_condition], passive[1], speeds]
        )
        for group, name in enumerate(_UNITS):
            if name not in quantities:
                columns = slice(group * len(velocity), (group + 1) * len(velocity))
                self._lower[columns], self._upper[columns] = -np.inf, np.inf
        self._has_curve = self._efforts and mechanism.drives.has_torque_speed_curve

    def limits_at(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper limits (..., columns) that apply at given values."""
        if not self._has_curve:
            return self._lower, self._upper
        n = len(self._mechanism.joint_names)
        motors = self._mechanism.drives.effort_limits_at(values[..., n : 2 * n])
        lower, upper = (
            np.array(np.broadcast_to(limit, values.shape)) for limit in (self._lower, self._upper)
        )
        for ends in (lower, upper):
            ends[..., 2 * n : 3 * n] = np.clip(ends[..., 2 * n : 3 * n], -motors, motors)
        return lower, upper

    def rows(self, times: FloatArray) -> FloatArray:
        """Return the table (M, columns) of a motion's values at times (N,).

        The table ends before the first time at which the kinematics has no solution, so M <= N.
        """
        while len(times):
            try:
                return self._tabulate(times)
            except KinematicsError as error:
                times = times[: error.index[0]]
        return np.empty((0, len(self._lower)))

    def exceeded(self, values: FloatArray) -> BoolArray:
        """Return whether each value (..., columns) exceeds its limits or is not finite."""
        limits = self.limits_at(values)
        below, above = (LIMIT_TOLERANCE * np.where(np.isfinite(v), np.abs(v), 0.0) for v in limits)
        within = (values >= limits[0] - below) & (values <= limits[1] + above)
        return np.asarray(~within)

    def pole(self, times: FloatArray) -> tuple[float, float] | None:
        """Return times just before and after the first singularity; None if there is none.

        Singularities at which efforts stay finite, as for an arm, count only if the condition
        number is limited.
        """
        mechanism = self._mechanism
        conditioned = self._condition < np.inf and mechanism.coordinates.velocity_size == 6
        if not conditioned and not self._efforts:
            return None

        def determinant(t: FloatArray) -> FloatArray | None:
            configuration = self._trajectory.sample(t).configuration
            if conditioned:
                return np.asarray(np.linalg.det(mechanism.jacobian(configuration)))
            return conditioning.determinant(mechanism, configuration)

        found = determinant(times)
        if found is None:
            return None
        positive = found > 0.0
        changes = np.flatnonzero(positive[1:] != positive[:-1])
        if not changes.size:
            return None
        first = int(changes[0])
        good, bad = (float(t) for t in times[first : first + 2])

        def is_before(t: float) -> bool:
            value = determinant(np.asarray(t))
            return value is not None and bool((value > 0.0) == positive[first])

        return good, bisect(is_before, good, bad, self._halvings(good, bad))[1]

    def boundary(self, good: float, bad: float) -> float:
        """Find when a violation begins, by bisection between two times."""

        def holds(t: float) -> bool:
            values = self.rows(np.array([t]))
            return len(values) > 0 and not self.exceeded(values).any()

        return bisect(holds, good, bad, self._halvings(good, bad))[1]

    def _halvings(self, good: float, bad: float) -> int:
        return int(np.ceil(np.log2((bad - good) / (TIME_TOLERANCE * self._trajectory.duration))))

    def report(self, when: float, times: FloatArray, values: FloatArray) -> Violation:
        """Return the violation that begins at a time, with the worst value until it ends."""
        try:
            here = self._tabulate(np.array([when]))[0]
        except KinematicsError as error:
            return self._geometry(when, error)
        exceeded = self.exceeded(here)
        if not exceeded.any():
            return self._geometry(when, None)
        column = int(exceeded.argmax())
        later = values[times[: len(values)] > when]
        within = np.flatnonzero(~self.exceeded(later)[:, column])
        excursion = np.vstack([here, later[: within[0] if within.size else None]])
        lower, upper = np.broadcast_arrays(*self.limits_at(excursion), excursion)[:2]
        reached = excursion[:, column]
        above = here[column] > upper[0, column]
        limit = (upper if above else lower)[:, column]
        worst = int((reached - limit if above else limit - reached).argmax())
        return self._violation(when, column, float(reached[worst]), float(limit[worst]), worst == 0)

    def _tabulate(self, times: FloatArray) -> FloatArray:
        mechanism = self._mechanism
        motion = self._trajectory.sample(times)
        q, v = motion.configuration, motion.velocity
        efforts, number = np.zeros((len(times), len(mechanism.joint_names))), np.ones(len(times))
        if self._efforts:
            efforts = mechanism.inverse_dynamics(*motion)
        if self._condition < np.inf:
            number = mechanism.condition_number(q, self._length)
        joints = mechanism.joint_positions(q), mechanism.joint_velocities(q, v)
        passive = (
            travel_positions(mechanism, q)[:, efforts.shape[1] :]
            if self._passive
            else efforts[:, :0]
        )
        rates = efforts[:, :0]
        if self._passive_speed_limits:
            states = mechanism.joint_states(q, v)
            rates = states.velocities[
                :, [states.names.index(name) for name in self._passive_speed_limits]
            ]
        return np.column_stack([*joints, efforts, number, passive, rates])

    def _violation(
        self, when: float, column: int, worst: float, limit: float, at_once: bool
    ) -> Violation:
        names, travel = self._mechanism.joint_names, travel_limits(self._mechanism)
        group, index = divmod(column, len(names))
        if column > 3 * len(names):
            # limit of a passive joint
            group, index = 0, column - 2 * len(names) - 1
        quantity = get_args(Quantity)[group]
        joint = travel[index].name if quantity in _UNITS and index < len(travel) else ""
        slides = travel[index].unit == "m" if joint else False
        place = column - 3 * len(names) - 1 - self._passive
        if place >= 0:
            quantity, joint = "velocity", [*self._passive_speed_limits][place]
            joints = self._mechanism.model.joints
            slides = any(each.name == joint and each.kind == "prismatic" for each in joints)
        unit = f" {_UNITS[quantity][slides]}" if joint else ""
        reached, allowed = _format_distinct(worst, limit)
        text = (
            f"{joint or quantity} reaches {reached}{unit} {'at' if at_once else 'after'} "
            f"t = {when:.3f} s, its limit is {allowed}{unit}"
        )
        return Violation(when, joint, quantity, worst, limit, text)

    def _geometry(self, when: float, error: KinematicsError | None) -> Violation:
        leg = getattr(error, "leg", None)
        joint = self._mechanism.joint_names[leg - 1] if leg else ""
        what = "singular configuration: no efforts can produce this motion"
        if error is not None:
            what = error.reason
        return Violation(when, joint, "geometry", np.nan, np.nan, f"at t = {when:.3f} s: {what}")


def _passive_speeds(mechanism: Mechanism) -> dict[str, float]:
    """Return the velocity limits [m/s or rad/s] of passive joints by joint name."""
    driven, known = set(mechanism.joint_names), set(mechanism.all_joint_names)
    joints = getattr(mechanism.model, "joints", ())
    return {
        each.name: each.velocity
        for each in joints
        if each.name in known - driven and np.isfinite(each.velocity)
    }


def _format_distinct(value: float, limit: float) -> tuple[str, str]:
    """Format two different numbers with as many decimals as show the difference."""
    for decimals in range(3 if abs(limit) < 1000.0 else 1, 12):
        texts = f"{value:.{decimals}f}", f"{limit:.{decimals}f}"
        if texts[0] != texts[1]:
            break
    return texts
