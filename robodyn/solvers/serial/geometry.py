# SPDX-License-Identifier: Apache-2.0

"""Dimensions of an arm for calibration: a chain of elementary translations and rotations.

If a Denavit-Hartenberg table describes all joints, the dimensions are its entries d, a, alpha and
the joints' offsets; nearly parallel neighboring axes have an additional rotation beta about y,
without which the table cannot express a small misalignment (Hayati 1983). Other arms have the
origin of each joint as in a URDF: x, y, z, and small rotations rx, ry, rz about the axes of the
frame before. An elementary translation moves the tip along the axis of translation, a rotation
along its axis crossed with the vector to the tip.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.spatial.transform import Rotation

from robodyn.algorithms.geometry import BodyPoses, GeometricParameter
from robodyn.arrays import FloatArray
from robodyn.model.placement import Placement
from robodyn.solvers.serial.chain import Chain, with_tip

# Tolerance [m, rad] of a match with a Denavit-Hartenberg table.
EXACT = 1e-6
# Angle [rad] between axes below which their common normal is useless for calibration.
PARALLEL = 0.1
X, Y, Z = np.eye(3)


@dataclass(frozen=True)
class _Step:
    """Elementary translation or rotation that represents a parameter or a joint.

    Attributes:
        turns: whether the step is a rotation.
        axis: (3,) direction, in the frame before the step.
        parameter, joint: index of the parameter or joint that the step represents, else -1.
        rotation: (3, 3) matrix if the step is a constant rotation; None if it is variable.
    """

    turns: bool
    axis: FloatArray
    parameter: int = -1
    joint: int = -1
    rotation: FloatArray | None = None


class ArmGeometry:
    """Geometric parameters of an arm for its calibration.

    Args:
        arm: nominal mechanism.
    """

    def __init__(self, arm: Any) -> None:
        self._arm = arm
        chain = arm.chain
        frames = [*(joint.at for joint in chain.joints), chain.tip]
        places = [(at.rotation, at.translation) for at in frames]
        self._parameters: list[GeometricParameter] = []
        self._places: list[list[_Step]] = []
        rows = [_dh_row(R, t) for R, t in places]
        for index, joint in enumerate(chain.joints):
            row = rows[index]
            if row is not None and joint.kind != "prismatic" and abs(row.shift) > EXACT:
                rows[index] = None
        tip = rows[-1]
        if tip is not None and max(abs(tip.shift), abs(tip.theta)) > EXACT:
            rows[-1] = None
        upright = all(np.abs(joint.axis - Z).max() < EXACT for joint in chain.joints)
        for index, (R, t) in enumerate(places):
            row = rows[index]
            if upright and row is not None and all(each is not None for each in rows):
                self._places.append(self._dh_steps(chain, index, row))
            else:
                self._places.append(self._origin_steps(chain, index, R, t))
        self._steps: list[_Step] = []
        for index, steps in enumerate(self._places):
            self._steps += steps
            if index < arm.n:
                joint = chain.joints[index]
                turns = joint.kind != "prismatic"
                self._steps.append(_Step(turns, joint.axis, joint=index))

    @property
    def parameters(self) -> tuple[GeometricParameter, ...]:
        """Geometric parameters, in order from the base to the tip."""
        return tuple(self._parameters)

    @property
    def passive_joints(self) -> tuple[str, ...]:
        """Names of the passive joints: an empty tuple, because an arm has none."""
        return ()

    def with_geometry(self, values: FloatArray) -> Any:
        """Return the arm with other geometric parameters (P,) [m or rad].

        They are in the order of `parameters`. The links' inertias in their frames do not change.
        """
        numbers = np.asarray(values, dtype=np.float64)
        *places, tip = (Placement(*_product(steps, numbers)) for steps in self._places)
        placed = zip(self._arm.chain.joints, places, strict=True)
        joints = tuple(replace(joint, at=at) for joint, at in placed)
        model = self._arm.model
        whole = replace(model, joints=(*joints, *model.joints[len(joints) :]))
        return self._arm._made(with_tip(whole, tip, model.tip_link))

    def place(self, values: FloatArray, driven: FloatArray, guess: FloatArray) -> BodyPoses:
        """Compute poses of the tip and their derivatives w.r.t. parameters and readings.

        Args:
            values: (P,) [m or rad] geometric parameters, in the order of `parameters`.
            driven: (N, n) [rad or m] readings of the joints.
            guess: not used.

        Returns:
            Poses (N, 7) of the tip in the base frame, and the derivatives of their displacements
            with respect to parameters and readings; see `BodyPoses`.
        """
        count, n = len(driven), self._arm.n
        R = np.broadcast_to(np.eye(3), (count, 3, 3))
        t = np.zeros((count, 3))
        columns = np.zeros((count, 6, len(self._parameters) + n))
        origins = np.zeros((count, 3, columns.shape[2]))
        for step in self._steps:
            if step.rotation is not None:
                R = R @ step.rotation
                continue
            of_joint = step.parameter < 0
            column = len(self._parameters) + step.joint if of_joint else step.parameter
            amount = driven[:, step.joint] if of_joint else np.full(count, values[step.parameter])
            axis = R @ step.axis
            if step.turns:
                columns[:, 3:, column], origins[:, :, column] = axis, t
                R = R @ Rotation.from_rotvec(amount[:, None] * step.axis).as_matrix()
            else:
                columns[:, :3, column] = axis
                t = t + amount[:, None] * axis
        columns[:, :3] += np.cross(columns[:, 3:], t[:, :, None] - origins, axis=1)
        quaternions = Rotation.from_matrix(R).as_quat()
        quaternions *= np.where(quaternions[:, 3:] < 0.0, -1.0, 1.0)
        p = len(self._parameters)
        none = np.zeros((count, 0))
        return BodyPoses(
            np.concatenate([t, quaternions], axis=1),
            columns[:, :, :p],
            columns[:, :, p:],
            none,
            np.zeros((count, 0, p)),
            np.zeros((count, 0, n)),
        )

    def _step(self, name: str, value: float, axis: FloatArray, unit: Literal["m", "rad"]) -> _Step:
        self._parameters.append(GeometricParameter(name, unit, float(value)))
        return _Step(unit == "rad", axis, len(self._parameters) - 1)

    def _dh_steps(self, chain: Chain, index: int, row: _Row) -> list[_Step]:
        """Return the elementary steps from one joint's frame to the next, or to the tip.

        The steps represent the parameters of a Denavit-Hartenberg row; see `_dh_row`.
        """
        steps = []
        if index:
            before = chain.joints[index - 1]
            link = before.child
            if before.kind != "prismatic":
                steps.append(self._step(f"{link}.d", row.d, Z, "m"))
            steps.append(self._step(f"{link}.a", row.a, X, "m"))
            steps.append(self._step(f"{link}.alpha", row.alpha, X, "rad"))
            if abs(np.sin(row.alpha)) < np.sin(PARALLEL) and index < self._arm.n:
                steps.append(self._step(f"{link}.beta", 0.0, Y, "rad"))
        if index < self._arm.n:
            joint = chain.joints[index]
            if joint.kind == "prismatic":
                steps.append(self._step(f"{joint.name}.theta", row.theta, Z, "rad"))
                steps.append(self._step(f"{joint.name}.offset", row.shift, Z, "m"))
            else:
                steps.append(self._step(f"{joint.name}.offset", row.theta, Z, "rad"))
        return steps

    def _origin_steps(self, chain: Chain, index: int, R: FloatArray, t: FloatArray) -> list[_Step]:
        name = chain.joints[index].name if index < self._arm.n else "tip"
        axes = tuple(zip("xyz", (X, Y, Z), strict=True))
        steps = [
            self._step(f"{name}.{letter}", value, axis, "m")
            for (letter, axis), value in zip(axes, t, strict=True)
        ]
        steps += [self._step(f"{name}.r{letter}", 0.0, axis, "rad") for letter, axis in axes]
        return [*steps, _Step(True, Z, rotation=R)]


@dataclass(frozen=True)
class _Row:
    """Row of a Denavit-Hartenberg table: Tz(d) Tx(a) Rx(alpha) Rz(theta) Tz(shift)."""

    d: float
    a: float
    alpha: float
    theta: float
    shift: float


def _dh_row(R: FloatArray, t: FloatArray) -> _Row | None:
    """Convert a relative pose to standard Denavit-Hartenberg parameters, if possible.

    The result is None if no parameters give this pose. `shift` is a translation along the z axis of
    the second frame, such as the offset of a prismatic joint.
    """
    if abs(R[0, 2]) > EXACT:
        return None
    alpha = float(np.arctan2(-R[1, 2], R[2, 2]))
    theta = float(np.arctan2(-R[0, 1], R[0, 0]))
    sine = np.sin(alpha)
    if abs(sine) < EXACT:
        return None if abs(t[1]) > EXACT else _Row(float(t[2]), float(t[0]), alpha, theta, 0.0)
    shift = float(-t[1] / sine)
    return _Row(float(t[2] - shift * np.cos(alpha)), float(t[0]), alpha, theta, shift)


def _product(steps: list[_Step], values: FloatArray) -> tuple[FloatArray, FloatArray]:
    R, t = np.eye(3), np.zeros(3)
    for step in steps:
        if step.rotation is not None:
            R = R @ step.rotation
        elif step.turns:
            R = R @ Rotation.from_rotvec(values[step.parameter] * step.axis).as_matrix()
        else:
            t = t + values[step.parameter] * (R @ step.axis)
    return R, t
