# SPDX-License-Identifier: Apache-2.0

"""Mechanisms with springs at their joints, between points and in their drives."""

import math
from dataclasses import replace
from functools import cache

import robodyn as rd
from robodyn.model import LinearSpring, PointSpring

NAMES = ("motion_platform", "stanford_arm", "delta", "hexapod_rotary")
BRACED = NAMES[::2]


@cache
def sprung(name):
    """Return a mechanism with springs at its joints (of a platform, along its legs).

    A platform and a delta have springs between points of base and body, too, among them a bungee
    that is taut at home and one that is slack; the delta has them at its ball joints.
    """
    m = rd.load(name)
    own = m.joint_names if name == "motion_platform" else [
        joint.name for joint in m.model.joints if joint.moves_alone
    ]  # fmt: skip
    springs = {n: LinearSpring(40.0 + 3.0 * k, 0.1 - 0.02 * k, 2.0 - k) for k, n in enumerate(own)}
    model = m.model.with_joint_springs(springs)
    if name in BRACED:
        ends = m.model.base_link, m.model.tip_link
        strut = PointSpring("strut", *ends, [0.1, 0.2, 0.0], [0.05, 0.0, 0.1],
                            LinearSpring(2e3, 0.5, 20.0), 30.0)  # fmt: skip
        gas = PointSpring("gas", *ends[::-1], [-0.1, 0.0, 0.0], [0.3, 0.1, 0.4],
                          LinearSpring(120.0, 0.4, -350.0))  # fmt: skip
        law = LinearSpring(300.0, 0.2, 5.0), 0.0, True
        taut = PointSpring("taut", *ends, [0.0, 0.4, 0.9], [0.1, 0.0, 0.0], *law)
        law = LinearSpring(300.0, 4.0), 0.0, True
        slack = PointSpring("slack", *ends, [0.2, 0.4, 0.9], [0.0, 0.1, 0.0], *law)
        model = replace(model, springs=(strut, gas, taut, slack))
    if name == "delta":
        balls = (replace(ball, stiffness=3.0 + k) for k, ball in enumerate(model.closures))
        model = replace(model, closures=tuple(balls))
    return m._made(model)


def elastic(m):
    """Return the mechanism with drives whose rotors swing 20 times a second when free."""
    k = [(2.0 * math.pi * 20.0) ** 2 * a.reflected_inertia for a in m.actuators]
    return m.with_drive_stiffness(k, [1e-3 * one for one in k])
