# SPDX-License-Identifier: Apache-2.0

"""A commented delta robot to start from: a YAML file and its URDF, made of main dimensions."""

from __future__ import annotations

import math
from typing import Any

from robodyn.errors import InvalidInput
from robodyn.mechanisms.common.template import Dimension, Template, cylinder_inertia, template_text

# The motors' angle at home [rad], and the ends of their travel.
HOME, UP, DOWN = 0.35, -0.7, 1.4
# Of the motors' rotors [kg m^2], and their gears' ratio.
ROTOR, RATIO = 1.2e-4, 33


def delta(
    base_radius: float, platform_radius: float, arm: float, rod: float, payload: float
) -> dict[str, Any]:
    """Fields of a delta's files.

    Raises:
        InvalidInput: rods that do not reach the platform.
    """
    widest = base_radius + arm - platform_radius
    if not rod > 1.05 * widest:
        raise InvalidInput(
            f"rod is {rod:g} m, too short: with the arms level the rods span {widest:.4g} m to the "
            f"platform; give rods of {1.3 * widest:.3g} m or more",
            value=rod,
        )
    away = base_radius + arm * math.cos(HOME) - platform_radius  # from elbow to platform, at home
    down = math.sqrt(rod**2 - away**2)
    arm_mass, rod_mass = 3.0 * arm, 0.16 * rod  # tubes of carbon fibre with their fittings
    radius, thin = 0.06 * arm, 0.009 * rod
    width = 0.15 * arm
    arm_axial, arm_cross = cylinder_inertia(arm_mass, radius, arm)
    rod_axial, rod_cross = cylinder_inertia(rod_mass, thin, rod)
    spin, tilt = cylinder_inertia(payload, platform_radius)
    # five times what holds it with level arms, and a fast start of the rotors
    weight = payload + 3.0 * arm_mass + 6.0 * rod_mass
    effort = float(f"{5.0 * 9.81 * arm * weight / 3.0 + 150.0 * ROTOR * RATIO**2:.2g}")
    chains = ""
    for i in range(3):
        angle = i * 2.0 * math.pi / 3.0
        c, s = math.cos(angle), math.sin(angle)
        chains += template_text("delta_arm.urdf").format(
            i=i + 1,
            degrees=120 * i,
            x=base_radius * c,
            y=base_radius * s,
            angle=angle,
            up=UP,
            down=DOWN,
            effort=effort,
            speed=12,
            arm=arm,
            half_arm=0.5 * arm,
            arm_mass=arm_mass,
            arm_axial=arm_axial,
            arm_cross=arm_cross,
            radius=radius,
        )
        for side, across in (("a", width), ("b", -width)):
            chains += template_text("delta_rod.urdf").format(
                i=i + 1,
                side=side,
                arm=arm,
                across=across,
                pitch=math.atan2(down, -away) - HOME,
                rod=rod,
                half_rod=0.5 * rod,
                rod_mass=rod_mass,
                rod_axial=rod_axial,
                rod_cross=rod_cross,
                thin=thin,
                goal_x=platform_radius * c - across * s,
                goal_y=platform_radius * s + across * c,
            )
    return {
        "home": HOME, "rotor": ROTOR, "ratio": RATIO, "reflected": ROTOR * RATIO**2,
        "plate": 0.1 * base_radius, "height": -(arm * math.sin(HOME) + down), "tilt": tilt,
        "spin": spin, "radius": radius, "tool": -0.2 * arm, "chains": chains,
    }  # fmt: skip


TEMPLATE = Template(
    "delta",
    (
        Dimension("base_radius", 0.2, "radius of the circle of the motors"),
        Dimension("platform_radius", 0.05, "radius of the circle of the rods' ends"),
        Dimension("arm", 0.3, "length of an arm, between its axes"),
        Dimension("rod", 0.7, "length of a rod, between its joints"),
        Dimension("payload", 0.7, "mass of the platform with all that it carries", "kg"),
    ),
    delta,
    (".urdf",),
)
