# SPDX-License-Identifier: Apache-2.0

"""Evaluation of a mechanism against requirements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from robodyn.algorithms import conditioning, geometry_of, motions, travel
from robodyn.algorithms.elasticity import is_elastic, smallest_stiffness
from robodyn.algorithms.travel import leg_bends
from robodyn.arrays import BoolArray, FloatArray
from robodyn.designing.accuracy import pose_accuracy
from robodyn.designing.clearances import required_space
from robodyn.designing.evaluation import DriveRequirements, Evaluation, MotionEvaluation
from robodyn.designing.machine_motion import (
    MachineMotion,
    are_feasible,
    machine_motions,
    motor_rows,
)
from robodyn.designing.requirements import Requirements
from robodyn.designing.verdicts import verdicts
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model.model import Model
from robodyn.poses import AXES
from robodyn.presentation import presentation

POSES = "poses"
Variants = Mapping[str, tuple[float, Callable[[float], Mechanism]]]


def evaluate(
    mechanism: Mechanism,
    requirements: Requirements,
    *,
    variants: Variants | None = None,
    continuous_effort: float = np.inf,
) -> Evaluation:
    """Compute the drive limits that a machine needs to meet requirements, and check them.

    Motions are sampled 96 times per period of the highest frequency, and also where a drive
    reverses or a value peaks between two samples. Efforts are those of inverse dynamics, with the
    rotors, screws, gears and friction of the mechanism's actuators.

    Args:
        mechanism: machine; motions start at its home.
        requirements: see `load_requirements`. Their payload is added to that of the mechanism.
        variants: for each dimension by name, its value and a function that creates the machine for
            another value; by default the variables of the model and the height of its home.
            Sensitivities refer to these.
        continuous_effort: [N or N m] effort that a drive can sustain permanently.

    Returns:
        The evaluation; `satisfied` states whether every requirement is met.

    Raises:
        InvalidInput: a requirement cannot be evaluated for this mechanism.

    Example:
        >>> import robodyn as rd
        >>> req = rd.load_requirements({"motions": [{"heave": 0.1, "frequency": 0.5}]})
        >>> rd.evaluate(rd.load("motion_platform"), req).needed.stroke.round(3)
        array([0.183, 0.183, 0.183, 0.183, 0.183, 0.183])
    """
    _refuse_unsuitable(mechanism, requirements)
    m = mechanism
    if requirements.payload is not None:
        body = requirements.payload
        m = m.with_payload(body.mass, body.com, body.inertia)
    found = machine_motions(m, requirements.motions, requirements.poses)
    rows = tuple(_motion(m, requirements, each) for each in found)
    need = _drive_requirements(m, requirements, rows)
    given = _variants(mechanism) if variants is None else variants
    accuracy, frequencies, stiffness = None, None, None
    if requirements.accuracy is not None or is_elastic(m):
        places = extreme_configurations(m, found)
    if requirements.accuracy is not None:
        accuracy = pose_accuracy(m, requirements.accuracy, places)
    if is_elastic(m):
        frequencies = m.modes(places).frequencies.min(axis=0)
        stiffness = float(smallest_stiffness(m, places).min())
    judged = verdicts(m, requirements, found, rows, need, accuracy, continuous_effort, frequencies)
    again = partial(evaluate, continuous_effort=continuous_effort, variants={})
    return Evaluation(
        m, requirements, rows, need, judged, accuracy, frequencies, stiffness, tuple(found), again,
        given,
    )  # fmt: skip


def _refuse_unsuitable(m: Mechanism, requirements: Requirements) -> None:
    limits = requirements.limits
    if requirements.natural_frequency is not None and not is_elastic(m):
        raise InvalidInput(
            f"natural_frequency is {requirements.natural_frequency:g} Hz, but the drives of "
            f"{m.name} are rigid; state the `stiffness` of their actuators, or call "
            "with_drive_stiffness",
            value=requirements.natural_frequency,
        )
    possible = motions.determining_rows(m) or tuple(range(6))
    for name, moves in _required_motions(requirements):
        missing = [axis for k, axis in enumerate(AXES) if moves[k] and k not in possible]
        if missing:
            raise InvalidInput(
                f"{name} requires {' and '.join(missing)}, but {m.name} moves its body only in "
                f"{', '.join(AXES[k] for k in possible)}",
                value=missing,
            )
    straight = len(presentation.leg_ends(m, m.home)[0])
    for name in ("leg_clearance", "payload_clearance"):
        value = getattr(limits, name)
        if value and not straight:
            raise InvalidInput(
                f"limits.{name} is {value:g} m, but {m.name} has no straight legs between its "
                "base and its body; remove this limit",
                value=value,
            )
    if requirements.accuracy is not None and requirements.accuracy.geometry:
        deviation = requirements.accuracy.geometry
        try:
            geometry_of(m)
        except InvalidInput as error:
            raise InvalidInput(
                f"accuracy.geometry is {deviation:g} m, but the dimensions of {m.name} are not "
                f"known as parameters ({error}); remove accuracy.geometry",
                value=deviation,
            ) from error
    if requirements.accuracy is None and min(limits.position_error, limits.angle_error) < np.inf:
        raise InvalidInput(
            "limits of position_error and angle_error need `accuracy`: standard deviations of the "
            "drives' positions and of the joints' centers",
            value=None,
        )


def _required_motions(requirements: Requirements) -> Iterator[tuple[str, BoolArray]]:
    """Yield the name of each required motion, and flags (6,) of the axes that move.

    The poses at rest come last.
    """
    for motion in requirements.motions:
        moves = motion.displacement(motion.times)[0].any(axis=0)
        yield f"motion {motion.name!r}", np.asarray(moves, dtype=np.bool_)
    if len(requirements.poses):
        yield POSES, np.asarray(requirements.poses.any(axis=0), dtype=np.bool_)


def _motion(m: Mechanism, requirements: Requirements, given: MachineMotion) -> MotionEvaluation:
    rows, every, motion = given.rows, given.all, given.motion
    weights = given.weights
    torque, speed, power, current = motor_rows(m, every)
    total = power.sum(axis=1)
    duration = 0.0 if motion is None else motion.duration
    ends = np.stack(
        [_column_extreme(np.min, every.position), _column_extreme(np.max, every.position)], axis=-1
    )
    known = every.configuration[~np.isnan(every.configuration[:, 0])]
    return MotionEvaluation(
        name=POSES if motion is None else motion.name,
        duration=duration,
        reached=float(are_feasible(rows).mean()),
        positions=ends,
        speed=_column_extreme(np.max, np.abs(every.rate)),
        peak_effort=_column_extreme(np.max, np.abs(every.effort)),
        rms_effort=_rms(weights, every.effort),
        peak_power=_column_extreme(np.max, np.abs(power)),
        mean_power=weights @ np.nan_to_num(power),
        regenerated=duration * (weights @ np.maximum(np.nan_to_num(-power), 0.0)),
        peak_torque=_column_extreme(np.max, np.abs(torque)),
        rms_torque=_rms(weights, torque),
        motor_speed=_column_extreme(np.max, np.abs(speed)),
        rms_current=_rms(weights, current),
        supply_peak=max(float(_column_extreme(np.max, total)), 0.0),
        supply_mean=float(weights @ np.maximum(np.nan_to_num(total), 0.0)),
        braking=float(duration * (weights @ np.maximum(np.nan_to_num(-total), 0.0))),
        joint_angles=_joint_angles(m, known) if len(known) else {},
        condition_number=float(m.condition_number(known).max()) if len(known) else np.inf,
        crosses=not conditioning.is_on_side_of(m, known, m.home).all(),
        space=required_space(m, requirements, every.poses),
    )


def _column_extreme(best: Any, values: FloatArray) -> FloatArray:
    """Return the minimum or maximum of each column over the rows without NaN.

    If every row contains NaN, all results are NaN.
    """
    known = values[~np.isnan(values.reshape(len(values), -1)).any(axis=1)]
    return np.asarray(best(known, axis=0) if len(known) else np.full(values.shape[1:], np.nan))


def _rms(weights: FloatArray, values: FloatArray) -> FloatArray:
    known = ~np.isnan(values).any(axis=0) | ~np.isnan(values).all(axis=0)
    mean = weights @ np.nan_to_num(values) ** 2
    return np.where(known, np.sqrt(mean), np.nan)


def _joint_angles(m: Mechanism, configurations: FloatArray) -> dict[str, float]:
    """Return the largest angles from home [rad] of leg ends or passive joints by name."""
    if travel.leg_names(m):
        bends = leg_bends(m, configurations).max(axis=0)
        return {
            f"{leg} at the {end}": float(bends[k, i])
            for k, end in enumerate(("base", "body"))
            for i, leg in enumerate(travel.leg_names(m))
        }
    if not m.passive_joint_names:
        return {}
    places = [m.all_joint_names.index(name) for name in m.passive_joint_names]
    turned = travel.all_joint_positions(m, configurations) - travel.all_joint_positions(m, m.home)
    angles = np.abs((turned[:, places] + np.pi) % (2.0 * np.pi) - np.pi).max(axis=0)
    return dict(zip(m.passive_joint_names, angles.tolist(), strict=True))


def _drive_requirements(
    m: Mechanism, requirements: Requirements, rows: Sequence[MotionEvaluation]
) -> DriveRequirements:
    margins = requirements.margins

    def largest(name: str) -> FloatArray:
        return np.asarray(np.fmax.reduce([getattr(row, name) for row in rows]))

    shortest = np.fmin.reduce([row.positions[:, 0] for row in rows]) - margins.stroke
    longest = np.fmax.reduce([row.positions[:, 1] for row in rows]) + margins.stroke
    return DriveRequirements(
        shortest=shortest,
        longest=longest,
        stroke=longest - shortest,
        speed=margins.speed * largest("speed"),
        peak_effort=margins.force * largest("peak_effort"),
        continuous_effort=margins.force * requirements.rating.factor * largest("rms_effort"),
        peak_power=largest("peak_power"),
        mean_power=largest("mean_power"),
        **{name: float(largest(name)) for name in ("supply_peak", "supply_mean", "braking")},
    )


def extreme_configurations(m: Mechanism, found: Sequence[MachineMotion]) -> FloatArray:
    """Return home and the configurations at which a drive's position is extreme.

    Returns:
        Configurations (K, nq): home, and for each motion in `found` those with the least and
        largest position of each drive. Configurations may occur more than once.
    """
    places = [m.home]
    for each in found:
        rows = each.rows
        known = ~np.isnan(rows.configuration[:, 0])
        if known.any():
            at, position = rows.configuration[known], rows.position[known]
            places += [*at[position.argmin(axis=0)], *at[position.argmax(axis=0)]]
    return np.array(places)


def _scale_dimension(m: Mechanism, scales: dict[str, float], name: str, value: float) -> Mechanism:
    scaled: Mechanism = presentation.with_model_values(m, scales | {name: value})
    return scaled


def _variants(m: Mechanism) -> Variants:
    """Return the dimensions for sensitivities: model variables, and the home height."""
    found: dict[str, tuple[float, Callable[[float], Mechanism]]] = {}
    scales = {name: 1.0 for name, each in presentation.variables(m).items() if each.role == "model"}
    for name in scales:
        found[name] = 1.0, partial(_scale_dimension, m, scales, name)
    model = m.model
    if m.coordinates.is_pose and isinstance(model, Model) and model.home:
        joint, pose = model.home[0]

        def with_payload_at(height: float) -> Mechanism:
            moved = (*pose[:2], height, *pose[3:])
            return m._made(replace(model, home=((joint, moved), *model.home[1:])))

        found["height"] = float(pose[2]), with_payload_at
    return found
