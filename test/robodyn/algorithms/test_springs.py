# SPDX-License-Identifier: Apache-2.0

"""Springs at joints: virtual work, energy, derivatives, parameters, simulation, files."""

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms.effort_terms import effort_terms
from robodyn.errors import ModelError, OutputError
from robodyn.model.spring import JointSpring
from robodyn.solvers.stewart.six_legs import JointReading

NAMES = ("motion_platform", "stanford_arm", "delta", "hexapod_rotary")


@cache
def sprung(name):
    """Return a mechanism with springs at its joints: of a platform, along its legs."""
    m = rd.load(name)
    own = m.joint_names if name == "motion_platform" else [
        joint.name for joint in m.model.joints if joint.moves_alone
    ]  # fmt: skip
    springs = {n: JointSpring(40.0 + 3.0 * k, 0.1 - 0.02 * k, 2.0 - k) for k, n in enumerate(own)}
    return m._made(m.model.with_joint_springs(springs))


@pytest.fixture(params=NAMES)
def m(request):
    return sprung(request.param)


def some_state(m, rng, size=0.03):
    nv = m.coordinates.velocity_size
    q = m.advance(m.home, size * rng.uniform(-1.0, 1.0, nv))
    return q, *rng.normal(size=(2, nv))


def test_springs_do_the_work_that_their_energy_says(m, rng):
    q, v, _ = some_state(m, rng)
    still, step = np.zeros_like(v), 1e-4 * np.eye(len(v))
    slope = [
        (m.energy(m.advance(q, d), still).potential - m.energy(m.advance(q, -d), still).potential)
        for d in step
    ]
    work = m.joint_jacobian(q).T @ m.gravity(q)
    np.testing.assert_allclose(work, np.array(slope) / 2e-4, atol=1e-6 * np.abs(work).max())


def test_power_is_the_change_of_energy_and_what_friction_takes(m, rng):
    m, h = m.without_friction(), 1e-4
    q, v, a = some_state(m, rng)
    power = m.inverse_dynamics(q, v, a) @ m.joint_velocities(q, v)
    after, before = (
        sum(m.energy(m.advance(q, s * h * v + 0.5 * h * h * a), v + s * h * a)) for s in (1.0, -1.0)
    )
    assert (after - before) / (2.0 * h) == pytest.approx(power, rel=1e-5)


def test_forward_dynamics_and_derivatives_have_the_springs(m, rng):
    m = m.without_dry_friction()
    q, v, a = some_state(m, rng)
    efforts = m.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(m.forward_dynamics(q, v, efforts), a, rtol=1e-8)
    rows = np.array([q, m.home])
    np.testing.assert_allclose(m.inverse_dynamics(rows, v, a)[0], efforts, rtol=1e-10)
    slopes = m.inverse_dynamics_derivatives(q, v, a).configuration
    forward = m.forward_dynamics_derivatives(q, v, efforts).configuration
    for found, at in ((slopes, m.inverse_dynamics), (forward, m.forward_dynamics)):
        given = a if at == m.inverse_dynamics else efforts
        expected = [
            (at(m.advance(q, d), v, given) - at(m.advance(q, -d), v, given)) / 2e-5
            for d in 1e-5 * np.eye(len(v))
        ]
        np.testing.assert_allclose(found, np.transpose(expected), atol=1e-6 * np.abs(found).max())


def test_stiffness_and_preload_are_parameters(m, rng):
    motion = some_state(m, rng)
    own = m.parameters
    assert {f"{n}.{part}" for n in m.joint_names for part in ("stiffness", "preload")} <= {
        *own.names
    }
    efforts = m.inverse_dynamics(*motion)
    np.testing.assert_allclose(m.regressor(*motion) @ own.values, efforts, rtol=1e-9)
    other = own.values * rng.uniform(0.9, 1.1, len(own.values))
    efforts = m.with_parameters(other).inverse_dynamics(*motion)
    np.testing.assert_allclose(m.regressor(*motion) @ other, efforts, rtol=1e-8)


def test_effort_terms_name_the_springs(m, rng):
    q, v, a = (part[None] for part in some_state(m, rng))
    found = effort_terms(m, q, v, a)
    np.testing.assert_allclose(sum(found.terms.values()), found.total, rtol=1e-9)
    bare = effort_terms(m._springless, q, v, a).terms
    part = "springs" if "springs" in found.terms else "massless"
    expected = m.gravity(q) - m._springless.gravity(q) + bare.get("massless", 0.0)
    np.testing.assert_allclose(found.terms[part], expected, rtol=1e-9)


def test_an_arm_has_the_same_efforts_by_every_method(rng):
    m = sprung("stanford_arm")
    motion = some_state(m, rng)
    efforts = m.inverse_dynamics(*motion)
    for method in ("modified_newton_euler", "lagrange"):
        np.testing.assert_allclose(m.inverse_dynamics(*motion, method=method), efforts, rtol=1e-9)
    q, bare = motion[0], m._springless
    np.testing.assert_allclose(m.christoffel(q), bare.christoffel(q), atol=1e-12)
    np.testing.assert_allclose(m.mass_matrix(q, "strobing"), m.mass_matrix(q), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["motion_platform", "stanford_arm", "delta"])
def test_a_simulation_keeps_the_energy_and_rows_of_a_batch_are_alike(name, rng):
    m = sprung(name).without_friction()
    q, v, _ = some_state(m, rng, 0.01)
    held, v = m.gravity(m.home), 0.05 * v

    def energy(q, v):
        return sum(m.energy(q, v)) - held @ m.joint_positions(q)

    free = {"end_stops": None, "limit_efforts": False}
    plant, batch = rd.Plant(m, q, v, **free), rd.BatchPlant(m, 2, **free)
    batch.reset(q, v)
    plant.hold(held, 60)
    batch.step(held, 60)
    assert batch.configuration[1].tobytes() == plant.configuration.tobytes()
    before, after = energy(q, v), energy(plant.configuration, plant.velocity)
    assert after == pytest.approx(before, abs=1e-8 * max(1.0, abs(before)))


@pytest.mark.parametrize("suffix", ["urdf", "sdf", "xml", "yaml"])
def test_every_format_keeps_springs(m, suffix, tmp_path, rng):
    if suffix == "xml":
        pytest.importorskip("mujoco")
    rd.save(m, tmp_path / f"m.{suffix}")
    with warnings.catch_warnings():
        warnings.simplefilter("error", rd.errors.LeftOutWarning)
        again = rd.load(tmp_path / f"m.{suffix}")
    assert again == m
    assert again != m._springless
    motion = some_state(m, rng)
    efforts = m.inverse_dynamics(*motion)
    np.testing.assert_allclose(again.inverse_dynamics(*motion), efforts, rtol=1e-9)


def test_mujoco_has_the_effort_of_a_preload(tmp_path, rng):
    mujoco = pytest.importorskip("mujoco")
    m = sprung("stanford_arm")
    rd.save(m, tmp_path / "m.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(model)
    data.qpos, data.qvel, data.qacc = motion = some_state(m, rng)
    mujoco.mj_inverse(model, data)
    efforts = m.without_dry_friction().inverse_dynamics(*motion)
    np.testing.assert_allclose(efforts, data.qfrc_inverse, rtol=1e-10)


@pytest.mark.parametrize("suffix", ["sdf", "xml"])
def test_a_format_without_preloads_refuses_an_effort_that_is_the_same_everywhere(suffix, tmp_path):
    m = rd.load("stanford_arm")
    m = m._made(m.model.with_joint_springs({m.joint_names[0]: JointSpring(preload=3.0)}))
    with pytest.raises(OutputError, match=r"has no spring whose effort, 3, is the same"):
        rd.save(m, tmp_path / f"m.{suffix}")


def test_a_leg_that_is_measured_backward_has_the_same_spring(rng):
    m = sprung("motion_platform")
    motion = some_state(m, rng)
    backward = [
        replace(leg, joints=leg.joints._replace(actuator=JointReading(f"drive{k}", -1.0, 0.7)))
        for k, leg in enumerate(m.six_legs.legs)
    ]
    other = m.with_legs(backward)
    assert other.model.driven_joints[0].spring.preload == -m.model.driven_joints[0].spring.preload
    efforts = m.inverse_dynamics(*motion)
    np.testing.assert_allclose(other.inverse_dynamics(*motion), efforts, rtol=1e-9)
    values = other.parameters.values
    np.testing.assert_allclose(other.with_parameters(values).gravity(m.home), m.gravity(m.home))


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        ({"shoulder": {"spring": {"stiffness": 1.0}}}, "no joint 'shoulder' for a spring"),
        ({"joint1": {"spring": {"stiffness": -1.0}}}, "joints.joint1.spring: .*stiffness is -1"),
        ({"joint1": {"spring": {"rate": 1.0}}}, "unknown field joints.joint1.spring.rate"),
        ({"joint1": {"damper": {}}}, "unknown field joints.joint1.damper"),
    ],
)
def test_springs_that_are_wrong_are_refused_by_field(joints, message):
    link = {"joint": "revolute", "a": 1.0, "mass": 1.0, "com": [0, 0, 0], "inertia": np.eye(3)}
    document = {"type": "serial", "name": "pendulum", "links": [link], "joints": joints}
    with pytest.raises(ModelError, match=message):
        rd.load(document)


def test_a_floating_joint_has_no_spring():
    model = rd.load("motion_platform").model
    floating = next(joint.name for joint in model.joints if joint.kind == "floating")
    with pytest.raises(ModelError, match="a floating joint has no spring"):
        model.with_joint_springs({floating: JointSpring(1.0)})


def test_flexure_hinges_make_a_platform_a_closed_loop(tmp_path, rng):
    """Energy is the same by the joints of the tree as by springs that are added by hand."""
    m = rd.load("motion_platform")
    model = m.model.with_joint_springs(
        {j.name: JointSpring(300.0) for j in m.model.joints if j.kind == "revolute"}
    )
    with pytest.raises(ModelError, match=r"spring stiffness is 300\.0.*closed_loop"):
        m._made(model)
    rd.save(rd.ClosedLoop(model), tmp_path / "flexures.urdf")
    loop = rd.load(tmp_path / "flexures.urdf")
    assert loop.kind == "closed_loop"
    angles = loop.joint_states(loop.home)
    turned = [
        position for name, position in zip(angles.names, angles.positions, strict=True)
        if "universal" in name
    ]  # fmt: skip
    still = np.zeros(6)
    more = loop.energy(loop.home, still).potential - m.energy(m.home, still).potential
    assert more == pytest.approx(150.0 * np.square(turned).sum())
