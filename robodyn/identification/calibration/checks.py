# SPDX-License-Identifier: Apache-2.0

"""Whether measurements can be used for a calibration at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import InvalidInput, KinematicsError
from robodyn.poses import rotation_matrix

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.identification.calibration.measurements import Measurements
    from robodyn.identification.calibration.problem import Problem
    from robodyn.mechanisms.mechanism import Mechanism

# Joints that move less than this [m or rad] stand still.
STILL = 1e-6
# Positions in other units spread this many times more or less than those of the model.
OTHER_UNIT = 50.0
# What a mechanism says of readings that it cannot have.
UNREACHED = (KinematicsError, InvalidInput)


def refuse_standstill(m: Mechanism, measurements: Measurements) -> None:
    """Refuse readings of joints that do not move, or that are in degrees or millimetres.

    Raises:
        InvalidInput: see above.
    """
    joints, where = measurements.joints, _where(measurements)
    if len(joints) and np.ptp(joints, axis=0).max() < STILL:
        raise InvalidInput(
            f"{where}: all {len(joints)} samples are at one place; measure at different poses, "
            "such as those of `calibration_poses`",
            value=len(joints),
        )
    low, high = m.position_limits.T
    reach = np.abs(np.where(np.isfinite(m.position_limits), m.position_limits, 0.0)).max(axis=1)
    for unit, factor, words in (("rad", np.pi / 180.0, "deg"), ("m", 1e-3, "mm")):
        of = [j for j, each in enumerate(m.joint_units) if each == unit]
        far = [j for j in of if np.abs(joints[:, j]).max() > 3.0 * max(reach[j], np.pi)]
        if far and (np.abs(joints[:, of]) * factor <= 3.0 * np.maximum(reach[of], np.pi)).all():
            name, worst = m.joint_names[far[0]], float(np.abs(joints[:, far[0]]).max())
            raise InvalidInput(
                f"{where}: {name} reaches {worst:.4g} {unit}, its limits are {low[far[0]]:.4g} to "
                f"{high[far[0]]:.4g}: if the joints are in {words}, say so with "
                f"position_unit={words!r} (--position-unit {words})",
                value=worst,
            )


def starting_poses(m: Mechanism, measurements: Measurements) -> FloatArray:
    """Nominal poses (N, 7) of the samples, each sought from the one before it or from home.

    Raises:
        InvalidInput: readings that the model has no pose for.
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
                    f"{_where(measurements)}: sample {number} of the joints is not reached by "
                    f"{m.name}: {failure}; check the model, the order of the joints and their "
                    "units",
                    value=joints,
                ) from failure
        near = here
        poses.append(m.body_pose(here))
    return np.array(poses)


def refuse_units(m: Mechanism, measurements: Measurements, measure: str, poses: FloatArray) -> None:
    """Refuse a tracker's positions that cannot be in metres.

    Raises:
        InvalidInput: they spread far more, or far less, than those of the model.
    """
    if measure == "pose" and measurements.pose is not None:
        places, turns = measurements.pose[:, :3], rotation_matrix(measurements.pose)
        if np.ptp(turns, axis=0).max() < STILL and np.ptp(places, axis=0).max() < STILL:
            raise InvalidInput(
                f"{_where(measurements)}: the target does not move; is it the one on the body?",
                value=0.0,
            )
    elif measure == "position" and measurements.position is not None:
        places = measurements.position
    else:
        return
    spread = float(np.linalg.norm(np.ptp(places, axis=0)))
    expected = float(np.linalg.norm(np.ptp(poses[:, :3], axis=0))) + 0.02 * m.size
    if spread > OTHER_UNIT * expected:
        raise InvalidInput(
            f"{_where(measurements)}: the target's positions spread over {spread:.4g} m, those of "
            f"the model over {expected:.3g} m: if they are in millimetres, say so with "
            "tracker_unit='mm'",
            value=spread,
        )


def refuse_too_few(problem: Problem, measurements: Measurements) -> None:
    """Refuse samples that cannot determine anything.

    Raises:
        InvalidInput: fewer equations than unknowns.
    """
    count, each = len(measurements.joints), problem.equations / max(len(measurements.joints), 1)
    if problem.equations <= problem.count:
        needed = int(problem.count // max(each, 1.0)) + 1
        raise InvalidInput(
            f"{_where(measurements)}: {count} samples give {problem.equations} equations for "
            f"{problem.count} unknowns; at least {needed} are needed, twice as many help, or fewer "
            "`parameters`",
            value=count,
        )


def _where(measurements: Measurements) -> str:
    return measurements.source or "measurements"
