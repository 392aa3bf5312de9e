# SPDX-License-Identifier: Apache-2.0

"""Derivatives where dry friction falls with the rate (Stribeck), of every kind."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions

STEP = 1e-4
ACTUATOR = rd.Actuator(coulomb=3.0, coulomb_backward=4.0, static=9.0, stribeck_velocity=0.2)


def slope(function):
    weights = enumerate((3 / 4, -3 / 20, 1 / 60), start=1)
    return sum(w * (function(k * STEP) - function(-k * STEP)) for k, w in weights) / STEP


@pytest.mark.parametrize("name", ["stanford_arm", "stewart_symmetric", "delta"])
@pytest.mark.parametrize("forward", [False, True])
def test_friction_that_falls_is_differentiated(name, forward, rng):
    m = rd.load(name)
    m = type(m)(m.model.driven_by(dict.fromkeys(m.joint_names, ACTUATOR)))
    nv = m.coordinates.velocity_size
    q = m.advance(m.home, 0.05 * m.size * rng.normal(size=nv))
    # every joint moves, at a rate at which its friction falls
    rates = rng.choice([-0.15, 0.15], len(m.joint_names))
    v = motions.motion_of_joints(m, m.joint_positions(q), rates, None, q).velocity
    load = rng.normal(size=nv)
    ask, slopes = m.inverse_dynamics, m.inverse_dynamics_derivatives
    if forward:
        load = m.inverse_dynamics(q, v, load)
        ask, slopes = m.forward_dynamics, m.forward_dynamics_derivatives
    d = slopes(q, v, load)
    moved, faster = rng.normal(size=(2, nv))
    expected = slope(lambda t: ask(m.advance(q, t * moved), v + t * faster, load))
    scale = max(np.abs(block).max() for block in d[1:3])
    found = d.configuration @ moved + d.velocity @ faster
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-8 * scale)
