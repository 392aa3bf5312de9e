# SPDX-License-Identifier: Apache-2.0

"""Leading dimensions: broadcast, kept, and allowed to be empty."""

import numpy as np
from stewart_mechanisms import random_motion


def answers(platform, pose, twist, accel, forces):
    lengths = platform.joint_positions(pose)
    return {
        "inverse_kinematics": platform.inverse_kinematics(pose),
        "jacobian": platform.jacobian(pose),
        "condition_number": platform.condition_number(pose, 0.3),
        **platform.leg_motion(pose, twist, accel)._asdict(),
        **platform.joint_states(pose, twist)._asdict(),
        "forward_kinematics": platform.forward_kinematics(lengths, pose),
        **platform.forward_kinematics(lengths, pose, rates=twist, accelerations=accel)._asdict(),
        "inverse_dynamics": platform.inverse_dynamics(pose, twist, accel, forces),
        "1998": platform.inverse_dynamics(pose, twist, accel, formulation="dasgupta1998"),
        "mass_matrix": platform.mass_matrix(pose),
        "bias": platform.bias(pose, twist),
        "forward_dynamics": platform.forward_dynamics(pose, twist, forces),
        **platform.reactions(pose, twist, accel)._asdict(),
        **platform.energy(pose, twist)._asdict(),
        "state_matrix": platform.linearize(pose).state_matrix,
    }


def test_a_batch_is_its_elements(rng, platform):
    pose, twist, accel, forces = random_motion(rng, platform, (2, 3))
    batch = answers(platform, pose, twist, accel, forces)
    names = batch.pop("names")
    for index in np.ndindex(2, 3):
        single = answers(platform, pose[index], twist[index], accel[index], forces[index])
        assert single.pop("names") == names
        for name, value in single.items():
            np.testing.assert_allclose(batch[name][index], value, rtol=1e-12, atol=1e-9)
            assert np.shape(value) == batch[name].shape[2:], name


def test_empty_batches_stay_empty(platform):
    empty = np.empty((0, 6))
    batch = answers(platform, np.empty((0, 7)), empty, empty, empty)
    del batch["names"]
    for name, value in batch.items():
        assert value.shape[0] == 0, name
    assert platform.forward_kinematics(empty, warm_start=True).shape == (0, 7)
