# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Efforts of a motion taken apart: what is due to what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.errors import InvalidInput, KinematicsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.stewart.dynamics import Reactions
    from robodyn.trajectories.base import Motion

    Parts = tuple[FloatArray, dict[str, FloatArray], Reactions | None]


def platform_parts(
    platform: Any, motion: Motion, wrench: FloatArray | None, formulation: str
) -> Parts:
    """Total forces (N, 6), the massless and the dynamic part, and the exact reactions."""

    def forces(kind: str) -> Callable[..., FloatArray]:
        return lambda *state: platform.inverse_dynamics(*state, wrench, formulation=kind)

    total = _where_regular(forces(formulation), motion, (6,))
    massless = _where_regular(forces("massless"), motion, (6,))
    bare = _where_regular(lambda *state: _stacked(platform.reactions(*state, wrench)), motion,
                          (5, 6, 3))  # fmt: skip
    from robodyn.mechanisms.stewart.dynamics import Reactions

    reactions = Reactions(*np.moveaxis(bare, 1, 0))
    return total, {"massless": massless, "dynamic": total - massless}, reactions


def arm_parts(arm: Any, motion: Motion, wrench: FloatArray | None, formulation: str) -> Parts:
    """Total efforts (N, n) and what inertia, velocity, gravity, friction and a wrench add."""
    if formulation != "exact":
        raise InvalidInput(
            f"formulation is {formulation!r}, an arm knows exact only", value=formulation
        )
    q, qd, qdd = motion
    rest = np.zeros_like(q)
    gravity = arm.inverse_dynamics(q, rest, rest, friction=False)
    frictionless = arm.inverse_dynamics(q, qd, rest, friction=False)
    inertial = arm.inverse_dynamics(q, qd, qdd, friction=False) - frictionless
    unloaded = arm.inverse_dynamics(q, qd, qdd)
    parts = {
        "inertial": inertial,
        "coriolis": frictionless - gravity,
        "gravity": gravity,
        "friction": unloaded - frictionless - inertial,
    }
    if wrench is None:
        return unloaded, parts, None
    total = arm.inverse_dynamics(q, qd, qdd, wrench)
    return total, parts | {"wrench": total - unloaded}, None


def _stacked(reactions: Reactions) -> FloatArray:
    return np.stack(reactions, axis=-3)


def _where_regular(
    function: Callable[..., FloatArray], motion: Motion, core: tuple[int, ...]
) -> FloatArray:
    """The function of every row (N, *core), NaN where the mechanism has no answer."""
    try:
        return function(*motion)
    except KinematicsError:
        rows = np.full((len(motion.configuration), *core), np.nan)
    for row, state in zip(rows, zip(*motion, strict=True), strict=True):
        try:
            row[...] = function(*state)
        except KinematicsError:
            continue
    return rows
