# SPDX-License-Identifier: Apache-2.0

"""Frequency responses of mechanisms with elastic drives.

With displacements x, displacements t of the motors (at the joints), the drives' complex stiffness k
+ i w c, and their Jacobian J:

    (-w^2 M + i w J' B + J' D + J' k J) x - J' k t = F
    -k J x + (-w^2 I + k + P) t = u

M is the mass matrix without rotors, I the inertia of the rotors, and B and D are the derivatives of
the efforts with respect to velocity and displacement. P is the linearized `ComputedTorque`
controller with feedback from the motors.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from robodyn.algorithms.description import gravity_vector
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion
from robodyn.checks import as_array, as_scalar, check_choice
from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism

Input = Literal["base", "wrench", "efforts"]
Output = Literal["body", "efforts"]
Complex = npt.NDArray[np.complex128]


def frequency_response(
    mechanism: Mechanism,
    configuration: ArrayLike,
    frequencies: ArrayLike,
    input: Input = "base",
    output: Output = "body",
    *,
    kp: float | None = None,
    kv: float | None = None,
) -> Complex:
    """Compute the frequency response of small motions about an equilibrium.

    Without gains, the motors are locked for the inputs `base` and `wrench`, and move freely for the
    input `efforts`. With gains, `ComputedTorque` holds the configuration with feedback from the
    motors' positions and velocities. The reaction of rotors to a rotating base is left out.

    Args:
        mechanism: mechanism with elastic drives.
        configuration: (..., nq) configuration of the equilibrium.
        frequencies: (f,) [Hz] frequencies of the input.
        input: `base`, a displacement (6,) [m, rad] of the base at its origin; `wrench`, a wrench
            (6,) [N, N m] on the body about its reference point; `efforts`, efforts (n,) [N or N m]
            of the motors.
        output: `body`, the displacement (6,) [m, rad] of the body, that of the base included;
            `efforts`, the efforts (n,) [N or N m] that the drives transmit to the joints. Base
            frame.
        kp: gain [1/s^2] of the position; None for no feedback.
        kv: gain [1/s] of the velocity; None for no feedback.

    Returns:
        (..., f, outputs, inputs) complex amplitude of the output for a unit of the input.

    Raises:
        InvalidInput: a drive is rigid, `input` or `output` is unknown, or only one gain is given.
        UnderActuated, KinematicsError: as for `stiffness_matrix`.

    Example:
        >>> import robodyn as rd
        >>> m = rd.load("motion_platform").with_drive_stiffness(1e8, 2e4)
        >>> abs(rd.frequency_response(m, m.home, [0.01], "base"))[0, 2, 2].round(3)
        np.float64(1.0)
    """
    for name, value, words in (("input", input, Input), ("output", output, Output)):
        check_choice(name, value, get_args(words))
    if (kp is None) != (kv is None):
        raise InvalidInput(f"kp is {kp} and kv is {kv}, expected both or neither", value=(kp, kv))
    hertz = np.atleast_1d(as_array("frequencies", frequencies, (), "Hz"))
    if hertz.ndim != 1:
        raise InvalidInput(
            f"frequencies has shape {hertz.shape}, expected (f,) [Hz]", value=frequencies
        )
    q = mechanism.coordinates.checked("configuration", configuration)[..., None, :]
    drives, bare = mechanism._drive_elasticity, mechanism._rotorless
    rest = np.zeros(mechanism.coordinates.velocity_size)
    still = BaseMotion(-gravity_vector(mechanism))
    d = bare.inverse_dynamics_derivatives(q, rest, rest, base=still)
    J, T = mechanism.joint_jacobian(q), mechanism.twist_jacobian(q)
    transposed, nv, n = np.swapaxes(J, -1, -2), J.shape[-1], J.shape[-2]
    s = np.asarray(2j * np.pi * hertz[:, None, None], dtype=np.complex128)
    k = drives.stiffness + s[..., 0] * drives.damping
    kJ = k[..., None] * J
    moves = kp is not None or input == "efforts"
    size = nv + n * moves
    A = np.zeros((*kJ.shape[:-2], size, size), dtype=np.complex128)
    A[..., :nv, :nv] = s**2 * bare.mass_matrix(q) + transposed @ (
        s * d.velocity + d.configuration + kJ
    )
    F = np.zeros((*A.shape[:-1], n if input == "efforts" else 6), dtype=np.complex128)
    if moves:
        A[..., :nv, nv:], A[..., nv:, :nv] = -np.swapaxes(kJ, -1, -2), -kJ
        rotors = np.diag([actuator.reflected_inertia for actuator in mechanism.actuators])
        A[..., nv:, nv:] = s**2 * rotors + k[..., None] * np.eye(n)
    if kp is not None and kv is not None:
        gains = as_scalar("kp", kp, "1/s^2", at_least=0.0), as_scalar("kv", kv, "1/s", at_least=0.0)
        A[..., nv:, nv:] += _feedback(mechanism, q, s, gains) @ np.linalg.pinv(J)
    if input == "efforts":
        F[..., nv:, :] = np.eye(n)
    elif input == "wrench":
        F[..., :nv, :] = np.swapaxes(T, -1, -2)
    else:
        assert d.base is not None  # given `base`
        F[..., :nv, :] = -transposed @ d.base @ _base_rows(s, gravity_vector(mechanism))
    found = np.linalg.solve(A, F)
    x = found[..., :nv, :]
    if output == "efforts":
        motors = found[..., nv:, :] if moves else 0.0
        return np.asarray(k[..., None] * (motors - J @ x))
    body = T @ x
    return np.asarray(body + _rigid_motion(mechanism, q) if input == "base" else body)


def _feedback(
    mechanism: Mechanism, q: FloatArray, s: Complex, gains: tuple[float, float]
) -> Complex:
    """Compute the controller's restoring efforts per unit generalized displacement."""
    rest = np.zeros(mechanism.coordinates.velocity_size)
    own = mechanism._smooth.inverse_dynamics_derivatives(q, rest, rest)
    feedback = own.acceleration * (gains[0] + s * gains[1])
    return np.asarray(feedback - own.configuration - s * own.velocity)


def _rigid_motion(mechanism: Mechanism, q: FloatArray) -> FloatArray:
    """Compute displacements (..., 6, 6) of a body fixed to the base, per unit of base.

    The columns are the body's displacements for unit displacements of the base.
    """
    at = mechanism.body_pose(q)[..., :3]
    carried = np.zeros((*at.shape[:-1], 6, 6)) + np.eye(6)
    carried[..., :3, 3:] = np.cross(np.eye(3), at[..., None, :]).swapaxes(-1, -2)
    return carried


def _base_rows(s: Complex, gravity: FloatArray) -> Complex:
    """Compute the base motion (f, 9, 6) per unit displacement of the base.

    The 9 rows are acceleration minus gravity, angular velocity and angular acceleration, in the
    axes of the base; `s` are f complex frequencies.
    """
    rows = np.zeros((len(s), 9, 6), dtype=np.complex128)
    rows[:, :3, :3] = rows[:, 6:, 3:] = s**2 * np.eye(3)
    rows[:, 3:6, 3:] = s * np.eye(3)
    # gravity in the axes of a base that turned by r: -g + r x g
    rows[:, :3, 3:] = np.cross(np.eye(3), gravity).T
    return rows
