# SPDX-License-Identifier: Apache-2.0

"""Motion of a body with offsets that vary along the motion."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.planning.paths.curves import PoseCurve, Spline
from robodyn.poses import composed_pose, rotation_matrix
from robodyn.trajectories.base import Motion, RowTrajectory, Trajectory

COORDINATES = ("x", "y", "z", "rx", "ry", "rz", "spin")


class FreeMotion(RowTrajectory):
    """Trajectory of poses, displaced by offsets that vary along it.

    The body is first rotated about its own z axis by `spin`. It is then rotated about its origin
    around the vector (rx, ry, rz) in the base frame, by the angle with tan(angle / 2) = |(rx, ry,
    rz)| / 2, so that small values are angles. Finally it is translated by x, y, z.

    Args:
        path: original trajectory of body poses.
        controls: for each coordinate, control points (n,) [m or rad] of its offset as a B-spline
            over the trajectory's time.
    """

    def __init__(self, path: Trajectory, controls: dict[str, FloatArray]) -> None:
        self._path = path
        count = max(len(values) for values in controls.values())
        rows = np.array([controls.get(name, np.zeros(count)) for name in COORDINATES]).T
        turn = np.concatenate([0.5 * rows[:, 3:6], np.ones((count, 1))], axis=1)
        self._offset = PoseCurve(np.concatenate([rows[:, :3], turn], axis=1))
        self._splines = {name: Spline(rows[:, [k]]) for k, name in enumerate(COORDINATES)}

    @property
    def duration(self) -> float:
        """Duration [s] of the original trajectory, which the offsets do not change."""
        return self._path.duration

    @property
    def switching_times(self) -> tuple[float, ...]:
        """Switching times of the original trajectory [s]."""
        return self._path.switching_times

    def offset(self, name: str, times: FloatArray) -> FloatArray:
        """Compute the offset (N,) [m or rad] of a coordinate at times (N,) [s].

        `name` is one of x, y, z, rx, ry, rz and spin.
        """
        return self._splines[name](times / self.duration)[:, 0]

    def _rows(self, t: FloatArray) -> Motion:
        pose, twist, accel = self._path.sample(t)
        rate = np.where((t >= 0.0) & (t <= self.duration), 1.0 / self.duration, 0.0)[:, None]
        s = t / self.duration
        spin, spin1, spin2 = (self._splines["spin"](s, order) for order in range(3))
        moved = self._offset.motion(s)
        v, a = moved.velocity * rate, moved.acceleration * rate**2
        axis = rotation_matrix(pose)[:, :, 2]
        half = 0.5 * spin
        own = np.concatenate([np.zeros((len(s), 5)), np.sin(half), np.cos(half)], axis=1)
        turned = composed_pose(pose, own)
        w = twist[:, 3:]
        inner = w + axis * spin1 * rate
        change = accel[:, 3:] + np.cross(w, axis) * spin1 * rate + axis * spin2 * rate**2
        turn = rotation_matrix(moved.configuration)
        wd, inner, change = v[:, 3:], _rotate(turn, inner), _rotate(turn, change)
        rotation = np.zeros((len(s), 7))
        rotation[:, 3:] = moved.configuration[:, 3:]
        in_place = turned.copy()
        in_place[:, :3] = 0.0
        final = composed_pose(rotation, in_place)
        final[:, :3] = pose[:, :3] + moved.configuration[:, :3]
        return Motion(
            final,
            np.concatenate([twist[:, :3] + v[:, :3], wd + inner], axis=1),
            np.concatenate(
                [accel[:, :3] + a[:, :3], a[:, 3:] + change + np.cross(wd, inner)], axis=1
            ),
        )


def _rotate(turn: FloatArray, vectors: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("nij,nj->ni", turn, vectors))
