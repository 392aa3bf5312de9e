# SPDX-License-Identifier: Apache-2.0

"""Exciting trajectories: motions from which parameters are identified well.

Fourier series of few harmonics are smooth, periodic, and known exactly (Swevers and others, 1997).
The best of several random series within all limits is improved step by step, to provide much
information about the base parameters: a large determinant of Y'Y, with efforts relative to typical
ones, and a small condition number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.algorithms import Motion, conditioning, motions
from robodyn.algorithms.travel import within_travel
from robodyn.arrays import FloatArray
from robodyn.checks import as_integer, as_scalar
from robodyn.errors import InfeasibleTrajectory, KinematicsError
from robodyn.identification.base_parameters import BaseColumns, find_base, states_around_home
from robodyn.identification.columns import Columns
from robodyn.identification.motors import motors_of
from robodyn.mechanism.mechanism import Mechanism
from robodyn.trajectories.fourier import FourierSeries, FourierTrajectory

# Fractions of the limits that a motion may use, and the number of instants that are checked.
MARGIN, INSTANTS = 0.9, 160
# Joints without limits: travel [rad, or relative to the size], and rate per travel [1/s].
TRAVEL, RATE = 1.2, 1.5
# Largest number of reductions of a series until it respects the limits, and the factor of each.
SHRINKS, SHRINK = 24, 0.85
# Largest condition number along the motion, relative to that at home.
CONDITION = 5.0
# Eigenvalue of the normal-equations matrix, relative to the largest, that counts as 0.
SMALLEST = 1e-14
# Largest number of harmonics, and of trials.
MOST = 100_000


def exciting_trajectory(
    m: Mechanism,
    duration: float = 10.0,
    seed: int = 0,
    *,
    harmonics: int = 5,
    condition_limit: float | None = None,
    trials: int = 60,
    progress: Callable[[float], None] | None = None,
) -> FourierTrajectory:
    """Find a motion from home and back that excites the parameters of a mechanism.

    Args:
        m: mechanism; its limits of position, rate and effort are respected with a margin.
        duration: duration [s] of the motion.
        seed: seed of the random numbers; the same seed gives the same motion.
        harmonics: number of harmonics of the Fourier series; the fastest is `harmonics / duration`
            [Hz].
        condition_limit: largest condition number of the Jacobian along the motion, for parallel
            mechanisms; by default 5 times that at home.
        trials: number of Fourier series that are tried.
        progress: called with the completed fraction, from 0 to 1.

    Returns:
        The trajectory; `save` writes a file that the planner executes.

    Raises:
        InvalidInput: an argument is out of range, or the mechanism has no regressor.
        InfeasibleTrajectory: the limits leave no amplitude for a motion around home.
    """
    length = as_scalar("duration", duration, "s", above=0.0)
    count = as_integer("harmonics", harmonics, at_least=1, at_most=MOST)
    tries = as_integer("trials", trials, at_least=1, at_most=MOST)
    search = _ExcitationSearch(m, length, condition_limit)
    rng = np.random.default_rng(seed)
    shape = (count, len(search.center))
    best: tuple[float, FourierSeries] | None = None
    for trial in range(tries):
        if best is None or trial < tries // 3:
            weight = search.amplitude / np.arange(1, count + 1)[:, None]
            sine, cosine = rng.normal(0.0, 0.5, (2, *shape)) * weight
        else:
            deviation = 0.4 * (1.0 - trial / tries) + 0.05
            change = rng.normal(0.0, deviation, (2, *shape)) * search.amplitude
            change *= rng.random((2, *shape)) < 0.3
            sine, cosine = best[1].sine + change[0], best[1].cosine + change[1]
        series = search.within_limits(sine, cosine)
        if series is not None:
            cost = search.cost(series)
            if best is None or cost < best[0]:
                best = cost, series
        if progress is not None:
            progress((trial + 1) / tries)
    if best is None:
        raise InfeasibleTrajectory(
            f"{m.name}: no motion of {length:g} s around home is within the limits; use a longer "
            "duration, fewer harmonics, or a home farther from the limits",
            value=length,
        )
    return FourierTrajectory(m, best[1], f"exciting_{m.name}")


class _ExcitationSearch:
    """Limits and cost function of the search for an exciting Fourier series.

    Attributes:
        center, amplitude: (m,) positions of the independent joints at the middle of the motion, and
            their largest permitted distance from these.
    """

    def __init__(self, m: Any, duration: float, condition_limit: float | None) -> None:
        self.m, self.duration = m, duration
        self.ramp = min(0.2 * duration, 1.5)
        rest = np.zeros(m.coordinates.velocity_size)
        self.center = np.asarray(motions.independent_motion(m, m.home, rest, rest).positions)
        self.times = np.linspace(0.0, duration, INSTANTS)
        # an independent joint that is not driven has no known limits
        names = list(m.joint_names)
        places = [names.index(j) if j in names else -1 for j in m.independent_joints]
        driven = np.array(places) >= 0
        turns = ~driven | (np.array(m.drives.units)[places] == "rad")
        free = np.where(turns, TRAVEL, 0.25 * m.size)
        limits = np.where(driven[:, None], m.position_limits[places], [-np.inf, np.inf])
        lower, upper = np.clip([self.center - free, self.center + free], *limits.T)
        low, high = self.center - lower, upper - self.center
        middle = 0.5 * (lower + upper)
        # if home is at a limit the motion is on one side of it only
        self.center = np.where(np.minimum(low, high) < 0.1 * (low + high), middle, self.center)
        self.amplitude = MARGIN * np.minimum(upper - self.center, self.center - lower)
        rates = np.where(driven, MARGIN * m.velocity_limits[places], np.inf)
        self.rates = np.minimum(RATE * free, rates)
        self.efforts = MARGIN * np.asarray(m.effort_limits)
        self.condition = np.inf
        if conditioning.determinant(m, m.home) is not None:
            self.condition = CONDITION * float(m.condition_number(m.home, m.characteristic_length))
        if condition_limit is not None:
            self.condition = as_scalar("condition_limit", condition_limit, above=0.0)
        self.columns = Columns(m, motors_of(m.joint_names, ()), True)
        own = list(self.columns.own)
        Y = np.concatenate(states_around_home(m))[..., own]
        self.base: BaseColumns = find_base(Y.reshape(-1, len(own)))
        typical = np.sqrt((np.asarray(m.inverse_dynamics(m.home, rest, rest)) ** 2).mean())
        Yb = Y[..., list(self.base.kept)].reshape(-1, len(self.base.kept))
        self.scale = np.linalg.norm(Yb, axis=0) / np.sqrt(len(Yb))
        self.scale[self.scale <= 0.0] = max(float(typical), 1e-9)

    def within_limits(self, sine: FloatArray, cosine: FloatArray) -> FourierSeries | None:
        """Scale a Fourier series to use the joints' travel and rates within all limits.

        Returns:
            The series, or None if it exceeds limits even after all reductions.
        """
        series = FourierSeries(self.duration, self.ramp, self.center, sine, cosine)
        x, dx, _ = series.at(self.times)
        reach = np.abs(x - self.center).max(axis=0) / self.amplitude
        speed = np.abs(dx).max(axis=0) / self.rates
        # each joint alone as large as its travel and rate allow
        shrink = 1.0 / np.maximum(np.maximum(reach, speed), 1e-9)
        series = replace(series, sine=sine * shrink, cosine=cosine * shrink)
        for _ in range(SHRINKS):
            if self._is_feasible(series):
                return series
            series = series.scale(SHRINK)
        return None

    def _is_feasible(self, series: FourierSeries) -> bool:
        try:
            motion = self._motion(series)
            if np.isfinite(self.condition):
                conditions = self.m.condition_number(
                    motion.configuration, self.m.characteristic_length
                )
                if not (conditions <= self.condition).all():
                    return False
            if not within_travel(self.m, motion.configuration).all():
                return False
            efforts = np.abs(self.m.inverse_dynamics(*motion))
        except KinematicsError:
            return False
        return bool((efforts <= self.efforts).all())

    def _motion(self, series: FourierSeries) -> Motion:
        found: Motion = motions.motion_of_independent(self.m, *series.at(self.times), self.m.home)
        return found

    def cost(self, series: FourierSeries) -> float:
        """Compute the cost of a Fourier series: low if it determines base parameters well.

        The cost is the logarithm of the scaled regressor's condition number, minus the mean
        logarithm of the eigenvalues of its normal-equations matrix.
        """
        Y = self.m.regressor(*self._motion(series))[..., list(self.columns.own)]
        Yb = Y[..., list(self.base.kept)] / self.scale
        Yb = Yb.reshape(-1, len(self.scale))
        # squared singular values, which take a hundredth of the time of singular values
        values = np.linalg.eigvalsh(Yb.T @ Yb)
        values = np.maximum(values, SMALLEST * values[-1])
        return float(0.5 * np.log(values[-1] / values[0]) - np.log(values).mean())
