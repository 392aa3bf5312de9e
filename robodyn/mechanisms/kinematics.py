# SPDX-License-Identifier: Apache-2.0

"""How a mechanism moves: configurations, joints, the pose and twist of its body.

What is written here holds where every joint is driven and a configuration is one position for each;
other kinds answer for themselves.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.mechanisms.common.coordinates import Coordinates, joint_coordinates
from robodyn.mechanisms.common.motion import DrivenMotion, JointStates, Motion
from robodyn.mechanisms.common.tracking import JOINT_TRACKING, Tracking
from robodyn.mechanisms.motors import JointsWithMotors
from robodyn.numerics.broadcasting import flatten
from robodyn.numerics.turns import full_turns
from robodyn.poses import pose_difference

# Of Newton's method to a pose of the body: steps, the longest of them [m or rad], and the one at
# which it ends.
NEAR_STEPS, LONGEST_STEP, NEAR = 30, 0.2, 1e-11


class Kinematics(JointsWithMotors):
    """The third part of `Mechanism`: coordinates, joints, the body's motion.

    Attributes:
        tracking: how tracking error is measured, and when the mechanism has lost its path.
    """

    tracking: Tracking = JOINT_TRACKING

    @cached_property
    def coordinates(self) -> Coordinates:
        """The meaning and units of the numbers of a configuration and of a velocity."""
        return joint_coordinates(self.joint_names, self.joint_units, self.wrapping_joints)

    @property
    def configuration_is_pose(self) -> bool:
        """Whether a configuration is the pose (7,) of the body and a velocity its twist (6,).

        Then it is commanded by poses, and they are its state.
        """
        return self.coordinates.is_pose

    @property
    @abstractmethod
    def home(self) -> FloatArray:
        """The home configuration, the default start.

        Raises:
            InvalidInput: the model has none.
        """

    @abstractmethod
    def body_pose(self, configuration: ArrayLike, /) -> FloatArray:
        """Pose (..., 7) of the platform or the arm's tip in the base frame."""

    def forward_kinematics(self, positions: ArrayLike, /) -> FloatArray:
        """Pose (..., 7) of the body: x y z [m], qx qy qz qw, base frame.

        Of configurations; a platform takes the positions of its driven joints, its leg lengths.
        """
        return self.body_pose(positions)

    @abstractmethod
    def jacobian(self, configuration: ArrayLike, /) -> FloatArray:
        """J (..., 6, k), linear over angular, of the body at `body_pose`, base frame.

        twist = J @ velocity. A platform's is H, which maps forces to a wrench: see
        `twist_jacobian` and `joint_jacobian`, which mean the same for every kind.
        """

    def twist_jacobian(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., 6, nv), linear over angular: twist of the body = it @ velocity, base frame."""
        return self.jacobian(configuration)

    def joint_jacobian(self, configuration: ArrayLike, /) -> FloatArray:
        """Compute the matrix that maps the velocity to the rates of the driven joints.

        Args:
            configuration: (..., nq).

        Returns:
            (..., n, nv): rates of `joint_names` [rad/s or m/s] = it @ velocity.

        Raises:
            InvalidInput, KinematicsError: as `jacobian`.
        """
        shape = self._joints("configuration", configuration).shape[:-1]
        n = len(self.joint_names)
        return np.array(np.broadcast_to(np.eye(n), (*shape, n, n)))

    def difference(self, start: ArrayLike, goal: ArrayLike, /) -> FloatArray:
        """The displacement (..., nv), in coordinates of `velocity`, that takes `start` to `goal`.

        A continuous joint takes the short way, see `wrapping_joints`.
        """
        way = np.asarray(self._joints("goal", goal) - self._joints("start", start))
        return self.coordinates.shortest(way)

    def joint_difference(
        self, start: FloatArray, goal: FloatArray, names: Sequence[str] | None = None, /
    ) -> FloatArray:
        """Return how far joints are from positions to others; unchecked.

        A continuous joint takes the short way, see `wrapping_joints`.

        Args:
            start, goal: (..., k) [m or rad].
            names: (k,) of the joints; by default the driven ones.

        Returns:
            (..., k) [m or rad].
        """
        way = np.asarray(goal - start)
        wraps = self.wrapping_driven if names is None else self.wrapping(names)
        return way - full_turns(way) * wraps if any(wraps) else way

    def wrapping(self, names: Sequence[str], /) -> tuple[bool, ...]:
        """Return whether each of these joints is one of `wrapping_joints`."""
        return tuple(name in self.wrapping_joints for name in names)

    @cached_property
    def wrapping_driven(self) -> tuple[bool, ...]:
        """Whether each driven joint is one of `wrapping_joints`."""
        return self.wrapping(self.joint_names)

    def advance(self, configuration: ArrayLike, displacement: ArrayLike, /) -> FloatArray:
        """The inverse of `difference`: the configuration (..., nq) after a displacement.

        Turns of continuous joints are counted on, not taken off.

        Raises:
            NoSolution: there is no such configuration.
        """
        step = self._joints("displacement", displacement)
        return np.asarray(self._joints("configuration", configuration) + step)

    def configuration_rate(self, configuration: FloatArray, velocity: FloatArray) -> FloatArray:
        """Time derivative of a single configuration; unchecked."""
        return velocity

    def normalized(self, configuration: FloatArray) -> FloatArray:
        """A single configuration brought back onto its manifold after a step; unchecked."""
        return configuration

    def joint_positions(self, configuration: ArrayLike, /) -> FloatArray:
        """(..., n) [m or rad] positions of the driven joints."""
        return self._joints("configuration", configuration)

    def joint_velocities(self, configuration: ArrayLike, velocity: ArrayLike, /) -> FloatArray:
        """(..., n) [m/s or rad/s] rates of the driven joints."""
        given = {"configuration": configuration, "velocity": velocity}
        shape, (_, rates) = flatten(**{n: self._joints(n, value) for n, value in given.items()})
        return np.asarray(rates.reshape(*shape, rates.shape[-1]))

    def driven_motion(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, /
    ) -> DrivenMotion:
        """Positions, rates and accelerations (..., n) of the driven joints."""
        motion = configuration, velocity, acceleration
        return DrivenMotion(*(np.asarray(value, dtype=np.float64) for value in motion))

    def joint_states(
        self, configuration: ArrayLike, velocity: ArrayLike | None = None, /
    ) -> JointStates:
        """Names, positions and velocities of all joints, as the URDF measures them."""
        positions = self._joints("configuration", configuration)
        rates = np.zeros(len(self.joint_names)) if velocity is None else velocity
        pair = np.broadcast_arrays(positions, self._joints("velocity", rates))
        return JointStates(self.joint_names, *pair)

    def assemble(self, driven: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """The configuration (..., nq) with these positions (..., n) of the driven joints.

        `guess` is a configuration near it, by default home.

        Raises:
            NoSolution: none was found.
        """
        return self._joints("driven", driven)

    def advance_near(self, configuration: FloatArray, displacement: FloatArray) -> FloatArray:
        """As `advance` of a single configuration, in a time that a control loop can give.

        Raises:
            NoSolution: there is no such configuration, or it is not found by the shortest way.
        """
        return self.advance(configuration, displacement)

    def assemble_near(self, driven: FloatArray, configuration: FloatArray) -> FloatArray:
        """As `assemble` next to a configuration, in a time that a control loop can give.

        Raises:
            NoSolution: there is no such configuration, or it is not found by the shortest way.
        """
        return self.assemble(driven, configuration)

    def motion_of_joints(
        self,
        positions: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike | None = None,
        guess: ArrayLike | None = None,
    ) -> Motion:
        """The mechanism's motion of its driven joints' (..., n): the inverse of `driven_motion`.

        Along the last batch dimension each configuration is found from the one before it, the
        first from the guess, by default home. Accelerations are zero where not given.

        Raises:
            UnderActuated: fewer joints are driven than it has freedoms.
            NoSolution: no configuration has these positions.
            SingularConfiguration: the rates do not determine the motion.
        """
        q, qd = self._joints("positions", positions), self._joints("velocities", velocities)
        if accelerations is None:
            return Motion(q, qd, np.zeros_like(qd))
        return Motion(q, qd, self._joints("accelerations", accelerations))

    @property
    def independent_joints(self) -> tuple[str, ...]:
        """(m,) names of the joints whose motion determines that of the mechanism.

        A joint trajectory is of these. They may be fewer than the driven ones (a redundantly driven
        loop), and both fewer than all joints.
        """
        return self.joint_names

    def independent_motion(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, /
    ) -> DrivenMotion:
        """Positions, rates and accelerations (..., m) of the independent joints."""
        return self.driven_motion(configuration, velocity, acceleration)

    def motion_of_independent(
        self,
        positions: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike | None = None,
        guess: ArrayLike | None = None,
    ) -> Motion:
        """The mechanism's motion of its independent joints' (..., m); as `motion_of_joints`."""
        return self.motion_of_joints(positions, velocities, accelerations, guess)

    @property
    def measured_joints(self) -> tuple[str, ...]:
        """(k,) names of the joints whose readings determine the state: the independent ones."""
        return self.independent_joints

    def state_of_readings(
        self, positions: FloatArray, velocities: FloatArray, guess: FloatArray | None = None, /
    ) -> tuple[FloatArray, FloatArray]:
        """Configuration (nq,) and velocity (nv,) of the readings (k,) of `measured_joints`.

        Readings are positions and velocities as the URDF measures them; finite, not checked. The
        configuration is the one near the guess, by default home.

        Raises:
            NoSolution: no configuration has these readings.
            SingularConfiguration: the velocities do not determine the motion.
        """
        return positions, velocities

    @property
    def determining_rows(self) -> tuple[int, ...]:
        """Which of the six numbers of its body's pose determine it; none where they do not."""
        return tuple(range(6)) if self.coordinates.velocity_size == 6 else ()

    def configuration_at(self, pose: ArrayLike, guess: ArrayLike | None = None) -> FloatArray:
        """The configuration (nq,) near a guess, by default home, with the body at a pose (7,).

        Raises:
            NoSolution: none was found; the message says what cannot be reached.
            InvalidInput: wrong shapes, or a mechanism that cannot be asked for poses.
        """
        raise self._no_inverse_kinematics()

    def configuration_near(self, pose: FloatArray, configuration: FloatArray) -> FloatArray:
        """Find the configuration whose body is nearest to a pose, in a control loop's time.

        By Newton's method from a configuration (nq,), without a search: for a pose out of reach it
        ends where no step leads nearer. Turns count by the characteristic length.
        """
        weights = np.repeat([1.0, self.characteristic_length], 3)
        here = configuration
        gap: FloatArray = weights * pose_difference(self.body_pose(here), pose)
        for _ in range(NEAR_STEPS):
            jacobian = weights[:, None] * self.twist_jacobian(here)
            step = np.asarray(np.linalg.lstsq(jacobian, gap, rcond=1e-9)[0], dtype=np.float64)
            longest = float(np.abs(step).max())
            if longest < NEAR:
                break
            step *= min(1.0, LONGEST_STEP / longest)
            while longest > NEAR:
                with suppress(KinematicsError):
                    there = self.advance_near(here, step)
                    left: FloatArray = weights * pose_difference(self.body_pose(there), pose)
                    if left @ left < gap @ gap:
                        break
                step, longest = 0.5 * step, 0.5 * longest
            else:
                break
            here, gap = there, left
        return here

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
            NoSolution: a pose that is not reached from the one before, by Newton's method alone;
                `index` says which.
            InvalidInput: wrong shapes, or a mechanism that cannot be asked for poses.
        """
        raise self._no_inverse_kinematics()

    def motions_of_body(
        self, poses: FloatArray, twists: FloatArray, accels: FloatArray, starts: FloatArray
    ) -> Motion:
        """Compute motions (K, ...) of the body, each near a configuration, without a search.

        Args:
            poses, twists, accels: (K, 7), (K, 6), (K, 6) of the body, base frame.
            starts: (K, nq) configurations near these poses.

        Returns:
            The mechanism's motions; NaN where a pose is not reached from its start.
        """
        time, nv = np.zeros(1), self.coordinates.velocity_size
        found = Motion(np.full_like(starts, np.nan), *np.full((2, len(starts), nv), np.nan))
        for k, start in enumerate(starts):
            at = slice(k, k + 1)
            with suppress(KinematicsError):
                motion = self.motion_of_body(time, poses[at], twists[at], accels[at], start)
                for part, out in zip(motion, found, strict=True):
                    out[k] = part[0]
        return found

    def _no_inverse_kinematics(self) -> InvalidInput:
        return InvalidInput(
            f"{self.kind} mechanisms have no inverse kinematics here: give joint positions, not "
            "poses",
            value=self.kind,
        )

    def _joints(self, name: str, value: ArrayLike) -> FloatArray:
        n = len(self.joint_names)
        return as_array(name, value, (n,), f"{n} joints, rad or m")
