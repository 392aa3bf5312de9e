# SPDX-License-Identifier: Apache-2.0

"""How a mechanism with closed loops is presented: its independent joints, messages and drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.checks import as_array, as_scalar
from robodyn.mechanisms.closed_loop.drawing import stick_figure
from robodyn.mechanisms.common.figure import pose_of_frame
from robodyn.mechanisms.common.joint_presentation import JointPresentation
from robodyn.mechanisms.common.joint_states import DrivenMotion
from robodyn.mechanisms.common.motion import Motion
from robodyn.mechanisms.common.variables import joint_variables

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.closed_loop.model import ClosedLoopModel
    from robodyn.mechanisms.closed_loop.structure import Structure
    from robodyn.mechanisms.common.coordinates import Coordinates
    from robodyn.mechanisms.common.figure import Figure
    from robodyn.mechanisms.common.variables import Variable


class ClosedLoopPresentation(JointPresentation):
    """The part of `ClosedLoop` that views, sweeps and messages ask for.

    Its variables are the independent joints; the other joints follow from the loops.

    Attributes:
        model: the description it was made from.
        structure: what was found of it.
    """

    model: ClosedLoopModel
    structure: Structure
    if TYPE_CHECKING:
        _free_at: np.ndarray

        @property
        def coordinates(self) -> Coordinates:
            """See `protocol.Mechanism`."""

        @property
        def home(self) -> FloatArray:
            """See `protocol.Mechanism`."""

        def jacobian(self, configuration: ArrayLike) -> FloatArray:
            """See `protocol.Mechanism`."""

        def _q(self, name: str, value: ArrayLike) -> FloatArray: ...

        def _displaced(self, q: FloatArray, step: FloatArray) -> FloatArray: ...

        def _all_displaced(self, starts: FloatArray, steps: FloatArray) -> FloatArray: ...

        def _followed(self, first: FloatArray, wanted: FloatArray) -> FloatArray: ...

        @property
        def independent_joints(self) -> tuple[str, ...]:
            """See `protocol.Mechanism`."""

        def body_pose(self, configuration: ArrayLike) -> FloatArray:
            """See `protocol.Mechanism`."""

        def _placed(self, q: FloatArray) -> FloatArray: ...

    def singular_values(
        self, configuration: ArrayLike, characteristic_length: float = 1.0
    ) -> FloatArray:
        """(..., mobility) of the tip's Jacobian, largest first, angular rows times a length [m]."""
        length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
        J = self.jacobian(configuration)
        J[..., 3:, :] *= length
        return np.asarray(np.linalg.svd(J, compute_uv=False), dtype=np.float64)

    def figure(self) -> Figure:
        """Sticks from joint to joint and to the closures; see `drawing`."""
        return stick_figure(self.model, self.size)

    def floating_poses(self, configuration: FloatArray) -> dict[tuple[str, str], FloatArray]:
        """Poses (7,) of what hangs on floating joints, by (parent link, child link)."""
        tree = self.structure.tree
        joints = [joint for joint in tree.joints if joint.kind == "floating"]
        if not joints:
            return {}
        places = self._placed(configuration)
        frames = {
            link: places[tree.body_of[link]] @ tree.frame_of[link]
            for joint in joints
            for link in (joint.parent, joint.child)
        }
        return {
            (joint.parent, joint.child): pose_of_frame(
                _seen_from(frames[joint.parent], frames[joint.child])
            )
            for joint in joints
        }

    @property
    def variables(self) -> dict[str, Variable]:
        """Position, rate and acceleration of every independent joint."""
        return joint_variables(self.independent_joints, self.coordinates.units)

    def values_of(self, configuration: ArrayLike) -> FloatArray:
        """(..., mobility) [rad or m] positions of the independent joints."""
        return np.asarray(self._q("configuration", configuration)[..., self._free_at])

    def configuration_of(self, values: ArrayLike) -> FloatArray:
        """Configurations (..., nq) with these positions (..., mobility), reached from home.

        Raises:
            NoSolution: the loops do not close there.
        """
        wanted = self._independent("values", values)
        home = self.home
        steps = (wanted - home[self._free_at]).reshape(-1, wanted.shape[-1])
        starts = np.array(np.broadcast_to(home, (len(steps), len(home))))
        return self._all_displaced(starts, steps).reshape(*wanted.shape[:-1], len(home))

    def independent_motion(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
    ) -> DrivenMotion:
        """Positions, rates and accelerations (..., mobility) of the independent joints."""
        return DrivenMotion(
            self.values_of(configuration),
            self._independent("velocity", velocity),
            self._independent("acceleration", acceleration),
        )

    def motion_of_independent(
        self,
        positions: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike | None = None,
        guess: ArrayLike | None = None,
    ) -> Motion:
        """The mechanism's motion of its independent joints' (..., mobility).

        Along the last batch dimension each configuration is found from the one before it, the
        first from the guess, home by default.

        Raises:
            NoSolution: the loops do not close.
        """
        wanted = self._independent("positions", positions)
        rates = self._independent("velocities", velocities)
        changes = np.zeros_like(rates)
        if accelerations is not None:
            changes = self._independent("accelerations", accelerations)
        shape = np.broadcast_shapes(wanted.shape, rates.shape, changes.shape)
        wanted, rates, changes = (
            np.array(np.broadcast_to(value, shape)) for value in (wanted, rates, changes)
        )
        first = self.home if guess is None else np.array(self._q("guess", guess))
        return Motion(self._followed(first, wanted), rates, changes)

    @property
    def measured_joints(self) -> tuple[str, ...]:
        """The independent joints, which are driven ones where these suffice."""
        return self.independent_joints

    def state_of_readings(
        self, positions: FloatArray, velocities: FloatArray, guess: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Configuration (nq,) near a guess, by default home, and velocity (mobility,).

        Raises:
            NoSolution: the loops do not close with these positions.
        """
        here = self.home if guess is None else guess
        return self._displaced(here, positions - here[self._free_at]), velocities

    def _independent(self, name: str, value: ArrayLike) -> FloatArray:
        count = len(self.structure.free)
        return as_array(name, value, (count,), f"{count} independent joints, rad or m")


def _seen_from(parent: FloatArray, child: FloatArray) -> FloatArray:
    """(4, 4) frame of a child in its parent's, of both in a third.

    For every state that a node publishes: a general inverse, by LAPACK, takes ten times as long.
    """
    turn = parent[:3, :3].T
    seen = np.eye(4)
    seen[:3, :3] = turn @ child[:3, :3]
    seen[:3, 3] = turn @ (child[:3, 3] - parent[:3, 3])
    return seen
