# SPDX-License-Identifier: Apache-2.0

"""Mechanisms with springs at their joints and between points."""

from dataclasses import replace
from functools import cache

import robodyn as rd
from robodyn.model import LinearSpring, PointSpring

NAMES = ("motion_platform", "stanford_arm", "delta", "hexapod_rotary")
BRACED = NAMES[::2]


@cache
def sprung(name):
    """Return a mechanism with springs at its joints (of a platform, along its legs).

    A platform and a delta have springs between points of base and body, too.
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
        model = replace(model, springs=(strut, gas))
    return m._made(model)
