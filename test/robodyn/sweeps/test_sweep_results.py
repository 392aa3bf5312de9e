# SPDX-License-Identifier: Apache-2.0

"""Results of a sweep equal those of the library's calls, with the mechanism's symmetry."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from six_legs import six_legs, with_legs

import robodyn as rd
from robodyn.algorithms import conditioning
from robodyn.control import weakest_direction
from robodyn.errors import UnreachablePose
from robodyn.sweeps import QUANTITIES


def test_a_grid_equals_the_batch_calls(symmetric):
    x, z = np.linspace(-0.1, 0.1, 7), np.linspace(0.75, 0.85, 5)
    symmetric = symmetric.with_drive_stiffness(1e7)
    data = rd.sweep(
        symmetric,
        {"x": x, "z": "0.75:0.85:5", "roll": 0.05, "force_x": 20.0, "accel_z": 1.5},
        list(QUANTITIES),
        characteristic_length=0.8,
        chunk=8,
    )
    xyz = np.zeros((7, 5, 3))
    xyz[..., 0], xyz[..., 2] = x[:, None], z
    poses = rd.pose_from_rpy(xyz, [0.05, 0.0, 0.0])
    wrench, accel = np.array([20.0, 0, 0, 0, 0, 0]), np.array([0, 0, 1.5, 0, 0, 0])
    effort = symmetric.inverse_dynamics(poses, np.zeros(6), accel, wrench)
    values = conditioning.singular_values(symmetric, poses, 0.8)
    assert data.reachable.all()
    np.testing.assert_array_equal(data.effort, effort)
    np.testing.assert_array_equal(data.effort_min, effort)  # of a box without width
    np.testing.assert_array_equal(data.effort_max, effort)
    np.testing.assert_array_equal(data.joint_positions, symmetric.inverse_kinematics(poses))
    np.testing.assert_array_equal(data.pose, poses)
    np.testing.assert_array_equal(data.smallest_singular_value, values[..., -1])
    np.testing.assert_allclose(data.manipulability, values.prod(axis=-1), rtol=1e-14)
    np.testing.assert_allclose(
        data.condition_number, symmetric.condition_number(poses, 0.8), rtol=1e-13
    )
    first = symmetric.modes(poses, wrench).frequencies[..., 0]
    np.testing.assert_allclose(data.natural_frequency, first, rtol=1e-9)
    direction, _ = weakest_direction(symmetric, poses[2, 3], 0.8)
    np.testing.assert_allclose(data.weakest_direction[2, 3], direction, atol=1e-12)


def test_every_array_has_its_unit_and_every_dimension_its_coordinate(symmetric):
    elastic = symmetric.with_drive_stiffness(1e7)
    data = rd.sweep(elastic, {"x": "0:0.1:3", "payload": "0:50:2"}, list(QUANTITIES))
    assert data.effort.dims == ("x", "payload", "joint")
    units = {name: data[name].attrs.get("units") for name in data.variables}
    assert units["x"] == units["z"] == units["joint_positions"] == "m"
    assert (units["roll"], units["payload"], units["effort"]) == ("rad", "kg", "N")
    bare = {name for name, unit in units.items() if unit is None}
    assert bare == {"reachable", "joint", "direction", "entry"}
    assert set(data.dims) <= set(data.coords)
    assert tuple(data.joint.values) == symmetric.joint_names


@pytest.mark.parametrize(("rate", "unit"), [("velocity", "s"), ("accel", "s^2")])
@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_rates_of_a_platform_have_their_units(symmetric, rate, unit, axis):
    swept = {f"{rate}_{axis}": "0:0.1:2", f"angular_{rate}_{axis}": "0:0.2:2"}
    data = rd.sweep(symmetric, swept, ["effort"])
    units = [data[name].attrs["units"] for name in swept]
    assert units == [f"m/{unit}", f"rad/{unit}"]


def test_rates_of_an_arm_have_the_units_of_their_joints():
    arm = rd.load("stanford_arm")
    slides = [joint.kind == "prismatic" for joint in arm.chain.joints]
    for name, sliding in zip(arm.joint_names, slides, strict=True):
        swept = {name: "0.1:0.2:2", f"{name}_rate": "0:0.1:2", f"{name}_accel": "0:0.1:2"}
        data = rd.sweep(arm, swept, ["effort"])
        unit = "m" if sliding else "rad"
        found = [data[each].attrs["units"] for each in swept]
        assert found == [unit, f"{unit}/s", f"{unit}/s^2"]


@pytest.fixture(scope="module")
def triangular(symmetric):
    """A map on rows whose every other point, i + j even, lies on a triangular lattice."""
    n, step = 8, 0.035
    i = np.arange(-n, n + 1)
    axes = {"x": i * step, "y": i * step * np.sqrt(3.0), "z": 0.82}
    return rd.sweep(symmetric, axes, ["condition_number", "effort", "joint_positions"]), n


def test_the_map_of_a_symmetric_platform_has_its_three_fold_symmetry(triangular):
    data, n = triangular
    compared = 0
    for i, j in itertools.product(range(-n, n + 1), repeat=2):
        if (i + j) % 2:
            continue
        # the lattice point a third of a turn further
        p, q = (-i - 3 * j) // 2, (i - j) // 2
        if max(abs(p), abs(q)) > n:
            continue
        here, there = data.isel(x=i + n, y=j + n), data.isel(x=p + n, y=q + n)
        assert bool(here.reachable) == bool(there.reachable)
        if here.reachable:
            compared += 1
        np.testing.assert_allclose(there.condition_number, here.condition_number, rtol=1e-9)
        # leg 3 there is in the place of leg 1 here
        np.testing.assert_allclose(np.roll(there.effort, -2), here.effort, rtol=1e-9)
    assert 40 < compared < (2 * n + 1) ** 2
    assert 0.0 < float(data.reachable.mean()) < 1.0


def test_the_map_of_a_symmetric_platform_has_its_mirror_symmetry(triangular):
    data, _ = triangular
    mirrored = data.isel(y=slice(None, None, -1))
    np.testing.assert_array_equal(mirrored.reachable, data.reachable)
    np.testing.assert_allclose(mirrored.condition_number, data.condition_number, rtol=1e-9)
    np.testing.assert_allclose(mirrored.effort[..., ::-1], data.effort, rtol=1e-9)


def test_reachable_is_what_inverse_kinematics_takes(symmetric, rng):
    box = {"x": "-0.6:0.6", "y": "-0.6:0.6", "z": "0.5:1.2", "yaw": "-0.5:0.5"}
    data = rd.sweep(symmetric, box, samples=300, seed=int(rng.integers(2**31)))
    xyz = np.stack([data.x, data.y, data.z], axis=-1)
    poses = rd.pose_from_rpy(xyz, np.stack([0 * data.yaw, 0 * data.yaw, data.yaw], axis=-1))
    for pose, reachable, number in zip(poses, data.reachable, data.condition_number, strict=True):
        assert bool(reachable) == bool(np.isfinite(number))
        if reachable:
            symmetric.inverse_kinematics(pose)
        else:
            with pytest.raises(UnreachablePose):
                symmetric.inverse_kinematics(pose)
    beyond = rd.sweep(symmetric, box, samples=300, seed=data.attrs["seed"], beyond_limits=True)
    np.testing.assert_array_equal(beyond.reachable, data.reachable)
    assert beyond.condition_number.notnull().all()


def test_states_without_an_answer_are_nan_and_do_not_spoil_their_chunk(symmetric):
    # without limits, so that the legs may lie flat
    legs = tuple(replace(leg, limits=type(leg.limits)()) for leg in six_legs(symmetric).legs)
    free = with_legs(symmetric, legs)
    # At the base points' own height and place a leg has no length.
    x, y, _ = six_legs(symmetric).legs[0].base - six_legs(symmetric).legs[0].platform
    axes = {"x": sorted([0.0, x]), "y": sorted([0.0, y]), "z": [0.0, 0.8], "yaw": 0.0}
    data = rd.sweep(free, axes, ["effort", "condition_number", "joint_positions"])
    touching = data.sel(x=x, y=y, z=0.0)
    assert not touching.reachable
    assert touching.joint_positions.isnull().all()
    assert int(data.reachable.sum()) == 7
    # flat legs hold nothing up: reachable, but no forces are enough
    assert data.reachable.sel(x=0.0, y=0.0, z=0.0)
    assert data.effort.sel(z=0.0).isnull().all()
    assert data.effort.sel(z=0.8).notnull().all()
    pose = rd.pose_from_rpy([0.0, 0.0, 0.8], [0.0, 0.0, 0.0])
    forces = free.inverse_dynamics(pose, np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(data.effort.sel(x=0.0, y=0.0, z=0.8), forces, rtol=1e-12)


def test_extreme_efforts_are_those_of_the_corners_of_the_box(symmetric, rng):
    symmetric = symmetric.without_friction()
    widths = np.concatenate([rng.uniform(0.5, 3.0, 6), rng.uniform(10.0, 100.0, 6)])
    data = rd.sweep(
        symmetric,
        {"x": [0.07], "accel_x": 0.3, "moment_z": 5.0},
        "effort_extremes",
        accelerations=widths[:6],
        wrenches=widths[6:],
    ).isel(x=0)
    corners = widths * np.array(list(itertools.product([-1.0, 1.0], repeat=12)))
    accel, wrench = corners[:, :6].copy(), corners[:, 6:].copy()
    accel[:, 0] += 0.3
    wrench[:, 5] += 5.0
    pose = rd.pose_from_rpy([0.07, 0.0, 0.82], [0.0, 0.0, 0.0])
    forces = symmetric.inverse_dynamics(pose, np.zeros(6), accel, wrench)
    np.testing.assert_allclose(data.effort_min, forces.min(axis=0), rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(data.effort_max, forces.max(axis=0), rtol=1e-9, atol=1e-6)


def test_parameters_of_the_model_are_axes(symmetric):
    axes = {"payload": [0.0, 60.0], "payload_z": 0.3, "platform_scale": [0.8, 1.0], "x": [0.0, 0.1]}
    data = rd.sweep(symmetric, axes, ["effort", "joint_positions"], beyond_limits=True, chunk=3)
    pose = rd.pose_from_rpy([0.1, 0.0, 0.82], [0.0, 0.0, 0.0])
    loaded = symmetric.with_payload(60.0, [0.0, 0.0, 0.3])
    zero = np.zeros(6)
    expected = loaded.inverse_dynamics(pose, zero, zero)
    np.testing.assert_allclose(data.effort.sel(payload=60, platform_scale=1, x=0.1), expected)
    # the legs carry the weight for any geometry
    light, heavy = data.effort.sel(payload=0.0), data.effort.sel(payload=60.0)
    assert float(abs(heavy - light).min()) > 1.0
    smaller = data.joint_positions.sel(platform_scale=0.8, x=0.0, payload=0.0)
    leg = six_legs(symmetric).legs[0]
    tip = leg.platform * [0.8, 0.8, 1.0] + [0.0, 0.0, 0.82]
    np.testing.assert_allclose(smaller, np.linalg.norm(tip - leg.base), rtol=1e-12)


def test_an_arm_by_its_joints(puma, rng):
    axes = {"joint2": "-1:1:9", "joint3": "-1:3:9", "joint5": 0.4, "payload": 2.5}
    data = rd.sweep(puma, axes, ["manipulability", "effort", "pose", "condition_number"])
    q = np.zeros((9, 9, 6)) + puma.home
    q[..., 1], q[..., 2] = np.linspace(-1, 1, 9)[:, None], np.linspace(-1, 3, 9)
    q[..., 4] = 0.4
    lower, upper = puma.position_limits.T
    within = ((q >= lower) & (q <= upper)).all(axis=-1)
    assert 0.0 < within.mean() < 1.0
    np.testing.assert_array_equal(data.reachable, within)
    loaded = puma.with_payload(2.5)
    np.testing.assert_allclose(data.effort.values[within], loaded.gravity(q[within]), rtol=1e-12)
    np.testing.assert_array_equal(data.pose.values[within], puma.body_pose(q[within]))
    J = puma.jacobian(q[within])
    np.testing.assert_allclose(
        data.manipulability.values[within], abs(np.linalg.det(J)), rtol=1e-9, atol=1e-12
    )
    assert data.effort.isnull().all(axis=-1).values[~within].all()
    assert data.effort.attrs["units"] == "N m"


@pytest.mark.parametrize("method", ["sobol", "random"])
def test_samples_do_not_depend_on_how_they_are_cut(symmetric, method, rng):
    box = {"x": "-0.2:0.1", "yaw": "-0.3:0.3", "payload_x": 0.1}
    seed = int(rng.integers(2**31))
    given = {"samples": 101, "seed": seed, "method": method}
    whole = rd.sweep(symmetric, box, **given)
    pieces = rd.sweep(symmetric, box, chunk=7, **given)
    for name, ends in (("x", (-0.2, 0.1)), ("yaw", (-0.3, 0.3))):
        np.testing.assert_array_equal(pieces[name], whole[name])
        assert whole[name].dims == ("sample",)
        assert ends[0] <= whole[name].min() < whole[name].max() <= ends[1]
        # mean of a uniform distribution: four sigma of 101 independent points
        sigma = (ends[1] - ends[0]) / np.sqrt(12.0 * 101.0)
        assert abs(float(whole[name].mean()) - sum(ends) / 2.0) < 4.0 * sigma
    np.testing.assert_allclose(pieces.condition_number, whole.condition_number, rtol=1e-12)
    other = rd.sweep(symmetric, box, **(given | {"seed": seed + 1}))
    assert not np.array_equal(other.x, whole.x)
