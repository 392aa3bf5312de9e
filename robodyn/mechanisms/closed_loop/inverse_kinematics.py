# SPDX-License-Identifier: Apache-2.0

"""Where a mechanism with closed loops has to be for its tip, or its independent joints, to go."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_exact, as_pose
from robodyn.errors import InvalidInput, NoSolution
from robodyn.mechanisms.closed_loop.calls import batch, entry
from robodyn.mechanisms.closed_loop.conditions import ClosedLoopConditions
from robodyn.mechanisms.closed_loop.equations import ACCEPTED, CLOSED, TipPose
from robodyn.mechanisms.common.motion import DrivenMotion, Motion

# Steps of Newton's method to a pose: at most, and where a control loop waits for it.
MOST_STEPS, NEAR_STEPS = 80, 30
# Motions of the body together: at what is left [parts of the size] steps end, and what counts as
# reached.
TARGET, REACHED = 1e-7, 1e-6


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
        found, _ = self._reached(start, goal, self._tip_weights)
        if found is None:
            found = self._nearest(start, [], self._tip_at(goal))
        return found

    def configuration_near(self, pose: FloatArray, configuration: FloatArray) -> FloatArray:
        """See the base class."""
        q = np.array(configuration)
        left = self._kernel("reach")(q, pose, self._all_weights, CLOSED, NEAR_STEPS)
        return q if left >= 0.0 else configuration

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

    @cached_property
    def _tip_weights(self) -> FloatArray:
        """(6,) factors of these rows that make them comparable; others are zero."""
        weights = np.zeros(6)
        weights[self._tip_rows] = 1.0
        weights[:3] /= self.structure.equations.size
        return weights

    @cached_property
    def _all_weights(self) -> FloatArray:
        """(6,) factors of all rows; turns count by the characteristic length."""
        lengths = np.repeat([1.0, self.characteristic_length], 3)
        return np.asarray(lengths / self.structure.equations.size)

    def _tip_at(self, goal: FloatArray) -> TipPose:
        size = self.structure.equations.size
        return TipPose(goal, size, self.body_pose, self._tree_jacobian, self._tip_rows)

    def _reached(
        self, start: FloatArray, goal: FloatArray, weights: FloatArray
    ) -> tuple[FloatArray | None, bool]:
        """The configuration with the tip at a goal, from one near it without a search.

        The second tells whether pivots served, so that the goal is out of reach if there is none.
        """
        for packed in (self.structure.packed, *self._pivots.known):
            q = np.array(start)
            left = entry("reach", packed)(q, goal, weights, CLOSED, MOST_STEPS)
            if left >= 0.0:
                return (q if left <= ACCEPTED else None), True
        return None, False

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
        weights = self._tip_weights  # how the tip moves otherwise then follows
        goals = np.ascontiguousarray(as_pose("poses", poses))
        q = self._along(np.array(self._q("start", start)), goals, weights)
        found = self._body_motions(q, goals, twists, accels)
        for k in np.flatnonzero(np.isnan(found[:, 0])):  # not with the pivots of home
            found[k] = np.concatenate(self._motion_at(q[k], twists[k], accels[k]))
        return Motion(*self._parted(found))

    def motions_of_body(
        self, poses: FloatArray, twists: FloatArray, accels: FloatArray, starts: FloatArray
    ) -> Motion:
        """See the base class."""
        return Motion(*self._parted(self._body_motions(starts, poses, twists, accels)))

    def _body_motions(self, starts: FloatArray, *motion: FloatArray) -> FloatArray:
        """(K, nq + 2 mobility) of motions of the tip, NaN where the kernel has no answer."""
        packed, width = self.structure.packed, self._nq + 2 * self._nu
        widths, given = (self._nq, 7, 6, 6), (starts, *motion)
        found = batch("body_motions", packed, widths, (width,), given, *self._accuracy)
        return np.full((len(starts), width), np.nan) if found is None else found

    @cached_property
    def _accuracy(self) -> tuple[FloatArray, float, float]:
        return self._tip_weights, TARGET, REACHED

    def _parted(self, found: FloatArray) -> list[FloatArray]:
        """Configurations, rates and accelerations of what `_body_motions` finds."""
        return np.split(found, [self._nq, self._nq + self._nu], axis=1)

    def _along(self, near: FloatArray, goals: FloatArray, weights: FloatArray) -> FloatArray:
        """Configurations (K, nq) with the tip at goals (K, 7), each from the one before it.

        Raises:
            NoSolution: a goal that is not reached from the one before; `index` says which.
        """
        q, done = np.empty((len(goals), self._nq)), 0
        while done < len(goals):
            rest = goals[done:], weights, CLOSED, ACCEPTED, MOST_STEPS
            done += self._kernel("reach_all")(near, *rest, q[done:])
            if done == len(goals):
                break
            near = q[done - 1] if done else near
            found, served = self._reached(near, goals[done], weights)
            if found is None and not served:  # a singularity is near: all joints move at once
                closed = self.structure.equations.close(near, [], self._tip_at(goals[done]))
                found = closed.q if closed.left <= ACCEPTED else None
            if found is None:
                at = np.array2string(goals[done], precision=4)
                raise NoSolution(
                    f"{self.name}: {self.model.tip_link} does not reach pose {at} (sample {done} "
                    "of its motion) from the sample before",
                    residual=np.inf,
                    value=goals[done],
                    index=(done,),
                )
            q[done] = near = found
            done += 1
        return q

    def _motion_at(
        self, q: FloatArray, twist: FloatArray, accel: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """A motion of the tip where the pivots of home do not serve."""
        rows = self._tip_rows
        inverse = np.linalg.pinv(self.jacobian(q)[rows])
        rates = inverse @ twist[rows]
        drift = self._tip_motion(q, rates, np.zeros_like(rates))[-6:]
        return q, rates, inverse @ (accel - drift)[rows]

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
