# SPDX-License-Identifier: Apache-2.0

"""Measurements for a calibration, and their CSV file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray, short_repr
from robodyn.checks import as_array
from robodyn.errors import InvalidInput, writing
from robodyn.formats.csv_text import read_columns, write_columns
from robodyn.identification.plausibility import PositionUnit, in_model_units
from robodyn.mechanism.mechanism import Mechanism

POSITION, QUATERNION = ("x", "y", "z"), ("qx", "qy", "qz", "qw")
# Trackers write quaternions with few digits; what is further from unit length is something else.
UNIT_LENGTH = 0.01


@dataclass(frozen=True)
class Measurements:
    """Samples of a mechanism at rest; SI units.

    Attributes:
        joints: (N, n) positions of the driven joints as the mechanism measures them, by its zeros.
        pose: (N, 7) of the target by the tracker: x y z [m], quaternion x y z w; or None.
        position: (N, 3) [m] of the target where its orientation is not measured; or None.
        passive: readings (N,) [rad or m] of passive joints by their names, as the URDF measures
            them.
        source: the file they were read from.
    """

    joints: FloatArray
    pose: FloatArray | None = None
    position: FloatArray | None = None
    passive: Mapping[str, FloatArray] = field(default_factory=dict)
    source: str = ""

    __repr__ = short_repr

    @property
    def where(self) -> str:
        """Their name in messages."""
        return self.source or "measurements"

    @property
    def target(self) -> FloatArray:
        """(N, 7) pose of the target, as far as it was measured; of a constraint the frame's own."""
        if self.pose is not None:
            return self.pose
        poses = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (len(self.joints), 1))
        if self.position is not None:
            poses[:, :3] = self.position
        return poses

    @classmethod
    def from_arrays(
        cls,
        m: Mechanism,
        joints: ArrayLike,
        *,
        pose: ArrayLike | None = None,
        position: ArrayLike | None = None,
        passive: Mapping[str, ArrayLike] | None = None,
        source: str = "",
    ) -> Measurements:
        """Checked measurements.

        Args:
            m: the mechanism.
            joints: (N, n) positions of the driven joints [m or rad].
            pose: (N, 7) of the target [m, -], base frame; or
            position: (N, 3) of the target [m].
            passive: (N,) [m or rad] by the names of passive joints.
            source: the name for messages.

        Raises:
            InvalidInput: wrong shapes, values that are not finite, quaternions not of unit length.
        """
        where = as_array("joints", joints, (len(m.joint_names),), "m or rad")
        if where.ndim != 2:
            raise InvalidInput(f"joints has shape {where.shape}, expected (N, n)", value=joints)
        if pose is not None and position is not None:
            raise InvalidInput("give poses or positions of the target, not both", value=position)
        count = (len(where),)
        poses = None if pose is None else _poses(as_array("pose", pose, (7,)), source)
        places = None if position is None else as_array("position", position, (3,), "m")
        others = {name: as_array(name, each, ()) for name, each in (passive or {}).items()}
        for name, each in (("pose", poses), ("position", places), *others.items()):
            if each is not None and each.shape[:1] != count:
                raise InvalidInput(
                    f"{name} has shape {each.shape}, expected {count[0]} samples as joints has",
                    value=each.shape,
                )
        return cls(where, poses, places, others, source)

    def to_csv(self, path: str | Path, m: Mechanism) -> None:
        """Write them as `read_measurements` reads them.

        Raises:
            OutputError: the file cannot be written.
        """
        readings = m.drives.signs * (self.joints - m.drives.offsets)
        header = [f"{name}.position" for name in m.joint_names]
        columns = [readings]
        if self.pose is not None:
            header += [*POSITION, *QUATERNION]
            columns.append(self.pose)
        if self.position is not None:
            header += POSITION
            columns.append(self.position)
        header += [f"{name}.position" for name in self.passive]
        columns += [np.asarray(each)[:, None] for each in self.passive.values()]
        with writing(path):
            write_columns(path, zip(header, np.hstack(columns).T, strict=True))


def read_measurements(
    path: str | Path,
    m: Mechanism,
    *,
    position_unit: PositionUnit = "",
    tracker_unit: Literal["", "m", "mm"] = "",
) -> Measurements:
    """Read measurements from a CSV file with a sample at rest in each row.

    Columns, in any order: `<joint>.position` of every driven joint, as its joint state has it;
    `x, y, z` [m] of the target and `qx, qy, qz, qw` where its orientation is measured; and
    `<joint>.position` of passive joints that are measured.

    Args:
        path: the file.
        m: the mechanism.
        position_unit: `deg` or `mm` where revolute or prismatic joints are in these.
        tracker_unit: `mm` where x, y and z are in millimeters.

    Raises:
        InvalidInput: no such file, or a cell or column that is wrong or missing.
    """
    if tracker_unit not in ("", "m", "mm"):
        raise InvalidInput(
            f"tracker_unit is {tracker_unit!r}, expected one of m, mm", value=tracker_unit
        )
    columns, readings, line = joint_columns(path, m)
    for name, values in columns.items():
        if not np.isfinite(values).all():
            row = 1 + int(np.flatnonzero(~np.isfinite(values))[0])
            raise InvalidInput(
                f"{path}: sample {row} has no number in column {name!r}; leave samples out that "
                "were not measured whole",
                value=line + row,
            )
    joints, _ = in_model_units(m, readings, None, position_unit, str(path), [])
    pose, position = _target(path, columns, 1e-3 if tracker_unit == "mm" else 1.0)
    names = [name for name in m.passive_joint_names if f"{name}.position" in columns]
    passive = {name: columns[f"{name}.position"] for name in names}
    if position_unit == "deg":
        passive = {name: np.radians(each) for name, each in passive.items()}
    return Measurements.from_arrays(
        m,
        joints,
        pose=pose,
        position=position,
        passive=passive,
        source=str(path),
    )


def joint_columns(path: str | Path, m: Mechanism) -> tuple[dict[str, FloatArray], FloatArray, int]:
    """Columns (N,) of a CSV file, readings (N, n) of the driven joints, and the header's line.

    Raises:
        InvalidInput: no such file, a cell that is no number, or a joint without a column.
    """
    header, numbers, line, *_ = read_columns(Path(path))
    columns = dict(zip(header, numbers.T, strict=True))
    wanted = [f"{name}.position" for name in m.joint_names]
    missing = [name for name in wanted if name not in columns]
    if missing:
        raise InvalidInput(
            f"{path}: no column {', '.join(missing)}; found {', '.join(header)}", value=missing
        )
    return columns, np.column_stack([columns[name] for name in wanted]), line


def _target(
    path: str | Path, columns: Mapping[str, FloatArray], scale: float
) -> tuple[FloatArray | None, FloatArray | None]:
    found = [name for name in (*POSITION, *QUATERNION) if name in columns]
    if not found:
        return None, None
    wanted = POSITION if not set(found) & set(QUATERNION) else (*POSITION, *QUATERNION)
    missing = [name for name in wanted if name not in columns]
    if missing:
        raise InvalidInput(
            f"{path}: no column {', '.join(missing)} beside {', '.join(found)}", value=missing
        )
    place = scale * np.column_stack([columns[name] for name in POSITION])
    if len(wanted) == 3:
        return None, place
    turn = np.column_stack([columns[name] for name in QUATERNION])
    return np.hstack([place, turn]), None


def _poses(pose: FloatArray, source: str) -> FloatArray:
    """Poses with quaternions of unit length, as trackers write these with few digits."""
    out: FloatArray = pose.copy()
    norms = np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
    worst = float(np.abs(norms - 1.0).max(initial=0.0))
    if worst > UNIT_LENGTH:
        where = f"{source}: " if source else ""
        raise InvalidInput(
            f"{where}a quaternion (qx, qy, qz, qw) has length {1.0 + worst:.4g} or its inverse, "
            "expected 1",
            value=worst,
        )
    out[..., 3:] /= norms
    return out
