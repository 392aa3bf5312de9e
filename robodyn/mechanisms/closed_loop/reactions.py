# SPDX-License-Identifier: Apache-2.0

"""What joints and closures bear: the forces inside a mechanism."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.mechanisms.closed_loop.calls import entry
from robodyn.mechanisms.closed_loop.equations import least_step
from robodyn.mechanisms.closed_loop.kernels import layout


class JointReactions(NamedTuple):
    """What a joint's parent exerts on its child, base frame, about the joint's origin.

    Attributes:
        names: of the joints, in the order of `movable_joint_names`.
        force: (..., joints, 3) [N].
        moment: (..., joints, 3) [N m].
    """

    names: tuple[str, ...]
    force: FloatArray
    moment: FloatArray


class InternalForces:
    """The forces inside a mechanism.

    Args:
        mechanism: a `ClosedLoop`.
    """

    def __init__(self, mechanism: Any) -> None:
        self._mechanism = mechanism
        self._tree = mechanism.structure.tree
        self._efforts = entry("tree_efforts", mechanism.structure.packed)

    def put_closure_forces(self, *given: Any) -> None:
        """(closures, 6) of one state into the last argument; see `ClosedLoop.closure_forces`."""
        *state, out = given
        out[...] = self._one(*state)[0]

    def put_reactions(self, *given: Any) -> None:
        """(joints, 6), force and moment, likewise; see `ClosedLoop.reactions`."""
        *state, out = given
        out[...] = self._through_joints(*self._one(*state))

    def _one(
        self,
        q: FloatArray,
        u: FloatArray,
        change: FloatArray,
        wrench: FloatArray | None,
        base: FloatArray | None,
    ) -> tuple[FloatArray, FloatArray]:
        """Closure forces (closures, 6), and what joints transmit where the loops are not felt."""
        own, load = self._mechanism, np.zeros(6) if wrench is None else wrench
        effort, tau = np.empty(len(own.joint_names)), np.empty(self._tree.rates)
        own._ask("inverse_dynamics", q, u, change, wrench, base, False, effort)
        v, a = own.joint_motion(q, u, change)
        B = np.empty((len(self._tree.bodies), layout.BODY_SIZE))
        self._efforts(q, v, a, load, base, tau, B)
        for rate, value in zip(own._rates_at, effort, strict=True):
            tau[rate] -= value
        equations = own.structure.equations
        _, K = equations.at(q)
        # K of comparable numbers: K' z = tau in these, z then in the equations' own
        z = least_step(K.T, tau * equations.columns) * equations.rows
        return self._wrenches(z, B), B

    def _wrenches(self, z: FloatArray, B: FloatArray) -> FloatArray:
        out = np.zeros((len(self._tree.model.closures), 6))
        row = 0
        for n, closure in enumerate(self._tree.model.closures):
            a, b = self._tree.body_of[closure.parent], self._tree.body_of[closure.child]
            A, C = _frame(B[a]), _frame(B[b])
            point, across, angles = self._tree.directions(closure)
            if point:
                out[n, :3] += z[row : row + 3]
                row += 3
            for direction in across:
                out[n, :3] += z[row] * (A @ direction)
                row += 1
            for u, w in angles:
                out[n, 3:] += z[row] * np.cross(C @ w, A @ u)
                row += 1
            omega = slice(layout.OMEGA, layout.OMEGA + 3)
            out[n, 3:] -= closure.damping * (B[b, omega] - B[a, omega])
        return out

    def _through_joints(self, closures: FloatArray, B: FloatArray) -> FloatArray:
        tree = self._tree
        # the damping moments are in B already, as what the bodies need
        through = B[:, layout.FORCE : layout.FORCE + 6].copy()
        for n, closure in enumerate(tree.model.closures):
            a, b = tree.body_of[closure.parent], tree.body_of[closure.child]
            place = tree.frame_of[closure.child] @ np.array([*closure.child_at.translation, 1.0])
            point = B[b, layout.ORIGIN : layout.ORIGIN + 3] + _frame(B[b]) @ place[:3]
            omega = slice(layout.OMEGA, layout.OMEGA + 3)
            damper = -closure.damping * (B[b, omega] - B[a, omega])
            force, moment = closures[n, :3], closures[n, 3:] - damper
            for body, sign in tree.way_round(a, b):
                arm = point - B[body, layout.ORIGIN : layout.ORIGIN + 3]
                through[body, :3] -= sign * force
                through[body, 3:] -= sign * (moment + np.cross(arm, force))
        order = {body.joint.name: n for n, body in enumerate(tree.bodies) if body.joint}
        return np.array([through[order[name]] for name in self._mechanism.movable_joint_names])


def _frame(body: FloatArray) -> FloatArray:
    return np.asarray(body[:9].reshape(3, 3).T)
