# SPDX-License-Identifier: Apache-2.0

"""Where a mechanism with closed loops has to be for its tip, or its independent joints, to go."""

from __future__ import annotations

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_pose
from robodyn.errors import InvalidInput, KinematicsError, NoSolution
from robodyn.mechanisms.closed_loop.conditions import ClosedLoopConditions
from robodyn.mechanisms.closed_loop.equations import ACCEPTED, CLOSED, TipPose
from robodyn.mechanisms.common.motion import DrivenMotion, Motion

# Of Newton's method in the independent joints, from one pose of the tip to the next.
MOST_STEPS = 8
LONGEST_STEP = 0.1


class ClosedLoopInverseKinematics(ClosedLoopConditions):
    """The part of `ClosedLoop` that follows its tip, or its independent joints."""

    def configuration_at(self, pose: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """The configuration (nq,) near a guess whose tip is where a pose (7,) says, base frame.

        What determines the mechanism counts (`tip_freedoms`): of a delta the position, of a
        spherical wrist the rotation. The rest of the pose is what the mechanism makes of it.

        Raises:
            InvalidInput: the tip's pose does not determine the mechanism.
            NoSolution: it cannot take that pose.
        """
        goal = as_pose("pose", as_exact("pose", pose, (7,)))
        start = self.home if guess is None else np.array(self._q("guess", guess))
        return self._placed_at(start, goal, self._tip_rows)

    @property
    def _tip_rows(self) -> list[int]:
        """Rows of a pose and of a twist that determine the mechanism."""
        found = self.tip_freedoms
        if not found.suffice:
            raise InvalidInput(
                f"{self.model.name} is {found.text} ({self.model.tip_link}); state the goal by its "
                "joints",
                value=found.freedoms,
            )
        return list(found.rows)

    def _placed_at(self, q: FloatArray, goal: FloatArray, rows: list[int]) -> FloatArray:
        """From a configuration to where the tip is at a goal, a pose (7,)."""
        size = self.structure.equations.size
        extra = TipPose(goal, size, self.body_pose, self._tree_jacobian, rows)
        here, left = q, np.inf
        try:
            for _ in range(MOST_STEPS):
                gap = extra.gap(here)
                left = float(np.abs(gap).max())
                if left <= CLOSED:
                    break
                J = self.jacobian(here)
                J[:3] /= size
                step = -np.asarray(np.linalg.lstsq(J[rows], gap, rcond=None)[0], np.float64)
                if not np.abs(step).max() <= LONGEST_STEP:
                    break
                here = self._displaced(here, step)
        except (InvalidInput, KinematicsError):
            pass  # q is open, or a singularity is near: from there all joints move at once
        return here if left <= ACCEPTED else self._nearest(q, [], extra)

    def motion_of_body(
        self,
        times: FloatArray,
        poses: FloatArray,
        twists: FloatArray,
        accels: FloatArray,
        start: ArrayLike,
    ) -> Motion:
        """The motion (K, ...) that takes the tip through a motion; see `configuration_at`.

        Independent rates from J u' = twist, accelerations from J u'' = accel - J' u'; of these
        the rows that determine the mechanism.

        Args:
            times: (K,) [s], increasing.
            poses, twists, accels: (K, 7), (K, 6), (K, 6) of the tip, base frame.
            start: (nq,) configuration at, or near, the first pose.

        Raises:
            InvalidInput: the tip's pose does not determine the mechanism.
            NoSolution: a pose that cannot be reached from the one before; `index` says which.
        """
        near = np.array(self._q("start", start))
        rows = self._tip_rows  # how the tip moves otherwise then follows
        q = np.empty((len(poses), self._nq))
        for k, pose in enumerate(as_pose("poses", poses)):
            try:
                near = self._placed_at(near, pose, rows)
            except NoSolution as error:
                error.index = (k,)
                raise
            q[k] = near
        inverse = np.linalg.pinv(self.jacobian(q)[:, rows])
        rates = np.einsum("kij,kj->ki", inverse, twists[:, rows])
        drift = self._tip_motion(q, rates, np.zeros_like(rates))[:, -6:]
        changes = np.einsum("kij,kj->ki", inverse, (accels - drift)[:, rows])
        return Motion(q, rates, changes)

    def values_of(self, configuration: ArrayLike) -> FloatArray:
        """(..., mobility) [rad or m] positions of the independent joints."""
        return np.asarray(self._q("configuration", configuration)[..., self._free_at])

    def configuration_of(self, values: ArrayLike) -> FloatArray:
        """Configurations (..., nq) with these positions (..., mobility), reached from home.

        Raises:
            NoSolution: the loops do not close there.
        """
        wanted = self._u("values", values)
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
            self._u("velocity", velocity),
            self._u("acceleration", acceleration),
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
        wanted, rates, changes = self._motion_of(self._nu, positions, velocities, accelerations)
        first = self.home if guess is None else np.array(self._q("guess", guess))
        return Motion(self._followed(first, wanted), rates, changes)

    def state_of_readings(
        self, positions: FloatArray, velocities: FloatArray, guess: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Configuration (nq,) near a guess, by default home, and velocity (mobility,).

        Raises:
            NoSolution: the loops do not close with these positions.
        """
        here = self.home if guess is None else guess
        way = self.coordinates.shortest(positions - here[self._free_at])
        return self._displaced(here, way), velocities
