# SPDX-License-Identifier: Apache-2.0

"""Laws of mechanics for any arm, on random arms in each run."""

import numpy as np
import pytest
from serial_arms import arm_from_urdf, random_arm, random_urdf

import robodyn as rd
from robodyn.algorithms import stepping
from robodyn.solvers.serial.arm import INVERSE_METHODS
from robodyn.trajectories import plan_joints


def near(value, expected, tolerance=1e-9):
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    assert np.abs(np.asarray(value) - expected).max(initial=0.0) < tolerance * scale


@pytest.mark.parametrize("n", [1, 5, 12])
def test_all_methods_agree(rng, n):
    arm = random_arm(rng, n)
    q, qd, qdd = rng.uniform(-2, 2, (3, 4, n))
    wrench = rng.normal(size=(4, 6))
    tau = arm.inverse_dynamics(q, qd, qdd, wrench)
    for method in INVERSE_METHODS:
        near(arm.inverse_dynamics(q, qd, qdd, wrench, method), tau, 1e-11)
    M = arm.mass_matrix(q)
    near(arm.mass_matrix(q, "strobing"), M, 1e-11)
    near(np.swapaxes(M, -1, -2), M, 1e-14)
    assert (np.linalg.eigvalsh(M) > 0.0).all()
    closed_form = np.einsum("sij,sj->si", M, qdd) + arm.bias(q, qd)
    near(closed_form - np.einsum("ski,sk->si", arm.jacobian(q), wrench), tau, 1e-11)
    for method in ("articulated_body", "strobing"):
        near(arm.forward_dynamics(q, qd, tau, wrench, method), qdd, 1e-9 * np.linalg.cond(M).max())


def test_strobed_coriolis_terms(arm, state):
    q, qd, _ = state
    C = arm.coriolis_matrix(q, qd)
    velocity_terms = arm.bias(q, qd, friction=False) - arm.gravity(q)
    near(C @ qd, velocity_terms, 1e-10)
    christoffel = arm.christoffel(q)
    near(np.swapaxes(christoffel, -1, -2), christoffel, 1e-15)
    near(np.einsum("ijk,j,k->i", christoffel, qd, qd), velocity_terms, 1e-10)


def test_the_jacobian_is_the_derivative_of_the_kinematics(arm, state):
    q, qd, _ = state
    step = 1e-6
    ahead, backward = arm.forward_kinematics([q + step * qd, q - step * qd])
    twist = arm.jacobian(q) @ qd
    near((ahead[:3] - backward[:3]) / (2 * step), twist[:3], 1e-7)
    # omega = 2 (dq/dt) q^-1, vector part
    sign = np.sign(ahead[3:] @ backward[3:])
    rate, unit = (ahead[3:] - sign * backward[3:]) / (2 * step), arm.forward_kinematics(q)[3:]
    rate = rate * np.sign(ahead[3:] @ unit)
    omega = 2 * (unit[3] * rate[:3] - rate[3] * unit[:3] - np.cross(rate[:3], unit[:3]))
    near(omega, twist[3:], 1e-6)


def test_gravity_is_the_gradient_of_potential_energy(arm, state):
    q, rest, step = state[0], np.zeros(arm.n), 1e-5
    slopes = [
        (arm.energy(q + step * e, rest)[1] - arm.energy(q - step * e, rest)[1]) / (2 * step)
        for e in np.eye(arm.n)
    ]
    near(arm.gravity(q), slopes, 1e-7)


def test_power_of_the_efforts_is_change_of_energy_and_friction(arm, state):
    q, qd, qdd = state
    step = 1e-5

    def total(t):
        return sum(arm.energy(q + t * qd + 0.5 * t * t * qdd, qd + t * qdd))

    change = (total(step) - total(-step)) / (2 * step)
    joints = arm.chain.joints
    loss = sum(
        j.damping * rate**2 + j.friction[0 if rate > 0 else 1] * abs(rate)
        for j, rate in zip(joints, qd, strict=True)
    )
    power = arm.inverse_dynamics(q, qd, qdd) @ qd
    assert loss > 0.0
    near(power, change + loss, 1e-6 * max(1.0, np.abs(arm.inverse_dynamics(q, qd, qdd)).max()))


def test_energy_is_kept_without_friction_and_lost_with_it(rng):
    arm = random_arm(rng, 4)
    free = arm.without_friction()
    q, qd, nothing = arm.home, rng.uniform(-1, 1, 4), np.zeros(4)
    before = sum(arm.energy(q, qd))
    coarse, fine = (
        abs(
            sum(free.energy(*stepping.step(free, q, qd, nothing, np.zeros(6), 0.2 / k, k))) - before
        )
        for k in (200, 400)
    )
    assert fine < 1e-7 * max(1.0, abs(before))
    assert fine < 0.2 * coarse or coarse < 1e-10
    assert sum(arm.energy(*stepping.step(arm, q, qd, nothing, np.zeros(6), 1e-3, 100))) < before


def test_friction_opposes_motion_and_is_absent_at_rest(bundled):
    arm = bundled("puma560")
    rest = np.zeros(6)
    near(arm.bias(arm.home, rest), arm.gravity(arm.home), 1e-15)
    for direction, side in ((1.0, 0), (-1.0, 1)):
        crawl = np.full(6, direction * 1e-9)
        extra = arm.bias(arm.home, crawl) - arm.bias(arm.home, crawl, friction=False)
        near(extra, [direction * joint.friction[side] for joint in arm.chain.joints], 1e-6)


def test_turning_base_and_gravity_together_changes_nothing(rng):
    text = random_urdf(rng, 5)
    upright = arm_from_urdf(text)
    turned = text.replace(
        '<link name="base_link"/>',
        '<link name="world"/><link name="base_link"/><joint name="stand" type="fixed">'
        '<parent link="world"/><child link="base_link"/>'
        '<origin xyz="1 -2 3" rpy="0.4 1.1 -2.0"/></joint>',
    )
    in_world = arm_from_urdf(turned)
    q, qd, qdd = rng.uniform(-1, 1, (3, 5))
    near(in_world.mass_matrix(q), upright.mass_matrix(q), 1e-11)
    # seen from the tilted base, gravity tilts: the same arm, the same efforts
    tilted = arm_from_urdf(turned, base_link="base_link")
    near(tilted.inverse_dynamics(q, qd, qdd), in_world.inverse_dynamics(q, qd, qdd), 1e-11)
    assert np.abs(tilted.model.gravity - upright.model.gravity).max() > 1.0


def test_a_payload_is_one_more_body_at_the_tip(rng):
    arm = random_arm(rng, 4)
    q, qd, qdd = rng.uniform(-1, 1, (3, 4))
    mass, rest = 2.5, np.zeros(4)
    loaded = arm.with_payload(mass)
    near(loaded.gravity(q), arm.gravity(q) - arm.jacobian(q)[:3].T @ [0, 0, -9.81 * mass], 1e-12)
    linear = arm.jacobian(q)[:3]
    near(loaded.mass_matrix(q), arm.mass_matrix(q) + mass * linear.T @ linear, 1e-12)
    near(arm.with_payload(0.0).inverse_dynamics(q, qd, qdd), arm.inverse_dynamics(q, qd, qdd))
    near(loaded.bias(q, rest), loaded.gravity(q))


PENDULUM = """<robot name="p"><link name="a"/><link name="b"><inertial><origin xyz="0 0 -0.5"/>
<mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="{kind}"><parent link="a"/><child link="b"/><axis xyz="0 2 0"/>{more}</joint>
</robot>"""


def test_a_pendulum(rng):
    """One joint, by hand: tau = (I + m l^2) qdd + m g l sin q."""
    arm = arm_from_urdf(PENDULUM.format(kind="continuous", more=""))
    q, qdd = rng.normal(size=(2, 1))
    near(arm.inverse_dynamics(q, [3.0], qdd), 0.7 * qdd + 9.81 * np.sin(q), 1e-12)
    assert isinstance(arm, rd.SerialArm)
    assert arm.condition_number(q) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["revolute", "continuous"])
def test_a_joint_that_turns_for_ever_has_no_ends(kind):
    """URDF: lower and upper of a continuous joint mean nothing; its velocity and effort count."""
    limit = '<limit lower="-1" upper="0.5" velocity="3" effort="40"/>'
    arm = arm_from_urdf(PENDULUM.format(kind=kind, more=limit))
    expected = [-np.inf, np.inf] if kind == "continuous" else [-1.0, 0.5]
    assert arm.position_limits.tolist() == [expected]
    assert (arm.velocity_limits.tolist(), arm.effort_limits.tolist()) == ([3.0], [40.0])
    # two turns: a motion, and not a place that cannot be reached
    broken = rd.check_limits(arm, plan_joints([0.0], [4.0 * np.pi], 100.0))
    assert (broken is None) == (kind == "continuous")
