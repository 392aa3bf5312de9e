# SPDX-License-Identifier: Apache-2.0

"""Colors for arrows and plots that color-blind people can distinguish (Okabe and Ito)."""

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
ROD = (120, 124, 130)
TRAVELED = (0, 114, 178)
WARN = (230, 159, 0)
ERROR = (200, 40, 30)


def of_actuator(index: int) -> tuple[int, int, int]:
    """Return the color (red, green, blue) of an actuator, 0 to 255; six colors repeat."""
    return ACTUATORS[index % len(ACTUATORS)]


def linear(color: tuple[int, int, int]) -> tuple[int, int, int]:
    """Convert an sRGB color to linear light, as viser's arrows require."""
    red, green, blue = (round(255 * (part / 255) ** 2.2) for part in color)
    return red, green, blue


def css(color: tuple[int, int, int]) -> str:
    """Format a color (red, green, blue) for CSS, such as `#0072b2`."""
    return "#{:02x}{:02x}{:02x}".format(*color)
