# SPDX-License-Identifier: Apache-2.0

"""The speed profiles that a motion can be asked for by name."""

from __future__ import annotations

from robodyn.errors import InvalidInput
from robodyn.trajectories.profiles import PEAK_SPEED

TIME_OPTIMAL = "time_optimal"
PROFILES = (*PEAK_SPEED, TIME_OPTIMAL)


def check_profile(name: str) -> None:
    """Refuse an unknown profile name.

    Raises:
        InvalidInput: lists the known ones.
    """
    if name not in PROFILES:
        raise InvalidInput(
            f"profile is {name!r}, expected one of {', '.join(PROFILES)}", value=name
        )
