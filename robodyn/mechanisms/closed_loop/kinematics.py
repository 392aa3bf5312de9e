# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Where a mechanism with closed loops is and how it moves: names, limits, assembly, kinematics."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from robodyn.checks import as_array, as_scalar
from robodyn.errors import InvalidInput, NoSolution, SingularConfiguration
from robodyn.mechanisms.closed_loop.assembly import ACCEPTED, CLOSED, null_space
from robodyn.mechanisms.closed_loop.kernels import layout
from robodyn.mechanisms.closed_loop.pivots import Pivots
from robodyn.mechanisms.closed_loop.placing import TipPose, all_assemblies, nearest
from robodyn.mechanisms.closed_loop.single_calls import entry
from robodyn.mechanisms.closed_loop.structure import find_structure, followed, guessed
from robodyn.mechanisms.common.joint_states import DrivenMotion, JointStates
from robodyn.mechanisms.common.motion import Motion
from robodyn.numerics.singular_values import extreme_ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.closed_loop.model import ClosedLoopModel

# A configuration given from outside may be open by this part of the size.
OPEN = 1e-5


class ClosedLoopKinematics:
    """The kinematic half of `ClosedLoop`.

    A configuration (..., nq) is the position of every movable joint in the order of
    `movable_joint_names`, a floating joint as its pose (7,): x y z [m], qx qy qz qw, of the child
    in the frame of the joint's origin. Velocities and accelerations (..., mobility) are those of
    `independent_joints`.

    Attributes:
        model: the description it was made from.
        structure: what was found of it: rank, mobility, idle freedoms and so on.
    """

    kind = "closed_loop"

    def __init__(self, model: ClosedLoopModel) -> None:
        self.model = model
        self.structure = find_structure(model)
        self._tree = self.structure.tree
        self._pivots = Pivots(self.structure)
        self._nq, self._nu = self._tree.positions, len(self.structure.free)
        self._n = len(model.driven)
        self._driven_at = np.array([self._tree.position_of[name] for name in model.driven])
        self._rates_at = np.array([self._tree.rate_of[name] for name in model.driven])
        self._free_at = np.array([self._tree.place_of_rate(rate) for rate in self.structure.free])

    @property
    def name(self) -> str:
        """What the mechanism is called."""
        return self.model.name

    @property
    def mobility(self) -> int:
        """Freedoms of the mechanism, idle ones not counted."""
        return self._nu

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The driven joints."""
        return self.model.driven

    @cached_property
    def movable_joint_names(self) -> tuple[str, ...]:
        """Every movable joint, floating ones included, in the order of a configuration."""
        return tuple(joint.name for joint in self._tree.joints)

    @cached_property
    def all_joint_names(self) -> tuple[str, ...]:
        """Every movable joint that a joint state can tell of: all but floating ones."""
        return tuple(joint.name for joint in self._tree.joints if joint.kind != "floating")

    @cached_property
    def passive_joint_names(self) -> tuple[str, ...]:
        """Those that are not driven."""
        return tuple(name for name in self.all_joint_names if name not in self.model.driven)

    @cached_property
    def independent_joints(self) -> tuple[str, ...]:
        """The coordinates in which velocity and acceleration are told."""
        return tuple(self._tree.rate_names[rate] for rate in self.structure.free)

    @cached_property
    def frames(self) -> tuple[str, str]:
        """Names of the base link and of the tip's."""
        return self.model.base_link, self.model.tip_link

    @cached_property
    def effort_limits(self) -> FloatArray:
        """(n,) [N m or N] of the driven joints."""
        return self._limits("effort")

    @cached_property
    def velocity_limits(self) -> FloatArray:
        """(n,) [rad/s or m/s] of the driven joints."""
        return self._limits("velocity")

    @cached_property
    def position_limits(self) -> FloatArray:
        """(n, 2) [rad or m] of the driven joints."""
        return self._limits("position")

    @property
    def home(self) -> FloatArray:
        """(nq,) where the loops close, near the model's guess."""
        return np.array(self.structure.home)

    def joint_positions(self, configuration: ArrayLike) -> FloatArray:
        """(..., n) [rad or m] of the driven joints."""
        return np.asarray(self._q("configuration", configuration)[..., self._driven_at])

    def joint_velocities(self, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
        """(..., n) [rad/s or m/s] of the driven joints."""
        q, u = self._q("configuration", configuration), self._u("velocity", velocity)
        if self._drives_free:
            shape = np.broadcast_shapes(q.shape[:-1], u.shape[:-1])
            return np.array(np.broadcast_to(u, (*shape, self._nu)))
        return np.asarray(self._rates(q, u)[..., self._rates_at])

    def driven_motion(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
    ) -> DrivenMotion:
        """Positions, rates and accelerations (..., n) of the driven joints."""
        q = self._q("configuration", configuration)
        u, change = self._u("velocity", velocity), self._u("acceleration", acceleration)
        v, a = self._motion(q, u, change)
        return DrivenMotion(
            np.broadcast_to(q[..., self._driven_at], (*v.shape[:-1], self._n)),
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
        rate = self._u("velocity", np.zeros(self._nu) if velocity is None else velocity)
        v = self._rates(q, rate)
        joints = [joint for joint in self._tree.joints if joint.kind != "floating"]
        at = [self._tree.position_of[joint.name] for joint in joints]
        rates = [self._tree.rate_of[joint.name] for joint in joints]
        factors = [joint.mimic.multiplier if joint.mimic else 1.0 for joint in joints]
        shape = v.shape[:-1]
        return JointStates(
            tuple(joint.name for joint in joints),
            np.broadcast_to(q[..., at], (*shape, len(at))),
            v[..., rates] * np.array(factors),
        )

    def joint_rates(self, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
        """(..., rates) of all tree coordinates, in the order of `rate_names`."""
        return self._rates(self._q("configuration", configuration), self._u("velocity", velocity))

    def joint_motion(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
    ) -> tuple[FloatArray, FloatArray]:
        """Rates and accelerations (..., rates) of all tree coordinates."""
        return self._motion(
            self._q("configuration", configuration),
            self._u("velocity", velocity),
            self._u("acceleration", acceleration),
        )

    @property
    def rate_names(self) -> tuple[str, ...]:
        """Of each tree coordinate; a floating joint has its twist, linear then angular."""
        return tuple(self._tree.rate_names)

    def forward_kinematics(self, configuration: ArrayLike) -> FloatArray:
        """Pose (..., 7) of the tip link, base frame: x y z [m], qx qy qz qw."""
        return self.link_pose(configuration, self.model.tip_link)

    def body_pose(self, configuration: ArrayLike) -> FloatArray:
        """Pose (..., 7) of the tip link; see `forward_kinematics`."""
        return self.link_pose(configuration, self.model.tip_link)

    def link_pose(self, configuration: ArrayLike, link: str) -> FloatArray:
        """Pose (..., 7) of a link, base frame.

        Raises:
            InvalidInput: no link of that name.
        """
        if link not in self._tree.body_of:
            raise InvalidInput(f"{self.name} has no link {link!r}", value=link)
        q = self._q("configuration", configuration)
        frame, number = self._tree.frame_of[link], self._tree.body_of[link]
        matrices = np.empty((*q.shape[:-1], 4, 4))
        for index in np.ndindex(q.shape[:-1]):
            matrices[index] = self._placed(q[index])[number] @ frame
        turns = Rotation.from_matrix(matrices[..., :3, :3].reshape(-1, 3, 3))
        quaternions = turns.as_quat(canonical=True).reshape(*q.shape[:-1], 4)
        return np.concatenate([matrices[..., :3, 3], quaternions], axis=-1)

    def jacobian(self, configuration: ArrayLike) -> FloatArray:
        """J (..., 6, mobility): twist of the tip = J @ independent rates, base frame."""
        q = self._q("configuration", configuration)
        out = np.empty((*q.shape[:-1], 6, self._nu))
        for index in np.ndindex(q.shape[:-1]):
            self._ask("jacobian", q[index], (False, out[index]))
        return out

    def tangent(self, configuration: ArrayLike) -> FloatArray:
        """S (..., rates, mobility): rates of all tree coordinates = S @ independent rates."""
        q = self._q("configuration", configuration)
        out = np.empty((*q.shape[:-1], self._tree.rates, self._nu))
        for index in np.ndindex(q.shape[:-1]):
            self._ask("tangent", q[index], (out[index],))
        return out

    def motion_condition(
        self, configuration: ArrayLike, characteristic_length: float = 1.0
    ) -> FloatArray:
        """Condition (...) of the way from the mechanism's motion to the tip's.

        Infinite at a singularity of type 1, an end of travel, where the mechanism moves and the
        tip does not. Angular rates of the tip are multiplied by the length [m].
        """
        length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
        return np.asarray(self._conditions(configuration, length)[0])

    def force_condition(self, configuration: ArrayLike) -> FloatArray:
        """Condition (...) of the way from the mechanism's motion to the driven joints' rates.

        Infinite at a singularity of type 2, where the mechanism moves although all motors are
        locked, so that they cannot hold it.
        """
        return np.asarray(self._conditions(configuration, 1.0)[1])

    def condition_number(
        self, configuration: ArrayLike, characteristic_length: float = 1.0
    ) -> FloatArray:
        """The larger of `motion_condition` and `force_condition`."""
        length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
        return np.asarray(self._conditions(configuration, length).max(axis=0))

    def determinant(self, configuration: ArrayLike) -> FloatArray | None:
        """A number (...) that changes sign at singularities of type 2; None if redundant.

        The determinant of the equations together with the driven rates, along the mechanism's
        motions; its sign is carried by one basis of these.
        """
        if self._n != self._nu:
            return None
        q = self._q("configuration", configuration)
        out = np.empty(q.shape[:-1])
        reference = self._reference
        for index in np.ndindex(q.shape[:-1]):
            _, K = self.structure.equations.at(q[index])
            _, basis = null_space(K)
            sign = np.sign(np.linalg.det(reference.T @ basis)) or 1.0
            out[index] = sign * np.linalg.det(basis[self._rates_at])
        return out

    def difference(self, start: ArrayLike, goal: ArrayLike) -> FloatArray:
        """(..., mobility) how far the independent coordinates are from start to goal."""
        a, b = self._q("start", start), self._q("goal", goal)
        return np.asarray(b[..., self._free_at] - a[..., self._free_at])

    def advance(self, configuration: ArrayLike, displacement: ArrayLike) -> FloatArray:
        """(..., nq) after a displacement (..., mobility) of the independent coordinates.

        Raises:
            NoSolution: the loops do not close there.
        """
        q, step = self._q("configuration", configuration), self._u("displacement", displacement)
        shape = np.broadcast_shapes(q.shape[:-1], step.shape[:-1])
        out = np.array(np.broadcast_to(q, (*shape, self._nq)))
        steps = np.broadcast_to(step, (*shape, self._nu))
        for index in np.ndindex(shape):
            out[index] = self._displaced(out[index], np.ascontiguousarray(steps[index]))
        return out

    def assemble(
        self,
        driven: ArrayLike | Mapping[str, ArrayLike] | None = None,
        guess: ArrayLike | Mapping[str, ArrayLike] | None = None,
        *,
        pose: ArrayLike | None = None,
    ) -> FloatArray:
        """The configuration (..., nq) that closes the loops, of those that there are near a guess.

        Args:
            driven: positions (..., n) of the driven joints; or a mapping of any joints to their
                positions, a floating joint's as its pose (7,), where these determine the rest.
            guess: a configuration (nq,) or (..., nq), or a mapping of joints to positions; home by
                default. From a closed one the mechanism moves to its goal as a real one would.
            pose: (..., 7) of the tip instead of `driven`.

        Raises:
            NoSolution: the loops do not close; with the largest equation left and its closure.
            InvalidInput: wrong shapes or names, or neither `driven` nor `pose`.
        """
        start = self._guess(guess)
        if pose is not None:
            wanted = as_array("pose", pose, (7,), "m, unit quaternion x y z w")
            shape = np.broadcast_shapes(wanted.shape[:-1], start.shape[:-1])
            return self._each(shape, wanted, start, lambda p, q: self._to_pose(q, p))
        if driven is None:
            raise InvalidInput("assemble needs positions of joints, or a pose of the tip")
        if hasattr(driven, "items"):
            return self._from_joints(dict(driven.items()), start)
        wanted = as_array("driven", driven, (self._n,), f"{self._n} driven joints, rad or m")
        shape = np.broadcast_shapes(wanted.shape[:-1], start.shape[:-1])
        return self._each(shape, wanted, start, lambda p, q: self._to_driven(q, p))

    def assemblies(self, driven: ArrayLike, *, searches: int = 300, seed: int = 0) -> FloatArray:
        """All configurations (k, nq) found with these driven positions (n,), nearest home first.

        By Newton's method from random guesses: more searches find more of them.
        """
        wanted = as_array("driven", driven, (self._n,), f"{self._n} driven joints, rad or m")
        start = self.home
        start[self._driven_at] = wanted
        followed(self._tree, start)
        held = [int(rate) for rate in self._rates_at]
        return all_assemblies(self.structure, start, held, searches, seed)

    def motion_of_joints(
        self,
        positions: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike | None = None,
        guess: ArrayLike | None = None,
    ) -> Motion:
        """Configuration, velocity and acceleration of driven joints' motion (..., n).

        Along the last batch dimension each configuration is found from the one before it, the
        first from the guess, home by default.

        Raises:
            NoSolution: the loops do not close.
            SingularConfiguration: the driven rates do not determine the motion.
        """
        wanted = as_array("positions", positions, (self._n,))
        rates = as_array("velocities", velocities, (self._n,))
        changes = as_array(
            "accelerations", np.zeros(self._n) if accelerations is None else accelerations,
            (self._n,),
        )  # fmt: skip
        shape = np.broadcast_shapes(wanted.shape[:-1], rates.shape[:-1], changes.shape[:-1])
        wanted, rates, changes = (
            np.broadcast_to(value, (*shape, self._n)) for value in (wanted, rates, changes)
        )
        q = np.empty((*shape, self._nq))
        first = self._guess(guess)
        for outer in np.ndindex(shape[:-1]):
            here = first
            for n in range(shape[-1]) if shape else (None,):
                index = outer if n is None else (*outer, n)
                here = self._to_driven(here, wanted[index])
                q[index] = here
        if self._drives_free:
            return Motion(q, np.array(rates), np.array(changes))
        return self._independent_motion(q, rates, changes)

    def _independent_motion(self, q: FloatArray, rates: FloatArray, changes: FloatArray) -> Motion:
        A = self.tangent(q)[..., self._rates_at, :]
        inverse = np.linalg.pinv(A)
        if np.linalg.matrix_rank(A).min(initial=self._nu) < self._nu:
            raise SingularConfiguration(
                f"{self.name}: the driven joints' rates do not determine the motion",
                smallest_singular_value=0.0,
                direction=None,
                value=q,
            )
        u = np.einsum("...ij,...j->...i", inverse, rates)
        _, a = self._motion(q, u, np.zeros_like(u))
        change = np.einsum("...ij,...j->...i", inverse, changes - a[..., self._rates_at])
        return Motion(q, u, change)

    @cached_property
    def _drives_free(self) -> bool:
        return bool(self.structure.packed.head[layout.DRIVES_FREE])

    @cached_property
    def _reference(self) -> FloatArray:
        return null_space(self.structure.equations.at(self.structure.home)[1])[1]

    @cached_property
    def _calls(self) -> dict[str, Callable[..., Any]]:
        names = (
            "jacobian",
            "tangent",
            "motion",
            "energy",
            "free_efforts",
            "mass_matrix",
            "inverse_dynamics",
        )
        return {name: entry(name, self.structure.packed) for name in names}

    def _ask(self, name: str, q: FloatArray, arguments: tuple[Any, ...]) -> None:
        """Call an entry, with other pivots where those of home do not serve; q is closed."""
        q = np.ascontiguousarray(q)
        call = self._calls[name]
        if call(q, *arguments):
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

    def _rates(self, q: FloatArray, u: FloatArray) -> FloatArray:
        return self._motion(q, u, np.zeros(self._nu))[0]

    def _motion(
        self, q: FloatArray, u: FloatArray, change: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        shape = np.broadcast_shapes(q.shape[:-1], u.shape[:-1], change.shape[:-1])
        v, a = np.empty((2, *shape, self._tree.rates))
        B = np.empty((len(self._tree.bodies), layout.BODY_SIZE))
        q = np.broadcast_to(q, (*shape, self._nq))
        u, change = (np.broadcast_to(value, (*shape, self._nu)) for value in (u, change))
        for index in np.ndindex(shape):
            given = np.array(u[index]), np.array(change[index])
            self._ask("motion", q[index], (*given, v[index], a[index], B))
        return v, a

    def _conditions(self, configuration: ArrayLike, length: float) -> FloatArray:
        q = self._q("configuration", configuration)
        out = np.empty((2, *q.shape[:-1]))
        for index in np.ndindex(q.shape[:-1]):
            _, K = self.structure.equations.at(q[index])
            _, basis = null_space(K)
            J = self._tree_jacobian(q[index]) @ (basis * self.structure.equations.columns[:, None])
            J[3:] *= length
            columns = self.structure.equations.columns[self._rates_at]
            A = basis[self._rates_at] * (columns / columns.max())[:, None]
            for part, matrix in enumerate((J, A)):
                values = np.linalg.svd(matrix, compute_uv=False)
                if part and matrix.shape[0] < matrix.shape[1]:
                    values = np.append(values, 0.0)
                at = (part, *index)
                out[at] = extreme_ratio(values)
        return out

    def _tree_jacobian(self, q: FloatArray) -> FloatArray:
        """(6, rates) twist of the tip for each tree coordinate."""
        places = self._placed(q)
        number = self._tree.body_of[self.model.tip_link]
        point = (places[number] @ self._tree.frame_of[self.model.tip_link])[:3, 3]
        J = np.zeros((6, self._tree.rates))
        for body, _ in self._tree.way_round(0, number):
            own, place = self._tree.bodies[body], places[body]
            arm, z, rate = point - place[:3, 3], place[:3, 2], own.rate
            if own.kind == layout.FLOATING:
                J[:, rate : rate + 6] += np.eye(6)
                for k in range(3):
                    J[:3, rate + 3 + k] += np.cross(np.eye(3)[k], arm)
            elif own.kind == layout.PRISMATIC:
                J[:3, rate] += own.factor * z
            else:
                J[:3, rate] += own.factor * np.cross(z, arm)
                J[3:, rate] += own.factor * z
        return J

    def _placed(self, q: FloatArray) -> FloatArray:
        """(bodies, 4, 4) frames of all bodies."""
        B = np.empty((len(self._tree.bodies), layout.BODY_SIZE))
        self._state(np.ascontiguousarray(q), np.zeros(self._tree.rates), B)
        out = np.zeros((len(B), 4, 4))
        out[:, :3, :3] = np.swapaxes(B[:, :9].reshape(-1, 3, 3), 1, 2)
        out[:, :3, 3], out[:, 3, 3] = B[:, layout.ORIGIN : layout.ORIGIN + 3], 1.0
        return out

    @cached_property
    def _state(self) -> Callable[..., Any]:
        return entry("tree_state", self.structure.packed)

    def _displaced(self, q: FloatArray, step: FloatArray) -> FloatArray:
        """After a displacement of the independent coordinates."""
        for packed in (self.structure.packed, *self._pivots.known):
            moved = q.copy()
            left = entry("displace", packed)(moved, step, CLOSED)
            if 0.0 <= left <= ACCEPTED:
                return np.asarray(moved)
        wanted = q.copy()
        wanted[self._free_at] += step
        followed(self._tree, wanted)
        return self._nearest(wanted, list(self.structure.free))

    def _to_driven(self, q: FloatArray, wanted: FloatArray) -> FloatArray:
        """From a guess to positions of the driven joints."""
        if self._drives_free and self.structure.equations.left(q) <= OPEN:
            return self._displaced(q, np.ascontiguousarray(wanted - q[self._driven_at]))
        start = np.array(q)
        start[self._driven_at] = wanted
        followed(self._tree, start)
        return self._nearest(start, [int(rate) for rate in self._rates_at])

    def _to_pose(self, q: FloatArray, pose: FloatArray) -> FloatArray:
        """From a guess to where the tip has a pose."""
        extra = TipPose(pose, self.structure.equations.size, self.body_pose, self._tree_jacobian)
        return self._nearest(q, [], extra)

    def _nearest(self, q: FloatArray, held: list[int], extra: Any = None) -> FloatArray:
        equations = self.structure.equations
        found = nearest(equations, q, held, extra)
        if found.left > ACCEPTED:
            name = equations.worst(found.q)
            raise NoSolution(
                f"{self.name}: the loops do not close; {name!r} stays open by {found.left:.3g} of "
                f"the mechanism's size of {equations.size:.3g} m",
                residual=found.left,
                value=q,
            )
        return found.q

    def _from_joints(self, given: dict[str, ArrayLike], start: FloatArray) -> FloatArray:
        q = np.array(start)
        held: list[int] = []
        for name, value in given.items():
            if name not in self._tree.position_of:
                raise InvalidInput(f"{self.name} has no joint {name!r}", value=name)
            at, floats = self._tree.position_of[name], self._floats(name)
            width = 7 if floats else 1
            q[..., at : at + width] = as_array(name, np.atleast_1d(value), (width,))
            held += range(self._tree.rate_of[name], self._tree.rate_of[name] + (6 if floats else 1))
        followed(self._tree, q)
        out = np.empty_like(q)
        for index in np.ndindex(q.shape[:-1]):
            out[index] = self._nearest(q[index], held)
        return out

    def _guess(self, guess: Any) -> FloatArray:
        if guess is None:
            return self.structure.home
        if hasattr(guess, "items"):
            home = {
                joint.name: tuple(self.structure.home[self._slice(joint.name)])
                for joint in self._tree.joints
            }
            told = {}
            for name, value in guess.items():
                if name not in self._tree.position_of:
                    raise InvalidInput(f"{self.name} has no joint {name!r}", value=name)
                told[name] = tuple(np.atleast_1d(np.asarray(value, dtype=float)).tolist())
            return guessed(self._tree, home | told)
        return self._q("guess", guess)

    def _floats(self, name: str) -> bool:
        at = self.movable_joint_names.index(name)
        return self._tree.joints[at].kind == "floating"

    def _slice(self, name: str) -> slice:
        at = self._tree.position_of[name]
        return slice(at, at + (7 if self._floats(name) else 1))

    def _each(
        self,
        shape: tuple[int, ...],
        wanted: FloatArray,
        start: FloatArray,
        find: Callable[[FloatArray, FloatArray], FloatArray],
    ) -> FloatArray:
        wanted = np.broadcast_to(wanted, (*shape, wanted.shape[-1]))
        start = np.broadcast_to(start, (*shape, self._nq))
        out = np.empty((*shape, self._nq))
        for index in np.ndindex(shape):
            out[index] = find(wanted[index], start[index])
        return out

    def _limits(self, name: str) -> FloatArray:
        joints = {joint.name: joint for joint in self._tree.joints}
        return np.array(
            [getattr(joints[joint], name) for joint in self.model.driven], dtype=np.float64
        )

    def _q(self, name: str, value: ArrayLike) -> FloatArray:
        return as_array(name, value, (self._nq,), "every joint in the order of movable_joint_names")

    def _u(self, name: str, value: ArrayLike) -> FloatArray:
        return as_array(name, value, (self._nu,), "independent joints, rad or m")
