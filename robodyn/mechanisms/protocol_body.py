# SPDX-License-Identifier: Apache-2.0

"""What a mechanism answers about being moved by its body: the platform, or the arm's tip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.common.motion import Motion


class MovedByItsBody(Protocol):
    """From poses and twists of the body at `body_pose` to the mechanism's own coordinates."""

    def configuration_at(self, pose: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """The configuration (nq,) near a guess, by default home, with the body at a pose (7,).

        Raises:
            NoSolution: none was found; the message says what cannot be reached.
            InvalidInput: wrong shapes, or a mechanism that cannot be asked for poses.
        """

    def motion_of_body(
        self,
        times: FloatArray,
        poses: FloatArray,
        twists: FloatArray,
        accels: FloatArray,
        start: ArrayLike,
    ) -> Motion:
        """The mechanism's motion (K, ...) that takes its body through a motion.

        Args:
            times: (K,) [s], increasing.
            poses, twists, accels: (K, 7), (K, 6), (K, 6) of the body, base frame.
            start: (nq,) configuration at, or near, the first pose.

        Raises:
            NoSolution: a pose that cannot be reached from the one before; `index` says which.
            InvalidInput: wrong shapes, or a mechanism that cannot be asked for poses.
        """
