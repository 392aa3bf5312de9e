# SPDX-License-Identifier: Apache-2.0

"""Parameters that bodies can have, near a given model where the data say nothing.

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

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.identification.solving import scaling
from robodyn.mechanisms.common.body_parameters import of_pseudo_inertias, pseudo_inertias

# Weight of the given model, in observations: it decides only what these do not.
GAMMA = 0.1
STEPS = 60
# A model whose bodies have less than this of what efforts could carry has no masses to go by.
NO_MASS = 1e-4
# Pseudo-inertias of the ten parameters, one each: J is linear in them.
BASIS = pseudo_inertias(np.eye(10))


@dataclass(frozen=True)
class Priors:
    """The given model, made physical.

    Attributes:
        bodies: (count, 4, 4) pseudo-inertias, positive definite; of the first columns, ten each.
        positive: columns of numbers that must be positive.
        values: (len(positive),) what they are taken to be.
    """

    bodies: FloatArray
    positive: Sequence[int]
    values: FloatArray


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
    J = pseudo_inertias(bodies)
    length = 0.05 * size
    out = np.empty_like(J)
    for k, own in enumerate(J):
        mass = max(bodies[k, 0], 0.02 * mean)
        values, vectors = np.linalg.eigh(own / np.outer(_units(length), _units(length)))
        lowest = 2e-2 * mass
        clipped = (vectors * np.maximum(values, lowest)) @ vectors.T
        out[k] = clipped * np.outer(_units(length), _units(length))
    return out


def _units(length: float) -> FloatArray:
    return np.array([length, length, length, 1.0])


@dataclass(frozen=True)
class _Programme:
    """What is made least, and its derivatives.

    Attributes:
        N, c: (p, p) and (p,) normal equations in units of the observations' noise.
        priors: of the first columns and of the positive ones; other columns are free.
        inverse: (count, 4, 4) of the bodies' pseudo-inertias in the given model.
    """

    N: FloatArray
    c: FloatArray
    priors: Priors
    inverse: FloatArray

    def bodies(self, theta: FloatArray) -> FloatArray:
        """(count, 4, 4) pseudo-inertias of parameters (p,)."""
        return pseudo_inertias(theta[: 10 * len(self.inverse)].reshape(-1, 10))

    def value(self, theta: FloatArray, weight: float) -> float:
        """At parameters (p,), with a weight of the priors; infinite beyond the barrier."""
        positive = theta[list(self.priors.positive)]
        if (positive <= 0.0).any():
            return np.inf
        J = self.bodies(theta)
        try:
            factors = np.linalg.cholesky(J)
        except np.linalg.LinAlgError:
            return np.inf
        logs = 2.0 * np.log(np.einsum("bii->bi", factors)).sum()
        ratios = positive / self.priors.values
        divergence = np.einsum("bij,bji->", self.inverse, J) - logs
        divergence = divergence + (ratios - np.log(ratios)).sum()
        return float(0.5 * theta @ self.N @ theta - self.c @ theta + weight * divergence)

    def derivatives(self, theta: FloatArray, weight: float) -> tuple[FloatArray, FloatArray]:
        """Gradient (p,) and Hessian (p, p) there."""
        gradient, H = self.N @ theta - self.c, self.N.copy()
        J = np.linalg.inv(self.bodies(theta))
        for k, (at, prior) in enumerate(zip(J, self.inverse, strict=True)):
            rows = slice(10 * k, 10 * k + 10)
            gradient[rows] += weight * np.einsum("pij,ji->p", BASIS, prior - at)
            half = at @ BASIS
            H[rows, rows] += weight * np.einsum("pij,qji->pq", half, half)
        for column, value in zip(self.priors.positive, self.priors.values, strict=True):
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


def consistent(N: FloatArray, c: FloatArray, priors: Priors, start: FloatArray) -> FloatArray:
    """The parameters (p,), from those of `start` (p,), whose bodies' entries are not used.

    Args:
        N: (p, p) normal matrix in units of the observations' noise.
        c: (p,) right side.
        priors: of the first columns and of the positive ones; other columns are free.
        start: (p,) where to begin the others.
    """
    theta = np.array(start)
    theta[: 10 * len(priors.bodies)] = of_pseudo_inertias(priors.bodies).ravel()
    theta[list(priors.positive)] = priors.values
    programme = _Programme(N, c, priors, np.asarray(np.linalg.inv(priors.bodies)))
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
