# SPDX-License-Identifier: Apache-2.0

"""Optimization of free coordinates: a tool's spin, a table's height, or an orientation.

Each free coordinate is a B-spline over the motion, or one constant. The optimization minimizes the
largest condition number, or the largest effort relative to its limit: minimize u such that every
sample is below u and within the joints' limits (sequential quadratic programming from two starting
points). The result is the best local optimum found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypedDict, get_args

import numpy as np

from robodyn.algorithms import motions
from robodyn.arrays import FloatArray, Unpack, short_repr
from robodyn.checks import as_integer, check_choice
from robodyn.errors import InvalidInput, KinematicsError, NoPath
from robodyn.mechanism.mechanism import Mechanism
from robodyn.planning.paths.bounds import Bounds
from robodyn.planning.paths.curves import DEGREE
from robodyn.planning.paths.free_motion import COORDINATES, FreeMotion
from robodyn.trajectories.base import Motion, Trajectory
from robodyn.trajectories.tip_line import follow_body_path

Objective = Literal["condition", "effort"]
OBJECTIVES: tuple[str, ...] = get_args(Objective)
# Samples along the motion for the optimization, and for the check of its result.
MOTION_SAMPLES, FINE = 61, 1001
ITERATIONS = 40
# Constant offsets that are tried; the best one is the second starting point.
CHOICES = 60
# Value of a sample without a solution.
HOPELESS = 50.0


class RedundancyResult(NamedTuple):
    """Result of `optimize_redundancy`: the optimized motion and its objective.

    Attributes:
        trajectory: the optimized motion, in the mechanism's coordinates.
        before, after: largest condition number, or largest effort relative to its limit (the effort
            itself if there is no limit), before and after the optimization, at 1001 samples;
            infinite without a solution.
        chosen: for each free coordinate its values at these samples [m or rad].
        text: summary in one line.
    """

    trajectory: Trajectory
    before: float
    after: float
    chosen: dict[str, FloatArray]
    text: str

    def __repr__(self) -> str:
        return short_repr(self)


@dataclass(frozen=True)
class RedundancySettings:
    """Settings of the optimization of redundant coordinates.

    Attributes:
        objective: `condition` for the condition number of the Jacobian, or `effort` for the
            joint efforts of the motion with its timing.
        ranges: lower and upper bound [m or rad] of a coordinate's offset from the motion, by name;
            by default half the mechanism's size or one radian in each direction.
        controls: number of control points of a variable coordinate.
        fixed_ends: whether changes are zero at both ends.
        characteristic_length: length [m] by which moments are divided in the condition number.
        seed: seed of the random starting points.
    """

    objective: Objective = "condition"
    ranges: Mapping[str, tuple[float, float]] | None = None
    controls: int = 8
    fixed_ends: bool = False
    characteristic_length: float = 1.0
    seed: int = 0


class RedundancyOptions(TypedDict, total=False):
    """Fields of `RedundancySettings` as keyword arguments."""

    objective: Objective
    ranges: Mapping[str, tuple[float, float]] | None
    controls: int
    fixed_ends: bool
    characteristic_length: float
    seed: int


DEFAULT = RedundancySettings()


def optimize_redundancy(
    mechanism: Mechanism,
    path: Trajectory,
    free: Sequence[str] = ("rx", "ry", "rz"),
    *,
    constant: Sequence[str] = (),
    settings: RedundancySettings = DEFAULT,
    **options: Unpack[RedundancyOptions],
) -> RedundancyResult:
    """Choose the redundant coordinates of a motion to improve its worst configuration.

    The objective is the largest condition number of the Jacobian along the motion, or its largest
    joint effort relative to the limit.

    ```python
    best = rd.optimize_redundancy(m, rd.paper_path("I"), ["rx", "ry", "rz"], constant=["z"])
    best.before, best.after, best.trajectory
    ```

    Args:
        mechanism: mechanism of any kind.
        path: trajectory of body poses in the base frame, with its timing; for an arm or a
            closed loop the configurations follow by inverse kinematics.
        free: coordinates that may vary along the path: x, y, z [m] in the base frame; rx, ry, rz
            [rad] rotations about the base's axes; spin [rad] about the body's own z axis.
        constant: free coordinates that keep one value along the path.
        settings: settings of the optimization.
        options: keyword arguments that override fields of `settings`.

    Returns:
        The optimized trajectory, and the objective before and after the optimization.

    Raises:
        InvalidInput: a name is unknown, ranges are contradictory, or the path does not consist of
            poses.
        NoPath: no choice within the ranges respects the joint limits; the error names the limit.
        TypeError: an option is not a field of the settings.
    """
    settings = replace(settings, **options)
    task = _RedundancyProblem(mechanism, path, (free, constant), settings)
    best = task.solve(np.random.default_rng(settings.seed))
    motion = task.motion(best)
    times = np.linspace(0.0, path.duration, FINE)
    before, after = (
        _objective_value(float(task.values(one, times)[0].max()), settings.objective)
        for one in (task.motion(np.zeros_like(best)), motion)
    )
    start = task.mechanism_motion(motion, times[:2]).configuration[0]
    what = (
        "condition number" if settings.objective == "condition" else "fraction of the effort limits"
    )
    return RedundancyResult(
        follow_body_path(mechanism, motion, start), before, after,
        {name: motion.offset(name, times) for name in task.names},
        f"largest {what} {before:.4g} before, {after:.4g} after choosing {', '.join(task.names)}",
    )  # fmt: skip


class _RedundancyProblem:
    """Objective and constraints of `optimize_redundancy`, as functions of control points.

    Args:
        mechanism, path, settings: as for `optimize_redundancy`.
        free: names of the free coordinates that vary along the motion, and of the free coordinates
            that keep one value.

    Attributes:
        names: all names in `free`.

    Raises:
        InvalidInput: as for `optimize_redundancy`.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        path: Trajectory,
        free: tuple[Sequence[str], Sequence[str]],
        settings: RedundancySettings,
    ) -> None:
        changing, self._constant = free
        names = self.names = [*changing, *self._constant]
        check_choice("objective", settings.objective, OBJECTIVES)
        if not names or len(set(names)) < len(names) or not set(names) <= set(COORDINATES):
            raise InvalidInput(
                f"free coordinates are {', '.join(names) or 'none'}; expected one or more of "
                f"{', '.join(COORDINATES)}, each once",
                value=names,
            )
        if path.sample(0.0).configuration.shape != (7,):
            raise InvalidInput(
                "the path contains no poses; only coordinates of poses can be free", value=path
            )
        count = as_integer("controls", settings.controls, at_least=DEGREE + 1)
        self._mechanism, self._path, self._settings = mechanism, path, settings
        self._count, self._bounds = count, Bounds(mechanism)
        # three control points at rest at each end: the offset, its rate and its change
        self._resting = 3 if settings.fixed_ends and count > 6 else 0
        # for each coordinate: the number of values to choose, and their bounds
        each = count - 2 * self._resting
        self._sizes = [each] * len(changing) + [1] * len(self._constant)
        self._ends = _ranges(mechanism, names, settings.ranges or {})
        self._times = np.linspace(0.0, path.duration, MOTION_SAMPLES)

    def motion(self, x: FloatArray) -> FreeMotion:
        """Create the body's motion for optimization variables (k,)."""
        controls: dict[str, FloatArray] = {}
        for name, own in zip(self.names, np.split(x, np.cumsum(self._sizes)[:-1]), strict=True):
            is_constant = name in self._constant
            controls[name] = (
                np.full(self._count, own[0]) if is_constant else np.pad(own, self._resting)
            )
        return FreeMotion(self._path, controls)

    def mechanism_motion(self, motion: FreeMotion, times: FloatArray) -> Motion:
        """Compute the mechanism's motion at times (N,).

        Raises:
            KinematicsError: the mechanism cannot follow the body's motion.
        """
        body = motion.sample(times)
        first = self._mechanism.configuration_at(body.configuration[0], self._mechanism.home)
        return motions.motion_of_body(self._mechanism, times, *body, first)

    def values(self, motion: FreeMotion, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute the objective (N,) and smallest joint-limit margin (N,) at N times."""
        mechanism = self._mechanism
        try:
            own = self.mechanism_motion(motion, times)
            margins = self._margins(own.configuration)
            if self._settings.objective == "condition":
                length = self._settings.characteristic_length
                number = mechanism.condition_number(own.configuration, length)
                return np.minimum(np.log(number), HOPELESS), margins
            limits = mechanism.effort_limits
            limits = np.where(np.isfinite(limits), limits, 1.0)
            efforts = np.abs(mechanism.inverse_dynamics(*own)) / limits
            return np.asarray(efforts.max(axis=1)), margins
        except KinematicsError:
            return np.full(len(times), HOPELESS), np.full(len(times), -1.0)

    def solve(self, random: np.random.Generator) -> FloatArray:
        """Find the best values (k,) of the optimization variables.

        Raises:
            NoPath: no choice within the ranges respects the joint limits.
        """
        from scipy.optimize import minimize

        low, high = (np.repeat(part, self._sizes) for part in self._ends.T)
        times = self._times

        def below(z: FloatArray) -> FloatArray:
            values, kept = self.values(self.motion(z[:-1]), times)
            return np.concatenate([z[-1] - values, np.clip(kept, -1.0, 1.0)])

        best: tuple[float, FloatArray] | None = None
        nothing = np.clip(np.zeros(len(low)), low, high)
        for x in (nothing, self._best_constant_offsets(random)):
            top = float(self.values(self.motion(x), times)[0].max())
            found = minimize(
                lambda z: z[-1], np.append(x, top), jac=lambda z: np.eye(len(z))[-1],
                bounds=[*zip(low, high, strict=True), (None, None)], method="SLSQP",
                constraints={"type": "ineq", "fun": below}, options={"maxiter": ITERATIONS},
            )  # fmt: skip
            for candidate in (np.clip(found.x[:-1], low, high), nothing):
                values, kept = self.values(self.motion(candidate), times)
                value = float(values.max())
                if kept.min() >= -1e-9 and value < HOPELESS and (best is None or value < best[0]):
                    best = value, candidate
        if best is None:
            raise self._infeasibility_error()
        return best[1]

    def _best_constant_offsets(self, random: np.random.Generator) -> FloatArray:
        """Return the best variables (k,) among random offsets that are constant over time."""
        best, found = np.inf, np.zeros(sum(self._sizes))
        for _ in range(CHOICES):
            x = np.repeat(random.uniform(*self._ends.T), self._sizes)
            values, kept = self.values(self.motion(x), self._times[::3])
            if kept.min() >= 0.0 and values.max() < best:
                best, found = float(values.max()), x
        return found

    def _margins(self, configurations: FloatArray) -> FloatArray:
        """Compute the smallest joint-limit margin (N,) of each configuration (N, nq)."""
        return np.asarray(self._bounds.margins(configurations)[:, :-4].min(axis=1))

    def _infeasibility_error(self) -> NoPath:
        try:
            own = self.mechanism_motion(self.motion(np.zeros(sum(self._sizes))), self._times)
        except KinematicsError as error:
            return NoPath(
                f"no feasible motion was found: {error}",
                separated_by="limit",
                value=None,
            )
        worst = int(self._margins(own.configuration).argmin())
        found = self._bounds.nearest(own.configuration[worst])
        text = (
            "no values of the free coordinates within their ranges respect the limits; with the "
            f"given path, at t = {self._times[worst]:.3f} s {found.text}"
        )
        return found.no_path(text, "limit", own.configuration[worst])


def _ranges(
    mechanism: Mechanism, names: list[str], given: Mapping[str, tuple[float, float]]
) -> FloatArray:
    unknown = set(given) - set(names)
    if unknown:
        raise InvalidInput(
            f"ranges contains {', '.join(sorted(unknown))}, expected only free coordinates: "
            f"{', '.join(names)}",
            value=dict(given),
        )
    out = []
    for name in names:
        reach = 0.5 * mechanism.size if name in ("x", "y", "z") else 1.0
        low, high = (float(end) for end in given.get(name, (-reach, reach)))
        if not low < high:
            raise InvalidInput(
                f"the range of {name} is {low:g} to {high:g}, expected lower < upper",
                value=given.get(name),
            )
        out.append((low, high))
    return np.array(out)


def _objective_value(value: float, objective: str) -> float:
    if value >= HOPELESS:
        return float(np.inf)
    return float(np.exp(value) if objective == "condition" else value)
