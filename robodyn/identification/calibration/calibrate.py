# SPDX-License-Identifier: Apache-2.0

"""`calibrate`: a mechanism's dimensions from measurements of its pose or from constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.algorithms.geometry import geometry_of
from robodyn.arrays import FloatArray, Unpack
from robodyn.checks import check_choice
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.identification.calibration import unknowns
from robodyn.identification.calibration.fit import (
    LOSSES,
    CalibrationFit,
    combination,
    fit,
    right_singular,
    visibility,
    weights_of,
    whiten_derivatives,
)
from robodyn.identification.calibration.measurements import Measurements, read_measurements
from robodyn.identification.calibration.problem import (
    CONSTRAINTS,
    MEASURES,
    Frames,
    Freedoms,
    Problem,
)
from robodyn.identification.calibration.result import CalibratedParameter, Calibration
from robodyn.identification.calibration.settings import CalibrationOptions, CalibrationSettings
from robodyn.identification.calibration.tracking_frames import Frame
from robodyn.identification.plausibility import refuse_other_units
from robodyn.mechanism.mechanism import Mechanism
from robodyn.poses import rotation_matrix

DEFAULT = CalibrationSettings()


def calibrate(
    m: Mechanism,
    measurements: Measurements | str | Path,
    *,
    settings: CalibrationSettings = DEFAULT,
    progress: Callable[[float], None] | None = None,
    **options: Unpack[CalibrationOptions],
) -> Calibration:
    """Identify the dimensions of a mechanism, close to the nominal ones, from measurements.

    The most probable dimensions (maximum a posteriori) are found by least squares with analytic
    derivatives. Dimensions that the measurements do not determine keep their nominal values.

    Args:
        m: nominal mechanism.
        measurements: samples, or a CSV file of them; see `read_measurements`.
        settings: unknowns, their tolerances, and noise.
        progress: called with the completed fraction.
        options: fields that replace those of the settings, such as `tracker`.

    Returns:
        The calibrated mechanism, its dimensions with standard deviations, and residuals.

    Raises:
        InvalidInput: there are too few measurements, all are of one pose, their units are wrong, or
            the mechanism has no dimensions to calibrate.
        NoSolution: some samples correspond to no pose of the model.
    """
    settings = replace(settings, **options)
    geometry = geometry_of(m)
    if not isinstance(measurements, Measurements):
        measurements = read_measurements(measurements, m)
    measure = unknowns.measure_of(measurements, settings.constraint)
    loss = settings.loss
    check_choice("loss", loss, LOSSES)
    refuse_standstill(m, measurements)
    allowed = unknowns.tolerances(
        m, geometry, measurements, settings.parameters, settings.tolerance
    )
    base, free_base = unknowns.frame_of("tracker", settings.tracker, measure)
    goal, free_target = unknowns.frame_of("target", settings.target, measure)
    kind = MEASURES[measure]
    if measure in (*CONSTRAINTS, "none"):
        base, free_base = Frame.identity(), kind.base
    if not kind.target:
        goal = Frame.identity()
    free_base = tuple(freedom for freedom in free_base if freedom in kind.base)
    free_target = tuple(freedom for freedom in free_target if freedom in kind.target)
    poses = starting_poses(m, measurements)
    free = Freedoms(free_base, free_target, settings.sensor_zeros)
    given = Frames(base, goal, np.zeros(len(measurements.passive)))
    frames = unknowns.first_frames(measure, measurements, poses, given, free)
    problem = Problem(geometry, allowed, measurements, measure, frames, free, m.size, poses)
    refuse_units(m, measurements, measure, poses)
    refuse_too_few(m, problem, measurements)
    assumed, estimate = unknowns.noise_of(m, problem, settings.noise)
    nominal = replace(problem, tolerance=np.zeros_like(allowed))
    held = fit(nominal, assumed, False, loss)
    problem = replace(problem, frames=nominal.unpack(held.unknowns)[1])
    return _result(m, problem, fit(problem, assumed, estimate, loss, progress), held)


def _result(
    m: Mechanism, problem: Problem, found: CalibrationFit, held: CalibrationFit
) -> Calibration:
    values, frames = problem.unpack(found.unknowns)
    count = len(problem.active)
    tolerance = problem.tolerance[problem.active]
    covariance = found.covariance[:count, :count] * np.outer(tolerance, tolerance)
    deviations = np.zeros(len(values))
    deviations[problem.active] = np.sqrt(np.diag(covariance))
    seen = visibility(found.whitened, count)
    names = [problem.geometry.parameters[i].name for i in problem.active]
    unseen = [combination(row, names) for row in seen.unseen]
    groups = tuple(problem.groups)
    hidden = [each.name for each in problem.geometry.parameters if each.passive_only]
    notes = []
    if hidden and not problem.passive:
        notes.append(
            f"{len(hidden)} parameters, {hidden[0]} to {hidden[-1]}, do not affect the pose of the "
            "body: only readings of passive joints determine them"
        )
    free = [name for name, rows in (("tracker", problem.free_base), ("target", problem.free_target))
            if rows and problem.measure not in CONSTRAINTS]  # fmt: skip
    if free and unseen:
        notes.append(
            f"the placement of the {' and the '.join(free)} is unknown, so dimensions that only "
            "shift its frame are not observable; they keep their values"
        )
    if not found.converged:
        notes.append("the iteration did not converge")
    return Calibration(
        mechanism=problem.geometry.with_geometry(values),
        nominal=m,
        parameters=tuple(
            CalibratedParameter(
                each.name, each.unit, each.value, float(after), float(sigma),
                bool(0.0 < sigma < 0.7 * allowed),
            )
            for each, after, sigma, allowed in zip(
                problem.geometry.parameters, values, deviations, problem.tolerance, strict=True
            )
        ),
        unseen=tuple(unseen),
        rmse_before=_rmse(held.evaluated.residual, groups),
        rmse_after=_rmse(found.evaluated.residual, groups),
        residuals=found.evaluated.residual,
        groups=groups,
        noise=dict(found.noise.groups),
        singular_values=seen.singular_values,
        condition=seen.condition,
        tracker=frames.base.pose,
        target=frames.target.pose,
        covariance=covariance,
        free=tuple(names),
        notes=tuple(notes),
    )  # fmt: skip


def _rmse(residual: FloatArray, groups: Sequence[str]) -> dict[str, float]:
    names: dict[str, Any] = dict.fromkeys(groups)
    kinds = np.array(groups)
    return {name: float(np.sqrt((residual[:, kinds == name] ** 2).mean())) for name in names}


# Range [m or rad] below which a joint counts as at rest.
REST_RANGE = 1e-6
# Ratio of the spread of measured positions to that of the model above which the positions are in
# another unit.
OTHER_UNIT = 50.0
# Errors that a mechanism raises for readings without a solution.
UNREACHED = (KinematicsError, InvalidInput)


def refuse_standstill(m: Mechanism, measurements: Measurements) -> None:
    """Reject joint readings that do not change, or that are in degrees or millimeters.

    Raises:
        InvalidInput: all samples are at the same pose, or the unit of the readings is wrong.
    """
    joints = measurements.joints
    if len(joints) and np.ptp(joints, axis=0).max() < REST_RANGE:
        raise InvalidInput(
            f"{measurements.where}: all {len(joints)} samples are at the same pose; measure at "
            "different poses, such as those of `calibration_poses`",
            value=len(joints),
        )
    refuse_other_units(m, m.drives.signs * (joints - m.drives.offsets), joints, measurements.where)


def starting_poses(m: Mechanism, measurements: Measurements) -> FloatArray:
    """Compute the model's body poses (N, 7) at the measured joint positions.

    Forward kinematics of each sample starts at the previous configuration and, if it fails, at
    home.

    Returns:
        Poses (N, 7) of the body, base frame.

    Raises:
        InvalidInput: the model has no pose for the joint positions of a sample.
    """
    near, poses = m.home, []
    for number, joints in enumerate(measurements.joints, start=1):
        try:
            here = m.assemble(joints, near)
        except UNREACHED:
            try:
                here = m.assemble(joints)
            except UNREACHED as failure:
                raise InvalidInput(
                    f"{measurements.where}: the joint positions of sample {number} cannot be "
                    f"reached by {m.name}: {failure}; check the model, the order of the joints "
                    "and their units",
                    value=joints,
                ) from failure
        near = here
        poses.append(m.body_pose(here))
    return np.array(poses)


def refuse_units(m: Mechanism, measurements: Measurements, measure: str, poses: FloatArray) -> None:
    """Reject a tracker's positions that cannot be in meters.

    Raises:
        InvalidInput: their spread is far larger, or far smaller, than that of the model's
            positions.
    """
    if measure not in ("pose", "position"):
        return
    seen = measurements.target
    places, turns = seen[:, :3], rotation_matrix(seen)
    moves = max(np.ptp(turns, axis=0).max(), np.ptp(places, axis=0).max()) >= REST_RANGE
    if measure == "pose" and not moves:
        raise InvalidInput(
            f"{measurements.where}: the target does not move; check that it is on the body",
            value=0.0,
        )
    extent = float(np.linalg.norm(np.ptp(places, axis=0)))
    expected = float(np.linalg.norm(np.ptp(poses[:, :3], axis=0))) + 0.02 * m.size
    if extent > OTHER_UNIT * expected:
        raise InvalidInput(
            f"{measurements.where}: the target's positions spread over {extent:.4g} m, those of "
            f"the model over {expected:.3g} m: if they are in millimeters, set "
            "tracker_unit='mm'",
            value=extent,
        )


def refuse_too_few(m: Mechanism, problem: Problem, measurements: Measurements) -> None:
    """Reject samples with fewer equations than unknowns.

    Raises:
        InvalidInput: there are too few samples.
    """
    first = problem.evaluate(np.zeros(problem.count))
    if problem.equations > problem.count or first is None:
        return
    noise = unknowns.first_noise(m, problem)
    rows = whiten_derivatives(weights_of(problem, noise, first), first)
    seen = int((right_singular(rows)[0] >= 1.0).sum())
    if problem.equations <= seen:
        count = len(measurements.joints)
        raise InvalidInput(
            f"{measurements.where}: {count} samples give {problem.equations} equations for "
            f"{problem.count} unknowns, of which at least {seen} are observable; measure at "
            "more poses, at least twice as many as unknowns, or calibrate fewer `parameters`",
            value=count,
        )
