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

"""Colours that the colour-blind tell apart (Okabe and Ito), the same in arrows and plots."""

from __future__ import annotations

ACTUATORS = (
    (0, 114, 178),
    (230, 159, 0),
    (0, 158, 115),
    (213, 94, 0),
    (204, 121, 167),
    (86, 180, 233),
)
INK = (60, 64, 70)
PLANNED = (150, 155, 160)
TRAVELLED = (0, 114, 178)
WARN = (230, 159, 0)
ERROR = (200, 40, 30)


def of_actuator(index: int) -> tuple[int, int, int]:
    """Colour of the actuator with this index from 0; they begin again after the sixth."""
    return ACTUATORS[index % len(ACTUATORS)]


def linear(color: tuple[int, int, int]) -> tuple[int, int, int]:
    """The colour as viser's arrows want it: they take sRGB for linear light and look faded."""
    red, green, blue = (round(255 * (part / 255) ** 2.2) for part in color)
    return red, green, blue


def css(color: tuple[int, int, int]) -> str:
    """The colour as CSS writes it."""
    return "#{:02x}{:02x}{:02x}".format(*color)
