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
