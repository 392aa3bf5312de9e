# SPDX-License-Identifier: Apache-2.0

"""The thirteen bodies of a Stewart platform by name, and a check of their inertias."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robodyn.formats.inertia import check_inertias

if TYPE_CHECKING:
    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.stewart.model import StewartModel
    from robodyn.model.body import Body


def named_bodies(model: StewartModel) -> list[tuple[str, Body]]:
    """Every body that moves: the platform, then the lower and the upper part of each leg."""
    lower = [(f"leg{number} lower", leg.lower) for number, leg in enumerate(model.legs, start=1)]
    upper = [(f"leg{number} upper", leg.upper) for number, leg in enumerate(model.legs, start=1)]
    return [("platform", model.platform), *lower, *upper]


def check_bodies(model: StewartModel, *, strict: bool) -> None:
    """Warn about unphysical inertias, or reject them with `strict=True`.

    Raises:
        UnphysicalInertia: with `strict=True`.
    """
    bodies = [(name, body.inertia) for name, body in named_bodies(model)]
    check_inertias(model.source, [*bodies, *_too_small_for_rotors(model)], strict=strict)


def _too_small_for_rotors(model: StewartModel) -> list[tuple[str, FloatArray]]:
    """What is left of lower parts whose inertia about the leg does not even hold their rotor."""
    left = []
    for number, leg in enumerate(model.legs, start=1):
        axial = leg.lower.inertia[0, 0]
        if leg.actuator.spin_inertia and axial < leg.actuator.rotor_inertia:
            rest = np.diag([axial - leg.actuator.rotor_inertia, axial, axial])
            left.append((f"leg{number} lower without its actuator's rotor", rest))
    return left
