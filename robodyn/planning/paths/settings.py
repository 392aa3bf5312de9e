# SPDX-License-Identifier: Apache-2.0

"""Settings of path planning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from robodyn.trajectories.profiles import ProfileName


@dataclass(frozen=True)
class PathSettings:
    """Settings of path planning: bounds, timing and search.

    Attributes:
        condition_limit: largest permitted condition number of the Jacobian along the path; by
            default 1000 for mechanisms that can become uncontrollable (platforms, closed loops),
            and no limit for an arm.
        singular_value_limit: least permitted singular value of the Jacobian along the path.
        characteristic_length: [m] length by which moments are divided for both limits; 1 for the
            condition number of the papers.
        clearance: [m] least distance between links, computed from capsules around their shapes;
            None to ignore collisions.
        within_limits: whether to respect the position limits of the driven joints.
        duration: [s] duration of the motion; by default it follows from `v_max` and `w_max` or,
            without these, from the driven joints' velocity limits.
        v_max: largest speed, [m/s] of a platform, [rad/s or m/s] of joints.
        w_max: largest angular speed [rad/s] of a platform.
        profile: `lspb`, `cubic`, `quintic` or `cycloidal`, from rest to rest.
        step: [rad] distance between samples of the search; a translation by the mechanism's size
            (for a platform, by its `characteristic_length`) counts as one radian.
        seed: seed of the random numbers.
        timeout: [s] time limit of the search.
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
