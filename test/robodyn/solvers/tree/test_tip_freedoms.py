# SPDX-License-Identifier: Apache-2.0

"""Components of the tip's pose that determine a mechanism, also with more than six freedoms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from random_mechanisms import single_loop
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn import loading
from robodyn.actuators import Actuator
from robodyn.algorithms import conditioning, motions
from robodyn.errors import InvalidInput
from robodyn.trajectories import SampledTrajectory

FOLDER = Path(__file__).parents[3] / "reference" / "closed_loops"


def loop_of(name):
    return rd.load(FOLDER / f"{name}.yaml" if (FOLDER / f"{name}.yaml").exists() else name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("delta", (0, 1, 2)),  # its platform does not turn
        ("fivebar", (0, 1, 2)),
        ("spm", (3, 4, 5)),  # spherical: its tip is at the center
        ("rps3", (2, 3, 4)),  # a tripod: up, and two tilts
        ("hexapod_rotary", (0, 1, 2, 3, 4, 5)),
    ],
)
def test_tip_freedoms_find_what_determines_a_mechanism(name, rows):
    m = loop_of(name)
    assert m.solver.tip_freedoms.rows == rows
    assert m.solver.tip_freedoms.suffice
    assert (
        loading.describe(*loading.read(str(m.model.source), False), "")["loops"]["determined_by"]
        == m.solver.tip_freedoms.text
    )


@pytest.mark.parametrize("name", ["spm", "rps3"])
def test_a_mechanism_that_turns_is_well_conditioned_upright(name):
    m = loop_of(name)
    assert m.condition_number(m.home) < 3.0
    away = m.advance(m.home, 0.05 * np.array([1.0, -1.0, 0.5]))
    assert m.condition_number(away) < 4.0


def test_a_spherical_mechanism_goes_to_a_rotation():
    m = loop_of("spm")
    goal = m.body_pose(m.home)
    turn = Rotation.from_rotvec([0.1, 0.15, -0.2])
    goal[3:] = (turn * Rotation.from_quat(goal[3:])).as_quat()
    found = m.body_pose(m.configuration_at(goal))
    np.testing.assert_allclose(found, goal, atol=1e-10)


def test_a_tripod_goes_to_a_height_and_two_tilts():
    m = loop_of("rps3")
    goal = m.body_pose(m.home)
    goal[2] += 0.1
    goal[3:] = (Rotation.from_rotvec([0.1, 0.15, 0.0]) * Rotation.from_quat(goal[3:])).as_quat()
    found = m.body_pose(m.configuration_at(goal))
    assert found[2] == pytest.approx(goal[2], abs=1e-10)
    left = Rotation.from_quat(found[3:]) * Rotation.from_quat(goal[3:]).inv()
    np.testing.assert_allclose(left.as_rotvec()[:2], 0.0, atol=1e-10)


def of_freedoms(count, rng):
    if count == 20:
        return single_loop(rng, 26, "fixed").mechanism()
    return loop_of({7: "axis7", 12: "series"}[count])


@pytest.mark.slow
@pytest.mark.parametrize("count", [7, 12, 20])
def test_more_than_six_freedoms_are_examined_as_any(count, rng):
    m = of_freedoms(count, rng)
    assert m.mobility == count
    assert not m.solver.tip_freedoms.suffice
    with pytest.raises(InvalidInput, match="state the goal as joint positions"):
        m.configuration_at(m.body_pose(m.home))
    assert np.isfinite(m.condition_number(m.home))
    near = m.advance(m.home, np.full(count, 1e-3))
    for singularity in conditioning.singularities(m):
        assert np.isfinite(singularity.condition(np.array([m.home, near]), 1.0)).all()
        assert np.isfinite(singularity.number(np.array([m.home, near]))).all()


@pytest.mark.parametrize("count", [7, 12])
def test_more_than_six_freedoms_are_simulated(count, rng):
    m = of_freedoms(count, rng)
    start = m.joint_positions(m.home)
    goal = start + 0.01
    path = rd.plan_joints(start, goal, 0.4)
    times = np.linspace(0.0, path.duration, 41)
    motion = motions.motion_of_joints(m, *(part for part in path.sample(times)))
    trajectory = SampledTrajectory(m, times, motion)
    assert rd.check_limits(m, trajectory) is None
    run = rd.simulate(m, rd.ComputedTorque(m), trajectory, dt=1e-3, control_dt=1e-2)
    assert np.abs(run.error).max() < 1e-3


def test_weight_of_an_underactuated_mechanism_is_unknown():
    model = loop_of("delta").model
    geared = Actuator(rotor_inertia=1e-4, gear_ratio=10.0)
    one = replace(model, driven=model.driven[:1]).driven_by({model.driven[0]: geared})
    (row,) = loading.actuators_at_home(rd.ClosedLoop(one))
    assert row["weight"] is None
    assert row["friction_share"] is None
    assert row["reflected_inertia"] == pytest.approx(1e-2)
