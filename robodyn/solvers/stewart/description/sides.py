# SPDX-License-Identifier: Apache-2.0

"""Joint centers of hexapods with threefold symmetry, in pairs on two circles."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.formats.documents import Fields
from robodyn.poses import pose_from_rpy


class JointCircle(NamedTuple):
    """Circle with three pairs of joints: radius [m], and half the angle [rad] within a pair."""

    radius: float
    spread: float

    @classmethod
    def of_sides(cls, short: float, long: float) -> JointCircle:
        """Compute the circle from the distances [m] between joints, within and between pairs.

        With the radius r and half the angle s within a pair, the distances are the chords
        short = 2 r sin(s) and long = 2 r sin(60 degrees - s).
        """
        radius = math.sqrt((short**2 + long**2 + short * long) / 3.0)
        return cls(radius, math.asin(0.5 * short / radius))

    def joints(self, first: float) -> FloatArray:
        """Compute the joint centers (6, 3) [m] of three pairs of joints on the circle.

        `first` [rad] is the angle of the first pair's center; the others follow at 120 degrees.
        """
        angles = first + np.repeat(2.0 * math.pi / 3.0 * np.arange(3), 2)
        angles = angles + np.tile([-self.spread, self.spread], 3)
        return self.radius * np.stack([np.cos(angles), np.sin(angles), np.zeros(6)], axis=-1)


def symmetric_legs(base: JointCircle, platform: JointCircle) -> list[dict[str, Any]]:
    """Return the model-file fields of six legs: joint centers and universal-joint axes.

    Neighboring legs lean towards each other: the two legs of a pair at the base lead to different
    pairs at the platform.
    """
    feet = np.roll(base.joints(0.0), -1, axis=0)
    tips = platform.joints(math.pi / 3.0)
    return [
        {"base": a.tolist(), "platform": b.tolist(), "universal_axis": [-a[1], a[0], 0.0]}
        for a, b in zip(feet, tips, strict=True)
    ]


def legs_of_sides(sides: Fields) -> list[Fields]:
    """Return the model-file fields of six legs, given the distances between neighboring joints.

    Raises:
        ModelError: a distance is missing, or not above 0; a short side is longer than the long one.
    """
    sides.only("base", "platform")
    circles = []
    for name in ("base", "platform"):
        short, long = sides.array(name, (2,), "m").tolist()
        if not 0.0 < short <= long:
            expected = "[within a pair, between pairs] with 0 < the first <= the second [m]"
            raise sides.refuse(name, [short, long], expected)
        circles.append(JointCircle.of_sides(short, long))
    legs = symmetric_legs(*circles)
    return [Fields(leg, sides.source, f"legs[{k}]") for k, leg in enumerate(legs)]


def half_extended_pose(
    sides: Fields, foot: FloatArray, tip: FloatArray, limits: tuple[float, float]
) -> FloatArray:
    """Return the level pose (7,) of a symmetric platform whose legs are half extended.

    Args:
        sides: fields of the file that state the distances.
        foot, tip: (3,) [m] centers of a leg's joints.
        limits: lower and upper limit [m] of the legs' length.

    Raises:
        ModelError: the legs have no length limits, or are too short for the distances.
    """
    across, length = math.dist(foot[:2], tip[:2]), 0.5 * sum(limits)
    if not across < length < math.inf:
        expected = (
            "`limits.length` of the legs whose mean is finite and above "
            f"{across:.4g} m, or a pose `home`"
        )
        raise sides.refuse("base", sides.data["base"], expected)
    return pose_from_rpy([0.0, 0.0, math.sqrt(length**2 - across**2)], [0.0, 0.0, 0.0])
