# SPDX-License-Identifier: Apache-2.0

"""Damping that is strong for the step: integrated implicitly, only where it has to be."""

from dataclasses import replace

import numpy as np
import pytest

import robodyn as rd
from robodyn.control import ComputedTorque
from robodyn.dynamics import joint_friction
from robodyn.simulation import Plant


def damped(name, damping):
    """A bundled arm whose wrist is damped, without dry friction."""
    arm = rd.load(name).without_friction()
    joints = list(arm.model.joints)
    joints[4] = replace(joints[4], damping=damping)
    return rd.SerialArm(replace(arm.model, joints=tuple(joints)))


def after(arm, dt, time=0.2):
    velocity = np.full(arm.n, 0.5)
    velocity[4] = 0.0
    plant = Plant(arm, velocity=velocity, dt=dt, end_stops=None)
    plant.hold(0.9 * arm.gravity(arm.home), round(time / dt))
    return np.concatenate([plant.configuration, plant.velocity])


@pytest.mark.slow
def test_a_joint_whose_rate_decays_within_a_fraction_of_the_step():
    """In steps of 1 ms: as in steps of 2 us, which follow the decay explicitly; of order 2."""
    arm = damped("stanford_arm", 2e4)
    assert arm.solver.friction.decay * 1e-3 > 100.0  # explicit steps diverge at once
    coarse, fine, reference = (after(arm, dt, 0.1) for dt in (2e-3, 1e-3, 2e-6))
    near = np.abs(fine - reference).max()
    assert near < 2e-7
    assert np.abs(coarse - reference).max() > 3.5 * near


def test_a_body_that_sinks_through_treacle_sinks_at_the_right_speed():
    """One joint, m v' = f - d v with d h / m = 50, from rest: the exact position."""
    from test_sticking import slider

    joint = replace(slider().model.joints[0], damping=1e5)
    arm = rd.SerialArm(replace(slider().model, joints=(joint,)))
    plant = Plant(arm, [0.0])
    plant.hold([20.0], 1000)
    assert plant.velocity[0] == pytest.approx(20.0 / 1e5, rel=1e-9)
    assert plant.configuration[0] == pytest.approx(20.0 / 1e5 * (1.0 - 2e-5), rel=2e-4)


def test_nonstiff_mechanism_takes_the_usual_steps(monkeypatch):
    """Watched but not stiff: to the last bit what the usual loop has, and of order 4."""
    arm = damped("stanford_arm", 5.0)
    assert not arm.solver.friction.needs_hybrid_step(1e-3)
    usual = after(arm, 1e-3)
    monkeypatch.setattr("robodyn.dynamics.joint_friction.STIFF_DECAY", 0.0)
    watched = damped("stanford_arm", 5.0)
    assert watched.solver.friction.needs_hybrid_step(1e-3)
    np.testing.assert_allclose(after(watched, 1e-3), usual, rtol=1e-11, atol=1e-13)
    reference = after(watched, 2.5e-4)
    errors = [np.abs(after(watched, dt) - reference).max() for dt in (4e-3, 2e-3)]
    assert errors[1] < errors[0] / 12.0


def test_a_strongly_damped_arm_follows_its_path_under_computed_torque():
    """Compensated for the planned rate: at 100 Hz, where the rate is gone in 1 ms."""
    arm = damped("stanford_arm", 2e3)
    assert joint_friction.without_planned_friction(arm) is not arm
    goal = arm.home + 0.1
    plan = rd.plan_joints(arm.home, goal, duration=1.0)
    start = plan.sample(0.0)
    off = start.configuration + 0.02, start.velocity
    run = rd.simulate(arm, ComputedTorque(arm), plan, initial=off, duration=2.0,
                      limit_efforts=False)  # fmt: skip
    np.testing.assert_allclose(run.configuration[-1], goal, atol=1e-3)


# As many makers publish their arms: shapes and limits, and no <inertial>.
FOR_DRAWING = """
<robot name="support_package"><link name="base_link"/><link name="link_1"/><link name="tool0"/>
<joint name="joint_1" type="revolute"><parent link="base_link"/><child link="link_1"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="2" effort="0"/></joint>
<joint name="joint_1-tool0" type="fixed"><parent link="link_1"/><child link="tool0"/></joint>
</robot>
"""


@pytest.mark.filterwarnings("ignore::robodyn.errors.MissingInertiaWarning")
def test_of_an_arm_without_masses_it_is_not_the_step():
    plant = Plant(rd.load(FOR_DRAWING), dt=1e-3)
    with pytest.raises(rd.SimulationFailed, match="but not dynamics") as caught:
        plant.hold(np.zeros(1), 1)
    assert "shorter step" not in str(caught.value)
