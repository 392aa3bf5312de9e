# SPDX-License-Identifier: Apache-2.0

"""Springs: virtual work, energy, derivatives, parameters, simulation, files."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import yaml
from six_legs import JointReading, six_legs, with_legs
from sprung import BRACED, NAMES, sprung

import robodyn as rd
from robodyn.algorithms import effort_terms
from robodyn.analysis import springs_at_home
from robodyn.errors import ModelError, OutputError
from robodyn.model import LinearSpring


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
    springs = (*m.joint_names, *(spring.name for spring in m.model.springs))
    stiff = {f"{closure.name}.stiffness" for closure in m.model.closures if closure.stiffness}
    assert stiff <= {*own.names}
    assert {f"{n}.{part}" for n in springs for part in ("stiffness", "preload")} <= {*own.names}
    efforts = m.inverse_dynamics(*motion)
    np.testing.assert_allclose(m.regressor(*motion) @ own.values, efforts, rtol=1e-9)
    other = own.values * rng.uniform(0.9, 1.1, len(own.values))
    efforts = rd.with_parameters(m, other).inverse_dynamics(*motion)
    np.testing.assert_allclose(m.regressor(*motion) @ other, efforts, rtol=1e-8)


def test_effort_terms_name_the_springs(m, rng):
    m = m.without_friction()
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


def test_check_has_the_efforts_that_springs_take(m):
    m = m.without_friction()
    found = springs_at_home(m)
    named = {row["name"] for row in found["springs"]}
    assert named >= {*m.joint_names, *(spring.name for spring in m.model.springs)}
    efforts = [(row["effort"], row["without"]) for row in found["efforts"]]
    expected = np.transpose([m.gravity(m.home), m._springless.gravity(m.home)])
    np.testing.assert_allclose(efforts, expected)
    assert springs_at_home(m._springless) == {}


@pytest.mark.parametrize("suffix", ["urdf", "sdf", "xml", "yaml"])
def test_every_format_keeps_springs(m, suffix, tmp_path, rng):
    if suffix == "xml":
        pytest.importorskip("mujoco")
    if suffix == "sdf" and m.model.springs:
        with pytest.raises(
            OutputError, match="spring 'strut' is between points, which SDF cannot describe"
        ):
            rd.save(m, tmp_path / "m.sdf")
        m = m._made(replace(m.model, springs=()))
    stiff = any(closure.stiffness for closure in m.model.closures)
    if suffix in ("sdf", "xml") and stiff:
        with pytest.raises(OutputError, match="closure 'rod1a_tip' has a stiffness"):
            rd.save(m, tmp_path / f"m.{suffix}")
        closures = tuple(replace(closure, stiffness=0.0) for closure in m.model.closures)
        m = m._made(replace(m.model, closures=closures))
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


ARM = """<mujoco><worldbody><body name="a"><joint name="a" axis="0 1 0"/><geom size=".1"/>
  <site name="high" pos=".3 .1 0"/><body name="b" pos=".4 0 0"><joint name="b" axis="0 0 1"/>
  <geom size=".1" pos=".2 0 0"/><site name="low" pos=".2 0 .1"/></body></body>
  <site name="floor" pos="0 -.5 0"/></worldbody><tendon>
  <spatial name="bungee" stiffness="50" springlength=".2" damping="3"><site site="floor"/>
  <site site="low"/></spatial><spatial stiffness="80"><site site="high"/>
  <site site="low"/></spatial>
  <spatial name="taut" stiffness="40" springlength="0 .1" damping="2"><site site="floor"/>
  <site site="high"/></spatial><spatial name="slack" stiffness="1e3" springlength="0 2">
  <site site="floor"/><site site="high"/></spatial></tendon>
  <actuator><motor joint="a"/><motor joint="b"/></actuator></mujoco>"""


def test_a_tendon_between_two_sites_is_a_spring_of_mujocos_force(rng):
    """Velocities of a tree whose base is still, and a tree's slopes with springs between points."""
    mujoco = pytest.importorskip("mujoco")
    m, model = rd.load(ARM), mujoco.MjModel.from_xml_string(ARM)
    assert [s.name for s in m.model.springs if s.tension_only] == ["taut", "slack"]
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(model)
    data.qpos, data.qvel, data.qacc = q, v, a = rng.uniform(-1.0, 1.0, (3, 2))
    mujoco.mj_inverse(model, data)
    np.testing.assert_allclose(m.inverse_dynamics(q, v, a), data.qfrc_inverse, rtol=1e-10)
    slope = m.inverse_dynamics_derivatives(q, v, a).configuration
    expected = [
        (m.inverse_dynamics(q + d, v, a) - m.inverse_dynamics(q - d, v, a)) / 2e-5
        for d in 1e-5 * np.eye(2)
    ]
    np.testing.assert_allclose(slope, np.transpose(expected), atol=1e-7)


def test_a_turning_base_does_not_strain_the_dampers_on_it(rng):
    base = rd.BaseMotion([0.0, 0.0, 9.81], [0.3, -0.2, 0.5], [0.1, 0.2, -0.3])
    for name in BRACED:
        m = sprung(name)
        motion = some_state(m, rng)
        bare = m._made(replace(m.model, springs=()))
        pull = m.inverse_dynamics(*motion) - bare.inverse_dynamics(*motion)
        moved = m.inverse_dynamics(*motion, base=base) - bare.inverse_dynamics(*motion, base=base)
        np.testing.assert_allclose(moved, pull, rtol=1e-8)


DOCUMENT = {"link": "base", "xyz": [0.0, 0.0, 2.0]}, {"link": "platform", "xyz": [0.0, 0.0, 0.1]}


def platform_document(tmp_path, **springs):
    rd.save(rd.load("motion_platform"), tmp_path / "m.yaml")
    return yaml.safe_load((tmp_path / "m.yaml").read_text()) | springs


def test_a_bungee_takes_its_tension_off_the_weight(tmp_path):
    parent, child = DOCUMENT
    bungee = {"name": "bungee", "parent": parent, "child": child, "stiffness": 400.0, "rest": 0.3}
    m = rd.load(platform_document(tmp_path, springs=[bungee]))
    assert m.kind == "stewart"
    bare = rd.load("motion_platform")
    span = np.array(parent["xyz"]) - m.home[:3] - child["xyz"]
    length = np.linalg.norm(span)
    change = m.jacobian(m.home) @ (m.gravity(m.home) - bare.gravity(m.home))
    np.testing.assert_allclose(change[:3], -400.0 * (length - 0.3) * span / length, atol=1e-9)
    assert np.abs(m.gravity(m.home)).sum() < np.abs(bare.gravity(m.home)).sum()


def test_a_bungee_below_its_free_length_is_slack(tmp_path):
    parent, child = DOCUMENT
    bungee = {"name": "bungee", "parent": parent, "child": child, "stiffness": 400.0}
    bare = rd.load("motion_platform")
    bungee |= {"rest": 2.0 - bare.home[2] - 0.1 + 0.05, "tension_only": True}
    m = rd.load(platform_document(tmp_path, springs=[bungee]))
    down, still = m.home - [0.0, 0.0, 0.08, 0.0, 0.0, 0.0, 0.0], np.zeros(6)
    np.testing.assert_array_equal(m.gravity(m.home), bare.gravity(m.home))
    pull = m.jacobian(down) @ (m.gravity(down) - bare.gravity(down))
    np.testing.assert_allclose(pull, [0.0, 0.0, -400.0 * 0.03, 0.0, 0.0, 0.0], atol=1e-9)
    stored = m.energy(down, still).potential - bare.energy(down, still).potential
    assert stored == pytest.approx(200.0 * 0.03**2)
    # a preload makes it taut at a shorter length
    tight = rd.load(platform_document(tmp_path, springs=[bungee | {"preload": 400.0 * 0.1}]))
    pull = tight.jacobian(m.home) @ (tight.gravity(m.home) - bare.gravity(m.home))
    assert pull[2] == pytest.approx(-400.0 * 0.05)


def test_a_gas_spring_pushes_with_its_force_at_rest(tmp_path):
    parent, child = DOCUMENT
    law = {"force": 350.0, "rate": 120.0, "rest": 0.4}
    gas = {"name": "gas", "parent": parent, "child": child} | law
    (spring,) = rd.load(platform_document(tmp_path, springs=[gas])).model.springs
    assert spring.law[:2] @ [0.4, 1.0] == pytest.approx(-350.0)
    assert spring.law[:2] @ [0.3, 1.0] == pytest.approx(-350.0 - 12.0)


def test_an_arm_with_a_spring_between_points_is_a_closed_loop(tmp_path, rng):
    rd.save(rd.load("stanford_arm"), tmp_path / "arm.yaml")
    document = yaml.safe_load((tmp_path / "arm.yaml").read_text())
    ends = {"parent": {"link": "base"}, "child": {"link": "link3", "xyz": [0.1, 0.0, 0.2]}}
    document["springs"] = [{"name": "strut", **ends, "stiffness": 500.0}]
    m = rd.load(document)
    assert (m.kind, len(m.joint_names)) == ("closed_loop", 6)
    with pytest.raises(ModelError, match="springs between points"):
        rd.load(document, kind="serial")
    rd.save(m, tmp_path / "arm.urdf")
    assert rd.load(tmp_path / "arm.urdf") == m


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stiffness": -1.0}, r"springs\[0\].*stiffness is -1"),
        ({"force": 10.0}, r"springs\[0\].stiffness is 1.0, .* together with force or rate"),
        ({"child": {"link": "nowhere"}}, "'strut': no link 'nowhere'"),
        ({"child": {"link": "base"}}, "both ends are on 'base_link'"),
        ({"length": 1.0}, r"unknown field springs\[0\].length"),
        ({"damping": -1.0}, r"springs\[0\].damping is -1.0"),
        ({"tension_only": 1}, r"springs\[0\].tension_only is 1, expected true or false"),
        ({"tension_only": True, "damping": 1.0}, "a spring that only pulls has a stiffness and no"),
        ({"tension_only": True, "stiffness": 0.0}, "a spring that only pulls has a stiffness"),
    ],
)
def test_springs_between_points_that_are_wrong_are_refused(change, message, tmp_path):
    parent, child = DOCUMENT
    spring = {"name": "strut", "parent": parent, "child": child, "stiffness": 1.0} | change
    with pytest.raises(ModelError, match=message):
        rd.load(platform_document(tmp_path, springs=[spring]))


@pytest.mark.parametrize("suffix", ["sdf", "xml"])
def test_a_format_without_preloads_refuses_an_effort_that_is_the_same_everywhere(suffix, tmp_path):
    m = rd.load("stanford_arm")
    m = m._made(m.model.with_joint_springs({m.joint_names[0]: LinearSpring(preload=3.0)}))
    with pytest.raises(OutputError, match=r"constant effort \(3\) and no stiffness"):
        rd.save(m, tmp_path / f"m.{suffix}")


def test_a_leg_that_is_measured_backward_has_the_same_spring(rng):
    m = sprung("motion_platform")
    motion = some_state(m, rng)
    backward = [
        replace(leg, reading=JointReading(f"drive{k}", -1.0, 0.7))
        for k, leg in enumerate(six_legs(m).legs)
    ]
    other = with_legs(m, backward)
    assert other.model.driven_joints[0].spring.preload == -m.model.driven_joints[0].spring.preload
    efforts = m.inverse_dynamics(*motion)
    np.testing.assert_allclose(other.inverse_dynamics(*motion), efforts, rtol=1e-9)
    values = other.parameters.values
    np.testing.assert_allclose(rd.with_parameters(other, values).gravity(m.home), m.gravity(m.home))


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
        model.with_joint_springs({floating: LinearSpring(1.0)})


def test_flexure_hinges_make_a_platform_a_closed_loop(tmp_path, rng):
    """Energy is the same by the joints of the tree as by springs that are added by hand."""
    m = rd.load("motion_platform")
    model = m.model.with_joint_springs(
        {j.name: LinearSpring(300.0) for j in m.model.joints if j.kind == "revolute"}
    )
    with pytest.raises(ModelError, match=r"spring stiffness is 300\.0.*closed_loop"):
        m._made(model)
    stiff = tuple(replace(closure, stiffness=5.0) for closure in model.closures)
    with pytest.raises(ModelError, match=r"stiffness is 5\.0.*closed_loop"):
        m._made(replace(m.model, closures=stiff))
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
