# SPDX-License-Identifier: Apache-2.0

"""Projection to physical parameters, near a given model where the data contain no information.

Of all parameters with positive definite pseudo-inertias, the result minimizes

    (1/2) theta' N theta - c' theta  +  gamma sum_b D(J_b | J_b0)

with the normal equations N, c of weighted least squares and the entropic divergence from the given
model, D = tr(J0^-1 J) - log det(J0^-1 J) - 4 (Lee, Wensing and Park, 2020). D is also a barrier, so
the problem is convex without constraints; Newton's method follows the minima of a falling gamma.
Rotors' inertias and friction coefficients that must not be negative are treated like bodies with a
single number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from robodyn.analysis.bisection import bisect
from robodyn.arrays import BoolArray, FloatArray
from robodyn.dynamics.body_parameters import of_pseudo_inertias, pseudo_inertias
from robodyn.errors import NoSolution
from robodyn.identification.columns import OF_FRICTION
from robodyn.identification.fit import Fit
from robodyn.identification.friction import (
    COULOMB,
    OFFSET,
    RIPPLE,
    RUBBING,
    SMOOTH,
    VISCOUS,
    WIND_UP,
    FrictionTerm,
    Term,
    friction_efforts,
)
from robodyn.identification.regression import scaling
from robodyn.mechanism.functions import with_parameters
from robodyn.mechanism.mechanism import Mechanism

# Weight of the given model, in observations: it determines only what these leave open.
GAMMA = 0.1
# Reduction of the weight between minima, and the largest number of Newton steps for each.
FALL, STEPS = 3.0, 200
# Squared Newton decrements at convergence, of the last minimum and, relative to the weight, of
# earlier ones: a decrement is a distance in standard deviations.
CONVERGED, ROUGH_TOLERANCE = 1e-9, 0.1
# Relative change of moments below which the priors are the minimum.
PRIOR_TOLERANCE = 1.0
# Longest step, relative to the distance to a singular pseudo-inertia.
NEAREST = 0.9
# Largest number of bisections of a line search, and the final slope, relative to the first, that
# counts as 0.
HALVINGS, FLAT = 30, 1e-3
# Eigenvalue per column of a scaled normal-equations matrix below which it is rounding.
RANK_TOLERANCE = 1e-15
# Damping of free parameters, relative to their Hessian.
RIDGE = 1e-14
# Mass of a model, relative to what efforts could carry, below which its masses are meaningless.
NO_MASS = 1e-4
# An orthonormal basis (10, 4, 4) of the symmetric matrices, and their traces.
SYMMETRIC = np.array(
    [
        (np.outer(one, two) + np.outer(two, one)) / (2.0 if one is two else np.sqrt(2.0))
        for one, two in combinations_with_replacement(list(np.eye(4)), 2)
    ]
)
TRACES = np.trace(SYMMETRIC, axis1=1, axis2=2)
STANDARD_GRAVITY = 9.81
# Rates, relative to the largest, at which a joint certainly moves.
MOVING_RATE = 0.01
PLAIN = (VISCOUS, COULOMB)
# Prior of an offset, relative to the efforts' standard deviation.
OFFSETS = 0.05


def nearest_physical_bodies(bodies: FloatArray, size: float, carried: float) -> FloatArray:
    """Compute physically consistent pseudo-inertias near the bodies of a model.

    Args:
        bodies: (count, 10) inertial parameters of the model's bodies; inertia tensors in papers
            and URDFs are often unphysical.
        size: [m] of the mechanism, to give an extent to bodies without one.
        carried: [kg] mass that the efforts could carry, for models with hardly any mass, such as
            a URDF without inertias.

    Returns:
        Positive definite pseudo-inertias (count, 4, 4).
    """
    mean = float(bodies[:, 0].mean())
    if mean < NO_MASS * carried:
        own = carried * np.diag([*(3 * [(0.1 * size) ** 2]), 1.0])
        alike: FloatArray = np.repeat(own[None], len(bodies), axis=0)
        return alike
    length = 0.05 * size
    units = np.outer([length, length, length, 1.0], [length, length, length, 1.0])
    values, vectors = np.linalg.eigh(pseudo_inertias(bodies) / units)
    lowest = 2e-2 * np.maximum(bodies[:, :1], 0.02 * mean)
    clipped = (vectors * np.maximum(values, lowest)[:, None]) @ vectors.swapaxes(1, 2)
    return np.asarray(clipped * units)


@dataclass(frozen=True)
class Program:
    """Convex optimization problem whose solution is a fit's physical parameters.

    Attributes:
        N: (p, p) normal-equations matrix in units of the observations' noise.
        c: (p,) right side of the normal equations.
        bodies: (count, 4, 4) physical pseudo-inertias of the given model, for the first columns,
            ten each.
        positive: columns of parameters that must be positive; the rest are free.
        values: (len(positive),) prior values of the positive parameters.
    """

    N: FloatArray
    c: FloatArray
    bodies: FloatArray
    positive: Sequence[int]
    values: FloatArray

    @cached_property
    def inverse(self) -> FloatArray:
        """Inverses (count, 4, 4) of the bodies' pseudo-inertias."""
        return np.asarray(np.linalg.inv(self.bodies))

    @cached_property
    def root(self) -> tuple[FloatArray, FloatArray]:
        """Matrix R (k, p) and vector y (k,) with N = R' R and c = R' y.

        They are the square root of the normal equations N x = c, free of the rounding errors of N.
        """
        scale = scaling(self.N)
        values, vectors = np.linalg.eigh(self.N * np.outer(scale, scale))
        seen = values > RANK_TOLERANCE * len(values)
        size, directions = np.sqrt(values[seen]), vectors[:, seen].T
        length = np.sqrt(np.maximum(np.diag(self.N), 0.0)) * (scale > 0.0)
        return size[:, None] * directions * length, directions @ (scale * self.c) / size

    @cached_property
    def has_barrier(self) -> BoolArray:
        """Whether each parameter (p,) belongs to a body or must be positive."""
        out = np.zeros(len(self.c), dtype=bool)
        out[: 10 * len(self.bodies)] = True
        out[list(self.positive)] = True
        return out

    def newton_step(self, point: _Point, weight: float) -> _Step:
        """Compute Newton's step of the minimization, for a given weight of the prior.

        The variables are relative changes: S of a body's pseudo-inertia L L', which becomes L (1 +
        S) L', and s of a positive parameter theta, which becomes theta (1 + s). In these the
        barrier's Hessian is the weight alone, however close to singular a pseudo-inertia is.

        Args:
            point: current iterate.
            weight: weight of the prior.

        Returns:
            The step, with its predicted decrease of the objective.
        """
        theta, bodies = point.theta, 10 * len(self.bodies)
        T, prior = np.eye(len(theta)), np.zeros(len(theta))
        for k, L in enumerate(point.factors):
            changes, rows = L @ SYMMETRIC @ L.T, slice(10 * k, 10 * k + 10)
            T[rows, rows] = of_pseudo_inertias(changes).T
            prior[rows] = np.einsum("ij,pji->p", self.inverse[k], changes) - TRACES
        positive = list(self.positive)
        T[positive, positive] = theta[positive]
        prior[positive] = theta[positive] / self.values - 1.0
        R, y = self.root
        A = R @ T
        H = A.T @ A
        free = RIDGE * np.maximum(np.diag(H), 1e-100)
        H[np.diag_indices_from(H)] += np.where(self.has_barrier, weight, free)
        scale = scaling(H)
        right = A.T @ (y - R @ theta) - weight * prior
        s = scale * np.linalg.solve(H * np.outer(scale, scale), scale * right)
        tensors = np.einsum("bp,pij->bij", s[:bodies].reshape(-1, 10), SYMMETRIC)
        arguments = np.concatenate([np.linalg.eigvalsh(tensors).ravel(), s[positive]])
        effort = A @ s
        return _Step(T @ s, tensors, arguments, float(effort @ effort), weight)


class _Point(NamedTuple):
    """Iterate of the solver: parameters (p,), and pseudo-inertias of the bodies.

    The pseudo-inertias are given by their Cholesky factors (count, 4, 4).
    """

    theta: FloatArray
    factors: FloatArray

    def after(self, step: _Step, length: float) -> _Point:
        """Return the iterate after the fraction `length` of a Newton step."""
        theta = self.theta + length * step.change
        factors = self.factors @ np.linalg.cholesky(np.eye(4) + length * step.tensors)
        # by the factors: a sum would lose moments much smaller than the largest
        own = of_pseudo_inertias(factors @ factors.swapaxes(1, 2)).ravel()
        theta[: own.size] = own
        return _Point(theta, factors)


class _Step(NamedTuple):
    """Newton step of the parameters and of the bodies' pseudo-inertias.

    Attributes:
        change: (p,) change of the parameters.
        tensors: (count, 4, 4) relative changes S: a pseudo-inertia L L' becomes L (1 + S) L'.
        arguments: arguments of the barriers: eigenvalues of S, and relative changes of positive
            parameters.
        curvature: second derivative along the step of the misfit to the observations.
        weight: weight of the prior.
    """

    change: FloatArray
    tensors: FloatArray
    arguments: FloatArray
    curvature: float
    weight: float

    @property
    def decrement(self) -> float:
        """Squared Newton decrement: twice the predicted decrease of the objective."""
        return self.curvature + self.weight * float(self.arguments @ self.arguments)

    def length(self) -> float:
        """Find the fraction of the Newton step, at most 1, that minimizes the objective.

        The step ends before a pseudo-inertia becomes singular.
        """
        high = min(1.0, NEAREST / max(-float(self.arguments.min(initial=0.0)), 1e-300))
        if self._slope(high) <= FLAT * self.decrement:
            return high
        return bisect(lambda length: not self._slope(length) > 0.0, 0.0, high, HALVINGS)[0]

    def _slope(self, length: float) -> float:
        """Compute the derivative of the objective along the step, without cancellation."""
        bent = length / (1.0 + length * self.arguments) - 1.0
        return self.weight * float(self.arguments**2 @ bent) - (1.0 - length) * self.curvature


def find_consistent_parameters(program: Program, start: FloatArray) -> FloatArray:
    """Find the physically consistent parameters that explain the observations best.

    The weight of the prior falls from a value at which the prior is the minimum, and the search for
    each minimum starts at the previous one. From a distant start, Newton's method would reach
    nearly singular pseudo-inertias and need thousands of steps to leave them.

    Args:
        program: problem to solve.
        start: (p,) initial free parameters; bodies and positive parameters start at their prior
            values.

    Returns:
        Parameters (p,), in the order of the columns of `program.N`.

    Raises:
        NoSolution: the minimum was not reached.
    """
    theta = np.array(start)
    theta[: 10 * len(program.bodies)] = of_pseudo_inertias(program.bodies).ravel()
    theta[list(program.positive)] = program.values
    point = _Point(theta, np.asarray(np.linalg.cholesky(program.bodies), dtype=np.float64))
    weight = GAMMA
    while np.abs(program.newton_step(point, weight).arguments).max(initial=0.0) > PRIOR_TOLERANCE:
        weight *= FALL
    while True:
        last = weight <= GAMMA
        enough = CONVERGED if last else ROUGH_TOLERANCE * weight
        for _ in range(STEPS):
            step = program.newton_step(point, weight)
            point = point.after(step, step.length())
            if step.decrement < enough:
                break
        else:
            left = float(np.sqrt(step.decrement))
            raise NoSolution(
                f"the bodies' parameters did not converge in {STEPS} steps: they are {left:.2g} "
                "standard deviations from the optimum; add a recording with richer motion, or "
                "start from a model with more plausible inertias",
                value=left,
                residual=left,
            )
        if last:
            return point.theta
        weight = max(weight / FALL, GAMMA)


def project(fit: Fit) -> tuple[FloatArray, list[tuple[FrictionTerm, ...]]]:
    """Compute physically consistent parameters and friction coefficients from a fit.

    Viscous and Coulomb friction are not negative in either direction if there are no other terms.
    An offset is near zero if the recordings cannot distinguish it from weight, as for a platform
    that moves little.

    Returns:
        Parameters (p,) of bodies, rotors and dampers, in the order of `Columns.names`, and the
        friction terms of each motor with coefficients and standard deviations.
    """
    columns, solution, terms = fit.regression.columns, fit.solution, fit.terms
    m, matrix = columns.mechanism, fit.regression.base.matrix
    deviations = fit.deviations[len(matrix) :]
    b, p = matrix.shape
    count = len(fit.coefficients)
    own, spare = _friction_variables(terms)
    T = np.zeros((b + count, p + count))
    T[:b, :p] = matrix
    T[b:, p:] = own
    rows = columns.given[: 10 * columns.bodies].reshape(-1, 10)
    normal = solution.N.copy()
    lever = np.array([m.size if unit == "rad" else 1.0 for unit in m.drives.units])
    bodies = nearest_physical_bodies(
        rows, m.size, float((solution.spread / lever).max()) / STANDARD_GRAVITY
    )
    positive = list(columns.positive)
    typical = columns.typical(of_pseudo_inertias(bodies)).tolist()
    start = np.linalg.solve(own, fit.coefficients)
    for k, (j, term) in enumerate((j, term) for j, own in enumerate(terms) for term in own):
        if term.kind == OFFSET:
            normal[b + k, b + k] += (OFFSETS * solution.spread[j]) ** -2
        plain = {other.kind for other in terms[j]} <= {*PLAIN, OFFSET, *RIPPLE, *RUBBING}
        if k in spare or (term.kind in PLAIN and plain):
            positive.append(p + k)
            typical.append(max(abs(start[k]), deviations[k], 1e-9))
    N, c = T.T @ normal @ T, T.T @ solution.c
    program = Program(N, c, bodies, positive, np.array(typical))
    found = find_consistent_parameters(program, np.concatenate([columns.given, start]))
    values = zip((own @ found[p:]).tolist(), deviations.tolist(), strict=True)
    return found[:p], [tuple(FrictionTerm(term, *next(values)) for term in own) for own in terms]


def _friction_variables(terms: Sequence[Sequence[Term]]) -> tuple[FloatArray, set[int]]:
    """Return the linear map from simply bounded variables to friction coefficients.

    Coulomb friction and an offset are expressed by the friction forward and the friction backward,
    both nonnegative. Otherwise the offset could exceed the Coulomb friction and absorb part of
    the weight.

    Returns:
        Matrix (k, k) from variables to coefficients, and indices of nonnegative variables.
    """
    count = sum(len(own) for own in terms)
    out, positive, first = np.eye(count), set(), 0
    for own in terms:
        kinds = [term.kind for term in own]
        if COULOMB in kinds and OFFSET in kinds:
            at, offset = first + kinds.index(COULOMB), first + kinds.index(OFFSET)
            # at high speed, terms that increase smoothly from rest act as dry friction, too
            for k, kind in enumerate(kinds, start=first):
                if kind in (SMOOTH, WIND_UP):
                    out[at, k] = -1.0
            out[at, at] = out[at, offset] = out[offset, at] = 0.5
            out[offset, offset] = -0.5
            positive |= {at, offset}
        first += len(own)
    return out, positive


def identified_mechanism(
    fit: Fit, theta: FloatArray, friction: Sequence[Sequence[FrictionTerm]]
) -> tuple[Mechanism, list[str]]:
    """Create the mechanism with the identified parameters and friction.

    Args:
        fit: fit of the recordings.
        theta: (p,) physical parameters.
        friction: friction terms of each motor.

    Returns:
        The mechanism, and remarks on results that a description of it cannot contain.
    """
    from scipy.optimize import nnls  # slow to import

    regression = fit.regression
    columns, motors, stretches = regression.columns, regression.motors, regression.stretches
    m = columns.mechanism
    parameters, notes = m.parameters, []
    values = np.array(parameters.values)
    values[list(columns.own)] = theta[: len(columns.own)]
    places = {name: k for k, name in enumerate(parameters.names)}
    parts = []
    for samples in stretches:
        rows = slice(None, None, max(1, len(samples.time) // 1000))
        load = regression.efforts(samples, fit.loaded)
        rubbing = friction_efforts(motors, samples, friction, load)[rows]
        rates = np.abs(samples.joints.velocities[rows])
        parts.append((m.regressor(*samples.motion_at(rows)), rubbing, rates))
    Y, rubbing, rates = map(np.concatenate, zip(*parts, strict=True))
    for j, joint in enumerate(m.joint_names):
        if not regression.moves[j]:
            continue  # a motor at rest keeps its given friction
        own = [places[f"{joint}.{part}"] for part in OF_FRICTION if f"{joint}.{part}" in places]
        # at starts and reversals noise determines the direction of friction
        clear = rates[:, j] > MOVING_RATE * rates[:, j].max()
        target = rubbing[clear, j]
        found, left = nnls(Y[clear, j][:, own], target)
        values[own] = found
        size = float(np.linalg.norm(target))
        if left > 0.1 * size > 0.0:
            names = ", ".join(item.term.name for item in friction[j])
            notes.append(
                f"{joint}: model files describe viscous and Coulomb friction only, so "
                f"{left / size:.0%} of its friction ({names}) is left out; `predict` and "
                "`validate` include all of it"
            )
    if motors.coupled:
        names = ", ".join(motors.names[i] for i in motors.coupled)
        notes.append(
            f"{names}: a model file cannot contain coupled motors; "
            "`predict` and `validate` include them"
        )
    return with_parameters(m, values), notes
