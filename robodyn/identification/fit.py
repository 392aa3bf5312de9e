# SPDX-License-Identifier: Apache-2.0

"""A fit: the equations, the terms of friction that were chosen, and the solution with these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robodyn.identification.friction import CHOICES, LOAD, Term, candidates, first_terms
from robodyn.identification.ripple import find_ripples
from robodyn.identification.selection import select_terms
from robodyn.identification.solving import Solution, solve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from robodyn.arrays import FloatArray
    from robodyn.identification.regression import Regression

    Terms = list[list[Term]]


@dataclass(frozen=True)
class Fit:
    """What least squares found.

    Attributes:
        regression: the equations.
        robust: whether outliers count less.
        terms: of each motor's friction.
        solution: base parameters and the terms' coefficients.
        loaded: (b,) base parameters of the efforts that friction may grow with.
    """

    regression: Regression
    robust: bool
    terms: Sequence[Sequence[Term]]
    solution: Solution
    loaded: FloatArray

    @property
    def coefficients(self) -> FloatArray:
        """(k,) of friction, motor by motor."""
        return self.solution.x[len(self.loaded) :]

    @property
    def deviations(self) -> FloatArray:
        """(b + k,) standard deviations of base parameters and coefficients."""
        return np.sqrt(np.maximum(np.diag(self.solution.covariance), 0.0))


def fitted(
    regression: Regression, friction: str, robust: bool, tell: Callable[[float], None]
) -> Fit:
    """The fit with those terms of friction that predict best.

    Args:
        regression: the equations.
        friction: a key of `friction.KINDS`.
        robust: whether outliers count less.
        tell: progress from 0 to 1.
    """
    first = [[*first_terms(friction)] if moves else [] for moves in regression.moves]
    tried = _tried(regression, friction)
    solution = solve(regression, regression.friction(first), robust)
    fit = Fit(regression, robust, first, solution, solution.x[: len(regression.near)])
    if any(tried):
        fit = _with_more(fit, None, tried, lambda part: tell(0.6 * part))
    if LOAD not in CHOICES.get(friction, ()):
        return fit
    # friction that grows with the load: of the efforts that the bodies were found to need
    loaded = fit.solution.x[: len(regression.near)]
    fit = _with_more(fit, loaded, [[Term(LOAD)] if own else [] for own in first])
    tell(0.8)
    ripples = find_ripples(regression, fit.solution.residual)
    if any(ripples):
        # with these taken away smaller things show
        again = [
            [term for term in [*start, *terms] if found and term not in own]
            for start, terms, found, own in zip(first, tried, ripples, fit.terms, strict=True)
        ]
        fit = _with_more(fit, loaded, again, sure=ripples)
    return fit


def _tried(regression: Regression, friction: str) -> Terms:
    """Of each motor, the terms that are tried beyond the first."""
    motors = regression.motors
    turn = motors.of_a_turn(regression.columns.mechanism.joint_units)
    out: Terms = []
    for j, moves in enumerate(regression.moves):
        if not moves:
            out.append([])  # nothing is said of its friction
            continue
        rates, positions = (
            np.concatenate([motors.motion(part)[:, j] for part in parts])
            for parts in zip(
                *((s.joints.velocities, s.joints.positions) for s in regression.stretches),
                strict=True,
            )
        )
        top, travel = float(np.abs(rates).max()), float(np.ptp(positions))
        terms = candidates(friction, top, travel, float(turn[j]))
        out.append([term for term in terms if term.kind != LOAD])
    return out


def _with_more(
    fit: Fit,
    loaded: FloatArray | None,
    tried: Sequence[Sequence[Term]],
    tell: Callable[[float], None] = lambda part: None,
    sure: Sequence[Sequence[Term]] | None = None,
) -> Fit:
    """The fit with its terms, those that are sure, and those tried that predict better."""
    regression = fit.regression
    sure = sure or [()] * len(fit.terms)
    kept = [[*own, *more] for own, more in zip(fit.terms, sure, strict=True)]
    tables = [[*own, *more] for own, more in zip(kept, tried, strict=True)]
    friction = regression.friction(tables, loaded)
    counts = [len(own) for own in kept]
    chosen = select_terms(regression, tables, friction, counts, fit.solution.sigma, tell)
    picked = [table[:, own] for table, own in zip(friction, chosen, strict=True)]
    solution = solve(regression, picked, fit.robust)
    terms = [[table[k] for k in own] for table, own in zip(tables, chosen, strict=True)]
    loaded = solution.x[: len(fit.loaded)] if loaded is None else loaded
    return Fit(regression, fit.robust, terms, solution, loaded)
