# SPDX-License-Identifier: Apache-2.0

"""Least-squares problem of a calibration: residuals, their derivatives, and the unknowns.

A tracker measures the target at B X E, where X is the body's pose, B the mechanism's base in the
tracker's frame and E the target on the body. A constraint is a measurement without a tracker: for a
fixed point, a point in a fixed plane, or a fixed orientation, some rows of B X E are zero in an
unknown frame B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np

from robodyn.algorithms.geometry import BodyPoses, Geometry
from robodyn.arrays import FloatArray
from robodyn.errors import RobodynError
from robodyn.identification.calibration.measurements import Measurements
from robodyn.identification.calibration.settings import Constraint
from robodyn.identification.calibration.tracking_frames import Frame
from robodyn.poses import cross_matrices, left_jacobian, rotation_matrix

POSITION, ORIENTATION, ALL = (0, 1, 2), (3, 4, 5), (0, 1, 2, 3, 4, 5)


class Measure(NamedTuple):
    """Components of the target's pose that a kind of measurement contains.

    The pose in the tracker's frame is B X E, with the base in the tracker's frame B, the body's
    pose X and the target on the body E.

    Attributes:
        rows: indices of the measured components among the six of a pose.
        target: indices of the degrees of freedom of E that may be unknown.
        base: indices of the degrees of freedom of B that may be unknown.
    """

    rows: tuple[int, ...]
    target: tuple[int, ...]
    base: tuple[int, ...]


MEASURES = {
    "pose": Measure(ALL, ALL, ALL),
    "position": Measure(POSITION, POSITION, ALL),
    "height": Measure((2,), POSITION, (2, 3, 4)),
    "distance": Measure((0,), ALL, ALL),
    "point": Measure(POSITION, POSITION, POSITION),
    "plane": Measure((2,), POSITION, (2, 3, 4)),
    "orientation": Measure(ORIENTATION, (), ORIENTATION),
    "none": Measure((), (), ()),
}
CONSTRAINTS: tuple[str, ...] = get_args(Constraint)
# Frames and zeros of sensors have a very weak prior [m over size, rad].
WIDE = 100.0


@dataclass(frozen=True)
class Frames:
    """Estimated poses of base and target, and zero offsets (k,) of passive joints.

    The base's pose is in the tracker's frame, the target's in the frame of the body.
    """

    base: Frame
    target: Frame
    zeros: FloatArray


class Freedoms(NamedTuple):
    """Indices of the unknown degrees of freedom of the base's and the target's pose.

    `zeros` states whether the zero offsets of the passive joints are unknown.
    """

    base: tuple[int, ...]
    target: tuple[int, ...]
    zeros: bool


class ResidualDerivatives(NamedTuple):
    """Residuals (N, r) of a calibration, measured minus predicted, and their derivatives.

    `jacobian` (N, r, U) and `by_joint` (N, r, n) are the derivatives of the predicted values with
    respect to the scaled unknowns and to the readings of the driven joints.
    """

    residual: FloatArray
    jacobian: FloatArray
    by_joint: FloatArray


@dataclass
class Problem:
    """Least-squares problem of a calibration: residuals as a function of U unknowns.

    The unknowns are scaled: deviations from the nominal parameters divided by their tolerances,
    then displacements of the frames divided by `WIDE`, translations also by `length`.

    Attributes:
        geometry: geometry of the mechanism.
        tolerance: (P,) standard deviations of the parameters [m, rad]; zero for fixed ones.
        measurements: samples.
        measure: one of `MEASURES`.
        frames: initial frames.
        free: unknowns of the frames.
        length: [m] characteristic length of the mechanism.
        poses: (N, 7) near those of the samples.
    """

    geometry: Geometry
    tolerance: FloatArray
    measurements: Measurements
    measure: str
    frames: Frames
    free: Freedoms
    length: float
    poses: FloatArray

    def __post_init__(self) -> None:
        """Compute the attributes that follow from the constructor's arguments."""
        geometry, measurements, free = self.geometry, self.measurements, self.free
        # several distances may be measured from one point
        _, self._first, which = np.unique(
            measurements.joints, axis=0, return_index=True, return_inverse=True
        )
        self._which = which.reshape(-1)
        self.nominal = np.array([each.value for each in geometry.parameters])
        self.rows = list(MEASURES[self.measure].rows)
        self.passive = [
            geometry.passive_joints.index(name)
            for name in measurements.passive
            if name in geometry.passive_joints
        ]
        seen = [measurements.passive[geometry.passive_joints[i]] for i in self.passive]
        self._seen = np.array(seen).T if seen else np.zeros((len(measurements.joints), 0))
        self.active = np.flatnonzero(self.tolerance > 0.0)
        # the group of each row of a sample's residual
        self.groups = ["position" if row < 3 else "orientation" for row in self.rows]
        self.groups += ["passive"] * len(self.passive)
        self.free_base, self.free_target = list(free.base), list(free.target)
        self._zeros = len(self.passive) if free.zeros else 0
        scale = WIDE * np.array([self.length] * 3 + [1.0] * 3)
        self._scale = np.concatenate(
            [
                self.tolerance[self.active],
                scale[self.free_base],
                scale[self.free_target],
                np.full(self._zeros, WIDE),
            ]
        )

    @property
    def count(self) -> int:
        """Number U of unknowns."""
        return len(self._scale)

    @property
    def equations(self) -> int:
        """Number of measured values."""
        return len(self.measurements.joints) * (len(self.rows) + len(self.passive))

    def unpack(self, unknowns: FloatArray) -> tuple[FloatArray, Frames]:
        """Convert scaled unknowns (U,) to the mechanism's parameters (P,) and the frames.

        Returns:
            Parameters (P,) [m, rad]; poses of base and target with zero offsets of passive joints.
        """
        parameters, base, target, zeros = self._steps(unknowns)
        values = self.nominal.copy()
        values[self.active] += parameters
        start = self.frames
        moved = Frames(
            start.base.displace(base), start.target.displace(target), start.zeros + zeros
        )
        return values, moved

    def _steps(self, unknowns: FloatArray) -> tuple[FloatArray, ...]:
        """Split scaled unknowns into steps of parameters, frames and joint zero offsets.

        Returns:
            Steps of the parameters, of the base frame (6,), of the target frame (6,), and of the
            zero offsets. The steps of known frame coordinates and offsets are 0.
        """
        counts = len(self.active), len(self.free_base), len(self.free_target)
        parts = np.split(unknowns * self._scale, np.cumsum(counts))
        base, target = np.zeros(6), np.zeros(6)
        base[self.free_base], target[self.free_target] = parts[1], parts[2]
        return parts[0], base, target, parts[3] if self._zeros else np.zeros_like(self.frames.zeros)

    def evaluate(self, unknowns: FloatArray) -> ResidualDerivatives | None:
        """Compute residuals and derivatives at scaled unknowns (U,).

        Returns:
            Residuals (N, r) of all samples and their derivatives, or None if the model has no pose
            for a sample.
        """
        values, frames = self.unpack(unknowns)
        measurements = self.measurements
        try:
            found = self.geometry.place(
                values, measurements.joints[self._first], self.poses[self._first]
            )
        except RobodynError:
            return None
        placed = BodyPoses(*(each[self._which] for each in found))
        self.poses = placed.poses
        _, turn_base, turn_target, _ = self._steps(unknowns)
        R, place = rotation_matrix(placed.poses), placed.poses[:, :3]
        RB, RE = frames.base.rotation, frames.target.rotation
        point = measurements.body_point @ RE.T
        arm = np.einsum("nij,nj->ni", R, frames.target.origin + point)
        body = np.concatenate([placed.by_parameter[:, :, self.active], placed.by_joint], axis=2)
        n = placed.by_joint.shape[2]
        moved = body[:, :3] + np.cross(body[:, 3:], arm[:, :, None], axis=1)
        of_body = np.concatenate([RB @ moved, RB @ body[:, 3:]], axis=1)
        seen_at = (place + arm) @ RB.T
        of_base = np.zeros((len(R), 6, 6))
        of_base[:, :3, :3] = of_base[:, 3:, 3:] = np.eye(3)
        turned = left_jacobian(turn_base[3:])
        of_base[:, :3, 3:] = -cross_matrices(seen_at) @ turned
        of_base[:, 3:, 3:] = turned
        of_target = np.zeros((len(R), 6, 6))
        of_target[:, :3, :3] = RB @ R
        turned = left_jacobian(turn_target[3:])
        of_target[:, :3, 3:] = -RB @ R @ cross_matrices(point) @ turned
        of_target[:, 3:, 3:] = RB @ R @ turned
        predicted = np.concatenate(
            [of_body[:, :, : len(self.active)], of_base[:, :, self.free_base],
             of_target[:, :, self.free_target], np.zeros((len(R), 6, self._zeros)),
             of_body[:, :, -n:]], axis=2
        )  # fmt: skip
        residual, predicted = self._difference(seen_at + frames.base.origin, RB @ R @ RE, predicted)
        passive = self._seen - placed.passive[:, self.passive] - frames.zeros
        passive -= 2.0 * np.pi * np.round(passive / (2.0 * np.pi))  # angles modulo a turn
        across = np.zeros((len(R), len(self.passive), predicted.shape[2]))
        across[:, :, : len(self.active)] = placed.passive_by_parameter[:, self.passive][
            :, :, self.active
        ]
        across[:, :, -n:] = placed.passive_by_joint[:, self.passive]
        if self._zeros:
            across[:, :, self.count - self._zeros : -n] = np.eye(self._zeros)
        whole = np.concatenate([predicted[:, self.rows], across], axis=1)
        return ResidualDerivatives(
            np.concatenate([residual[:, self.rows], passive], axis=1),
            whole[:, :, :-n] * self._scale,
            whole[:, :, -n:],
        )

    def _difference(
        self, place: FloatArray, rotation: FloatArray, predicted: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Compute the pose residuals (N, 6) of the tracked target, and their derivatives.

        `predicted` contains the derivatives of the predicted pose w.r.t. the unknowns.
        """
        seen, turn = self.measurements.target, np.zeros((len(place), 3))
        if 3 in self.rows:
            # imported here: see `tracking_frames`
            from scipy.spatial.transform import Rotation

            turn = Rotation.from_matrix(rotation_matrix(seen) @ rotation.swapaxes(1, 2)).as_rotvec()
            # log(exp(r) exp(-d)) = r - Jr(r)^-1 d, and Jr(r) = Jl(-r)
            predicted = predicted.copy()
            inverse = np.array([np.linalg.inv(left_jacobian(-each)) for each in turn])
            predicted[:, 3:] = inverse @ predicted[:, 3:]
        apart = seen[:, :3] - place
        if self.measure == "distance":
            # the residual along the line between the points, whose far end moves
            apart = place - self.measurements.base_point
            lengths = np.linalg.norm(apart, axis=1, keepdims=True)
            predicted = predicted.copy()
            predicted[:, 0] = np.einsum("ni,nij->nj", apart / lengths, predicted[:, :3])
            apart = np.tile(seen[:, :1] - lengths, 3)
        return np.concatenate([apart, turn], axis=1), predicted
