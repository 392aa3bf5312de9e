# SPDX-License-Identifier: Apache-2.0

"""Zero offsets of driven joints, from end-stop contacts and an inclinometer.

For machines without a tracker: servos whose horns sit on an arbitrary tooth, or drives with
incremental encoders. The inclinometer on the body, `level` in names, may be an inertial measurement
unit at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_scalar
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.formats.output_file import write_text
from robodyn.identification.calibration.measurements import joint_columns
from robodyn.mechanism.mechanism import Mechanism
from robodyn.poses import rotation_matrix

LEVEL = ("level.x", "level.y", "level.z")
# Prior standard deviations of zero offsets, relative to the mechanism's size and [rad], of the
# inclinometer's mounting, and of the base's inclination [rad].
LENGTH, ANGLE, MOUNTED, INCLINED = 0.05, 0.3, 0.5, 0.1
# Residual of a sample without solution.
NO_SOLUTION = 1e3


@dataclass(frozen=True)
class ZeroOffsets:
    """Result of an estimation of the driven joints' zero offsets.

    Attributes:
        joints: names of the driven joints.
        units: units of their positions.
        values: (n,) offsets to add to their readings.
        deviations: (n,) standard deviations of the offsets.
        seen: (n,) whether the samples determine each offset better than the prior.
        inclination: (2,) [rad] of the base, about x and y, if it was unknown.
        level_residual: [rad] root mean square of the residuals of the inclinometer's angles.
        stop_residual: [m or rad] root mean square of the residuals of the stops' positions; NaN
            without stops.
    """

    joints: tuple[str, ...]
    units: tuple[str, ...]
    values: FloatArray
    deviations: FloatArray
    seen: FloatArray
    inclination: FloatArray
    level_residual: float
    stop_residual: float

    def to_dict(self) -> dict[str, Any]:
        """Convert the result to dictionaries, lists and numbers."""
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in vars(self).items()
        }

    def save(self, path: str | Path) -> None:
        """Write each joint's zero offset, unit and standard deviation to a .yaml file.

        Raises:
            InvalidInput: the file extension is unknown.
            OutputError: the file cannot be written.
        """
        if Path(path).suffix.lower() not in (".yaml", ".yml"):
            raise InvalidInput(
                f"{path}: zero offsets can be written to .yaml files only", value=str(path)
            )
        names = ("unit", "zero", "deviation", "seen")
        rows = zip(
            self.units, self.values.tolist(), self.deviations.tolist(), self.seen.tolist(),
            strict=True,
        )  # fmt: skip
        joints = {
            joint: dict(zip(names, row, strict=True))
            for joint, row in zip(self.joints, rows, strict=True)
        }
        text = "# offsets to add to the readings of the joints\n"
        text += yaml.safe_dump({"joints": joints}, sort_keys=False, allow_unicode=True)
        write_text(Path(path), text)


def find_zeros(
    m: Mechanism,
    readings: ArrayLike,
    level: ArrayLike,
    stops: Sequence[tuple[str, float, float]] = (),
    *,
    level_noise: float = 1e-3,
    stop_noise: float = 1e-3,
) -> ZeroOffsets:
    """Estimate the joints' zero offsets from body inclinations and end-stop contacts.

    Maximum a posteriori estimation by least squares. The mounting of the inclinometer (`level`) on
    the body and the base's inclination are estimated as well.

    Args:
        m: mechanism of any kind.
        readings: (N, n) positions of the driven joints at rest [m or rad], as in joint states.
        level: (N, 3) specific force at rest in the frame of the inclinometer on the body, in any
            unit; it points up.
        stops: for each contact the joint, its reading, and -1 for its lower or 1 for its upper
            stop. The stops are at the model's limits.
        level_noise: [rad] standard deviation of the inclinometer's angles.
        stop_noise: [m or rad] standard deviation of the stops' positions.

    Returns:
        The zero offsets, with standard deviations and residuals.

    Raises:
        InvalidInput: wrong shapes, no samples, a joint without a stop, or readings that the model
            does not reach.
    """
    from scipy.optimize import least_squares  # slow to import

    n = len(m.joint_names)
    samples = as_array("readings", np.reshape(readings, (-1, n)), (n,), "m or rad")
    up = as_array("level", np.reshape(level, (-1, 3)), (3,))
    if len(samples) != len(up) or not len(up) + len(stops):
        raise InvalidInput(
            f"{len(samples)} readings, {len(up)} levels (inclinometer) and {len(stops)} stops: "
            "expected a level for each reading, and at least one level or stop",
            value=len(samples),
        )
    up = up / np.linalg.norm(up, axis=1, keepdims=True)
    angle = as_scalar("level_noise", level_noise, "rad", above=0.0)
    touch = as_scalar("stop_noise", stop_noise, "m or rad", above=0.0)
    problem = _ZeroProblem(m, samples, up, [_stop(m, *each) for each in stops], angle, touch)
    start = np.zeros(n + 5)
    try:
        problem.weighted_residuals(start)
    except KinematicsError as error:
        raise InvalidInput(
            f"{m.name} has no configuration near all readings: {error}", value=samples
        ) from error
    found = least_squares(problem.residuals, start, method="lm", x_scale=1.0)
    covariance = np.linalg.inv(found.jac.T @ found.jac)
    left, scale = problem.residuals(found.x), problem.scale
    deviations = scale * np.sqrt(np.diag(covariance))
    count = 3 * len(samples)
    return ZeroOffsets(
        m.joint_names,
        m.drives.units,
        found.x[:n] * scale[:n],
        deviations[:n],
        deviations[:n] < 0.7 * scale[:n],
        found.x[n + 3 :] * scale[n + 3 :],
        angle * float(np.sqrt(np.sum(left[:count] ** 2) / max(2 * len(samples), 1))),
        touch * float(np.sqrt(np.mean(left[count:] ** 2))) if len(stops) else float("nan"),
    )


class _ZeroProblem:
    """Least-squares problem of `find_zeros`, as a function of scaled unknowns (n + 5,).

    The unknowns are the joints' zeros, the rotation vector of the inclinometer on the body, and two
    inclinations of the base.
    """

    def __init__(
        self,
        m: Mechanism,
        samples: FloatArray,
        up: FloatArray,
        stops: Sequence[tuple[int, float, float]],
        level_noise: float,
        stop_noise: float,
    ) -> None:
        self._mechanism, self._samples, self._up, self._stops = m, samples, up, stops
        self._level_noise, self._stop_noise = level_noise, stop_noise
        zero = np.array([LENGTH * m.size if unit == "m" else ANGLE for unit in m.drives.units])
        self.scale = np.concatenate([zero, np.full(3, MOUNTED), np.full(2, INCLINED)])
        self._guesses = [m.home] * len(samples)

    def weighted_residuals(self, unknowns: FloatArray) -> FloatArray:
        """Compute residuals (k,) of inclinations and stops, divided by their noise."""
        from scipy.spatial.transform import Rotation  # slow to import

        m, guesses, n = self._mechanism, self._guesses, self._samples.shape[1]
        zeros, mounted, inclined = np.split(unknowns * self.scale, [n, n + 3])
        E, B = Rotation.from_rotvec([mounted, np.append(inclined, 0.0)]).as_matrix()
        of_level = np.empty((len(self._samples), 3))
        for k, row in enumerate(self._samples):
            positions = m.drives.signs * (row + zeros) + m.drives.offsets
            guesses[k] = m.assemble(positions, guesses[k])
            R = rotation_matrix(m.body_pose(guesses[k]))
            of_level[k] = self._up[k] - B[2] @ R @ E
        of_stops = [(reading + zeros[j] - at) / self._stop_noise for j, reading, at in self._stops]
        return np.concatenate([of_level.ravel() / self._level_noise, of_stops])

    def residuals(self, unknowns: FloatArray) -> FloatArray:
        """Compute the weighted residuals of the measurements, followed by the prior's.

        If the mechanism cannot be assembled, all residuals have the same large value.
        """
        try:
            return np.concatenate([self.weighted_residuals(unknowns), unknowns])
        except KinematicsError:
            count = 3 * len(self._samples) + len(self._stops) + len(unknowns)
            return np.full(count, NO_SOLUTION)


def _stop(m: Mechanism, joint: str, reading: float, end: float) -> tuple[int, float, float]:
    """Return a joint's index, its reading at an end stop and the true reading there."""
    if joint not in m.joint_names:
        raise InvalidInput(
            f"end stop of the unknown joint {joint!r}, expected one of {', '.join(m.joint_names)}",
            value=joint,
        )
    j = m.joint_names.index(joint)
    at = float(m.drives.signs[j] * (m.position_limits[j, int(end > 0)] - m.drives.offsets[j]))
    if not np.isfinite(at):
        raise InvalidInput(
            f"{joint} has no position limit, so the position of its end stop is unknown",
            value=joint,
        )
    return j, float(reading), at


def read_zero_samples(
    path: str | Path, m: Mechanism
) -> tuple[FloatArray, FloatArray, list[tuple[str, float, float]]]:
    """Read the samples for `find_zeros` from a CSV file.

    Samples are taken at rest, or in contact with end stops.

    Columns: `<joint>.position` of every driven joint, `level.x`, `level.y`, `level.z`, and `end`. A
    row without values of the inclinometer (`level`) records contact: the joints with a reading are
    at their lower stops or, with 1 in `end`, at the upper ones.

    Returns:
        Arguments `readings` (N, n), `level` (N, 3) and `stops` of `find_zeros`.

    Raises:
        InvalidInput: the file does not exist, or a cell or column is invalid or missing.
    """
    columns, joints, line = joint_columns(path, m)
    none = np.full(len(joints), np.nan)
    level = np.column_stack([columns.get(name, none) for name in LEVEL])
    is_level = np.isfinite(level).all(axis=1)
    for row in np.flatnonzero(is_level & ~np.isfinite(joints).all(axis=1)):
        raise InvalidInput(
            f"{path}: sample {row + 1} has an inclinometer reading (level), but not all joint "
            "positions, which it requires",
            value=line + int(row) + 1,
        )
    ends = columns.get("end", none)
    stops = [
        (m.joint_names[j], float(joints[row, j]), 1.0 if ends[row] > 0 else -1.0)
        for row in np.flatnonzero(~is_level)
        for j in np.flatnonzero(np.isfinite(joints[row]))
    ]
    return joints[is_level], level[is_level], stops
