# SPDX-License-Identifier: Apache-2.0

"""Dimensions of a Stewart platform for calibration.

They are the joint centers, the zero offsets of the legs' lengths, and the universal axes.

The length of leg i at pose (t, R) is |t + R b_i - a_i| = reading + offset_i, with the joint centers
a_i (base) and b_i (platform). Its differential with the leg's direction s_i is

    s_i . v + (R b_i x s_i) . w = d reading + d offset_i + s_i . d a_i - (R' s_i) . d b_i,

which the transposed force Jacobian solves for the displacement (v, w) of the platform (Masory,
Wang and Zhuang 1993; Daney, Papegay and Madeline 2005).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from robodyn.algorithms.geometry import BodyPoses, GeometricParameter
from robodyn.arrays import FloatArray
from robodyn.model.joint import Joint
from robodyn.model.placement import Placement
from robodyn.model.zero_configuration import ZeroConfigurationTree
from robodyn.poses import rotation_matrix
from robodyn.solvers.stewart.leg_shape import universal_zero_frame

AXES = "xyz"
PER_LEG = 9
# Angle between a universal axis and the vertical below which there is no zero frame for angles.
UPRIGHT = 1e-6


class PlatformGeometry:
    """Geometric parameters of a platform for its calibration, nine for each leg.

    These are the joint centers at base and platform (3 each), the offset of the length and two
    components of the universal axis, along h and u of the leg's nominal zero frame [h u k], in
    which the nominal axis k is (0, 0).

    Args:
        platform: nominal mechanism.
    """

    def __init__(self, platform: Any) -> None:
        self._platform = platform
        axes = platform.structure.universal_axes
        self._frames = np.array([universal_zero_frame(axis) for axis in axes])
        found: list[GeometricParameter] = []
        centers = zip(*platform.solver.joint_centers, strict=True)
        for number, (foot, tip) in enumerate(centers, start=1):
            for part, center in (("base", foot), ("platform", tip)):
                found += [
                    GeometricParameter(f"leg{number}.{part}.{axis}", "m", float(value))
                    for axis, value in zip(AXES, center, strict=True)
                ]
            found.append(GeometricParameter(f"leg{number}.offset", "m", 0.0))
            found += [
                GeometricParameter(f"leg{number}.universal_axis.{along}", "rad", 0.0, True)
                for along in "hu"
            ]
        self._parameters = tuple(found)

    @property
    def parameters(self) -> tuple[GeometricParameter, ...]:
        """Geometric parameters of all legs, leg by leg: 54 in total."""
        return self._parameters

    @property
    def passive_joints(self) -> tuple[str, ...]:
        """Names of the universal joints: the first and the second joint of each leg."""
        legs = self._platform.structure.legs
        return tuple(reading.name for leg in legs for reading in leg.shape.readings[:2])

    def with_geometry(self, values: FloatArray) -> Any:
        """Return the platform with other geometric parameters (54,) [m or rad].

        They are in the order of `parameters`; offsets are added to the leg lengths that the
        actuators' joints measure.
        """
        table = np.asarray(values, dtype=np.float64).reshape(-1, PER_LEG)
        axes = [_axis(frame, row[7:]) for frame, row in zip(self._frames, table, strict=True)]
        ends = table[:, :3], table[:, 3:6]
        return with_leg_geometry(self._platform, *ends, np.array(axes), table[:, 6])

    def place(self, values: FloatArray, driven: FloatArray, guess: FloatArray) -> BodyPoses:
        """Compute poses by forward kinematics, and their derivatives w.r.t. the dimensions.

        Args:
            values: (54,) [m or rad] geometric parameters, in the order of `parameters`.
            driven: (N, 6) [m] readings of the legs.
            guess: pose (7,) or poses (N, 7) from which the search starts.

        Returns:
            Poses (N, 7) of the platform, readings (N, 12) of the universal joints, and derivatives
            of both with respect to parameters and leg readings; see `BodyPoses`.
        """
        m = self.with_geometry(values)
        table = np.asarray(values, dtype=np.float64).reshape(-1, PER_LEG)
        poses = m.forward_kinematics(driven + table[:, 6], guess)
        s, R = m.leg_motion(poses).direction, rotation_matrix(poses)
        right = np.zeros((len(poses), 6, len(self._parameters)))
        for leg in range(6):
            at = leg * PER_LEG
            right[:, leg, at : at + 3] = s[:, leg]
            right[:, leg, at + 3 : at + 6] = -np.einsum("nij,ni->nj", R, s[:, leg])
            right[:, leg, at + 6] = 1.0
        inverse = np.asarray(np.linalg.inv(m.jacobian(poses).swapaxes(1, 2)), dtype=np.float64)
        by_parameter = inverse @ right
        states = m.joint_states(poses)
        columns = [states.names.index(name) for name in self.passive_joints]
        changes = self._universal(m, poses, table, np.concatenate([by_parameter, inverse], axis=2))
        by_passive, by_joint = np.split(changes, [len(self._parameters)], axis=2)
        passive = states.positions[:, columns]
        return BodyPoses(poses, by_parameter, inverse, passive, by_passive, by_joint)

    def _universal(
        self,
        m: Any,
        poses: FloatArray,
        table: FloatArray,
        displaced: FloatArray,
    ) -> FloatArray:
        """Compute derivatives (N, 12, P + 6) of the universal joints' readings [rad].

        They are taken w.r.t. the P geometric parameters and the six leg lengths, at N poses. A
        displacement of the base or platform joint of a leg changes the leg's angles like a
        translation of its tip.
        """
        # (N, 6 legs, 2, 6) by displacements of the platform
        rates = np.moveaxis(m.leg_motion(poses[:, None], np.eye(6)).universal_rates, 1, -1)
        out = rates @ displaced[:, None]
        s, R = m.leg_motion(poses).direction, rotation_matrix(poses)
        for leg, nominal in enumerate(self._frames):
            at, by_tip = leg * PER_LEG, rates[:, leg, :, :3]
            out[:, leg, :, at : at + 3] -= by_tip
            out[:, leg, :, at + 3 : at + 6] += by_tip @ R
            k = _axis(nominal, table[leg, 7:])
            x, y, z = (s[:, leg] @ universal_zero_frame(k)).T
            r = np.hypot(x, y)
            for column, turned in enumerate(_frame_changes(nominal, table[leg, 7:])):
                dx, dy, dz = (s[:, leg] @ turned).T
                out[:, leg, 0, at + 7 + column] += (x * dy - y * dx) / r**2
                out[:, leg, 1, at + 7 + column] += z * (x * dx + y * dy) / r - r * dz
        signs = [r.sign for leg in m.structure.legs for r in leg.shape.readings[:2]]
        return np.reshape(signs, (12, 1)) * out.reshape(len(poses), 12, -1)


def with_leg_geometry(
    platform: Any, feet: FloatArray, tips: FloatArray, axes: FloatArray, offsets: FloatArray
) -> Any:
    """Return the platform with other geometric parameters of its legs.

    The limits of the universal joints' angles and of the leg lengths, and the springs along the
    legs, stay the same.

    Args:
        platform: nominal mechanism.
        feet, tips: (6, 3) [m] joint centers at the base, and at the platform in its frame.
        axes: (6, 3) unit axes of the universal joints that are fixed in the base, base frame.
        offsets: (6,) [m] that are added to the nominal ones; length = sign * reading + offset.
    """
    model, structure = platform.model, platform.structure
    tree, (nominal, _) = ZeroConfigurationTree(model), structure.joint_centers
    joints, closures = list(model.joints), list(model.closures)
    base, body = structure.base_link, structure.platform_link
    root = tree.body[base]
    for row, leg in enumerate(structure.legs):
        first, _, last = leg.joints
        mount = np.linalg.inv(tree.relative(base, root)) @ tree.relative(joints[first].parent, root)
        at, shape = mount @ joints[first].at.matrix, leg.shape
        shift = at[:3, 3] - nominal[row]
        if not np.array_equal(axes[row], shape.universal_axis):
            turn = universal_zero_frame(axes[row]) @ universal_zero_frame(shape.universal_axis).T
            at[:3, :3], shift = turn @ at[:3, :3], turn @ shift
        at[:3, 3] = feet[row] + shift
        joints[first] = replace(joints[first], at=Placement.of(np.linalg.inv(mount) @ at))
        joints[last] = _measured_from(joints[last], shape.readings[2].sign * offsets[row])
        closure = closures[leg.closure]
        ends = {closure.parent: "at", closure.child: "child_at"}
        (link,) = (link for link in ends if tree.body[link] == body)
        seat = tree.relative(link, body)
        end = Placement(
            getattr(closure, ends[link]).rotation, seat[:3, :3].T @ (tips[row] - seat[:3, 3])
        )
        closures[leg.closure] = replace(closure, **{ends[link]: end})
    return platform._made(replace(model, joints=tuple(joints), closures=tuple(closures)))


def _measured_from(actuator: Joint, shift: float) -> Joint:
    """Return a prismatic joint with its zero position shifted along its axis."""
    if not shift:
        return actuator
    place = actuator.at.translation + shift * actuator.at.rotation @ actuator.axis
    return replace(
        actuator,
        at=Placement(actuator.at.rotation, place),
        position=actuator.position - shift,
        spring=actuator.spring.measured(1.0, shift),
    )


def _axis(frame: FloatArray, row: FloatArray) -> FloatArray:
    axis = frame[:, 2] + frame[:, :2] @ row
    return np.asarray(axis / np.linalg.norm(axis))


def _frame_changes(nominal: FloatArray, row: FloatArray) -> list[FloatArray]:
    """Return derivatives of a leg's zero frame [h u k] w.r.t. its axis parameters.

    The result has one matrix (3, 3) for each of the two parameters of the axis k.
    """
    k = _axis(nominal, row)
    length = np.linalg.norm(nominal[:, 2] + nominal[:, :2] @ row)
    level = np.hypot(k[0], k[1])
    h = universal_zero_frame(k)[:, 0]
    out = []
    for column in range(2):
        dk = nominal[:, column] - k * (k @ nominal[:, column])
        dk = dk / length
        dh = np.zeros(3)
        if level > UPRIGHT:
            turned = np.array([-dk[1], dk[0], 0.0]) / level
            dh = turned - h * (h @ turned)
        out.append(np.column_stack([dh, np.cross(dk, h) + np.cross(k, dh), dk]))
    return out
