# SPDX-License-Identifier: Apache-2.0

"""Packing of a model into the flat arrays that the compiled code reads."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.solvers.serial.chain import Chain
from robodyn.solvers.serial.kernels import layout as at

_UPPER_TRIANGLE = np.triu_indices(3)


def pack_chain(chain: Chain) -> FloatArray:
    """Pack a chain into an array (n + 1, LINK_SIZE) for compiled functions.

    Its entries are listed in `robodyn.solvers.serial.kernels.layout`. The model's moving frame i is
    at joint i. Frame i of the packed chain is at joint i + 1, with z along that joint's axis. Link
    properties are transformed from one to the other.
    """
    joints, rows = chain.joints, np.zeros((len(chain.joints) + 1, at.LINK_SIZE))
    turns = [turn_z_to(joint.axis) for joint in joints] + [np.eye(3)]
    places = [joint.at for joint in joints] + [chain.tip]
    _put_transform(rows[0], places[0].rotation @ turns[0], places[0].translation)
    for i, (joint, link) in enumerate(zip(joints, chain.links, strict=True)):
        row, turn, after = rows[i + 1], turns[i], places[i + 1]
        rotation = turn.T @ after.rotation @ turns[i + 1]
        _put_transform(row, rotation, turn.T @ after.translation)
        put_body(row, turn, link.mass, link.com, link.inertia)
        row[at.PRISMATIC] = joint.kind == "prismatic"
        row[at.ARMATURE] = joint.armature
        row[at.DAMPING] = joint.damping
        row[at.WRAPS] = joint.wraps
        row[at.STIFFNESS], row[at.AT_ZERO] = joint.spring.stiffness, joint.spring.at_zero
        row[at.DRY_FRICTION : at.LINK_SIZE] = joint.actuator.friction_numbers
    return rows


def part_of_chain(packed: FloatArray, *, friction: bool, armature: bool) -> FloatArray:
    """Return a copy of a packed chain, with friction or armatures only if requested."""
    rows: FloatArray = packed.copy()
    if not armature:
        rows[:, at.ARMATURE] = 0.0
    if not friction:
        rows[:, at.DAMPING] = 0.0
        rows[:, at.DRY_FRICTION : at.LINK_SIZE] = 0.0
    return rows


def without_springs(packed: FloatArray) -> FloatArray:
    """Return the packed chain without its joint springs."""
    rows: FloatArray = packed.copy()
    rows[:, [at.STIFFNESS, at.AT_ZERO]] = 0.0
    return rows


def put_body(
    row: FloatArray, turn: FloatArray, mass: float, com: FloatArray, inertia: FloatArray
) -> None:
    """Write a link's mass properties into its row of a packed chain.

    The link's fixed transform must already be in the row.

    Args:
        row: (LINK_SIZE,).
        turn: (3, 3) rotation from z to the joint's axis.
        mass, com, inertia: of the link, in its moving frame.
    """
    rotation = row[at.ROTATION : at.ROTATION + 9].reshape(3, 3)
    lever = rotation.T @ turn.T @ com
    row[at.LEVER : at.LEVER + 3] = lever
    row[at.COM : at.COM + 3] = lever - row[at.REACH : at.REACH + 3]
    turned = rotation.T @ turn.T @ inertia @ turn @ rotation
    row[at.MASS] = mass
    row[at.INERTIA : at.INERTIA + 6] = turned[_UPPER_TRIANGLE]
    row[at.SPREAD : at.SPREAD + 6] = central_second_moments(turned)[_UPPER_TRIANGLE]


def pack_pseudo_inertias(chain: FloatArray) -> FloatArray:
    """Compute the pseudo-inertias (n, 4, 4) of the links of a packed chain.

    They are the integrals of d d' dm over each link, with d = [x y z 1] from the origin of frame i:
    Turney, Mudge and Lee (1980), eq. 1.24 and 1.28.
    """
    out = np.empty((len(chain) - 1, 4, 4))
    for J, row in zip(out, chain[1:], strict=True):
        mass, com = row[at.MASS], row[at.COM : at.COM + 3]
        K = np.zeros((3, 3))
        K[_UPPER_TRIANGLE] = row[at.SPREAD : at.SPREAD + 6]
        K = K + np.triu(K, 1).T
        J[:3, :3] = K + mass * np.outer(com, com)
        J[:3, 3] = J[3, :3] = mass * com
        J[3, 3] = mass
    return out


def central_second_moments(inertia: FloatArray) -> FloatArray:
    """Return a body's second moments K (3, 3) about its center of mass, from its inertia.

    K = tr(I)/2 E - I is the integral of d d' dm, with the vector d from the center of mass.
    """
    out: FloatArray = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    return out


def turn_z_to(axis: FloatArray) -> FloatArray:
    """Return a rotation (3, 3) whose third column is a given unit axis.

    For the axis z, it is the identity.
    """
    if np.array_equal(axis, [0.0, 0.0, 1.0]):
        return np.eye(3)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def _put_transform(row: FloatArray, rotation: FloatArray, shift: FloatArray) -> None:
    row[at.ROTATION : at.ROTATION + 9] = rotation.ravel()
    row[at.SHIFT : at.SHIFT + 3] = shift
    row[at.REACH : at.REACH + 3] = rotation.T @ shift
