# SPDX-License-Identifier: Apache-2.0

"""Friction models of a driven joint: terms that are linear in one coefficient each.

The first terms are those of a mechanism's description: viscous, Coulomb, the excess of static over
Coulomb friction at low velocities (Hess and Soom, 1990), and an offset, which is
direction-dependent Coulomb friction. Gears have further effects: friction that sets in smoothly, or
only after teeth and flexspline have wound up (a stop of some width, as in Prandtl's model), that
grows less than the velocity, that grows with the load, and that varies over a turn of the motor
(`ripple`). Such terms predict efforts, but a description cannot contain them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from robodyn.arrays import BoolArray, FloatArray
from robodyn.identification.motors import Motors
from robodyn.identification.samples import Samples

VISCOUS, COULOMB, OFFSET, STRIBECK = "viscous", "coulomb", "offset", "stribeck"
SMOOTH, WIND_UP, ROOT, SQUARE, LOAD = "smooth", "wind-up", "root", "square", "load"
# Terms periodic in the position, as an effort and as a factor on dry friction; by a wavenumber.
RIPPLE = ("ripple cosine", "ripple sine")
RUBBING = ("rubbing cosine", "rubbing sine")
# Rates and travels of nonlinear candidate terms, relative to the largest in the recordings.
STRIBECK_RATES = (0.02, 0.05, 0.1, 0.2, 0.4)
SMOOTH_RATES = (0.02, 0.05, 0.1, 0.2)
STOPS = (1e-4, 3e-4, 7e-4, 1.5e-3, 3e-3, 1e-2)
# Periods of dry friction per turn of the gear's output that are tried: an eccentric bearing, seal
# or gear ring rubs once a turn, an oval or squeezed one twice.
OUT_OF_ROUND = (1.0, 2.0)
# Rate, in standard deviations of its noise, above which a joint moves.
MOVING_RATE = 10.0
# Width of the transition between directions in predictions, relative to the noise: a fit uses the
# mean over the noise, a prediction the likelier direction.
TRANSITION_WIDTH = 0.1
# Least fraction of a period within the travel: with less, extrapolation is unreliable.
LEAST_WAVE_FRACTION = 0.5

# Terms that may replace Coulomb friction.
LIKE_COULOMB = (SMOOTH, WIND_UP)
# Rates, relative to the terms' own, at which dry friction must not drive, and the tolerance.
TESTED_RATES, DRIVING_TOLERANCE = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0), 0.02

Friction = Literal["viscous", "coulomb", "offset", "none", "described", "auto"]
KINDS = {
    "viscous": (VISCOUS,),
    "coulomb": (VISCOUS, COULOMB),
    "offset": (VISCOUS, COULOMB, OFFSET),
    "none": (),
    "described": (VISCOUS, COULOMB, OFFSET),
    "auto": (VISCOUS, COULOMB, OFFSET),
}
# Candidates in addition to these terms.
CHOICES = {
    "described": (STRIBECK,),
    "auto": (STRIBECK, SMOOTH, WIND_UP, ROOT, SQUARE, *RUBBING, LOAD),
}


@dataclass(frozen=True)
class Term:
    """Friction term of one joint.

    Attributes:
        kind: one of the names that this module defines, such as `viscous`.
        scale: rate [m/s or rad/s], travel [m or rad] or wavenumber [1/m or 1/rad] that the kind
            requires; else 0.
    """

    kind: str
    scale: float = 0.0

    @property
    def name(self) -> str:
        """Name of the term, used in tables and as a key."""
        return f"{self.kind} {self.scale:.3g}" if self.scale else self.kind


class FrictionTerm(NamedTuple):
    """Friction term of a joint, its coefficient and the coefficient's standard deviation."""

    term: Term
    coefficient: float
    deviation: float


def prandtl_deflection(position: FloatArray, width: float) -> FloatArray:
    """Compute the deflection of a spring in series with a friction contact.

    The spring follows the motion, and the contact slips when the deflection reaches `width`
    (Prandtl's model).

    Args:
        position: (K,) positions [m or rad] of the motor over time.
        width: [m or rad] largest deflection.

    Returns:
        Deflections (K,) divided by `width`, between -1 and 1; 0 at the first position.
    """
    out = np.empty_like(position)
    wound, last = 0.0, float(position[0])
    for k, at in enumerate(position.tolist()):
        wound = min(max(wound + at - last, -width), width)
        out[k], last = wound, at
    return np.asarray(out / width)


class _Motion(NamedTuple):
    """Arguments of the friction laws: motion and load of one motor at K samples.

    `sense` is the direction of motion, -1 to 1; it fades to 0 at speeds within the velocity noise.
    """

    position: FloatArray
    rate: FloatArray
    sense: FloatArray
    load: FloatArray


# Friction (K,) for a coefficient of 1, by the kind and scale of a term.
LAWS: dict[str, Callable[[_Motion, float], FloatArray]] = {
    VISCOUS: lambda at, _: at.rate,
    COULOMB: lambda at, _: at.sense,
    OFFSET: lambda at, _: np.ones_like(at.rate),
    STRIBECK: lambda at, rate: at.sense / (1.0 + (at.rate / rate) ** 2),
    SMOOTH: lambda at, rate: np.tanh(at.rate / rate),
    WIND_UP: lambda at, width: prandtl_deflection(at.position, width),
    ROOT: lambda at, _: at.sense * np.sqrt(np.abs(at.rate)),
    SQUARE: lambda at, _: at.rate * np.abs(at.rate),
    LOAD: lambda at, _: at.sense * np.abs(at.load),
    RIPPLE[0]: lambda at, wave: np.cos(wave * at.position),
    RIPPLE[1]: lambda at, wave: np.sin(wave * at.position),
    RUBBING[0]: lambda at, wave: at.sense * np.cos(wave * at.position),
    RUBBING[1]: lambda at, wave: at.sense * np.sin(wave * at.position),
}


def dissipates(terms: Sequence[Term], coefficients: FloatArray) -> bool:
    """Return whether the sum of a motor's dry friction terms opposes its motion.

    `coefficients` (k,) are those of the k `terms`. The sum must oppose the motion at every rate,
    also when the spring of Prandtl's model is fully deflected. Without this condition, large terms
    that cancel each other would fit the noise of rates, and predict badly.
    """
    scales = [term.scale for term in terms if term.kind in (STRIBECK, SMOOTH)]
    rates = np.append(np.outer(scales, TESTED_RATES).ravel(), 0.0)
    ones = np.ones_like(rates)
    dry = _Motion(0.0 * ones, rates, ones, 0.0 * ones)
    total = np.zeros_like(rates)
    for term, coefficient in zip(terms, coefficients.tolist(), strict=True):
        if term.kind in (SMOOTH, WIND_UP, ROOT, SQUARE) and coefficient < 0.0:
            return False
        if term.kind == WIND_UP:
            total += coefficient
        elif term.kind in (COULOMB, STRIBECK, SMOOTH):
            total += coefficient * LAWS[term.kind](dry, term.scale)
    return bool((total >= -DRIVING_TOLERANCE * np.abs(total).max()).all())


def candidates(choice: str, top_rate: float, travel: float, turn: float) -> tuple[Term, ...]:
    """List the friction terms of one motor from which cross-validation selects.

    Args:
        choice: a key of `CHOICES`.
        top_rate: [m/s or rad/s] largest rate of the motor, in the units of its joint.
        travel: [m or rad] range of the motor's motion in the recordings.
        turn: motion of the motor, in the units of its joint, per radian of its gear's output; 0 if
            the output does not turn.

    Returns:
        Candidate terms.
    """
    scales = {
        STRIBECK: tuple(part * top_rate for part in STRIBECK_RATES),
        SMOOTH: tuple(part * top_rate for part in SMOOTH_RATES),
        WIND_UP: tuple(part * travel for part in STOPS),
    }
    waves = [waves / turn for waves in OUT_OF_ROUND] if turn else []
    waves = [wave for wave in waves if wave * travel >= 2.0 * np.pi * LEAST_WAVE_FRACTION]
    scales |= dict.fromkeys(RUBBING, tuple(waves))
    return tuple(
        Term(kind, scale) for kind in CHOICES.get(choice, ()) for scale in scales.get(kind, (0.0,))
    )


def friction_columns(
    samples: Samples,
    terms: Sequence[Term],
    turns: FloatArray,
    load: FloatArray | None = None,
    sharp: float = 1.0,
) -> FloatArray:
    """Compute a motor's unfiltered friction per unit of each friction coefficient.

    Args:
        samples: K samples of the motion.
        terms: terms of the motor's friction.
        turns: (n,) motion of the motor per unit of motion of each joint.
        load: (K,) [N or N m] effort of the motor without friction, for load-dependent friction; 0
            by default.
        sharp: factor on the noise of rates within which the direction of motion is uncertain.

    Returns:
        Matrix (K, k) of motor efforts at the K samples: a column for each of the k terms.
    """
    if not terms:
        return np.zeros((len(samples.time), 0))
    at, own = samples.joints.positions @ turns, samples.joints.velocities @ turns
    dead = float(np.linalg.norm(samples.filters.dead_rates * turns))
    # the direction is known even during a slow reversal
    still = samples.rest_mask(at[:, None])[:, 0] & (np.abs(own) < MOVING_RATE * dead)
    count = round(samples.frequency / samples.filters.effort)
    rate = extend_at_rest(own, still, 3.0 * dead, count)
    # at rest a rate is noise, and so is its sign
    fades = np.where(still, dead, sharp * dead)
    load = np.zeros(len(at)) if load is None else load
    motion = _Motion(at, rate, np.tanh(rate / fades), load)
    return np.stack([LAWS[term.kind](motion, term.scale) for term in terms], axis=-1)


def friction_efforts(
    motors: Motors,
    samples: Samples,
    friction: Sequence[Sequence[FrictionTerm]],
    load: FloatArray,
) -> FloatArray:
    """Compute the unfiltered joint efforts due to the motors' friction.

    Args:
        motors: coupling between motors and joints.
        samples: K samples of the motion.
        friction: friction terms of each motor, with their coefficients.
        load: (K, n) [N or N m] joint efforts without friction, for load-dependent friction.

    Returns:
        Joint efforts (K, n) [N or N m].
    """
    load = motors.efforts(load)
    found = []
    for own, turns, efforts in zip(friction, motors.turns, load.T, strict=True):
        terms = [item.term for item in own]
        factors = np.array([item.coefficient for item in own])
        found.append(friction_columns(samples, terms, turns, efforts, TRANSITION_WIDTH) @ factors)
    return motors.to_joint_efforts(np.stack(found, axis=-1))


def extend_at_rest(rate: FloatArray, still: BoolArray, slowest: float, count: int) -> FloatArray:
    """Set the rates of a motor during the first and last samples of each rest.

    `rate` (K,) are the measured rates, and `still` (K,) marks the samples at rest. The `count`
    samples of rest before and after each motion get the rate `slowest` in the direction of that
    motion. Dry friction does not vanish when motion ends; the filters would smear a gap over
    samples of motion.

    Returns:
        A copy of the rates (K,) [m/s or rad/s] with these changes.
    """
    out: FloatArray = rate.copy()
    edges = np.flatnonzero(np.diff(still.astype(np.int8)))
    for last in edges.tolist():
        # after motion that ends here, or before motion that starts
        ends = bool(still[last + 1])
        moved = float(rate[last] if ends else rate[last + 1])
        rows = (
            slice(last + 1, last + 1 + count) if ends else slice(max(0, last + 1 - count), last + 1)
        )
        out[rows] = np.where(still[rows], np.sign(moved) * slowest, out[rows])
    return out
