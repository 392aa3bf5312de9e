# SPDX-License-Identifier: Apache-2.0

"""Unknowns of a calibration: parameters with their tolerances, frames, noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robodyn.algorithms.geometry import Geometry
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_pose, as_scalar, check_choice
from robodyn.errors import InvalidInput
from robodyn.identification.calibration.fit import FIRST, Noise
from robodyn.identification.calibration.measurements import Measurements
from robodyn.identification.calibration.problem import ALL, CONSTRAINTS, Frames, Freedoms, Problem
from robodyn.identification.calibration.settings import KNOWN, UNKNOWN
from robodyn.identification.calibration.tracking_frames import (
    Frame,
    frames_from_poses,
    frames_from_positions,
    nearest_rotation,
    plane_frame,
)
from robodyn.mechanism.mechanism import Mechanism
from robodyn.poses import rotation_matrix

# Default tolerances of dimensions: relative to the mechanism's size, and [rad].
LENGTHS, ANGLES = 0.003, 0.02


def measure_of(measurements: Measurements, constraint: str) -> str:
    """Determine the kind of measurement, such as `pose`, `position` or a constraint.

    Returns:
        Name of the kind, one of `MEASURES`.

    Raises:
        InvalidInput: the constraint is unknown or given together with measurements of a target, or
            there are no measurements.
    """
    kinds = measurements.kinds
    if constraint:
        check_choice("constraint", constraint, CONSTRAINTS)
        if kinds:
            raise InvalidInput(
                f"measurements of {kinds[0]} and a constraint cannot be used together; omit one "
                "of them",
                value=constraint,
            )
        return constraint
    if not kinds and not measurements.passive:
        raise InvalidInput(
            f"{measurements.where}: only the driven joints were measured; "
            "add poses, positions or heights of a target, distances, readings of passive joints, "
            "or a constraint",
            value=measurements.source,
        )
    return kinds[0] if kinds else "none"


def frame_of(name: str, given: str | ArrayLike, measure: str) -> tuple[Frame, tuple[int, ...]]:
    """Convert the setting of a frame (`known`, `unknown` or a pose) to the frame.

    `name` is the name of the setting in messages, and `measure` the kind of measurement, which
    determines the default.

    Returns:
        The frame, and the indices of its unknown degrees of freedom among the six of a pose.

    Raises:
        InvalidInput: the value is neither `known`, `unknown` nor a pose.
    """
    if isinstance(given, str):
        given = given or (KNOWN if measure in ("height", "distance") else UNKNOWN)
        if given not in (KNOWN, UNKNOWN):
            raise InvalidInput(
                f"{name} is {given!r}, expected known, unknown, or a pose (7,)", value=given
            )
        return Frame.identity(), ALL if given == UNKNOWN else ()
    pose = as_pose(name, given)
    return Frame(rotation_matrix(pose), pose[:3]), ()


def tolerances(
    m: Mechanism,
    geometry: Geometry,
    measurements: Measurements,
    chosen: Sequence[str],
    tolerance: float | Sequence[float] | None,
) -> FloatArray:
    """Compute the tolerances (P,) [m, rad] of the dimensions; 0 for fixed ones.

    `chosen` are names, or prefixes of names, of the parameters to calibrate; all if empty.
    `tolerance` is one value for lengths [m], optionally followed by one for angles [rad]; None for
    the defaults.

    Raises:
        InvalidInput: an unknown parameter, or a tolerance that is not positive.
    """
    names = [each.name for each in geometry.parameters]
    unknown = [each for each in chosen if not any(name.startswith(each) for name in names)]
    if unknown:
        raise InvalidInput(
            f"parameters: no parameter of {m.name} begins with {', '.join(unknown)}; its "
            f"parameters are {', '.join(names[:12])} ...",
            value=unknown,
        )
    given = as_array("tolerance", () if tolerance is None else tolerance, ()).reshape(-1)
    if len(given) > 2:
        raise InvalidInput(
            f"tolerance is {given}, expected one number for lengths [m], and one for angles [rad]",
            value=tolerance,
        )
    lengths, angles = given.tolist() + [LENGTHS * m.size, ANGLES][len(given) :]
    by_unit = {
        "m": as_scalar("tolerance of lengths", lengths, "m", above=0.0),
        "rad": as_scalar("tolerance of angles", angles, "rad", above=0.0),
    }
    passive = any(name in geometry.passive_joints for name in measurements.passive)
    return np.array(
        [
            by_unit[each.unit]
            if (passive or not each.passive_only)
            and (not chosen or any(each.name.startswith(c) for c in chosen))
            else 0.0
            for each in geometry.parameters
        ]
    )


def first_frames(
    measure: str, measurements: Measurements, poses: FloatArray, given: Frames, free: Freedoms
) -> Frames:
    """Estimate the unknown poses of base and target from nominal poses of the body.

    `poses` (N, 7) are the nominal poses of the body in the base frame, `given` contains the known
    frames, and `free` the unknown degrees of freedom.

    Returns:
        Frames that are estimated if unknown, otherwise as given.
    """
    R, t = rotation_matrix(poses), poses[:, :3]
    base, target = given.base, given.target
    points = t + R @ target.origin
    if measure == "point":
        base = Frame(np.eye(3), -points.mean(axis=0))
    elif measure == "plane":
        base = plane_frame(points)
    elif measure == "orientation":
        base = Frame(nearest_rotation(R.sum(axis=0).T), np.zeros(3))
    elif measure in ("pose", "position") and (free.base or free.target):
        # known frames are removed from the poses; unknown ones are estimated
        known = base.rotation @ R @ target.rotation, points @ base.rotation.T + base.origin
        seen, sought = measurements.target, (bool(free.base), bool(free.target))
        if measure == "pose":
            B, E = frames_from_poses(*known, rotation_matrix(seen), seen[:, :3], *sought)
        else:
            B, E = frames_from_positions(*known, seen[:, :3], *sought)
        base, target = (B if free.base else base), (E if free.target else target)
    return Frames(base, target, given.zeros)


def first_noise(m: Mechanism, problem: Problem) -> Noise:
    """Return the standard deviations from which the estimation of the noise starts.

    There is one for each group of measurements; that of the driven joints' readings is zero.
    """
    groups = {name: FIRST * (m.size if name == "position" else 1.0) for name in problem.groups}
    return Noise(groups, np.zeros(len(m.joint_names)))


def noise_of(
    m: Mechanism, problem: Problem, given: Mapping[str, float] | None
) -> tuple[Noise, bool]:
    """Return the measurement noise that the settings state, or its initial values.

    Returns:
        Standard deviations of the noise, and whether that of any group is to be estimated.

    Raises:
        InvalidInput: an unknown group, or noise that is not positive.
    """
    given = dict(given or {})
    joints = np.full(len(m.joint_names), as_scalar("noise of joints", given.pop("joints", 0.0)))
    groups = dict(first_noise(m, problem).groups)
    unknown = [name for name in given if name not in ("position", "orientation", "passive")]
    if unknown:
        raise InvalidInput(
            f"noise is given for {', '.join(unknown)}, expected position, orientation, passive or "
            "joints",
            value=unknown,
        )
    for name, sigma in given.items():
        groups[name] = as_scalar(f"noise of {name}", sigma, above=0.0)
    return Noise(groups, joints), any(name not in given for name in problem.groups)
