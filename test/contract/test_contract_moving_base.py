# SPDX-License-Identifier: Apache-2.0

"""Bases that move: every kind against the same machine that hangs on a joint of six freedoms."""

from dataclasses import replace

import numpy as np
import pytest
from test_contract_derivatives import assert_close, directions, slope

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.errors import InvalidInput
from robodyn.model import Joint, Link

pytestmark = pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")


@pytest.fixture
def base(rng):
    return rd.BaseMotion(*rng.normal(size=(3, 3)) * [[5.0], [1.0], [3.0]])


def is_near(found, expected, slack=1e-9):
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=slack * np.abs(expected).max())


def test_a_moving_base_equals_a_tree_on_a_joint_of_six_freedoms(request, bundled, states, rng):
    """The other equations know of no base that moves; friction and rotors are in."""
    mechanism, name = bundled, request.node.callspec.params["bundled"]
    loops = rd.load(name, kind="closed_loop")
    model, drawn = loops.model, states(mechanism, (3,))
    mount = Joint("mount", "floating", "ground", model.base_link)
    model = replace(model, links=(Link("ground"), *model.links), joints=(mount, *model.joints))
    mounted, n = rd.ClosedLoop(model), loops.mobility
    assert mounted.coordinates.velocity_names[:n] == loops.independent_joints
    for q, v, a in zip(*drawn, strict=True):
        pose = rd.pose_from_rpy(*rng.uniform(-1.0, 1.0, (2, 3)))
        twist, accel = rng.normal(size=(2, 6))
        base = rd.BaseMotion.of(pose, twist, accel, mechanism.model.gravity)
        driven = motions.driven_motion(mechanism, q, v, a)
        joints = loops.assemble(driven.positions)
        found = mechanism.inverse_dynamics(q, v, a, base=base)
        expected = mounted.free_efforts(
            np.concatenate([pose, joints]),
            np.concatenate([driven.velocities, twist]),
            np.concatenate([driven.accelerations, accel]),
        )
        is_near(found, expected[:n])


@pytest.mark.slow
def test_at_rest_not_a_bit_is_different(actuated, states, rng):
    rest = rd.BaseMotion(-np.array(actuated.model.gravity))
    for shape in ((), (11,)):
        q, v, a = states(actuated, shape)
        wrench = rng.normal(size=6)
        efforts = actuated.inverse_dynamics(q, v, a, wrench)
        for question, given in {
            "inverse_dynamics": (q, v, a, wrench),
            "forward_dynamics": (q, v, efforts, wrench),
            "bias": (q, v),
            "gravity": (q,),
        }.items():
            ask = getattr(actuated, question)
            np.testing.assert_array_equal(ask(*given, base=None), ask(*given))
            # it is taken for one that moves, by nothing
            is_near(ask(*given, base=rest), ask(*given), 1e-14)


def test_a_falling_base_carries_nothing(mechanism, states):
    q = states(mechanism, (4,)).configuration
    smooth = mechanism.without_friction()
    rest = np.zeros((4, smooth.coordinates.velocity_size))
    held = smooth.bias(q, rest, base=rd.BaseMotion(np.zeros(3)))
    assert np.abs(held).max() <= 1e-12 * np.abs(smooth.bias(q, rest)).max()


def test_a_base_that_is_pushed_is_gravity_that_leans(actuated, states, base):
    """Einstein's lift: no experiment inside tells one from the other."""
    q, v, a = states(actuated, (4,))
    force = base.specific_force
    leaning = type(actuated)(replace(actuated.model, gravity=-force), *actuated._options)
    found = actuated.inverse_dynamics(q, v, a, base=rd.BaseMotion(force))
    is_near(found, leaning.inverse_dynamics(q, v, a), 1e-12)


def test_forces_of_coriolis_do_no_work(actuated, states, base):
    """Terms odd in the base's angular velocity, including rotors' gyroscopic moments."""
    q, v, a = states(actuated, (4,))
    rates = actuated.joint_velocities(q, v)
    there, back = (
        actuated.inverse_dynamics(q, v, a, base=rd.BaseMotion(np.zeros(3), sign * base.rows[3:6]))
        for sign in (1.0, -1.0)
    )
    odd = (there - back) * rates
    assert np.abs(odd).max() > 1e-6
    assert np.abs(odd.sum(axis=-1)).max() < 1e-10 * np.abs(there * rates).max()


def test_forward_dynamics_undoes_inverse_dynamics_there(actuated, states, rng, base):
    smooth = actuated.without_friction()
    q, v, a = states(smooth, (5,))
    wrench = rng.normal(size=(5, 6))
    efforts = smooth.inverse_dynamics(q, v, a, wrench, base=base)
    again = smooth.forward_dynamics(q, v, efforts, wrench, base=base)
    np.testing.assert_allclose(again, a, rtol=1e-7, atol=1e-8)
    bias = smooth.bias(q, v, base=base)
    rest = smooth.bias(q, v)
    more = smooth.inverse_dynamics(q, v, 0.0 * a, base=base)
    more = more - smooth.inverse_dynamics(q, v, 0.0 * a)
    units = np.broadcast_to(np.eye(v.shape[-1]), (5, v.shape[-1], v.shape[-1]))
    rates = smooth.joint_velocities(q[:, None], units)  # row by row of a unit velocity
    is_near(np.einsum("kij,kj->ki", rates, more), bias - rest, 1e-8)


def test_batches_of_bases_are_single_ones(actuated, states, rng):
    bases = rd.BaseMotion(*rng.normal(size=(3, 2, 1, 3)))
    q, v, a = states(actuated, (3,))
    efforts = actuated.inverse_dynamics(q, v, a, base=bases)
    back = actuated.forward_dynamics(q, v, efforts, base=bases)
    for i, k in np.ndindex(2, 3):
        one = actuated.inverse_dynamics(q[k], v[k], a[k], base=bases[i, 0])
        is_near(efforts[i, k], one, 1e-12)
        is_near(back[i, k], actuated.forward_dynamics(
            q[k], v[k], efforts[i, k], base=bases[i, 0]), 1e-9)  # fmt: skip


def test_derivatives_are_those_on_this_base(actuated, states, rng, base):
    q, v, a = states(actuated)
    shaken = rng.uniform(-1.0, 1.0, 9)

    def shaking(t):
        return rd.BaseMotion(*np.split(base.rows + t * shaken, 3, axis=-1))

    d = actuated.inverse_dynamics_derivatives(q, v, a, base=base)
    is_near(d.efforts, actuated.inverse_dynamics(q, v, a, base=base), 1e-13)
    moved, faster, pushed = directions(rng, len(v))
    expected = slope(
        lambda t: actuated.inverse_dynamics(
            actuated.advance(q, t * moved), v + t * faster, a + t * pushed, base=shaking(t)
        )
    )
    found = d.configuration @ moved + d.velocity @ faster + d.acceleration @ pushed
    assert_close(found + d.base @ shaken, expected, d[:3])
    f = actuated.forward_dynamics_derivatives(q, v, d.efforts, base=base)
    pushed = rng.uniform(-1.0, 1.0, d.efforts.shape)
    expected = slope(
        lambda t: actuated.forward_dynamics(
            actuated.advance(q, t * moved), v + t * faster, d.efforts + t * pushed, base=shaking(t)
        )
    )
    found = f.configuration @ moved + f.velocity @ faster + f.efforts @ pushed
    assert_close(found + f.base @ shaken, expected, f[:3])
    many = actuated.forward_dynamics_derivatives(
        [q, q], v, d.efforts, base=shaking(np.ones((2, 1)))
    )
    assert many.base.shape == (2, len(v), 9)
    assert actuated.forward_dynamics_derivatives(q, v, d.efforts).base is None


def test_an_invalid_base_motion_is_refused(actuated):
    rest = np.zeros(actuated.coordinates.velocity_size)
    for wrong in ([0.0, 0.0, 9.81], np.zeros(9), "still"):
        with pytest.raises(InvalidInput, match="BaseMotion"):
            actuated.inverse_dynamics(actuated.home, rest, rest, base=wrong)
    three = rd.BaseMotion(np.ones((3, 3)))
    with pytest.raises(InvalidInput, match="do not broadcast"):
        actuated.inverse_dynamics(np.array([actuated.home] * 2), rest, rest, base=three)


def test_on_a_base_that_falls_nothing_moves_by_itself(actuated):
    falling = rd.BaseMotion(*np.zeros((3, 3)))
    smooth = actuated.without_dry_friction()
    plants = rd.BatchPlant([smooth] * 3, dt=1e-3)
    start, nothing = plants.configuration, np.zeros(len(smooth.joint_names))
    plants.step(nothing, steps=20, base=falling)
    np.testing.assert_allclose(plants.configuration, start, rtol=0.0, atol=1e-12)
    plants.step(nothing, steps=20)
    assert np.abs(plants.velocity).max() > 1e-3
    linear = smooth.linearize(smooth.home, base=falling)
    # cables pull against each other
    units = np.eye(smooth.coordinates.velocity_size)
    held = smooth.joint_velocities(np.array([smooth.home] * len(units)), units) @ linear.efforts
    np.testing.assert_allclose(held, 0.0, rtol=0.0, atol=1e-9)
