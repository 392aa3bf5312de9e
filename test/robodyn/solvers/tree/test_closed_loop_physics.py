# SPDX-License-Identifier: Apache-2.0

"""Physics that holds for every mechanism with closed loops, on random ones of each sort."""

from dataclasses import replace

import numpy as np
import pytest
from random_mechanisms import EQUATIONS, branched, parallel, random_state, regular, single_loop
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.solvers.tree.closing import joint_motion, joint_rates

SORTS = {
    **{kind: lambda rng, kind=kind: parallel(rng, [kind] * 3) for kind in EQUATIONS},
    **{f"loop {kind}": lambda rng, kind=kind: single_loop(rng, 3 + EQUATIONS[kind], kind)
       for kind in EQUATIONS},
    "mixed": parallel,
    "planar spherical": lambda rng: parallel(rng, ["spherical"] * 3, planar=True),
    "planar revolute": lambda rng: parallel(rng, ["revolute"] * 3, planar=True),
    "branched": branched,
}  # fmt: skip


@pytest.fixture(scope="module", params=SORTS)
def drawn(request, random_numbers):
    return regular(random_numbers(f"mechanism {request.param}"), SORTS[request.param])


@pytest.fixture
def builder(drawn):
    return drawn[0]


@pytest.fixture
def mechanism(drawn):
    return drawn[1]


def relative(a, b):
    return float(np.abs(np.asarray(a) - b).max() / max(np.abs(b).max(), 1e-6))


def test_power_of_the_efforts_is_the_rate_of_energy_and_what_friction_takes(mechanism, rng):
    """Efforts, wrench and dampers account for all of the energy; the closures for none."""
    q, u, change, wrench = random_state(mechanism, rng)
    frictionless = mechanism.without_friction()
    efforts = frictionless.inverse_dynamics(q, u, change, wrench)
    supplied = efforts @ frictionless.joint_velocities(q, u)
    supplied += wrench @ (frictionless.jacobian(q) @ u)
    rate = energy_rate(mechanism, q, *joint_motion(mechanism, q, u, change))
    size = np.abs(efforts * frictionless.joint_velocities(q, u)).sum() + 1.0
    assert abs(supplied - rate) < 1e-10 * size
    # what friction takes: the dissipation of each damper, joint by joint and closure by closure
    lost = mechanism.inverse_dynamics(q, u, change, wrench) - efforts
    v = joint_rates(mechanism, q, u)
    tree, state = mechanism.structure.tree, mechanism.joint_states(q, u)
    joints = {joint.name: joint for joint in mechanism.model.joints}
    taken = sum(
        joints[name].damping * rate**2
        for name, rate in zip(state.names, state.velocities, strict=True)
    )
    spins = spin_of_links(mechanism, q, v)
    taken += sum(
        c.damping * ((spins[c.child] - spins[c.parent]) ** 2).sum()
        for c in mechanism.model.closures
    )
    assert tree.rates == len(v)
    assert abs(lost @ mechanism.joint_velocities(q, u) - taken) < 1e-10 * max(1.0, taken)


def link_motions(mechanism, q, v, a):
    """Pose, angular velocity and acceleration, velocity and acceleration of every link's origin.

    Link by link from its parent's, by the rules of relative motion.
    """
    tree = mechanism.structure.tree
    still = np.zeros(3)
    base = mechanism.model.base_link
    out = {base: (np.eye(3), still, still, still, still, still)}
    for body in tree.bodies[1:]:
        joint, i = body.joint, body.rate
        R, p, w, al, vel, acc = out[joint.parent]
        o = p + R @ joint.at.translation
        arm = o - p
        vel, acc = vel + np.cross(w, arm), acc + np.cross(al, arm) + np.cross(w, np.cross(w, arm))
        axis = R @ (joint.at.rotation @ joint.axis)
        pose = mechanism.link_pose(q, joint.child)
        turn = Rotation.from_quat(pose[3:]).as_matrix()
        moved = pose[:3] + turn @ joint.child_at.translation
        # the point of the parent that the moving frame passes over
        arm = moved - o
        vel, acc = vel + np.cross(w, arm), acc + np.cross(al, arm) + np.cross(w, np.cross(w, arm))
        slide = slide_change = spin = spin_change = still
        if joint.kind == "floating":
            slide, spin = v[i : i + 3], v[i + 3 : i + 6]
            # rates in the axes of the base frame: their changes are those in the base frame
            slide_change = a[i : i + 3] - np.cross(w, slide)
            spin_change = a[i + 3 : i + 6]
        elif joint.kind == "prismatic":
            slide, slide_change = body.factor * v[i] * axis, body.factor * a[i] * axis
        else:
            spin, spin_change = body.factor * v[i] * axis, body.factor * a[i] * axis
            spin_change = spin_change + np.cross(w, spin)
        vel, acc = vel + slide, acc + 2.0 * np.cross(w, slide) + slide_change
        w, al = w + spin, al + spin_change
        arm = pose[:3] - moved
        vel, acc = vel + np.cross(w, arm), acc + np.cross(al, arm) + np.cross(w, np.cross(w, arm))
        out[joint.child] = (turn, pose[:3], w, al, vel, acc)
    return out


def energy_rate(mechanism, q, v, a):
    """Compute the rate of kinetic and potential energy, body by body."""
    motions, total = link_motions(mechanism, q, v, a), 0.0
    for link in mechanism.model.links:
        R, _, w, al, vel, acc = motions[link.name]
        c = R @ link.com
        vc = vel + np.cross(w, c)
        ac = acc + np.cross(al, c) + np.cross(w, np.cross(w, c))
        inertia = R @ link.inertia @ R.T
        total += link.mass * (ac - mechanism.model.gravity) @ vc + w @ (inertia @ al)
    for body in mechanism.structure.tree.bodies[1:]:
        if body.joint.kind != "floating":
            i = body.rate
            total += body.joint.armature * body.factor**2 * v[i] * a[i]
    return total


def spin_of_links(mechanism, q, v):
    """Angular velocity of every link."""
    motions = link_motions(mechanism, q, v, np.zeros_like(v))
    return {link: motion[2] for link, motion in motions.items()}


def test_inverse_dynamics_is_mass_times_acceleration_plus_bias(mechanism, rng):
    q, u, change, _ = random_state(mechanism, rng)
    expected = mechanism.mass_matrix(q) @ change + mechanism.bias(q, u)
    assert relative(mechanism.inverse_dynamics(q, u, change), expected) < 1e-10


def test_jacobian_and_rates_are_derivatives_of_positions(mechanism, rng):
    """Along the motion, by differences of order 6."""
    q, u, _, _ = random_state(mechanism, rng)
    u = 0.3 * u / np.abs(joint_rates(mechanism, q, u)).max()
    h = 2e-3
    weights = dict(zip((-3, -2, -1, 1, 2, 3), (-1, 9, -45, 45, -9, 1), strict=True))
    v, rate = mechanism.jacobian(q) @ u, motions.configuration_rate(mechanism, q, u)
    places = {k: mechanism.advance(q, k * h * u) for k in weights}
    moved = sum(w * mechanism.body_pose(places[k])[:3] for k, w in weights.items()) / (60 * h)
    turned = sum(w * places[k] for k, w in weights.items()) / (60 * h)
    size = max(1.0, np.abs(rate).max()) ** 7
    assert np.abs(moved - v[:3]).max() < 1e-7 * size
    assert np.abs(turned - rate).max() < 1e-7 * size


def test_turned_with_its_gravity_it_needs_the_same_efforts(builder, rng):
    """The base on a turntable: only the directions in the base frame change."""
    mechanism = builder.mechanism()
    R = Rotation.random(random_state=rng).as_matrix()
    joints = [
        replace(
            joint,
            at=replace(
                joint.at,
                rotation=R @ joint.at.rotation,
                translation=R @ joint.at.translation,
            ),
        )
        if joint.parent == "base"
        else joint
        for joint in mechanism.model.joints
    ]
    closures = [
        replace(
            closure,
            at=replace(
                closure.at,
                rotation=R @ closure.at.rotation,
                translation=R @ closure.at.translation,
            ),
        )
        if closure.parent == "base"
        else closure
        for closure in mechanism.model.closures
    ]
    turned = rd.ClosedLoop(
        replace(
            mechanism.model,
            joints=tuple(joints),
            closures=tuple(closures),
            gravity=R @ mechanism.model.gravity,
        )
    )
    q, u, change, wrench = random_state(mechanism, rng)
    other = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
    expected = mechanism.inverse_dynamics(q, u, change, wrench)
    assert relative(turned.inverse_dynamics(q, u, change, other), expected) < 1e-9


def test_reactions_of_joints_and_closures_balance_every_body(mechanism, rng):
    """Force and moment on each link are its mass times acceleration, and nothing else."""
    q, u, change, wrench = random_state(mechanism, rng)
    heavy = mechanism.reactions(q, u, change, wrench)
    efforts = mechanism.inverse_dynamics(q, u, change, wrench)
    joints = {joint.name: joint for joint in mechanism.model.joints}
    state = mechanism.joint_states(q, u)
    a = dict(
        zip(mechanism.structure.rate_names, joint_motion(mechanism, q, u, change)[1], strict=True)
    )
    for n, name in enumerate(heavy.names):
        joint = joints[name]
        if joint.kind == "floating":
            assert np.abs(heavy.force[n]).max() < 1e-8 * max(1.0, np.abs(heavy.force).max())
            continue
        if joint.mimic or name in [j.mimic.joint for j in joints.values() if j.mimic]:
            continue  # what drives a joint and its follower is shared between them
        axis = Rotation.from_quat(mechanism.link_pose(q, joint.parent)[3:]).as_matrix() @ (
            joint.at.rotation @ joint.axis
        )
        along = heavy.force[n] if joint.kind == "prismatic" else heavy.moment[n]
        rate = state.velocities[state.names.index(name)]
        driven = mechanism.joint_names
        given = efforts[driven.index(name)] if name in driven else 0.0
        expected = given - joint.damping * rate - joint.armature * a[name]
        size = max(1.0, np.abs(heavy.force).max(), np.abs(heavy.moment).max())
        assert abs(along @ axis - expected) < 1e-9 * size


@pytest.mark.parametrize("extra", [1, 3])
def test_redundant_motors_share_with_least_effort(builder, rng, extra):
    """They do what is needed, and no part of their efforts does nothing."""
    mechanism = builder.mechanism(extra)
    q, u, change, wrench = random_state(mechanism, rng)
    A = mechanism.joint_jacobian(q)
    efforts = mechanism.inverse_dynamics(q, u, change, wrench)
    need = mechanism.free_efforts(q, u, change, wrench)
    assert relative(A.T @ efforts, need) < 1e-9
    assert relative(A @ np.linalg.lstsq(A, efforts, rcond=None)[0], efforts) < 1e-9
    found = mechanism.forward_dynamics(q, u, efforts, wrench)
    assert relative(mechanism.mass_matrix(q) @ found + mechanism.bias(q, u, wrench), need) < 1e-9


def test_accelerating_base_adds_to_closure_forces_and_reactions():
    """Twice the weight of everything, at rest."""
    delta = rd.load("delta")
    rest, risen = np.zeros(delta.mobility), rd.BaseMotion([0.0, 0.0, 19.62], *np.zeros((2, 3)))
    state = delta.home, rest, rest
    once, twice = delta.closure_forces(*state), delta.closure_forces(*state, base=risen)
    np.testing.assert_allclose(twice, 2.0 * once, rtol=0.0, atol=1e-9 * np.abs(once).max())
    once, twice = delta.reactions(*state).force, delta.reactions(*state, base=risen).force
    np.testing.assert_allclose(twice, 2.0 * once, rtol=0.0, atol=1e-9 * np.abs(once).max())
