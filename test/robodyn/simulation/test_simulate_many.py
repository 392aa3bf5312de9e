# SPDX-License-Identifier: Apache-2.0

"""Many simulations at once: each as if it were alone, and what is known of them all."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.poses import advance_pose

REST = np.zeros(6)
COUNT = 7


@pytest.fixture(params=[1, 3])
def threads(request):
    before = rd.get_threads()
    rd.set_threads(request.param)
    yield request.param
    rd.set_threads(before)


def starts(rng, path, count, moved=advance_pose):
    first = path.sample(0.0)
    return (
        moved(first.configuration, rng.normal(size=(count, 6)) * 0.01),
        rng.normal(size=(count, 6)) * 0.05,
    )


@pytest.mark.parametrize("control_dt", [None, 0.005])
def test_platforms_are_as_if_each_were_alone(dasgupta, rng, threads, control_dt):
    """With starts, payloads, gains and loads of their own."""
    path = rd.paper_path("I")
    plants = [dasgupta.with_payload(mass) for mass in rng.uniform(0.0, 5.0, COUNT)]
    controls = [rd.ComputedTorque(dasgupta, kp, 20.0) for kp in rng.uniform(50.0, 100.0, COUNT)]
    initial, wrench = starts(rng, path, COUNT), rng.normal(size=(COUNT, 6))
    options = {"dt": 4e-3, "control_dt": control_dt, "duration": 0.2}
    many = rd.simulate_many(plants, controls, path, initial=initial, wrench=wrench, **options)
    assert many.completed.all()
    assert many.problem == {}
    for i in range(COUNT):
        one = rd.simulate(
            plants[i],
            controls[i],
            path,
            initial=(initial[0][i], initial[1][i]),
            wrench=wrench[i],
            **options,
        )
        np.testing.assert_array_equal(many.time, one.time)
        for name in ("configuration", "velocity", "effort"):
            np.testing.assert_array_equal(getattr(many, name)[i], getattr(one, name))
        np.testing.assert_array_equal(many.peak_effort[i], one.peak_effort)
        np.testing.assert_array_equal(many.peak_error[i], np.abs(one.error).max(axis=0))


def test_arms_on_paths_of_their_own(puma, rng, threads):
    goals = rng.uniform(-0.5, 0.5, size=(COUNT, 6))
    paths = [rd.plan_joints(np.zeros(6), goal, duration=0.3) for goal in goals]
    control = rd.ComputedTorque(puma)
    many = rd.simulate_many(puma, control, paths, control_dt=0.01, every=7)
    np.testing.assert_allclose(many.time, [0.0, 0.07, 0.14, 0.21, 0.28, 0.3])
    for i, path in enumerate(paths):
        one = rd.simulate(puma, control, path, control_dt=0.01)
        np.testing.assert_array_equal(many.velocity[i], one.velocity[[0, 7, 14, 21, 28, 30]])
        np.testing.assert_array_equal(many.effort[i], one.effort[[0, 7, 14, 21, 28, 30]])
        np.testing.assert_array_equal(many.peak_effort[i], one.peak_effort)


def test_errors_die_out_as_each_pair_of_gains_says(dasgupta, rng):
    """Exact model, continuous control: e(t) = e0 (1 + w t) exp(-w t) for Kp = w^2, Kv = 2 w."""
    path = rd.paper_path("I")
    rates = rng.uniform(5.0, 20.0, COUNT)
    controls = [rd.ComputedTorque(dasgupta, w**2, 2.0 * w) for w in rates]
    offsets = np.zeros((COUNT, 6))
    offsets[:, :3] = rng.uniform(-0.02, 0.02, size=(COUNT, 3))
    start = path.sample(0.0)
    many = rd.simulate_many(
        dasgupta,
        controls,
        path,
        dt=2e-3,
        control_dt=None,
        duration=0.3,
        initial=(advance_pose(start.configuration, offsets), start.velocity),
    )
    wt = rates[:, None] * many.time
    expected = -((1.0 + wt) * np.exp(-wt))[..., None] * offsets[:, None, :3]
    error = path.sample(many.time).configuration[:, :3] - many.configuration[..., :3]
    np.testing.assert_allclose(error, expected, atol=1e-6)


def test_failed_runs_are_marked_and_the_others_continue(dasgupta, threads):
    """The second is pushed off beyond all bounds."""
    hover = rd.GravityCompensation(dasgupta)
    pushes = [hover, rd.ConstantEffort([1e5, 0, 0, 0, 0, 0]), hover]
    path = rd.paper_path("I")
    options = {"dt": 0.01, "control_dt": 0.02, "end_stops": None, "limit_efforts": False}
    many = rd.simulate_many(
        dasgupta, pushes, path, initial=(dasgupta.home, REST), duration=1.0, **options
    )
    with pytest.raises(rd.SimulationFailed) as caught:
        rd.simulate(
            dasgupta, pushes[1], path, initial=(dasgupta.home, REST), duration=1.0, **options
        )
    np.testing.assert_array_equal(many.completed, [True, False, True])
    assert many.problem == {1: str(caught.value)}
    good = np.isfinite(many.configuration[1]).all(axis=1)
    assert 0 < good.sum() < len(many.time)
    assert many.time[good].max() == pytest.approx(caught.value.time, abs=0.02)
    assert np.isnan(many.velocity[1, ~good]).all()
    assert np.isfinite(many.velocity[[0, 2]]).all()
    np.testing.assert_array_equal(many.configuration[0], many.configuration[2])


def test_controllers_of_ones_own_meet_one_simulation_after_the_other(dasgupta, rng):
    path = rd.paper_path("II")
    feedback = rd.ComputedTorque(dasgupta)
    seen = []

    def own(time, configuration, velocity, trajectory):
        seen.append(time)
        return feedback(time, configuration, velocity, trajectory)

    initial = starts(rng, path, 3)
    done = []
    many = rd.simulate_many(
        dasgupta,
        [own, feedback, own],
        path,
        duration=0.05,
        initial=initial,
        progress=done.append,
    )
    assert done == [1, 2, 3]
    assert seen == [0.0, 0.01, 0.02, 0.03, 0.04] * 2
    for i, controller in enumerate([own, feedback, own]):
        start = initial[0][i], initial[1][i]
        one = rd.simulate(dasgupta, controller, path, duration=0.05, initial=start)
        np.testing.assert_array_equal(many.configuration[i], one.configuration)


def test_paths_without_a_start_of_their_own_begin_where_they_begin(dasgupta):
    paths = [rd.paper_path(name) for name in ("I", "II")]
    many = rd.simulate_many(dasgupta, rd.Feedforward(dasgupta), paths, duration=0.02)
    for i, path in enumerate(paths):
        np.testing.assert_allclose(many.configuration[i, 0], path.sample(0.0).configuration)
    whole = rd.simulate_many(dasgupta, rd.Feedforward(dasgupta), paths, control_dt=0.05)
    assert whole.time[-1] == 6.0


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"initial": (np.zeros((2, 7)), np.zeros(6))}, "simulation 0: start: the quat"),
        ({"wrench": np.zeros((3, 6))}, "2 of controller, 3 of wrench"),
        ({"wrench": [[0.0] * 5] * 2}, r"simulation 0: wrench has shape \(5,\)"),
        ({"every": 0}, "every is 0, expected a whole number of at least 1"),
        ({"every": 1.5}, "every is 1.5, expected a whole number"),
        ({"dt": -1.0}, "simulation 0: dt is -1.0"),
        ({"duration": 0.0}, "duration is 0.0"),
    ],
)
def test_arguments_out_of_range_are_refused(dasgupta, change, text):
    controls = [rd.ComputedTorque(dasgupta)] * 2
    with pytest.raises(InvalidInput, match=text):
        rd.simulate_many(dasgupta, controls, rd.paper_path("II"), **change)


def test_no_simulation_at_all_is_refused(dasgupta):
    with pytest.raises(InvalidInput, match="0 of controller"):
        rd.simulate_many(dasgupta, [], rd.paper_path("II"))


def test_simulations_that_are_not_alike_are_refused(dasgupta, puma, threads):
    paths = [rd.paper_path("I"), rd.paper_path("II")]
    with pytest.raises(InvalidInput, match="simulation 1: the switching times"):
        rd.simulate_many(dasgupta, rd.ComputedTorque(dasgupta), paths, dt=0.1, control_dt=None)
    still = rd.plan_joints(np.zeros(6), np.ones(6), duration=0.1)
    with pytest.raises(InvalidInput, match=r"simulation 1: .* 6 .* expected 6 and 7"):
        rd.simulate_many(
            [dasgupta, puma],
            rd.ConstantEffort(np.zeros(6)),
            [rd.paper_path("II"), still],
            duration=0.02,
        )
