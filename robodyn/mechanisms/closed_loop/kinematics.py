# SPDX-License-Identifier: Apache-2.0

"""How a mechanism with closed loops moves: poses of links, rates of all joints, Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.errors import (
    InvalidInput,
    KinematicsError,
    SingularConfiguration,
    UnderActuated,
)
from robodyn.mechanisms.closed_loop.calls import batch, entry
from robodyn.mechanisms.closed_loop.joints import ClosedLoopJoints
from robodyn.mechanisms.closed_loop.rods import Rod, find_rods
from robodyn.mechanisms.common.link_tree import Source
from robodyn.mechanisms.common.motion import DrivenMotion, JointStates
from robodyn.numerics.broadcasting import element, flatten
from robodyn.poses import matrix_from_pose, pose_from_matrix, quaternion_of_rotation

# Entries of single states that take a flag whether to skip checks, before the result.
SKIPS_CHECKS = ("jacobian", "mass_matrix", "inverse_dynamics", "free_efforts")
# A configuration given from outside may be open by this part of the size.
OPEN = 1e-5


class ClosedLoopKinematics(ClosedLoopJoints):
    """The part of `ClosedLoop` that tells how it moves at a given configuration."""

    _rates_are_given = False

    def joint_velocities(self, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
        """(..., n) [rad/s or m/s] of the driven joints."""
        return self.driven_motion(configuration, velocity, np.zeros(self._nu)).velocities

    def driven_motion(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
    ) -> DrivenMotion:
        """Positions, rates and accelerations (..., n) of the driven joints."""
        positions = self.joint_positions(configuration)
        if self._drives_free:
            changes = self._u("velocity", velocity), self._u("acceleration", acceleration)
            return DrivenMotion(*map(np.array, np.broadcast_arrays(positions, *changes)))
        v, a = self.joint_motion(configuration, velocity, acceleration)
        return DrivenMotion(
            np.broadcast_to(positions, (*v.shape[:-1], self._n)),
            v[..., self._rates_at],
            a[..., self._rates_at],
        )

    def joint_states(
        self, configuration: ArrayLike, velocity: ArrayLike | None = None
    ) -> JointStates:
        """Names, positions and velocities (..., k) of all joints but floating ones.

        A floating joint has no place in a joint state; `body_pose` and `link_pose` tell where
        its link is.
        """
        q = self._q("configuration", configuration)
        v = self.joint_rates(q, np.zeros(self._nu) if velocity is None else velocity)
        names, at, rates, factors = self._listed
        return JointStates(
            names,
            np.broadcast_to(q[..., at], (*v.shape[:-1], len(at))),
            v[..., rates] * factors,
        )

    @cached_property
    def _listed(self) -> tuple[tuple[str, ...], list[int], list[int], FloatArray]:
        """Of all joints but floating ones: name, where position and rate are, rate's factor."""
        joints = [joint for joint in self._tree.joints if joint.kind != "floating"]
        return (
            tuple(joint.name for joint in joints),
            [self._tree.position_of[joint.name] for joint in joints],
            [self._tree.rate_of[joint.name] for joint in joints],
            np.array([joint.mimic.multiplier if joint.mimic else 1.0 for joint in joints]),
        )

    def joint_rates(self, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
        """(..., rates) of all tree coordinates, in the order of `rate_names`."""
        return self.joint_motion(configuration, velocity, np.zeros(self._nu))[0]

    def joint_motion(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
    ) -> tuple[FloatArray, FloatArray]:
        """Rates and accelerations (..., rates) of all tree coordinates."""
        found, count = self._tip_motion(configuration, velocity, acceleration), self._tree.rates
        return found[..., :count], found[..., count : 2 * count]

    def body_pose(self, configuration: ArrayLike) -> FloatArray:
        """Pose (..., 7) of the tip link, base frame: x y z [m], qx qy qz qw."""
        q = self._q("configuration", configuration)
        if q.ndim == 1:
            out = np.empty(7)
            self._kernel("tip_pose")(np.ascontiguousarray(q), out)
            return out
        frames = self._frame(q, self.model.tip_link)
        turns = quaternion_of_rotation(frames[..., :3, :3])
        return np.concatenate([frames[..., :3, 3], turns], axis=-1)

    def _frame(self, q: FloatArray, link: str) -> FloatArray:
        """Frames (..., 4, 4) of a link at checked configurations (..., nq)."""
        number = self._tree.body_of[link]
        axes = None
        if q.ndim > 1:
            packed = self.structure.packed
            axes = batch("frames", packed, (self._nq,), (4, 3), (q,), number)
        if axes is None:
            bodies_at, each = self.structure.equations.bodies_at, np.ndindex(q.shape[:-1])
            placed = [bodies_at(q[index])[number, :12] for index in each]
            axes = np.reshape(placed, (*q.shape[:-1], 4, 3))
        places = np.zeros((*q.shape[:-1], 4, 4))
        places[..., :3, :], places[..., 3, 3] = np.swapaxes(axes, -1, -2), 1.0
        # term by term, in the order of exported libraries: BLAS has one of its own
        local = self._tree.frame_of[link]
        x, y, z, origin = (places[..., k : k + 1] for k in range(4))
        found = x * local[0] + y * local[1] + z * local[2]
        found[..., 3:] += origin
        return np.asarray(found)

    @cached_property
    def _rods(self) -> tuple[Rod, ...]:
        return find_rods(self.structure.equations, self.structure.home)

    @property
    def leg_names(self) -> tuple[str, ...]:
        """Names of the ball or universal joints at which legs hold the moving body."""
        return tuple(rod.name for rod in self._rods)

    def leg_axes(self, configuration: ArrayLike) -> FloatArray:
        """(..., 2, k, 3) unit vectors along the legs; see `Mechanism.leg_axes`.

        A leg stands on the link that carries the last joint that turns before it: of a rod with two
        ball joints the crank or carriage.
        """
        q = self._q("configuration", configuration)
        found = np.empty((*q.shape[:-1], 2, len(self._rods), 3))
        for k, rod in enumerate(self._rods):
            # the foot is a point of the link that the leg stands on, the tip one of the body
            frames = [self._frame(q, link) for link in (rod.base, rod.body)]
            ends = [
                frame[..., :3, :3] @ point + frame[..., :3, 3]
                for frame, point in zip(frames, (rod.foot, rod.tip), strict=True)
            ]
            along = ends[1] - ends[0]
            along = along / np.linalg.norm(along, axis=-1, keepdims=True)
            for end, frame in enumerate(frames):
                found[..., end, k, :] = np.einsum("...i,...ij->...j", along, frame[..., :3, :3])
        return found

    def _joint_sources(self) -> dict[str, Source]:
        tree = self._tree
        return {
            joint.name: Source(tree.position_of[joint.name], tree.rate_of[joint.name])
            for joint in tree.joints
        }

    def _tree_state(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        if len(q) == 1:
            S = np.empty((self._tree.rates, self._nu))
            self._ask("tangent", np.ascontiguousarray(q[0]), S)
        else:
            S = self.tangent(q)
        return q, S.reshape(len(q), -1)

    def _tree_motion(
        self, q: FloatArray, v: FloatArray, a: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        count = self._tree.rates
        if len(q) == 1:
            found = np.empty((1, 2 * count + 6))
            self._ask("motion", *(np.ascontiguousarray(part[0]) for part in (q, v, a)), found[0])
        else:
            found = self._tip_motion(q, v, a)
        return q, found[:, :count], found[:, count : 2 * count]

    def floating_poses(self, configuration: FloatArray) -> dict[tuple[str, str], FloatArray]:
        """Poses (7,) of what hangs on floating joints, by (parent link, child link)."""
        found = {}
        for joint in self._tree.joints:
            if joint.kind == "floating":
                moved = matrix_from_pose(configuration[self._tree.place_of[joint.name]])
                seen = joint.at.matrix @ moved @ np.linalg.inv(joint.child_at.matrix)
                found[joint.parent, joint.child] = pose_from_matrix(seen)
        return found

    def jacobian(self, configuration: ArrayLike) -> FloatArray:
        """J (..., 6, mobility): twist of the tip = J @ independent rates, base frame."""
        J = np.empty((6, self._nu))
        try:
            if self._kernel("jacobian")(configuration, False, J):
                return J
        except TypeError:
            pass  # not a single float64 configuration
        return self._each_state("jacobian", (6, self._nu), configuration)

    def tangent(self, configuration: ArrayLike) -> FloatArray:
        """S (..., rates, mobility): rates of all tree coordinates = S @ independent rates."""
        return self._each_state("tangent", (self._tree.rates, self._nu), configuration)

    def joint_jacobian(self, configuration: ArrayLike) -> FloatArray:
        """Compute A (..., n, mobility): rates of the driven joints = A @ independent rates."""
        return np.asarray(self.tangent(configuration)[..., self._rates_at, :])

    @cached_property
    def _calls(self) -> dict[str, Callable[..., Any]]:
        """Entries that were asked for, with the pivots of home."""
        return {}

    def _kernel(self, name: str) -> Callable[..., Any]:
        """An entry with the pivots of home."""
        call = self._calls.get(name)
        if call is None:
            call = self._calls.setdefault(name, entry(name, self.structure.packed))
        return call

    def _ask(self, name: str, q: FloatArray, *arguments: Any) -> None:
        """Call an entry, with other pivots where those of home do not serve; q is closed."""
        if self._kernel(name)(q, *arguments):
            return
        self._refuse_open(q)
        for packed in self._pivots.known:
            if entry(name, packed)(q, *arguments):
                return
        if not entry(name, self._pivots.at(q))(q, *arguments):
            raise SingularConfiguration(
                f"{self.name}: the closures contradict this motion at this configuration, where "
                "their rank differs from that around it",
                smallest_singular_value=0.0,
                direction=None,
                value=q,
            )

    def _refuse_open(self, q: FloatArray) -> None:
        left = self.structure.equations.left(q)
        if not left <= OPEN:
            name = self.structure.equations.worst(q)
            raise InvalidInput(
                f"configuration is not closed: closure {name!r} is open by {left:.3g} of the "
                f"mechanism's size of {self.structure.equations.size:.3g} m; assemble it first",
                value=q,
            )

    def _refuse_under_actuated(self) -> None:
        loose = self.structure.loose
        if loose:
            hold = ", or hold what floats (base: fixed)" if self._free_poses else ""
            raise UnderActuated(
                f"{self.name}: the {self._n} driven joints do not determine the mechanism, which "
                f"has {self._nu} freedoms; with all motors locked {', '.join(loose)} still move. "
                f"Drive more joints{hold}; forward dynamics and simulation work as it is",
                joints=loose,
                value=self.model.driven,
            )

    def _each_state(
        self,
        name: str,
        core: tuple[int, ...],
        *values: ArrayLike | None,
        third: tuple[str, int] | None = None,
        call: Callable[..., None] | None = None,
    ) -> FloatArray:
        """A kernel's results (..., *core): of a batch in vectors, where these fail one by one.

        Args:
            name: of the kernel, for batches and for single states.
            core: shape of one result.
            values: a configuration, rates, accelerations, a wrench and the rows of a base, as far
                as it takes them.
            third: name and width of what it takes in place of accelerations.
            call: takes a single state and its result instead of the kernel.

        Raises:
            InvalidInput: a wrong shape, not finite, or a configuration that is not closed.
            KinematicsError: there is no result; its `index` says where.
        """
        kept = third or ("acceleration", self._nu)
        widths = (self._nq, self._nu, kept[1], 6, 9)[: len(values)]
        given = any(np.ndim(part) > 1 for part in values if part is not None)
        found = batch(name, self.structure.packed, widths, core, values) if given else None
        if found is not None and name == "inverse_dynamics" and self._n > self._nu:
            least, largest = self.effort_ranges.T  # in lanes limits are left to single states
            found[((found < least) | (found > largest)).any(axis=-1)] = np.nan
        if found is not None and not np.isnan(found).any():
            return found
        names = ("configuration", "velocity", kept[0], "wrench", "base")[: len(values)]
        units = (
            "every joint in the order of movable_joint_names",
            "independent joints, rad or m",
            "rad or m per s^2" if third is None else "N m or N",
            "N, N m",
            "",
        )
        parts = {
            what: as_array(what, value, (width,), unit)  # type: ignore[arg-type]
            for what, value, width, unit in zip(names, values, widths, units, strict=False)
            if value is not None or what not in ("wrench", "base")
        }
        shape, flat = flatten(**parts)
        states, count = dict(zip(parts, flat, strict=True)), len(flat[0])
        out = np.full((count, *core), np.nan) if found is None else found.reshape(count, *core)
        rest = [False] if name in SKIPS_CHECKS else []
        for n in np.flatnonzero(np.isnan(out).any(axis=tuple(range(1, out.ndim)))):
            state: list[Any] = [
                np.array(states[what][n]) if what in states else None for what in names
            ]
            try:
                if call is None:
                    self._ask(name, *state, *rest, out[n])
                else:
                    call(*state, out[n])
            except KinematicsError as error:
                error.index = element(shape, int(n))
                raise
        return out.reshape(*shape, *core)

    def _tip_motion(self, *motion: ArrayLike) -> FloatArray:
        """Rates of all joints, their changes, the tip's acceleration (..., 2 * rates + 6)."""
        width = 2 * self._tree.rates + 6
        return self._each_state("motion", (width,), *motion)

    def _tree_jacobian(self, q: FloatArray) -> FloatArray:
        """(6, rates) twist of the tip for each tree coordinate."""
        B, tree = self.structure.equations.bodies_at(q), self._tree
        way = tree.way_round(0, tree.body_of[self.model.tip_link])
        return tree.point_jacobian(B, way, tree.frame_at(B, self.model.tip_link)[:3, 3])
