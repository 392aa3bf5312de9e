# SPDX-License-Identifier: Apache-2.0

"""Parameters with which the firmwares Klipper and Marlin describe a delta robot.

Both firmwares assume three towers at one radius. The end of arm or carriage i is at

    e_i = (r_i cos a_i, r_i sin a_i, z_i),   |e_i - p| = L_i,

for a nozzle at p. On vertical rails r_i is the radius and z_i = position + c_i; on rotary arms
r_i = radius + U_i cos(t_i) and z_i = height - U_i sin(t_i) with t_i = position + c_i. These
parameters and the center of the towers are fitted to configurations of the model. The model may be
more general; the residual is the part that the parameters cannot express.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from robodyn.arrays import FloatArray, IntArray
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.poses import rotation_matrix

# Number of configurations to fit.
SAMPLES, SEED = 60, 0
# Distance from home: [rad] for arms, relative to the length of the rods for carriages.
AROUND = 0.25
# Height above the given configurations up to which to fit as well, relative to the size.
RAISED = 0.1
# Marlin's towers [deg].
TOWERS = np.array([210.0, 330.0, 90.0])


@dataclass(frozen=True)
class DeltaSettings:
    """Parameters of a delta robot in the form of 3D printer firmwares.

    Attributes:
        kinematics: `delta` for carriages on rails, `rotary_delta` for arms.
        joints: names of the driven joints, in the order of the towers.
        radius: [m] radius of the towers about their center, minus that of the effector.
        height: [m] height of the arms' axes above the nozzle's zero; 0 for rails.
        angles: (3,) [rad] angular positions of the towers about their center.
        upper: (3,) [m] lengths of the arms; 0 for rails.
        lower: (3,) [m] lengths of the rods.
        endstops: (3,) [m] height of the nozzle at the center of the towers, with arm or carriage
            at its end stop: the joint's upper limit, or the lower one where that is higher up.
        center: (2,) [m] x and y of the center of the towers, base frame.
        residual: [m] largest error of a rod's length at the configurations of the fit.
    """

    kinematics: Literal["delta", "rotary_delta"]
    joints: tuple[str, ...]
    radius: float
    height: float
    angles: FloatArray
    upper: FloatArray
    lower: FloatArray
    endstops: FloatArray
    center: FloatArray
    residual: float

    def klipper(self) -> str:
        """Format the sections for Klipper's printer.cfg [mm, degrees].

        Returns:
            Lines of the configuration file as one string.
        """
        rotary = self.kinematics == "rotary_delta"
        lines = [f"# {self._remark}", "[printer]", f"kinematics: {self.kinematics}"]
        lines.append(f"{'shoulder' if rotary else 'delta'}_radius: {1e3 * self.radius:.4f}")
        lines += [f"shoulder_height: {1e3 * self.height:.4f}"] if rotary else []
        for i, letter in enumerate("abc"):
            lines += ["", f"[stepper_{letter}]  # {self.joints[i]}"]
            lines.append(f"position_endstop: {1e3 * self.endstops[i]:.4f}")
            if rotary:
                lines.append(f"upper_arm_length: {1e3 * self.upper[i]:.4f}")
            lines.append(f"{'lower_' if rotary else ''}arm_length: {1e3 * self.lower[i]:.4f}")
            lines.append(f"angle: {round(np.degrees(self.angles[i]), 6) % 360.0:.4f}")
        return "\n".join(lines) + "\n"

    def marlin(self) -> str:
        """Format Marlin's commands M665 and M666 [mm, degrees].

        Returns:
            Lines with the commands as one string.

        Raises:
            InvalidInput: the delta has arms, which Marlin does not support.
        """
        if self.kinematics != "delta":
            raise InvalidInput(
                "Marlin does not support rotary deltas; use Klipper's settings",
                value=self.kinematics,
            )
        away = np.degrees(self.angles) - TOWERS
        trims = (away - away[0] + 180.0) % 360.0 - 180.0
        trims -= trims.mean()
        rod, height = self.lower.mean(), self.endstops.min()
        numbers = [
            *zip("LRH", 1e3 * np.array([rod, self.radius, height]), strict=True),
            *zip("XYZ", trims, strict=True),
            *zip("ABC", 1e3 * (self.lower - rod), strict=True),
        ]
        stops = zip("XYZ", 1e3 * (height - self.endstops), strict=True)
        lines = [f"; {self._remark}", f"; towers X, Y, Z: {', '.join(self.joints)}"]
        for command, words in (("M665", numbers), ("M666", stops)):
            # zero has no sign
            texts = [f"{letter}{round(value, 4) + 0.0:.4f}" for letter, value in words]
            lines.append(" ".join([command, *texts]))
        return "\n".join(lines) + "\n"

    @property
    def _remark(self) -> str:
        x, y = 1e3 * self.center
        return (
            f"the firmware's origin is at x = {x:.3f} mm, y = {y:.3f} mm in the model; rod "
            f"lengths differ from those of the model by up to {1e3 * self.residual:.4f} mm"
        )


class _Delta(NamedTuple):
    """Delta robot to which firmware parameters are fitted, with joints sorted by angle.

    Attributes:
        order: indices of the driven joints, counterclockwise about the vertical axis.
        is_rotary: whether the motors turn arms instead of moving carriages.
        signs: (3,) 1 if a joint's position increases as its carriage rises or its arm goes down,
            otherwise -1.
        values: initial values of the fit: x and y of the vertical axis, radius of the rails or arm
            axes, their angles about the vertical axis (3,), rod lengths (3,) and joint zero
            offsets (3,); with arms, also the height of the arm axes and the arm lengths (3,).
        rises: 1 if the arms are above the nozzle, otherwise -1.
    """

    order: IntArray
    is_rotary: bool
    signs: FloatArray
    values: FloatArray
    rises: float

    def ends(self, values: FloatArray, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute the positions of the arm ends or, for linear drives, of the carriages.

        Returns:
            Distances [m] of the ends from the vertical axis, and their heights [m], (..., 3) each.
        """
        moved = self.signs * at + values[9:12]
        if not self.is_rotary:
            return np.broadcast_to(values[2], moved.shape), moved
        return values[2] + values[13:] * np.cos(moved), values[12] - values[13:] * np.sin(moved)

    def gaps(self, values: FloatArray, at: FloatArray, places: FloatArray) -> FloatArray:
        """Compute the errors (N, 3) [m] of the rod lengths at N poses.

        `at` (N, 3) are joint positions, `places` (N, 3) [m] the corresponding nozzle positions.
        """
        r, z = self.ends(values, at)
        a = values[3:6]
        e = np.stack([values[0] + r * np.cos(a), values[1] + r * np.sin(a), z], axis=-1)
        return np.asarray(np.linalg.norm(e - places[:, None], axis=-1) - values[6:9])


def delta_settings(m: Mechanism, near: FloatArray | None = None) -> DeltaSettings:
    """Fit the parameters of printer firmwares to a delta robot.

    Args:
        m: a delta with three vertical rails or three arms, its tip the nozzle.
        near: (N, 3) positions of the driven joints [m or rad] for the fit, which also uses poses
            slightly above these; by default random positions around home.

    Returns:
        Parameters of the firmwares, with the residual of the fit.

    Raises:
        InvalidInput: the mechanism is not a delta, or a joint has no limit at its end stop.
    """
    from scipy.optimize import least_squares  # slow to import

    delta = _delta_of(m)
    chosen = _fitted_configurations(m, delta, near)
    seen = m.joint_positions(chosen)[:, delta.order], m.body_pose(chosen)[:, :3]
    x = least_squares(
        lambda values: delta.gaps(values, *seen).ravel(), delta.values,
        x_scale="jac", xtol=1e-14, ftol=1e-14,
    ).x  # fmt: skip
    names = tuple(m.joint_names[i] for i in delta.order)
    limits = m.position_limits[delta.order]
    is_upper = delta.signs * (-1.0 if delta.is_rotary else 1.0) > 0.0
    stops = np.where(is_upper, limits[:, 1], limits[:, 0])
    if not np.isfinite(stops).all():
        name = names[int(np.flatnonzero(~np.isfinite(stops))[0])]
        raise InvalidInput(
            f"{name} has no limit at its end stop; state the limit in the model", value=name
        )
    r, z = delta.ends(x, stops)
    return DeltaSettings(
        "rotary_delta" if delta.is_rotary else "delta",
        names,
        float(x[2]),
        float(x[12]) if delta.is_rotary else 0.0,
        x[3:6],
        x[13:] if delta.is_rotary else np.zeros(3),
        x[6:9],
        z - np.sqrt(x[6:9] ** 2 - r**2),
        x[:2],
        float(np.abs(delta.gaps(x, *seen)).max()),
    )


def _delta_of(m: Mechanism) -> _Delta:
    from robodyn.solvers.tree.closing.kinematics import rods

    found = rods(m) if m.kind == "closed_loop" and len(m.joint_names) == 3 else ()
    joints = {joint.name: joint for joint in m.model.joints}
    arms = [[rod for rod in found if rod.base == joints[n].child] for n in m.joint_names]
    if len(set(m.drives.units)) > 1 or not arms or not all(arms):
        raise InvalidInput(
            f"{m.name} is not a delta robot: expected three driven joints, all sliding or all "
            "turning, each with rods to the moving body",
            value=m.joint_names,
        )
    rotary = m.drives.units[0] == "rad"
    # ends of arms and of rods at home, base frame; the rods' as if the effector were the nozzle
    p = m.body_pose(m.home)[:3]
    feet, shifts = np.zeros((3, 3)), np.zeros((3, 3))
    for i, each in enumerate(arms):
        for rod in each:
            feet[i] += _point(m, rod.base, rod.foot) / len(each)
            shifts[i] += (_point(m, rod.body, rod.tip) - p) / len(each)
    feet -= shifts
    pivots = np.array(
        [_point(m, joints[n].parent, joints[n].at.translation) for n in m.joint_names]
    )
    pivots -= shifts
    order = np.argsort(np.round(np.arctan2(feet[:, 1], feet[:, 0]), 3) % (2.0 * np.pi))
    feet, pivots = feet[order], pivots[order]
    signs = np.array([_sign(m, int(i), rotary) for i in order])
    angles = np.arctan2(feet[:, 1], feet[:, 0])
    out, lower = np.hypot(feet[:, 0], feet[:, 1]), np.linalg.norm(feet - p, axis=1)
    radius = float((np.hypot(pivots[:, 0], pivots[:, 1]) if rotary else out).mean())
    height = float(pivots[:, 2].mean()) if rotary else 0.0
    tilt = np.arctan2(height - feet[:, 2], out - radius)
    zeros = (tilt if rotary else feet[:, 2]) - signs * m.joint_positions(m.home)[order]
    values = np.concatenate([[0.0, 0.0, radius], angles, lower, zeros])
    if rotary:
        values = np.concatenate([values, [height], np.linalg.norm(feet - pivots, axis=1)])
    return _Delta(order, rotary, signs, values, float(np.sign(feet[0, 2] - p[2])))


def _fitted_configurations(m: Mechanism, delta: _Delta, near: FloatArray | None) -> FloatArray:
    """Return the configurations (N, nq) to which firmware parameters are fitted."""
    if near is None:
        spread = AROUND * (np.ones(3) if delta.is_rotary else delta.values[6:9].mean())
        around = np.random.default_rng(SEED).uniform(-spread, spread, (SAMPLES, 3))
        return m.assemble(m.joint_positions(m.home) + around)
    chosen = m.assemble(near)
    raised = m.body_pose(chosen)
    raised[:, 2] += RAISED * m.size * delta.rises
    higher = [m.configuration_at(*each) for each in zip(raised, chosen, strict=True)]
    return np.concatenate([chosen, higher])


def _point(m: Any, link: str, xyz: FloatArray) -> FloatArray:
    """Return the position (3,) [m] of a point of a link at home, in the base frame."""
    pose = m.link_pose(m.home, link)
    return np.asarray(pose[:3] + rotation_matrix(pose) @ xyz)


def _sign(m: Any, index: int, rotary: bool) -> float:
    """Return 1 if a joint's position increases with carriage up or arm down, else -1."""
    step = np.zeros(len(m.joint_names))
    step[index] = 1e-4
    raised = m.body_pose(m.assemble(m.joint_positions(m.home) + step, m.home))[2]
    return float(np.sign(raised - m.body_pose(m.home)[2]) * (-1.0 if rotary else 1.0))
