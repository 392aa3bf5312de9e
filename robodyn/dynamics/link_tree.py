# SPDX-License-Identifier: Apache-2.0

"""Links of a mechanism packed as flat arrays for the compiled functions of `kernels.links`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numba import types

from robodyn.arrays import FloatArray
from robodyn.dynamics.kernels import links as kernels
from robodyn.model import Joint, Link
from robodyn.numerics import array_arguments
from robodyn.threads import cached_threadsafe

KINDS = {
    "revolute": kernels.REVOLUTE,
    "continuous": kernels.REVOLUTE,
    "prismatic": kernels.PRISMATIC,
    "floating": kernels.FLOATING,
}
# Entries of a rotation below this are rounding errors from the conversion of angles.
NOISE = 1e-15
_TREE = (array_arguments.VECTOR, array_arguments.VECTOR)
_AT = (types.int64, array_arguments.VECTOR)
_ROWS = array_arguments.ROWS_OF_ANY_STRIDE


class Source(NamedTuple):
    """Indices of a joint's position and rate among the positions and rates of the tree."""

    position: int
    rate: int


@cached_threadsafe
def _entry(name: str, *given: Any) -> Callable[..., bool]:
    return array_arguments.direct(
        getattr(kernels, name), *_TREE, *given, types.boolean, array_arguments.MATRIX_OUT
    )


def _compiled(name: str, *given: Any) -> cached_property[Callable[..., bool]]:
    """Create a cached property: a `kernels.links` function, bound to a tree's arrays."""
    return cached_property(lambda tree: partial(_entry(name, *given), tree.plan, tree.numbers))


@dataclass(frozen=True)
class LinkTree:
    """Links of a mechanism packed as flat arrays, with the kernels that evaluate them.

    Attributes:
        plan, numbers: the records of `kernels.links`.
        rows: index of each link, by name; 0 is the root.
    """

    plan: FloatArray
    numbers: FloatArray
    rows: Mapping[str, int]

    # Compiled functions, which return whether all arguments are valid. Their arguments are arrays
    # of the tree's joints: positions (N, p), then rates and their derivatives (N, rates), or
    # tangents (N, rates nv) from velocity to rates; for a frame on a link, the row of the link and
    # the frame (12,); then is_trusted (whether to skip checks) and the array `out`. Those of joints
    # take None as tangents, for velocities that consist of the rates.
    poses = _compiled("poses", _ROWS, *_AT)  # (N, 7)
    jacobians = _compiled("jacobians", _ROWS, _ROWS, *_AT)  # (N, 6 nv)
    joint_jacobians = _compiled("jacobians", _ROWS, types.none, *_AT)
    motions = _compiled("motions", _ROWS, _ROWS, _ROWS, *_AT)  # (N, 12) twist, acceleration
    centers_of_mass = _compiled("centers_of_mass", _ROWS)  # (N, 3) [m]
    momenta = _compiled("momenta", _ROWS, _ROWS)  # (N, 6)
    centroidal_matrices = _compiled("centroidal_matrices", _ROWS, _ROWS)  # (N, 6 nv)
    joint_centroidal_matrices = _compiled("centroidal_matrices", _ROWS, types.none)

    @classmethod
    def of(
        cls,
        links: Sequence[str],
        joints: Sequence[Joint],
        sources: Mapping[str, Source],
        bodies: Mapping[str, Link],
        base: str,
        sizes: tuple[int, int],
    ) -> LinkTree:
        """Pack a mechanism's links and joints into a `LinkTree`.

        Args:
            links: names, parents before children, the root first.
            joints: one for each link but the root, in the same order.
            sources: of the joints that move, by name; all others are fixed at position 0.
            bodies: mass and inertia by the name of the link.
            base: link in whose frame everything is computed; no joint of `sources` moves it.
            sizes: lengths of a configuration and of a velocity.

        Returns:
            The packed tree.
        """
        rows = {link: row for row, link in enumerate(links)}
        root = {"frame": np.linalg.inv(_frame_at_zero(base, joints)), "kind": kernels.FIXED}
        records = [_record(root, bodies.get(links[0]))]
        for joint in joints:
            leader = joint.mimic.joint if joint.mimic else joint.name
            source = sources.get(leader) if joint.moves else None
            fields = _is_fixed(joint) if source is None else _moving(joint, source)
            fields["parent"] = rows[joint.parent]
            records.append(_record(fields, bodies.get(joint.child)))
        plan = np.array(
            kernels.TREE_PLAN.numbers(links=len(links), positions=sizes[0], rates=sizes[1])
            + [value for integers, _ in records for value in integers]
        )
        return cls(plan.view(np.float64), np.concatenate([n for _, n in records]), rows)


def as_numbers(frame: FloatArray) -> FloatArray:
    """Flatten a frame (4, 4) to (12,): its axes x, y and z, then its origin."""
    return np.concatenate([frame[:3, :3].T.reshape(9), frame[:3, 3]])


def _frame_at_zero(link: str, joints: Sequence[Joint]) -> FloatArray:
    """Return a link's frame (4, 4), in the root's frame, with all joints at position 0."""
    above = {joint.child: joint for joint in joints}
    frame = np.eye(4)
    while link in above:
        joint = above[link]
        frame, link = joint.child_frame() @ frame, joint.parent
    return frame


def _is_fixed(joint: Joint) -> dict[str, Any]:
    zero = None if joint.kind in ("fixed", "floating") else 0.0
    offset = joint.mimic.offset if joint.mimic else zero
    return {"frame": joint.child_frame(offset), "kind": kernels.FIXED}


def _moving(joint: Joint, source: Source) -> dict[str, Any]:
    turn = np.eye(4)
    if joint.kind != "floating":
        turn[:3, :3] = frame_along(joint.axis)
    return {
        "kind": KINDS[joint.kind],
        "position": source.position,
        "rate": source.rate,
        "frame": joint.at.matrix @ turn,
        "own": turn.T @ np.linalg.inv(joint.child_at.matrix),
        "factor": joint.mimic.multiplier if joint.mimic else 1.0,
        "offset": joint.mimic.offset if joint.mimic else 0.0,
    }


def _record(fields: Mapping[str, Any], body: Link | None) -> tuple[list[int], FloatArray]:
    own = fields.get("own", np.eye(4))
    has_mass = body is not None and (body.mass > 0.0 or bool(body.inertia.any()))
    integers = kernels.LINK_PLAN.numbers(
        **{name: fields.get(name, 0) for name in ("parent", "kind", "position", "rate")},
        has_own=int((own != np.eye(4)).any()),
        has_mass=int(has_mass),
    )
    inertia = np.zeros(10)
    if body is not None and has_mass:
        upper = body.inertia[np.triu_indices(3)]
        inertia = np.concatenate([[body.mass], body.com, upper])
    motion = [fields.get("factor", 1.0), fields.get("offset", 0.0)]
    return integers, np.concatenate([as_numbers(fields["frame"]), as_numbers(own), motion, inertia])


def frame_along(axis: FloatArray) -> FloatArray:
    """Return a rotation matrix (3, 3) whose third column is a given unit vector."""
    for k in range(3):
        if abs(abs(axis[k]) - 1.0) < NOISE:
            columns = np.roll(np.eye(3), 2 - k, axis=1)  # x y z, permuted until z is the axis
            if axis[k] < 0.0:
                columns[:, 1:] *= -1.0
            return columns
    smallest = int(np.argmin(np.abs(axis)))
    x = np.cross(np.eye(3)[smallest], axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])
