# SPDX-License-Identifier: Apache-2.0

"""Settings of a planned path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from robodyn.trajectories.profiles import ProfileName


@dataclass(frozen=True)
class PathSettings:
    """Bounds, timing and search of a planned path.

    Attributes:
        condition_limit: largest condition number along the path. By default 1000 where a
            mechanism can become uncontrollable (platforms, closed loops), none for an arm.
        singular_value_limit: smallest singular value of the Jacobian along the path.
        characteristic_length: [m] of both; 1 is the papers' condition number.
        clearance: [m] distance of the parts that are drawn from each other, by capsules around
            their shapes; None takes no notice of collisions.
        within_limits: keep to the limits of the driven joints' positions.
        duration: [s]; else from the limits of speed, else of the driven joints' rates.
        v_max: [m/s] of a platform, [rad/s or m/s] of joints.
        w_max: [rad/s] of a platform's rotation.
        profile: `lspb`, `cubic`, `quintic` or `cycloidal`, from rest to rest.
        step: [rad] between samples while searching; a translation by the mechanism's size is one
            radian (by `characteristic_length` of the mechanism where it is a platform).
        seed: of the random numbers.
        timeout: [s] after which to give up.
    """

    condition_limit: float | None = None
    singular_value_limit: float = 0.0
    characteristic_length: float = 1.0
    clearance: float | None = None
    within_limits: bool = True
    duration: float | None = None
    v_max: float | None = None
    w_max: float | None = None
    profile: ProfileName = "quintic"
    step: float = 0.02
    seed: int = 0
    timeout: float = 60.0


class PathOptions(TypedDict, total=False):
    """Fields of `PathSettings` as keyword arguments."""

    singular_value_limit: float
    characteristic_length: float
    clearance: float | None
    within_limits: bool
    duration: float | None
    v_max: float | None
    w_max: float | None
    profile: ProfileName
    step: float
    seed: int
    timeout: float
