# SPDX-License-Identifier: Apache-2.0

"""Forces in joints and closures of a mechanism."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion, rows_of
from robodyn.solvers.tree import calls
from robodyn.solvers.tree.calls import entry
from robodyn.solvers.tree.closing import kinematics
from robodyn.solvers.tree.closing.equations import least_step
from robodyn.solvers.tree.kernels import layout


class JointReactions(NamedTuple):
    """Forces and moments in the joints: those of the parent on the child, base frame.

    Attributes:
        names: names of the joints, in the order of `movable_joint_names`.
        force: (..., joints, 3) [N].
        moment: (..., joints, 3) [N m] about the joint's origin.
    """

    names: tuple[str, ...]
    force: FloatArray
    moment: FloatArray


def closure_forces(
    loop: Any,
    configuration: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    wrench: ArrayLike | None = None,
    *,
    base: BaseMotion | None = None,
) -> FloatArray:
    """Compute the wrench (..., closures, 6) of each closure on its child link.

    The wrench is about the closure's point, in the base frame [N, N m], and includes the closure's
    dampers; the opposite wrench acts on the parent. If closures are redundant, the result has the
    least sum of squares among all wrenches that balance the motion. The arguments are those of
    `inverse_dynamics`.

    Raises:
        InvalidInput, UnderActuated, SingularConfiguration: as for `inverse_dynamics`.
    """
    found = _internal_forces(loop, configuration, velocity, acceleration, wrench, base)
    return np.ascontiguousarray(found[..., : len(loop.model.closures), :])


def reactions(
    loop: Any,
    configuration: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    wrench: ArrayLike | None = None,
    *,
    base: BaseMotion | None = None,
) -> JointReactions:
    """Compute the forces and moments (..., joints, 3) in the joints of the tree.

    They act from parent to child, are in the base frame, and include the drives' efforts. Moments
    are about the joint's origin. The arguments are those of `inverse_dynamics`.

    Raises:
        InvalidInput, UnderActuated, SingularConfiguration: as for `inverse_dynamics`.
    """
    found = _internal_forces(loop, configuration, velocity, acceleration, wrench, base)
    own = found[..., len(loop.model.closures) :, :]
    return JointReactions(loop.structure.joint_names, own[..., :3], own[..., 3:])


def _internal_forces(loop: Any, *given: Any) -> FloatArray:
    """Compute the constraint wrenches (..., closures + joints, 6), closures first.

    Each wrench acts on the child body of the closure or joint. It is expressed in the base frame,
    about the origin of the closure or joint.
    """
    *state, base = given
    kinematics.refuse_under_actuated(loop)
    moved = None if base is None else rows_of(base)
    core = len(loop.model.closures) + len(loop.structure.joint_names), 6
    return kinematics.each_state(
        loop, None, core, *state, moved, find=partial(_put_internal_forces, loop)
    )


def _put_internal_forces(loop: Any, *given: Any) -> None:
    q, u, change, wrench, base, out = given
    load = np.zeros(6) if wrench is None else wrench
    effort, tau = np.empty(loop.solver.n), np.empty(loop.solver.tree.rates)
    kinematics.call_entry(loop, calls.INVERSE_DYNAMICS, q, u, change, wrench, base, False, effort)
    v, a = kinematics.joint_motion(loop, q, u, change)
    B = np.empty((len(loop.solver.tree.bodies), layout.BODY_SIZE))
    entry(calls.TREE_EFFORTS, loop.structure.packed)(q, v, a, load, base, tau, B)
    for rate, value in zip(loop.solver.rates_at, effort, strict=True):
        tau[rate] -= value
    equations = loop.structure.equations
    _, K = equations.at(q)
    # K has scaled rows: solve K' z = tau with these, then undo the scaling of z
    z = least_step(K.T, tau * equations.columns) * equations.rows
    out[...] = _wrenches_from_multipliers(loop, z, B)


def _wrenches_from_multipliers(loop: Any, z: FloatArray, B: FloatArray) -> FloatArray:
    """Compute the wrenches in all closures and joints from the Lagrange multipliers.

    The multipliers are (rows,), one for each closure equation; the wrenches are (closures + joints,
    6).
    """
    tree, row = loop.solver.tree, 0
    closures = np.zeros((len(tree.model.closures), 6))
    # B already contains the dampers' moments, as required by the bodies
    through = B[:, layout.FORCE : layout.FORCE + 6].copy()
    for wrench, closure in zip(closures, tree.model.closures, strict=True):
        a, b = tree.body_of[closure.parent], tree.body_of[closure.child]
        A, C = (B[body, :9].reshape(3, 3).T for body in (a, b))
        point, across, angles = tree.directions(closure)
        if point:
            wrench[:3] += z[row : row + 3]
            row += 3
        for direction in across:
            wrench[:3] += z[row] * (A @ direction)
            row += 1
        for u, w in angles:
            wrench[3:] += z[row] * np.cross(C @ w, A @ u)
            row += 1
        at = (tree.frame_at(B, closure.child) @ closure.child_at.matrix)[:3, 3]
        for body, sign in tree.loop_path(a, b):
            arm = at - B[body, layout.ORIGIN : layout.ORIGIN + 3]
            through[body, :3] -= sign * wrench[:3]
            through[body, 3:] -= sign * (wrench[3:] + np.cross(arm, wrench[:3]))
        omega = slice(layout.OMEGA, layout.OMEGA + 3)
        wrench[3:] -= closure.damping * (B[b, omega] - B[a, omega])
    return np.concatenate([closures, through[[tree.body_of[j.child] for j in tree.joints]]])
