# SPDX-License-Identifier: Apache-2.0

"""Coupled motors: motors that turn with several joints, as in many wrists.

Motors' rates are a matrix C times the joints' rates, so joints' efforts are the transpose of C
times the motors' efforts. A motor's friction, rotor and noise belong to its own rate, so equations
are solved motor by motor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.arrays import BoolArray, FloatArray
from robodyn.errors import InvalidInput


@dataclass(frozen=True)
class Motors:
    """Linear coupling between the rates of motors and joints.

    Attributes:
        names: (n,) of the motors; a motor that turns with a single joint has the name of that
            joint.
        turns: (n, n) matrix C: motion of each motor (row) per unit of motion of each joint.
        coupled: indices of the motors that turn with several joints.
    """

    names: tuple[str, ...]
    turns: FloatArray
    coupled: tuple[int, ...]

    def motion(self, joints: FloatArray) -> FloatArray:
        """Convert positions, rates or accelerations of joints (..., n) to those of motors.

        Returns:
            Positions, rates or accelerations (..., n) of the motors.
        """
        return joints @ self.turns.T if self.coupled else joints

    def efforts(self, joints: FloatArray) -> FloatArray:
        """Convert joint efforts (..., n) to motor efforts.

        Returns:
            Efforts (..., n) [N or N m] of the motors.
        """
        return np.asarray(joints @ np.linalg.inv(self.turns)) if self.coupled else joints

    def to_joint_efforts(self, motors: FloatArray) -> FloatArray:
        """Convert motor efforts (..., n) to joint efforts.

        Returns:
            Efforts (..., n) [N or N m] at the joints.
        """
        return motors @ self.turns if self.coupled else motors

    def per_revolution(self, joint_units: Sequence[str]) -> FloatArray:
        """Return the motion (n,) of each motor per radian of its gear's output shaft.

        It is 0 for a prismatic joint. `joint_units` are the units of the joints' positions.
        """
        slides = np.array([unit != "rad" for unit in joint_units])
        turning = ~((self.turns != 0.0) @ slides)
        return np.asarray(np.where(turning, np.abs(self.turns).max(axis=1), 0.0))

    def rows(self, Y: FloatArray) -> FloatArray:
        """Convert a regressor (K, n, p) of joint efforts to one of motor efforts.

        K is the number of samples and p that of the parameters.

        Returns:
            Regressor (K, n, p) of the motors' efforts.
        """
        if not self.coupled:
            return Y
        return np.ascontiguousarray(np.swapaxes(self.efforts(np.swapaxes(Y, 1, 2)), 1, 2))

    def all_of(self, joints: BoolArray) -> BoolArray:
        """Return for each motor (..., n) whether a flag is set for all of its joints.

        `joints` (..., n) contains the flag of each joint.
        """
        return np.asarray(~(~joints @ (np.abs(np.linalg.inv(self.turns)) > 1e-12)))

    def all_at(self, motors: BoolArray) -> BoolArray:
        """Return for each joint (..., n) whether a flag is set for all of its motors.

        `motors` (..., n) contains the flag of each motor.
        """
        return np.asarray(~(~motors @ (self.turns != 0.0)))


def motors_of(joint_names: Sequence[str], couplings: Sequence[Mapping[str, float]]) -> Motors:
    """Assign motors to the driven joints, including motors that move several joints.

    A coupled motor replaces the motor of one of its joints: the last of them whose motor no other
    coupled motor replaces.

    Args:
        joint_names: names of the driven joints.
        couplings: for each coupled motor, its motion per unit of motion of each joint, by joint
            name.

    Returns:
        The motors' names and their coupling to the joints.

    Raises:
        InvalidInput: a joint is unknown or has no drive, a coupling has fewer than two joints, or
            the motors cannot move all joints.
    """
    n = len(joint_names)
    place = {name: j for j, name in enumerate(joint_names)}
    turns = np.eye(n)
    rows = []
    for given in couplings:
        if any(name not in place for name in given) or len(given) < 2:
            raise InvalidInput(
                f"couplings: {dict(given)!r} must name at least two of the driven joints "
                f"{', '.join(joint_names)}, each with the motor's turns per turn of the joint",
                value=given,
            )
        row = np.zeros(n)
        for name, turn in given.items():
            row[place[name]] = float(turn)
        rows.append(row)
    if not rows:
        return Motors(tuple(joint_names), turns, ())
    # a later joint outweighs all earlier ones together
    worth = np.where(np.array(rows) != 0.0, 2.0 ** np.arange(n), -(4.0**n))
    from scipy.optimize import linear_sum_assignment  # slow to import

    which, joints = linear_sum_assignment(worth, maximize=True)
    if len(which) == len(rows):
        turns[joints] = np.array(rows)[which]
    size = np.linalg.norm(turns, axis=1, keepdims=True)
    if len(which) < len(rows) or np.linalg.cond(turns / np.where(size > 0.0, size, 1.0)) > 1e6:
        raise InvalidInput(
            f"couplings: motors {[dict(given) for given in couplings]!r} cannot move all joints on "
            "their own; state each coupled motor once",
            value=couplings,
        )
    names = list(joint_names)
    for row, joint in zip(which, joints, strict=True):
        names[joint] = _name(couplings[row])
    return Motors(tuple(names), turns, tuple(sorted(int(joint) for joint in joints)))


def _name(turns: Mapping[str, float]) -> str:
    parts = (joint if turn == 1.0 else f"{turn:g} {joint}" for joint, turn in turns.items())
    return f"motor({' + '.join(parts)})"
