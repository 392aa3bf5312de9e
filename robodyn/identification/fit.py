# SPDX-License-Identifier: Apache-2.0

"""Fit of parameters and friction to recordings, with selection of friction terms.

Cross-validation over parts of the recordings selects the terms of each joint. Terms are added one
at a time, the best first, as long as they improve the prediction of efforts in parts that were not
fitted. This requires only sums over the rows of the equations, so many selections are cheap to
evaluate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.identification.friction import (
    CHOICES,
    COULOMB,
    KINDS,
    LIKE_COULOMB,
    LOAD,
    OFFSET,
    RIPPLE,
    RUBBING,
    Term,
    candidates,
    dissipates,
)
from robodyn.identification.regression import (
    FOLDS,
    Regression,
    Solution,
    scaled_solve,
    scaling,
    solve,
)
from robodyn.identification.ripple import find_ripples

Terms = list[list[Term]]

# Number of standard deviations above which a delay of efforts is certain.
CERTAIN_DEVIATIONS = 4.0


@dataclass(frozen=True)
class Fit:
    """Result of the least-squares fit.

    Attributes:
        regression: linear equations for the recorded efforts.
        robust: whether outliers have smaller weights.
        terms: friction terms of each motor.
        solution: identified base parameters and friction coefficients.
        loaded: (b,) base parameters from which the load of load-dependent friction is computed.
    """

    regression: Regression
    robust: bool
    terms: Sequence[Sequence[Term]]
    solution: Solution
    loaded: FloatArray

    @property
    def coefficients(self) -> FloatArray:
        """Identified coefficients (k,) of all friction terms, motor by motor."""
        return self.solution.x[len(self.loaded) :]

    @property
    def deviations(self) -> FloatArray:
        """Standard deviations (b + k,) of base parameters and friction coefficients."""
        return np.sqrt(np.maximum(np.diag(self.solution.covariance), 0.0))

    @property
    def delay(self) -> float:
        """Time [s] by which efforts lag the positions; 0 if it is not significant.

        Efforts are delayed by a filter, or by a controller that holds them for a period. Inertial
        efforts lead the velocity by a quarter of a period, so a delay would otherwise appear as
        friction. The delay is the coefficient tau in u + tau du/dt = Y theta, with recorded efforts
        u, the regressor Y and the parameters theta.
        """
        delay, deviation = self.solution.delay
        return delay if abs(delay) > CERTAIN_DEVIATIONS * deviation else 0.0


def first_fit(regression: Regression, friction: str, robust: bool) -> Fit:
    """Fit the equations with the friction terms that all motors have.

    Args:
        regression: linear equations for the recorded efforts.
        friction: key of `friction.KINDS`, which selects the friction terms of every motor.
        robust: whether outliers have smaller weights.

    Returns:
        Result of the fit: base parameters and friction coefficients.
    """
    plain = [Term(kind) for kind in KINDS[friction]]
    first = [list(plain) if moves else [] for moves in regression.moves]
    solution = solve(regression, regression.friction(first), robust)
    regression = regression.reweight(_coulomb_friction(regression, first, solution), solution.noise)
    solution = solve(regression, regression.friction(first), robust)
    return Fit(regression, robust, first, solution, solution.x[: len(regression.given_parameters)])


def add_friction_terms(fit: Fit, friction: str, report_progress: Callable[[float], None]) -> Fit:
    """Extend a fit by the friction terms that improve the prediction of efforts most.

    Args:
        fit: result of `first_fit`.
        friction: a key of `friction.KINDS`.
        report_progress: called with the progress from 0 to 1.

    Returns:
        Result of the fit with the selected terms.
    """
    regression, first = fit.regression, fit.terms
    tried = _candidate_terms(regression, friction)
    if any(tried):
        fit = _refit(fit, None, tried, lambda part: report_progress(0.6 * part))
    if LOAD not in CHOICES.get(friction, ()):
        return fit
    # friction that grows with the load, which is the identified bodies' effort
    loaded = fit.solution.x[: len(regression.given_parameters)]
    fit = _refit(fit, loaded, [[Term(LOAD)] if own else [] for own in first])
    report_progress(0.8)
    ripples = find_ripples(regression, fit.solution.residual)
    if any(ripples):
        # the remaining residual shows smaller effects
        again = [
            [term for term in [*start, *terms] if found and term not in own]
            for start, terms, found, own in zip(first, tried, ripples, fit.terms, strict=True)
        ]
        fit = _refit(fit, loaded, again, sure=ripples)
    return fit


def _coulomb_friction(regression: Regression, terms: Terms, solution: Solution) -> FloatArray:
    """Return the fitted Coulomb friction (n,) [N or N m] of each motor."""
    kinds = [[term.kind == COULOMB for term in own] for own in terms]
    coefficients = iter(solution.x[len(regression.given_parameters) :].tolist())
    return np.array([sum(next(coefficients) * dry for dry in own) for own in kinds])


def _candidate_terms(regression: Regression, friction: str) -> Terms:
    """Return candidate friction terms of each motor, besides those of the first fit."""
    motors, stretches = regression.motors, regression.stretches
    positions = motors.motion(np.concatenate([s.joints.positions for s in stretches]))
    rates = motors.motion(np.concatenate([s.joints.velocities for s in stretches]))
    turns = motors.per_revolution(regression.columns.mechanism.drives.units)
    sizes = np.stack([np.abs(rates).max(axis=0), np.ptp(positions, axis=0), turns], axis=1)
    # a motor at rest does not show its friction
    return [
        [term for term in candidates(friction, *row) if term.kind != LOAD] if moves else []
        for moves, row in zip(regression.moves, sizes.tolist(), strict=True)
    ]


def _refit(
    fit: Fit,
    loaded: FloatArray | None,
    tried: Sequence[Sequence[Term]],
    report_progress: Callable[[float], None] = lambda part: None,
    sure: Sequence[Sequence[Term]] | None = None,
) -> Fit:
    """Refit with friction terms `sure`, and those of `tried` that improve predictions."""
    regression = fit.regression
    sure = sure or [()] * len(fit.terms)
    kept = [[*own, *more] for own, more in zip(fit.terms, sure, strict=True)]
    tables = [[*own, *more] for own, more in zip(kept, tried, strict=True)]
    friction = regression.friction(tables, loaded)
    counts = [len(own) for own in kept]
    chosen = select_terms(regression, tables, friction, counts, fit.solution.sigma, report_progress)
    picked = [table[:, own] for table, own in zip(friction, chosen, strict=True)]
    solution = solve(regression, picked, fit.robust)
    given = [len(own) for own in fit.terms]
    while doubtful := _least_significant(
        solution, len(regression.given_parameters), tables, chosen, given
    ):
        j, dropped = doubtful
        chosen[j] = [k for k in chosen[j] if k not in dropped]
        picked[j] = friction[j][:, chosen[j]]
        solution = solve(regression, picked, fit.robust)
    terms = [[table[k] for k in own] for table, own in zip(tables, chosen, strict=True)]
    loaded = solution.x[: len(fit.loaded)] if loaded is None else loaded
    return Fit(regression, fit.robust, terms, solution, loaded)


def _least_significant(
    solution: Solution,
    b: int,
    tables: Sequence[Sequence[Term]],
    chosen: Sequence[Sequence[int]],
    given: Sequence[int],
) -> tuple[int, list[int]] | None:
    """Find the least significant of the added friction terms with a Wald test.

    Args:
        solution: solution with the selected terms.
        b: number of base parameters.
        tables: candidate terms of each motor.
        chosen: indices of each motor's selected terms.
        given: number of leading terms of each motor that are always kept.

    Returns:
        Indices of the motor and of its terms, or None if all added terms are significant.
    """
    least, found, at = 1.0, None, b
    for j, own in enumerate(chosen):
        places = {k: at + place for place, k in enumerate(own)}
        at += len(own)
        for group in paired_terms(tables[j]):
            if group[0] not in places or group[0] < given[j]:
                continue
            rows = [places[k] for k in group]
            covariance = solution.covariance[np.ix_(rows, rows)]
            wald = float(solution.x[rows] @ np.linalg.pinv(covariance) @ solution.x[rows])
            searched = tables[j][group[0]].kind in (*RIPPLE, *RUBBING)
            part = wald / (SEARCHED if searched else SIGNIFICANT)
            if part < least:
                least, found = part, (j, group)
    return found


# Least relative reduction of the squared prediction error by a term, the number of folds with a
# reduction, and the largest number of terms.
LEAST_REDUCTION, MOST_FOLDS, MOST = 0.03, 3, 3
# Least reduction in variances of the noise: the best of n terms without effect gains 2 log n by
# chance, and some thirty are tried.
SIGNIFICANT = 10.0
# Significance for sinusoids, of which hundreds are tried.
SEARCHED = 20.0
# Common terms that are selected first, and removed if efforts are predicted better without them.
OPTIONAL = (OFFSET,)


class _CrossValidation:
    """Normal equations of a joint's regressor columns and efforts, by fold.

    For each cross-validation fold, they are the sum over the fold's rows of
    (columns, effort)' (columns, effort).

    Attributes:
        rest: for each fold, the sums (b + 1, b + 1) of all other joints, divided by the variance of
            their noise.
    """

    rest: Sequence[FloatArray]

    def __init__(self, system: Regression, friction: FloatArray, j: int, sigma: float) -> None:
        rows = np.concatenate([system.A[:, j], friction, system.effort[:, j, None]], axis=1)
        weighted = rows * system.weight[:, j, None]
        self.sums = np.stack(
            [weighted[system.fold == f].T @ rows[system.fold == f] for f in range(FOLDS)]
        )
        self.b, self.k = system.A.shape[-1], friction.shape[1]
        self._prior, self._sigma = system.given_parameters, sigma

    def columns(self, terms: Sequence[int]) -> list[int]:
        return [*range(self.b), *(self.b + term for term in terms), self.b + self.k]

    def part(self, fold: int, terms: Sequence[int], fitted: bool) -> FloatArray:
        own = self.columns(terms)
        chosen = self.sums[fold]
        if fitted:
            chosen = self.sums.sum(axis=0) - chosen
        return np.asarray(chosen[np.ix_(own, own)])

    def fit(self, fold: int, terms: Sequence[int]) -> FloatArray:
        """Fit base parameters and friction (b + k,) to all folds except `fold`."""
        b = self.b
        sums = self.part(fold, terms, True) / self._sigma**2
        N, c = sums[:-1, :-1].copy(), sums[:-1, -1].copy()
        N[:b, :b] += self.rest[fold][:-1, :-1]
        c[:b] += self.rest[fold][:-1, -1]
        return scaled_solve(N, c, np.concatenate([self._prior, np.zeros(len(terms))]))

    def error(self, terms: Sequence[int]) -> FloatArray:
        """Compute the squared prediction error of each fold, fitted to the other folds.

        Returns:
            Errors (FOLDS,).
        """
        total = np.empty(FOLDS)
        for fold in range(FOLDS):
            x = np.append(-self.fit(fold, terms), 1.0)
            total[fold] = x @ self.part(fold, terms, False) @ x
        return total


def select_terms(
    system: Regression,
    terms: Sequence[Sequence[Term]],
    friction: Sequence[FloatArray],
    sure: Sequence[int],
    sigma: FloatArray,
    report_progress: Callable[[float], None],
) -> list[list[int]]:
    """Select the friction terms of each motor by cross-validation.

    Args:
        system: linear equations for the recorded efforts of the motors.
        terms: all candidate terms of each motor.
        friction: for each motor, a matrix (M, k): the filtered friction of each of its k candidate
            terms per unit of the coefficient, at the M samples of the fit.
        sure: for each motor, number of first terms that are selected from the start.
        sigma: (n,) [N or N m] standard deviation of each motor's effort noise.
        report_progress: called with the progress from 0 to 1.

    Returns:
        For each motor, the indices of its selected terms in `terms`.
    """
    joints = [_CrossValidation(system, table, j, sigma[j]) for j, table in enumerate(friction)]
    chosen = [list(range(count)) for count in sure]
    for j, joint in enumerate(joints):
        joint.rest = rest = []
        for fold in range(FOLDS):
            addends = [
                _without_friction(other.part(fold, chosen[i], True), joint.b) / sigma[i] ** 2
                for i, other in enumerate(joints)
                if i != j
            ]
            rest.append(sum(addends, np.zeros((joint.b + 1, joint.b + 1))))
        error = joint.error(chosen[j])
        for _ in range(MOST):
            tried = [
                own
                for own in _extended_selections(terms[j], chosen[j])
                if dissipates([terms[j][k] for k in own], joint.fit(0, own)[joint.b :])
            ]
            if not tried:
                break
            errors = [joint.error(own) for own in tried]
            best = int(np.argmin([own.sum() for own in errors]))
            better = int((errors[best] < error).sum())
            gain = error.sum() - errors[best].sum()
            needed = max(
                LEAST_REDUCTION * error.sum(),
                SIGNIFICANT * sigma[j] ** 2 * system.autocorrelation_time,
            )
            if better < MOST_FOLDS or not gain > needed:
                break
            error, chosen[j] = errors[best], tried[best]
        for k in [k for k in chosen[j] if terms[j][k].kind in OPTIONAL and len(terms[j]) > 3]:
            fewer = [other for other in chosen[j] if other != k]
            without = joint.error(fewer)
            if without.sum() < error.sum():
                chosen[j], error = fewer, without
        report_progress((j + 1) / len(joints))
    return chosen


def _extended_selections(terms: Sequence[Term], chosen: Sequence[int]) -> list[list[int]]:
    """List selections that add a friction term, or replace Coulomb friction by it.

    A selection consists of indices into `terms`. The terms of a sinusoid are added together.
    """
    found = [own for own in paired_terms(terms) if own[0] not in chosen]
    others = [k for k in chosen if terms[k].kind != COULOMB]
    instead = [[*others, *own] for own in found if terms[own[0]].kind in LIKE_COULOMB]
    return [[*chosen, *own] for own in found] + (instead if len(others) < len(chosen) else [])


def paired_terms(terms: Sequence[Term]) -> list[list[int]]:
    """Group the friction terms of a motor that are selected only together.

    Returns:
        Groups of indices: pairs of cosine and sine with the same wavenumber, and single terms.
    """
    groups: dict[tuple[str, float], list[int]] = {}
    for k, term in enumerate(terms):
        kind = next((pair[0] for pair in (RUBBING, RIPPLE) if term.kind in pair), term.kind)
        groups.setdefault((kind, term.scale), []).append(k)
    return list(groups.values())


def _without_friction(sums: FloatArray, b: int) -> FloatArray:
    """Eliminate a joint's friction coefficients from its normal equations.

    Returns:
        Sums of products (b + 1, b + 1) of the base parameters' columns and the effort.
    """
    keep = [*range(b), len(sums) - 1]
    friction = list(range(b, len(sums) - 1))
    if not friction:
        return sums[np.ix_(keep, keep)]
    cross = sums[np.ix_(keep, friction)]
    own = sums[np.ix_(friction, friction)]
    scale = scaling(own)
    scaled = own * np.outer(scale, scale) + 1e-9 * np.eye(len(own))
    return np.asarray(
        sums[np.ix_(keep, keep)] - (cross * scale) @ np.linalg.solve(scaled, (cross * scale).T)
    )
