# SPDX-License-Identifier: Apache-2.0

"""Against two engines that are not ours: `test/reference/closed_loops`, to 1e-9."""

import json
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.solvers.tree.closing import joint_motion

FOLDER = Path(__file__).parents[3] / "reference" / "closed_loops"
MECHANISMS = json.loads((FOLDER / "closed_loops.json").read_text())["mechanisms"]


@pytest.fixture(params=MECHANISMS)
def reference(request):
    return MECHANISMS[request.param]


@pytest.fixture
def mechanism(reference):
    return rd.load(FOLDER / reference["urdf"], tip_link=reference["end_link"])


def configuration(mechanism, reference, state):
    """Return the data of the file in the order of our configurations."""
    parts = dict(zip(reference["joints"], state["positions"], strict=True))
    if reference["floating_joint"]:
        pose = state["floating"]["xyz"] + state["floating"]["quat_xyzw"]
        parts[reference["floating_joint"]] = pose
    return np.concatenate([np.atleast_1d(parts[name]) for name in mechanism.structure.joint_names])


def states(mechanism, reference):
    """Configurations, velocities, accelerations and wrenches (4, ...)."""
    rows = [
        (
            configuration(mechanism, reference, state),
            np.array(state.get("independent_velocity", state["driven_velocity"])),
            np.array(state.get("independent_acceleration", state["driven_acceleration"])),
            np.array(state["wrench"]),
        )
        for state in reference["states"]
    ]
    return [np.array(part) for part in zip(*rows, strict=True)]


def agrees(found, reference, key, tolerance=1e-9):
    expected = np.array([state[key] for state in reference["states"]])
    size = np.abs(expected).reshape(len(expected), -1).max(axis=1)
    gap = np.abs(np.asarray(found) - expected).reshape(len(expected), -1).max(axis=1)
    assert (gap <= tolerance * np.maximum(size, 1e-6)).all(), (key, gap / size)


def test_rank_and_mobility_equal_the_reference(mechanism, reference):
    """Rank and mobility, with more closure equations than there is rank for."""
    assert mechanism.mobility == reference["mobility"]
    assert mechanism.structure.rank == reference["closure_rank"]
    assert mechanism.structure.closures == reference["closure_equations"]
    assert len(mechanism.structure.rate_names) == reference["tree_coordinates"]
    assert mechanism.joint_names == tuple(reference["driven"])
    assert mechanism.independent_joints == tuple(reference["independent"])
    assert mechanism.structure.idle_names == ()
    assert mechanism.structure.loose == ()


def test_dynamics_in_a_batch(mechanism, reference):
    q, u, change, wrench = states(mechanism, reference)
    agrees(mechanism.inverse_dynamics(q, u, change, wrench), reference, "effort")
    agrees(mechanism.mass_matrix(q), reference, "mass_matrix")
    agrees(mechanism.bias(q, u, wrench), reference, "bias")
    agrees(mechanism.bias(q, u), reference, "bias_without_wrench")
    agrees(mechanism.jacobian(q), reference, "jacobian")
    frictionless = mechanism.without_friction()
    efforts = frictionless.inverse_dynamics(q, u, change, wrench)
    agrees(efforts, reference, "effort_without_damping")
    kinetic, potential = mechanism.energy(q, u)
    agrees(kinetic, reference, "kinetic_energy")
    agrees(potential, reference, "potential_energy")


def test_dynamics_of_single_states(mechanism, reference):
    rows = list(zip(*states(mechanism, reference), strict=True))
    agrees([mechanism.inverse_dynamics(*row) for row in rows], reference, "effort")
    agrees([mechanism.mass_matrix(row[0]) for row in rows], reference, "mass_matrix")
    agrees([mechanism.bias(*row[:2]) for row in rows], reference, "bias_without_wrench")
    agrees([mechanism.jacobian(row[0]) for row in rows], reference, "jacobian")


@pytest.mark.parametrize("batch", [True, False])
def test_forward_dynamics(mechanism, reference, batch):
    q, u, _, wrench = states(mechanism, reference)
    effort = np.array([state["forward"]["effort"] for state in reference["states"]])
    if batch:
        change = mechanism.forward_dynamics(q, u, effort, wrench)
    else:
        rows = zip(q, u, effort, wrench, strict=True)
        change = np.array([mechanism.forward_dynamics(*row) for row in rows])
    expected = np.array([s["forward"]["driven_acceleration"] for s in reference["states"]])
    found = motions.driven_motion(mechanism, q, u, change).accelerations
    assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max()


def test_joint_motion_equals_the_reference(mechanism, reference):
    q, u, change, _ = states(mechanism, reference)
    joints = mechanism.joint_states(q, u)
    at = [joints.names.index(name) for name in reference["joints"]]
    agrees(joints.positions[:, at], reference, "positions", 1e-15)
    agrees(joints.velocities[:, at], reference, "velocities")
    v, a = joint_motion(mechanism, q, u, change)
    at = [mechanism.structure.rate_names.index(name) for name in reference["joints"]]
    agrees(a[:, at], reference, "accelerations")
    if reference["floating_joint"]:
        first = mechanism.structure.rate_names.index(reference["floating_joint"] + ".x")
        agrees(v[:, first : first + 6], reference, "floating_twist")
        agrees(a[:, first : first + 6], reference, "floating_twist_rate")
    pose = mechanism.forward_kinematics(q)
    agrees(pose[:, :3], reference, "end_xyz")


def test_assembled_from_home_by_its_driven_joints(mechanism, reference):
    """Positions of the motors alone, and the configuration that the other engines have."""
    q, _, _, _ = states(mechanism, reference)
    driven = np.array([state["driven_position"] for state in reference["states"]])
    found = mechanism.assemble(driven)
    assert np.abs(found - q).max() < 1e-9
    assert max(mechanism.structure.equations.relative_residual(row) for row in found) < 1e-13


def test_assembled_by_the_tips_pose(mechanism, reference):
    q, _, _, _ = states(mechanism, reference)
    pose = mechanism.forward_kinematics(q)
    found = mechanism.assemble(pose=pose, guess=mechanism.home)
    assert np.abs(mechanism.forward_kinematics(found) - pose).max() < 1e-9
