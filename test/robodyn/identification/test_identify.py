# SPDX-License-Identifier: Apache-2.0

"""Simulated recordings give back the parameters that they were made with, as far as they show."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.dynamics import joint_friction
from robodyn.dynamics.body_parameters import pseudo_inertias
from robodyn.errors import InvalidInput
from robodyn.identification import (
    COULOMB,
    RUBBING,
    Term,
    candidates,
    choose_filters,
    friction_columns,
    motors_of,
    prandtl_deflection,
    samples_of,
)
from robodyn.model import LinearSpring
from robodyn.trajectories import FourierSeries, FourierTrajectory

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.slow]

SPRINGS = {
    "puma560": {"joint2": LinearSpring(60.0, 0.3, 20.0)},
    "stewart_symmetric": {"leg1_actuator": LinearSpring(2e4, 1.0, 50.0)},
}
RATE, DURATION, NOISE = 100.0, 8.0, 0.01


def motion(m, rng, reach):
    """A motion about home of several harmonics, of joints that may go so far [rad or m]."""
    rest = np.zeros(m.coordinates.velocity_size)
    center = motions.independent_motion(m, m.home, rest, rest).positions
    size = reach / np.arange(1, 6)[:, None]
    sine, cosine = rng.uniform(-1.0, 1.0, (2, 5, len(center))) * size
    return FourierTrajectory(m, FourierSeries(DURATION, 1.0, center, sine, cosine))


def recorded(m, path, rng, noise=NOISE, encoder=1e-7):
    times = np.arange(0.0, DURATION, 1.0 / RATE)
    states = path.sample(times)
    efforts = m.inverse_dynamics(*states)
    deviation = noise * efforts.std(axis=0)
    positions = m.joint_positions(states.configuration)
    recording = rd.Recording.from_arrays(
        m,
        times,
        positions + encoder * rng.normal(size=positions.shape),
        efforts + deviation * rng.normal(size=efforts.shape),
    )
    return recording, deviation


def given_wrong(m, rng):
    """Return the mechanism with every body and every coefficient off by up to 30 %."""
    own = m.parameters
    bodies = len(own.bodies)
    factors = np.repeat(rng.uniform(0.7, 1.3, bodies), 10)
    rest = rng.uniform(0.7, 1.3, len(own.values) - 10 * bodies)
    return rd.with_parameters(m, own.values * np.concatenate([factors, rest]))


@pytest.fixture(scope="module", params=[("puma560", 0.5), ("stewart_symmetric", 0.03),
                                        ("delta", 0.2)], ids=lambda p: p[0])  # fmt: skip
def case(request):
    name, reach = request.param
    rng = np.random.default_rng(3)
    truth = rd.load(name)
    truth = truth._made(truth.model.with_joint_springs(SPRINGS.get(name, {})))
    path, other = (motion(truth, rng, reach) for _ in range(2))
    recording, _ = recorded(truth, path, rng)
    unseen, deviation = recorded(truth, other, rng)
    result = rd.identify(given_wrong(truth, rng), [recording], friction="offset")
    return SimpleNamespace(
        truth=truth, result=result, other=other, unseen=unseen, deviation=deviation
    )


def test_true_base_parameters_are_within_three_deviations(case):
    own = case.result.parameters
    away = np.abs(own.values - own.of(case.truth)) / own.deviations
    assert np.isfinite(away).all()
    assert (away < 3.0).mean() >= 0.95
    wrong = np.abs(own.given - own.of(case.truth)) / own.deviations
    assert (wrong**2).mean() > 2.0 * (away**2).mean()


def test_springs_are_found(case):
    own, true = case.result.parameters, case.result.parameters.of(case.truth)
    named = [joint.name for joint in case.truth.model.joints if joint.spring.acts]
    places = [own.names.index(f"{name}.stiffness") for name in named]
    assert (own.deviations[places] < 0.1 * true[places]).all()
    assert (np.abs(own.values - true)[places] < 3.0 * own.deviations[places]).all()


def test_springs_at_the_motors_of_a_delta_are_found_to_a_tenth():
    """In wide motions: over small ones they are like the weight of the arms."""
    truth, rng = rd.load("delta"), np.random.default_rng(3)
    springs = {name: LinearSpring(20.0, 0.1 * k, 2.0) for k, name in enumerate(truth.joint_names)}
    truth = truth._made(truth.model.with_joint_springs(springs))
    recordings = [recorded(truth, motion(truth, rng, 0.6), rng)[0] for _ in range(2)]
    own = rd.identify(given_wrong(truth, rng), recordings, friction="offset").parameters
    places = [own.names.index(f"{name}.stiffness") for name in springs]
    assert (own.deviations[places] < 2.0).all()
    assert np.abs(own.values[places] - 20.0).max() < 2.0
    assert (np.abs(own.values[places] - 20.0) < 3.0 * own.deviations[places]).all()


def test_efforts_of_another_motion_are_predicted_to_the_noise(case):
    found = case.result.validate([case.unseen])[0]
    assert (found.rmse < 1.2 * case.deviation).all()
    # samples at which a joint turns round are off by its friction, if they are off by an instant
    assert np.median(found.rmse_unfiltered / case.deviation) < 1.2
    assert (found.given > 5.0 * found.relative).all()


def test_the_mechanism_moves_like_the_true_one(case):
    states = case.other.sample(np.linspace(0.5, DURATION - 0.5, 60))
    efforts = case.truth.inverse_dynamics(*states)
    error, before = (
        np.sqrt(((m.inverse_dynamics(*states) - efforts) ** 2).mean(axis=0))
        for m in (case.result.mechanism, case.result.model)
    )
    assert (error < 0.2 * before).all()
    assert (error < 0.05 * efforts.std(axis=0)).all()


def test_every_body_is_a_body(case):
    own = case.result.mechanism.parameters
    bodies = own.values[: 10 * len(own.bodies)].reshape(-1, 10)
    weighed = bodies[bodies[:, 0] > 0.0]
    assert len(weighed) > 0
    assert (np.linalg.eigvalsh(pseudo_inertias(weighed)) > 0.0).all()


def test_bodies_stay_bodies_and_near_the_model_with_little_data(rng):
    truth = rd.load("stanford_arm")
    path = motion(truth, rng, np.array([0.3, 0.0, 0.0, 0.0, 0.2, 0.0]))
    recording, _ = recorded(truth, path, rng, noise=0.2)
    guess = given_wrong(truth, rng)
    result = rd.identify(guess, recording, friction="viscous")
    own = result.mechanism.parameters
    bodies = own.values[: 10 * len(own.bodies)].reshape(-1, 10)
    assert (np.linalg.eigvalsh(pseudo_inertias(bodies)) > 0.0).all()
    names = dict(result.missed)
    assert names
    assert all("motion" in hint or "poses" in hint for hint in names.values())
    # what the recording cannot show stays as it was given
    first = own.names.index("link1.mass")
    assert own.values[first] == pytest.approx(guess.parameters.values[first], rel=0.2)


def test_a_model_without_masses_gets_them(rng):
    """A URDF for show has none; then there is no prior, and efforts determine all."""
    truth = rd.load("puma560")
    path, other = (motion(truth, rng, 0.5) for _ in range(2))
    recording, _ = recorded(truth, path, rng)
    unseen, deviation = recorded(truth, other, rng)
    own = truth.parameters
    values = own.values.copy()
    values[: 10 * len(own.bodies)] = 0.0
    result = rd.identify(rd.with_parameters(truth, values), recording, friction="offset")
    found = result.mechanism.parameters.values[: 10 * len(own.bodies)].reshape(-1, 10)
    assert (np.linalg.eigvalsh(pseudo_inertias(found)) > 0.0).all()
    assert (result.validate([unseen])[0].rmse < 1.5 * deviation).all()


def test_stamps_that_jitter_do_not_make_the_motion_quick(rng):
    """A logger's stamps are off by a part of its period; that is noise of positions, not motion."""
    truth = rd.load("puma560")
    path = motion(truth, rng, 0.5)
    times = np.arange(0.0, DURATION, 1e-3)
    late = np.maximum.accumulate(times + 2e-4 * rng.uniform(-1.0, 1.0, len(times)))
    states = path.sample(times)
    efforts = truth.inverse_dynamics(*states)
    noisy = efforts + 0.01 * efforts.std(axis=0) * rng.normal(size=efforts.shape)
    result = rd.identify(
        truth, rd.Recording.from_arrays(truth, late, states.configuration, noisy), friction="offset"
    )
    # the fifth harmonic is at 0.6 Hz
    assert result.filters.effort < 12.0
    assert (result.fit[0].relative < 0.03).all()


def test_friction_that_is_found_drives_no_motor(rng):
    """An offset beyond Coulomb friction would push: it is weight, and found as such."""
    truth = rd.load("delta")
    recording, _ = recorded(truth, motion(truth, rng, 0.2), rng)
    result = rd.identify(given_wrong(truth, rng), recording, friction="offset")
    for terms in result.friction:
        found = {item.term.kind: item.coefficient for item in terms}
        assert abs(found["offset"]) <= found["coulomb"]
        assert found["viscous"] >= 0.0


def test_a_joint_that_rests_is_left_out_while_others_move(rng):
    """At rest dry friction holds any effort: what is added there changes no prediction."""
    truth = rd.load("puma560")
    times = np.arange(0.0, DURATION, 1.0 / RATE)
    q, rate, change = motion(truth, rng, 0.5).sample(times)
    resting = (times > 3.0) & (times < 5.0)
    q[:, 5] = 0.5 * np.sin(3.0 * np.pi * np.minimum(times, 3.0) / 3.0 * 1.5)
    q[times > 5.0, 5] = q[resting, 5][0] + 0.5 * np.sin(4.0 * (times[times > 5.0] - 5.0)) ** 2
    rate[:, 5] = np.gradient(q[:, 5], times)
    change[:, 5] = np.gradient(rate[:, 5], times)
    effort = truth.inverse_dynamics(q, rate, change)
    other: np.ndarray = effort.copy()
    other[(times > 3.5) & (times < 4.5), 5] += 2.0
    held, free = (
        rd.identify(
            truth, rd.Recording.from_arrays(truth, times, q, e), friction="coulomb", robust=False
        )
        for e in (other, effort)
    )
    # were the samples fitted, residuals would be of the size of what was added
    assert held.sigma[5] == pytest.approx(free.sigma[5], rel=0.02)
    for j in range(6):
        for one, two in zip(held.friction[j], free.friction[j], strict=True):
            assert one.coefficient == pytest.approx(two.coefficient, abs=0.05)


def test_friction_of_gears_is_chosen_where_it_is_there(rng):
    truth = rd.load("puma560")
    path = motion(truth, rng, 0.5)
    recording, _ = recorded(truth, path, rng)
    wound = prandtl_deflection(recording.position[:, 5], 0.02)
    effort = recording.effort.copy()
    effort[:, 5] += 0.3 * wound
    rubbing = rd.Recording.from_arrays(truth, recording.time, recording.position, effort)
    result = rd.identify(truth, rubbing)
    plain = rd.identify(truth, rubbing, friction="coulomb")
    kinds = [item.term.kind for item in result.friction[5]]
    assert "wind-up" in kinds
    assert result.fit[0].relative[5] < 0.8 * plain.fit[0].relative[5]


def test_friction_that_varies_over_a_turn_is_chosen_where_it_is_there():
    """As of a gear that is squeezed oval: dry friction with two waves in a turn of its output."""
    truth, rng = rd.load("puma560"), np.random.default_rng(0)

    def run(path):
        recording, _ = recorded(truth, path, rng)
        at, effort = recording.position, recording.effort.copy()
        sense = np.sign(np.gradient(at[:, 5], recording.time))
        effort[:, 5] += 0.8 * sense * (1.0 + 0.7 * np.cos(2.0 * at[:, 5] + 0.4))
        return rd.Recording.from_arrays(truth, recording.time, at, effort)

    first, other = (run(motion(truth, rng, 1.6)) for _ in range(2))
    assert np.ptp(first.position[:, 5]) > np.pi
    result, plain = (rd.identify(truth, first, friction=kind) for kind in ("auto", "coulomb"))
    waves = {item.term.kind: item for item in result.friction[5] if item.term.scale == 2.0}
    assert np.hypot(
        waves["rubbing cosine"].coefficient, waves["rubbing sine"].coefficient
    ) == pytest.approx(0.56, abs=0.1)
    unseen = [each.validate(other)[0].relative[5] for each in (result, plain)]
    assert unseen[0] < 0.5 * unseen[1]


def test_less_than_half_a_wave_is_not_tried():
    kinds = [
        [term.scale for term in candidates("auto", 1.0, travel, turn) if term.kind in RUBBING]
        for travel, turn in ((7.0, 1.0), (2.0, 1.0), (1.0, 1.0), (7.0, 0.0))
    ]
    # cosine and sine of each; a slide has no turns
    assert kinds == [[1.0, 2.0, 1.0, 2.0], [2.0, 2.0], [], []]


def test_a_slow_turn_is_no_standstill():
    """The direction of a joint is known around a reversal, at any speed."""
    truth = rd.load("puma560")
    times = np.arange(0.0, DURATION, 1.0 / RATE)
    q = np.repeat(0.5 * ((times - 4.005) / 4.0)[:, None] ** 4, 6, axis=1)
    recording = rd.Recording.from_arrays(truth, times, q, q)
    filters = choose_filters([recording], None, None)
    [samples], _ = samples_of(recording, truth, filters)
    assert samples.rest_mask(samples.joints.positions).any()
    turns = np.eye(6)[0]
    column = friction_columns(samples, [Term(COULOMB)], turns)[:, 0]
    clear = np.abs(samples.joints.velocities[:, 0]) > 10.0 * filters.dead_rates[0]
    assert clear.sum() > 0.9 * len(times)
    np.testing.assert_allclose(column[clear], np.sign(times - 4.005)[clear], atol=1e-3)


def test_efforts_of_a_standing_joint_are_not_used(rng):
    """Its efforts at standstill contain no information."""
    truth = rd.load("puma560")
    times = np.arange(0.0, DURATION, 1.0 / RATE)
    held = [part.copy() for part in motion(truth, rng, 0.5).sample(times)]
    held[0][:, 5] = 0.3
    held[1][:, 5] = held[2][:, 5] = 0.0
    efforts = truth.inverse_dynamics(*held)
    efforts += 0.01 * efforts.std(axis=0) * rng.normal(size=efforts.shape)
    result = rd.identify(truth, rd.Recording.from_arrays(truth, times, held[0], efforts))
    assert (result.parameters.deviations > 0.0).all()
    assert result.condition < 1e6
    assert any("joint6.armature" in name for name, _ in result.missed)


def test_efforts_of_the_other_sense_are_reported(rng):
    truth = rd.load("puma560")
    recording, _ = recorded(truth, motion(truth, rng, 0.5), rng)
    efforts = recording.effort * [1.0, -1.0, 1.0, 1.0, 1.0, 1.0]
    turned = rd.Recording.from_arrays(truth, recording.time, recording.position, efforts)
    notes = rd.identify(truth, turned, friction="coulomb").notes
    (reported,) = (note for note in notes if "--effort-gain" in note)
    assert "--effort-gain joint2=-1)" in reported
    assert not any("--effort-gain" in note for note in rd.identify(truth, recording).notes)


def test_a_motor_that_turns_with_two_joints_is_found(rng):
    """Its rotor and friction are at its own rate, and its friction varies over its turns."""
    truth = rd.load("puma560")
    path = motion(truth, rng, 0.5)
    times = np.arange(0.0, DURATION, 1.0 / RATE)
    states = path.sample(times)
    angle, rate, change = (values[:, 4] + values[:, 5] for values in states)
    shared = 0.3 * change + 0.5 * np.sign(rate) * (1.0 + 0.4 * np.cos(60.0 * angle))
    effort = truth.inverse_dynamics(*states)
    effort[:, 4] += shared
    effort[:, 5] += shared
    recording = rd.Recording.from_arrays(truth, times, states.configuration, effort)
    coupled = {"joint5": 1.0, "joint6": 1.0}
    result = rd.identify(truth, recording, couplings=[coupled])
    found = dict(zip(result.columns.names, result.fitted, strict=True))
    assert found["motor(joint5 + joint6).armature"] == pytest.approx(0.3, abs=0.02)
    assert result.columns.motors.names[5] == "motor(joint5 + joint6)"
    terms = {item.term.kind: item for item in result.friction[5]}
    assert terms["coulomb"].coefficient == pytest.approx(0.5, abs=0.1)
    # waves that differ by one over the travel are distinguished
    resolution = 2.0 * np.pi / np.ptp(angle)
    assert terms["rubbing cosine"].term.scale == pytest.approx(60.0, abs=resolution)
    assert (result.fit[0].relative < 0.05).all()


def test_motors_and_joints_do_the_same_work(rng):
    motors = motors_of(("a", "b", "c"), [{"a": 0.5, "c": 1.0}, {"b": 2.0, "c": -1.0}])
    assert np.linalg.matrix_rank(motors.turns) == 3
    assert len(motors.coupled) == 2
    rates, efforts = rng.normal(size=(2, 7, 3))
    power = (motors.motion(rates) * motors.efforts(efforts)).sum(axis=1)
    np.testing.assert_allclose(power, (rates * efforts).sum(axis=1))
    np.testing.assert_allclose(motors.to_joint_efforts(motors.efforts(efforts)), efforts)
    with pytest.raises(InvalidInput, match="once"):
        motors_of(("a", "b"), [{"a": 1.0, "b": 1.0}, {"a": 2.0, "b": 2.0}])


def test_of_a_joint_that_stands_still_nothing_is_said(rng):
    """Its brake may hold any effort; its friction stays what it was."""
    truth = rd.load("delta")
    recording, _ = recorded(truth, motion(truth, rng, 0.2), rng)
    position, effort = recording.position.copy(), recording.effort.copy()
    position[:, 1] = position[0, 1]
    effort[:, 1] += 100.0 * rng.normal(size=len(effort))
    guess = given_wrong(truth, rng)
    result = rd.identify(guess, rd.Recording.from_arrays(truth, recording.time, position, effort))
    assert [bool(terms) for terms in result.friction] == [True, False, True]
    assert np.isfinite(result.fitted).all()
    assert np.isnan(result.fit[0].relative[1])
    kept, given = (
        joint_friction.joint_friction(m)[1]["damping"] for m in (result.mechanism, guess)
    )
    assert kept == given


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"friction": "sticky"}, "friction is 'sticky', expected one of"),
        ({"cutoff": -1.0}, "cutoff is -1.0"),
        ({"couplings": [{"joint5": 1.0, "elbow": 1.0}]}, "at least two of the driven joints"),
    ],
)
def test_identify_reports_why_options_are_impossible(options, says, rng):
    truth = rd.load("puma560")
    recording, _ = recorded(truth, motion(truth, rng, 0.3), rng)
    with pytest.raises(InvalidInput, match=says):
        rd.identify(truth, recording, **options)


def test_recordings_of_other_joints_and_short_ones_are_refused(rng):
    truth = rd.load("puma560")
    recording, _ = recorded(truth, motion(truth, rng, 0.3), rng)
    with pytest.raises(InvalidInput, match="has the joints joint1"):
        rd.identify(rd.load("fivebar"), recording)
    short = rd.Recording.from_arrays(
        truth, recording.time[:40], recording.position[:40], recording.effort[:40]
    )
    with pytest.raises(InvalidInput, match=r"too short, .* record at least 10 s"):
        rd.identify(truth, short)
    effort = recording.effort.copy()
    effort[:, 3] = 1.5
    constant = rd.Recording.from_arrays(truth, recording.time, recording.position, effort)
    with pytest.raises(
        InvalidInput, match="efforts of joint4 never change although these joints move"
    ):
        rd.identify(truth, constant)
    with pytest.raises(InvalidInput, match="empty"):
        rd.identify(truth, [])
