# SPDX-License-Identifier: Apache-2.0

"""Frequency responses against simulations of the nonlinear mechanism with elastic drives."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.poses import pose_difference

PENDULUM = """
<robot name="pendulum">
  <link name="base"/>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="pivot" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" effort="100" velocity="10"/></joint>
</robot>
"""


def amplitude(derivative, state, advance, output, frequency, periods, per_period=40):
    """Integrate by Runge-Kutta of order 4; return the complex amplitude in the last period."""
    dt, values = 1.0 / (frequency * per_period), []
    for i in range(periods * per_period):
        t = i * dt
        if i >= (periods - 1) * per_period:
            values.append(output(t, state))
        a = derivative(t, state)
        b = derivative(t + dt / 2, advance(state, a, dt / 2))
        c = derivative(t + dt / 2, advance(state, b, dt / 2))
        d = derivative(t + dt, advance(state, c, dt))
        mean = [(x + 2 * y + 2 * z + w) / 6 for x, y, z, w in zip(a, b, c, d, strict=True)]
        state = advance(state, mean, dt)
    phase = np.exp(-2j * np.pi * np.arange(per_period) / per_period)
    return 2.0 * phase @ np.array(values) / per_period


@pytest.mark.slow
@pytest.mark.parametrize("name", ["delta", "motion_platform"])
@pytest.mark.parametrize("axis", [0, 4])
def test_a_base_that_shakes_moves_the_body(name, axis):
    m = rd.load(name).without_actuators().without_friction()
    m = m.with_drive_stiffness({"delta": 2e3, "motion_platform": 2e6}[name])
    first = m.modes(m.home).frequencies[0]
    stiffness = m.actuators[0].stiffness
    damping = 0.4 * stiffness / (2 * np.pi * first)
    m = m.with_drive_stiffness(stiffness, damping)
    frequency, nv = 0.8 * float(first), len(m.joint_names)
    w, size, q0 = 2 * np.pi * frequency, 1e-6, m.home
    held, start, body = m.gravity(q0), m.joint_positions(q0), m.body_pose(q0)
    unit = size * np.eye(6)[axis]

    def base(t):
        pose = rd.poses.advance_pose([0, 0, 0, 0, 0, 0, 1.0], np.cos(w * t) * unit)
        return rd.BaseMotion.of(pose, -w * np.sin(w * t) * unit, -(w**2) * np.cos(w * t) * unit)

    def derivative(t, state):
        q, v = state
        wound = m.joint_positions(q) - start
        efforts = held - stiffness * wound - damping * m.joint_velocities(q, v)
        return v, m.forward_dynamics(q, v, efforts, base=base(t))

    def advance(state, rates, dt):
        return m.advance(state[0], dt * rates[0]), state[1] + dt * rates[1]

    found = amplitude(
        derivative, (q0, np.zeros(nv)), advance,
        lambda _, state: pose_difference(body, m.body_pose(state[0])), frequency, 8,
    ) / size  # fmt: skip
    relative = rd.frequency_response(m, q0, [frequency], "base")[0, :, axis]
    relative = relative - carried(body[:3])[:, axis]
    assert np.abs(found - relative).max() < 0.005 * np.abs(relative).max()


def motors_inertia(m):
    """Return the rotors' inertias (n,) at the joints."""
    return np.array([each.reflected_inertia for each in m.actuators])


def carried(at):
    """Return the map of a base's displacement to that of a point of it."""
    out = np.eye(6)
    out[:3, 3:] = [[0, at[2], -at[1]], [-at[2], 0, at[0]], [at[1], -at[0], 0]]
    return out


@pytest.mark.parametrize("output", ["body", "efforts"])
def test_motors_under_control_follow_a_simulation(output, recwarn):
    m, kp, kv = rd.load("puma560").without_friction(), 100.0, 20.0
    q0, bare, rotors = m.home + 0.3, m.without_actuators(), motors_inertia(m)
    # both masses of each joint against each other at 40 Hz
    between = 1.0 / (1.0 / rotors + 1.0 / np.diag(bare.mass_matrix(q0)))
    k, c = (80.0 * np.pi) ** 2 * between, 80.0 * np.pi * between
    m = m.with_drive_stiffness(k, c)
    held, at, frequency = m.gravity(q0), m.body_pose(q0), 4.0
    w, amount = 2 * np.pi * frequency, 1e-4 * np.eye(6)[1]

    def transmitted(state):
        q, v, motor, rate = state
        return held + k * (motor - q + q0) + c * (rate - v)

    def derivative(t, state):
        q, v, motor, rate = state
        efforts = m.inverse_dynamics(q0 + motor, rate, -kp * motor - kv * rate)
        efforts = efforts + np.cos(w * t) * amount
        drive = transmitted(state)
        return v, bare.forward_dynamics(q, v, drive), rate, (efforts - drive) / rotors

    def advance(state, rates, dt):
        return tuple(x + dt * r for x, r in zip(state, rates, strict=True))

    def answer(_, state):
        if output == "efforts":
            return transmitted(state) - held
        return pose_difference(at, m.body_pose(state[0]))

    none = np.zeros(6)
    found = amplitude(derivative, (q0, none, none, none), advance, answer, frequency, 6, 400)
    expected = (
        rd.frequency_response(m, q0, [frequency], "efforts", output, kp=kp, kv=kv)[0] @ amount
    )
    assert np.abs(found - expected).max() < 0.005 * np.abs(expected).max()


def test_two_masses_on_an_elastic_drive_have_their_formula():
    inertia, rotor, k, c = 0.6, 0.25, 50.0, 0.4
    m = rd.load(PENDULUM, gravity=[0.0, 0.0, 0.0]).with_drive_stiffness(k, c)
    model = m.model.driven_by({"pivot": rd.Actuator(rotor_inertia=rotor, stiffness=k,
                                                    stiffness_damping=c)})  # fmt: skip
    m = m._made(model)
    s = 2j * np.pi * np.array([0.5, 2.0, 3.0])
    spring = k + s * c
    expected = spring / (inertia * rotor * s**4 + (inertia + rotor) * s**2 * spring)
    found = rd.frequency_response(m, [0.0], [0.5, 2.0, 3.0], "efforts")
    assert found[:, 3, 0] == pytest.approx(expected)


@pytest.mark.parametrize("name", ["motion_platform", "fivebar", "puma560"])
def test_slow_inputs_give_the_static_answer(name, recwarn):
    m = rd.load(name).with_drive_stiffness(1e6)
    q = np.array([m.home, m.advance(m.home, np.full(m.coordinates.velocity_size, 0.02))])
    slow = rd.frequency_response(m, q, [1e-4, 1e-3], "wrench")
    assert slow.shape == (2, 2, 6, 6)
    compliance = m.compliance(q)
    assert np.abs(slow[:, 0] - compliance).max() < 1e-6 * np.abs(compliance).max()
    weightless = rd.with_gravity(m, [0.0, 0.0, 0.0])
    carries = rd.frequency_response(weightless, q, [1e-4], "base")[:, 0]
    assert np.allclose(carries, [carried(m.body_pose(one)[:3]) for one in q], atol=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"input": "noise"}, "input is 'noise', expected one of base, wrench, efforts"),
        ({"kp": 100.0}, "expected both or neither"),
    ],
)
def test_wrong_requests_are_refused(given, message):
    m = rd.load("motion_platform").with_drive_stiffness(1e6)
    with pytest.raises(rd.InvalidInput, match=message):
        rd.frequency_response(m, m.home, [1.0], **given)
