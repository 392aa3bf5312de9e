# SPDX-License-Identifier: Apache-2.0

"""The joint between a leg and the base: universal in a 6-UPS, spherical in a 6-SPS.

A leg between two spherical joints is free to spin about its own axis, and nothing drives or
stops it. As Dasgupta and Mruthyunjaya (1998, section 1) say, this passive spin is neglected (W.s =
A.s = 0), which requires a leg that is symmetric about its axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.errors import InvalidInput, ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robodyn.mechanisms.stewart.model import Body, StewartModel

BASE_JOINTS = ("universal", "spherical")
# A leg part counts as symmetric if its asymmetry is this small relative to its size.
SYMMETRY = 1e-9


def base_joints(model: StewartModel, given: str | Sequence[str]) -> tuple[str, ...]:
    """The base joint of each of the six legs.

    Raises:
        InvalidInput: an unknown name, or not one for each leg.
        ModelError: a spherical joint under a leg that is not symmetric about its axis.
    """
    joints = (given,) * len(model.legs) if isinstance(given, str) else tuple(given)
    if len(joints) != len(model.legs) or not set(joints) <= set(BASE_JOINTS):
        raise InvalidInput(
            f"base_joint is {given!r}, expected one of {', '.join(BASE_JOINTS)}, or six of them",
            value=given,
        )
    for number, (leg, joint) in enumerate(zip(model.legs, joints, strict=True), start=1):
        if joint == "spherical" and leg.actuator.spin_inertia != 0.0:
            raise ModelError(
                f"{model.name}: leg {number} cannot stand on a spherical joint: nothing there "
                "bears what its rotor does to the leg as it spins up; use a universal joint, or "
                "give the actuator no rotor_inertia",
                value=leg.actuator.rotor_inertia,
            )
        for part, body in (("lower", leg.lower), ("upper", leg.upper)):
            if joint == "spherical" and not _is_symmetric(body):
                raise ModelError(
                    f"{model.name}: leg {number} cannot stand on a spherical joint: its {part} "
                    "part is not symmetric about the leg's axis (com on x, inertia diagonal "
                    "with yy = zz), so its forces would depend on a spin that nothing determines",
                    value=body,
                )
    return joints


def _is_symmetric(body: Body) -> bool:
    inertia = body.inertia
    off_diagonal = np.abs(inertia - np.diag(np.diag(inertia))).max()
    unequal = abs(inertia[1, 1] - inertia[2, 2])
    off_axis = np.abs(body.com[1:]).max()
    return bool(
        max(off_diagonal, unequal) <= SYMMETRY * np.abs(inertia).max()
        and off_axis <= SYMMETRY * np.abs(body.com).max()
    )
