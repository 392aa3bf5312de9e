# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the equations of motion of any mechanism, and linear models.

A kind may have a compiled kernel for derivatives. Without it, or if it fails, the structure of the
equations is used: efforts are linear in the acceleration, accelerations linear in the efforts, and
both quadratic in the velocity if no joint has dry friction. Central differences with respect to
these variables are then exact to rounding. Finite differences with respect to the configuration
have a truncation error, unless the kind provides an exact stencil. All states of a stencil, and of
a batch, are evaluated in one compiled call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robodyn.algorithms.linear_model import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    Linearization,
    by_base,
    discretize,
    on_base,
)
from robodyn.arrays import ArrayLike, FloatArray
from robodyn.base_motion import BaseMotion
from robodyn.checks import as_array, as_scalar
from robodyn.dynamics.kernels import sticking as at
from robodyn.dynamics.stencil import Stencil, apply_stencil, central_stencil, is_redundant

# Step of a velocity [m/s, rad/s] for dry friction, small compared with Stribeck velocities.
FRICTION_STEP = 1e-4
# Steps for redundant drives, among which efforts are distributed: of velocities, and of
# accelerations relative to them.
SMALL = 1e-3


def inverse_dynamics_derivatives(
    mechanism: Any,
    configuration: ArrayLike,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    wrench: ArrayLike | None = None,
    *,
    base: BaseMotion | None = None,
) -> InverseDynamicsDerivatives:
    """Compute the efforts (..., n) of a motion, and their derivatives w.r.t. this motion.

    The derivatives are with respect to configuration, velocity and acceleration. A change of the
    configuration is a displacement as in `difference` and `advance`, at constant velocity,
    acceleration, wrench (..., 6) and base motion. Dry friction is computed for the planned motion;
    its derivative is omitted if a joint's rate changes sign, for example at rest. Results are
    accurate to 1e-9 of the largest entry. With a base motion, they include the derivatives with
    respect to it.

    Returns:
        Efforts (..., n) and derivatives (..., n, nv) w.r.t. configuration, velocity, acceleration.

    Raises:
        InvalidInput, KinematicsError: as for `inverse_dynamics`.
    """
    compute, given = mechanism.solver.derivatives, (configuration, velocity, acceleration, wrench)
    base_derivatives = None
    if base is not None:
        base_derivatives = by_base(
            mechanism._smooth.inverse_dynamics, is_redundant(mechanism), (*given, base)
        )
    if compute is not None:
        efforts = mechanism.inverse_dynamics(*given, base=base)
        found = compute(False, configuration, velocity, acceleration, efforts, wrench, base)
        if found is not None:
            return on_base(InverseDynamicsDerivatives(efforts, *found), base_derivatives)
    differences = _differences(mechanism, "inverse_dynamics", *given, base)
    return on_base(InverseDynamicsDerivatives(*differences), base_derivatives)


def forward_dynamics_derivatives(
    mechanism: Any,
    configuration: ArrayLike,
    velocity: ArrayLike,
    efforts: ArrayLike,
    wrench: ArrayLike | None = None,
    *,
    base: BaseMotion | None = None,
) -> ForwardDynamicsDerivatives:
    """Compute the acceleration (..., nv) due to efforts and its derivatives.

    The derivatives are with respect to configuration, velocity and efforts. Conventions are as in
    `inverse_dynamics_derivatives`. Under-actuated mechanisms and singular configurations are
    supported.

    Returns:
        Acceleration (..., nv) and derivatives (..., nv, k) w.r.t. configuration, velocity, efforts.

    Raises:
        InvalidInput, KinematicsError: as for `forward_dynamics`.
    """
    compute, given = mechanism.solver.derivatives, (configuration, velocity, efforts, wrench)
    base_derivatives = None
    if base is not None:
        base_derivatives = by_base(mechanism._smooth.forward_dynamics, False, (*given, base))
    if compute is not None:
        moved = mechanism.forward_dynamics(*given, base=base)
        found = compute(True, configuration, velocity, moved, efforts, wrench, base)
        if found is not None:
            return on_base(ForwardDynamicsDerivatives(moved, *found), base_derivatives)
    differences = _differences(mechanism, "forward_dynamics", *given, base)
    return on_base(ForwardDynamicsDerivatives(*differences), base_derivatives)


def linearize(
    mechanism: Any,
    configuration: ArrayLike,
    velocity: ArrayLike | None = None,
    efforts: ArrayLike | None = None,
    wrench: ArrayLike | None = None,
    dt: float | None = None,
    *,
    base: BaseMotion | None = None,
) -> Linearization:
    """Linearize the dynamics about configurations (..., nq) and velocities (..., nv).

    By default, the efforts are those without acceleration: the holding efforts at rest, or the
    efforts for a motion at constant velocity. For an under-actuated mechanism, pass the efforts
    (..., n). Dry friction is omitted, and the base motion is taken as constant. With `dt` [s], the
    model is sampled, with constant efforts between samples.

    Returns:
        The linear model: state and input matrices, eigenvalues, and the efforts of the state.

    Raises:
        InvalidInput, KinematicsError: as for `forward_dynamics`.
        UnderActuated: efforts are not given, and no efforts hold the mechanism.
    """
    smooth, rest = mechanism._smooth, np.zeros(mechanism.coordinates.velocity_size)
    v = rest if velocity is None else as_array("velocity", velocity, rest.shape)
    if efforts is None:
        efforts = smooth.inverse_dynamics(configuration, v, rest, wrench, base=base)
    d = smooth.forward_dynamics_derivatives(configuration, v, efforts, wrench, base=base)
    nv, n = d.efforts.shape[-2:]
    A = np.zeros((*d.efforts.shape[:-2], 2 * nv, 2 * nv))
    A[..., :nv, nv:] = np.eye(nv)
    A[..., nv:, :nv], A[..., nv:, nv:] = d.configuration, d.velocity
    for turning in mechanism.coordinates.rotations:
        A[..., turning, turning] = -np.cross(v[..., None, turning], np.eye(3))
    B = np.zeros((*A.shape[:-1], n))
    B[..., nv:, :] = d.efforts
    eigenvalues = np.linalg.eigvals(A).astype(np.complex128)
    order = np.argsort(-eigenvalues.real, axis=-1)
    eigenvalues = np.take_along_axis(eigenvalues, order, axis=-1)
    held = np.broadcast_to(np.asarray(efforts, dtype=np.float64), (*A.shape[:-2], n))
    if dt is not None:
        A, B = discretize(A, B, as_scalar("dt", dt, "s", above=0.0))
    return Linearization(A, B, eigenvalues, eigenvalues[..., 0].real, held, dt)


def _differences(
    mechanism: Any,
    quantity: str,
    configuration: ArrayLike,
    velocity: ArrayLike,
    load: ArrayLike,
    wrench: ArrayLike | None,
    base: BaseMotion | None,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Compute `quantity` (..., k) and its derivatives by finite differences.

    `quantity` is `inverse_dynamics` or `forward_dynamics`, which is linear in `load`, i.e. in the
    acceleration or in the efforts respectively. The derivatives are with respect to configuration,
    velocity and load.
    """
    nv = mechanism.coordinates.velocity_size
    count = nv if quantity == "inverse_dynamics" else len(mechanism.joint_names)
    size = mechanism.coordinates.configuration_size
    # not `checked`: a quaternion that is normalized twice differs in its last bit
    q = as_array("configuration", configuration, (size,))[..., None, :]
    v = as_array("velocity", velocity, (nv,))[..., None, :]
    u = as_array("acceleration or efforts", load, (count,))[..., None, :]
    w = None if wrench is None else as_array("wrench", wrench, (6,))[..., None, :]

    step = SMALL if quantity == "inverse_dynamics" and is_redundant(mechanism) else 1.0
    # a small change of large efforts would be lost in rounding
    size = step * (1.0 + np.abs(u).max(axis=-1, keepdims=True))
    stencil = mechanism.solver.stencil
    moved = _displace(mechanism, q, stencil)
    rest = 1 + count + 2 * nv
    Q = np.concatenate([_repeat(q, rest, moved), moved], axis=-2)
    changes = np.zeros((Q.shape[-2], nv))
    changes[1 + count : rest] = step * np.concatenate([np.eye(nv), -np.eye(nv)])
    loads = np.zeros((len(changes), count))
    loads[1 : 1 + count] = np.eye(count)
    evaluate: Callable[..., FloatArray] = getattr(mechanism._smooth, quantity)
    out = evaluate(
        Q, v + changes, u + size * loads, w, base=None if base is None else base[..., None]
    )

    value = out[..., 0, :]
    by_load = (out[..., 1 : 1 + count, :] - out[..., :1, :]) / size
    faster, slower = np.split(out[..., 1 + count : rest, :], 2, axis=-2)
    by_velocity = 0.5 / step * (faster - slower)
    by_configuration = apply_stencil(out[..., rest:, :], stencil)
    if mechanism._smooth is not mechanism:
        dry = _of_dry_friction(mechanism, quantity, q, v, u, w)
        value = value + dry[..., 0, :]
        by_configuration = by_configuration + dry[..., 1 : 1 + nv, :]
        by_velocity = by_velocity + dry[..., 1 + nv :, :]
    return value, _transpose(by_configuration), _transpose(by_velocity), _transpose(by_load)


def _of_dry_friction(mechanism: Any, quantity: str, q: Any, v: Any, u: Any, w: Any) -> FloatArray:
    """Return the contribution of dry friction to `quantity`, and its derivatives.

    `quantity` is the name of a method, `inverse_dynamics` or `forward_dynamics`. The result is
    (..., 1 + 2 nv, k): the value, then the derivatives with respect to displacement and velocity. A
    derivative is zero if the rate of a driven joint with dry friction changes sign within the
    finite-difference steps.
    """
    nv = v.shape[-1]
    own = central_stencil(np.full(nv, FRICTION_STEP))
    moved = _displace(mechanism, q, own)
    rows = own.places.size
    Q = np.concatenate([_repeat(q, 1, moved), moved, _repeat(q, rows, moved)], axis=-2)
    changes = np.zeros((Q.shape[-2], nv))
    changes[1 + rows :] = np.concatenate([np.diag(row) for row in own.places])
    V = v + changes
    added = getattr(mechanism, quantity)(Q, V, u, w) - getattr(mechanism._smooth, quantity)(
        Q, V, u, w
    )
    dry = mechanism.solver.friction.rows[: len(mechanism.joint_names), : at.RATE].any(axis=-1)
    sides = np.sign(mechanism.joint_velocities(Q, V))[..., dry]
    kept = ((sides == sides[..., :1, :]) & (sides != 0.0)).all(axis=-1)
    parts = [added[..., :1, :]]
    for part in (slice(1, 1 + rows), slice(1 + rows, None)):
        smooth = kept[..., part].reshape(*kept.shape[:-1], *own.places.shape).all(axis=-2)
        parts.append(apply_stencil(added[..., part, :], own) * smooth[..., None])
    return np.concatenate(parts, axis=-2)


def _displace(mechanism: Any, q: FloatArray, stencil: Stencil) -> FloatArray:
    """Return configurations (..., p nv, nq) at the points of a difference stencil.

    The stencil has p points for each of the nv coordinates.
    """
    return mechanism.advance(q, np.concatenate([np.diag(row) for row in stencil.places]))


def _repeat(q: FloatArray, count: int, like: FloatArray) -> FloatArray:
    """Repeat a configuration (..., 1, nq) `count` times."""
    return np.broadcast_to(q, (*like.shape[:-2], count, q.shape[-1]))


def _transpose(matrices: FloatArray) -> FloatArray:
    """Transpose (..., m, k) into a contiguous (..., k, m)."""
    return np.ascontiguousarray(np.swapaxes(matrices, -1, -2))
