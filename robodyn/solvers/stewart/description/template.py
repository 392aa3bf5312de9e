# SPDX-License-Identifier: Apache-2.0

"""Template of a hexapod's model file, from its main dimensions."""

from __future__ import annotations

import math
from typing import Any

from robodyn.errors import InvalidInput
from robodyn.parsing.template import Dimension, Template, cylinder_inertia
from robodyn.solvers.stewart.description.sides import JointCircle, symmetric_legs

# Half the angle between the joints of a pair [rad].
SPREAD = math.radians(9.0)


def hexapod(
    base_radius: float, platform_radius: float, height: float, stroke: float, payload: float
) -> dict[str, Any]:
    """Return the values of a hexapod template, from its main dimensions and payload.

    The values fill the placeholders of the model file; at home, the legs are half extended. Lengths
    are in m, the payload is in kg.

    Raises:
        InvalidInput: the legs are too short for the stroke.
    """
    mass = payload
    circles = (JointCircle(radius, SPREAD) for radius in (base_radius, platform_radius))
    centers = [(leg["base"], leg["platform"]) for leg in symmetric_legs(*circles)]
    length = math.dist(centers[0][0], [*centers[0][1][:2], height])
    shortest, longest = length - 0.5 * stroke, length + 0.5 * stroke
    if not shortest > stroke:
        raise InvalidInput(
            f"stroke is {stroke:g} m, but a leg of {length:.4g} m at home has no room for it; "
            f"give a stroke below {length / 1.5:.3g} m, or a greater height",
            value=stroke,
        )
    part = 0.65 * shortest  # length of each part of a leg
    lower, upper = max(0.04 * mass, 0.05), max(0.02 * mass, 0.025)
    radius = 0.06 * part
    # six times the force that supports the payload at rest, for accelerations and tilted poses
    effort = float(f"{6.0 * 9.81 * (mass + 3.0 * lower) * length / (6.0 * height):.2g}")
    legs = "\n".join(
        f"  - {{base: [{a[0]:.4f}, {a[1]:.4f}, 0], platform: [{b[0]:.4f}, {b[1]:.4f}, 0], "
        f"universal_axis: [{-a[1]:.4f}, {a[0]:.4f}, 0]}}"
        for a, b in centers
    )
    spin, tilt = cylinder_inertia(mass, platform_radius)
    lower_axial, lower_cross = cylinder_inertia(lower, radius, part)
    upper_axial, upper_cross = cylinder_inertia(upper, 0.5 * radius, part)
    return {
        "mass": mass, "tilt": tilt, "spin": spin, "lower": lower, "upper": upper,
        "half": 0.5 * part, "lower_axial": lower_axial, "lower_cross": lower_cross,
        "upper_axial": upper_axial, "upper_cross": upper_cross, "shortest": shortest,
        "longest": longest, "speed": float(f"{3.0 * stroke:.2g}"), "effort": effort, "legs": legs,
    }  # fmt: skip


TEMPLATE = Template(
    "hexapod",
    (
        Dimension("base_radius", 0.3, "radius of the circle of the base joints"),
        Dimension("platform_radius", 0.2, "radius of the circle of the platform's joints"),
        Dimension(
            "height", 0.35, "height of the platform above the base at home, legs half extended"
        ),
        Dimension("stroke", 0.1, "travel of an actuator"),
        Dimension("payload", 5.0, "mass on the legs, including the platform itself", "kg"),
    ),
    hexapod,
)
