# SPDX-License-Identifier: Apache-2.0

"""Variants of a closed loop with the same structure equal newly analyzed mechanisms."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import gravity_vector
from robodyn.solvers.tree.closing import find_structure

LOOPS = Path(__file__).parents[3] / "reference" / "closed_loops"


@pytest.fixture(params=["delta", "fivebar", LOOPS / "redundant_3rrr.urdf"], ids=str)
def loop(request):
    return rd.load(request.param)


def with_gravity(loop):
    return rd.ClosedLoop(replace(loop.model, gravity=np.array([0.3, -1.2, 3.7])))


def rubbing(loop):
    motor = rd.Actuator(
        gear_ratio=7.0, rotor_inertia=1e-4, coulomb=0.2, static=0.3, stribeck_velocity=0.1
    )
    return rd.ClosedLoop(loop.model.driven_by({loop.joint_names[0]: motor}))


def weaker(loop):
    limited = (replace(joint, effort=3.0) for joint in loop.model.joints)
    return rd.ClosedLoop(replace(loop.model, joints=tuple(limited)))


def damped(loop):
    closures = (replace(one, damping=0.2) for one in loop.model.closures)
    return rd.ClosedLoop(replace(loop.model, closures=tuple(closures)))


VARIANTS = {
    "payload": lambda loop: loop.with_payload(0.7, [0.01, 0.02, -0.03], np.eye(3) * 1e-3),
    "twice": lambda loop: rubbing(loop).with_payload(0.2).without_dry_friction(),
    "no friction": lambda loop: loop.without_friction(),
    "no dry friction": lambda loop: loop.without_dry_friction(loop.joint_names[:1]),
    "no actuators": lambda loop: loop.without_actuators(),
    "gravity": with_gravity,
    "parameters": lambda loop: rd.with_parameters(loop, loop.parameters.values * 1.1),
    "driven by": rubbing,
    "effort limits": weaker,
    "closures' damping": damped,
}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_what_would_be_found_of_its_model(monkeypatch, loop, rng, name):
    """To the last bit, and nothing is searched for."""
    monkeypatch.setattr("robodyn.solvers.tree.closing.structure.find_structure", None)
    before = loop.structure.packed.numbers.copy()
    variant = VARIANTS[name](loop)
    monkeypatch.undo()
    monkeypatch.setattr("robodyn.solvers.tree.loop.structure_of", find_structure)
    anew = rd.ClosedLoop(variant.model)
    own, found = variant.structure.packed, anew.structure.packed
    for part in ("plan", "numbers", "entries"):
        np.testing.assert_array_equal(
            getattr(own, part).view(np.int64), getattr(found, part).view(np.int64), part
        )
    assert own.head == found.head
    # and it is another mechanism than the one that it was made from, which stays as it was
    np.testing.assert_array_equal(loop.structure.packed.numbers, before)
    steps = rng.uniform(-0.05, 0.05, (3, loop.mobility))
    state = loop.advance(loop.home, steps[0]), 20.0 * steps[1], 40.0 * steps[2]
    np.testing.assert_array_equal(variant.inverse_dynamics(*state), anew.inverse_dynamics(*state))
    np.testing.assert_array_equal(variant.effort_limits, anew.effort_limits)
    assert [body.mass for body in variant.bodies] == [body.mass for body in anew.bodies]


def test_a_payload_weighs_what_it_does(loop):
    """By virtual work: what a mass adds to the motors' efforts at rest is its weight."""
    rest = np.zeros(loop.mobility)
    heavy = loop.with_payload(0.8)
    added, bare = (one.inverse_dynamics(one.home, rest, rest) for one in (heavy, loop))
    weight = np.concatenate([0.8 * gravity_vector(loop), np.zeros(3)])
    carried = loop.inverse_dynamics(loop.home, rest, rest, weight)
    np.testing.assert_allclose(added, carried, rtol=0.0, atol=1e-9 * (1.0 + np.abs(bare).max()))


@pytest.mark.parametrize("change", ["closure", "home", "massless"])
def test_another_shape_is_searched_for(monkeypatch, change):
    """A moved joint, another way of closing or a massless body is no variant."""
    model, asked = rd.load("fivebar").model, []
    if change == "closure":
        one = model.closures[0]
        at = replace(one.at, translation=1.02 * one.at.translation)
        other = replace(model, closures=(replace(one, at=at), *model.closures[1:]))
    elif change == "home":
        other = model.with_home({model.driven[0]: 0.2})
    else:
        heaviest = max(model.links, key=lambda link: link.mass).name
        nothing = {"mass": 0.0, "com": np.zeros(3), "inertia": np.zeros((3, 3))}
        links = (replace(one, **nothing) if one.name == heaviest else one for one in model.links)
        other = replace(model, links=tuple(links))
    monkeypatch.setattr(
        "robodyn.solvers.tree.closing.structure.find_structure",
        lambda model: asked.append(model) or find_structure(model),
    )
    rd.ClosedLoop(other)
    assert asked == [other]
    rd.ClosedLoop(replace(other, gravity=np.zeros(3)))
    assert asked == [other]


def test_a_variant_checks_nothing_that_is_known_to_be_right(monkeypatch, loop):
    """The checks of a description cost several times what the variant does."""
    checked, values = [], loop.parameters.values * 1.1
    for kind in (type(loop.model), *{type(part) for part in parts_of(loop.model)}):
        monkeypatch.setattr(kind, "__post_init__", lambda self: checked.append(self), raising=True)
    smooth, other = loop.without_friction(), rd.with_parameters(loop, values)
    assert checked == []
    monkeypatch.undo()
    assert smooth.energy(loop.home, np.zeros(loop.mobility)) is not None
    np.testing.assert_allclose(other.parameters.values, values, rtol=1e-12, atol=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        other.model.links[-1].com[0] = 1.0


def parts_of(model):
    return (*model.links, *model.joints, *model.closures)
