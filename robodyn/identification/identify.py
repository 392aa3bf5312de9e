# SPDX-License-Identifier: Apache-2.0

"""`identify`: a mechanism's parameters from recordings of its motion and efforts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.errors import InvalidInput
from robodyn.identification.assembly import (
    STATES,
    Columns,
    base_columns,
    equations,
    some_states,
)
from robodyn.identification.base_parameters import find_base
from robodyn.identification.carrying import identified_mechanism, made_consistent
from robodyn.identification.friction import (
    CHOICES,
    KINDS,
    LOAD,
    Term,
    candidates,
    first_terms,
)
from robodyn.identification.motors import motors_of
from robodyn.identification.observability import missed_parameters
from robodyn.identification.preparation import PER_FIT, choose_filters, samples_of, that_move
from robodyn.identification.result import (
    BaseParameters,
    FrictionTerm,
    Identification,
    several,
)
from robodyn.identification.ripple import find_ripples
from robodyn.identification.selection import select_terms
from robodyn.identification.solving import Solution, solve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from robodyn.arrays import FloatArray
    from robodyn.identification.motors import Motors
    from robodyn.identification.preparation import Filters, Samples
    from robodyn.identification.recording import Recording
    from robodyn.mechanisms.mechanism import Mechanism

# Efforts whose correlation with those of the given model is below this are of the other sense.
AGAINST = -0.7


def identify(
    m: Mechanism,
    recordings: Sequence[Recording] | Recording,
    *,
    friction: str = "auto",
    couplings: Sequence[Mapping[str, float]] = (),
    rotors: bool = True,
    robust: bool = True,
    cutoff: float | None = None,
    effort_cutoff: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Identification:
    """The parameters of a mechanism's bodies, rotors and friction from recordings.

    Efforts are linear in the parameters, so weighted least squares finds the base parameters, those
    combinations that the recordings show; then every body is made physical, near the given model
    where the recordings say nothing (`consistent`).

    Args:
        m: the mechanism: its geometry is taken as it is, its parameters as a first guess.
        recordings: of its motion, one or several.
        friction: `auto` tries terms that gears have as well, by cross-validation (`friction`);
            `described` only those that a description has; `offset`, `coulomb`, `viscous` and
            `none` fit that much and nothing more.
        couplings: motors that turn with several joints, such as {"joint_5": 1, "joint_6": 1}; each
            takes the place of the last of its joints' own motor. Recorded efforts are those of the
            joints all the same.
        rotors: whether the rotors' inertia is fitted.
        robust: whether outliers count less (Huber).
        cutoff: [Hz] of the filter for positions; chosen by bandwidth and noise if not given.
        effort_cutoff: [Hz] of the filter for efforts and regressor; likewise.
        progress: called with the part that is done, 0 to 1.

    Raises:
        InvalidInput: no recordings, of other joints, too short, an unknown choice, or a mechanism
            that has no regressor.
    """
    given = several(recordings)
    _check(m, given, friction, cutoff, effort_cutoff)
    motors = motors_of(m.joint_names, couplings)
    tell = progress or _silent
    filters = choose_filters(given, cutoff, effort_cutoff)
    stretches, notes = [], [note for recording in given for note in recording.notes]
    for recording in given:
        found, said = samples_of(recording, m, filters)
        stretches += found
        notes += said
    notes += _turned(m, stretches)
    tell(0.1)
    columns = Columns(m, motors, rotors)
    base = find_base(some_states(columns, stretches, filters))
    tell(0.2)
    bare = [base_columns(columns, samples, filters, base.kept) for samples in stretches]
    smooth = [samples.smooth(Y, filters) for samples, Y in zip(stretches, bare, strict=True)]
    tell(0.5)
    near = base.matrix @ columns.given
    terms, solution, loaded = _fitted(
        motors, m.joint_units, stretches, bare, smooth, filters, near, friction, robust, tell
    )
    b = len(base.kept)
    deviations = np.sqrt(np.maximum(np.diag(solution.covariance), 0.0))
    theta, coefficients = made_consistent(m, columns, base.matrix, solution, terms, deviations[b:])
    tell(0.95)
    found_friction, at = [], 0
    for own in terms:
        found_friction.append(
            tuple(
                FrictionTerm(term, float(coefficients[at + k]), float(deviations[b + at + k]))
                for k, term in enumerate(own)
            )
        )
        at += len(own)
    mechanism, lost = identified_mechanism(
        m, columns, theta, found_friction, stretches, filters, loaded, bare
    )
    missed, hidden = missed_parameters(m, columns, base)
    result = Identification(
        mechanism=mechanism,
        model=m,
        parameters=BaseParameters(
            base.names(columns.names),
            solution.x[:b],
            deviations[:b],
            near,
            base.matrix @ theta,
            base.matrix,
            columns.names,
        ),
        friction=tuple(found_friction),
        fitted=theta,
        filters=filters,
        sigma=solution.sigma,
        colour=solution.colour,
        condition=solution.condition,
        missed=missed,
        hidden=hidden,
        notes=(*notes, *lost),
        fit=(),
        columns=columns,
        base=base,
        loaded=loaded,
    )
    result = replace(result, fit=tuple(result.validate(given)))
    tell(1.0)
    return result


def _silent(part: float) -> None:
    pass


def _check(
    m: Any,
    recordings: Sequence[Recording],
    friction: str,
    cutoff: float | None,
    effort_cutoff: float | None,
) -> None:
    if not recordings:
        raise InvalidInput("recordings is empty, give at least one recording", value=recordings)
    if len(m.joint_names) != len(m.independent_joints):
        raise InvalidInput(
            f"{m.name} drives {len(m.joint_names)} joints for {len(m.independent_joints)} "
            "freedoms: how motors share a load is not determined by the motion, so efforts of "
            "such a mechanism cannot be fitted",
            value=m.joint_names,
        )
    known = list(KINDS)
    if friction not in known:
        raise InvalidInput(
            f"friction is {friction!r}, expected one of {', '.join(known)}", value=friction
        )
    for name, value in (("cutoff", cutoff), ("effort_cutoff", effort_cutoff)):
        if value is not None and not 0.0 < value < np.inf:
            raise InvalidInput(f"{name} is {value!r}, expected a number above 0 [Hz]", value=value)


def _turned(m: Mechanism, stretches: Sequence[Samples]) -> list[str]:
    """What is to be said of efforts that are counted against the model's sense."""
    needed, measured = [], []
    for samples in stretches:
        rows = slice(None, None, max(1, len(samples.time) // STATES))
        motion = samples.configuration[rows], samples.rate[rows], samples.change[rows]
        needed.append(m.inverse_dynamics(*motion))
        measured.append(samples.effort[rows])
    apart = [
        part - part.mean(axis=0) for part in (np.concatenate(needed), np.concatenate(measured))
    ]
    size = np.sqrt((apart[0] ** 2).sum(axis=0) * (apart[1] ** 2).sum(axis=0))
    alike = (apart[0] * apart[1]).sum(axis=0) / np.maximum(size, 1e-300)
    turned = [name for name, value in zip(m.joint_names, alike, strict=True) if value < AGAINST]
    if not turned:
        return []
    gains = ",".join(f"{name}=-1" for name in turned)
    return [
        f"efforts of {', '.join(turned)} run against what the given model needs: if they are "
        f"counted the other way, effort_gain (--effort-gain {gains}) turns them"
    ]


def _fitted(
    motors: Motors,
    joint_units: Sequence[str],
    stretches: Sequence[Samples],
    bare: Sequence[FloatArray],
    smooth: Sequence[FloatArray],
    filters: Filters,
    near: FloatArray,
    friction: str,
    robust: bool,
    tell: Callable[[float], None],
) -> tuple[list[list[Term]], Solution, FloatArray]:
    """Terms of friction of each motor, the solution with them, and what loads are taken from."""
    n, first = stretches[0].position.shape[1], first_terms(friction)
    turn = motors.of_a_turn(joint_units)
    moved = that_move(motors, stretches, filters)
    unloaded = [np.zeros((len(samples.time), n)) for samples in stretches]
    tables: list[list[Term]] = []
    for j in range(n):
        if not moved[j]:
            tables.append([])  # nothing is said of its friction
            continue
        rates, positions = (
            np.concatenate([motors.motion(part)[:, j] for part in parts])
            for parts in zip(*((s.velocity, s.position) for s in stretches), strict=True)
        )
        tried = candidates(
            friction, float(np.abs(rates).max()), float(np.ptp(positions)), float(turn[j])
        )
        tables.append([*first, *(term for term in tried if term.kind != LOAD)])
    always = [list(range(len(first))) if moves else [] for moves in moved]
    system = equations(motors, stretches, smooth, tables, filters, unloaded, PER_FIT)
    tell(0.6)
    solution = solve(system, always, near, robust)
    chosen = always
    if any(len(table) > len(first) for table in tables):
        chosen = select_terms(
            system, tables, always, near, solution.sigma, lambda part: tell(0.6 + 0.2 * part)
        )
        solution = solve(system, chosen, near, robust)
    terms = [[table[k] for k in own] for table, own in zip(tables, chosen, strict=True)]
    loaded = solution.x[: len(near)]
    if LOAD not in CHOICES.get(friction, ()):
        return terms, solution, loaded
    # friction that grows with the load: of the efforts that the bodies were found to need
    loads = [Y @ loaded for Y in bare]
    plain = tables
    tables = [[*own, Term(LOAD)] if moves else [] for own, moves in zip(terms, moved, strict=True)]
    system = equations(motors, stretches, smooth, tables, filters, loads, PER_FIT)
    kept = [list(range(len(own))) for own in terms]
    chosen = select_terms(system, tables, kept, near, solution.sigma)
    solution = solve(system, chosen, near, robust)
    tell(0.85)
    terms = [[table[k] for k in own] for table, own in zip(tables, chosen, strict=True)]
    more = find_ripples(motors, stretches, filters, system, solution.residual, PER_FIT)
    if any(more):
        # with these taken away smaller things show
        tables = [
            [*own, *others, *(term for term in tried if others and term not in own)]
            for own, others, tried in zip(terms, more, plain, strict=True)
        ]
        kept = [
            list(range(len(own) + len(others))) for own, others in zip(terms, more, strict=True)
        ]
        system = equations(motors, stretches, smooth, tables, filters, loads, PER_FIT)
        chosen = select_terms(system, tables, kept, near, solution.sigma)
        solution = solve(system, chosen, near, robust)
        terms = [[table[k] for k in own] for table, own in zip(tables, chosen, strict=True)]
    tell(0.9)
    return terms, solution, loaded
