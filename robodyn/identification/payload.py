# SPDX-License-Identifier: Apache-2.0

"""`identify_payload`: a machine's payload, from recordings with and without it.

The additional efforts due to the payload are linear in its ten parameters: mass, first moments and
inertia about the origin of the frame that carries it. The machine alone is a model, or is
identified first from recordings without the payload, which cancels model errors common to both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from robodyn.algorithms.motion import Motion
from robodyn.arrays import FloatArray
from robodyn.dynamics.body_parameters import (
    COLUMNS,
    ROWS,
    bodies_of_parameters,
    body_parameters,
)
from robodyn.dynamics.parameters import OF_BODY, UNITS_OF_BODY
from robodyn.errors import InvalidInput
from robodyn.identification.filters import choose_filters
from robodyn.identification.identify import identify
from robodyn.identification.motors import motors_of
from robodyn.identification.projection import Program, find_consistent_parameters
from robodyn.identification.recording import Recording
from robodyn.identification.regression import autocorrelation_time_of, scaled_solve
from robodyn.identification.result import Identification, as_list
from robodyn.identification.samples import Samples, samples_of
from robodyn.mechanism.mechanism import Mechanism

# Assumed extent of an unobserved payload, relative to the mechanism's size.
EXTENT = 0.05
# Number of rounds that weight rows by the joints' noise.
ROUNDS = 4
# Standard deviation [kg, m, kg m^2] above which a quantity counts as unobserved.
UNSEEN = 1e6


@dataclass(frozen=True)
class Payload:
    """Identified payload, in the frame of the platform or of the arm's tip.

    Attributes:
        mass: [kg].
        com: (3,) [m] center of mass.
        inertia: (3, 3) [kg m^2] about the center of mass.
        mass_deviation, com_deviation, inertia_deviation: standard deviations of these, (), (3,),
            (3, 3); infinite if unobserved.
        parameters: (10,) by least squares alone: mass, first moments, inertia about the origin;
            see `names` and `units`.
        deviations: (10,) standard deviations of these.
        before, after: (n,) rmse of the predicted effort divided by the measured effort's
            standard deviation, without the payload and with it.
        mechanism: machine with the payload.
        notes: remarks about the recordings.
    """

    mass: float
    com: FloatArray
    inertia: FloatArray
    mass_deviation: float
    com_deviation: FloatArray
    inertia_deviation: FloatArray
    parameters: FloatArray
    deviations: FloatArray
    before: FloatArray
    after: FloatArray
    mechanism: Mechanism = field(repr=False)
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] = OF_BODY
    units: tuple[str, ...] = UNITS_OF_BODY


def identify_payload(
    m: Mechanism,
    loaded: Sequence[Recording] | Recording,
    empty: Sequence[Recording] | Recording | Identification = (),
) -> Payload:
    """Identify a machine's payload from recordings, as a physically consistent body.

    Args:
        m: mechanism without the payload.
        loaded: recordings of motions with the payload.
        empty: recordings of motions without the payload, or the result of `identify` for these; if
            omitted, the parameters of the mechanism are taken as known.

    Returns:
        Mass, center of mass and inertia of the payload, with standard deviations.

    Raises:
        InvalidInput: there are no recordings, they are of other joints, or too short.
        NoSolution: no body explains the recordings.
    """
    recordings = as_list(loaded)
    if not recordings:
        raise InvalidInput(
            "loaded is empty, expected at least one recording with the payload", value=loaded
        )
    alone = empty if isinstance(empty, Identification) else None
    if alone is None and (without := as_list(empty)):  # type: ignore[arg-type]
        alone = identify(m, without)
    filters = alone.filters if alone else choose_filters(recordings)
    bare = alone.mechanism if alone else m
    motors = motors_of(m.joint_names, ())
    notes = [note for recording in recordings for note in recording.notes]
    parts, colors = [], []
    for recording in recordings:
        stretches, messages = samples_of(recording, m, filters)
        notes += messages
        for samples in stretches:
            bodies = alone.efforts(samples) if alone else m.inverse_dynamics(*samples.motion)
            known = samples.usable & samples.motion_mask(motors)
            rows = (
                samples.smooth(samples.effort - bodies),
                known.astype(float),
                samples.smooth(samples.effort),
            )
            Y = samples.subsample(partial(_payload_regressor_at, bare, samples))
            parts.append([Y, *(row[samples.rows] for row in rows)])
            colors.append(samples.autocorrelation_time_of_white)
    Y, tau, weight, effort = map(np.concatenate, zip(*parts, strict=True))
    theta, N = _solve(Y, tau, weight, float(np.mean(colors)))
    physical, deviations = _nearest_body(m, theta, N)
    used = np.maximum(weight.sum(axis=0), 1.0)
    before, after = (
        np.sqrt((weight * part**2).sum(axis=0) / used) / effort.std(axis=0)
        for part in (tau, tau - Y @ physical)
    )
    (body,) = bodies_of_parameters(physical[None])
    return Payload(
        *body,
        *deviations,
        theta,
        _deviations(np.diag(_inverse(N))),
        before,
        after,
        bare.with_payload(*body),
        tuple(notes),
    )


def _payload_regressor_at(m: Any, samples: Samples, rows: slice) -> FloatArray:
    return _payload_regressor(m, samples.motion_at(rows))


def _payload_regressor(m: Any, motion: Motion) -> FloatArray:
    """Compute the joint efforts (K, n, 10) per unit of each payload parameter.

    They follow from the efforts for ten physically consistent payloads, since efforts are linear
    in the payload parameters.
    """
    nothing = m.inverse_dynamics(*motion)
    bodies = [(1.0, np.zeros(3), np.zeros((3, 3)))]
    bodies += [(1.0, axis, np.zeros((3, 3))) for axis in np.eye(3)]
    for row, column in zip(ROWS, COLUMNS, strict=True):
        tensor = np.eye(3)
        tensor[row, column] = tensor[column, row] = 1.5 if row == column else 0.3
        bodies.append((1.0, np.zeros(3), tensor))
    wrenches = np.stack(
        [m.with_payload(*body).inverse_dynamics(*motion) - nothing for body in bodies], axis=-1
    )
    numbers = np.stack([body_parameters(*body) for body in bodies], axis=-1)
    return np.asarray(wrenches @ np.linalg.inv(numbers))


def _solve(
    Y: FloatArray, tau: FloatArray, weight: FloatArray, white: float
) -> tuple[FloatArray, FloatArray]:
    """Estimate the payload's parameters (10,) by weighted least squares.

    Returns:
        Parameters, and the normal-equations matrix (10, 10) weighted by the inverse noise variance.
    """
    used = np.maximum(weight.sum(axis=0), 1.0)
    sigma = np.maximum(np.sqrt((weight * tau**2).sum(axis=0) / used), 1e-9)
    theta, none = np.zeros(10), np.zeros(10)
    residual = tau
    for _ in range(ROUNDS):
        weights = weight / sigma**2
        N = np.einsum("kni,kn,knj->ij", Y, weights, Y)
        theta = scaled_solve(N, np.einsum("kni,kn,kn->i", Y, weights, tau), none)
        residual = tau - Y @ theta
        free = np.maximum(used / white - 10.0 / len(sigma), 1.0)
        variance = (weight * residual**2).sum(axis=0) / used * (used / white) / free
        sigma = np.maximum(np.sqrt(variance), 1e-9)
    # changes of friction with the load are correlated, not noise
    autocorrelation_time = np.array(
        [max(autocorrelation_time_of(column), white) for column in residual.T]
    )
    return theta, np.einsum("kni,kn,knj->ij", Y, weight / (sigma**2 * autocorrelation_time), Y)


def _nearest_body(
    m: Any, theta: FloatArray, N: FloatArray
) -> tuple[FloatArray, tuple[float, FloatArray, FloatArray]]:
    """Find the physically consistent body (10,) nearest to estimated parameters.

    Returns:
        Parameters of the body, and standard deviations of mass, center of mass and inertia.
    """
    mass = max(float(theta[0]), 1e-3)
    extent = (EXTENT * m.size) ** 2
    prior = mass * np.diag([extent, extent, extent, 1.0])
    found = find_consistent_parameters(Program(N, N @ theta, prior[None], (), np.zeros(0)), theta)
    covariance = _inverse(N)
    steps = 1e-6 * np.maximum(np.abs(found), 1e-6 * found[0])
    changed = found + np.concatenate([np.diag(steps), -np.diag(steps)])
    bodies = bodies_of_parameters(changed)
    ends = [np.concatenate([[mass], com, inertia.ravel()]) for mass, com, inertia in bodies]
    J = ((np.array(ends[:10]) - ends[10:]) / (2.0 * steps[:, None])).T
    deviations = _deviations(np.einsum("ij,jk,ik->i", J, covariance, J))
    return found, (float(deviations[0]), deviations[1:4], deviations[4:].reshape(3, 3))


def _deviations(variances: FloatArray) -> FloatArray:
    """Return the square roots of variances; infinite for unobserved parameters."""
    return np.where(variances > UNSEEN**2, np.inf, np.sqrt(np.maximum(variances, 0.0)))


def _inverse(N: FloatArray) -> FloatArray:
    """Invert a normal-equations matrix (10, 10).

    The variances of unobserved parameters are large.
    """
    scale = 1.0 / np.sqrt(np.maximum(np.diag(N), 1e-30))
    values, vectors = np.linalg.eigh(N * np.outer(scale, scale))
    inverse = (vectors / np.maximum(values, 1e-14)) @ vectors.T
    return np.asarray(inverse * np.outer(scale, scale))


def payload_summary(found: Payload) -> dict[str, Any]:
    """Return an identified payload as a dictionary for JSON output.

    Returns:
        Mass, center of mass and inertia, their standard deviations, and effort errors by name.
    """
    fields = ("mass", "com", "inertia")
    names = [name for each in fields for name in (each, f"{each}_deviation")]
    errors = {"relative_before": found.before, "relative": found.after, "notes": found.notes}
    return {name: getattr(found, name) for name in names} | errors


def payload_rows(found: Payload) -> list[tuple[str, str, float, float]]:
    """Return the payload's mass, center of mass and inertia as rows of a table.

    Returns:
        Ten rows, for mass, com x, y, z, and the six elements of the inertia: name, unit, value and
        standard deviation.
    """
    rows = [("mass", "kg", found.mass, float(found.mass_deviation))]
    rows += [
        (f"com {axis}", "m", value, deviation)
        for axis, value, deviation in zip("xyz", found.com, found.com_deviation, strict=True)
    ]
    rows += [
        (name, "kg m^2", found.inertia[i, j], found.inertia_deviation[i, j])
        for name, i, j in zip(OF_BODY[4:], ROWS, COLUMNS, strict=True)
    ]
    return rows


def payload_text(found: Payload) -> str:
    """Format the payload, with standard deviations and errors, as text."""
    lines = ["payload, in the frame of the platform or the tip"]
    for name, unit, value, deviation in payload_rows(found):
        known = (
            f"± {deviation:.2g}"
            if np.isfinite(deviation)
            else "not identifiable from these recordings"
        )
        lines.append(f"  {name:5}  {value:10.4g} {unit:6} {known}")
    lines.append(
        "error of the predicted effort / standard deviation of the effort, without and with the "
        "payload"
    )
    lines += [
        f"  {joint}  {before:.1%}  {after:.1%}"
        for joint, before, after in zip(
            found.mechanism.joint_names, found.before, found.after, strict=True
        )
    ]
    return "\n".join([*lines, *found.notes])
