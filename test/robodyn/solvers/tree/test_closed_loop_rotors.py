# SPDX-License-Identifier: Apache-2.0


"""Rotors on driven joints: against explicit bodies on mimic joints, and against a platform's."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from random_mechanisms import branched, parallel, random_state, regular, single_loop
from six_legs import six_legs, with_legs

import robodyn as rd
from robodyn.algorithms import motions, stepping
from robodyn.loading.as_closed_loop import from_tree
from robodyn.model import Joint, Link, Mimic
from robodyn.solvers.tree.closing import joint_rates, update_mimic_joints

FILE = Path(__file__).parents[3] / "reference" / "closed_loops" / "ball_screw_legs.json"
GOLDEN = json.loads(FILE.read_text())
HANDS = {1.0: "left", -1.0: "right"}
BUILDERS = {"parallel": parallel, "loop": single_loop, "branched": branched}


def relative(a, b):
    return float(np.abs(np.asarray(a) - b).max() / max(np.abs(b).max(), 1e-6))


def random_actuator(rng, slides):
    if slides:
        return rd.Actuator(
            rotor_inertia=rng.uniform(1e-5, 1e-3),
            lead=rng.uniform(0.005, 0.05),
            handed=rng.choice(["left", "right"]).item(),
        )
    ratio = rng.uniform(5.0, 100.0) * rng.choice([-1.0, 1.0])
    return rd.Actuator(rotor_inertia=rng.uniform(1e-4, 1e-2), gear_ratio=float(ratio))


def rotor_link(rng, joint, inertia):
    """A body that is alike all round the joint's axis, somewhere on it, in the joint's frame."""
    axis = joint.axis
    across = inertia * rng.uniform(0.6, 2.0)
    tensor = inertia * np.outer(axis, axis) + across * (np.eye(3) - np.outer(axis, axis))
    return Link(f"{joint.name}_rotor", rng.uniform(0.1, 1.0), rng.uniform(-0.2, 0.2) * axis, tensor)


def with_locked(link, rotors):
    """A link with rotors (body, placement on the link) that do not turn in it."""
    parts = [(link.mass, link.com, link.inertia)] + [
        (body.mass, at.rotation @ body.com + at.translation, at.rotation @ body.inertia
         @ at.rotation.T) for body, at in rotors
    ]  # fmt: skip
    mass = sum(part[0] for part in parts)
    com = sum(part[0] * part[1] for part in parts) / (mass or 1.0)
    inertia = np.zeros((3, 3))
    for m, c, tensor in parts:
        arm = c - com
        inertia += tensor + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Link(link.name, mass, com, inertia)


def pair_of(rng, draw):
    """Return the machine with rotors in its actuators, and with bodies that mimic joints turn."""
    _, bare = regular(rng, draw)
    joints, turning, carried = [], [], {}
    for joint in bare.model.joints:
        if joint.name in bare.joint_names:
            drive = random_actuator(rng, joint.kind == "prismatic")
            body = rotor_link(rng, joint, drive.rotor_inertia)
            carried.setdefault(joint.parent, []).append((body, joint.at))
            mimic = Mimic(joint.name, drive.ratio)
            spins = Joint(
                body.name, "continuous", joint.parent, body.name, joint.at, axis=joint.axis,
                mimic=mimic,
            )  # fmt: skip
            turning.append((body, spins))
            joint = replace(joint, drive=drive)
        joints.append(joint)
    links = [with_locked(link, carried.get(link.name, ())) for link in bare.model.links]
    names = {"independent": bare.independent_joints, "tip_link": bare.model.tip_link}
    ours = replace(bare.model, links=tuple(links), joints=tuple(joints), **names)
    explicit = replace(
        bare.model,
        links=(*bare.model.links, *(body for body, _ in turning)),
        joints=(*bare.model.joints, *(spins for _, spins in turning)),
        **names,
    )
    return rd.ClosedLoop(ours), rd.ClosedLoop(explicit)


@pytest.fixture(params=BUILDERS)
def pair(request, rng):
    return pair_of(rng, BUILDERS[request.param])


@pytest.fixture
def states(pair, rng):
    """A state of the first of a pair, and of the second."""
    ours, explicit = pair
    q, *rest = random_state(ours, rng)
    other = np.zeros(len(explicit.home))
    other[: len(q)] = q  # rotors come last
    update_mimic_joints(explicit.structure.tree, other)
    return (q, *rest), (other, *rest)


@pytest.mark.slow
def test_rotors_as_bodies_give_the_same(pair, states, rng):
    (ours, explicit), ((q, u, change, wrench), (other, *_)) = pair, states
    expected = explicit.inverse_dynamics(other, u, change, wrench)
    assert relative(ours.inverse_dynamics(q, u, change, wrench), expected) < 1e-9
    assert relative(ours.mass_matrix(q), explicit.mass_matrix(other)) < 1e-9
    assert relative(ours.bias(q, u), explicit.bias(other, u)) < 1e-9
    found = ours.forward_dynamics(q, u, expected, wrench)
    assert relative(found, explicit.forward_dynamics(other, u, expected, wrench)) < 1e-9
    assert relative(found, change) < 1e-7
    assert ours.energy(q, u)[0] == pytest.approx(explicit.energy(other, u)[0], rel=1e-12)
    # and the rotors are not nothing
    without = ours.without_actuators()
    assert relative(without.inverse_dynamics(q, u, change, wrench), expected) > 1e-4


@pytest.mark.slow
def test_closure_forces_and_reactions_agree_with_rotors_modeled_as_bodies(pair, states):
    (ours, explicit), ((q, u, change, wrench), (other, *_)) = pair, states
    expected = explicit.closure_forces(other, u, change, wrench)
    assert relative(ours.closure_forces(q, u, change, wrench), expected) < 1e-8
    found = ours.reactions(q, u, change, wrench)
    expected = explicit.reactions(other, u, change, wrench)
    at = [expected.names.index(name) for name in found.names]
    assert relative(found.force, expected.force[at]) < 1e-8
    assert relative(found.moment, expected.moment[at]) < 1e-8


@pytest.mark.slow
def test_rotors_in_batches_and_in_the_compiled_simulation(pair, states):
    (ours, explicit), ((q, u, change, wrench), (other, *_)) = pair, states
    many = [np.tile(part, (9, 1)) for part in (q, u, change, wrench)]
    efforts = ours.inverse_dynamics(*many)
    assert relative(efforts[8], ours.inverse_dynamics(q, u, change, wrench)) < 1e-12
    moved = ours.forward_dynamics(many[0], many[1], efforts, many[3])
    assert relative(moved[8], change) < 1e-7
    ends = [
        stepping.step(loop, start, 0.1 * u, efforts[0], wrench, 1e-4, 20)
        for loop, start in ((ours, q), (explicit, other))
    ]
    assert relative(ends[0][0], ends[1][0][: len(q)]) < 1e-9
    assert relative(ends[0][1], ends[1][1]) < 1e-9


def test_linear_models_include_rotors(rng):
    ours, explicit = pair_of(rng, partial(single_loop, length=7, kind="revolute"))
    other = explicit.home
    ours = ours.linearize(ours.home)
    expected = explicit.linearize(other)
    assert relative(ours.state_matrix, expected.state_matrix) < 1e-6
    assert relative(ours.input_matrix, expected.input_matrix) < 1e-9


def screws(coulomb):
    sets = GOLDEN["rotor_sets"]["main"]
    return [
        rd.Actuator(
            rotor_inertia=J, lead=lead, handed=HANDS[hand], coulomb=level,
            static=1.5 * level if level else None, stribeck_velocity=0.05 if level else None,
        )
        for J, lead, hand, level in zip(
            sets["inertia"], sets["lead"], sets["hand"], coulomb, strict=True
        )
    ]  # fmt: skip


def on_screws(platform, actuators):
    legs = tuple(
        replace(leg, actuator=actuator)
        for leg, actuator in zip(six_legs(platform).legs, actuators, strict=True)
    )
    return with_legs(platform, legs)


@pytest.mark.parametrize("coulomb", [(0.0,) * 6, (150.0, 120.0, 0.0, 90.0, 200.0, 150.0)])
def test_a_platform_on_screws_read_as_a_closed_loop(coulomb):
    """The golden states: mixed threads, Stribeck's friction; efforts, mass, reactions of legs."""
    platform = on_screws(rd.load("stewart_symmetric"), screws(coulomb))
    loop = from_tree(platform)
    assert loop.actuators == platform.actuators
    for state in GOLDEN["states"]:
        pose = rd.pose_from_rpy(state["xyz"], state["rpy"])
        motion = [np.array(state[name]) for name in ("twist", "acceleration", "wrench")]
        legs = motions.driven_motion(platform, pose, *motion[:2])
        q = loop.assemble(pose=pose)
        reported = legs.velocities, legs.accelerations, motion[2]
        expected = platform.inverse_dynamics(pose, *motion)
        assert relative(loop.inverse_dynamics(q, *reported), expected) < 1e-9
        J = loop.jacobian(q)
        assert relative(loop.mass_matrix(q), J.T @ platform.mass_matrix(pose) @ J) < 1e-9
        found = loop.forward_dynamics(q, reported[0], expected, reported[2])
        assert relative(found, legs.accelerations) < 1e-9
        tips = -loop.closure_forces(q, *reported)[:, :3]
        assert relative(tips, platform.reactions(pose, *motion).spherical_force) < 1e-9
        if not any(coulomb):
            assert relative(expected, np.array(state["rotors"]["main"]["effort"])) < 1e-9


def test_energy_is_kept_to_the_integrators_order(rng):
    """Under gravity and held efforts, without friction: halved steps lose a sixteenth."""
    ours, _ = pair_of(rng, branched)
    ours = ours.without_friction()
    q, u = ours.home, 0.5 * rng.normal(size=ours.mobility)
    u /= max(1.0, np.abs(joint_rates(ours, q, u)).max())
    rest = np.zeros(ours.mobility)
    effort = ours.inverse_dynamics(q, rest, rest)
    start, losses = sum(ours.energy(q, u)), []
    for steps in (40, 80):
        end = stepping.step(ours, q, u, effort, np.zeros(6), 0.1 / steps, steps)
        work = effort @ (ours.joint_positions(end[0]) - ours.joint_positions(q))
        losses.append(abs(sum(ours.energy(*end)) - start - work))
    assert losses[0] < 1e-3 * abs(start)
    assert losses[1] < losses[0] / 8.0 + 1e-12 * abs(start)
