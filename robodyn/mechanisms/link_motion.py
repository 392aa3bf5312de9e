# SPDX-License-Identifier: Apache-2.0

"""Pose and motion of every link of every kind, of frames added to links, and of all their mass."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_exact
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.mechanisms.common.figure import Figure
from robodyn.mechanisms.common.link_tree import LinkTree, Source, as_numbers
from robodyn.mechanisms.derivatives import Derivatives
from robodyn.model.joint import Joint
from robodyn.numerics.broadcasting import element, flatten
from robodyn.poses import matrix_from_pose

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")
_empty = np.empty
FLOAT64 = np.dtype(np.float64)
# By how much the square of a unit quaternion may differ from 1.
ROUNDING = 1e-15


class LinkMotion(Derivatives):
    """The eighth part of `Mechanism`: where its links are, and how they move.

    A link is one of `link_names`, which has those on fixed joints, or a frame added by
    `with_frame`. Twists and accelerations (..., 6) are linear, then angular, in the base frame.
    """

    # Whether the tree's positions are the configuration, and its rates the velocity.
    _positions_are_given = True
    _rates_are_given = True

    _added: dict[str, tuple[str, FloatArray]]

    @cached_property
    def _drawn(self) -> Figure:
        return self.figure()

    @cached_property
    def _link_tree(self) -> LinkTree:
        bodies = dict(zip(self.body_links, self.bodies, strict=True))
        drawn, coordinates = self._drawn, self.coordinates
        return LinkTree.of(
            drawn.links,
            self._tree_joints(),
            self._joint_sources(),
            bodies,
            self.frames[0],
            (coordinates.configuration_size, coordinates.velocity_size),
        )

    @cached_property
    def _places(self) -> dict[str, tuple[int, FloatArray, FloatArray]]:
        """Of each link or added frame: row of the tree, its frame (12,) and (4, 4) on the link."""
        rows = self._link_tree.rows
        eye = np.eye(4)
        found = {name: (row, as_numbers(eye), eye) for name, row in rows.items()}
        for name, (link, at) in self.added_frames.items():
            found[name] = rows[link], as_numbers(at), at
        return found

    def _tree_joints(self) -> Sequence[Joint]:
        """The joints of the tree of links, in the order of the links that they move."""
        return self._drawn.joints

    def _joint_sources(self) -> Mapping[str, Source]:
        """Where the positions and rates of joints are among those of `_tree_state`."""
        return {name: Source(k, k) for k, name in enumerate(self.joint_states(self.home).names)}

    def _tree_positions(self, q: FloatArray) -> FloatArray:
        """Positions (N, p) of the tree's joints, of configurations (N, nq). Unchecked."""
        return q

    def _tree_state(self, q: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Positions (N, p) of the tree's joints and its tangents, of configurations (N, nq).

        The tangents (N, rates * nv) hold, by rows, the rates of the joints for each coordinate of
        the velocity; None if they are the velocity. Unchecked.
        """
        return q, None

    def _tree_motion(
        self, q: FloatArray, v: FloatArray, a: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions (N, p) of the tree's joints, their rates and the changes of these."""
        return q, v, a

    @property
    def added_frames(self) -> dict[str, tuple[str, FloatArray]]:
        """Frames of `with_frame`: link and frame (4, 4) on it, by name."""
        return getattr(self, "_added", {})

    @property
    def link_names(self) -> tuple[str, ...]:
        """All links, then the frames that were added."""
        return (*self._drawn.links, *self.added_frames)

    @property
    def body_links(self) -> tuple[str, ...]:
        """The link in whose frame each of `bodies` is given."""
        return tuple(body.name for body in self.bodies)

    def with_frame(self, name: str, link: str, pose: ArrayLike) -> Self:
        """The same mechanism with a further frame on a link.

        Args:
            name: of the frame.
            link: that it moves with, or another added frame.
            pose: (7,) of the frame in the link's: x y z [m], qx qy qz qw.

        Raises:
            InvalidInput: a name that there is, a link that there is not, or no pose.
        """
        if name in self.link_names:
            raise InvalidInput(f"{self.name} has a link or frame {name!r} already", value=name)
        at = matrix_from_pose(as_exact("pose", pose, (7,)))
        on, place = self.added_frames.get(link, (link, np.eye(4)))
        self._known(on)
        made = copy(self)
        made._added = self.added_frames | {name: (on, place @ at)}
        made.__dict__.pop("_places", None)
        return made

    def _made(self, model: Any) -> Self:
        made = super()._made(model)
        made._added = self.added_frames
        return made

    def link_pose(self, configuration: ArrayLike, link: str) -> FloatArray:
        """Compute the pose of a link or frame.

        Args:
            configuration: (..., nq).
            link: name of a link, or of an added frame.

        Returns:
            (..., 7) in the base frame: x y z [m], qx qy qz qw.

        Raises:
            InvalidInput: no link of that name, or no configuration.
        """
        row, at = self._frame_at(link, None)
        if self._positions_are_given:
            pose = _of_single(self._link_tree.poses, (configuration,), (7,), row, at)
            if pose is not None:
                return pose
        shape, (q,) = self._states(configuration)
        out = np.empty((len(q), 7))
        positions = _located(shape, self._tree_positions, q)
        self._link_tree.poses(positions, row, at, True, out)
        return out.reshape(*shape, 7)

    def link_jacobian(
        self, configuration: ArrayLike, link: str, offset: ArrayLike | None = None
    ) -> FloatArray:
        """Compute the Jacobian of a link or frame.

        Args:
            configuration: (..., nq).
            link: name of a link, or of an added frame.
            offset: (3,) [m] of the point whose velocity it is, in the link's frame; its origin.

        Returns:
            J (..., 6, nv), linear over angular, base frame: twist of the link = J velocity.

        Raises:
            InvalidInput: no link of that name, no configuration, or no point.
        """
        row, at = self._frame_at(link, offset)
        tree, core = self._link_tree, (6, self._nv)
        if self._rates_are_given:
            given = configuration, None
            J = _of_single(tree.joint_jacobians, given, core, row, at)
            if J is not None:
                return J
        shape, (q,) = self._states(configuration)
        positions, tangents = _located(shape, self._tree_state, q)
        out = np.empty((len(q), 6 * self._nv))
        compute = tree.joint_jacobians if tangents is None else tree.jacobians
        compute(positions, tangents, row, at, True, out)
        return out.reshape(*shape, *core)

    def link_twist(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        link: str,
        offset: ArrayLike | None = None,
    ) -> FloatArray:
        """Compute the twist of a link or frame.

        Args:
            configuration: (..., nq).
            velocity: (..., nv).
            link, offset: as for `link_jacobian`.

        Returns:
            (..., 6) [m/s, rad/s], linear over angular, base frame.

        Raises:
            InvalidInput: as `link_jacobian`, or no velocity.
        """
        return self._motion(configuration, velocity, self._no_change, link, offset)[..., :6]

    def link_acceleration(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        link: str,
        offset: ArrayLike | None = None,
    ) -> FloatArray:
        """Compute the acceleration of a link or frame.

        Args:
            configuration: (..., nq).
            velocity, acceleration: (..., nv).
            link, offset: as for `link_jacobian`.

        Returns:
            (..., 6) [m/s^2, rad/s^2], linear over angular, base frame: of the point's velocity and
            of the angular velocity.

        Raises:
            InvalidInput: as `link_jacobian`, or no velocity or acceleration.
        """
        return self._motion(configuration, velocity, acceleration, link, offset)[..., 6:]

    def center_of_mass(self, configuration: ArrayLike) -> FloatArray:
        """Compute the center of mass of all that moves.

        Args:
            configuration: (..., nq).

        Returns:
            (..., 3) [m] in the base frame.

        Raises:
            InvalidInput: no configuration.
        """
        if self._positions_are_given:
            center = _of_single(self._link_tree.centers_of_mass, (configuration,), (3,))
            if center is not None:
                return center
        shape, (q,) = self._states(configuration)
        out = np.empty((len(q), 3))
        positions = _located(shape, self._tree_positions, q)
        self._link_tree.centers_of_mass(positions, True, out)
        return out.reshape(*shape, 3)

    def momentum(self, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
        """Compute the momentum of links and platform; rotors of actuators are left out.

        Args:
            configuration: (..., nq).
            velocity: (..., nv).

        Returns:
            (..., 6) linear [kg m/s], then angular momentum [kg m^2/s] about the base's origin.

        Raises:
            InvalidInput: no configuration or no velocity.
        """
        if self._rates_are_given:
            momentum = _of_single(self._link_tree.momenta, (configuration, velocity), (6,))
            if momentum is not None:
                return momentum
        shape, (q, v) = self._states(configuration, velocity)
        positions, rates, _ = _located(shape, self._tree_motion, q, v, v)
        out = np.empty((len(q), 6))
        self._link_tree.momenta(positions, rates, True, out)
        return out.reshape(*shape, 6)

    def centroidal_momentum_matrix(self, configuration: ArrayLike) -> FloatArray:
        """Compute the matrix that maps the velocity to the momentum about the center of mass.

        Orin and Goswami (2008). Rotors of actuators are left out.

        Args:
            configuration: (..., nq).

        Returns:
            A (..., 6, nv): linear [kg m/s] over angular momentum [kg m^2/s] about
            `center_of_mass`, base frame, = A velocity.

        Raises:
            InvalidInput: no configuration.
        """
        tree, core = self._link_tree, (6, self._nv)
        if self._rates_are_given:
            matrix = _of_single(tree.joint_centroidal_matrices, (configuration, None), core)
            if matrix is not None:
                return matrix
        shape, (q,) = self._states(configuration)
        positions, tangents = _located(shape, self._tree_state, q)
        out = np.empty((len(q), 6 * self._nv))
        kept = tangents is None
        compute = tree.joint_centroidal_matrices if kept else tree.centroidal_matrices
        compute(positions, tangents, True, out)
        return out.reshape(*shape, *core)

    def figure_frames(self, figure: Figure, configurations: FloatArray) -> FloatArray:
        """Frames (N, L, 4, 4) of a figure's links in its root's, at configurations (N, nq)."""
        states = self.joint_states(configurations)
        positions = dict(zip(states.names, np.moveaxis(states.positions, -1, 0), strict=True))
        poses: dict[tuple[str, str], list[FloatArray]] = {}
        if any(joint.kind == "floating" for joint in figure.joints):
            for one in configurations:
                for key, pose in self.floating_poses(one).items():
                    poses.setdefault(key, []).append(pose)
        return figure.link_frames(positions, {key: np.array(each) for key, each in poses.items()})

    def _known(self, link: str) -> None:
        if link not in self.link_names:
            raise InvalidInput(
                f"{self.name} has no link {link!r}; it has {', '.join(self.link_names)}", value=link
            )

    def _frame_at(self, link: str, offset: ArrayLike | None) -> tuple[int, FloatArray]:
        """Row of a link or frame in the tree, and the frame (12,) on it, moved by an offset."""
        if link not in self._places:
            self._known(link)
        row, at, frame = self._places[link]
        if offset is None:
            return row, at
        moved = at.copy()
        moved[9:] += frame[:3, :3] @ as_exact("offset", offset, (3,), "m")
        return row, moved

    def _frames(self, configuration: ArrayLike, links: tuple[str, ...]) -> FloatArray:
        """(..., links, 4, 4) in the base frame."""
        poses = [self.link_pose(configuration, link) for link in links]
        return matrix_from_pose(np.stack(poses, axis=-2))

    def _motion(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        link: str,
        offset: ArrayLike | None,
    ) -> FloatArray:
        """Twist, then acceleration (..., 12) of a link or frame."""
        row, at = self._frame_at(link, offset)
        if self._rates_are_given:
            given = configuration, velocity, acceleration
            motion = _of_single(self._link_tree.motions, given, (12,), row, at)
            if motion is not None:
                return motion
        shape, state = self._states(configuration, velocity, acceleration)
        out = np.empty((len(state[0]), 12))
        moved = _located(shape, self._tree_motion, *state)
        self._link_tree.motions(*moved, row, at, True, out)
        return out.reshape(*shape, 12)

    @cached_property
    def _nv(self) -> int:
        return self.coordinates.velocity_size

    @cached_property
    def _no_change(self) -> FloatArray:
        return np.zeros(self._nv)

    @cached_property
    def _single_shapes(self) -> tuple[tuple[int, ...], ...]:
        return ((self.coordinates.configuration_size,), (self._nv,), (self._nv,))

    def _states(self, *state: Any) -> tuple[tuple[int, ...], list[FloatArray]]:
        """Leading shape of a state's parts, each as (N, k).

        Args:
            state: configuration, velocity and acceleration, as far as they are needed.

        Raises:
            InvalidInput: a wrong shape, not finite, or a quaternion not of unit length.
        """
        if self._is_single(state):
            return (), [part[None] for part in state]
        names = "configuration", "velocity", "acceleration"
        vectors = zip(names[1:], state[1:], strict=False)
        return flatten(
            configuration=self.coordinates.checked("configuration", state[0]),
            **{name: as_array(name, part, (self._nv,)) for name, part in vectors},
        )

    def _is_single(self, state: tuple[Any, ...]) -> bool:
        """Whether a state is one of finite float64 arrays; squares that overflow are none here."""
        for part, shape in zip(state, self._single_shapes, strict=False):
            if type(part) is not np.ndarray or part.dtype is not FLOAT64 or part.shape != shape:
                return False
            if not (part.flags.aligned and math.isfinite(part.dot(part))):
                return False
        for where in self.coordinates.quaternions:
            quaternion = state[0][where]
            if not abs(quaternion.dot(quaternion) - 1.0) <= ROUNDING:
                return False
        return True


def _of_single(
    entry: Callable[..., bool], state: tuple[Any, ...], core: tuple[int, ...], *settings: Any
) -> FloatArray | None:
    """A result (*core) of a valid single state of float64 arrays; None for all others."""
    rows = []
    for part in state:
        if part is not None:
            if type(part) is not np.ndarray or part.ndim != 1:
                return None
            part = part[None]
        rows.append(part)
    out = _empty(core)
    try:
        found = entry(*rows, *settings, False, out.reshape(1, -1))
    except TypeError:  # not of float64
        return None
    return out if found else None


def _located(shape: tuple[int, ...], function: Callable[..., T], *rows: FloatArray) -> T:
    """Call a function of rows (N, k); the index of an error becomes one of the leading shape."""
    try:
        return function(*rows)
    except KinematicsError as error:
        if error.index:
            error.index = element(shape, error.index[0])
        raise
