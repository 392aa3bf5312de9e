# SPDX-License-Identifier: Apache-2.0

"""Batches of configurations, motions of the tip, and loops that are far from closed."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml
from random_mechanisms import Builder, single_loop

import robodyn as rd
from robodyn.algorithms import conditioning, motions, stepping
from robodyn.errors import ModelError
from robodyn.presentation import presentation
from robodyn.solvers.tree.closing import joint_motion, joint_rates, tangent
from robodyn.solvers.tree.conditions import force_condition, motion_condition

FOLDER = Path(__file__).parents[3] / "reference" / "closed_loops"
PACKAGE = Path(rd.__file__).parent


@pytest.fixture(scope="module", params=["delta", "fivebar"])
def mechanism(request):
    return rd.load(FOLDER / f"{request.param}.urdf")


def near_home(mechanism, rng, count=11):
    """Closed configurations (count, nq) and rates (count, mobility)."""
    n = mechanism.mobility
    q = [mechanism.advance(mechanism.home, rng.uniform(-0.05, 0.05, n)) for _ in range(count)]
    return np.array(q), rng.normal(size=(count, n))


def test_every_function_of_a_batch_is_that_of_single_states(mechanism, rng):
    q, u = near_home(mechanism, rng)
    functions = {
        "mass_matrix": (q,),
        "jacobian": (q,),
        tangent: (q,),
        "body_pose": (q,),
        motion_condition: (q,),
        force_condition: (q,),
        "energy": (q, u),
        joint_rates: (q, u),
        joint_motion: (q, u, u[::-1]),
    }
    for name, given in functions.items():
        function = getattr(mechanism, name) if isinstance(name, str) else partial(name, mechanism)
        found = np.asarray(function(*(part.reshape(1, *part.shape) for part in given)))
        alone = np.array([np.asarray(function(*state)) for state in zip(*given, strict=True)])
        many = name in ("energy", joint_motion)  # tuples, of which each has the batch in front
        expected = np.moveaxis(alone, 0, 1) if many else alone
        got = found[:, 0] if many else found[0]
        size = np.abs(expected).max()
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-11 * size, err_msg=str(name))


def test_in_a_batch_an_open_configuration_is_refused_all_the_same(mechanism, rng):
    q, _ = near_home(mechanism, rng, 3)
    q[1, 0] += 0.1
    for function in (mechanism.mass_matrix, mechanism.jacobian):
        with pytest.raises(rd.InvalidInput, match="is not closed"):
            function(q)


def test_a_batch_across_a_singularity_of_type_2_is_reported_state_by_state():
    """Rods of a five-bar in line: the force condition is infinite there and nowhere else."""
    fivebar = rd.load(FOLDER / "fivebar.urdf").without_friction()
    q, u, path = fivebar.home, np.array([1.0, -2.0]), []
    for _ in range(150):
        q, u = stepping.step(fivebar, q, u, np.zeros(2), np.zeros(6), 1e-4, 50)
        path.append(q)
    together = force_condition(fivebar, np.array(path))
    alone = np.array([force_condition(fivebar, q) for q in path])
    np.testing.assert_allclose(together, alone, rtol=1e-6)
    assert alone.max() > 20.0 * alone.min()


def test_the_tips_motion_is_the_mechanisms(mechanism):
    """Rates and accelerations are derivatives; the tip of a five-bar turns as it moves."""
    center = mechanism.body_pose(mechanism.home)
    times = np.linspace(0.0, 0.2, 81)
    way = 0.02 * mechanism.size * np.array([1.0, 0.0, -0.5])
    normal = mechanism.jacobian(mechanism.home)[:3]
    way = normal @ np.linalg.pinv(normal) @ way  # as far as the tip can move at all
    poses = np.repeat(center[None], len(times), axis=0)
    twists, accels = np.zeros((2, len(times), 6))
    poses[:, :3] += np.sin(9.0 * times)[:, None] * way
    twists[:, :3] = 9.0 * np.cos(9.0 * times)[:, None] * way
    accels[:, :3] = -81.0 * np.sin(9.0 * times)[:, None] * way
    q, u, change = motions.motion_of_body(mechanism, times, poses, twists, accels, mechanism.home)
    np.testing.assert_allclose(mechanism.body_pose(q)[:, :3], poses[:, :3], rtol=0, atol=1e-10)
    step = times[1]
    places = presentation.values_of(mechanism, q)
    weights = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / (60.0 * step)
    for low, high in ((places, u), (u, change)):
        slope = np.array([weights @ low[n - 3 : n + 4] for n in range(3, len(times) - 3)])
        assert np.abs(slope - high[3:-3]).max() < 1e-6 * np.abs(high).max()


@pytest.mark.parametrize("kind", ["fixed", "revolute"])
def test_loops_close_from_half_a_turn_away(rng, kind):
    """Every joint where a description without a home has it: at zero."""
    model = single_loop(rng, 9, kind).mechanism().model
    # as long as its joints slide a little only, the chain reaches round
    mechanism = rd.ClosedLoop(replace(model, home=(), closures=model.closures))
    assert mechanism.structure.equations.relative_residual(mechanism.home) < 1e-11
    assert mechanism.mobility == 9 - {"fixed": 6, "revolute": 5}[kind]


@pytest.mark.slow
def test_the_loop_that_cannot_close_is_the_one_that_is_named(rng):
    """Of two loops the second is wider than its links are long."""
    builder = Builder(rng)
    for n, parent in enumerate(["base", *(f"link{n}" for n in range(7))]):
        builder.joint(parent, f"link{n}", "revolute")
    builder.closure("base", "link7", "spherical")
    model = builder.model(["base_link0"])
    far = replace(
        model.closures[0],
        name="hopeless",
        parent=model.joints[0].child,
        at=replace(model.closures[0].at, translation=np.array([40.0, 0.0, 0.0])),
    )
    with pytest.raises(ModelError, match=r"closure 'hopeless' stays open by"):
        rd.ClosedLoop(replace(model, closures=(*model.closures, far), home=()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["delta", "fivebar", "hexapod_rotary"])
def test_each_bundled_mechanism_has_a_path_within_its_limits(name):
    mechanism = rd.load(name)
    path = rd.load_path(presentation.default_path(mechanism), mechanism)
    q, u, change = path.sample(np.linspace(0.0, path.duration, 100))
    limits = mechanism.position_limits
    positions = mechanism.joint_positions(q)
    assert ((positions > limits[:, 0]) & (positions < limits[:, 1])).all()
    assert (np.abs(mechanism.joint_velocities(q, u)) < mechanism.velocity_limits).all()
    assert (np.abs(mechanism.inverse_dynamics(q, u, change)) < mechanism.effort_limits).all()
    assert np.ptp(np.sign(conditioning.determinant(mechanism, q))) == 0.0
    assert np.ptp(mechanism.body_pose(q)[:, :3], axis=0).max() > 0.1 * mechanism.size


@pytest.mark.slow
def test_the_schema_takes_the_bundled_files_and_no_misspelt_field():
    schema = json.loads((PACKAGE / "schemas" / "closed_loop.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    closure = {"name": "a", "type": "spherical", "parent": {"link": "b"}, "child": {"link": "c"}}
    for name in ("delta", "fivebar", "hexapod_rotary"):
        document = yaml.safe_load((PACKAGE / "bundled" / f"{name}.yaml").read_text())
        jsonschema.validate(document | {"closures": [closure]}, schema)
        for wrong in ({"tyop": 1}, {"closures": [closure | {"type": "screw"}]}):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(document | wrong, schema)
