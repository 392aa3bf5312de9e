# SPDX-License-Identifier: Apache-2.0

"""Equations of all recordings, linear in parameters and friction, and their solution.

The solution is by weighted and robust least squares; each motor's friction is part of its own rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.identification.base_parameters import BaseColumns, find_base
from robodyn.identification.columns import Columns
from robodyn.identification.friction import LOAD, Term, friction_columns
from robodyn.identification.motors import Motors
from robodyn.identification.samples import Samples, moving_motors

# Number of states in the search for base parameters.
STATES = 400
# Number of parts of the recordings for cross-validation.
FOLDS = 5
# Ridge of a scaled normal-equations matrix, which keeps hardly excited parameters near the given
# model.
RIDGE = 1e-7
# Eigenvalue of a scaled normal-equations matrix below which it is rounding.
UNSEEN = 1e-14
# Threshold of Huber's function in standard deviations, and the number of weighted solutions.
HUBER, ROUNDS = 1.5, 6
# Factor of Huber's weights on the standard deviation of normal noise.
HUBER_BIAS = 0.92
# Fraction of the regressor's power that defines slow frequencies.
SLOW = 0.9
# Lags of the noise's autocorrelation relative to its width, and the smallest width [rows].
WIDTHS, LEAST_AUTOCORRELATION_TIME = 8.0, 0.05


@dataclass(frozen=True)
class Regression:
    """Linear equations for the filtered efforts of all recordings and motors.

    Attributes:
        columns: fitted parameters except friction, with mechanism and motors.
        stretches: segments of the recordings, sampled and filtered.
        base: base parameters: combinations of the parameters that the samples determine.
        A: (M, n, b) regressor: the motors' efforts at the M samples per unit of each base
            parameter, filtered.
        effort: (M, n) [N or N m] measured efforts of the motors, filtered.
        weight: (M, n) 1 for efforts in motion, 0 for saturated ones or at rest.
        fold: (M,) part of the recordings, 0 to `FOLDS` - 1, to which each sample belongs.
        autocorrelation_time: number of samples that contain as much information as one independent
            sample, if the noise before the filter is white.
        effort_rate: (M, n, 1) time derivative of the efforts, whose coefficient is the efforts'
            delay; (M, n, 0) if no delay is fitted.
    """

    columns: Columns
    stretches: Sequence[Samples]
    base: BaseColumns
    A: FloatArray
    effort: FloatArray
    weight: FloatArray
    fold: IntArray
    autocorrelation_time: float
    effort_rate: FloatArray

    @property
    def motors(self) -> Motors:
        """Coupling between the motors and joints of the mechanism."""
        return self.columns.motors

    @cached_property
    def given_parameters(self) -> FloatArray:
        """Base parameters (b,) of the given model, a first guess."""
        return np.asarray(self.base.matrix @ self.columns.given)

    @cached_property
    def moves(self) -> list[bool]:
        """Whether each motor (n,) moves in the recordings."""
        return moving_motors(self.motors, self.stretches)

    @cached_property
    def direction_variance(self) -> FloatArray:
        """Variance (M, n) of each motor's filtered direction of motion, -1 to 1.

        The variance is due to the noise of the velocity.
        """
        return np.concatenate(
            [samples.direction_variance(self.motors) for samples in self.stretches]
        )

    def reweight(self, dry: FloatArray, sigma: FloatArray) -> Regression:
        """Return the equations with less weight where dry friction is uncertain.

        It is uncertain near reversals, where noise may change the sign of the velocity.

        Args:
            dry: (n,) [N or N m] magnitude of each motor's dry friction.
            sigma: (n,) [N or N m] noise of each motor's effort when its direction of motion is
                certain.

        Returns:
            Equations with the new weights.
        """
        noise = sigma**2
        return replace(
            self, weight=self.weight * noise / (noise + dry**2 * self.direction_variance)
        )

    def without_delay(self) -> Regression:
        """Return the equations without the efforts' delay as an unknown."""
        return replace(self, effort_rate=self.effort_rate[..., :0])

    def friction(
        self, terms: Sequence[Sequence[Term]], loaded: FloatArray | None = None
    ) -> list[FloatArray]:
        """Compute each motor's filtered friction per unit of each friction coefficient.

        Args:
            terms: friction terms of each motor.
            loaded: (b,) base parameters from which the load of load-dependent friction is computed;
                without load by default.

        Returns:
            For each motor, a matrix (M, k) of efforts with a column for each of its k terms.
        """
        F: list[list[FloatArray]] = [[] for _ in terms]
        for samples in self.stretches:
            load = np.zeros(samples.effort.shape)
            if loaded is not None and any(term.kind == LOAD for own in terms for term in own):
                load = self.motors.efforts(self.efforts(samples, loaded))
            for j, own in enumerate(terms):
                table = friction_columns(samples, own, self.motors.turns[j], load[:, j])
                F[j].append(samples.smooth(table)[samples.rows] if own else table[samples.rows])
        return [np.concatenate(part) for part in F]

    def efforts(self, samples: Samples, loaded: FloatArray) -> FloatArray:
        """Compute the joint efforts without friction at the K samples of a segment.

        `loaded` (b,) are the base parameters from which the efforts are computed.

        Returns:
            Unfiltered joint efforts (K, n) [N or N m].
        """
        return self.columns.efforts(samples, self.base.kept, loaded)


def regression_of(columns: Columns, stretches: Sequence[Samples]) -> Regression:
    """Create the linear equations for the efforts in all samples of recordings.

    Args:
        columns: fitted parameters except friction.
        stretches: filtered samples of the recordings.

    Returns:
        Equations for the motors' filtered efforts, linear in base parameters and friction.
    """
    motors = columns.motors
    base = find_base(_sample_regressor(columns, stretches))
    A, weight = [], []
    for samples in stretches:
        of_base = partial(columns.of, samples, kept=list(base.kept))
        A.append(motors.rows(samples.subsample(of_base)))
        known = motors.all_of(samples.usable) & samples.motion_mask(motors)
        weight.append(known[samples.rows].astype(float))
    effort, rate = _efforts(motors, stretches)
    count = len(effort)
    return Regression(
        columns,
        stretches,
        base,
        np.concatenate(A),
        effort,
        np.concatenate(weight),
        np.minimum(np.arange(count) * FOLDS // max(count, 1), FOLDS - 1),
        float(np.mean([samples.autocorrelation_time_of_white for samples in stretches])),
        rate,
    )


def _efforts(motors: Motors, stretches: Sequence[Samples]) -> tuple[FloatArray, FloatArray]:
    """Compute motors' filtered efforts (M, n) and their time derivatives (M, n, 1)."""
    found = []
    for samples in stretches:
        effort = motors.efforts(samples.smooth(samples.effort))
        rate = np.gradient(effort, 1.0 / samples.frequency, axis=0)
        found.append((effort[samples.rows], rate[samples.rows, :, None]))
    effort, rate = map(np.concatenate, zip(*found, strict=True))
    return effort, rate


def _sample_regressor(columns: Columns, stretches: Sequence[Samples]) -> FloatArray:
    """Compute regressor rows (S, p) of moving motors at states from all recordings.

    Motors at rest are left out because efforts at standstill are not fitted.
    """
    total = sum(len(samples.time) for samples in stretches)
    step = max(1, total // STATES)
    found = []
    for samples in stretches:
        Y = columns.of(samples, np.arange(0, len(samples.time), step))
        moves = moving_motors(columns.motors, [samples])
        found.append(columns.motors.rows(Y)[:, moves].reshape(-1, len(columns.names)))
    return np.concatenate(found)


@dataclass(frozen=True)
class Solution:
    """Result of least squares: base parameters and friction coefficients.

    Attributes:
        x: (b + k,) base parameters, then the friction coefficients, motor by motor.
        N: (b + k, b + k) normal-equations matrix (Fisher information); the equations are weighted
            by the motors' noise and its autocorrelation time.
        c: (b + k,) right side of the normal equations N x = c.
        sigma: (n,) [N or N m] standard deviation of the residuals of each motor.
        autocorrelation_time: (n,) number of samples that contain as much information as one
            independent sample.
        covariance: (b + k, b + k) covariance of `x`.
        residual: (M, n) [N or N m] fitted minus measured efforts of the motors.
        spread: (n,) [N or N m] standard deviation of the measured efforts.
        condition: condition number of the regressor of the base parameters, columns scaled to equal
            norms.
        delay: [s] by which efforts lag the positions, and its standard deviation; zero if it is
            not fitted. N, c and the covariance allow for its uncertainty.
    """

    x: FloatArray
    N: FloatArray
    c: FloatArray
    sigma: FloatArray
    autocorrelation_time: FloatArray
    covariance: FloatArray
    residual: FloatArray
    spread: FloatArray
    condition: float
    delay: tuple[float, float]

    @property
    def noise(self) -> FloatArray:
        """Robust estimate (n,) [N or N m] of each motor's noise, from its median residual."""
        return np.asarray(1.4826 * np.median(np.abs(self.residual), axis=0) + 1e-12)


def scaling(N: FloatArray) -> FloatArray:
    """Compute the factors that scale the diagonal of a normal-equations matrix to 1.

    Returns:
        Factors (p,) by which both the rows and the columns are multiplied; 0 for zero columns.
    """
    diagonal = np.diag(N)
    present = diagonal > 1e-200
    return np.where(present, 1.0 / np.sqrt(np.where(present, diagonal, 1.0)), 0.0)


def scaled_solve(N: FloatArray, c: FloatArray, near: FloatArray) -> FloatArray:
    """Solve N x = c for a normal-equations matrix N that may be nearly singular.

    Args:
        N: (p, p) normal-equations matrix.
        c: (p,) right side.
        near: (p,) values near which the solution stays in directions that N hardly determines.

    Returns:
        Solution x (p,).
    """
    scale = scaling(N)
    scaled = N * np.outer(scale, scale)
    scaled[np.diag_indices_from(scaled)] += RIDGE
    return np.asarray(near + scale * np.linalg.solve(scaled, scale * (c - N @ near)))


def solve(system: Regression, friction: Sequence[FloatArray], robust: bool) -> Solution:
    """Solve the equations for the recorded efforts by weighted least squares.

    The weights follow from each motor's noise and, if `robust`, reduce the effect of outliers.

    Args:
        system: linear equations for the recorded efforts.
        friction: for each motor, a matrix (M, k) with a column for each friction term.
        robust: whether outliers have smaller weights, by Huber's function.

    Returns:
        Base parameters and friction coefficients, with covariance and residuals.
    """
    n, b = system.effort.shape[1], system.A.shape[-1]
    own = np.array([table.shape[1] for table in friction])
    tables = _design_matrices(system.A, friction, system.effort_rate)
    start = np.pad(system.given_parameters, (0, tables[0].shape[1] - b))
    weight, sigma = system.weight, np.maximum(system.effort.std(axis=0), 1e-9)
    x = start
    for number in range(ROUNDS):
        N, c = _normal_equations(tables, system.effort, weight / sigma**2)
        x = scaled_solve(N, c, start)
        residual = np.stack([table @ x for table in tables], axis=-1) - system.effort
        used = np.maximum((system.weight > 0.0).sum(axis=0) / system.autocorrelation_time, 1.0)
        sigma = np.sqrt((weight * residual**2).sum(axis=0) / np.maximum(weight.sum(axis=0), 1.0))
        sigma = sigma / (HUBER_BIAS if robust and number else 1.0)
        free = np.maximum(used - b / n - own, np.maximum(0.1 * used, 1.0))
        sigma = np.maximum(sigma * np.sqrt(used / free), 1e-9)
        if robust and number < ROUNDS - 1:
            spread = 1.4826 * np.median(np.abs(residual), axis=0) + 1e-12
            size = np.abs(residual) / spread
            weight = system.weight * np.minimum(1.0, HUBER / np.maximum(size, 1e-12))
    N, c = _normal_equations(tables, system.effort, weight / sigma**2)
    inverse, unseen, condition = _inverse(N)
    # robust ("sandwich"; White 1980), noise correlated like the residuals (Newey and West, 1987)
    scores = [table * (weight[:, j] / sigma[j])[:, None] for j, table in enumerate(tables)]
    white = [score.T @ score for score in scores]
    noise = [
        _score_covariance(score, column, system.autocorrelation_time)
        for score, column in zip(scores, residual.T, strict=True)
    ]
    covariance = inverse @ np.sum(noise, axis=0) @ inverse + unseen
    autocorrelation_time = np.array(
        [
            np.sum(inverse * own) / max(np.sum(inverse * plain), 1e-300)
            for own, plain in zip(noise, white, strict=True)
        ]
    )
    autocorrelation_time = np.maximum(autocorrelation_time, LEAST_AUTOCORRELATION_TIME)
    information, right = _normal_equations(
        tables, system.effort, weight / (sigma**2 * autocorrelation_time)
    )
    spread = np.maximum(system.effort.std(axis=0), 1e-9)
    sought, late = slice(b + own.sum()), slice(b + own.sum(), None)
    # eliminate the delay
    gain = np.linalg.solve(information[late, late], information[late, sought])
    return Solution(
        x[sought],
        information[sought, sought] - information[sought, late] @ gain,
        right[sought] - right[late] @ gain,
        sigma,
        autocorrelation_time,
        covariance[sought, sought],
        residual,
        spread,
        condition,
        (float(x[late].sum()), float(np.sqrt(covariance[late, late].sum()))),
    )


def _design_matrices(
    A: FloatArray, friction: Sequence[FloatArray], effort_rate: FloatArray
) -> list[FloatArray]:
    """Build each motor's regressor (M, p) for base parameters, friction and delay."""
    b = A.shape[-1]
    edges = b + np.cumsum([0, *(table.shape[1] for table in friction)])
    out = [np.zeros((len(A), edges[-1] + effort_rate.shape[-1])) for _ in friction]
    for j, table in enumerate(friction):
        out[j][:, :b] = A[:, j]
        out[j][:, edges[j] : edges[j + 1]] = table
        out[j][:, edges[-1] :] = -effort_rate[:, j]
    return out


def _normal_equations(
    tables: Sequence[FloatArray], effort: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    p = tables[0].shape[1]
    N, c = np.zeros((p, p)), np.zeros(p)
    for j, table in enumerate(tables):
        weighted = table * weight[:, j, None]
        N += weighted.T @ table
        c += weighted.T @ effort[:, j]
    return N, c


def _inverse(N: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Invert a normal-equations matrix in the directions that it determines.

    Returns:
        Inverse (p, p) in these directions, a large covariance (p, p) in all other directions,
        and the condition number of the weighted regressor with columns scaled to equal norms.
    """
    scale = scaling(N)
    values, vectors = np.linalg.eigh(N * np.outer(scale, scale))
    condition = float(np.sqrt(values[-1] / max(values[0], 1e-300)))
    seen = values > UNSEEN
    units = np.outer(scale, scale)
    inverse = (vectors[:, seen] / values[seen]) @ vectors[:, seen].T
    unseen = vectors[:, ~seen] @ vectors[:, ~seen].T / UNSEEN
    return inverse * units, unseen * units, condition


def _score_covariance(score: FloatArray, residual: FloatArray, white: float) -> FloatArray:
    """Compute the covariance (p, p) of summed least-squares scores in colored noise.

    The sum is over the M rows of `score` (M, p), each multiplied by noise that is correlated like
    `residual` (M,). The fit removes slow noise from the residuals, so the
    noise within the motion's bandwidth is assumed to be at least that just above it. The lags
    extend to a multiple of the autocorrelation time of the residual or, if longer, of filtered
    white noise, which is `white` samples.
    """
    size = 2 * len(residual)
    power = np.abs(np.fft.rfft(residual - residual.mean(), size)) ** 2
    total: FloatArray = score.T @ score
    if not power.any():
        return total
    moved = np.abs(np.fft.rfft(score * scaling(total), size, axis=0)) ** 2
    slow = int((np.cumsum(moved.sum(axis=1)) < SLOW * moved.sum()).sum())
    if slow:
        power[:slow] = max(power[:slow].mean(), power[slow : 2 * slow].mean())
    correlation = np.fft.irfft(power, size)[: len(residual)]
    reach = int(WIDTHS * max(autocorrelation_time_of(residual), white))
    for lag in range(1, min(reach, len(residual) // 4) + 1):
        part = score[lag:].T @ score[:-lag]
        taper = (1.0 - lag / (reach + 1.0)) * float(correlation[lag] / correlation[0])
        total = total + taper * (part + part.T)
    return total


def autocorrelation_time_of(residual: FloatArray) -> float:
    """Estimate the autocorrelation time of a time series, in samples.

    It is 1 plus twice the sum of the autocorrelations until they vanish (Sokal's window).

    Returns:
        Number of samples that contain as much information as one independent sample.
    """
    centered = residual - residual.mean()
    size = 2 * len(centered)
    power = np.abs(np.fft.rfft(centered, size)) ** 2
    correlation = np.fft.irfft(power, size)[: len(centered)]
    if correlation[0] <= 0.0:
        return 1.0
    total = 1.0
    for lag, value in enumerate(correlation[1:] / correlation[0], start=1):
        total += 2.0 * float(value)
        if lag > 5.0 * total or lag > len(centered) // 4:
            break
    return max(total, 1.0)
