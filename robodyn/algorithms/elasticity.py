# SPDX-License-Identifier: Apache-2.0

"""Stiffness, compliance, deflection and modes of a mechanism with elastic drives.

The motors are locked where the configuration is an equilibrium. V is the potential energy of the
elastic drives and of gravity. At rest the loads require efforts e(x) of the drives, and the drives
exert e(0) - k (j(x) - j(0)), where x is a displacement, j are the positions of the driven joints
and J is their Jacobian. The second derivative of V at x = 0 is

    K = J' (de/dx + diag(k) J),

because J' e is the generalized force of the loads at any x. The first term is the geometric
stiffness (Hoevenaars, Krut, Herder 2020), the second Gosselin's (1990). K is symmetric if the loads
have a potential: at an equilibrium the second derivative does not depend on the coordinates.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np

from robodyn.arrays import ArrayLike, BoolArray, FloatArray, short_repr
from robodyn.checks import as_array
from robodyn.errors import InvalidInput, KinematicsError, NoSolution, UnderActuated
from robodyn.poses import pose_difference

M = TypeVar("M")
# Equilibrium search: tolerance of displacements relative to the mechanism's size, and largest
# number of steps.
TOLERANCE = 1e-12
STEPS = 30
# Largest number of elements of a batch that a message lists.
NAMED = 8


class DriveElasticity(NamedTuple):
    """Stiffness (n,) and damping (n,) of the drives, [N/m, N s/m] or [N m/rad, N m s/rad]."""

    stiffness: FloatArray
    damping: FloatArray


class Modes(NamedTuple):
    """Natural modes of small vibrations about a configuration, in order of frequency.

    Attributes:
        frequencies: (..., nv) [Hz] of the undamped modes. A negative frequency belongs to an
            unstable mode, whose amplitude grows by exp(2 pi |frequency| t).
        damping_ratios: (..., nv) damping ratio of each mode; coupling of modes by damping is
            neglected.
        shapes: (..., nv, nv) displacements in columns, with unit modal mass.
        body_shapes: (..., nv, 6) translation [m] and rotation [rad] of the body in each mode, base
            frame.
    """

    frequencies: FloatArray
    damping_ratios: FloatArray
    shapes: FloatArray
    body_shapes: FloatArray

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def stable(self) -> BoolArray:
        """Whether the configuration (...) is a stable equilibrium."""
        return np.asarray(self.frequencies[..., 0] > 0.0)


def with_drive_stiffness(mechanism: M, stiffness: ArrayLike, damping: ArrayLike = 0.0) -> M:
    """Return the mechanism with elastic drives between the motors and the joints.

    Args:
        mechanism: any mechanism.
        stiffness: (n,) or one number [N/m or N m/rad] for the driven joints; infinite for rigid
            drives.
        damping: (n,) or one number [N s/m or N m s/rad] of the same elasticity.

    Returns:
        The mechanism, otherwise unchanged.

    Raises:
        InvalidInput: a shape is wrong, the stiffness is not positive, or the damping is negative.
    """
    m: Any = mechanism
    size = (len(m.joint_names),)
    try:
        stiff, damped = (
            np.broadcast_to(np.asarray(given, dtype=np.float64), size)
            for given in (stiffness, damping)
        )
    except ValueError as error:
        raise InvalidInput(
            f"stiffness and damping have shapes {np.shape(stiffness)} and {np.shape(damping)}, "
            f"expected one number or {size}, one for each driven joint",
            value=stiffness,
        ) from error
    if not (stiff > 0.0).all():
        raise InvalidInput(
            f"stiffness is {stiffness!r}, expected numbers above 0 [N/m or N m/rad], infinite for "
            "rigid drives",
            value=stiffness,
        )
    if not ((damped >= 0.0) & np.isfinite(damped)).all():
        raise InvalidInput(
            f"damping is {damping!r}, expected a number of at least 0 [N s/m or N m s/rad]",
            value=damping,
        )
    pairs = zip(stiff.tolist(), damped.tolist(), strict=True)
    drives = dict(zip(m.joint_names, pairs, strict=True))
    made: M = m._made(m.model.with_drive_stiffness(drives))
    return made


def drive_elasticity(mechanism: Any) -> DriveElasticity:
    """Return the stiffness and damping (n,) of all drives, read from their actuators.

    Raises:
        InvalidInput: a drive is rigid.
    """
    actuators = mechanism.actuators
    stiffness = np.array([actuator.stiffness for actuator in actuators])
    rigid = [n for n, k in zip(mechanism.joint_names, stiffness, strict=True) if np.isinf(k)]
    if rigid:
        raise InvalidInput(
            f"{mechanism.name}: the drives of {', '.join(rigid)} are rigid, so it has no stiffness "
            "matrix; state `stiffness` [N/m or N m/rad] of their actuators, or call "
            "with_drive_stiffness",
            value=stiffness,
        )
    return DriveElasticity(stiffness, np.array([each.stiffness_damping for each in actuators]))


def is_elastic(mechanism: Any) -> bool:
    """Return whether every drive is elastic."""
    return all(np.isfinite(actuator.stiffness) for actuator in mechanism.actuators)


def stiffness_matrix(
    mechanism: Any, configuration: ArrayLike, /, wrench: ArrayLike | None = None
) -> FloatArray:
    """Compute the stiffness matrix of the mechanism with locked motors.

    The matrix includes the geometric stiffness of gravity and of the wrench; beyond the buckling
    load it is indefinite.

    Args:
        mechanism: mechanism with elastic drives.
        configuration: (..., nq), the equilibrium.
        wrench: (..., 6) [N, N m] constant wrench on the body in the base frame; zero by default.

    Returns:
        (..., nv, nv) second derivative of the potential energy with respect to the displacement of
        `advance`. A moment that is constant in the base frame has no potential; of its stiffness,
        the symmetric part is returned.

    Raises:
        InvalidInput: a drive is rigid, or an argument has a wrong shape.
        UnderActuated: the drives do not hold the mechanism.
        KinematicsError: as for `inverse_dynamics`.
    """
    drives = mechanism._drive_elasticity
    _, K, J = _state_at_rest(mechanism, configuration, wrench)
    K = K + (drives.stiffness * J.swapaxes(-1, -2)) @ J
    return np.asarray(0.5 * (K + K.swapaxes(-1, -2)))


def compliance(
    mechanism: Any, configuration: ArrayLike, /, wrench: ArrayLike | None = None
) -> FloatArray:
    """Compute the displacement of the body per unit of wrench on it, with locked motors.

    Args:
        mechanism: mechanism with elastic drives.
        configuration: (..., nq), the equilibrium.
        wrench: (..., 6) [N, N m] constant wrench on the body in the base frame; zero by default.

    Returns:
        Matrix (..., 6, 6), base frame, that maps a force [N] on the body's reference point and a
        moment [N m] to the translation [m] of that point and a rotation vector [rad].

    Raises:
        InvalidInput, UnderActuated, KinematicsError: as for `stiffness_matrix`.
        NoSolution: an equilibrium is unstable; the error names the elements of the batch.
    """
    K = stiffness_matrix(mechanism, configuration, wrench)
    _refuse_unstable(mechanism, K)
    T = mechanism.twist_jacobian(configuration)
    return np.asarray(T @ np.linalg.solve(K, np.swapaxes(T, -1, -2)))


def smallest_stiffness(
    mechanism: Any, configuration: ArrayLike, wrench: ArrayLike | None = None
) -> FloatArray:
    """Compute the smallest stiffness (...) [N/m] of the body over all directions of a force.

    It is the reciprocal of the largest eigenvalue of the compliance's translation block, and NaN at
    an unstable equilibrium.

    Args:
        mechanism, configuration, wrench: as for `stiffness_matrix`.

    Raises:
        InvalidInput, UnderActuated, KinematicsError: as for `stiffness_matrix`.
    """
    K = stiffness_matrix(mechanism, configuration, wrench)
    stable = np.linalg.eigvalsh(K)[..., 0] > 0.0
    K = np.where(stable[..., None, None], K, np.eye(K.shape[-1]))
    T = mechanism.twist_jacobian(configuration)[..., :3, :]
    largest = np.linalg.eigvalsh(T @ np.linalg.solve(K, np.swapaxes(T, -1, -2)))[..., -1]
    with np.errstate(divide="ignore"):
        return np.where(stable, 1.0 / largest, np.nan)


def deflection(mechanism: Any, configuration: ArrayLike, /, wrench: ArrayLike) -> FloatArray:
    """Compute the displacement of the body under a finite wrench, with locked motors.

    Newton's method finds the equilibrium to 1e-12 of the mechanism's size.

    Args:
        mechanism: mechanism with elastic drives.
        configuration: (..., nq), the equilibrium without the wrench.
        wrench: (..., 6) [N, N m], constant in the base frame.

    Returns:
        (..., 6) translation [m] and rotation vector [rad] of the body, base frame.

    Raises:
        InvalidInput, UnderActuated, KinematicsError: as for `stiffness_matrix`.
        NoSolution: no stable equilibrium was found.
    """
    stiffness = mechanism._drive_elasticity.stiffness
    start = mechanism.coordinates.checked("configuration", configuration)
    load = as_array("wrench", wrench, (6,), "N, N m")
    shape = np.broadcast_shapes(start.shape[:-1], load.shape[:-1])
    q = start = np.broadcast_to(start, (*shape, start.shape[-1]))
    efforts = _state_at_rest(mechanism, start, None)[0]
    positions = mechanism.joint_positions(start)
    for _ in range(STEPS):
        needed, geometric, J = _state_at_rest(mechanism, q, load)
        wound = mechanism.joint_positions(q) - positions
        missing = needed - efforts + stiffness * wound
        transposed = np.swapaxes(J, -1, -2)
        K = geometric + transposed @ (stiffness[:, None] * J)
        step = -np.linalg.solve(K, transposed @ missing[..., None])[..., 0]
        q = mechanism.advance(q, step)
        if np.abs(step).max(initial=0.0) <= TOLERANCE * mechanism.size:
            break
    else:
        raise NoSolution(
            f"{mechanism.name}: no equilibrium under the wrench was found in {STEPS} steps; "
            "the wrench may exceed a buckling load; try a smaller wrench",
            value=wrench,
        )
    _refuse_unstable(mechanism, 0.5 * (K + np.swapaxes(K, -1, -2)))
    return pose_difference(mechanism.body_pose(start), mechanism.body_pose(q))


def modes(mechanism: Any, configuration: ArrayLike, /, wrench: ArrayLike | None = None) -> Modes:
    """Compute the natural frequencies and mode shapes about an equilibrium.

    The motors are locked, so their rotors do not contribute to the mass. Damping is due to the
    elastic drives and viscous joint friction.

    Args:
        mechanism: mechanism with elastic drives.
        configuration: (..., nq), the equilibrium.
        wrench: (..., 6) [N, N m] constant wrench on the body in the base frame; zero by default.

    Returns:
        The modes in order of increasing frequency; negative frequencies belong to unstable modes.

    Raises:
        InvalidInput, UnderActuated, KinematicsError: as for `stiffness_matrix`.

    Example:
        >>> import robodyn as rd
        >>> m = rd.load("motion_platform").with_drive_stiffness(1e8)
        >>> m.modes(m.home).frequencies.shape
        (6,)
    """
    drives = mechanism._drive_elasticity
    K = stiffness_matrix(mechanism, configuration, wrench)
    J = mechanism.joint_jacobian(configuration)
    L = np.linalg.cholesky(mechanism._rotorless.mass_matrix(configuration))
    half = np.linalg.solve(L, K)
    squares, vectors = np.linalg.eigh(np.linalg.solve(L, np.swapaxes(half, -1, -2)))
    shapes = np.linalg.solve(np.swapaxes(L, -1, -2), vectors)
    rates = np.sqrt(np.abs(squares))
    rest = np.zeros(K.shape[-1])
    friction = mechanism._rotorless.inverse_dynamics_derivatives(configuration, rest, rest).velocity
    C = np.swapaxes(J, -1, -2) @ (friction + drives.damping[:, None] * J)
    own = (shapes * (C @ shapes)).sum(axis=-2)
    ratios = np.divide(own, 2.0 * rates, out=np.zeros_like(own), where=rates > 0.0)
    body = np.swapaxes(mechanism.twist_jacobian(configuration) @ shapes, -1, -2)
    frequencies = np.sign(squares) * rates / (2.0 * np.pi)
    return Modes(frequencies, ratios, shapes, np.ascontiguousarray(body))


def refuse_elastic_drives(mechanism: Any) -> None:
    """Raise an error if a drive is elastic, as the state contains no motor positions.

    Raises:
        InvalidInput: a drive is elastic.
    """
    elastic = [
        name
        for name, actuator in zip(mechanism.joint_names, mechanism.actuators, strict=True)
        if np.isfinite(actuator.stiffness)
    ]
    if elastic:
        raise InvalidInput(
            f"{mechanism.name}: the drives of {', '.join(elastic)} are elastic, which is not "
            "supported here; m.with_drive_stiffness(math.inf) makes the drives rigid",
            value=elastic,
        )


def motors_in_equilibrium(
    mechanism: Any, configuration: FloatArray, velocity: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Compute motor positions that balance gravity, and the motors' velocities.

    If the drives cannot hold the mechanism, the motor positions equal the joint positions.

    Args:
        mechanism: mechanism with elastic drives.
        configuration: (nq,) configuration to hold.
        velocity: (nv,) velocity of the mechanism, from which the motors' velocities follow.

    Returns:
        Positions (n,) [m or rad] and velocities (n,) of the motors, converted to the joints.
    """
    positions = mechanism.joint_positions(configuration)
    with suppress(UnderActuated, KinematicsError):
        efforts = mechanism._smooth.gravity(configuration)
        positions = positions + efforts / mechanism.drives.elasticity[:, 0]
    return positions, mechanism.joint_velocities(configuration, velocity)


def motors_at_home(mechanism: Any) -> FloatArray:
    """Compute motor positions (n,) of elastic drives that hold the home configuration.

    They are converted to the joints [m or rad].
    """
    rest = np.zeros(mechanism.coordinates.velocity_size)
    return motors_in_equilibrium(mechanism, mechanism.home, rest)[0]


def state_of_motors(
    mechanism: Any, positions: FloatArray, velocities: FloatArray, guess: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Compute the state that motor positions and velocities imply if drives are rigid.

    Args:
        mechanism: mechanism with elastic drives.
        positions, velocities: (n,) of the motors, converted to the joints.
        guess: (nq,) configuration at which Newton's method starts.

    Returns:
        Configuration (nq,) and velocity (nv,).

    Raises:
        NoSolution: no configuration near the guess has these positions.
        KinematicsError: the kinematics have no solution at a configuration of the search.
    """
    q = guess
    for _ in range(STEPS):
        inverse = np.linalg.pinv(mechanism.joint_jacobian(q))
        step = (inverse @ (positions - mechanism.joint_positions(q))[..., None])[..., 0]
        q = mechanism.advance(q, step)
        if np.abs(step).max(initial=0.0) <= TOLERANCE**0.5 * mechanism.size:
            return q, (inverse @ velocities[..., None])[..., 0]
    raise NoSolution(
        f"{mechanism.name}: no configuration was found for the motors' positions", value=positions
    )


def fastest_vibration(mechanism: Any, configuration: FloatArray) -> float:
    """Return the highest natural frequency [rad/s] of the elastic drives with free motors.

    Args:
        mechanism: mechanism with elastic drives.
        configuration: (nq,).
    """
    J, M = mechanism.joint_jacobian(configuration), mechanism._rotorless.mass_matrix(configuration)
    stiffness, _, inertia = mechanism.drives.elasticity.T
    squares = stiffness[:, None] * (J @ np.linalg.solve(M, J.T) + np.diag(1.0 / inertia))
    return float(np.sqrt(np.abs(np.linalg.eigvals(squares)).max()))


def energy_of_drives(
    mechanism: Any, configuration: FloatArray, positions: FloatArray, velocities: FloatArray
) -> FloatArray:
    """Compute the energy (...) [J] stored in elastic drives and in their rotors' motion.

    The configuration (..., nq) determines the joint positions. Positions and velocities (..., n)
    belong to the motors, converted to the joints.
    """
    stiffness, _, inertia = mechanism.drives.elasticity.T
    wound = positions - mechanism.joint_positions(configuration)
    return np.asarray(0.5 * (wound**2 @ stiffness + velocities**2 @ inertia))


def _state_at_rest(
    mechanism: Any, configuration: ArrayLike, wrench: ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return efforts at rest, geometric stiffness and the driven joints' Jacobian.

    Their shapes are (..., n), (..., nv, nv) and (..., n, nv). With the efforts e, the displacement
    x and the Jacobian J, the geometric stiffness is J^T de/dx.
    """
    smooth, rest = mechanism._smooth, np.zeros(mechanism.coordinates.velocity_size)
    if (compute := smooth.solver.derivatives) is not None:
        efforts = smooth.inverse_dynamics(configuration, rest, rest, wrench)
        if (found := compute.at_rest(configuration, efforts, wrench)) is not None:
            return efforts, *found
    d = smooth.inverse_dynamics_derivatives(configuration, rest, rest, wrench)
    J = mechanism.joint_jacobian(configuration)
    return d.efforts, np.swapaxes(J, -1, -2) @ d.configuration, J


def _refuse_unstable(mechanism: Any, stiffness: FloatArray) -> None:
    least = np.linalg.eigvalsh(stiffness)[..., 0]
    unstable = np.argwhere(~(least > 0.0)).tolist()
    if not unstable:
        return
    index, where = tuple(unstable[0]), ""
    if index:
        more = f" and {len(unstable) - NAMED} more" if len(unstable) > NAMED else ""
        where = f" (elements {', '.join(map(str, unstable[:NAMED]))}{more})"
    error = NoSolution(
        f"{mechanism.name}: the equilibrium is unstable{where}: its stiffness matrix has the "
        f"eigenvalue {float(least[index]):.4g}; the stiffness of the drives cannot "
        "carry the loads or gravity",
        value=float(least[index]),
    )
    error.index = index
    raise error
