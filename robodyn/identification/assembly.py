# SPDX-License-Identifier: Apache-2.0

"""The equations that are solved: the columns of a mechanism, and rows of all recordings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.identification.friction import COULOMB, VISCOUS, Term
from robodyn.identification.preparation import that_move
from robodyn.identification.standstill import at_rest, held
from robodyn.mechanisms.common.parameters import OF_BODY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from robodyn.arrays import FloatArray
    from robodyn.identification.motors import Motors
    from robodyn.identification.preparation import Filters, Samples

# States for the search of base parameters, and rows of the regressor made at a time.
STATES, AT_A_TIME = 400, 4000
# Rates beyond so many deviations of their noise are motion, however slow.
MOVES = 10.0
# In parts of these deviations, what it takes for a predicted effort to have the sense of a rate: a
# fit takes the mean over the noise, a prediction the likelier sense.
SHARP = 0.1
# What is fitted of motors' friction is in `friction.py`; this is fitted of a joint's own, where its
# motor turns with other joints, too.
BEHIND = (Term(VISCOUS), Term(COULOMB))
# A description's friction of a driven joint, which is not among the columns.
OF_FRICTION = ("viscous", "coulomb_forward", "coulomb_backward", "static")


class Columns:
    """What is fitted besides the friction of driven joints.

    Attributes:
        names: of the columns; ten for each body, then rotors, passive dampers, and of each coupled
            motor its rotor and the friction of the joint behind its gear.
        given: (p,) their values in the model; 0 for what comes with coupled motors.
        own: the mechanism's parameters that they are, in the same order; the others follow.
        bodies: how many bodies are fitted.
        positive: columns of what cannot be negative.
    """

    def __init__(self, m: Any, motors: Motors, rotors: bool) -> None:
        self.mechanism, self.motors = m, motors
        parameters = m.parameters
        values, count = parameters.values, len(parameters.bodies)
        rows = values[: 10 * count].reshape(count, 10)
        weighed = rows[:, 0].any()
        # a cross of a universal joint, for instance, is modelled without mass and stays so
        bodies = [k for k in range(count) if rows[k].any() or not weighed]
        own = [10 * k + part for k in bodies for part in range(len(OF_BODY))]
        for column in range(10 * count, len(values)):
            joint, part = parameters.names[column].rsplit(".", 1)
            of_friction = joint in m.joint_names and part in OF_FRICTION
            armature = part == "armature"
            if not of_friction and (rotors if armature else values[column] > 0.0):
                own.append(column)
        self.bodies, self.own = len(bodies), tuple(own)
        extra = [
            name
            for i in motors.coupled
            for name in (
                f"{motors.names[i]}.armature",
                *(f"{m.joint_names[i]}.{term.name} behind the gear" for term in BEHIND),
            )
        ]
        self.names = (*(parameters.names[column] for column in own), *extra)
        self.given = np.concatenate([values[own], np.zeros(len(extra))])
        armatures = [n for n, name in enumerate(self.names) if name.endswith(".armature")]
        passive = range(10 * self.bodies, len(own))
        self.positive = tuple(sorted({*armatures, *passive}))

    def typical(self, bodies: FloatArray) -> FloatArray:
        """(len(positive),) what rotors and dampers are near if the data say nothing of them.

        Args:
            bodies: (count, 10) parameters that the bodies are near.
        """
        values = np.array(self.mechanism.parameters.values)
        values[list(self.own[: 10 * self.bodies])] = bodies.ravel()
        m = self.mechanism.with_parameters(values)
        inertia = np.diag(np.atleast_2d(m.mass_matrix(m.home)))
        fallback = 0.02 * float(np.median(inertia))
        values = self.given[list(self.positive)]
        return np.where(values > 0.0, values, fallback)

    def of(self, samples: Samples, filters: Filters, rows: slice | NDArray[np.int64]) -> FloatArray:
        """Y (K, n, p) of some of the samples."""
        m = self.mechanism
        motion = (samples.configuration[rows], samples.rate[rows], samples.change[rows])
        own = m.regressor(*motion)[..., list(self.own)]
        if not self.motors.coupled:
            return np.asarray(own)
        extra = []
        for i in self.motors.coupled:
            turns, joint = self.motors.turns[i], np.eye(len(m.joint_names))[i]
            extra.append((samples.acceleration[rows] @ turns)[:, None] * turns)
            nothing = np.zeros(len(samples.time))
            table = friction_columns(samples, BEHIND, joint, filters, nothing)
            extra += [column[rows, None] * joint for column in table.T]
        return np.concatenate([own, np.stack(extra, axis=-1)], axis=-1)


def some_states(columns: Columns, stretches: Sequence[Samples], filters: Filters) -> FloatArray:
    """Rows (S, p) of the regressor at states that are spread over recordings.

    Of motors that move: what only efforts at standstill would show is not seen.
    """
    total = sum(len(samples.time) for samples in stretches)
    step = max(1, total // STATES)
    found = []
    for samples in stretches:
        Y = columns.of(samples, filters, np.arange(0, len(samples.time), step))
        moves = that_move(columns.motors, [samples], filters)
        found.append(columns.motors.rows(Y)[:, moves].reshape(-1, len(columns.names)))
    return np.concatenate(found)


def base_columns(
    columns: Columns, samples: Samples, filters: Filters, kept: Sequence[int]
) -> FloatArray:
    """Y (K, n, b) of base parameters and joints' efforts, not filtered; made in parts."""
    count = len(samples.time)
    parts = [
        columns.of(samples, filters, slice(first, first + AT_A_TIME))[..., list(kept)]
        for first in range(0, count, AT_A_TIME)
    ]
    return np.concatenate(parts)


@dataclass(frozen=True)
class Equations:
    """Rows of all recordings and motors, filtered and on as few instants as they need.

    Attributes:
        A: (M, n, b) of base parameters.
        F: for each motor (M, k) of its terms of friction.
        effort: (M, n) of the motors.
        weight: (M, n) 1 for what was measured in motion, 0 for what was cut off or at rest.
        fold: (M,) of `FOLDS` parts of the recordings in time.
        time: (M,) [s].
        colour: how many rows say as much as one independent one where noise was white, for the
            filter leaves less than the rate of the rows could carry.
    """

    A: FloatArray
    F: list[FloatArray]
    effort: FloatArray
    weight: FloatArray
    fold: NDArray[np.int64]
    time: FloatArray
    colour: float


FOLDS = 5


def equations(
    motors: Motors,
    stretches: Sequence[Samples],
    bases: Sequence[FloatArray],
    terms: Sequence[Sequence[Term]],
    filters: Filters,
    loads: Sequence[FloatArray],
    per_fit: float,
    tell: Callable[[float], None] = lambda part: None,
) -> Equations:
    """The rows of stretches of recordings.

    Args:
        motors: of the mechanism.
        stretches: of the recordings.
        bases: of each, `base_columns`, filtered.
        terms: of each motor's friction.
        filters: of the fit.
        loads: of each, (K, n) efforts of joints that the bodies need, for friction that grows with
            them.
        per_fit: rows a second for one hertz of the filter.
        tell: progress from 0 to 1.
    """
    A, effort, weight, times = [], [], [], []
    F: list[list[FloatArray]] = [[] for _ in terms]
    for number, (samples, Y, load) in enumerate(zip(stretches, bases, loads, strict=True)):
        pick = rows_fitted(samples, filters, per_fit)
        A.append(motors.rows(Y[pick]))
        effort.append(motors.efforts(samples.smooth(samples.effort, filters)[pick]))
        known = motors.all_of(samples.usable) & samples.moving(motors, filters)
        weight.append(known[pick].astype(float))
        load = motors.efforts(load)
        times.append(samples.time[pick])
        for j, own in enumerate(terms):
            table = friction_columns(samples, own, motors.turns[j], filters, load[:, j])
            F[j].append(samples.smooth(table, filters)[pick] if own else table[pick])
        tell((number + 1) / len(stretches))
    count = sum(len(part) for part in times)
    fold = np.minimum(np.arange(count) * FOLDS // max(count, 1), FOLDS - 1)
    return Equations(
        np.concatenate(A),
        [np.concatenate(part) for part in F],
        np.concatenate(effort),
        np.concatenate(weight),
        fold,
        np.concatenate(times),
        float(np.mean([colour_of_white(samples, filters, per_fit) for samples in stretches])),
    )


def colour_of_white(samples: Samples, filters: Filters, per_fit: float) -> float:
    """Sum of the autocorrelations of white noise behind the filter, at the rows' rate."""
    step = int(rows_fitted(samples, filters, per_fit).step)
    width = max(step, round(10.0 * samples.frequency / filters.effort))
    pulse = np.zeros(4 * width + 1)
    pulse[2 * width] = 1.0
    response = samples.smooth(pulse, filters)
    # of the filtered noise's variance, and of its spectrum at the low end, where motion is
    independent = float(response.sum()) ** 2 / float(response @ response)
    return max(independent / step, 1.0)


def rows_fitted(samples: Samples, filters: Filters, per_fit: float) -> slice:
    """Samples of a stretch that become rows: so many a second for one hertz of the filter."""
    step = max(1, int(samples.frequency / (per_fit * filters.effort)))
    kept = samples.kept(filters)
    return slice(kept.start, kept.stop, step)


def friction_columns(
    samples: Samples,
    terms: Sequence[Term],
    turns: FloatArray,
    filters: Filters,
    load: FloatArray,
    sharp: float = 1.0,
) -> FloatArray:
    """(K, k) of terms at a motor that turns with joints so far (n,), not filtered."""
    if not terms:
        return np.zeros((len(samples.time), 0))
    at, dead = samples.position @ turns, float(np.linalg.norm(filters.dead_rates * turns))
    still = at_rest(at[:, None], samples.frequency, filters.effort)[:, 0]
    count = round(samples.frequency / filters.effort)
    own = samples.velocity @ turns
    # where motion turns round slowly its sense is known all the same
    still &= np.abs(own) < MOVES * dead
    rate = held(own, still, 3.0 * dead, count)
    # at rest a rate is all noise, and its sense says nothing
    fades = np.where(still, dead, sharp * dead)
    return np.stack([term.column(at, rate, fades, load) for term in terms], axis=-1)


def friction_efforts(
    motors: Motors,
    samples: Samples,
    terms: Sequence[Sequence[Term]],
    coefficients: Sequence[FloatArray],
    filters: Filters,
    load: FloatArray,
) -> FloatArray:
    """(K, n) efforts of joints by their motors' friction, not filtered; loads (K, n) of joints."""
    load = motors.efforts(load)
    found = [
        friction_columns(samples, own, motors.turns[i], filters, load[:, i], SHARP) @ factors
        for i, (own, factors) in enumerate(zip(terms, coefficients, strict=True))
    ]
    return motors.at_joints(np.stack(found, axis=-1))
