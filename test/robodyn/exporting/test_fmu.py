# SPDX-License-Identifier: Apache-2.0

"""The exported FMUs, validated and simulated by FMPy."""

import shutil

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.control import ComputedTorque, reduced_efforts
from robodyn.exporting import Target, header, write_fmus

fmpy = pytest.importorskip("fmpy")
pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc)"),
    pytest.mark.slow,
]
LOAD = np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module", params=["delta", "elastic_delta"])
def exported(request, tmp_path_factory):
    """A delta with rigid or elastic drives, and by version its FMUs of plant and controller."""
    m, done = request.getfixturevalue(request.param)
    second = [file for file in done.files if file.endswith(".fmu")]
    assert second == ["delta.fmu", "delta_controller.fmu"]
    other = tmp_path_factory.mktemp("fmi3")
    static = shutil.copy(done.folder / "libdelta.a", other / "libdelta.a")
    third = list(write_fmus("delta", m, Target(), header("delta", m), static, "3.0"))
    made = {"2.0": [done.folder / f for f in second], "3.0": [other / f for f in third]}
    return m, {version: [str(file) for file in files] for version, files in made.items()}


def instance(file, version, *, exchanges=False):
    """An initialized instance; its variables' references by name."""
    known = fmpy.read_model_description(file)
    kind = known.modelExchange if exchanges else known.coSimulation
    classes = {
        "2.0": (fmpy.fmi2.FMU2Slave, fmpy.fmi2.FMU2Model),
        "3.0": (fmpy.fmi3.FMU3Slave, fmpy.fmi3.FMU3Model),
    }[version]
    unit = classes[exchanges](
        guid=known.guid, unzipDirectory=fmpy.extract(file), modelIdentifier=kind.modelIdentifier
    )
    unit.instantiate()
    if version == "2.0":
        unit.setupExperiment()
    unit.enterInitializationMode()
    unit.exitInitializationMode()
    return unit, {v.name: v.valueReference for v in known.modelVariables}


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_exported_fmus_are_valid(exported, version):
    from fmpy.validation import validate_fmu

    for file in exported[1][version]:
        assert validate_fmu(file) == []


@pytest.mark.parametrize(
    ("version", "kind", "off"),
    [
        ("2.0", "CoSimulation", 1e-10),
        ("3.0", "CoSimulation", 1e-10),
        ("2.0", "ModelExchange", 1e-7),
        ("3.0", "ModelExchange", 1e-7),
    ],
)
def test_the_plant_moves_as_the_library_has_it(exported, version, kind, off):
    m, files = exported
    efforts = 1.02 * m.gravity(m.home)
    start = {f"effort.{j}": float(x) for j, x in zip(m.joint_names, efforts, strict=True)}
    expected = [f"position.{joint}" for joint in m.joint_names]
    found = fmpy.simulate_fmu(
        files[version][0], stop_time=0.1, output_interval=0.01, relative_tolerance=1e-8,
        start_values=start | {"wrench.force_x": 3.0}, output=expected, fmi_type=kind,
    )  # fmt: skip
    substeps = 1 if kind == "CoSimulation" else 5  # a solver of variable step is more exact
    plant = rd.Plant(m, dt=1e-3 / substeps)
    for k in range(10):
        plant.hold(efforts, 10 * substeps, LOAD)
        positions = m.joint_positions(plant.configuration)
        np.testing.assert_allclose([found[name][k + 1] for name in expected], positions, atol=off)
    assert np.abs(m.joint_positions(m.home) - positions).max() > 1e-3


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_directional_derivatives_are_slopes(exported, version, rng):
    m, files = exported
    unit, at = instance(files[version][0], version, exchanges=True)
    states = [at[f"position.{joint}"] for joint in m.joint_names]
    states += [at[f"velocity.{name}"] for name in m.coordinates.velocity_names]
    motors = rd.Plant(m).motor_positions
    inputs = [at[f"effort.{joint}"] for joint in m.joint_names] + [at["wrench.force_x"]]
    slopes = [at[f"rate.{joint}"] for joint in m.joint_names]
    slopes += [at[f"acceleration.{name}"] for name in m.coordinates.velocity_names]
    if motors is not None:
        positions, rates, accelerations = (
            [at[f"motor_{what}.{joint}"] for joint in m.joint_names]
            for what in ("position", "rate", "acceleration")
        )
        states, slopes = positions + states + rates, rates + slopes + accelerations
    put, get = (
        (unit.setReal, unit.getReal) if version == "2.0" else (unit.setFloat64, unit.getFloat64)
    )
    # the first joint beyond its end, on its stop
    x = np.concatenate([m.joint_positions(m.home), 0.3 * rng.normal(size=3)])
    x[0] = m.position_limits[0, 1] + 1e-3
    if motors is not None:
        x = np.concatenate([motors + 0.01, x, [0.1, -0.2, 0.3]])
    count = len(x)
    u = np.append(m.gravity(m.home), 2.0)

    def evaluate(x, u):
        put(inputs, u.tolist())
        unit.setContinuousStates((np.ctypeslib.ctypes.c_double * count)(*x), count)
        return np.array(get(slopes))

    direction, push = rng.normal(size=count), rng.normal(size=4)
    h = 1e-6
    expected = evaluate(x + h * direction, u + h * push) - evaluate(x - h * direction, u - h * push)
    evaluate(x, u)
    seeds = [*direction.tolist(), *push.tolist()]
    ask = unit.getDirectionalDerivative
    found = np.array(ask(slopes, [*states, *inputs], seeds))
    np.testing.assert_allclose(found, expected / (2.0 * h), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_the_controller_is_computed_torque(exported, version):
    m, files = exported
    unit, at = instance(files[version][1], version)
    goal = m.joint_positions(m.home) + 0.01
    names = [f"target_position.{joint}" for joint in m.joint_names]
    put, get = (
        (unit.setReal, unit.getReal) if version == "2.0" else (unit.setFloat64, unit.getFloat64)
    )
    put([at[name] for name in names], goal.tolist())
    unit.doStep(0.0, 0.01)
    found = get([at[f"effort.{joint}"] for joint in m.joint_names])
    law = ComputedTorque(m, 100.0, 20.0)
    hold = rd.plan_joints(goal, goal, duration=1.0)
    expected = law(0.0, m.home, np.zeros(3), _Closed(m, hold))
    desired = _Closed(m, hold).sample(0.0)
    error = m.difference(m.home, desired.configuration)
    resting = law.friction.rest.inverse_dynamics(m.home, *np.zeros((2, 3)))
    if law.friction.exists:
        resting = resting + law.for_friction(error, desired)
    expected = reduced_efforts(m, m.home, resting, expected, m.effort_limits)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


class _Closed:
    """A trajectory of joints as one of configurations."""

    def __init__(self, mechanism, joints):
        self.mechanism, self.joints = mechanism, joints

    def sample(self, t):
        return motions.motion_of_joints(self.mechanism, *self.joints.sample(t), self.mechanism.home)
