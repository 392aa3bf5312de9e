# SPDX-License-Identifier: Apache-2.0

"""Forces and accelerations of a platform, and its compiled simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types

from robodyn.algorithms.effort_terms import EffortTerms, nan_where_singular
from robodyn.arrays import ArrayLike, FloatArray, short_repr
from robodyn.base_motion import BaseMotion, rows_of
from robodyn.dynamics.batch_calls import (
    BASE,
    POSE,
    WRENCH,
    Arguments,
    ArrayArgument,
)
from robodyn.dynamics.single_calls import UncheckedSingle
from robodyn.errors import InvalidInput
from robodyn.numerics.array_arguments import VECTOR, VECTOR_OUT, direct
from robodyn.solvers.stewart.formulations import Formulation, FormulationName, formulation_of
from robodyn.solvers.stewart.kernels import lanes, published, single
from robodyn.solvers.stewart.kernels import layout as at
from robodyn.solvers.stewart.kernels import reactions as kernels
from robodyn.solvers.stewart.kinematics import ACCEL, PLACE, TWIST
from robodyn.solvers.stewart.status import each_state, evaluate_batch, new_status, raise_first
from robodyn.threads import cached_threadsafe

_empty = np.empty
_STILL = np.zeros(6)
_MOTION = Arguments(POSE, TWIST, ACCEL, WRENCH)
_ON_BASE = Arguments(POSE, TWIST, ACCEL, WRENCH, BASE)
_LOADED = Arguments(POSE, TWIST, ArrayArgument("forces", 6, "N"), WRENCH, BASE)


class Reactions(NamedTuple):
    """Forces and moments in the joints of the six legs: (..., 6, 3) each, base frame.

    Attributes:
        spherical_force: [N] of the platform on the leg.
        prismatic_force: [N] of the lower on the upper part, without the actuator's force and the
            friction along the leg.
        prismatic_moment: [N m] of the lower on the upper part, about the base point.
        universal_force: [N] of the base on the lower part.
        universal_moment: [N m] of the base on the lower part, normal to both axes of the universal
            joint, without friction.
    """

    spherical_force: FloatArray
    prismatic_force: FloatArray
    prismatic_moment: FloatArray
    universal_force: FloatArray
    universal_moment: FloatArray

    def __repr__(self) -> str:
        return short_repr(self)


def inverse_dynamics(
    platform: Any,
    pose: ArrayLike,
    twist: ArrayLike,
    accel: ArrayLike,
    wrench: ArrayLike | None = None,
    formulation: FormulationName | Formulation = "exact",
    base: BaseMotion | None = None,
) -> FloatArray:
    """Compute the actuator forces (..., 6) [N] for a motion of the platform.

    Args:
        platform: the mechanism.
        pose: (..., 7) platform in base frame.
        twist: (..., 6) [m/s, rad/s].
        accel: (..., 6) [m/s^2, rad/s^2].
        wrench: (..., 6) [N, N m] that the environment exerts on the platform, about its reference
            point; none by default.
        formulation: `exact`; `massless`, legs with springs but without mass, friction and rotors;
            `dasgupta1998` or `pedrammehr2012`, as printed, errors included; or a
            `robodyn.solvers.stewart.formulations.Formulation`.
        base: motion of the base; the formulations as printed do not support it.

    Returns:
        Forces (..., 6) [N], positive if they extend the legs.
    """
    moved = None if base is None else rows_of(base)
    if formulation == "exact":
        forces = _empty(6)
        try:
            one = platform.solver.one if moved is None else platform.solver.one.on_base
            if one.inverse(pose, twist, accel, wrench, moved, False, forces):
                return forces
        except TypeError:
            pass  # not single float64 states: a batch, or an invalid argument
    chosen = formulation_of(formulation)
    if chosen.massless or chosen.is_exact:
        motion, numbers = (pose, twist, accel, wrench, moved), platform.solver.numbers
        forces = exact_forces(numbers, motion, with_legs=not chosen.massless)
        if chosen.massless and platform.model.has_springs:
            # a leg's spring is parallel to its actuator
            stiffness, at_zero = numbers[0][:, [at.STIFFNESS, at.AT_ZERO]].T
            forces += stiffness * platform.inverse_kinematics(pose) + at_zero
        return forces
    if base is not None:
        raise InvalidInput(
            f"formulation {formulation!r} assumes a base at rest; with base=, use 'exact' or "
            "'massless'",
            value=formulation,
        )
    kernel, values = published.all_as_printed, (pose, twist, accel, wrench)
    return each_state(kernel, platform.solver.numbers, _MOTION, values, ((6,),), chosen.codes)[0]


def reactions(
    platform: Any,
    pose: ArrayLike,
    twist: ArrayLike,
    accel: ArrayLike,
    wrench: ArrayLike | None = None,
    *,
    base: BaseMotion | None = None,
) -> Reactions:
    """Compute the forces and moments in the legs' joints for a motion.

    They follow from eq. 21 and 26 to 29 of Dasgupta and Mruthyunjaya (1998), but the moment of the
    universal joint is normal to both of its axes, not along the leg. The arguments are those of
    `inverse_dynamics`.

    Returns:
        The forces and moments, (..., 6, 3) each.
    """
    moved = None if base is None else rows_of(base)
    shape, (q, v, a, w, b) = _ON_BASE.flattened((pose, twist, accel, wrench, moved))
    out, status = np.empty((len(Reactions._fields), len(q), 6, 3)), new_status(q)
    legs, body = platform.solver.numbers
    kernels.reactions(legs, body, q, v, a, w, b, base is not None, out, status)
    raise_first(status, shape, q, platform.solver.legs)
    return Reactions(*(array.reshape(*shape, 6, 3) for array in out))


def mass_matrix(platform: Any, pose: ArrayLike) -> FloatArray:
    """Compute the mass matrix M (..., 6, 6) of platform and legs at poses (..., 7).

    It is about the platform's reference point, base frame, and symmetric positive definite. The
    equations of motion are H F + wrench = M accel + bias, with the force Jacobian H, the actuator
    forces F and the result of `bias`.
    """
    matrix = _empty((6, 6))
    try:
        if platform.solver.one.mass(pose, False, matrix):
            return matrix
    except TypeError:
        pass
    return evaluate_batch(lanes.mass_matrix, platform.solver.numbers, PLACE, (pose,), (6, 6))


def bias(
    platform: Any, pose: ArrayLike, twist: ArrayLike, *, base: BaseMotion | None = None
) -> FloatArray:
    """Compute the wrench (..., 6) [N, N m] of gravity, velocity terms and friction.

    It is the wrench h in the equations of motion, H F + wrench = M accel + h.

    Args:
        platform: the mechanism.
        pose: (..., 7) in the base frame.
        twist: (..., 6) [m/s, rad/s].
        base: motion of the base; at rest by default.

    Returns:
        Wrench (..., 6) about the platform's reference point, base frame.
    """
    wrench, moved = _empty(6), None if base is None else rows_of(base)
    try:
        call = _bias(types.none if moved is None else VECTOR)
        if call(platform.solver.lanes, pose, twist, moved, False, wrench):
            return wrench
    except TypeError:
        pass
    values = pose, twist, _STILL, None, moved
    return evaluate_batch(lanes.bias, platform.solver.numbers, _ON_BASE, values, (6,))


def forward_dynamics(
    platform: Any,
    pose: ArrayLike,
    twist: ArrayLike,
    forces: ArrayLike,
    wrench: ArrayLike | None = None,
    *,
    base: BaseMotion | None = None,
) -> FloatArray:
    """Compute the platform acceleration (..., 6) due to actuator forces (..., 6) [N].

    Unlike `inverse_dynamics` it is also defined where the force Jacobian is singular. Legs at rest
    have no dry friction here; the simulation handles sticking.

    Args:
        platform: the mechanism.
        pose: (..., 7) in the base frame.
        twist: (..., 6) [m/s, rad/s].
        forces: (..., 6) [N] of the actuators.
        wrench: (..., 6) [N, N m] of the environment on the platform; none by default.
        base: motion of the base; at rest by default.

    Returns:
        Acceleration (..., 6) [m/s^2, rad/s^2], base frame.
    """
    accel, moved = _empty(6), None if base is None else rows_of(base)
    try:
        one = platform.solver.one if moved is None else platform.solver.one.on_base
        if one.forward(pose, twist, forces, wrench, moved, False, accel):
            return accel
    except TypeError:
        pass
    values = pose, twist, forces, wrench, moved
    return evaluate_batch(lanes.forward_dynamics, platform.solver.numbers, _LOADED, values, (6,))


def effort_terms(
    platform: Any,
    configuration: FloatArray,
    velocity: FloatArray,
    acceleration: FloatArray,
    wrench: FloatArray | None = None,
    formulation: str = "exact",
) -> EffortTerms:
    """Compute actuator forces (N, 6) [N] and joint reactions of a motion, for reports.

    The motion consists of poses (N, 7), twists and accelerations (N, 6). The formulation is that of
    `inverse_dynamics`; the reactions are always exact.

    Returns:
        Forces, their terms by name, and the `Reactions`; NaN at singularities. The term `massless`
        contains the forces for legs without mass and friction, `dynamic` the rest (Dasgupta 1998,
        eq. 41, 42).
    """
    motion = (configuration, velocity, acceleration)

    def forces(name: str) -> Callable[..., FloatArray]:
        return lambda q, v, a: platform.inverse_dynamics(q, v, a, wrench, name)

    total = nan_where_singular(forces(formulation), motion, (6,))
    massless = nan_where_singular(forces("massless"), motion, (6,))
    stacked = nan_where_singular(
        lambda q, v, a: np.stack(platform.reactions(q, v, a, wrench), axis=-3),
        motion,
        (5, 6, 3),
    )
    reactions = Reactions(*np.moveaxis(stacked, 1, 0))
    return EffortTerms(total, {"massless": massless, "dynamic": total - massless}, reactions)


def exact_forces(
    numbers: tuple[FloatArray, FloatArray],
    motion: tuple[ArrayLike | None, ...],
    *,
    with_legs: bool = True,
) -> FloatArray:
    """Compute the actuator forces (..., 6) [N] of a motion by the exact equations.

    Args:
        numbers: packed parameters of the legs and of the platform; see `kernels.layout`.
        motion: pose, twist, acceleration, wrench (or None) and motion of the base (or None).
        with_legs: whether to include the legs' mass, friction, rotors and springs.

    Returns:
        Forces (..., 6) [N], positive if they extend the legs.
    """
    return evaluate_batch(lanes.inverse_dynamics, numbers, _ON_BASE, motion, (6,), with_legs)


@cached_threadsafe
def _bias(base: Any) -> Callable[..., bool]:
    return direct(single.bias, VECTOR, VECTOR, VECTOR, base, types.boolean, VECTOR_OUT)


@cached_threadsafe
def _steps() -> tuple[Callable[..., None], Callable[..., None]]:
    return (
        direct(single.pose_difference, VECTOR, VECTOR, VECTOR_OUT),
        direct(single.advanced_pose, VECTOR, VECTOR, VECTOR_OUT),
    )


class UncheckedPlatform(UncheckedSingle):
    """Dynamics and condition number of a platform, without checks of arguments."""

    def __init__(self, platform: Any) -> None:
        super().__init__(platform, platform.solver.one)
        self._condition = platform.solver.condition
        self._difference, self._advance = _steps()

    def difference(self, start: FloatArray, goal: FloatArray) -> FloatArray:
        """Compute the displacement (6,) [m, rad] from the pose `start` (7,) to `goal` (7,).

        It consists of a translation and a rotation vector in the base frame.
        """
        out = np.empty(6)
        self._difference(start, goal, out)
        return out

    def advance(self, pose: FloatArray, displacement: FloatArray) -> FloatArray:
        """Compute the pose (7,) after a displacement (6,) [m, rad] from a pose (7,).

        The displacement consists of a translation and a rotation vector in the base frame.
        """
        out = np.empty(7)
        self._advance(pose, displacement, out)
        return out

    def condition_number(self, pose: FloatArray, characteristic_length: float = 1.0) -> float:
        """Return the force Jacobian's condition number at a pose (7,).

        The Jacobian's moment rows are divided by `characteristic_length` [m]. The result is -1 if a
        leg has zero length.
        """
        return self._condition(pose, characteristic_length, True)
