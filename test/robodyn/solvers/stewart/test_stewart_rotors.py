# SPDX-License-Identifier: Apache-2.0

"""Legs with rotors: against thirteen bodies and six rotors of other engines, and what must hold."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from finite_differences import along, derivatives
from six_legs import Damping, six_legs, with_legs
from stewart_mechanisms import random_motion, random_platform

import robodyn as rd
from robodyn.algorithms import motions, stepping
from robodyn.errors import ModelError
from robodyn.solvers.stewart.actuation import actuator_terms

FILE = Path(__file__).parents[3] / "reference" / "closed_loops" / "ball_screw_legs.json"
GOLDEN = json.loads(FILE.read_text())
ROTORS = GOLDEN["rotor_sets"]["main"]
HANDS = {1.0: "left", -1.0: "right"}
TOLERANCE = 1e-9


def driven_by(platform, actuators, **changes):
    legs = tuple(
        replace(leg, actuator=actuator, **changes)
        for leg, actuator in zip(six_legs(platform).legs, actuators, strict=True)
    )
    return with_legs(platform, legs)


def actuators_of(coulomb=(0.0,) * 6):
    return [
        rd.Actuator(rotor_inertia=J, lead=lead, handed=HANDS[hand], coulomb=level)
        for J, lead, hand, level in zip(
            ROTORS["inertia"], ROTORS["lead"], ROTORS["hand"], coulomb, strict=True
        )
    ]


@pytest.fixture(scope="module")
def reference():
    return driven_by(rd.load("stewart_symmetric"), actuators_of())


@pytest.fixture(params=range(len(GOLDEN["states"])))
def state(request):
    return GOLDEN["states"][request.param]


def motion(state):
    pose = rd.pose_from_rpy(state["xyz"], state["rpy"])
    return pose, *(np.array(state[name]) for name in ("twist", "acceleration", "wrench"))


def random_actuator(rng, friction=False):
    coulomb = rng.uniform(10.0, 60.0, size=2) if friction else (0.0, 0.0)
    return rd.Actuator(
        rotor_inertia=rng.uniform(1e-5, 5e-3),
        lead=rng.uniform(0.002, 0.05),
        handed=rng.choice(["left", "right"]).item(),
        coulomb=coulomb[0],
        coulomb_backward=coulomb[1],
        static=100.0 if friction else None,
        stribeck_velocity=0.05 if friction else None,
    )


@pytest.fixture
def platform(rng):
    """Rotors and threads of all sizes; one leg without, one behind a gear."""
    actuators = [random_actuator(rng) for _ in range(4)]
    geared = rd.Actuator(rotor_inertia=1e-5, lead=0.01, gear_ratio=-5.0)
    return driven_by(random_platform(rng), [*actuators, rd.Actuator(), geared])


def test_efforts_of_the_reference(reference, state):
    pose, twist, accel, wrench = motion(state)
    expected = np.array(state["rotors"]["main"]["effort"])
    forces = reference.inverse_dynamics(pose, twist, accel, wrench)
    assert np.abs(forces - expected).max() < TOLERANCE * np.abs(expected).max()
    batch = reference.inverse_dynamics(*(np.tile(part, (11, 1)) for part in motion(state)))
    assert np.array_equal(batch, np.tile(forces, (11, 1)))
    answer = reference.forward_dynamics(pose, twist, expected, wrench)
    assert np.abs(answer - accel).max() < TOLERANCE * np.abs(accel).max()
    undamped = reference.without_friction().inverse_dynamics(pose, twist, accel, wrench)
    assert undamped == pytest.approx(state["rotors"]["main"]["effort_undamped"], rel=TOLERANCE)


def test_mass_matrix_of_the_reference_is_that_of_the_legs(reference, state):
    """The file's is in leg coordinates: M_l = H^-1 M H^-T."""
    pose = motion(state)[0]
    inverse = np.linalg.inv(reference.jacobian(pose))
    expected = np.array(state["rotors"]["main"]["mass_matrix"])
    matrix = inverse @ reference.mass_matrix(pose) @ inverse.T
    assert np.abs(matrix - expected).max() < TOLERANCE * np.abs(expected).max()
    many = reference.mass_matrix(np.tile(pose, (9, 1)))
    assert np.array_equal(many[8], reference.mass_matrix(pose))


def test_bias_of_the_reference(reference, state):
    """In leg coordinates at rest of the legs' accelerations, less what the wrench bears."""
    pose, twist, _, wrench = motion(state)
    H = reference.jacobian(pose)
    still = reference.leg_motion(pose, twist, np.zeros(6)).acceleration
    accel = np.linalg.solve(H.T, -still)
    force = reference.mass_matrix(pose) @ accel + reference.bias(pose, twist) - wrench
    expected = np.array(state["rotors"]["main"]["bias"])
    error = np.abs(np.linalg.solve(H, force) - expected).max()
    assert error < TOLERANCE * np.abs(expected).max()


def test_each_term_of_the_reference(reference, state):
    pose, twist, accel, wrench = motion(state)
    terms = actuator_terms(reference, pose, twist, accel)
    expected = state["rotors"]["main"]["terms"]
    for name in ("reflected", "axial", "spin_up", "gyroscopic"):
        assert getattr(terms, name) == pytest.approx(expected[name], rel=TOLERANCE, abs=TOLERANCE)
    plain = reference.without_actuators().inverse_dynamics(pose, twist, accel, wrench)
    assert plain == pytest.approx(state["effort_without_rotors"], rel=TOLERANCE)
    total = reference.inverse_dynamics(pose, twist, accel, wrench)
    assert total - plain == pytest.approx(terms.total, rel=TOLERANCE, abs=TOLERANCE)


def test_friction_of_the_screws(state):
    friction = GOLDEN["screw_friction"]
    base = rd.load("stewart_symmetric")
    legs = tuple(
        replace(leg, damping=replace(leg.damping, prismatic=leg.damping.prismatic + viscous))
        for leg, viscous in zip(six_legs(base).legs, friction["viscous"], strict=True)
    )
    base = with_legs(base, legs)
    platform = driven_by(base, actuators_of(friction["coulomb"]))
    pose, twist, accel, wrench = motion(state)
    forces = platform.inverse_dynamics(pose, twist, accel, wrench)
    expected = state["rotors"]["main"]["effort_with_screw_friction"]
    assert forces == pytest.approx(expected, rel=TOLERANCE)
    answer = platform.forward_dynamics(pose, twist, forces, wrench)
    assert np.abs(answer - accel).max() < TOLERANCE * np.abs(accel).max()


def test_motor_torque_turns_with_the_thread(reference):
    force = np.array([100.0, -50.0, 0.0, 1.0, 2.0, 3.0])
    assert reference.motor_torques(force) == pytest.approx(force * 0.005 / (2.0 * np.pi))
    assert reference.efforts_of(reference.motor_torques(force)) == pytest.approx(force)
    right = driven_by(reference, [replace(a, handed="right") for a in reference.actuators])
    assert right.motor_torques(force) == pytest.approx(-force * 0.005 / (2.0 * np.pi))


def test_forward_dynamics_inverts_inverse_dynamics(rng, platform):
    pose, twist, accel, wrench = random_motion(rng, platform, (20,))
    forces = platform.inverse_dynamics(pose, twist, accel, wrench)
    answer = platform.forward_dynamics(pose, twist, forces, wrench)
    assert np.abs(answer - accel).max() < TOLERANCE * np.abs(accel).max()
    one = platform.forward_dynamics(pose[7], twist[7], forces[7], wrench[7])
    assert np.array_equal(one, answer[7])


def test_mass_matrix_is_symmetric_and_positive_definite(rng, platform):
    pose, _, accel, _ = random_motion(rng, platform, (20,))
    M = platform.mass_matrix(pose)
    scale = np.abs(M).max()
    assert np.abs(M - np.swapaxes(M, -1, -2)).max() < 1e-12 * scale
    assert (np.linalg.eigvalsh(M) > 0.0).all()
    # its columns are the efforts of inverse dynamics for accelerations from rest
    still = np.zeros((20, 6))
    force = platform.jacobian(pose) @ platform.inverse_dynamics(pose, still, accel)[..., None]
    from_rest = force[..., 0] - platform.bias(pose, still)
    assert np.abs(from_rest - (M @ accel[..., None])[..., 0]).max() < 1e-10 * scale


def test_the_rotors_energy_is_that_of_their_spin(rng, platform):
    """J (W.s + ratio L')^2 / 2, less what the locked rotor already has in the lower part."""
    pose, twist, accel, _ = random_motion(rng, platform)
    legs = platform.leg_motion(pose, twist, accel)
    about = (legs.angular_velocity * legs.direction).sum(-1)
    added = 0.0
    for i, actuator in enumerate(platform.actuators):
        spin = actuator.ratio * legs.rate[i]
        on_axis = about[i] if actuator.spin_inertia else 0.0
        added += 0.5 * actuator.rotor_inertia * ((on_axis + spin) ** 2 - on_axis**2)
    plain = platform.without_actuators().energy(pose, twist)
    energy = platform.energy(pose, twist)
    assert energy.kinetic - plain.kinetic == pytest.approx(added, rel=1e-9)
    assert energy.potential == plain.potential


def test_power_goes_into_energy_and_friction(rng):
    """Power of motors and wrench, less the energy's rate of change, is that of friction."""
    bare = random_platform(rng, friction=False)
    platform = driven_by(bare, [random_actuator(rng, friction=True) for _ in range(6)])
    pose, twist, accel, wrench = random_motion(rng, platform)
    curve = along(platform, pose, twist, accel)

    def energy(t):
        _, first = moving(curve, t)
        return sum(platform.energy(curve(t), first))

    def moving(curve, t):
        return curve(t), twist + accel * t

    rate, _ = derivatives(energy)
    legs = platform.leg_motion(pose, twist, accel)
    forces = platform.inverse_dynamics(pose, twist, accel, wrench)
    lost = sum(
        actuator.dry_friction(legs.rate[i]) * legs.rate[i]
        for i, actuator in enumerate(platform.actuators)
    )
    assert lost > 0.0
    supplied = forces @ legs.rate + wrench @ twist
    assert supplied - lost == pytest.approx(rate, rel=1e-7, abs=1e-6 * abs(supplied))


def test_simulated_energy_is_kept(rng, reference):
    """Falling under gravity with no friction: the loss shrinks with the fourth power of the step.

    The compiled loop integrates the same kernels.
    """
    platform = reference.without_friction()
    pose = platform.home
    twist = np.array([0.05, -0.1, 0.1, 0.3, -0.2, 0.4])
    before = sum(platform.energy(pose, twist))
    losses = []
    for steps in (20, 40):
        end = stepping.step(
            platform, pose, twist, np.full(6, 450.0), np.zeros(6), 0.2 / steps, steps
        )
        work = np.full(6, 450.0) @ (
            platform.joint_positions(end[0]) - platform.joint_positions(pose)
        )
        losses.append(abs(sum(platform.energy(*end)) - before - work))
    assert losses[1] < 1e-6 * abs(before)
    assert losses[1] < losses[0] / 10.0


def test_the_compiled_simulation_moves_as_the_equations_say(rng, platform):
    """Runge-Kutta steps with `forward_dynamics`, called from here, arrive at the same state."""
    pose, twist, _, wrench = (part[0] for part in random_motion(rng, platform, (1,)))
    effort = platform.inverse_dynamics(pose, twist, np.zeros(6), wrench)
    found = stepping.step(platform, pose, twist, effort, wrench, 1e-3, 5)
    for _ in range(5):
        states = [(pose, twist)]
        rates = []
        for part in (0.5, 0.5, 1.0, None):
            at, moving = states[-1]
            at = motions.project_onto_manifold(platform, at)
            turn = motions.configuration_rate(platform, at, moving)
            rates.append((turn, platform.forward_dynamics(at, moving, effort, wrench)))
            if part is not None:
                step = part * 1e-3
                states.append(
                    tuple(x + step * r for x, r in zip((pose, twist), rates[-1], strict=True))
                )
        for_pose, for_twist = (
            sum(w * rate[i] for w, rate in zip((1, 2, 2, 1), rates, strict=True)) for i in (0, 1)
        )
        pose = motions.project_onto_manifold(platform, pose + 1e-3 / 6.0 * for_pose)
        twist = twist + 1e-3 / 6.0 * for_twist
    assert found[0] == pytest.approx(pose, rel=1e-9, abs=1e-10)
    assert found[1] == pytest.approx(twist, rel=1e-9, abs=1e-9)


def test_computed_torque_needs_the_rotors(reference):
    """With them in the model tracking is exact to the control rate; without, far worse."""
    goal = rd.pose_from_rpy([0.05, 0.03, 0.85], [0.05, 0.02, 0.1])
    path = rd.plan_line(reference.home, goal, duration=1.5)
    errors = [
        np.abs(rd.simulate(reference, rd.ComputedTorque(model), path, control_dt=2e-3).error).max()
        for model in (reference, reference.without_actuators())
    ]
    assert errors[0] < 0.1 * errors[1]


def test_a_rotor_slows_the_fall(reference):
    light = reference.without_actuators()
    falls = [
        platform.forward_dynamics(platform.home, np.zeros(6), np.zeros(6))[2]
        for platform in (light, reference)
    ]
    assert falls[0] < falls[1] < 0.0
    assert falls[1] > 0.5 * falls[0]


def test_reactions_bear_the_rotors(rng, platform):
    """Forces on the upper part sum up; lower part, rotor and upper part about the base, too."""
    pose, twist, accel, wrench = random_motion(rng, platform)
    legs = platform.leg_motion(pose, twist, accel)
    bare = platform.without_actuators()
    found, plain = (p.reactions(pose, twist, accel, wrench) for p in (platform, bare))
    s = legs.direction
    scale = np.abs(found.prismatic_force).max()
    along_leg = ((found.prismatic_force - plain.prismatic_force) * s).sum(-1)
    assert np.abs(along_leg).max() < 1e-9 * scale
    for i, actuator in enumerate(platform.actuators):
        rise = legs.acceleration[i] * s[i]
        turn = legs.rate[i] * np.cross(legs.angular_velocity[i], s[i])
        spin_up = actuator.spin_inertia * (rise + turn)
        pushed = np.cross(legs.length[i] * s[i], (found.spherical_force - plain.spherical_force)[i])
        held = (found.universal_moment - plain.universal_moment)[i]
        assert pushed + held == pytest.approx(spin_up, rel=1e-6, abs=1e-8 * scale)


def test_without_actuators_nothing_is_left(platform):
    bare = platform.without_actuators()
    assert bare.actuators == (rd.Actuator(),) * 6
    assert platform.without_friction().actuators[0].rotor_inertia > 0.0
    assert all(leg.damping == Damping() for leg in six_legs(platform.without_friction()).legs)


def test_a_leg_on_a_spherical_joint_cannot_hold_a_rotor(rng):
    platform = random_platform(rng, "spherical")
    legs = tuple(
        replace(leg, actuator=rd.Actuator(rotor_inertia=1e-4, lead=0.005))
        for leg in six_legs(platform).legs
    )
    with pytest.raises(ModelError, match=r"leg 1 .* spherical .*rotor"):
        rd.StewartPlatform(with_legs(platform, legs).model, "spherical")
