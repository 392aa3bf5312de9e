# SPDX-License-Identifier: Apache-2.0

"""The supervised controller of an exported library: what it refuses, and that it comes to rest."""

import numpy as np
import pytest
from controlled import (
    BEYOND_ENDS,
    INVALID,
    JUMPS,
    LIMITED,
    OK,
    TOO_FAST,
    TOO_STRONG,
    Controller,
    Library,
    fivebar_folder,
    program,
)

import robodyn as rd
from robodyn.algorithms import Motion, conditioning
from robodyn.control import ComputedTorque, reduced_efforts

pytestmark = pytest.mark.slow

PERIOD = 1e-3
GIVE_UP_TIME, BLIND_TIME = 1.0, 0.25  # [s]
REST = np.zeros(2)


@pytest.fixture(scope="module")
def fivebar():
    return rd.load("fivebar")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return fivebar_folder(tmp_path_factory) / "controller"


class Loop:
    """A controller and the simulated mechanism, by the same library."""

    def __init__(self, made, mechanism, add=None, **compensation):
        self.m, self.controller = mechanism, Controller(made, mechanism, **compensation)
        self.add = add or (lambda q, v: 0.0)  # efforts that the drives add to commands
        self.library = Library(made.with_name("libfivebar.so"), "fivebar")
        self.q, self.v = mechanism.home.copy(), np.zeros(mechanism.coordinates.velocity_size)
        self.home = self.measure()[0]
        self.controller.start(self.home, 0.0 * self.home)
        self.rates, self.fell = [], False

    def measure(self):
        positions, rates = np.empty((2, len(self.m.joint_names)))
        assert self.library.call("joint_positions", self.q, positions) == OK
        assert self.library.call("joint_velocities", self.q, self.v, rates) == OK
        return positions, rates

    def run(self, reference_at, count, state_of=lambda k, p, v: (p, v)):
        """Run periods with references and measured states; return the results."""
        answers = []
        for k in range(count):
            positions, rates = state_of(k, *self.measure())
            answer = self.controller.update(positions, rates, reference_at(k))
            low, high = self.m.drives.effort_ends
            assert np.isfinite(answer.efforts).all()
            assert (answer.efforts >= low).all()
            assert (answer.efforts <= high).all()
            efforts = answer.efforts + self.add(self.q, self.v)
            if not self.fell:
                moved = self.library.call("step", self.q, self.v, efforts, None, None, 2.5e-4, 4)
                self.fell = moved != OK
            self.rates.append(np.abs(self.measure()[1]).max())
            answers.append(answer)
        return answers

    def sine(self, k):
        """A slow motion of both joints around home: positions, rates and accelerations."""
        t, w, a = k * PERIOD, 4.0, 0.1
        phase = np.array([0.0, 0.0])
        motion = [a * (1.0 - np.cos(w * t)), a * w * np.sin(w * t), a * w * w * np.cos(w * t)]
        return np.array([self.home + motion[0] + phase, *(x + REST for x in motion[1:])])


@pytest.fixture
def loop(made, fivebar):
    loop = Loop(made, fivebar)
    yield loop
    loop.controller.close()


def test_a_motion_is_followed(loop):
    answers = loop.run(loop.sine, 1000)
    assert {answer.status for answer in answers} <= {OK, LIMITED}
    assert sum(answer.refused for answer in answers) == 0
    assert np.abs(loop.measure()[0] - loop.sine(999)[0]).max() < 2e-3


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_arm_whose_friction_helps_to_brake_is_followed(puma560):
    """The motion takes 40 % of the efforts; friction is 25 % of them, but none is left at rest."""
    arm, done = puma560
    path = rd.plan_straight(arm, arm.home, arm.home + 0.15, duration=0.5, profile="quintic")
    motion = np.stack(path.sample(PERIOD * np.arange(500)), axis=1)
    with Controller(program(done.folder, "puma560"), arm) as controller:
        controller.start(arm.home, np.zeros(6))
        answers = [controller.update(each[0], each[1], each) for each in motion]
    assert {(answer.status, answer.refused) for answer in answers} == {(OK, 0)}


def added(reference, by):
    return reference + np.array(by)


SPOILED = {
    "rates of 1e6": (lambda r: added(r, [[0.0], [1e6], [0.0]]), {TOO_FAST}),
    "accelerations of 1e6": (lambda r: added(r, [[0.0], [0.0], [1e6]]), {TOO_FAST, TOO_STRONG}),
    "rates that overflow": (lambda r: added(r, [[0.0], [1e155], [0.0]]), {TOO_FAST}),
    "a jump": (lambda r: added(r, [[0.5], [0.0], [0.0]]), {JUMPS, BEYOND_ENDS}),
    "positions far away": (lambda r: added(r, [[1e308], [0.0], [0.0]]), {JUMPS, BEYOND_ENDS}),
    "no number": (lambda r: r * [[np.nan], [1.0], [1.0]], {INVALID}),
    "an infinite rate": (lambda r: added(r, [[0.0], [np.inf], [0.0]]), {INVALID}),
    "an infinite acceleration": (lambda r: added(r, [[0.0], [0.0], [-np.inf]]), {INVALID}),
}


@pytest.mark.parametrize("what", SPOILED)
def test_a_spoiled_reference_is_refused_and_the_mechanism_comes_to_rest(loop, what):
    spoil, reasons = SPOILED[what]
    loop.run(loop.sine, 500)
    before = max(loop.rates)
    spoiled = loop.run(lambda k: spoil(loop.sine(500 + k)), 1500)
    assert {answer.status for answer in spoiled} <= {OK, LIMITED}  # it never gives up
    assert all(answer.refused == 1 for answer in spoiled)
    assert spoiled[0].reason in reasons  # soon the motion is elsewhere, too, and a jump
    assert max(loop.rates) < 1.5 * before  # it only becomes slower
    assert loop.rates[-1] < 1e-3
    assert (spoiled[-1].rates == 0.0).all()


def held(loop, rates, accelerations):
    """The reference at 0.5 s, with other rates and accelerations, for ever."""
    position = loop.sine(500)[0]
    return np.array([position, position * 0.0 + rates, position * 0.0 + accelerations])


@pytest.mark.parametrize("acceleration", [30.0, 100.0, -100.0])
def test_accelerations_that_lead_nowhere_are_refused(loop, acceleration):
    loop.run(loop.sine, 500)
    before = max(loop.rates)
    answers = loop.run(lambda k: held(loop, 0.0, acceleration), 1500)
    assert {answer.status for answer in answers} <= {OK, LIMITED}
    assert TOO_FAST in {answer.reason for answer in answers if answer.refused}
    assert max(loop.rates) < before + 0.15 * loop.m.velocity_limits.max()
    assert loop.rates[-1] < 1e-3


def test_rates_that_lead_nowhere_are_refused(loop):
    loop.run(loop.sine, 500)
    rate = 0.2 * loop.m.velocity_limits.max()
    answers = loop.run(lambda k: held(loop, rate, 0.0), 1500)
    assert sum(answer.refused for answer in answers) > 1000
    assert max(loop.rates) < rate
    assert loop.rates[-1] < 1e-3


@pytest.mark.parametrize("rate", [20, 100])
def test_a_source_of_few_references_is_followed(loop, rate):
    answers = loop.run(lambda k: loop.sine(k - k % (1000 // rate)), 1000)
    assert sum(answer.refused for answer in answers) == 0


ONWARDS = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-6.0, 6.0), (-12.0, 12.0),
           (9.0, -9.0), (12.0, 12.0), (-4.5, -4.5), (-14.5, -14.5), (3.0, 0.0),
           (14.5, 0.0), (0.0, -9.0)]  # fmt: skip


@pytest.mark.parametrize("direction", ONWARDS)
def test_the_controller_stops_before_a_singularity_and_before_the_ends_of_its_joints(
    loop, direction
):
    direction, ramp = np.array(direction), 0.1

    def drive(k):
        t = k * PERIOD
        motion = [t * t / 2.0, t, 1.0] if t < ramp else [ramp * (t - ramp / 2.0), ramp, 0.0]
        return np.array([loop.home + direction * motion[0] / ramp,
                         *(direction * x / ramp for x in motion[1:])])  # fmt: skip

    answers = loop.run(drive, 1600 if np.abs(direction).max() < 2.0 else 800)
    assert {answer.status for answer in answers} <= {OK, LIMITED}
    assert not loop.fell
    assert max(loop.rates) < 1.1 * np.abs(direction).max()
    assert loop.rates[-1] < 1e-2
    limits = loop.m.position_limits
    assert (loop.measure()[0] > limits[:, 0] - 1e-3).all()
    assert (loop.measure()[0] < limits[:, 1] + 1e-3).all()


def test_a_motion_that_ends_at_an_end_of_the_joints_is_followed(loop):
    end, duration = loop.m.position_limits[0, 1], 0.8
    way = np.array([end - loop.home[0], 0.0])

    def drive(k):
        s = min(k * PERIOD / duration, 1.0)
        profile = [s**3 * (10.0 - 15.0 * s + 6.0 * s * s), 30.0 * s * s * (1.0 - s) ** 2 / duration,
                   60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / duration**2]  # fmt: skip
        return np.array([loop.home, REST, REST]) + np.multiply.outer(profile, way)

    answers = loop.run(drive, 1000)
    assert sum(answer.refused for answer in answers) == 0
    assert np.abs(loop.measure()[0] - loop.home - way).max() < 2e-3


def test_the_library_has_results_where_the_pivots_of_home_vanish(made, fivebar):
    library, q = Library(made.with_name("libfivebar.so"), "fivebar"), fivebar.home.copy()
    rates, efforts = np.array([9.0, 9.0]), np.empty(2)
    home = fivebar.joint_positions(q)
    for turn in np.linspace(1.02, 1.03, 60):
        assert library.call("configuration", home + turn, q) == OK
        still = 0.0 * rates
        assert library.call("inverse_dynamics", q, rates, still, None, None, efforts) == OK
        assert efforts == pytest.approx(fivebar.inverse_dynamics(q, rates, still), rel=1e-9)
        moved, velocity = q.copy(), rates.copy()
        assert library.call("step", moved, velocity, efforts, None, None, 1e-3, 1) == OK
        assert moved[[0, 2]] == pytest.approx(home + turn + 9e-3, abs=1e-5)


def test_sides_of_a_singularity_have_different_signs(made, fivebar):
    library, found = Library(made.with_name("libfivebar.so"), "fivebar"), np.empty(1)
    signs = []
    for driven in ((2.0, 1.2), (2.6, 0.3), (1.6, 1.0)):
        for q in fivebar.assemblies(driven):
            assert library.call("side", np.ascontiguousarray(q), found) == OK
            assert found[0] == np.sign(conditioning.side(fivebar, q))
            signs.append(np.sign(found[0]))
    assert signs.count(1.0) == signs.count(-1.0) == 3  # the tip above and below the elbows


def test_an_encoder_that_stands_still_is_not_believed(loop):
    loop.run(loop.sine, 300)
    before, frozen = max(loop.rates), loop.measure()[0]
    answers = loop.run(lambda k: loop.sine(300 + k), 1000, lambda k, p, v: (frozen, v))
    assert sum(answer.refused for answer in answers) > 500
    assert max(loop.rates) < 2.0 * before
    assert loop.rates[-1] < 1e-2


def test_invalid_reference_does_not_end_a_motion(loop):
    loop.run(loop.sine, 500)
    (refused,) = loop.run(lambda k: added(loop.sine(500), [[0.0], [1e6], [0.0]]), 1)
    assert refused.refused == 1
    answers = loop.run(lambda k: loop.sine(501 + k), 500)
    assert sum(answer.refused for answer in answers) == 0
    assert np.abs(loop.measure()[0] - loop.sine(1000)[0]).max() < 2e-3


@pytest.mark.parametrize("has_rates", [True, False])
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e155, 1e308, -7.0])
def test_without_a_state_it_brakes_and_holds_before_it_gives_up(loop, bad, has_rates):
    loop.run(loop.sine, 300)
    answers = loop.run(
        lambda k: loop.sine(300 + k),
        1500,
        lambda k, p, v: (p + bad, v if has_rates else v + np.nan),
    )
    given_up = [answer.status not in (OK, LIMITED) for answer in answers]
    first = given_up.index(True)
    expected = GIVE_UP_TIME if has_rates else BLIND_TIME
    assert first * PERIOD == pytest.approx(expected, abs=0.01)
    assert all(given_up[first:])
    assert (answers[first - 1].rates == 0.0).all()  # its target rests long before
    if has_rates:  # by which it knows where it is
        assert not loop.fell
        assert loop.rates[-1] < 1e-3


def test_a_state_that_comes_back_is_used_again(loop):
    loop.run(loop.sine, 300)
    loop.run(lambda k: None, 100, lambda k, p, v: (p * np.nan, v * np.nan))
    assert not loop.fell
    answers = loop.run(lambda k: None, 1000)
    assert {answer.status for answer in answers[10:]} == {OK}
    assert loop.rates[-1] < 1e-3


def coriolis_of(free, q, v):
    still = 0.0 * v
    return free.inverse_dynamics(q, v, still) - free.inverse_dynamics(q, still, still)


def test_what_drives_compensate_is_left_out(made, fivebar):
    """The motion is the same whether drives or controller add gravity, friction and Coriolis."""
    free, off = fivebar.without_friction(), (0.0, 0.0, 0.0)
    terms = {
        "gravity": lambda q, v: free.inverse_dynamics(q, 0.0 * v, 0.0 * v),
        "friction": lambda q, v: (
            fivebar.inverse_dynamics(q, v, 0.0 * v) - free.inverse_dynamics(q, v, 0.0 * v)
        ),
        "coriolis": lambda q, v: coriolis_of(free, q, v),
    }

    def run(added, **compensation):
        add = lambda q, v: sum(terms[term](q, v) for term in added)
        loop, found = Loop(made, fivebar, add, **compensation), []
        quick = lambda k: loop.sine(5 * k) * [[1.0], [5.0], [25.0]]
        for k in range(300):
            (answer,) = loop.run(lambda _, k=k: quick(k), 1)
            assert answer.refused == 0
            found.append([loop.q.copy(), np.resize(loop.v, loop.q.shape)])
        loop.controller.close()
        return np.array(found)

    own = run([])
    assert np.abs(run(["gravity"], gravity=off) - own).max() < 1e-9
    for term in ("friction", "coriolis"):
        assert np.abs(run([term], leaves=[term]) - own).max() < 1e-9
    everything = run(list(terms), gravity=off, leaves=["friction", "coriolis"])
    assert np.abs(everything - own).max() < 1e-9
    for spoiled in ({"gravity": off}, {"leaves": ["friction"]}, {"leaves": ["coriolis"]}):
        assert np.abs(run([], **spoiled) - own).max() > 1e-6  # nobody compensates it


class Held:
    """A trajectory that is in one state of motion at all times."""

    def __init__(self, *motion):
        self.motion = Motion(*motion)

    def sample(self, t):
        return self.motion


@pytest.mark.parametrize("leaves", [(), ("friction",), ("coriolis",), ("friction", "coriolis")])
@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.5, 0.2, -9.7)])
def test_efforts_are_those_of_the_python_controller(made, fivebar, leaves, gravity):
    model = rd.with_gravity(fivebar, gravity)
    free = model.without_friction()
    loop = Loop(made, fivebar, gravity=gravity, leaves=leaves)
    loop.run(loop.sine, 50)
    q, v = loop.q.copy(), loop.v.copy()
    (answer,) = loop.run(lambda _: loop.sine(50), 1)
    assert answer.refused == 0
    positions, rates, accelerations = loop.sine(50)
    goal = fivebar.assemble(positions, q)
    law = ComputedTorque(free if "friction" in leaves else model, 900.0, 60.0)
    expected = law(0.0, q, v, Held(goal, rates, accelerations))
    if "coriolis" in leaves:
        expected = expected - coriolis_of(free, q, v)
    assert answer.efforts == pytest.approx(expected, rel=1e-9, abs=1e-9)
    loop.controller.close()


@pytest.mark.parametrize("leaves", [(), ("friction",), ("coriolis",), ("friction", "coriolis")])
def test_efforts_beyond_limits_are_reduced_whatever_the_drives_add(made, fivebar, leaves):
    """A load takes nearly all efforts; the rest goes into the acceleration's direction."""
    free = fivebar.without_friction()
    model = free if "friction" in leaves else fivebar
    loop = Loop(made, fivebar, leaves=leaves)
    quick = lambda k: loop.sine(5 * k) * [[1.0], [5.0], [25.0]]
    loop.run(quick, 60)
    q, v, still = loop.q.copy(), loop.v.copy(), np.zeros(2)
    goal = Held(fivebar.assemble(quick(60)[0], q), *quick(60)[1:])
    law = ComputedTorque(model, 900.0, 60.0)
    corrected = law.feedback_acceleration(
        fivebar.difference(q, goal.motion.configuration), v, goal.motion
    )
    change = free.inverse_dynamics(q, v, corrected) - free.inverse_dynamics(q, v, still)
    left = coriolis_of(free, q, v) if "coriolis" in leaves else still
    required = law(0.0, q, v, goal) - left
    by_load = free.inverse_dynamics(
        np.tile(q, (6, 1)), np.tile(v, (6, 1)), np.zeros((6, 2)), np.eye(6)
    ) - free.inverse_dynamics(q, v, still)
    limits = fivebar.effort_limits
    spare = limits - [0.9, 0.2] * np.abs(change)  # for these shares of the acceleration
    load = np.linalg.lstsq(by_load.T, np.sign(change) * spare - (required - change), rcond=None)[0]
    required = required + load @ by_load
    assert (np.abs(required) > limits).all()
    positions, rates = loop.measure()
    answer = loop.controller.update(positions, rates, quick(60), wrench=load)
    loop.controller.close()
    assert answer.status == LIMITED
    expected = reduced_efforts(fivebar, q, required - change, required, limits)
    assert np.abs(expected - np.clip(required, -limits, limits)).max() > 1e-3
    assert answer.efforts == pytest.approx(expected, rel=1e-7)
    caused = model.forward_dynamics(q, v, answer.efforts + left, load)
    if "friction" in leaves:
        np.testing.assert_allclose(caused, 0.2 * corrected, rtol=1e-6)
