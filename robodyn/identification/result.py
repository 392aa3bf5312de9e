# SPDX-License-Identifier: Apache-2.0

"""Result of an identification: parameters with uncertainty, predictions, and description."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn.arrays import FloatArray, short_repr
from robodyn.identification.columns import Columns
from robodyn.identification.filters import Filters
from robodyn.identification.friction import FrictionTerm, friction_efforts
from robodyn.identification.recording import Recording
from robodyn.identification.samples import Samples, samples_of
from robodyn.mechanism.mechanism import Mechanism


@dataclass(frozen=True)
class BaseParameters:
    """Base parameters: combinations of the model's parameters that determine efforts.

    Attributes:
        names: names as sums of parameters.
        values: (b,) values estimated by least squares.
        deviations: (b,) standard deviations, which allow for colored residuals.
        given: (b,) base parameters of the given model.
        consistent: (b,) base parameters of the identified mechanism, whose bodies are all physical.
        matrix: (b, p): base parameters = matrix @ the fitted parameters, see `fitted`.
        fitted: (p,) names of the fitted parameters.
    """

    names: tuple[str, ...]
    values: FloatArray
    deviations: FloatArray
    given: FloatArray
    consistent: FloatArray
    matrix: FloatArray
    fitted: tuple[str, ...]

    def of(self, mechanism: Any) -> FloatArray:
        """Compute the values (b,) of these base parameters for another mechanism.

        The mechanism has the same structure; parameters that it lacks count as 0.
        """
        own = mechanism.parameters
        known = dict(zip(own.names, own.values.tolist(), strict=True))
        return np.asarray(self.matrix @ np.array([known.get(name, 0.0) for name in self.fitted]))


@dataclass(frozen=True)
class Validation:
    """Comparison of predicted with recorded efforts of one recording.

    Efforts are compared through the zero-phase filter of the fit; `unfiltered` efforts are compared
    as recorded.

    Attributes:
        source: source of the recording.
        joint_names: names of the driven joints.
        rmse: (n,) [N or N m] root mean square error of each joint's predicted effort.
        relative: (n,) `rmse` divided by the standard deviation of the measured effort.
        rmse_unfiltered, relative_unfiltered: (n,) `rmse` and `relative` of unfiltered efforts.
        given: (n,) `relative` for the given model, before the identification.
        time: (K,) [s] instants, as dense as the filtered efforts require.
        measured, predicted: (K, n) [N or N m] filtered efforts at these instants.
    """

    source: str
    joint_names: tuple[str, ...]
    rmse: FloatArray
    relative: FloatArray
    rmse_unfiltered: FloatArray
    relative_unfiltered: FloatArray
    given: FloatArray
    time: FloatArray
    measured: FloatArray = field(repr=False)
    predicted: FloatArray = field(repr=False)


@dataclass(frozen=True)
class Identification:
    """Result of an identification: the mechanism, its parameters, and predictions.

    Attributes:
        mechanism: identified mechanism: every body is physically consistent, friction is included
            as far as a description can contain it. `predict` uses all results.
        model: given mechanism.
        parameters: base parameters.
        friction: friction terms of each motor.
        fitted: (p,) parameters of bodies, rotors and coupled motors of the mechanism.
        filters: cutoffs and the efforts' delay, also for `predict` and `validate`.
        sigma: (n,) [N or N m] standard deviation of the residuals, by motor.
        autocorrelation_time: (n,) number of samples that contain as much information as one
            independent sample.
        condition: condition number of the regressor of the base parameters, columns scaled to equal
            norms.
        missed: for each parameter that these recordings do not determine but another motion would,
            its name and a description of that motion.
        hidden: parameters that no motion determines individually.
        notes: remarks about the recordings and about results that the mechanism cannot contain.
        fit: prediction errors of the recordings themselves.
        columns: columns of the regressor, for `fitted`.
        kept: indices of the independent columns, see `BaseColumns`.
        loaded: (b,) base parameters from which the load of load-dependent friction is computed.
    """

    mechanism: Mechanism
    model: Mechanism
    parameters: BaseParameters
    friction: tuple[tuple[FrictionTerm, ...], ...]
    fitted: FloatArray
    filters: Filters
    sigma: FloatArray
    autocorrelation_time: FloatArray
    condition: float
    missed: tuple[tuple[str, str], ...]
    hidden: tuple[str, ...]
    notes: tuple[str, ...]
    fit: tuple[Validation, ...]
    columns: Columns = field(repr=False)
    kept: list[int] = field(repr=False)
    loaded: FloatArray = field(repr=False)

    __repr__ = short_repr

    def predict(self, recording: Recording) -> list[tuple[Samples, FloatArray]]:
        """Predict the efforts for the motion of a recording, segment by segment.

        Args:
            recording: recording with the motion.

        Returns:
            For each segment without gaps, its K samples and the unfiltered joint efforts (K, n)
            [N or N m] at these samples.
        """
        found, _ = samples_of(recording, self.model, self.filters)
        return [(samples, self.efforts(samples)) for samples in found]

    def efforts(self, samples: Samples) -> FloatArray:
        """Predict the efforts for a segment of a recording.

        Args:
            samples: K samples of the motion.

        Returns:
            Unfiltered joint efforts (K, n) [N or N m], friction included.
        """
        values = np.stack([self.parameters.consistent, self.loaded], axis=-1)
        efforts = self.columns.efforts(samples, self.kept, values)
        rubbing = friction_efforts(self.columns.motors, samples, self.friction, efforts[..., 1])
        return np.asarray(efforts[..., 0] + rubbing)

    def validate(self, recordings: Sequence[Recording] | Recording) -> list[Validation]:
        """Compare predicted with recorded efforts, for each of several recordings.

        Args:
            recordings: one or several recordings.

        Returns:
            Prediction errors of the efforts, for each recording.

        Raises:
            InvalidInput: a recording has other joints or is too short.
        """
        return [self._validate(recording) for recording in as_list(recordings)]

    def _validate(self, recording: Recording) -> Validation:
        parts, motors = [], self.columns.motors
        for samples, predicted in self.predict(recording):
            known = samples.usable & motors.all_at(samples.motion_mask(motors))
            unsure = np.where(known, 1.0, np.nan)
            smooth = (
                samples.time[:, None],
                samples.smooth(samples.effort) * unsure,
                samples.smooth(predicted),
                samples.smooth(self.model.inverse_dynamics(*samples.motion)),
            )
            kept = samples.kept
            few = slice(kept.start, kept.stop, samples.stride)
            parts.append(
                [row[few] for row in smooth]
                + [row[kept] for row in (samples.effort * unsure, predicted)]
            )
        time, measured, found, before, raw, predicted = map(
            np.concatenate, zip(*parts, strict=True)
        )
        return Validation(
            recording.source,
            self.model.joint_names,
            *_errors(found, measured),
            *_errors(predicted, raw),
            _errors(before, measured)[1],
            time[:, 0],
            measured,
            found,
        )


def as_list(recordings: Sequence[Recording] | Recording) -> list[Recording]:
    """Convert one recording, or a sequence of recordings, to a list of recordings."""
    return [recordings] if isinstance(recordings, Recording) else list(recordings)


def _errors(predicted: FloatArray, measured: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute the root mean square error (n,) of the predicted efforts of each joint.

    The error is NaN for a joint without usable samples, such as a joint at rest.

    Returns:
        Errors [N or N m], and errors divided by the measured effort's standard deviation.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Mean of empty slice|Degrees of freedom", RuntimeWarning)
        rmse = np.sqrt(np.nanmean((predicted - measured) ** 2, axis=0))
        spread = np.nanstd(measured, axis=0)
    return rmse, np.asarray(rmse / np.maximum(spread, 1e-300))


def summary(result: Identification, validations: Sequence[Validation] = ()) -> dict[str, Any]:
    """Convert an identification to dictionaries and lists for JSON output.

    Returns:
        Parameters, friction, filters, residuals and predictions by name.
    """
    own, columns = result.parameters, result.columns
    base = zip(own.names, own.values, own.deviations, own.given, own.consistent, strict=True)
    bodies = zip(columns.names, result.fitted, columns.given, strict=True)
    return {
        "model": result.model.name,
        "joints": list(result.model.joint_names),
        "parameters": _rows(("name", "value", "deviation", "given", "consistent"), base),
        "bodies": {name: {"value": value, "given": given} for name, value, given in bodies},
        "friction": {
            joint: _rows(
                ("term", "coefficient", "deviation"),
                ((item.term.name, *item[1:]) for item in terms),
            )
            for joint, terms in zip(columns.motors.names, result.friction, strict=True)
        },
        "filters": {
            "motion": result.filters.motion,
            "effort": result.filters.effort,
            "effort_delay": result.filters.effort_delay,
        },
        "condition": result.condition,
        "residual_deviation": result.sigma,
        "missed": _rows(("parameter", "shown_by"), result.missed),
        "hidden": result.hidden,
        "notes": result.notes,
        "fit": [_validation(item) for item in result.fit],
        "validation": [_validation(item) for item in validations],
    }


def _rows(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def _validation(item: Validation) -> dict[str, Any]:
    fields = ("source", "rmse", "relative", "rmse_unfiltered", "relative_unfiltered")
    return {name: getattr(item, name) for name in fields} | {"relative_before": item.given}


def summary_text(found: dict[str, Any]) -> str:
    """Format the summary of an identification as text.

    Returns:
        Several lines: parameters, friction, filters, residuals and predictions.
    """
    filters = found["filters"]
    lines = [
        f"{found['model']}: {len(found['parameters'])} base parameters, condition number "
        f"{found['condition']:.3g}; filters {filters['motion']:.3g} Hz (positions), "
        f"{filters['effort']:.3g} Hz (efforts)",
    ]
    width = max(len(name) for name in found["joints"])
    for title in ("fit", "validation"):
        for item in found[title]:
            lines += ["", f"{title}: {item['source'] or 'recording'}, error of the predicted "
                      "effort / standard deviation of the effort"]  # fmt: skip
            lines.append(f"  {'joint':{width}}  {'before':>8} {'now':>8} {'unfiltered':>10}")
            rows = zip(
                found["joints"], item["relative_before"], item["relative"],
                item["relative_unfiltered"], strict=True,
            )  # fmt: skip
            lines += [
                f"  {name:{width}}  {before:8.1%} {now:8.1%} {raw:10.1%}"
                if np.isfinite(now)
                else f"  {name:{width}}  {'did not move':>8}"
                for name, before, now, raw in rows
            ]
    lines += ["", "friction"]
    for joint, terms in found["friction"].items():
        parts = (f"{t['term']} {t['coefficient']:.3g} ± {t['deviation']:.2g}" for t in terms)
        lines.append(f"  {joint:{width}}  {', '.join(parts)}")
    if found["missed"]:
        lines += ["", "not identifiable from these recordings"]
        lines += [f"  {item['parameter']}: {item['shown_by']}" for item in found["missed"]]
    if found["notes"]:
        lines += ["", *found["notes"]]
    if found["written"]:
        lines += ["", f"written: {', '.join(found['written'])}"]
    return "\n".join(lines)
