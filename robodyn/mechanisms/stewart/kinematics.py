# SPDX-License-Identifier: Apache-2.0

"""From the platform's motion to the legs': names, limits, legs, Jacobian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numba import types

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_pose, as_scalar
from robodyn.errors import UnreachablePose
from robodyn.mechanisms.common.batch_calls import (
    CONFIGURATION,
    POSE,
    Arguments,
    ArrayArgument,
    computed,
    entry,
)
from robodyn.mechanisms.common.link_tree import Source
from robodyn.mechanisms.common.motion import DrivenMotion, JointStates
from robodyn.mechanisms.common.single_calls import condition_entry, condition_of
from robodyn.mechanisms.conditioning import TYPE_2, Singularity
from robodyn.mechanisms.joints import LIMIT_TOLERANCE
from robodyn.mechanisms.stewart.joints import LegMotion
from robodyn.mechanisms.stewart.kernels import joints, lanes, single
from robodyn.mechanisms.stewart.kernels import kinematics as kernels
from robodyn.mechanisms.stewart.kernels.joints import RATES
from robodyn.mechanisms.stewart.legs import PlatformLegs
from robodyn.mechanisms.stewart.status import each_state, solved
from robodyn.model.joint import Joint
from robodyn.model.placement import Placement
from robodyn.numerics.array_arguments import MATRIX, MATRIX_OUT, VECTOR, direct
from robodyn.numerics.broadcasting import states
from robodyn.threads import once

TWIST, ACCEL = ArrayArgument("twist", 6, "m/s, rad/s"), ArrayArgument("accel", 6, "m/s^2, rad/s^2")
PLACE, MOVING, MOTION = Arguments(POSE), Arguments(POSE, TWIST), Arguments(POSE, TWIST, ACCEL)


@once
def _joint_entry(name: str) -> Callable[..., int]:
    given = {"tangents": CONFIGURATION, "motions": CONFIGURATION * 3}[name]
    results = {"tangents": 2, "motions": 3}[name]
    return direct(getattr(joints, name), MATRIX, MATRIX, *given, *(MATRIX_OUT,) * results)


class PlatformKinematics(PlatformLegs):
    """The part of `StewartPlatform` that goes from its pose to the legs."""

    _positions_are_given = _rates_are_given = False

    @cached_property
    def size(self) -> float:
        """[m] mean length of the legs at home; of a model without one, radius of the base."""
        if self.six_legs.home is None:
            base = self.joint_centres[0]
            return float(np.linalg.norm(base - base.mean(axis=0), axis=1).mean())
        return max(float(self.joint_positions(self.home).mean()), 1e-3)

    @cached_property
    def joint_centres(self) -> tuple[FloatArray, FloatArray]:
        """(6, 3) [m] of the universal joints in the base frame, spherical in the platform's."""
        legs = self.six_legs.legs
        return np.array([leg.base for leg in legs]), np.array([leg.platform for leg in legs])

    def joint_states(
        self, configuration: ArrayLike, velocity: ArrayLike | None = None
    ) -> JointStates:
        """Names, positions and velocities (..., 18) of the legs' joints, as the URDF has them."""
        return self.leg_joints.of(self.leg_motion(configuration, velocity))

    def driven_motion(
        self, configuration: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
    ) -> DrivenMotion:
        """Lengths [m], rates [m/s] and accelerations [m/s^2] of the legs, (..., 6) each."""
        legs = self.leg_motion(configuration, velocity, acceleration)
        return DrivenMotion(legs.length, legs.rate, legs.acceleration)

    def joint_positions(self, configuration: ArrayLike) -> FloatArray:
        """Leg lengths (..., 6) [m] of pose (..., 7), within the legs' limits or beyond."""
        legs, values = (self._legs,), (configuration,)
        return each_state(kernels.leg_lengths, legs, PLACE, values, ((6,),))[0]

    def joint_velocities(self, configuration: ArrayLike, velocity: ArrayLike) -> FloatArray:
        """Leg rates (..., 6) [m/s] of pose (..., 7) and twist (..., 6): H' @ twist, eq. 5."""
        twist = TWIST.checked(velocity)
        return np.asarray((self.jacobian(configuration) * twist[..., :, None]).sum(axis=-2))

    def inverse_kinematics(self, pose: ArrayLike) -> FloatArray:
        """Leg lengths (..., 6) [m] of pose (..., 7): eq. 1, 2.

        Raises:
            UnreachablePose: a leg's limits do not allow the length; `joint_positions` ignores the
                limits.
        """
        lengths, limits = self.joint_positions(pose), self.position_limits
        below = lengths < limits[:, 0] * (1.0 - LIMIT_TOLERANCE)
        above = lengths > limits[:, 1] * (1.0 + LIMIT_TOLERANCE)
        beyond = np.argwhere(below | above)
        if not len(beyond):
            return lengths
        *where, leg = (int(i) for i in beyond[0])
        index = tuple(where)
        at = f" at element {where}" if where else ""
        raise UnreachablePose(
            f"unreachable pose{at}: leg {leg + 1} ({self.joint_names[leg]}) would be "
            f"{lengths[index][leg]:.6g} m long, its limits are {limits[leg, 0]:g} to "
            f"{limits[leg, 1]:g} m",
            leg=leg + 1,
            value=np.asarray(pose)[index],
            index=index,
        )

    def leg_motion(
        self, pose: ArrayLike, twist: ArrayLike | None = None, accel: ArrayLike | None = None
    ) -> LegMotion:
        """Lengths, directions and their motion for pose (..., 7), twist and accel (..., 6).

        Eq. 1 to 9, with the true spin of the universal joint. Twist and accel are zero where not
        given. A leg with a spherical base joint has no spin (W.s = A.s = 0); its universal rates
        are those that a universal joint would have.
        """
        zero = np.zeros(6)
        motion = pose, zero if twist is None else twist, zero if accel is None else accel
        cores = ((6,), (6,), (6,), (6, 3), (6, 3), (6, 3), (6, 2))
        return LegMotion(*each_state(kernels.leg_motion, (self._legs,), MOTION, motion, cores))

    def _tree_joints(self) -> list[Joint]:
        # a configuration is the platform's pose in the base, wherever the drawing begins
        at = Placement()
        return [
            replace(joint, at=at, child_at=at) if joint.kind == "floating" else joint
            for joint in self._drawn.joints
        ]

    def _joint_sources(self) -> dict[str, Source]:
        names = self.leg_joints.names
        found = {name: Source(k, k) for k, name in enumerate(names)}
        (floating,) = (joint.name for joint in self._drawn.joints if joint.kind == "floating")
        return found | {floating: Source(len(names), len(names))}

    def _tree_positions(self, q: FloatArray) -> FloatArray:
        return self._tree_state(q)[0]

    def _tree_state(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        positions, tangents = np.empty((len(q), 25)), np.empty((len(q), 6 * RATES))
        if _joint_entry("tangents")(self._legs, self._readings, q, positions, tangents) < len(q):
            self.leg_motion(q)  # raises for the leg that has no frame
        return positions, tangents

    def _tree_motion(
        self, q: FloatArray, v: FloatArray, a: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        found = np.empty((len(q), 25)), np.empty((len(q), RATES)), np.empty((len(q), RATES))
        if _joint_entry("motions")(self._legs, self._readings, q, v, a, *found) < len(q):
            self.leg_motion(q, v, a)
        return found

    @cached_property
    def _readings(self) -> FloatArray:
        return self.leg_joints.packed

    def body_pose(self, configuration: ArrayLike) -> FloatArray:
        """Pose (..., 7) of the platform: the configuration itself."""
        return as_pose("pose", configuration)

    def jacobian(self, pose: ArrayLike) -> FloatArray:
        """Compute H (..., 6, 6) of pose (..., 7): wrench = H @ forces, columns [s; q x s], eq. 35.

        It maps forces to a wrench, not a velocity to rates: `joint_jacobian`, its transpose, maps
        the twist to the legs' rates, and `twist_jacobian` the velocity to the platform's twist.
        """
        # it does not need the frames of the legs
        numbers = self._numbers
        return solved(lanes.jacobian, numbers, PLACE, (pose,), (6, 6), needs_frames=False)

    def joint_jacobian(self, configuration: ArrayLike) -> FloatArray:
        """Compute H' (..., 6, 6) of pose (..., 7): leg rates [m/s] = it @ twist, eq. 5."""
        return np.ascontiguousarray(np.swapaxes(self.jacobian(configuration), -1, -2))

    def twist_jacobian(self, configuration: ArrayLike) -> FloatArray:
        """(..., 6, 6) the identity: the velocity is the platform's twist."""
        shape = as_pose("pose", configuration).shape[:-1]
        return np.array(np.broadcast_to(np.eye(6), (*shape, 6, 6)))

    def scaled_jacobian(self, pose: ArrayLike, characteristic_length: float = 1.0) -> FloatArray:
        """H (..., 6, 6), its moment rows divided by a length [m]."""
        length = as_scalar("characteristic_length", characteristic_length, "m", above=0.0)
        H = self.jacobian(pose)
        H[..., 3:, :] /= length
        return H

    def condition_number(self, pose: ArrayLike, characteristic_length: float = 1.0) -> FloatArray:
        """Ratio (...) of the extreme singular values of H, its moment rows divided by a length.

        `characteristic_length` [m] = 1 is the papers' condition number, which mixes N and N m;
        a length of the platform's size makes it independent of units. Infinite where H is
        exactly singular.
        """
        ratio = condition_of(self._condition, pose, characteristic_length)
        if ratio is not None:
            return ratio
        batch = states((7,), (pose,)) if isinstance(characteristic_length, (int, float)) else None
        if batch is not None and 0.0 < characteristic_length < np.inf:
            kernel = entry(lanes.condition_number, *CONFIGURATION, types.float64)
            found = computed(kernel, self._numbers, batch, (1,), float(characteristic_length))
            if found is not None:
                return found[..., 0]
        return super().condition_number(pose, characteristic_length)

    @cached_property
    def _condition(self) -> Callable[..., float]:
        return partial(condition_entry(single, VECTOR), self._lanes)

    def determinant(self, configuration: ArrayLike) -> FloatArray:
        """Determinant (...) of H: where it changes sign, no forces suffice."""
        return np.asarray(np.linalg.det(self.jacobian(configuration)))

    def side(self, configuration: ArrayLike) -> FloatArray | None:
        """The determinant: H is continuous as long as no leg has length zero."""
        return self.determinant(configuration)

    @property
    def singularities(self) -> tuple[Singularity, ...]:
        """Type 2, where det H is zero; see `Singularity`."""
        return (
            Singularity(
                TYPE_2,
                "the legs cannot hold the platform",
                self.determinant,
                True,
                self.condition_number,
                takes_effort=True,
            ),
        )
