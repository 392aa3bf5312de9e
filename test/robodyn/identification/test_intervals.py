# SPDX-License-Identifier: Apache-2.0

"""Standard deviations are honest, and noisy encoders cost no more than they must."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.identification import Term, dissipates
from robodyn.trajectories import FourierSeries, FourierTrajectory

pytestmark = pytest.mark.slow

ARM = """
type: serial
name: two_links
gravity: [0, -9.81, 0]
convention: standard_dh
links:
  - {joint: revolute, d: 0, a: 0.5, alpha: 0, mass: 5.0, com: [-0.2, 0.01, 0.0],
     inertia: [[0.02, 0, 0], [0, 0.1, 0], [0, 0, 0.1]],
     armature: 0.3, damping: 2.0, friction: [3.0, 3.0]}
  - {joint: revolute, d: 0, a: 0.4, alpha: 0, mass: 3.0, com: [-0.15, 0.02, 0.0],
     inertia: [[0.01, 0, 0], [0, 0.05, 0], [0, 0, 0.05]],
     armature: 0.1, damping: 1.0, friction: [1.0, 1.0]}
"""
DURATION, NOISE = 10.0, 0.01
PLAIN = ("viscous", "coulomb", "offset")


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "two_links.yaml"
    path.write_text(ARM)
    return rd.load(path)


def motion(m, rng):
    size = 0.5 / np.arange(1, 6)[:, None]
    sine, cosine = rng.uniform(-1.0, 1.0, (2, 5, len(m.home))) * size
    return FourierTrajectory(m, FourierSeries(DURATION, 1.0, m.home, sine, cosine))


def recorded(m, rng, encoder, rate):
    times = np.arange(0.0, DURATION, 1.0 / rate)
    q, v, a = motion(m, rng).sample(times)
    efforts = m.inverse_dynamics(q, v, a)
    efforts += NOISE * efforts.std(axis=0) * rng.normal(size=q.shape)
    return rd.Recording.from_arrays(m, times, q + encoder * rng.normal(size=q.shape), efforts)


@pytest.mark.parametrize("encoder", [1e-7, 2e-5])
def test_two_of_three_parameters_are_within_a_standard_deviation(arm, encoder):
    away = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        found = rd.identify(arm, recorded(arm, rng, encoder, 100.0), friction="offset").parameters
        away.append((found.values - found.of(arm)) / found.deviations)
    assert (np.abs(away) < 1.0).mean() == pytest.approx(0.6827, abs=0.06)
    assert np.sqrt(np.mean(np.square(away))) == pytest.approx(1.0, abs=0.15)


def test_dry_friction_that_turns_round_between_instants_is_no_error(arm):
    """Encoders of 2e-4 rad: the filters' instants are far apart, those of the recording are not."""
    error = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        recordings = [recorded(arm, rng, 2e-4, 250.0) for _ in range(2)]
        found = rd.identify(arm, recordings, friction="coulomb").mechanism
        states = motion(arm, rng).sample(np.linspace(0.0, DURATION, 1000))
        efforts = arm.inverse_dynamics(*states)
        left = (found.inverse_dynamics(*states) - efforts).std(axis=0)
        error.append(left / efforts.std(axis=0))
    assert np.median(error) < 0.002


@pytest.mark.parametrize("encoder", [1e-7, 2e-5, 2e-4])
def test_no_terms_of_friction_are_chosen_that_are_not_there(arm, encoder):
    added = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        recordings = [recorded(arm, rng, encoder, 250.0) for _ in range(2)]
        found = rd.identify(arm, recordings).friction
        added += [item.term.name for own in found for item in own if item.term.kind not in PLAIN]
    assert len(added) <= 1


def recorded_while_held(m, period):
    """Record a controller's efforts at the ends of the periods in which it held them."""
    rng = np.random.default_rng(1)
    run = rd.simulate(m, rd.ComputedTorque(m), motion(m, rng), control_dt=period)
    efforts = run.effort[:-1]
    efforts = efforts + NOISE * efforts.std(axis=0) * rng.normal(size=efforts.shape)
    positions = m.joint_positions(run.configuration[1:])
    return rd.Recording.from_arrays(m, run.time[1:], positions, efforts)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["two_links", "puma560", "stanford_arm"])
def test_a_lag_of_efforts_is_not_taken_for_friction(arm, name):
    """Efforts held for a period lag by half of it, so inertia looks like friction."""
    m = (arm if name == "two_links" else rd.load(name)).without_friction()
    found = rd.identify(m, recorded_while_held(m, 0.01))
    assert found.filters.effort_delay == pytest.approx(0.005, rel=0.05)
    assert any(note.startswith("efforts lag the positions by") for note in found.notes)
    for own in found.friction:
        assert {item.term.kind for item in own} <= {*PLAIN}
        assert all(abs(item.coefficient) < 3.0 * item.deviation for item in own)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["two_links", "puma560"])
def test_friction_is_found_although_efforts_lag(arm, name):
    m = arm if name == "two_links" else rd.load(name)
    found = rd.identify(m, recorded_while_held(m, 0.01))
    true = dict(zip(m.parameters.names, m.parameters.values.tolist(), strict=True))
    for joint, own in zip(m.joint_names, found.friction, strict=True):
        assert {item.term.kind for item in own} <= {*PLAIN}
        values = {item.term.kind: item.coefficient for item in own}
        dry = 0.5 * (true[f"{joint}.coulomb_forward"] + true[f"{joint}.coulomb_backward"])
        assert values["coulomb"] == pytest.approx(dry, rel=0.01)
        assert values["viscous"] == pytest.approx(true[f"{joint}.viscous"], rel=0.05)


def test_laws_that_drive_a_motor_are_no_friction():
    low, high = Term("smooth", 0.01), Term("stribeck", 0.1)
    assert dissipates([Term("coulomb"), low], np.array([1.0, 2.0]))
    assert not dissipates([Term("coulomb"), low], np.array([-1.0, 2.0]))
    assert dissipates([Term("coulomb"), high], np.array([2.0, -1.0]))
    assert not dissipates([Term("coulomb"), high], np.array([1.0, -2.0]))
