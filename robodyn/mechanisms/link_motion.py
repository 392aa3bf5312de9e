# SPDX-License-Identifier: Apache-2.0

"""Pose and motion of every link of every kind, of frames added to links, and of all their mass."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_exact
from robodyn.errors import InvalidInput
from robodyn.mechanisms.common.figure import Figure
from robodyn.mechanisms.derivatives import Derivatives, weighed
from robodyn.poses import matrix_from_pose, quaternion_of_rotation

if TYPE_CHECKING:
    from typing_extensions import Self

# Central differences of order 6: f''(0) = sum over k of weight_k f(k h) / h^2, k from -3 to 3.
SECOND = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180.0
# Greatest displacement between their places, in parts of the mechanism's size or [rad].
REACH = 1e-2


class LinkMotion(Derivatives):
    """The eighth part of `Mechanism`: where its links are, and how they move.

    A link is one of `link_names`, which has those on fixed joints, or a frame added by
    `with_frame`. Twists and accelerations (..., 6) are linear, then angular, in the base frame.
    Jacobians are differences of order 6 of the poses, right to some eleven digits.
    """

    _added: dict[str, tuple[str, FloatArray]]

    @cached_property
    def _drawn(self) -> Figure:
        return self.figure()

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
        return made

    def _made(self, model: Any) -> Self:
        made = super()._made(model)
        made._added = self.added_frames
        return made

    def link_pose(self, configuration: ArrayLike, link: str) -> FloatArray:
        """Pose (..., 7) of a link or frame, base frame: x y z [m], qx qy qz qw.

        Raises:
            InvalidInput: no link of that name.
        """
        frames = self._frames(configuration, (link,))[..., 0, :, :]
        turns = quaternion_of_rotation(frames[..., :3, :3])
        return np.concatenate([frames[..., :3, 3], turns], axis=-1)

    def link_jacobian(
        self, configuration: ArrayLike, link: str, offset: ArrayLike | None = None
    ) -> FloatArray:
        """J (..., 6, nv): twist of a link = J velocity, base frame.

        Args:
            configuration: (..., nq).
            link: or frame, by name.
            offset: (3,) [m] of the point whose velocity it is, in the link's frame; its origin.

        Raises:
            InvalidInput: no link of that name.
        """
        return self._jacobians(configuration, (link,), _at(offset))[..., 0, :, :]

    def link_twist(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        link: str,
        offset: ArrayLike | None = None,
    ) -> FloatArray:
        """Twist (..., 6) of a link or frame [m/s, rad/s]; arguments as for `link_jacobian`."""
        v = as_array("velocity", velocity, (self.coordinates.velocity_size,))
        J = self.link_jacobian(configuration, link, offset)
        return np.asarray((J @ v[..., None])[..., 0])

    def link_acceleration(
        self,
        configuration: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        link: str,
        offset: ArrayLike | None = None,
    ) -> FloatArray:
        """Acceleration (..., 6) of a link or frame [m/s^2, rad/s^2]; as for `link_jacobian`."""
        nv = self.coordinates.velocity_size
        v = as_array("velocity", velocity, (nv,))
        a = as_array("acceleration", acceleration, (nv,))
        q = self.coordinates.checked("configuration", configuration)
        J = self.link_jacobian(q, link, offset)
        return np.asarray((J @ a[..., None])[..., 0] + self._bending(q, v, link, _at(offset)))

    def center_of_mass(self, configuration: ArrayLike) -> FloatArray:
        """(..., 3) [m] of all that moves, base frame."""
        masses, points = self._points(self._frames(configuration, self.body_links))
        return np.asarray((masses[:, None] * points).sum(axis=-2) / masses.sum())

    def momentum(self, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
        """Linear [kg m/s], then angular momentum [kg m^2/s] about the base's origin (..., 6).

        Of links and platform; rotors of actuators are left out.
        """
        v = as_array("velocity", velocity, (self.coordinates.velocity_size,))
        links = self.body_links
        frames = self._frames(configuration, links)
        twists = (self._jacobians(configuration, links, _at(None)) @ v[..., None, :, None])[..., 0]
        masses, points = self._points(frames)
        R, spins = frames[..., :3, :3], twists[..., 3:]
        speeds = twists[..., :3] + np.cross(spins, points - frames[..., :3, 3])
        linear = masses[:, None] * speeds
        inertias = R @ np.array([body.inertia for body in self.bodies]) @ np.swapaxes(R, -1, -2)
        angular = (inertias @ spins[..., None])[..., 0] + np.cross(points, linear)
        return np.concatenate([linear.sum(axis=-2), angular.sum(axis=-2)], axis=-1)

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

    def _points(self, frames: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Masses (b,) and centres of mass (..., b, 3) of bodies whose links' frames these are."""
        centres = np.array([body.com for body in self.bodies])
        turned = (frames[..., :3, :3] @ centres[..., None])[..., 0]
        return np.array([body.mass for body in self.bodies]), frames[..., :3, 3] + turned

    def _known(self, link: str) -> None:
        if link not in self.link_names:
            raise InvalidInput(
                f"{self.name} has no link {link!r}; it has {', '.join(self.link_names)}", value=link
            )

    def _frames(self, configuration: ArrayLike, links: tuple[str, ...]) -> FloatArray:
        """(..., links, 4, 4) in the base frame."""
        q = self.coordinates.checked("configuration", configuration)
        figure, rows = self._drawn, q.reshape(-1, q.shape[-1])
        frames = self.figure_frames(figure, rows)
        base = np.linalg.inv(frames[:, figure.index(self.frames[0])])
        out = np.empty((len(rows), len(links), 4, 4))
        for place, link in enumerate(links):
            self._known(link)
            on, at = self.added_frames.get(link, (link, np.eye(4)))
            out[:, place] = base @ frames[:, figure.index(on)] @ at
        return out.reshape(*q.shape[:-1], len(links), 4, 4)

    def _jacobians(
        self, configuration: ArrayLike, links: tuple[str, ...], offset: FloatArray
    ) -> FloatArray:
        """(..., links, 6, nv) of the points at an offset (3,) on each."""
        q = self.coordinates.checked("configuration", configuration)
        moved = self._frames(self._displaced_by(q[..., None, :], self._stencil), links)
        R = self._frames(q, links)[..., :3, :3]
        count, nv = len(links), self.coordinates.velocity_size
        slopes = weighed(moved[..., :3, :].reshape(*moved.shape[:-3], 12 * count), self._stencil)
        slopes = slopes.reshape(*slopes.shape[:-1], count, 3, 4)
        linear = slopes[..., 3] + slopes[..., :3] @ offset
        angular = _axial(slopes[..., :3] @ np.swapaxes(R, -1, -2)[..., None, :, :, :])
        J = np.concatenate([linear, angular], axis=-1)  # (..., nv, links, 6)
        return np.ascontiguousarray(np.moveaxis(J, -3, -1)).reshape(*J.shape[:-3], count, 6, nv)

    def _bending(self, q: FloatArray, v: FloatArray, link: str, offset: FloatArray) -> FloatArray:
        """The acceleration (..., 6) that a velocity alone causes, without one of its own."""
        sizes = np.abs(self._stencil.places[-1])
        # as far as three steps of the slopes' differences go, times ten
        pace = np.abs(v / sizes).max(axis=-1, keepdims=True)
        reach = REACH / np.maximum(sizes.max() * pace, np.finfo(float).tiny)
        step = np.where(pace > 0.0, reach, 1.0)
        away = np.arange(-3.0, 4.0)[:, None] * (step * v)[..., None, :]
        q = np.broadcast_to(q, (*away.shape[:-2], q.shape[-1]))
        frames = self._frames(self.advance(q[..., None, :], away), (link,))[..., 0, :3, :]
        bent = np.einsum("k,...kij->...ij", SECOND, frames) / step[..., None] ** 2
        R = frames[..., 3, :, :3]
        linear = bent[..., 3] + bent[..., :3] @ offset
        return np.concatenate([linear, _axial(bent[..., :3] @ np.swapaxes(R, -1, -2))], axis=-1)


def _at(offset: ArrayLike | None) -> FloatArray:
    return np.zeros(3) if offset is None else as_exact("offset", offset, (3,), "m")


def _axial(matrices: Any) -> FloatArray:
    """Axial vectors (..., 3) of the skew parts of matrices (..., 3, 3)."""
    skew = 0.5 * (matrices - np.swapaxes(matrices, -1, -2))
    return np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
