# SPDX-License-Identifier: Apache-2.0

"""Efforts are linear in parameters of bodies, rotors and friction; model files contain these."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml

import robodyn as rd
from robodyn.actuators import Actuator
from robodyn.algorithms import comparison, reference_regressor
from robodyn.dynamics.body_parameters import (
    bodies_of_parameters,
    body_parameters,
    of_pseudo_inertias,
    pseudo_inertias,
)
from robodyn.errors import InvalidInput, ModelError

MODELS = (
    "stewart_dasgupta", "stewart_symmetric", "puma560", "stanford_arm", "delta", "fivebar",
    "hexapod_rotary", "geared delta",
)  # fmt: skip


@pytest.fixture(params=MODELS)
def m(request):
    if request.param == "geared delta":
        # a rotor spins about the joint, too, which no armature does
        model = rd.load("delta").model
        geared = Actuator(rotor_inertia=1e-3, gear_ratio=-12.0, coulomb=0.4, torque_limit=3.0)
        return rd.ClosedLoop(model.driven_by(dict.fromkeys(model.driven, geared)))
    return rd.load(request.param)


def motions(m, rng, count=6):
    width = m.coordinates.velocity_size
    steps = 0.05 * rng.uniform(-1.0, 1.0, (count, width))
    q = np.array([m.advance(m.home, step) for step in steps])
    rates, changes = rng.normal(size=(2, count, width))
    return q, rates, 3.0 * changes


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_efforts_are_the_regressor_times_the_parameters(m, rng):
    motion = motions(m, rng)
    efforts = m.inverse_dynamics(*motion)
    own = m.parameters
    Y = m.regressor(*motion)
    assert Y.shape == (*efforts.shape, len(own.names))
    assert len(set(own.names)) == len(own.names) == len(own.units)
    np.testing.assert_allclose(Y @ own.values, efforts, atol=1e-10 * np.abs(efforts).max())
    np.testing.assert_array_equal(m.regressor(*(part[2] for part in motion)), Y[2])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_mechanism_of_other_parameters_needs_the_efforts_that_the_regressor_says(m, rng):
    motion, own = motions(m, rng), m.parameters
    values = own.values * rng.uniform(1.1, 1.5, len(own.values)) + 0.01
    other = rd.with_parameters(m, values)
    efforts = other.inverse_dynamics(*motion)
    np.testing.assert_allclose(
        m.regressor(*motion) @ values, efforts, atol=1e-10 * np.abs(efforts).max()
    )
    np.testing.assert_allclose(other.parameters.values, values, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_model_file_has_all_that_the_mechanism_has(m, tmp_path):
    written = rd.save(m, tmp_path / "again.yaml")
    again = rd.load(written[0])
    assert comparison.differences(again, m) == []
    assert again.joint_names == m.joint_names
    schema = Path(rd.__file__).with_name("schemas") / f"{m.kind}.schema.json"
    document = yaml.safe_load(written[0].read_text())
    jsonschema.validate(document, json.loads(schema.read_text()))
    np.testing.assert_allclose(again.home, m.home, atol=1e-12)


def test_a_stribeck_joint_is_linear_in_static_and_coulomb_friction(tmp_path, rng):
    file = tmp_path / "rubbing.yaml"
    file.write_text(
        """
type: serial
name: rubbing
links:
  - joint: revolute
    a: 0.4
    mass: 2.0
    com: [-0.2, 0.0, 0.0]
    inertia: [[0.01, 0, 0], [0, 0.03, 0], [0, 0, 0.03]]
    actuator: {coulomb: 2.0, coulomb_backward: 1.5, static: 3.0, stribeck_velocity: 0.1}
"""
    )
    arm = rd.load(file)
    q, qd, qdd = rng.uniform(-0.3, 0.3, (3, 20, 1))
    own = arm.parameters
    assert "joint1.static" in own.names
    efforts = arm.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(arm.regressor(q, qd, qdd) @ own.values, efforts, atol=1e-12)
    assert rd.with_parameters(arm, own.values) == arm


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_values_that_no_mechanism_can_have_are_refused():
    arm = rd.load("puma560")
    own = arm.parameters
    with pytest.raises(InvalidInput, match="values"):
        rd.with_parameters(arm, own.values[1:])
    values = own.values.copy()
    values[own.names.index("joint2.viscous")] = -1.0
    with pytest.raises(ModelError, match="damping"):
        rd.with_parameters(arm, values)


def test_a_body_and_its_pseudo_inertia_are_the_same(rng):
    points, masses = rng.normal(size=(9, 3)), rng.uniform(0.1, 1.0, 9)
    com = masses @ points / masses.sum()
    arms = points - com
    inertia = sum(
        mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        for mass, arm in zip(masses, arms, strict=True)
    )
    values = body_parameters(masses.sum(), com, inertia)
    ones = np.column_stack([points, np.ones(9)])
    J = pseudo_inertias(values)
    np.testing.assert_allclose(J, np.einsum("k,ki,kj->ij", masses, ones, ones), atol=1e-12)
    np.testing.assert_allclose(of_pseudo_inertias(J), values, atol=1e-12)
    np.testing.assert_allclose(bodies_of_parameters(values[None])[0].inertia, inertia, atol=1e-12)


@pytest.mark.parametrize("name", ["puma560", "stewart_symmetric", "delta"])
def test_slotine_and_lis_regressor_has_the_coriolis_matrix(name, rng):
    """At the velocity itself it is the regressor; else velocity terms are C(v) v_r."""
    m = rd.load(name)
    smooth, nv = m.without_friction(), m.coordinates.velocity_size
    q = m.advance(m.home, 0.03 * rng.normal(size=nv) * m.size)
    v, r, a = rng.normal(size=(3, nv))
    near = {"rtol": 0.0, "atol": 1e-9 * np.abs(m.regressor(q, v, a)).max()}
    np.testing.assert_allclose(reference_regressor(m, q, v, v, a), m.regressor(q, v, a), **near)
    efforts = reference_regressor(smooth, q, v, r, a) @ smooth.parameters.values
    forces = smooth.mass_matrix(q) @ a + smooth.coriolis_matrix(q, v) @ r
    forces = forces + smooth.bias(q, np.zeros(nv))
    power = m.joint_velocities(q, np.eye(nv))
    np.testing.assert_allclose(power @ efforts, forces, atol=1e-8 * np.abs(forces).max())
    many = reference_regressor(m, np.array([q, q]), v, r, a)
    np.testing.assert_allclose(many[1], reference_regressor(m, q, v, r, a), **near)
