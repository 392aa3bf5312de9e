# SPDX-License-Identifier: Apache-2.0

"""Joints and bodies of a mechanism with closed loops, and their entries in a configuration."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.algorithms import motions
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.dynamics.coordinates import Coordinates
from robodyn.dynamics.joint_friction import friction_row
from robodyn.model.body import Link
from robodyn.model.joint import Joint

_POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")


def mobility(loop: Any) -> int:
    """Return the mobility: the number of degrees of freedom without idle ones."""
    return loop.solver.nu


def all_joint_names(loop: Any) -> tuple[str, ...]:
    """Return the names of all movable joints except floating ones.

    These are the joints of `joint_states`.
    """
    return tuple(joint.name for joint in loop.solver.tree.joints if joint.kind != "floating")


def independent_joints(loop: Any) -> tuple[str, ...]:
    """Return the names of the independent joints, in the order of a velocity."""
    return tuple(loop.solver.tree.rate_names[rate] for rate in loop.structure.free)


def home(loop: Any) -> FloatArray:
    """Return the closed configuration (nq,) near the model's home positions."""
    return np.array(loop.structure.home)


def joint_positions(loop: Any, configuration: ArrayLike) -> FloatArray:
    """Return positions (..., n) [rad or m] of the driven joints."""
    return np.asarray(
        configurations(loop, "configuration", configuration)[..., loop.solver.driven_at]
    )


def all_joint_positions(loop: Any, configuration: ArrayLike) -> FloatArray:
    """Return positions (..., j) [rad or m] of all joints except floating ones."""
    q = configurations(loop, "configuration", configuration)
    places = [loop.solver.tree.position_of[name] for name in loop.all_joint_names]
    return np.asarray(q[..., places])


def coordinates(loop: Any) -> Coordinates:
    """Return the names, units and wrapping of the coordinates of the mechanism.

    A configuration contains all joints, a velocity the independent ones.
    """
    names: list[str] = []
    quaternions = []
    for joint in loop.structure.tree.joints:
        if joint.kind == "floating":
            quaternions.append(slice(len(names) + 3, len(names) + 7))
            names += [f"{joint.name}.{part}" for part in _POSE]
        else:
            names.append(joint.name)
    tree, free = loop.structure.tree, loop.structure.free
    rates = tuple(tree.rate_names[rate] for rate in free)
    units = tuple(tree.rate_units[rate] for rate in free)
    turns = tuple(
        slice(columns[-3], columns[-1] + 1)
        for _, columns, parts in loop.solver.free_poses
        if parts[-3:] == [3, 4, 5] and columns[-1] - columns[-3] == 2
    )
    return Coordinates(
        *("joints", tuple(names), rates, rates, units, tuple(quaternions), turns),
        wrapping=motions.wrapping_joints(loop),
    )


def free_poses(loop: Any) -> list[tuple[Joint, list[int], list[int]]]:
    """Return the floating joints that have independent coordinates.

    Each comes with the indices of these coordinates in a velocity, and their components in the
    joint's twist.
    """
    found = []
    for joint in loop.solver.tree.joints:
        first = loop.solver.tree.rate_of[joint.name]
        own = [k for k, rate in enumerate(loop.structure.free) if 0 <= rate - first < 6]
        if joint.kind == "floating" and own:
            found.append((joint, own, [loop.structure.free[k] - first for k in own]))
    return found


def bodies(loop: Any) -> tuple[Link, ...]:
    """Return the moving links with mass or inertia, each in its own frame."""
    tree = loop.structure.tree
    return tuple(
        link
        for link in loop.model.links
        if tree.body_of[link.name] and (link.mass > 0.0 or link.inertia.any())
    )


def size(loop: Any) -> float:
    """Return the mechanism's size: the largest distance [m] between successive joints."""
    return loop.structure.equations.size


def friction_rows(loop: Any) -> FloatArray:
    """Return friction parameters (nf, sticking.ROW), a row for each joint with friction.

    Driven joints come first, with or without friction, then others with dry friction.
    """
    tree, driven = loop.structure.tree, list(loop.model.driven)
    rows = {}
    for body in tree.bodies[1:]:
        joint = body.joint
        if joint is None or joint.kind == "floating":
            continue
        if joint.name in driven or joint.friction.any():
            rows[joint.name] = friction_row(joint.actuator, body.rate, body.factor)
    order = [*driven, *(name for name in rows if name not in driven)]
    return np.array([rows[name] for name in order])


def drives_free(loop: Any) -> bool:
    """Return whether the driven joints are the independent ones, in the same order."""
    return bool(loop.structure.packed.head["drives_free"])


def configurations(loop: Any, name: str, value: ArrayLike) -> FloatArray:
    """Convert a value to an array of configurations (..., nq), and check it.

    Raises:
        InvalidInput: the shape is wrong or a value is not finite.
    """
    return as_array(
        name, value, (loop.solver.nq,), "every joint in the order of movable_joint_names"
    )


def rates_of(loop: Any, name: str, value: ArrayLike) -> FloatArray:
    """Return rates or accelerations (..., mobility) of the independent joints as an array.

    Raises:
        InvalidInput: the shape is wrong or a value is not finite.
    """
    return as_array(name, value, (loop.solver.nu,), "independent joints, rad or m")
