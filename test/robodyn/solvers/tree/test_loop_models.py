# SPDX-License-Identifier: Apache-2.0
"""The bundled mechanisms with closed loops: what they are, and that their files agree."""

import subprocess
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.loading import describe, read
from robodyn.model import Placement
from robodyn.poses import rotation_matrix
from robodyn.presentation import presentation

MODELS = {"delta": 3, "hexapod_rotary": 6, "fivebar": 2}
URDF = Path(__file__).resolve().parents[4] / "urdf"


@pytest.fixture(scope="module", params=sorted(MODELS))
def mechanism(request):
    return rd.load(request.param, strict=True)


def test_a_closed_loop_implements_the_protocol(mechanism):
    assert isinstance(mechanism, rd.Mechanism)
    assert mechanism.kind == "closed_loop"


def test_the_motors_hold_every_freedom(mechanism):
    found = describe(*read(mechanism.name, False), mechanism.name)["loops"]
    assert found["freedoms"] == len(mechanism.joint_names) == MODELS[mechanism.name]
    assert found["mobility"] == found["freedoms"] + len(found["idle_freedoms"])
    assert found["mobility"] == found["tree_coordinates"] - found["rank"]
    assert found["motors_suffice"]
    assert not found["loose_joints"]
    assert found["open_by"] < 1e-12 * mechanism.size
    assert 1.0 <= found["condition_numbers"]["force"] < 10.0


def assert_close(a, b):
    """Numbers within rounding, everything else equal; in dataclasses and sequences, too."""
    assert type(a) is type(b)
    if isinstance(a, Placement):
        np.testing.assert_allclose(a.matrix, b.matrix, rtol=0, atol=1e-12)
    elif is_dataclass(a):
        for field in fields(a):
            assert_close(getattr(a, field.name), getattr(b, field.name))
    elif isinstance(a, (float, np.ndarray)):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_close(one, other)
    else:
        assert a == b


@pytest.mark.slow
def test_the_urdf_beside_the_yaml_is_that_of_the_xacro_file(mechanism):
    pytest.importorskip("xacro")
    made = rd.load(URDF / f"{mechanism.name}.urdf.xacro")
    # the tip and the driven joints are stated in the YAML file only
    names = [link.name for link in made.model.links]
    assert names == [link.name for link in mechanism.model.links]
    for field in ("links", "joints", "closures"):
        pairs = zip(getattr(made.model, field), getattr(mechanism.model, field), strict=True)
        for a, b in pairs:
            assert_close(a, b)


def test_the_urdf_closes_loops_of_the_same_lengths_everywhere(mechanism):
    """Bodies are rigid: a rod's ends stay as far apart as the URDF has them, in every assembly."""
    path = rd.load_path("demo", mechanism)
    configurations = path.sample(np.linspace(0.0, path.duration, 25)).configuration
    for closure in mechanism.model.closures:
        ends = []
        for link, at in ((closure.parent, closure.at), (closure.child, closure.child_at)):
            pose = mechanism.link_pose(configurations, link)
            ends.append(pose[:, :3] + rotation_matrix(pose) @ at.translation)
        np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-11 * mechanism.size)


def test_the_deltas_platform_stays_level(rng):
    delta = rd.load("delta")
    for _ in range(5):
        q = delta.assemble(0.35 + rng.uniform(-0.25, 0.25, 3))
        np.testing.assert_allclose(np.abs(delta.body_pose(q)[3:]), [1, 0, 0, 0], atol=1e-10)


@pytest.mark.slow
def test_the_tip_reaches_the_goals_it_can(mechanism):
    there = mechanism.assemble(mechanism.joint_positions(mechanism.home) + 0.1)
    goal = mechanism.body_pose(there)
    if len(mechanism.joint_names) < 6:
        goal[3:] = [0.0, 0.0, 0.6, 0.8]  # of no account where the position determines the rest
    found = mechanism.configuration_at(goal)
    np.testing.assert_allclose(mechanism.body_pose(found)[:3], goal[:3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found, there, rtol=0, atol=1e-8)
    with pytest.raises(rd.NoSolution):
        mechanism.configuration_at(
            mechanism.body_pose(there) + np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0])
        )


def test_readings_of_the_motors_tell_the_state(mechanism):
    driven = mechanism.joint_positions(mechanism.home) + 0.05
    q = mechanism.assemble(driven)
    rates = np.linspace(-0.2, 0.3, len(driven))
    found, velocity = motions.state_of_readings(mechanism, driven, rates)
    np.testing.assert_allclose(found, q, rtol=0, atol=1e-10)
    names, positions, _ = mechanism.joint_states(found, velocity)
    assert names == mechanism.all_joint_names
    for name, value in zip(mechanism.joint_names, driven, strict=True):
        assert positions[names.index(name)] == pytest.approx(value, abs=1e-12)


def test_floating_links_are_where_the_legs_hold_them(mechanism):
    q = mechanism.assemble(mechanism.joint_positions(mechanism.home) + 0.1)
    for (parent, child), pose in presentation.floating_poses(mechanism, q).items():
        assert parent == mechanism.frames[0]
        np.testing.assert_allclose(pose, mechanism.link_pose(q, child), rtol=0, atol=1e-12)


@pytest.mark.slow
def test_check_reports_it_on_the_command_line():
    done = subprocess.run(
        [sys.executable, "-m", "robodyn", "check", "fivebar"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "mobility 2" in done.stdout
    assert "rank 2" in done.stdout
    # the only closure, too, is named where its parameters are
    assert "closure tip_hinge:" in done.stdout
