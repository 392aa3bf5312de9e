# SPDX-License-Identifier: Apache-2.0

"""A URDF may measure its legs from another zero and in the other sense."""

from dataclasses import replace

import numpy as np
from six_legs import JointReading, six_legs, with_legs


def test_zero_and_sense_of_the_actuators_are_undone(dasgupta, rng):
    legs = []
    for i, leg in enumerate(six_legs(dasgupta).legs):
        actuator = JointReading(f"leg{i + 1}_actuator", (-1.0) ** i, rng.uniform(0.1, 0.9))
        legs.append(replace(leg, reading=actuator))
    platform = with_legs(dasgupta, legs)
    pose, twist = platform.advance(platform.home, 0.05 * rng.normal(size=6)), rng.normal(size=6)
    names, positions, velocities = platform.joint_states(pose, twist)
    driven = [names.index(name) for name in platform.joint_names]
    assert not np.allclose(positions[driven], platform.joint_positions(pose))
    lengths = platform.drives.signs * positions[driven] + platform.drives.offsets
    rates = platform.drives.signs * velocities[driven]
    assert np.allclose(lengths, platform.joint_positions(pose), rtol=0, atol=1e-12)
    assert np.allclose(rates, platform.joint_velocities(pose, twist), rtol=0, atol=1e-12)
