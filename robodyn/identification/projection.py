# SPDX-License-Identifier: Apache-2.0

"""Parameters that bodies can have, near a given model where the data say nothing, as a mechanism.

Of all parameters whose pseudo-inertias are positive definite, those of least

    (1/2) theta' N theta - c' theta  +  gamma sum_b D(J_b | J_b0)

with the normal equations N, c of weighted least squares and the entropic divergence from the given
model, D = tr(J0^-1 J) - log det(J0^-1 J) - 4 (Lee, Wensing and Park, 2020). It is a barrier, too,
so that the problem is convex without constraints; Newton's method solves it. Rotors' inertias and
coefficients of friction that must not be negative are bodies of one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robodyn.arrays import FloatArray
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
from robodyn.mechanisms.common.body_parameters import of_pseudo_inertias, pseudo_inertias
from robodyn.mechanisms.mechanism import Mechanism

# Weight of the given model, in observations: it decides only what these do not.
GAMMA = 0.1
STEPS = 60
# A model whose bodies have less than this of what efforts could carry has no masses to go by.
NO_MASS = 1e-4
# Pseudo-inertias of the ten parameters, one each: J is linear in them.
BASIS = pseudo_inertias(np.eye(10))
STANDARD_GRAVITY = 9.81
# Parts of its largest rate at which a joint surely moves.
CLEARLY = 0.01
PLAIN = (VISCOUS, COULOMB)
# An offset is this small a part of the efforts' standard deviation, as far as nothing else is seen.
OFFSETS = 0.05


def made_physical(bodies: FloatArray, size: float, carried: float) -> FloatArray:
    """Pseudo-inertias (count, 4, 4) near those of parameters (count, 10), positive definite.

    Args:
        bodies: parameters of the model; papers' tensors and URDFs are often those of no body.
        size: [m] of the mechanism, by which a body without extent is given some.
        carried: [kg] what the efforts could carry: of this mass the bodies are where the model has
            hardly any, as a URDF without inertias.
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
class Programme:
    """What is made least, and its derivatives.

    Attributes:
        N: (p, p) normal matrix in units of the observations' noise.
        c: (p,) right side.
        bodies: (count, 4, 4) pseudo-inertias of the given model, made physical; of the first
            columns, ten each.
        positive: columns of numbers that must be positive; the rest are free.
        values: (len(positive),) what they are taken to be.
    """

    N: FloatArray
    c: FloatArray
    bodies: FloatArray
    positive: Sequence[int]
    values: FloatArray

    @cached_property
    def inverse(self) -> FloatArray:
        """(count, 4, 4) of the bodies' pseudo-inertias."""
        return np.asarray(np.linalg.inv(self.bodies))

    def inertias(self, theta: FloatArray) -> FloatArray:
        """(count, 4, 4) pseudo-inertias of parameters (p,)."""
        return pseudo_inertias(theta[: 10 * len(self.bodies)].reshape(-1, 10))

    def value(self, theta: FloatArray, weight: float) -> float:
        """At parameters (p,), with a weight of the priors; infinite beyond the barrier."""
        positive = theta[list(self.positive)]
        if (positive <= 0.0).any():
            return np.inf
        J = self.inertias(theta)
        try:
            factors = np.linalg.cholesky(J)
        except np.linalg.LinAlgError:
            return np.inf
        logs = 2.0 * np.log(np.einsum("bii->bi", factors)).sum()
        ratios = positive / self.values
        divergence = np.einsum("bij,bji->", self.inverse, J) - logs
        divergence = divergence + (ratios - np.log(ratios)).sum()
        return float(0.5 * theta @ self.N @ theta - self.c @ theta + weight * divergence)

    def derivatives(self, theta: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
        """Gradient (p,) and Hessian (p, p) there."""
        gradient, H = self.N @ theta - self.c, self.N.copy()
        J = np.linalg.inv(self.inertias(theta))
        for k, (at, prior) in enumerate(zip(J, self.inverse, strict=True)):
            rows = slice(10 * k, 10 * k + 10)
            gradient[rows] += weight * np.einsum("pij,ji->p", BASIS, prior - at)
            half = at @ BASIS
            H[rows, rows] += weight * np.einsum("pij,qji->pq", half, half)
        for column, value in zip(self.positive, self.values, strict=True):
            gradient[column] += weight * (1.0 / value - 1.0 / theta[column])
            H[column, column] += weight / theta[column] ** 2
        return gradient, H

    def step(self, theta: FloatArray, weight: float) -> tuple[FloatArray, float]:
        """Newton's step (p,) from there, and the decrease that it promises."""
        gradient, H = self.derivatives(theta, weight)
        scale = scaling(H)
        scaled = H * np.outer(scale, scale)
        scaled[np.diag_indices_from(scaled)] += 1e-12
        step = -scale * np.linalg.solve(scaled, scale * gradient)
        return step, -float(gradient @ step)


def consistent(programme: Programme, start: FloatArray) -> FloatArray:
    """The parameters (p,), from those of `start` (p,); bodies and positives begin at the priors."""
    theta = np.array(start)
    theta[: 10 * len(programme.bodies)] = of_pseudo_inertias(programme.bodies).ravel()
    theta[list(programme.positive)] = programme.values
    for weight in (1e4 * GAMMA, 1e2 * GAMMA, GAMMA):
        for _ in range(STEPS):
            step, decrement = programme.step(theta, weight)
            now, length = programme.value(theta, weight), 1.0
            while length > 1e-12:
                if programme.value(theta + length * step, weight) <= now - 0.1 * length * decrement:
                    break
                length *= 0.5
            else:
                break
            theta = theta + length * step
            if decrement < 1e-9:
                break
    return theta


def project(fit: Fit) -> tuple[FloatArray, list[tuple[FrictionTerm, ...]]]:
    """Parameters (p,) that bodies can have, and each motor's friction with them.

    Where friction is viscous and Coulomb's, neither is negative, in either direction. An offset is
    near zero where the recordings cannot tell it from weight, as it is for a platform that moves
    little.
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
    lever = np.array([m.size if unit == "rad" else 1.0 for unit in m.joint_units])
    bodies = made_physical(rows, m.size, float((solution.spread / lever).max()) / STANDARD_GRAVITY)
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
    programme = Programme(N, c, bodies, positive, np.array(typical))
    found = consistent(programme, np.concatenate([columns.given, start]))
    values = zip((own @ found[p:]).tolist(), deviations.tolist(), strict=True)
    return found[:p], [tuple(FrictionTerm(term, *next(values)) for term in own) for own in terms]


def _friction_variables(terms: Sequence[Sequence[Term]]) -> tuple[FloatArray, set[int]]:
    """Coefficients (k, k) of friction for variables of it, and which of these are not negative.

    Coulomb friction and an offset are friction forward and backward, and neither drives the motor:
    what a description could not carry would else be found at the expense of weight.
    """
    count = sum(len(own) for own in terms)
    out, positive, first = np.eye(count), set(), 0
    for own in terms:
        kinds = [term.kind for term in own]
        if COULOMB in kinds and OFFSET in kinds:
            at, offset = first + kinds.index(COULOMB), first + kinds.index(OFFSET)
            # at speed terms that set in smoothly are dry friction, too
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
    """The mechanism with what was found, and what its description cannot say.

    Args:
        fit: of the recordings.
        theta: (p,) parameters that bodies can have.
        friction: of each motor.
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
    for samples, Yb in zip(stretches, regression.regressors, strict=True):
        rows = slice(None, None, max(1, len(samples.time) // 1000))
        rubbing = friction_efforts(motors, samples, friction, Yb @ fit.loaded)[rows]
        rates = np.abs(samples.joints.velocities[rows])
        parts.append((m.regressor(*samples.motion_at(rows)), rubbing, rates))
    Y, rubbing, rates = map(np.concatenate, zip(*parts, strict=True))
    for j, joint in enumerate(m.joint_names):
        if not regression.moves[j]:
            continue  # it stood still, so its friction stays as it is given
        own = [places[f"{joint}.{part}"] for part in OF_FRICTION if f"{joint}.{part}" in places]
        # where it sets out or turns round, what the sense of its friction is hangs on noise
        clear = rates[:, j] > CLEARLY * rates[:, j].max()
        target = rubbing[clear, j]
        found, left = nnls(Y[clear, j][:, own], target)
        values[own] = found
        size = float(np.linalg.norm(target))
        if left > 0.1 * size > 0.0:
            names = ", ".join(item.term.name for item in friction[j])
            notes.append(
                f"{joint}: viscous and Coulomb friction of a description leave {left / size:.0%} "
                f"of its friction ({names}) out; `predict` and `validate` have all of it"
            )
    if motors.coupled:
        names = ", ".join(motors.names[i] for i in motors.coupled)
        notes.append(f"{names}: no description has coupled motors; `predict` and `validate` do")
    return m.with_parameters(values), notes
