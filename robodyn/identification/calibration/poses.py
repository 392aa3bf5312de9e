# SPDX-License-Identifier: Apache-2.0

"""Selection of measurement poses for the most precise dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robodyn.algorithms.geometry import geometry_of
from robodyn.algorithms.travel import within_travel
from robodyn.arrays import FloatArray, Unpack, short_repr
from robodyn.checks import check_choice
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.identification.calibration.fit import Noise, visibility, weights_of
from robodyn.identification.calibration.measurements import (
    KINDS,
    Measurements,
    nominal_target,
    resolve_points,
)
from robodyn.identification.calibration.problem import ALL, Frames, Freedoms, Problem
from robodyn.identification.calibration.settings import PoseOptions, PoseSettings
from robodyn.identification.calibration.tracking_frames import Frame
from robodyn.identification.calibration.unknowns import tolerances
from robodyn.mechanism.mechanism import Mechanism

# Range of a joint without limits to either side [rad], and [m] relative to the mechanism's size.
FREE = {"rad": np.pi, "m": 0.5}
# Distances from home to try until a pose exists, relative to that of the random draw.
SHRINKING = 0.5 ** np.arange(6)
# Largest number of exchange rounds; a few are usually enough.
ROUNDS = 20
DEFAULT = PoseSettings()


@dataclass(frozen=True)
class CalibrationPoses:
    """Poses to measure, in the order of selection.

    Attributes:
        configurations: (n, nq) configurations of the mechanism at the n poses.
        joints: (n, n_driven) positions of the driven joints.
        poses: (n, 7) poses of the body, base frame.
        log_det: natural logarithm of the determinant of the information matrix, including the
            prior; the measurements reduce the logarithm of the uncertainty's volume by half of it.
        observability: geometric mean of the singular values that are at least 1, divided by
            sqrt(n), the index O1 of Borm and Menq (1991), scaled as in `Visibility`.
        condition: ratio of the largest to the smallest of these singular values, the inverse of the
            index O2 of Driels and Pathre (1990).
        random_log_det: `log_det` of the same number of random poses, for comparison.
    """

    configurations: FloatArray
    joints: FloatArray
    poses: FloatArray
    log_det: float
    observability: float
    condition: float
    random_log_det: float

    __repr__ = short_repr


def calibration_poses(
    m: Mechanism,
    n: int,
    *,
    settings: PoseSettings = DEFAULT,
    progress: Callable[[float], None] | None = None,
    **options: Unpack[PoseOptions],
) -> CalibrationPoses:
    """Select the poses within the joint limits that determine the dimensions best (D-optimal).

    The best n of random candidates are selected one by one, then exchanged as long as the
    determinant of the information matrix grows (Fedorov 1972).

    Args:
        m: mechanism of any kind.
        n: number of poses.
        settings: candidates and kind of measurement.
        progress: called with the completed fraction.
        options: fields that replace those of the settings, such as `tracker_known`.

    Returns:
        The selected poses, with their configurations and information about the dimensions.

    Raises:
        InvalidInput: too few of the candidates can be reached.
    """
    settings = replace(settings, **options)
    measure, candidates = settings.measure, settings.candidates
    if n < 1 or candidates < n:
        raise InvalidInput(
            f"n is {n} and candidates is {candidates}, expected 1 <= n <= candidates"
        )
    check_choice("measure", measure, KINDS)
    if (measure == "distance") != bool(settings.points):
        raise InvalidInput(
            "give pairs of `points` if, and only if, the measure is 'distance'",
            value=settings.points,
        )
    geometry_of(m)  # rejects a mechanism without geometry before the work is done
    found = _random_configurations(m, settings, progress)
    if len(found) < n:
        raise InvalidInput(
            f"{m.name}: only {len(found)} of {candidates} random poses are within reach and below "
            f"the condition number {settings.max_condition:g}; raise max_condition or candidates",
            value=len(found),
        )
    blocks, count = _information(m, found, settings)
    chosen = _exchange_poses(blocks, n)
    rows = np.concatenate([blocks[i] for i in chosen])
    seen = visibility(rows, count)
    values = seen.singular_values[seen.singular_values >= 1.0]
    index = float(np.exp(np.log(values).mean()) / np.sqrt(n)) if len(values) else 0.0
    if progress is not None:
        progress(1.0)
    best = found[chosen]
    return CalibrationPoses(
        best, m.joint_positions(best), m.body_pose(best), _log_det(rows), index, seen.condition,
        _log_det(np.concatenate(blocks[:n])),
    )  # fmt: skip


def _random_configurations(
    m: Mechanism, settings: PoseSettings, progress: Callable[[float], None] | None
) -> FloatArray:
    """Draw configurations (k, nq) with joints uniformly distributed in their ranges."""
    home = m.joint_positions(m.home)
    wide = np.array([FREE[u] * (m.size if u == "m" else 1.0) for u in m.drives.units])
    low, high = m.position_limits.T
    low = np.where(np.isfinite(low), low, home - wide)
    high = np.where(np.isfinite(high), high, home + wide)
    edge, candidates = settings.margin * (high - low), settings.candidates
    rng = np.random.default_rng(settings.seed)
    found = []
    for number in range(candidates):
        if progress is not None and number % 10 == 0:
            progress(0.8 * number / candidates)
        joints = rng.uniform(low + edge, high - edge)
        # long legs rarely meet at random lengths, but they do close to home
        for part in SHRINKING:
            here = _measurable_configuration(m, settings, home + part * (joints - home), rng)
            if here is not None:
                found.append(here)
                break
    return np.array(found).reshape(len(found), len(m.home))


def _measurable_configuration(
    m: Mechanism, settings: PoseSettings, joints: FloatArray, rng: np.random.Generator
) -> FloatArray | None:
    """Assemble the mechanism at given joint positions.

    If `settings` contain the height of a bed, the tip is then moved onto the bed.

    Returns:
        Configuration (nq,); None if it is out of reach, beyond a limit or ill-conditioned.
    """
    try:
        here = m.assemble(joints)
        if settings.height is not None:
            pose = m.body_pose(here)
            outside = float(np.hypot(*pose[:2])) / settings.radius
            if outside > 1.0:  # uniformly distributed over the circle, not on its edge
                pose[:2] *= np.sqrt(rng.uniform()) / outside
            pose[2] = settings.height
            here = m.configuration_at(pose, here)
        ratio = m.condition_number(here, characteristic_length=m.characteristic_length)
    except KinematicsError:
        return None
    allowed = ratio <= settings.max_condition and within_travel(m, here)
    return np.asarray(here) if allowed else None


def _information(
    m: Mechanism, configurations: FloatArray, settings: PoseSettings
) -> tuple[list[FloatArray], int]:
    """Compute the information about calibration unknowns that each pose would provide.

    Returns:
        For each pose, the whitened derivatives (r, U) of its residuals; and the number of
        parameters.
    """
    geometry = geometry_of(m)
    poses, measure = m.body_pose(configurations), settings.measure
    each = len(settings.points) or 1
    joints = np.repeat(m.joint_positions(configurations), each, axis=0)
    given: dict[str, Any]
    if measure != "distance":
        given = nominal_target(measure, poses)
    else:
        ends = [
            [resolve_points(m, name, pair[end])[0] for pair in settings.points]
            for end, name in enumerate(("base_point", "body_point"))
        ]
        base, body = (np.tile(end, (len(poses), 1)) for end in ends)
        given = {"distance": np.ones(len(joints)), "base_point": base, "body_point": body}
    samples = Measurements.from_arrays(m, joints, **given)
    frames = Frames(Frame.identity(), Frame.identity(), np.zeros(0))
    known = settings.tracker_known or measure in ("height", "distance")
    free = () if known else ALL
    freedoms = Freedoms(free, free if measure == "pose" else free[:3], False)
    poses = np.repeat(poses, each, axis=0)
    allowed = tolerances(m, geometry, samples, settings.parameters, settings.tolerance)
    problem = Problem(geometry, allowed, samples, settings.measure, frames, freedoms, m.size, poses)
    found = problem.evaluate(np.zeros(problem.count))
    assert found is not None  # the poses are those of the nominal mechanism
    sigma = {
        name: settings.noise * (m.size if name == "position" else 1.0) for name in problem.groups
    }
    weights = weights_of(problem, Noise(sigma, np.zeros(len(m.joint_names))), found)
    rows = weights @ found.jacobian
    return list(rows.reshape(len(configurations), -1, problem.count)), len(problem.active)


def _log_det(rows: FloatArray) -> float:
    return float(np.linalg.slogdet(np.eye(rows.shape[1]) + rows.T @ rows)[1])


def _exchange_poses(blocks: Sequence[FloatArray], n: int) -> list[int]:
    """Select n poses for D-optimal calibration by exchanging single poses.

    For the result, no exchange of a single pose increases the determinant of the information
    matrix: the matrix of the prior plus A' A for each selected block A of whitened derivatives.

    Returns:
        Indices of the n blocks.
    """
    stacked = np.array(blocks)
    chosen: list[int] = []
    inverse = np.eye(stacked.shape[2])
    for _ in range(n):
        chosen.append(_best_block(stacked, inverse, chosen))
        inverse = _update_inverse(inverse, stacked[chosen[-1]], 1.0)
    for _ in range(ROUNDS):
        before = list(chosen)
        for place in range(n):
            without = _update_inverse(inverse, stacked[chosen[place]], -1.0)
            others = chosen[:place] + chosen[place + 1 :]
            chosen[place] = _best_block(stacked, without, others)
            inverse = _update_inverse(without, stacked[chosen[place]], 1.0)
        if chosen == before:
            break
        rows = np.concatenate(stacked[chosen])
        inverse = np.linalg.inv(np.eye(stacked.shape[2]) + rows.T @ rows)  # rounding adds up
    return chosen


def _best_block(blocks: FloatArray, inverse: FloatArray, taken: Sequence[int]) -> int:
    """Find the block that most increases the information matrix's determinant.

    `inverse` (U, U) is the inverse information matrix so far. Blocks in `taken` are left out.
    """
    gains = np.linalg.slogdet(np.eye(blocks.shape[1]) + blocks @ inverse @ blocks.swapaxes(1, 2))[1]
    gains[list(taken)] = -np.inf
    return int(gains.argmax())


def _update_inverse(inverse: FloatArray, block: FloatArray, sign: float) -> FloatArray:
    """Update the inverse information matrix (U, U) by one block (Woodbury's formula).

    The block (r, U) is added or, with sign -1, removed.
    """
    across = inverse @ block.T
    inner = np.eye(len(block)) + sign * block @ across
    return np.asarray(inverse - sign * across @ np.linalg.solve(inner, across.T))
