# SPDX-License-Identifier: Apache-2.0

"""`identify`: a mechanism's parameters from recordings of its motion and efforts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from robodyn.checks import as_scalar, check_choice
from robodyn.errors import InvalidInput
from robodyn.identification.base_parameters import missed_parameters
from robodyn.identification.columns import Columns
from robodyn.identification.filters import Filters, choose_filters
from robodyn.identification.fit import Fit, add_friction_terms, first_fit
from robodyn.identification.friction import KINDS, Friction
from robodyn.identification.motors import motors_of
from robodyn.identification.projection import identified_mechanism, project
from robodyn.identification.recording import Recording
from robodyn.identification.regression import STATES, regression_of
from robodyn.identification.result import BaseParameters, Identification, as_list
from robodyn.identification.samples import Samples, samples_of
from robodyn.mechanism.mechanism import Mechanism

# Correlation of efforts with those of the given model below which their sign is reversed.
REVERSED = -0.7
# Largest number of corrections of the efforts' delay.
DELAYS = 4


def identify(
    m: Mechanism,
    recordings: Sequence[Recording] | Recording,
    *,
    friction: Friction = "auto",
    couplings: Sequence[Mapping[str, float]] = (),
    rotors: bool = True,
    robust: bool = True,
    cutoff: float | None = None,
    effort_cutoff: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Identification:
    """Identify the parameters of a mechanism's bodies, rotors and friction from recordings.

    Efforts are linear in the parameters, so weighted least squares finds the base parameters: the
    combinations of parameters that the recordings determine. Then every body is made physically
    consistent; parameters that the recordings do not determine stay near those of the given model
    (see `projection.consistent`).

    Args:
        m: mechanism with exact geometry; its parameters are a first guess.
        recordings: one or several recordings of its motion.
        friction: `auto` selects from all terms, including those of gears, by cross-validation
            (`friction`); `described` from those that a description can contain; `viscous`,
            `coulomb` and `offset` fit fixed terms, each with those before it; `none` fits no
            friction.
        couplings: motors that turn with several joints, such as {"joint_5": 1, "joint_6": 1}; each
            replaces the motor of the last of its joints. Recorded efforts are still those of the
            joints.
        rotors: whether to fit the rotors' inertia.
        robust: whether outliers have smaller weights (Huber).
        cutoff: cutoff [Hz] of the filter for positions; by default from bandwidth and noise.
        effort_cutoff: cutoff [Hz] of the filter for efforts and regressor; by default from the
            bandwidth.
        progress: called with the completed fraction, from 0 to 1.

    Returns:
        The identified mechanism, its parameters with standard deviations, and predictions.

    Raises:
        InvalidInput: there are no recordings, they are of other joints or too short, a choice is
            unknown, or the mechanism has no regressor.
        NoSolution: no physical bodies explain the recordings.
    """
    given = as_list(recordings)
    if not given:
        raise InvalidInput("recordings is empty, expected at least one recording", value=recordings)
    if len(m.joint_names) != len(m.independent_joints):
        raise InvalidInput(
            f"{m.name} drives {len(m.joint_names)} joints for {len(m.independent_joints)} degrees "
            "of freedom: the motion does not determine how the motors share a load, so efforts of "
            "such a mechanism cannot be fitted",
            value=m.joint_names,
        )
    check_choice("friction", friction, KINDS)
    for name, value in (("cutoff", cutoff), ("effort_cutoff", effort_cutoff)):
        if value is not None:
            as_scalar(name, value, "Hz", above=0.0)
    motors = motors_of(m.joint_names, couplings)
    report_progress = progress or (lambda part: None)
    filters = choose_filters(given, cutoff, effort_cutoff)
    columns = Columns(m, motors, rotors)
    stretches, notes = _select_samples(given, m, filters)
    notes += _reversed_joints(m, stretches)
    report_progress(0.1)
    regression = regression_of(columns, stretches)
    fit = first_fit(regression, friction, robust)
    for _ in range(DELAYS):
        if not fit.delay:
            break
        filters = replace(filters, effort_delay=filters.effort_delay + fit.delay)
        regression = regression_of(columns, _select_samples(given, m, filters)[0])
        fit = first_fit(regression, friction, robust)
    if not filters.effort_delay:
        fit = first_fit(regression.without_delay(), friction, robust)
    report_progress(0.5)
    fit = add_friction_terms(fit, friction, lambda part: report_progress(0.5 + 0.4 * part))
    report_progress(0.9)
    result = _result(m, fit, notes + _delay_remarks(fit))
    result = replace(result, fit=tuple(result.validate(given)))
    report_progress(1.0)
    return result


def _select_samples(
    recordings: Sequence[Recording], m: Mechanism, filters: Filters
) -> tuple[list[Samples], list[str]]:
    """Select the parts of the recordings for the fit; return samples and remarks."""
    stretches, notes = [], [note for recording in recordings for note in recording.notes]
    for recording in recordings:
        found, messages = samples_of(recording, m, filters)
        stretches += found
        notes += messages
    return stretches, notes


def _result(m: Mechanism, fit: Fit, notes: Sequence[str]) -> Identification:
    theta, friction = project(fit)
    mechanism, lost = identified_mechanism(fit, theta, friction)
    columns, base, solution = fit.regression.columns, fit.regression.base, fit.solution
    missed, hidden = missed_parameters(columns, base)
    b = len(base.kept)
    return Identification(
        mechanism=mechanism,
        model=m,
        parameters=BaseParameters(
            base.names(columns.names),
            solution.x[:b],
            fit.deviations[:b],
            fit.regression.given_parameters,
            base.matrix @ theta,
            base.matrix,
            columns.names,
        ),
        friction=tuple(friction),
        fitted=theta,
        filters=fit.regression.stretches[0].filters,
        sigma=solution.sigma,
        autocorrelation_time=solution.autocorrelation_time,
        condition=solution.condition,
        missed=missed,
        hidden=hidden,
        notes=(*notes, *lost),
        fit=(),
        columns=columns,
        kept=list(base.kept),
        loaded=fit.loaded,
    )


def _delay_remarks(fit: Fit) -> list[str]:
    """Return remarks on the delay of measured efforts, which the fit compensates."""
    delay = fit.regression.stretches[0].filters.effort_delay
    if not delay:
        return []
    return [
        f"efforts {'lag' if delay > 0.0 else 'lead'} the positions by {abs(delay) * 1e3:.3g} ± "
        f"{fit.solution.delay[1] * 1e3:.2g} ms, which is compensated"
    ]


def _reversed_joints(m: Mechanism, stretches: Sequence[Samples]) -> list[str]:
    """Return remarks on joints whose measured efforts have the opposite sign."""
    needed, measured = [], []
    for samples in stretches:
        rows = slice(None, None, max(1, len(samples.time) // STATES))
        needed.append(m.inverse_dynamics(*samples.motion_at(rows)))
        measured.append(samples.effort[rows])
    deviations = [
        part - part.mean(axis=0) for part in (np.concatenate(needed), np.concatenate(measured))
    ]
    size = np.sqrt((deviations[0] ** 2).sum(axis=0) * (deviations[1] ** 2).sum(axis=0))
    alike = (deviations[0] * deviations[1]).sum(axis=0) / np.maximum(size, 1e-300)
    turned = [name for name, value in zip(m.joint_names, alike, strict=True) if value < REVERSED]
    if not turned:
        return []
    gains = ",".join(f"{name}=-1" for name in turned)
    return [
        f"efforts of {', '.join(turned)} have the opposite sign of the given model's: if the "
        f"recording uses the opposite convention, set effort_gain (--effort-gain {gains})"
    ]
