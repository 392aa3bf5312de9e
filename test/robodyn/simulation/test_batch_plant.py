# SPDX-License-Identifier: Apache-2.0

"""Rows of a batch move as plants of their own do, and fail alone."""

from dataclasses import replace

import numpy as np
import pytest

import robodyn as rd
from robodyn.dynamics.kernels.sticking import STATIC

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
COUNT = 40


def held(mechanism):
    rest = np.zeros(mechanism.coordinates.velocity_size)
    return mechanism.inverse_dynamics(mechanism.home, rest, rest)


@pytest.fixture(params=["stewart_symmetric", "stewart_dasgupta", "puma560", "delta"])
def mechanism(request):
    return rd.load(request.param)


def with_dry_friction(name):
    """A mechanism that rubs in its driven joints, a closed loop also in a passive one."""
    m = rd.load(name)
    if m.solver.friction.is_dry:
        return m
    levels = np.full(2, max(0.05 * np.abs(held(m)).max(), 0.1))
    rubs = dict.fromkeys([*m.joint_names, *m.passive_joint_names[:1]], levels)
    joints = (
        replace(joint, friction=rubs.get(joint.name, joint.friction)) for joint in m.model.joints
    )
    return type(m)(replace(m.model, joints=tuple(joints)))


INTEGRATORS = "rk4", "semi_implicit"


def test_each_row_is_a_plant_of_its_own(mechanism, rng):
    """With payloads, starts, efforts and wrenches of its own, for any number of threads."""
    rows = [mechanism.with_payload(mass) for mass in rng.uniform(0.1, 2.0, COUNT)]
    velocities = 0.05 * rng.normal(size=(COUNT, mechanism.coordinates.velocity_size))
    efforts = held(mechanism) * rng.uniform(0.8, 1.2, (COUNT, len(mechanism.joint_names)))
    wrenches = rng.normal(size=(COUNT, 6))
    found = []
    for threads in (1, 2):
        rd.set_threads(threads)
        try:
            batch = rd.BatchPlant(rows, dt=5e-4)
            batch.reset(velocity=velocities)
            for steps in (1, 7):
                batch.step(efforts, steps, wrenches)
        finally:
            rd.set_threads(None)
        assert not batch.failed.any()
        found.append((batch.configuration, batch.velocity))
    # for any number of threads, to the bit
    for one, two in zip(*found, strict=True):
        assert one.tobytes() == two.tobytes()
    for row in range(0, COUNT, 7):
        plant = rd.Plant(rows[row], velocity=velocities[row], dt=5e-4)
        for steps in (1, 7):
            plant.hold(efforts[row], steps, wrenches[row])
        configuration, velocity = (part[row] for part in found[0])
        assert configuration.tobytes() == plant.configuration.tobytes()
        assert velocity.tobytes() == plant.velocity.tobytes()


@pytest.mark.parametrize("friction", [True, False])
def test_legs_stick_hit_their_stops_and_run_into_their_motors_speeds(friction, rng):
    """The lanes of a group stick, slide and hit their stops at different times."""
    m = rd.load("stewart_symmetric")
    m = m if friction else m.without_friction()
    count = 21
    efforts = held(m) * rng.uniform(0.9, 1.1, (count, 6))
    efforts[7:14] += rng.uniform(-4000.0, 4000.0, (7, 6))
    efforts[14:] = rng.uniform(-1.0, 1.0, (7, 6)) * m.effort_limits
    velocities = np.zeros((count, 6))
    velocities[::2] = 0.05 * rng.normal(size=(11, 6))
    # whether a leg sticks on a stiff stop may depend on rounding
    stops = rd.EndStops(1e5, 1e3) if friction else rd.EndStops()
    batch = rd.BatchPlant(m, count, end_stops=stops)
    batch.reset(velocity=velocities)
    for _ in range(3):
        batch.step(efforts, 150)
    stopped = 0
    for row in range(count):
        plant = rd.Plant(m, velocity=velocities[row], end_stops=stops)
        for _ in range(3):
            plant.hold(efforts[row], 150)
        assert batch.configuration[row].tobytes() == plant.configuration.tobytes()
        assert batch.velocity[row].tobytes() == plant.velocity.tobytes()
        lengths = m.joint_positions(plant.configuration)
        stopped += bool((np.abs(lengths - m.position_limits.T) < 2e-3).any())
    assert stopped > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stanford_arm", "fivebar", "delta", "hexapod_rotary"])
def test_a_thousand_steps_in_lanes_are_those_of_plants_to_the_bit(name, rng, monkeypatch):
    """With payloads of their own, on a moving base, some driven into their end stops."""
    m = rd.load(name).without_friction()
    count = 11
    rows = [m.with_payload(mass) for mass in rng.uniform(0.0, 0.5, count)]
    velocities = 0.02 * rng.normal(size=(count, m.coordinates.velocity_size))
    efforts = held(m) * rng.uniform(0.99, 1.01, (count, len(m.joint_names)))
    wrenches = 0.01 * rng.normal(size=(count, 6))
    base = rd.BaseMotion([0.1, 0.0, 9.8], [0.0, 0.02, 0.0], [0.0, 0.0, 0.01])
    batch = rd.BatchPlant(rows, dt=1e-4)
    batch.reset(velocity=velocities)
    for steps in (1, 999):
        batch.step(efforts, steps, wrenches, base)
    assert not batch.failed.any()
    for row in range(0, count, 5):
        plant = rd.Plant(rows[row], velocity=velocities[row], dt=1e-4)
        plant.hold(efforts[row], 1000, wrenches[row], base)
        assert batch.configuration[row].tobytes() == plant.configuration.tobytes()
        assert batch.velocity[row].tobytes() == plant.velocity.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["puma560", "stewart_symmetric", "fivebar", "delta"])
def test_rows_stick_and_slide_in_lanes_as_plants_do_to_the_bit(name, integrator, rng, monkeypatch):
    """A thousand steps in which joints rest, break away and stop, at other times in each row."""
    m = with_dry_friction(name)
    count, n = 13, len(m.joint_names)
    rows = [m.with_payload(mass) for mass in rng.uniform(0.0, 0.02, count)]
    velocities = 0.02 * rng.normal(size=(count, m.coordinates.velocity_size))
    velocities[::3] = 0.0
    levels = m.solver.friction.rows[:n, STATIC]
    kicks = held(m) + levels * rng.uniform(-1.5, 1.5, (2, count, n))
    batch = rd.BatchPlant(rows, dt=2e-4, integrator=integrator)
    monkeypatch.setattr(
        batch, "_advance_rows", lambda rows, moves: pytest.fail(f"rows {rows} left")
    )
    batch.reset(velocity=velocities)
    slides = []
    for efforts, steps in zip(kicks, (1, 999), strict=True):
        batch.step(efforts, steps)
        slides.append(np.abs(batch.velocity).max(axis=1) > 1e-9)
    assert not batch.failed.any()
    assert 0 < np.sum(slides) < 2 * count
    for row in range(0, count, 3):
        plant = rd.Plant(rows[row], velocity=velocities[row], dt=2e-4, integrator=integrator)
        for efforts, steps in zip(kicks[:, row], (1, 999), strict=True):
            plant.hold(efforts, steps)
        assert batch.configuration[row].tobytes() == plant.configuration.tobytes()
        assert batch.velocity[row].tobytes() == plant.velocity.tobytes()


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["stanford_arm", "delta", "stewart_symmetric"])
def test_rows_do_not_leave_the_lanes(name, integrator, monkeypatch):
    batch = rd.BatchPlant(rd.load(name), 3, dt=1e-4, integrator=integrator)
    monkeypatch.setattr(batch, "_advance_rows", lambda rows, moves: pytest.fail(f"rows {rows} did"))
    batch.step(held(batch.mechanisms[0]), 20)


def payloads_of(mechanism, rng, count=11):
    half = 0.1 * rng.normal(size=(count, 3, 3))
    masses = np.append(rng.uniform(0.0, 1.0, count - 1), 0.0)
    centers = 0.05 * rng.normal(size=(count, 3))
    return rd.PayloadVariants(mechanism, masses, centers, half @ half.swapaxes(1, 2))


@pytest.mark.parametrize("name", ["stewart_symmetric", "puma560", "stanford_arm", "delta"])
def test_payloads_in_arrays_are_packed_as_those_of_mechanisms_to_the_bit(name, rng):
    variants = payloads_of(rd.load(name).without_friction(), rng)
    found, expected = (rd.BatchPlant(rows)._lanes for rows in (variants, list(variants)))
    assert found.numbers.tobytes() == expected.numbers.tobytes()


def test_rows_with_payloads_in_arrays_step_as_mechanisms_do(mechanism, rng):
    """Also those that leave the lanes, and after others have replaced them."""
    variants = payloads_of(mechanism, rng)
    batches = [rd.BatchPlant(rows, dt=5e-4) for rows in (variants, list(variants))]
    efforts = held(mechanism) * rng.uniform(0.9, 1.1, (len(variants), len(mechanism.joint_names)))
    away = mechanism.advance(mechanism.home, np.full(batches[0].velocity.shape[1], 1e-3))
    for batch in batches:
        batch.step(efforts, 9)
        batch.replace_mechanisms(variants[2:4], [0, 1])
        batch.reset(away, rows=[1, 5])
        batch.step(efforts, 9)
    assert batches[0].configuration.tobytes() == batches[1].configuration.tobytes()
    assert batches[0].velocity.tobytes() == batches[1].velocity.tobytes()


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (([1.0, -2.0],), "mass contains -2"),
        (([1.0, 2.0], np.zeros((3, 3))), r"com has shape \(3, 3\), expected .*2, 3"),
        (([1.0, 2.0], np.zeros(3), np.diag([1.0, 1.0, -1.0])), "inertia 0 .* semidefinite"),
        (([1.0], np.zeros(3), np.triu(np.ones((3, 3)))), "inertia 0 .* symmetric"),
    ],
)
def test_payloads_that_no_body_has_are_refused(payload, message):
    with pytest.raises(rd.ModelError, match=message):
        rd.PayloadVariants(rd.load("puma560"), *payload)


def test_a_row_that_fails_does_not_stop_the_others(mechanism):
    batch = rd.BatchPlant(mechanism, 5)
    wrench = np.zeros((5, 6))
    wrench[3, 0] = 1e30
    for _ in range(3):
        batch.step(held(mechanism), 50, wrench)
    assert batch.failed.tolist() == [False, False, False, True, False]
    assert list(batch.problem) == [3]
    assert "after 0 of 50 steps" in batch.problem[3]
    assert np.isfinite(batch.configuration).all()
    others = batch.configuration[[0, 1, 2, 4]]
    assert (others == others[0]).all()
    # reset, it moves as the others did
    batch.reset(rows=[3])
    assert not batch.failed.any()
    assert not batch.problem
    again = rd.BatchPlant(mechanism, 1)
    for _ in range(3):
        batch.step(held(mechanism), 50)
        again.step(held(mechanism), 50)
    np.testing.assert_array_equal(batch.configuration[3], again.configuration[0])


def test_efforts_are_cut_to_the_limits():
    m = rd.load("puma560")
    most, more = rd.BatchPlant(m, 1), rd.BatchPlant(m, 2)
    most.step(m.effort_limits, 3)
    more.step(10.0 * m.effort_limits, 3)
    assert (more.velocity == most.velocity).all()
    free = rd.BatchPlant(m, 1, limit_efforts=False)
    free.step(10.0 * m.effort_limits, 3)
    assert (free.velocity != most.velocity).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.step(np.full(6, np.nan)), "efforts"),
        (lambda b: b.step(np.zeros((3, 6))), r"efforts has shape \(3, 6\)"),
        (lambda b: b.step(np.zeros(6), 0), "steps is 0"),
        (lambda b: b.step(np.zeros(6), 1, np.zeros(5)), "wrench"),
        (lambda b: b.reset(rows=[2]), "rows are"),
        (lambda b: b.reset(rows=[0.5]), "rows are"),
        (lambda b: b.reset(np.zeros(3)), "configuration"),
    ],
)
def test_batch_plant_rejects_invalid_calls_and_does_not_move(call, message):
    batch = rd.BatchPlant(rd.load("puma560"), 2)
    before = batch.configuration
    with pytest.raises(rd.InvalidInput, match=message):
        call(batch)
    np.testing.assert_array_equal(batch.configuration, before)


def test_rows_are_of_one_structure():
    arm = rd.load("puma560")
    with pytest.raises(rd.InvalidInput, match="row 1, delta, differs in structure"):
        rd.BatchPlant([arm, rd.load("delta")])
    for mechanism, count in (([], None), (arm, None), (arm, 0), ([arm, arm], 3)):
        with pytest.raises(rd.InvalidInput, match="count is"):
            rd.BatchPlant(mechanism, count)


def test_rows_that_are_chosen_are_reset():
    m = rd.load("delta")
    batch = rd.BatchPlant(m, 4)
    batch.step(np.zeros(3), 20)
    moved = batch.configuration[0]
    batch.reset(rows=[True, False, False, True])
    np.testing.assert_array_equal(batch.configuration[[0, 3]], np.tile(m.home, (2, 1)))
    np.testing.assert_array_equal(batch.configuration[[1, 2]], np.tile(moved, (2, 1)))
    batch.reset(rows=[])
    assert not (batch.configuration[1] == m.home).all()


def test_a_row_with_another_mechanism_moves_as_its_plant_does(mechanism, rng):
    """The other rows keep their states; the row begins at the home of its new mechanism."""
    batch = rd.BatchPlant(mechanism, count=5, dt=5e-4)
    batch.step(held(mechanism) * rng.uniform(0.9, 1.1, (5, len(mechanism.joint_names))), 3)
    before = batch.configuration
    heavy = mechanism.with_payload(2.0)
    batch.replace_mechanisms([heavy, heavy], [1, 3])
    assert (batch.configuration[[0, 2, 4]] == before[[0, 2, 4]]).all()
    batch.step(held(mechanism), 8)
    plant = rd.Plant(heavy, dt=5e-4)
    plant.hold(held(mechanism), 8)
    for row in (1, 3):
        assert batch.configuration[row].tobytes() == plant.configuration.tobytes()
    other = rd.load("puma560" if mechanism.name == "delta" else "delta")
    with pytest.raises(rd.InvalidInput, match="differs in structure"):
        batch.replace_mechanisms(other, 0)
    with pytest.raises(rd.InvalidInput, match="count is 2 for 1 mechanism"):
        batch.replace_mechanisms([heavy], [1, 3])
    assert batch.mechanisms[0] is mechanism
