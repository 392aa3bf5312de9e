# SPDX-License-Identifier: Apache-2.0

"""Models of friction at a driven joint: terms that are linear in a coefficient each.

The first terms are those of a mechanism's description: viscous, Coulomb, the difference between
Coulomb and static friction at low velocities (Hess and Soom, 1990), and an offset, which is Coulomb
friction that depends on the direction. Gears have further effects: friction sets in smoothly or
only after the teeth and the flexspline have wound up (a stop of some width, as in Prandtl's model),
grows less than the velocity, grows with the load, and varies over a turn of the motor (`ripple`).
Such terms predict efforts, but a description cannot contain them.
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
# What repeats with the position, as it is, and as a part of dry friction; by a wave number.
RIPPLE = ("ripple cosine", "ripple sine")
RUBBING = ("rubbing cosine", "rubbing sine")
# Rates and travels at which nonlinear terms are tried, in parts of the largest in the recordings.
STRIBECK_RATES = (0.02, 0.05, 0.1, 0.2, 0.4)
SMOOTH_RATES = (0.02, 0.05, 0.1, 0.2)
STOPS = (1e-4, 3e-4, 7e-4, 1.5e-3, 3e-3, 1e-2)
# Waves in a turn of the gear's output at which dry friction is tried: a bearing, a seal or a gear's
# ring that is out of center rubs once a turn, one that is oval or squeezed twice.
OUT_OF_ROUND = (1.0, 2.0)
# Rates beyond so many deviations of their noise are motion, however slow.
MOVES = 10.0
# In parts of these deviations, what it takes for a predicted effort to have the sense of a rate: a
# fit takes the mean over the noise, a prediction the likelier sense.
SHARP = 0.1
# Of a wave the travel has to show this part: what is fitted to less is wild beyond.
SEEN = 0.5

# What may take the place of Coulomb friction.
LIKE_COULOMB = (SMOOTH, WIND_UP)
# Rates, in parts of the terms' own, at which dry friction must not drive, beyond this share of it.
TESTED, FORWARD = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0), 0.02

Friction = Literal["viscous", "coulomb", "offset", "none", "described", "auto"]
KINDS = {
    "viscous": (VISCOUS,),
    "coulomb": (VISCOUS, COULOMB),
    "offset": (VISCOUS, COULOMB, OFFSET),
    "none": (),
    "described": (VISCOUS, COULOMB, OFFSET),
    "auto": (VISCOUS, COULOMB, OFFSET),
}
# What is tried beyond these.
CHOICES = {
    "described": (STRIBECK,),
    "auto": (STRIBECK, SMOOTH, WIND_UP, ROOT, SQUARE, *RUBBING, LOAD),
}


@dataclass(frozen=True)
class Term:
    """A term of friction at one joint.

    Attributes:
        kind: of this module's names.
        scale: the rate [m/s or rad/s], travel [m or rad] or wave number [1/m or 1/rad] that the
            kind asks for; else 0.
    """

    kind: str
    scale: float = 0.0

    @property
    def name(self) -> str:
        """For tables and keys."""
        return f"{self.kind} {self.scale:.3g}" if self.scale else self.kind


class FrictionTerm(NamedTuple):
    """A term of friction of a joint, its coefficient and the coefficient's standard deviation."""

    term: Term
    coefficient: float
    deviation: float


def stop(position: FloatArray, width: float) -> FloatArray:
    """(K,) of -1 to 1: a spring that slips when it is wound up by a width, in parts of it."""
    out = np.empty_like(position)
    wound, last = 0.0, float(position[0])
    for k, at in enumerate(position.tolist()):
        wound = min(max(wound + at - last, -width), width)
        out[k], last = wound, at
    return np.asarray(out / width)


class _Motion(NamedTuple):
    """Arguments of friction, (K,) each; the direction of motion is -1 to 1, 0 within its noise."""

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
    WIND_UP: lambda at, width: stop(at.position, width),
    ROOT: lambda at, _: at.sense * np.sqrt(np.abs(at.rate)),
    SQUARE: lambda at, _: at.rate * np.abs(at.rate),
    LOAD: lambda at, _: at.sense * np.abs(at.load),
    RIPPLE[0]: lambda at, wave: np.cos(wave * at.position),
    RIPPLE[1]: lambda at, wave: np.sin(wave * at.position),
    RUBBING[0]: lambda at, wave: at.sense * np.cos(wave * at.position),
    RUBBING[1]: lambda at, wave: at.sense * np.sin(wave * at.position),
}


def dissipates(terms: Sequence[Term], coefficients: FloatArray) -> bool:
    """Whether dry friction of these terms opposes motion at every rate, and wound up.

    Large terms that cancel each other fit the noise of rates, and predict badly.
    """
    scales = [term.scale for term in terms if term.kind in (STRIBECK, SMOOTH)]
    rates = np.append(np.outer(scales, TESTED).ravel(), 0.0)
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
    return bool((total >= -FORWARD * np.abs(total).max()).all())


def candidates(choice: str, top_rate: float, travel: float, turn: float) -> tuple[Term, ...]:
    """Terms that are tried.

    Args:
        choice: a key of `CHOICES`.
        top_rate: [m/s or rad/s] largest rate of the motor, in the units of its joint.
        travel: [m or rad] of the same.
        turn: [rad] of the same in a turn of its gear's output over 2 pi; 0 if nothing turns there.
    """
    scales = {
        STRIBECK: tuple(part * top_rate for part in STRIBECK_RATES),
        SMOOTH: tuple(part * top_rate for part in SMOOTH_RATES),
        WIND_UP: tuple(part * travel for part in STOPS),
    }
    waves = [waves / turn for waves in OUT_OF_ROUND] if turn else []
    waves = [wave for wave in waves if wave * travel >= 2.0 * np.pi * SEEN]
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
    """(K, k) of terms at a motor that turns with joints so far (n,), not filtered.

    Args:
        samples: of the motion.
        terms: of the motor's friction.
        turns: (n,) motion of the motor for a unit of each joint's.
        load: (K,) effort of the motor that the bodies need, for friction that grows with it.
        sharp: part of the noise of rates within which the sense of motion is unsure.
    """
    if not terms:
        return np.zeros((len(samples.time), 0))
    at, own = samples.joints.positions @ turns, samples.joints.velocities @ turns
    dead = float(np.linalg.norm(samples.filters.dead_rates * turns))
    # where motion turns round slowly its sense is known all the same
    still = samples.at_rest(at[:, None])[:, 0] & (np.abs(own) < MOVES * dead)
    count = round(samples.frequency / samples.filters.effort)
    rate = held(own, still, 3.0 * dead, count)
    # at rest a rate is all noise, and its sense says nothing
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
    """(K, n) efforts of joints by their motors' friction, not filtered; loads (K, n) of joints."""
    load = motors.efforts(load)
    found = []
    for own, turns, efforts in zip(friction, motors.turns, load.T, strict=True):
        terms = [item.term for item in own]
        factors = np.array([item.coefficient for item in own])
        found.append(friction_columns(samples, terms, turns, efforts, SHARP) @ factors)
    return motors.at_joints(np.stack(found, axis=-1))


def held(rate: FloatArray, still: BoolArray, slowest: float, count: int) -> FloatArray:
    """Rates (K,), where still those of the nearest motion within `count` samples, slowed down.

    Dry friction does not vanish when motion ends; what vanished would be smeared by the filters
    over samples of motion.
    """
    out: FloatArray = rate.copy()
    edges = np.flatnonzero(np.diff(still.astype(np.int8)))
    for last in edges.tolist():
        # after motion that ends here, or before motion that begins
        ends = bool(still[last + 1])
        moved = float(rate[last] if ends else rate[last + 1])
        rows = (
            slice(last + 1, last + 1 + count) if ends else slice(max(0, last + 1 - count), last + 1)
        )
        out[rows] = np.where(still[rows], np.sign(moved) * slowest, out[rows])
    return out
