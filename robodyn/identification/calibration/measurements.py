# SPDX-License-Identifier: Apache-2.0

"""Measurements for a calibration, and their CSV file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray, short_repr
from robodyn.checks import as_array, check_choice
from robodyn.errors import InvalidInput
from robodyn.formats.csv_text import read_columns, write_columns
from robodyn.identification.calibration.settings import Point
from robodyn.identification.plausibility import PositionUnit, convert_to_model_units
from robodyn.mechanism.mechanism import Mechanism
from robodyn.poses import matrix_from_pose

POSITION, QUATERNION = ("x", "y", "z"), ("qx", "qy", "qz", "qw")
# Components of a target's pose (7,) that contain each kind of measurement.
KINDS = {"pose": slice(7), "position": slice(3), "height": slice(2, 3), "distance": slice(1)}
# Tolerance of quaternions' lengths, as trackers write them with few digits.
UNIT_LENGTH = 0.01
DISTANCE = "distance:"
BASE_POINT = ("base_point.x", "base_point.y", "base_point.z")
BODY_POINT = ("body_point.x", "body_point.y", "body_point.z")
# A named point is fixed to a body if it stays within this fraction of the size [-], while the
# mechanism's coordinates move by [rad or m].
RIGID, MOVED = 1e-9, 1e-3


def nominal_target(measure: str, poses: FloatArray) -> dict[str, FloatArray]:
    """Return the values that an exact measurement of a target's poses would have.

    Args:
        measure: kind of measurement, one of `KINDS` except `distance`.
        poses: (N, 7) of the target, base frame.

    Returns:
        Keyword argument of `Measurements.from_arrays`: name of the kind, and the values (N, ...).
    """
    return {measure: poses[:, 2 if measure == "height" else KINDS[measure]]}


@dataclass(frozen=True)
class Measurements:
    """Measurements for a calibration: N samples of a mechanism at rest, in SI units.

    Attributes:
        joints: (N, n) positions of the driven joints as the mechanism measures them, with its own
            zero offsets.
        pose: (N, 7) of the target as measured by the tracker: x y z [m], quaternion x y z w; or
            None.
        position: (N, 3) [m] of the target if its orientation is not measured; or None.
        passive: readings (N,) [rad or m] of passive joints by name, as the URDF measures them.
        source: file that they were read from.
        height: (N,) [m] of the tip along the base's z axis; or None.
        distance: (N,) [m] from a point of the base to a point of the body; or None.
        base_point, body_point: (N, 3) or (1, 3) [m] these points, in the frames of base and body.
    """

    joints: FloatArray
    pose: FloatArray | None = None
    position: FloatArray | None = None
    passive: Mapping[str, FloatArray] = field(default_factory=dict)
    source: str = ""
    height: FloatArray | None = None
    distance: FloatArray | None = None
    base_point: FloatArray = field(default_factory=lambda: np.zeros((1, 3)))
    body_point: FloatArray = field(default_factory=lambda: np.zeros((1, 3)))

    __repr__ = short_repr

    @property
    def where(self) -> str:
        """Name that identifies the measurements in messages."""
        return self.source or "measurements"

    @property
    def target(self) -> FloatArray:
        """Measured pose (N, 7) of the target; identity in unmeasured components."""
        poses = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (len(self.joints), 1))
        for kind in self.kinds:
            poses[:, KINDS[kind]] = getattr(self, kind).reshape(len(poses), -1)
        return poses

    @property
    def kinds(self) -> list[str]:
        """List of the kind of measurement of the target, such as `height`; may be empty."""
        return [kind for kind in KINDS if getattr(self, kind) is not None]

    @classmethod
    def from_arrays(
        cls,
        m: Mechanism,
        joints: ArrayLike,
        *,
        pose: ArrayLike | None = None,
        position: ArrayLike | None = None,
        height: ArrayLike | None = None,
        distance: ArrayLike | None = None,
        base_point: Point = (0.0, 0.0, 0.0),
        body_point: Point = (0.0, 0.0, 0.0),
        passive: Mapping[str, ArrayLike] | None = None,
        source: str = "",
    ) -> Measurements:
        """Create checked measurements from arrays.

        Args:
            m: mechanism of any kind.
            joints: (N, n) positions of the driven joints [m or rad].
            pose: (N, 7) of the target [m, -], base frame; or
            position: (N, 3) of the target [m]; or
            height: (N,) of the tip along the base's z axis [m]; or
            distance: (N,) from a point of the base to a point of the body [m].
            base_point, body_point: these two points, (3,) or (N, 3) [m] in the frame of base or
                body, or names of links, joints or closures.
            passive: readings (N,) [m or rad] by the names of passive joints.
            source: name for messages.

        Returns:
            Checked samples of joint positions and of the target.

        Raises:
            InvalidInput: shapes are wrong, values are not finite, or quaternions are not of unit
                length.
        """
        where = as_array("joints", joints, (len(m.joint_names),), "m or rad")
        if where.ndim != 2:
            raise InvalidInput(f"joints has shape {where.shape}, expected (N, n)", value=joints)
        given = zip(KINDS, (pose, position, height, distance), ((7,), (3,), (), ()), strict=True)
        target: dict[str, Any] = {
            name: as_array(name, each, shape, "" if name == "pose" else "m")
            for name, each, shape in given
            if each is not None
        }
        if len(target) > 1:
            first, second, *_ = target
            raise InvalidInput(f"give {first} or {second}, not both", value=list(target))
        if pose is not None:
            target["pose"] = _poses(target["pose"], source)
        others = {name: as_array(name, each, ()) for name, each in (passive or {}).items()}
        points = {
            "base_point": resolve_points(m, "base_point", base_point),
            "body_point": resolve_points(m, "body_point", body_point),
        }
        many = {name: each for name, each in points.items() if len(each) > 1}
        for name, each in (target | others | many).items():
            if each.shape[:1] != where.shape[:1]:
                raise InvalidInput(
                    f"{name} has shape {each.shape}, expected {len(where)} samples, as in joints",
                    value=each.shape,
                )
        return cls(where, passive=others, source=source, **target, **points)

    def to_csv(self, path: str | Path, m: Mechanism) -> None:
        """Write a CSV file for `read_measurements`.

        Args:
            path: file to write.
            m: mechanism with the joints.

        Raises:
            OutputError: the file cannot be written.
        """
        readings = m.drives.signs * (self.joints - m.drives.offsets)
        header = [f"{name}.position" for name in m.joint_names]
        columns = [readings]
        if self.distance is None:
            for kind in self.kinds:
                header += (*POSITION, *QUATERNION)[KINDS[kind]]
                columns.append(self.target[:, KINDS[kind]])
        else:
            header += ["distance", *BASE_POINT, *BODY_POINT]
            points = (self.base_point, self.body_point)
            rows = [np.broadcast_to(each, (len(self.joints), 3)) for each in points]
            columns += [self.distance[:, None], *rows]
        header += [f"{name}.position" for name in self.passive]
        columns += [np.asarray(each)[:, None] for each in self.passive.values()]
        write_columns(path, zip(header, np.hstack(columns).T, strict=True))


def read_measurements(
    path: str | Path,
    m: Mechanism,
    *,
    position_unit: PositionUnit = "",
    tracker_unit: Literal["", "m", "mm"] = "",
) -> Measurements:
    """Read measurements from a CSV file with one sample at rest per row.

    Columns, in any order: `<joint>.position` of every driven joint, as in its joint state;
    `x, y, z` [m] of the target and, if measured, its `qx, qy, qz, qw`; and `<joint>.position` of
    measured passive joints.

    Args:
        path: CSV file.
        m: mechanism of any kind.
        position_unit: `deg` or `mm` if revolute or prismatic joints are in these units.
        tracker_unit: `mm` if x, y and z are in millimeters.

    Returns:
        Samples of joint positions and of the target, in SI units.

    Raises:
        InvalidInput: the file does not exist, or a cell or column is invalid or missing.
    """
    check_choice("tracker_unit", tracker_unit or "m", ("m", "mm"))
    columns, readings, line = joint_columns(path, m)
    named = [name for name in columns if name.startswith(DISTANCE)]
    for name, values in columns.items():
        if name not in named and not np.isfinite(values).all():
            row = 1 + int(np.flatnonzero(~np.isfinite(values))[0])
            raise InvalidInput(
                f"{path}: sample {row} has no number in column {name!r}; leave out incomplete "
                "samples",
                value=line + row,
            )
    joints, _ = convert_to_model_units(m, readings, None, position_unit, str(path), [])
    scale = 1e-3 if tracker_unit == "mm" else 1.0
    measured = _target(path, columns, scale)
    if named:
        rows, which = np.nonzero(np.isfinite([columns[name] for name in named]).T)
        ends = [(*name[len(DISTANCE) :].split(":"), "")[:2] for name in named]
        joints = joints[rows]
        columns = {name: values[rows] for name, values in columns.items()}
        measured |= {
            "distance": scale * np.array([columns[named[k]][i] for i, k in enumerate(which)]),
            "base_point": [ends[k][0] for k in which],
            "body_point": [ends[k][1] for k in which],
        }
    names = [name for name in m.passive_joint_names if f"{name}.position" in columns]
    passive = {name: columns[f"{name}.position"] for name in names}
    if position_unit == "deg":
        passive = {name: np.radians(each) for name, each in passive.items()}
    return Measurements.from_arrays(
        m,
        joints,
        **measured,
        passive=passive,
        source=str(path),
    )


def joint_columns(path: str | Path, m: Mechanism) -> tuple[dict[str, FloatArray], FloatArray, int]:
    """Read a CSV file that has a column for each driven joint's position.

    Returns:
        All columns (N,) of the file by name, the readings (N, n) of the driven joints among them,
        and the line number of the header.

    Raises:
        InvalidInput: the file does not exist, a cell is not a number, or a joint has no column.
    """
    header, numbers, line, *_ = read_columns(Path(path))
    columns = dict(zip(header, numbers.T, strict=True))
    required = [f"{name}.position" for name in m.joint_names]
    _refuse_missing(path, columns, required, f"; found {', '.join(header)}")
    return columns, np.column_stack([columns[name] for name in required]), line


def _target(path: str | Path, columns: Mapping[str, FloatArray], scale: float) -> dict[str, Any]:
    """Convert CSV columns of the tracked target to arguments of `from_arrays`."""
    found = [name for name in (*POSITION, *QUATERNION) if name in columns]
    if "distance" in columns:
        ends = {"base_point": BASE_POINT, "body_point": BODY_POINT}
        _refuse_missing(path, columns, (*BASE_POINT, *BODY_POINT), ", required with distance")
        points = {e: scale * np.column_stack([columns[n] for n in ns]) for e, ns in ends.items()}
        return {"distance": scale * columns["distance"], **points}
    if not found:
        return {}
    if found == ["z"]:
        return {"height": scale * columns["z"]}
    required = POSITION if not set(found) & set(QUATERNION) else (*POSITION, *QUATERNION)
    _refuse_missing(path, columns, required, f", required with {', '.join(found)}")
    place = scale * np.column_stack([columns[name] for name in POSITION])
    if len(required) == 3:
        return {"position": place}
    turn = np.column_stack([columns[name] for name in QUATERNION])
    return {"pose": np.hstack([place, turn])}


def _refuse_missing(
    path: str | Path, columns: Mapping[str, FloatArray], required: Sequence[str], more: str
) -> None:
    missing = [name for name in required if name not in columns]
    if missing:
        raise InvalidInput(f"{path}: missing columns: {', '.join(missing)}{more}", value=missing)


def resolve_points(m: Mechanism, which: str, given: Point) -> FloatArray:
    """Convert points that are fixed to the base or the body to coordinates.

    `which` is `base_point` or `body_point`. `given` contains coordinates [m], or names of links,
    joints or closures, whose origins are the points: one for all N samples, or one for each.

    Returns:
        Points (1, 3) or (N, 3) [m] in the frame of the base or the body.
    """
    names: Any = [given] if isinstance(given, str) else given
    if len(names) and isinstance(names[0], str):
        found = {name: _named_point(m, which, str(name)) for name in dict.fromkeys(names)}
        return np.array([found[str(name)] for name in names])
    return np.atleast_2d(as_array(which, given, (3,), "m"))


def _named_point(m: Mechanism, which: str, name: str) -> FloatArray:
    """Return the origin (3,) [m] of a joint, closure or link fixed to base or body.

    The origin is in the frame of the base or of the body, according to `which`.
    """
    model = m.model
    ends = [(each.parent, each.at.translation) for each in model.joints if each.name == name]
    for closure in model.closures:
        if closure.name == name:
            ends += [(link, place.translation) for link, place, _ in closure.ends]
    if name in [link.name for link in model.links]:
        ends.append((name, np.zeros(3)))
    moved = m.advance(m.home, np.full(m.coordinates.velocity_size, MOVED))
    for link, xyz in ends:
        seen = []
        for configuration in (m.home, moved):
            frame: Any = matrix_from_pose(m.link_pose(configuration, link))
            if which == "body_point":
                frame = np.linalg.solve(matrix_from_pose(m.body_pose(configuration)), frame)
            seen.append((frame @ [*xyz, 1.0])[:3])
        if np.abs(seen[0] - seen[1]).max() < RIGID * m.size:
            return np.asarray(seen[0], dtype=np.float64)
    part = which.partition("_")[0]
    raise InvalidInput(
        f"{which} is {name!r}, expected a link, joint or closure of {m.name} that is fixed to the "
        f"{part}, or x, y, z",
        value=name,
    )


def _poses(pose: FloatArray, source: str) -> FloatArray:
    """Normalize the quaternions of tracked poses, which are written with few digits."""
    out: FloatArray = pose.copy()
    norms = np.linalg.norm(pose[..., 3:], axis=-1, keepdims=True)
    worst = float(np.abs(norms - 1.0).max(initial=0.0))
    if worst > UNIT_LENGTH:
        where = f"{source}: " if source else ""
        raise InvalidInput(
            f"{where}a quaternion (qx, qy, qz, qw) has a length that "
            f"differs from 1 by {worst:.4g}, expected a unit quaternion",
            value=worst,
        )
    out[..., 3:] /= norms
    return out
