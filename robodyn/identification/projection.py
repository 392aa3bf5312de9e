# SPDX-License-Identifier: Apache-2.0

"""What least squares found, projected onto consistent bodies, and as a mechanism."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.identification.columns import OF_FRICTION
from robodyn.identification.consistent import Priors, consistent, made_physical
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
from robodyn.mechanisms.common.body_parameters import of_pseudo_inertias
from robodyn.mechanisms.mechanism import Mechanism

STANDARD_GRAVITY = 9.81
# Parts of its largest rate at which a joint surely moves.
CLEARLY = 0.01
PLAIN = (VISCOUS, COULOMB)
# An offset is this small a part of the efforts' standard deviation, as far as nothing else is seen.
OFFSETS = 0.05


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
    priors = Priors(bodies, positive, np.array(typical))
    N, c = T.T @ normal @ T, T.T @ solution.c
    found = consistent(N, c, priors, np.concatenate([columns.given, start]))
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
    states = [slice(None, None, max(1, len(samples.time) // 1000)) for samples in stretches]
    Y = [m.regressor(*part.motion_at(s)) for part, s in zip(stretches, states, strict=True)]
    rubbing = np.concatenate(
        [
            friction_efforts(motors, part, friction, Yb @ fit.loaded)[s]
            for part, s, Yb in zip(stretches, states, regression.regressors, strict=True)
        ]
    )
    rates = np.concatenate(
        [part.joints.velocities[k] for part, k in zip(stretches, states, strict=True)]
    )
    for j, joint in enumerate(m.joint_names):
        if not regression.moves[j]:
            continue  # it stood still, so its friction stays as it is given
        own = [places[f"{joint}.{part}"] for part in OF_FRICTION if f"{joint}.{part}" in places]
        # where it sets out or turns round, what the sense of its friction is hangs on noise
        rate = np.abs(rates[:, j])
        clear = rate > CLEARLY * rate.max()
        described = np.concatenate([table[:, j, own] for table in Y])[clear]
        target = rubbing[clear, j]
        found, left = nnls(described, target)
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
