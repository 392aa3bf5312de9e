# SPDX-License-Identifier: Apache-2.0

"""Pose and motion of links and added frames, momentum and center of mass of any mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_exact
from robodyn.dynamics.link_tree import LinkTree, as_numbers
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.numerics.broadcasting import element, flatten
from robodyn.poses import matrix_from_pose
from robodyn.presentation.figure import Figure
from robodyn.presentation.presentation import figure

T = TypeVar("T")
_empty = np.empty
FLOAT64 = np.dtype(np.float64)
# Tolerance of a unit quaternion's squared length.
ROUNDING = 1e-15


class LinkTables:
    """Tree of a mechanism's links and added frames, packed for compiled kernels.

    Args:
        mechanism: mechanism with the links.
    """

    def __init__(self, mechanism: Any) -> None:
        self.mechanism = mechanism
        self.nv: int = mechanism.coordinates.velocity_size
        self.no_change = np.zeros(self.nv)
        self.single_shapes = ((mechanism.coordinates.configuration_size,), (self.nv,), (self.nv,))

    @cached_property
    def drawn(self) -> Figure:
        """Links and joints of the mechanism that a drawing shows."""
        return figure(self.mechanism)

    @cached_property
    def mass(self) -> float:
        """Mass [kg] of all moving bodies."""
        return float(sum(body.mass for body in self.mechanism.bodies))

    @cached_property
    def tree(self) -> LinkTree:
        """Tree of the links as packed arrays, with the kernels that evaluate it."""
        own = self.mechanism
        bodies = dict(zip(own.solver.body_links, own.bodies, strict=True))
        return LinkTree.of(
            self.drawn.links,
            own.solver.tree_joints(self.drawn.joints),
            own.solver.joint_sources(),
            bodies,
            own.frames[0],
            (own.coordinates.configuration_size, self.nv),
        )

    @cached_property
    def places(self) -> dict[str, tuple[int, FloatArray, FloatArray]]:
        """Places of the links and added frames in the tree, by name.

        Each is the index of a link, and a frame on it as (12,) and as (4, 4), in the link's frame.
        """
        rows = self.tree.rows
        eye = np.eye(4)
        found = {name: (row, as_numbers(eye), eye) for name, row in rows.items()}
        for name, (link, at) in self.mechanism._added.items():
            found[name] = rows[link], as_numbers(at), at
        return found


def link_names(mechanism: Any) -> tuple[str, ...]:
    """Return the names of all links of a mechanism, then of the added frames."""
    return (*mechanism._links.drawn.links, *mechanism._added)


def with_frame(mechanism: Any, name: str, link: str, pose: ArrayLike) -> Any:
    """Return the same mechanism with an additional frame on a link.

    Args:
        name: name of the frame.
        link: link that carries it, or another added frame.
        pose: (7,) of the frame in the link's: x y z [m], qx qy qz qw.

    Returns:
        The mechanism.

    Raises:
        InvalidInput: the name exists, the link does not exist, or the pose is invalid.
    """
    if name in link_names(mechanism):
        raise InvalidInput(f"{mechanism.name} has a link or frame {name!r} already", value=name)
    at = matrix_from_pose(as_exact("pose", pose, (7,)))
    on, place = mechanism._added.get(link, (link, np.eye(4)))
    known_link(mechanism, on)
    made = copy(mechanism)
    made._added = dict(mechanism._added) | {name: (on, place @ at)}
    made.__dict__.pop("_links", None)
    return made


def link_pose(mechanism: Any, configuration: ArrayLike, link: str) -> FloatArray:
    """Compute the pose of a link or frame.

    Args:
        configuration: (..., nq).
        link: name of a link, or of an added frame.

    Returns:
        (..., 7) in the base frame: x y z [m], qx qy qz qw.

    Raises:
        InvalidInput: there is no link of that name, or the configuration is invalid.
    """
    frame, poses = _frame_at(mechanism, link, None), mechanism._links.tree.poses
    return _of_positions(mechanism, poses, configuration, 7, *frame)


def link_jacobian(
    mechanism: Any, configuration: ArrayLike, link: str, offset: ArrayLike | None = None
) -> FloatArray:
    """Compute the Jacobian of a link or frame.

    Args:
        configuration: (..., nq).
        link: name of a link, or of an added frame.
        offset: (3,) [m] of the point in the link's frame; by default its origin.

    Returns:
        J (..., 6, nv), linear over angular, base frame: twist of the link = J velocity.

    Raises:
        InvalidInput: there is no link of that name, or the configuration or the point is invalid.
    """
    frame, solver, links = _frame_at(mechanism, link, offset), mechanism.solver, mechanism._links
    is_given, state, core = solver.rates_are_given, (configuration, None), (6, links.nv)
    kernel = links.tree.joint_jacobians if is_given else links.tree.jacobians
    return _evaluate(mechanism, kernel, is_given, solver.tree_state, state, core, *frame)


def link_twist(
    mechanism: Any,
    configuration: ArrayLike,
    velocity: ArrayLike,
    link: str,
    offset: ArrayLike | None = None,
) -> FloatArray:
    """Compute the linear and angular velocity of a link or frame.

    Args:
        configuration: (..., nq).
        velocity: (..., nv).
        link, offset: as for `link_jacobian`.

    Returns:
        (..., 6) [m/s, rad/s], linear over angular, base frame.

    Raises:
        InvalidInput: as for `link_jacobian`, or the velocity is invalid.
    """
    return _motion(mechanism, configuration, velocity, mechanism._links.no_change, link, offset)[
        ..., :6
    ]


def link_acceleration(
    mechanism: Any,
    configuration: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    link: str,
    offset: ArrayLike | None = None,
) -> FloatArray:
    """Compute the linear and angular acceleration of a link or frame.

    Args:
        configuration: (..., nq).
        velocity, acceleration: (..., nv).
        link, offset: as for `link_jacobian`.

    Returns:
        (..., 6) [m/s^2, rad/s^2], linear over angular, base frame: time derivatives of the point's
        velocity and of the angular velocity.

    Raises:
        InvalidInput: as for `link_jacobian`, or the velocity or the acceleration is invalid.
    """
    return _motion(mechanism, configuration, velocity, acceleration, link, offset)[..., 6:]


def center_of_mass(mechanism: Any, configuration: ArrayLike) -> FloatArray:
    """Compute the center of mass of all moving bodies.

    Args:
        configuration: (..., nq).

    Returns:
        (..., 3) [m] in the base frame.

    Raises:
        InvalidInput: the configuration is invalid.
    """
    return _of_positions(mechanism, mechanism._links.tree.centers_of_mass, configuration, 3)


def momentum(mechanism: Any, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
    """Compute the momentum of links and platform, without the actuators' rotors.

    Args:
        configuration: (..., nq).
        velocity: (..., nv).

    Returns:
        (..., 6) linear [kg m/s], then angular momentum [kg m^2/s] about the base's origin, relative
        to the base and in its axes.

    Raises:
        InvalidInput: the configuration or the velocity is invalid.
    """
    solver, kernel = mechanism.solver, mechanism._links.tree.momenta

    def convert(q: FloatArray, v: FloatArray) -> Any:
        return solver.tree_motion(q, v, v)[:2]

    state = configuration, velocity
    return _evaluate(mechanism, kernel, solver.rates_are_given, convert, state, (6,))


def centroidal_momentum_matrix(mechanism: Any, configuration: ArrayLike) -> FloatArray:
    """Compute the matrix (..., 6, nv) that maps the velocity to centroidal momentum.

    The configurations are (..., nq).

    Returns:
        Matrix A, base frame: A @ velocity is the linear [kg m/s], then the angular momentum [kg
        m^2/s] about the center of mass of the mechanism.
    """
    solver, tree, core = mechanism.solver, mechanism._links.tree, (6, mechanism._links.nv)
    is_given, state = solver.rates_are_given, (configuration, None)
    kernel = tree.joint_centroidal_matrices if is_given else tree.centroidal_matrices
    return _evaluate(mechanism, kernel, is_given, solver.tree_state, state, core)


def known_link(mechanism: Any, link: str) -> None:
    """Raise an error if no link or added frame has this name.

    Raises:
        InvalidInput: there is no such link or frame.
    """
    if link not in link_names(mechanism):
        raise InvalidInput(
            f"{mechanism.name} has no link {link!r}; it has {', '.join(link_names(mechanism))}",
            value=link,
        )


def _frame_at(mechanism: Any, link: str, offset: ArrayLike | None) -> tuple[int, FloatArray]:
    """Return a link's index in the tree, and the link frame (12,) shifted by `offset`.

    `offset` (3,) is in the axes of the link.
    """
    if link not in mechanism._links.places:
        known_link(mechanism, link)
    row, at, frame = mechanism._links.places[link]
    if offset is None:
        return row, at
    moved = at.copy()
    moved[9:] += frame[:3, :3] @ as_exact("offset", offset, (3,), "m")
    return row, moved


def _motion(
    mechanism: Any,
    configuration: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    link: str,
    offset: ArrayLike | None,
) -> FloatArray:
    """Compute the twist and the acceleration of a link, or of a frame fixed to it.

    They are concatenated to one array (..., 12).
    """
    frame, solver = _frame_at(mechanism, link, offset), mechanism.solver
    kernel, state = mechanism._links.tree.motions, (configuration, velocity, acceleration)
    is_given, convert = solver.rates_are_given, solver.tree_motion
    return _evaluate(mechanism, kernel, is_given, convert, state, (12,), *frame)


def _of_positions(
    mechanism: Any, kernel: Callable[..., bool], q: ArrayLike, width: int, *settings: Any
) -> FloatArray:
    """Compute a quantity (..., width) that depends on the joint positions only."""
    solver = mechanism.solver
    is_given, convert = solver.positions_are_given, solver.tree_positions
    return _evaluate(mechanism, kernel, is_given, convert, (q,), (width,), *settings)


def _evaluate(
    mechanism: Any,
    kernel: Callable[..., bool],
    is_given: bool,
    convert: Callable[..., tuple[FloatArray | None, ...]],
    state: tuple[Any, ...],
    core: tuple[int, ...],
    *settings: Any,
) -> FloatArray:
    """Compute a result (..., *core) with a compiled function of the `LinkTree`.

    Args:
        kernel: function of the motion of the tree's joints, `settings`, is_trusted and out.
        is_given: whether `state` already is the motion of the tree's joints.
        convert: function that computes the motion of the tree's joints from states (N, ...).
        state: configuration, and velocity and acceleration if needed; None for absent arrays.
    """
    if is_given:
        found = _of_single(kernel, state, core, *settings)
        if found is not None:
            return found
    shape, rows = states_of(mechanism, *(part for part in state if part is not None))
    try:
        arrays = convert(*rows)
    except KinematicsError as error:
        if error.index:
            error.index = element(shape, error.index[0])
        raise
    out = np.empty((len(rows[0]), math.prod(core)))
    kernel(*arrays, *settings, True, out)
    return out.reshape(*shape, *core)


def states_of(mechanism: Any, *state: Any) -> tuple[tuple[int, ...], list[FloatArray]]:
    """Check a state; return its leading shape, and its arrays flattened to (N, k).

    Args:
        state: configuration and, if needed, velocity and acceleration.

    Raises:
        InvalidInput: a shape is wrong, a value is not finite, or a quaternion is not of unit
            length.
    """
    if is_single(mechanism, state):
        return (), [part[None] for part in state]
    names = "configuration", "velocity", "acceleration"
    vectors = zip(names[1:], state[1:], strict=False)
    return flatten(
        configuration=mechanism.coordinates.checked("configuration", state[0]),
        **{name: as_array(name, part, (mechanism._links.nv,)) for name, part in vectors},
    )


def is_single(mechanism: Any, state: tuple[Any, ...]) -> bool:
    """Return whether a state is single (not a batch) and its arrays are finite float64."""
    for part, shape in zip(state, mechanism._links.single_shapes, strict=False):
        if type(part) is not np.ndarray or part.dtype is not FLOAT64 or part.shape != shape:
            return False
        if not (part.flags.aligned and math.isfinite(part.dot(part))):
            return False
    for where in mechanism.coordinates.quaternions:
        quaternion = state[0][where]
        if not abs(quaternion.dot(quaternion) - 1.0) <= ROUNDING:
            return False
    return True


def _of_single(
    entry: Callable[..., bool], state: tuple[Any, ...], core: tuple[int, ...], *settings: Any
) -> FloatArray | None:
    """Compute a result of shape `core` for a single state; return None for a batch.

    The result is also None if an argument is not a float64 array, or is invalid.
    """
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
    except TypeError:  # not float64
        return None
    return out if found else None
