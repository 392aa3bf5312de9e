# SPDX-License-Identifier: Apache-2.0

"""Motors that lead by the static deflection of their drives."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.trajectories import SagCompensation

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.slow]


def elastic(name):
    m = rd.load(name).without_friction()
    k = np.array([a.reflected_inertia for a in m.actuators]) * (2.0 * np.pi * 15.0) ** 2
    return m.with_drive_stiffness(k, 2e-3 * k)


def moving(m):
    goal = m.advance(m.home, 0.05 * np.ones(m.coordinates.velocity_size))
    return rd.plan_straight(m, m.home, goal, duration=0.6)


@pytest.mark.parametrize("name", ["motion_platform", "delta", "puma560"])
def test_the_joints_arrive_where_they_sagged_before(name):
    """Simulated with elastic drives and feedback from the motors."""
    m = elastic(name)
    plan, off = moving(m), []
    goal = plan.sample(plan.duration).configuration
    for motion in (plan, SagCompensation(m, plan)):
        result = rd.simulate(
            m, rd.ComputedTorque(m, 900.0, 60.0), motion, dt=5e-4, control_dt=1e-3, duration=3.0,
            initial=(m.home, np.zeros(m.coordinates.velocity_size)), end_stops=None,
            limit_efforts=False,
        )  # fmt: skip
        off.append(np.abs(m.difference(goal, result.configuration[-1])).max())
    assert off[1] < 0.02 * off[0]
    assert off[0] > 1e-5


def test_the_motors_hold_the_planned_configuration():
    m = elastic("motion_platform").with_payload(200.0, [0.1, 0.0, 0.3])
    plan = moving(m)
    motion = SagCompensation(m, plan)
    t = np.linspace(0.1, 0.5, 5)
    at, motors = plan.sample(t).configuration, motion.sample(t).configuration
    stiffness = np.array([a.stiffness for a in m.actuators])
    held = stiffness * (m.joint_positions(motors) - m.joint_positions(at))
    np.testing.assert_allclose(held, m.gravity(at), rtol=1e-6, atol=1e-6)
    # the rates belong to the configurations
    near = [motion.sample(t + step).configuration for step in (-1e-4, 1e-4)]
    rates = m.difference(*near) / 2e-4
    np.testing.assert_allclose(rates, motion.sample(t).velocity, rtol=1e-3, atol=1e-6)


def test_rigid_drives_do_not_sag():
    m = rd.load("delta")
    with pytest.raises(rd.InvalidInput, match=r"are rigid.*`stiffness`"):
        SagCompensation(m, moving(m))
