# SPDX-License-Identifier: Apache-2.0

"""Bases that move: every kind against the same machine that hangs on a joint of six freedoms."""

from dataclasses import replace

import numpy as np
import pytest
from test_contract_derivatives import assert_close, directions, slope

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.model.body import Link
from robodyn.model.joint import Joint

pytestmark = pytest.mark.filterwarnings("ignore::robodyn.errors.UnphysicalInertiaWarning")


@pytest.fixture
def base(rng):
    return rd.BaseMotion(*rng.normal(size=(3, 3)) * [[5.0], [1.0], [3.0]])


def is_near(found, expected, slack=1e-9):
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=slack * np.abs(expected).max())


def test_it_is_a_tree_with_a_joint_of_six_freedoms_below_it(request, bundled, states, rng):
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
        driven = mechanism.driven_motion(q, v, a)
        joints = loops.assemble(driven.positions)
        found = mechanism.inverse_dynamics(q, v, a, base=base)
        expected = mounted.free_efforts(
            np.concatenate([pose, joints]),
            np.concatenate([driven.velocities, twist]),
            np.concatenate([driven.accelerations, accel]),
        )
        is_near(found, expected[:n])


def test_at_rest_not_a_bit_is_different(mechanism, states, rng):
    rest = rd.BaseMotion(-np.array(mechanism.model.gravity))
    for shape in ((), (11,)):
        q, v, a = states(mechanism, shape)
        wrench = rng.normal(size=6)
        efforts = mechanism.inverse_dynamics(q, v, a, wrench)
        for question, given in {
            "inverse_dynamics": (q, v, a, wrench),
            "forward_dynamics": (q, v, efforts, wrench),
            "bias": (q, v),
            "gravity": (q,),
        }.items():
            ask = getattr(mechanism, question)
            np.testing.assert_array_equal(ask(*given, base=None), ask(*given))
            # it is taken for one that moves, by nothing
            is_near(ask(*given, base=rest), ask(*given), 1e-14)


def test_a_falling_base_carries_nothing(mechanism, states):
    q = states(mechanism, (4,)).configuration
    smooth = mechanism.without_friction()
    held = smooth.gravity(q)
    assert (
        np.abs(smooth.gravity(q, base=rd.BaseMotion(np.zeros(3)))).max()
        <= 1e-12 * np.abs(held).max()
    )


def test_a_base_that_is_pushed_is_gravity_that_leans(mechanism, states, base):
    """Einstein's lift: no experiment inside tells one from the other."""
    q, v, a = states(mechanism, (4,))
    force = base.specific_force
    leaning = type(mechanism)(replace(mechanism.model, gravity=-force), *mechanism.options)
    found = mechanism.inverse_dynamics(q, v, a, base=rd.BaseMotion(force))
    is_near(found, leaning.inverse_dynamics(q, v, a), 1e-12)


def test_forces_of_coriolis_do_no_work(mechanism, states, base):
    """What is odd in the base's angular velocity, rotors' gyroscopic moments included."""
    q, v, a = states(mechanism, (4,))
    rates = mechanism.joint_velocities(q, v)
    there, back = (
        mechanism.inverse_dynamics(q, v, a, base=rd.BaseMotion(np.zeros(3), sign * base.rows[3:6]))
        for sign in (1.0, -1.0)
    )
    odd = (there - back) * rates
    assert np.abs(odd).max() > 1e-6
    assert np.abs(odd.sum(axis=-1)).max() < 1e-10 * np.abs(there * rates).max()


def test_forward_dynamics_undoes_inverse_dynamics_there(mechanism, states, rng, base):
    smooth = mechanism.without_friction()
    q, v, a = states(smooth, (5,))
    wrench = rng.normal(size=(5, 6))
    efforts = smooth.inverse_dynamics(q, v, a, wrench, base=base)
    again = smooth.forward_dynamics(q, v, efforts, wrench, base=base)
    np.testing.assert_allclose(again, a, rtol=1e-7, atol=1e-8)
    bias = smooth.bias(q, v, base=base)
    rest = smooth.bias(q, v)
    is_near(smooth.inverse_dynamics(q, v, 0.0 * a, base=base) - smooth.inverse_dynamics(
        q, v, 0.0 * a), _efforts_of(smooth, q, bias - rest), 1e-8)  # fmt: skip


def _efforts_of(m, q, forces):
    """Efforts (..., n) with the power of generalised forces (..., nv)."""
    n, nv = len(m.joint_names), forces.shape[-1]
    units = np.broadcast_to(np.eye(nv), (len(q), nv, nv))
    rates = m.joint_velocities(q[:, None], units)  # row by row of a unit velocity
    assert rates.shape == (len(q), nv, n)
    return np.linalg.solve(rates, forces[..., None])[..., 0]


def test_batches_of_bases_are_single_ones(mechanism, states, rng):
    bases = rd.BaseMotion(*rng.normal(size=(3, 2, 1, 3)))
    q, v, a = states(mechanism, (3,))
    efforts = mechanism.inverse_dynamics(q, v, a, base=bases)
    back = mechanism.forward_dynamics(q, v, efforts, base=bases)
    for i, k in np.ndindex(2, 3):
        one = mechanism.inverse_dynamics(q[k], v[k], a[k], base=bases[i, 0])
        is_near(efforts[i, k], one, 1e-12)
        is_near(back[i, k], mechanism.forward_dynamics(
            q[k], v[k], efforts[i, k], base=bases[i, 0]), 1e-9)  # fmt: skip


def test_derivatives_are_those_on_this_base(mechanism, states, rng, base):
    q, v, a = states(mechanism)
    d = mechanism.inverse_dynamics_derivatives(q, v, a, base=base)
    is_near(d.efforts, mechanism.inverse_dynamics(q, v, a, base=base), 1e-13)
    moved, faster, pushed = directions(rng, len(v))
    expected = slope(
        lambda t: mechanism.inverse_dynamics(
            mechanism.advance(q, t * moved), v + t * faster, a + t * pushed, base=base
        )
    )
    assert_close(
        d.configuration @ moved + d.velocity @ faster + d.acceleration @ pushed, expected, d[:3]
    )
    f = mechanism.forward_dynamics_derivatives(q, v, d.efforts, base=base)
    pushed = rng.uniform(-1.0, 1.0, d.efforts.shape)
    expected = slope(
        lambda t: mechanism.forward_dynamics(
            mechanism.advance(q, t * moved), v + t * faster, d.efforts + t * pushed, base=base
        )
    )
    assert_close(
        f.configuration @ moved + f.velocity @ faster + f.efforts @ pushed, expected, f[:3]
    )


def test_what_is_no_motion_of_a_base_is_refused(mechanism):
    rest = np.zeros(mechanism.coordinates.velocity_size)
    for wrong in ([0.0, 0.0, 9.81], np.zeros(9), "still"):
        with pytest.raises(InvalidInput, match="BaseMotion"):
            mechanism.inverse_dynamics(mechanism.home, rest, rest, base=wrong)
    three = rd.BaseMotion(np.ones((3, 3)))
    with pytest.raises(InvalidInput, match="do not broadcast"):
        mechanism.inverse_dynamics(np.array([mechanism.home] * 2), rest, rest, base=three)


def test_on_a_base_that_falls_nothing_moves_by_itself(mechanism):
    falling = rd.BaseMotion(*np.zeros((3, 3)))
    smooth = mechanism.without_dry_friction()
    plants = rd.BatchPlant([smooth] * 3, dt=1e-3)
    start, nothing = plants.configuration, np.zeros(len(smooth.joint_names))
    plants.step(nothing, steps=20, base=falling)
    np.testing.assert_allclose(plants.configuration, start, rtol=0.0, atol=1e-12)
    plants.step(nothing, steps=20)
    assert np.abs(plants.velocity).max() > 1e-3
    linear = smooth.linearize(smooth.home, base=falling)
    np.testing.assert_allclose(linear.efforts, 0.0, rtol=0.0, atol=1e-9)
