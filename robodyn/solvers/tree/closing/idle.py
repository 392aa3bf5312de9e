# SPDX-License-Identifier: Apache-2.0

"""Idle degrees of freedom: bodies that can spin while everything else, and every motor, is at rest.

A rod between two ball joints can spin about its own axis without effect on other bodies. Such a
degree of freedom is held at rest: the body does not rotate about that axis, so the mechanism's
motion determines its motion.
"""

from __future__ import annotations

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.solvers.tree.closing.equations import Equations, null_space
from robodyn.solvers.tree.kernels import layout
from robodyn.solvers.tree.packing import Idle
from robodyn.solvers.tree.tree import Tree

REST = 1e-7


def find_idle(
    tree: Tree, equations: Equations, q: FloatArray, driven: list[int]
) -> tuple[Idle, ...]:
    """Find the idle degrees of freedom in a closed configuration in general position.

    A group of bodies is idle if it can rotate together about a line while all others are at rest,
    and is connected on at least two sides, as the rod in a loop is. (A body on a single joint is
    not idle, but a pendulum.) Massless links of the group, such as those of a ball joint described
    as three hinges, may rotate differently. A tree without closures has no idle degrees of freedom.
    `driven` are the rate indices of the driven joints, which are at rest.
    """
    if not tree.model.closures:
        return ()
    _, K = equations.at(q)
    others = np.setdiff1d(np.arange(tree.rates), driven)
    _, basis = null_space(K[:, others])
    if not basis.shape[1]:
        return ()
    motions = np.zeros((tree.rates, basis.shape[1]))
    motions[others] = basis
    twists = np.zeros((basis.shape[1], len(tree.bodies), 6))
    for k in range(basis.shape[1]):
        B = equations.bodies_at(q, motions[:, k] * equations.columns)
        omega, origin = B[:, layout.OMEGA : layout.OMEGA + 3], B[:, layout.ORIGIN :][:, :3]
        velocity = B[:, layout.VELOCITY : layout.VELOCITY + 3] - np.cross(omega, origin)
        twists[k, :, :3], twists[k, :, 3:] = omega, velocity / equations.size
    has_inertia = np.array([body.mass > 0.0 or bool(body.inertia.any()) for body in tree.bodies])
    found: list[Idle] = []
    known = np.zeros((basis.shape[1], 0))
    for body in range(len(tree.bodies) - 1, 0, -1):
        z = _motion_of(twists, body, known) if has_inertia[body] else None
        if z is None:
            continue
        moved = np.einsum("k,kbi->bi", z, twists)
        group = np.flatnonzero(np.abs(moved).max(axis=1) > REST)
        twist = moved[body]
        alike = np.abs(moved[group[has_inertia[group]]] - twist).max() < REST
        turns = np.linalg.norm(twist[:3]) > REST and abs(twist[:3] @ twist[3:]) < REST
        if alike and turns and _sides(tree, set(group.tolist())) > 1:
            frame = equations.bodies_at(q)[body, :9].reshape(3, 3)
            axis = frame @ (twist[:3] / np.linalg.norm(twist[:3]))
            names = sorted(name for b in group for name in tree.bodies[b].links)
            found.append(Idle(f"spin of {', '.join(names)}", int(body), axis))
            known = np.column_stack([known, z - known @ (known.T @ z)])
            known[:, -1] /= np.linalg.norm(known[:, -1])
    return tuple(found)


def _motion_of(twists: FloatArray, body: int, known: FloatArray) -> FloatArray | None:
    """Return a motion (k,) of a body in which as few other bodies as possible move.

    The k values are the coefficients of basis motions, whose `twists` (k, bodies, 6) are given. The
    motion is orthogonal to the motions `known`. Other bodies are fixed one after the other, as long
    as the given body can still move. The result is None if the body cannot move.
    """
    space = np.eye(len(twists))
    if known.shape[1]:
        space = np.linalg.svd(known.T)[2][known.shape[1] :].T
    if not space.shape[1] or not _moves(twists, body, space):
        return None
    for other in range(twists.shape[1]):
        if other == body:
            continue
        motion = np.einsum("kj,ki->ij", space, twists[:, other])
        _, kept = null_space_absolute(motion)
        if kept.shape[1] and _moves(twists, body, space @ kept):
            space = space @ kept
    motion = np.einsum("kj,ki->ij", space, twists[:, body])
    out: FloatArray = space @ np.linalg.svd(motion)[2][0]
    return np.asarray(out / np.linalg.norm(out))


def null_space_absolute(A: FloatArray) -> tuple[int, FloatArray]:
    """Return the rank of A (m, n) and an orthonormal basis (n, n - rank) of its null space.

    The tolerance is absolute, because the entries of A are zero or of the order of 1.
    """
    _, values, V = np.linalg.svd(A)
    rank = int((values > REST).sum())
    return rank, V[rank:].T


def _moves(twists: FloatArray, body: int, space: FloatArray) -> bool:
    motion = np.einsum("kj,ki->ij", space, twists[:, body])
    return bool(np.linalg.norm(motion) > 1e3 * REST)


def _sides(tree: Tree, inside: set[int]) -> int:
    """Count the joints and closures that connect a group of bodies to other bodies."""
    held = sum(
        1
        for number, body in enumerate(tree.bodies)
        if number and body.kind != layout.FLOATING and (number in inside) != (body.parent in inside)
    )
    for closure in tree.model.closures:
        a, b = tree.body_of[closure.parent], tree.body_of[closure.child]
        held += (a in inside) != (b in inside)
    return held
