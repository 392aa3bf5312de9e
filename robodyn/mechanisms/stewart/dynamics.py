# SPDX-License-Identifier: Apache-2.0

"""Forces and accelerations, on packed legs and platform; see `StewartPlatform` for the shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robodyn.checks import as_array, as_pose
from robodyn.mechanisms.stewart import batch_calls as many
from robodyn.mechanisms.stewart.kernels import batch as kernels
from robodyn.mechanisms.stewart.status import new_status, raise_first
from robodyn.numerics.broadcasting import flatten

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.stewart.formulations import Formulation


class Reactions(NamedTuple):
    """Loads on the joints of the legs: (..., 6 legs, 3) each, base frame.

    Attributes:
        spherical_force: [N] platform on leg.
        prismatic_force: [N] lower on upper part, without the actuator's force and the friction
            along the leg.
        prismatic_moment: [N m] lower on upper part, about the base point.
        universal_force: [N] base on lower part.
        universal_moment: [N m] base on lower part, normal to both axes of the universal joint;
            its friction is not in it.
    """

    spherical_force: FloatArray
    prismatic_force: FloatArray
    prismatic_moment: FloatArray
    universal_force: FloatArray
    universal_moment: FloatArray


class Energy(NamedTuple):
    """Kinetic and potential energy (...) [J]; the latter is zero at the base frame's origin."""

    kinetic: FloatArray
    potential: FloatArray


def inverse_dynamics(
    legs: FloatArray,
    platform: FloatArray,
    pose: ArrayLike,
    twist: ArrayLike,
    accel: ArrayLike,
    wrench: ArrayLike | None,
    formulation: Formulation,
) -> FloatArray:
    """Actuator forces of a motion."""
    if formulation.massless or formulation.is_exact:
        return many.inverse_dynamics(
            (legs, platform), pose, twist, accel, wrench, not formulation.massless
        )
    shape, (q, v, a, w) = _motion(pose, twist, accel, wrench)
    out, status = np.empty((len(q), 6)), new_status(q)
    kernels.inverse_dynamics_as_printed(legs, platform, q, v, a, w, *formulation.codes, out, status)
    raise_first(status, shape, q, legs)
    return out.reshape(*shape, 6)


def reactions(
    legs: FloatArray,
    platform: FloatArray,
    pose: ArrayLike,
    twist: ArrayLike,
    accel: ArrayLike,
    wrench: ArrayLike | None,
) -> Reactions:
    """Joint reactions of a motion."""
    shape, (q, v, a, w) = _motion(pose, twist, accel, wrench)
    out, status = [np.empty((len(q), 6, 3)) for _ in Reactions._fields], new_status(q)
    buffers = [*out, status]
    kernels.reactions(legs, platform, q, v, a, w, *buffers)
    raise_first(status, shape, q, legs)
    return Reactions(*(array.reshape(*shape, 6, 3) for array in out))


def energy(legs: FloatArray, platform: FloatArray, pose: ArrayLike, twist: ArrayLike) -> Energy:
    """Kinetic and potential energy of a state."""
    shape, (q, v) = flatten(
        pose=as_pose("pose", pose), twist=as_array("twist", twist, (6,), "m/s, rad/s")
    )
    out, status = np.empty((len(q), 2)), new_status(q)
    kernels.energy(legs, platform, q, v, out, status)
    raise_first(status, shape, q, legs)
    return Energy(out[:, 0].reshape(shape), out[:, 1].reshape(shape))


def _motion(
    pose: ArrayLike, twist: ArrayLike, accel: ArrayLike, wrench: ArrayLike | None
) -> tuple[tuple[int, ...], list[FloatArray]]:
    return flatten(
        pose=as_pose("pose", pose),
        twist=as_array("twist", twist, (6,), "m/s, rad/s"),
        accel=as_array("accel", accel, (6,), "m/s^2, rad/s^2"),
        wrench=_wrench(wrench),
    )


def _wrench(wrench: ArrayLike | None) -> Any:
    return np.zeros(6) if wrench is None else as_array("wrench", wrench, (6,), "N, N m")
