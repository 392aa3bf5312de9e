# SPDX-License-Identifier: Apache-2.0

"""Calibration of closed loops: derivatives, heights of a bed, distances, firmwares of printers."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

import robodyn as rd
from robodyn.algorithms import comparison, geometry_of
from robodyn.cli import app
from robodyn.errors import InvalidInput
from robodyn.identification.calibration import delta_settings
from robodyn.model import Placement
from robodyn.poses import pose_difference

pytestmark = pytest.mark.slow

PROBE, CALIPER = 1e-5, 1e-4  # m
BED = -0.62


@pytest.fixture(scope="module")
def delta():
    return rd.load("delta")


@pytest.fixture(scope="module")
def fivebar():
    return rd.load("fivebar")


@pytest.fixture(scope="module")
def hexapod():
    return rd.load("hexapod_rotary")


class Machine:
    """A machine that differs from its model by 0.5 mm and 0.5 degrees in every dimension."""

    def __init__(self, m, rng):
        self.model, self.geometry = m, geometry_of(m)
        units = np.array([each.unit for each in self.geometry.parameters])
        self.nominal = np.array([each.value for each in self.geometry.parameters])
        wrong = np.where(units == "rad", np.radians(0.5), 5e-4)
        self.true = self.nominal + wrong * rng.uniform(-1.0, 1.0, len(wrong))
        self.real = self.geometry.with_geometry(self.true)

    def on_bed(self, rng, count):
        """Driven positions with the tip in a circle on the bed."""
        radius, angle = 0.15 * np.sqrt(rng.uniform(0, 1, count)), rng.uniform(0, 2 * np.pi, count)
        joints = []
        for x, y in zip(radius * np.cos(angle), radius * np.sin(angle), strict=True):
            pose = np.array([x, y, BED, 0.0, 0.0, 0.0, 1.0])
            joints.append(self.real.joint_positions(self.real.configuration_at(pose)))
        return np.array(joints)


def heights(m, joints):
    return m.body_pose(m.assemble(joints))[:, 2]


@pytest.mark.parametrize("name", ["delta", "hexapod", "fivebar"])
def test_dimensions_move_the_tip_as_their_derivatives_say(name, request, rng):
    m = request.getfixturevalue(name)
    machine = Machine(m, rng)
    geometry = machine.geometry
    assert comparison.differences(m, geometry.with_geometry(machine.nominal)) == []
    joints = m.joint_positions(m.home) + rng.uniform(-0.2, 0.2, (2, len(m.joint_names)))
    guess = m.body_pose(m.assemble(joints))
    placed = geometry.place(machine.true, joints, guess)
    there = machine.real.assemble(joints)
    apart = pose_difference(machine.real.body_pose(there), placed.poses)
    np.testing.assert_allclose(apart, 0.0, atol=1e-12)
    step, along = 1e-6, rng.normal(size=len(machine.true))
    by_joint = rng.normal(size=len(m.joint_names))
    ends = [
        geometry.place(machine.true + s * along, joints + s * by_joint, guess)
        for s in (-step, step)
    ]
    moved = pose_difference(ends[0].poses, ends[1].poses) / (2.0 * step)
    np.testing.assert_allclose(
        placed.by_parameter @ along + placed.by_joint @ by_joint, moved, atol=2e-6
    )
    turned = (ends[1].passive - ends[0].passive) / (2.0 * step)
    np.testing.assert_allclose(
        placed.passive_by_parameter @ along + placed.passive_by_joint @ by_joint, turned, atol=2e-6
    )


def test_no_dimension_tears_a_planar_loop_open(fivebar):
    """Hinges all parallel: only dimensions in their plane remain."""
    names = [each.name for each in geometry_of(fivebar).parameters]
    assert "left_elbow.x" in names
    assert not [name for name in names if name.endswith((".y", "axis.u", "axis.v"))]


def test_a_delta_is_flat_after_thirty_heights(delta, rng):
    """Probe noise of 10 um, 95 % of other points of the bed within 30 um."""
    machine = Machine(delta, rng)
    plan = {"measure": "height", "height": BED, "radius": 0.15}
    joints = rd.calibration_poses(delta, 30, candidates=100, **plan).joints
    seen = heights(machine.real, joints) + PROBE * rng.normal(size=30)
    found = rd.calibrate(delta, rd.Measurements.from_arrays(delta, joints, height=seen))
    others = machine.on_bed(rng, 200)
    before = np.abs(heights(delta, others) - heights(machine.real, others))
    after = np.abs(heights(found.mechanism, others) - heights(machine.real, others))
    assert np.percentile(after, 95) < 3e-5 < 1e-4 < np.percentile(before, 95)
    assert 0.5 * PROBE < found.noise["position"] < 2.0 * PROBE
    # heights contain nothing of turns about z: a shift along the tangent does not change them
    assert found.unseen
    assert not any(each.seen for each in found.parameters if each.name == "arm1_motor.y")


def test_a_servo_hexapod_by_a_caliper(hexapod, rng):
    machine = Machine(hexapod, rng)
    base = [f"servo{i}" for i in range(1, 7)] * 2
    body = [f"rod{i}_tip" for i in (1, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 1)]
    count = 30
    joints = hexapod.joint_positions(hexapod.home) + rng.uniform(-0.5, 0.5, (count, 6))
    samples = rd.Measurements.from_arrays(
        hexapod, np.repeat(joints, 12, axis=0), distance=np.ones(12 * count),
        base_point=base * count, body_point=body * count,
    )  # fmt: skip
    poses = machine.real.body_pose(machine.real.assemble(joints)).repeat(12, axis=0)
    turned = Rotation.from_quat(poses[:, 3:]).apply(samples.body_point)
    lengths = np.linalg.norm(poses[:, :3] + turned - samples.base_point, axis=1)
    seen = lengths + CALIPER * rng.normal(size=len(lengths))
    found = rd.calibrate(hexapod, replace(samples, distance=seen))
    others = hexapod.joint_positions(hexapod.home) + rng.uniform(-0.5, 0.5, (50, 6))
    true = machine.real.body_pose(machine.real.assemble(others))

    def error(m):
        """Root mean square [m] of the position and of the rotation at a radius of 0.1 m."""
        apart = pose_difference(m.body_pose(m.assemble(others)), true) * [1, 1, 1, 0.1, 0.1, 0.1]
        return np.sqrt((apart**2).mean())

    assert error(found.mechanism) < 0.1 * error(hexapod)
    assert found.noise["position"] == pytest.approx(CALIPER, rel=0.2)


def test_machines_with_errors_take_nearly_the_planned_poses(hexapod, rng):
    """Near a singularity, half a millimeter moves the body by centimeters or past it."""
    body = [f"rod{i}_tip" for i in (1, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 1)]
    points = list(zip([f"servo{i}" for i in range(1, 7)] * 2, body, strict=True))
    plan = rd.calibration_poses(hexapod, 30, candidates=200, measure="distance", points=points)
    for _ in range(6):
        real = Machine(hexapod, rng).real
        poses = real.body_pose(real.assemble(plan.joints))
        assert np.abs(pose_difference(plan.poses, poses)[:, :3]).max() < 0.01


def test_heights_and_distances_calibrate_a_platform(rng):
    """Platforms and arms take the same measurements."""
    stewart = rd.load("stewart_symmetric")
    geometry = geometry_of(stewart)
    count = len(stewart.joint_names)
    joints = stewart.joint_positions(stewart.home) * (1.0 + 0.03 * rng.normal(size=(12, count)))
    nominal = np.array([each.value for each in geometry.parameters])
    wrong = nominal.copy()
    wrong[[each.name for each in geometry.parameters].index("leg1.offset")] += 1e-3
    poses = geometry.place(wrong, joints, np.tile(stewart.home, (12, 1))).poses
    only = {"parameters": ["leg1.offset"], "noise": {"position": 1e-6}}
    point = np.array([0.1, -0.2, 0.05])
    ends = poses[:, :3] + Rotation.from_quat(poses[:, 3:]).apply(point)
    for given in (
        {"height": poses[:, 2]},
        {"distance": np.linalg.norm(ends, axis=1), "body_point": point},
    ):
        samples = rd.Measurements.from_arrays(stewart, joints, **given)
        found = rd.calibrate(stewart, samples, **only)
        changes = {each.name: each.change for each in found.parameters}
        assert changes["leg1.offset"] == pytest.approx(1e-3, abs=1e-6)


def test_measuring_files_are_read_back(hexapod, rng, tmp_path):
    joints = hexapod.joint_positions(hexapod.home) + rng.uniform(-0.1, 0.1, (3, 6))
    path = tmp_path / "m.csv"
    rd.Measurements.from_arrays(hexapod, joints, height=[0.1, 0.2, 0.3]).to_csv(path, hexapod)
    np.testing.assert_allclose(rd.read_measurements(path, hexapod).height, [0.1, 0.2, 0.3])
    point = [0.1, 0.2, 0.3]
    rd.Measurements.from_arrays(
        hexapod, joints, distance=[0.1, 0.2, 0.3], base_point=point, body_point=point
    ).to_csv(path, hexapod)
    again = rd.read_measurements(path, hexapod)
    np.testing.assert_allclose(again.base_point, [point] * 3)
    np.testing.assert_allclose(again.body_point, [point] * 3)
    # a column for each pair of points, some of them empty
    names = ",".join(f"{name}.position" for name in hexapod.joint_names)
    rows = ["200,", "210,190", ",180"]
    lines = [",".join(map(str, q)) + "," + row for q, row in zip(joints, rows, strict=True)]
    header = f"{names},distance:servo1:rod1_tip,distance:servo2:rod2_tip"
    path.write_text("\n".join([header, *lines]))
    again = rd.read_measurements(path, hexapod, tracker_unit="mm")
    np.testing.assert_allclose(again.distance, [0.2, 0.21, 0.19, 0.18])
    np.testing.assert_allclose(again.joints, joints[[0, 1, 1, 2]])
    np.testing.assert_allclose(again.base_point[0], hexapod.model.joints[0].at.translation)
    path.write_text("\n".join([header.replace("distance:servo1", "distance:rod1"), *lines]))
    with pytest.raises(InvalidInput, match=r"'rod1', expected .* fixed to the base"):
        rd.read_measurements(path, hexapod)


def test_poses_for_a_bed_are_on_it(delta):
    chosen = rd.calibration_poses(
        delta, 8, measure="height", height=BED, radius=0.15, candidates=40
    )
    np.testing.assert_allclose(chosen.poses[:, 2], BED, atol=1e-9)
    radii = np.hypot(*chosen.poses[:, :2].T)
    assert radii.max() < 0.15 + 1e-9
    assert (radii > 0.149).sum() < 4  # heights along the edge alone leave the middle unknown
    assert chosen.log_det > chosen.random_log_det
    pairs = [("base_link", "tool0"), ([0.1, 0.0, 0.0], [0.0, 0.0, 0.1])]
    by_string = rd.calibration_poses(delta, 8, measure="distance", points=pairs, candidates=40)
    assert by_string.log_det > by_string.random_log_det
    with pytest.raises(InvalidInput, match="pairs of `points`"):
        rd.calibration_poses(delta, 8, measure="distance")


def test_poses_exist_for_legs_that_rarely_meet():
    """Random lengths within the legs' limits of 0.2 to 3.5 m close none of 300 platforms."""
    m = rd.load("stewart_dasgupta")
    chosen = rd.calibration_poses(m, 30)
    low, high = m.position_limits.T
    assert ((low < chosen.joints) & (chosen.joints < high)).all()
    length = m.characteristic_length
    assert (m.condition_number(chosen.configurations, characteristic_length=length) < 100.0).all()
    assert np.ptp(chosen.joints, axis=0).min() > 0.3


def test_calibration_rejects_wrong_numbers_of_driven_joints(delta):
    less = rd.ClosedLoop(replace(delta.model, driven=delta.model.driven[:2]))
    with pytest.raises(InvalidInput, match="2 driven joints for 3 degrees of freedom"):
        rd.calibration_poses(less, 10)


@pytest.fixture(scope="module")
def printer(tmp_path_factory):
    path = tmp_path_factory.mktemp("printer") / "printer.yaml"
    run = CliRunner().invoke(app, ["new", "linear-delta", str(path)])
    assert run.exit_code == 0, run.output
    return rd.load(str(path))


def test_a_printer_has_the_numbers_of_its_drawing(printer):
    """Radius 180 - 40 mm, rods of 250 mm, rails that end at 500 mm, a nozzle 30 mm below."""
    found = delta_settings(printer)
    height = 0.5 - np.sqrt(0.25**2 - 0.14**2) - 0.03
    assert found.residual < 1e-9
    np.testing.assert_allclose([found.radius, *found.lower], [0.14, 0.25, 0.25, 0.25], atol=1e-9)
    np.testing.assert_allclose(found.endstops, height, atol=1e-9)
    np.testing.assert_allclose(np.degrees(found.angles), [0.0, 120.0, -120.0], atol=1e-6)
    assert f"M665 L250.0000 R140.0000 H{1e3 * height:.4f} X0.0000" in found.marlin()
    assert "kinematics: delta\ndelta_radius: 140.0000\n" in found.klipper()


def test_firmware_stands_where_the_model_does(printer):
    """Marlin's equations with the numbers of a printer with other rods, towers and stops."""
    model = printer.model
    rails = [joint for joint in model.joints if joint.name in printer.joint_names]
    moved = {
        rail.name: replace(rail, at=Placement(rail.at.rotation, rail.at.translation + change))
        for rail, change in zip(
            rails, 1e-3 * np.array([[1, 0, 2], [-0.5, 1, 0], [0, 1, 0.5]]), strict=True
        )
    }
    other = rd.ClosedLoop(
        replace(model, joints=tuple(moved.get(joint.name, joint) for joint in model.joints))
    )
    text = delta_settings(other).marlin()
    numbers = [
        {word[0]: float(word[1:]) for word in line.split()[1:]}
        for line in text.splitlines()
        if line.startswith("M66")
    ]
    place, stops = numbers
    angles = np.radians(np.array([210, 330, 90]) + [place[k] for k in "XYZ"])
    rods = place["L"] + np.array([place[k] for k in "ABC"])
    towers = place["R"] * np.array([np.cos(angles), np.sin(angles)]).T
    ends = place["H"] + np.sqrt(rods**2 - place["R"] ** 2) - np.array([stops[k] for k in "XYZ"])
    assert max(stops.values()) == 0.0
    apart = []
    for joints in ([0.4, 0.4, 0.4], [0.42, 0.38, 0.4], [0.36, 0.43, 0.41]):
        tip = 1e3 * other.body_pose(other.assemble(joints))[:3]
        order = [other.joint_names.index(name) for name in delta_settings(other).joints]
        carriages = ends - 1e3 * (0.5 - np.array(joints)[order])
        # the nozzle of Marlin is at the same height, and as far from the others, as the model's
        apart.append((tip, towers, carriages, rods))
    nozzles = np.array([_nozzle(*each[1:]) for each in apart])
    tips = np.array([each[0] for each in apart])
    np.testing.assert_allclose(nozzles[:, 2], tips[:, 2], atol=1e-3)
    for k in range(3):
        between = [np.linalg.norm(points[k] - points[k - 1]) for points in (nozzles, tips)]
        assert between[0] == pytest.approx(between[1], abs=1e-3)


def _nozzle(towers, carriages, rods):
    """Return the intersection of three spheres, below the carriages."""
    from scipy.optimize import fsolve

    centers = np.column_stack([towers, carriages])
    start = np.array([0.0, 0.0, carriages.mean() - rods.mean()])
    return fsolve(lambda p: np.linalg.norm(centers - p, axis=1) - rods, start, xtol=1e-12)


def test_the_command_plans_calibrates_and_writes_firmware(delta, rng, tmp_path):
    plan, measured = tmp_path / "plan.csv", tmp_path / "measured.csv"
    run = CliRunner().invoke(
        app,
        ["calibrate", "delta", "--poses", "30", "--measure", "height", "--bed", str(BED),
         "--bed-radius", "0.15", "--output", str(plan)],
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    planned = rd.read_measurements(plan, delta)
    np.testing.assert_allclose(planned.height, BED, atol=1e-9)  # a file to fill in
    joints = planned.joints
    machine = Machine(delta, rng)
    seen = heights(machine.real, joints) + PROBE * rng.normal(size=30)
    rd.Measurements.from_arrays(delta, joints, height=seen).to_csv(measured, delta)
    command = ["calibrate", "delta", str(measured), "--json"]
    run = CliRunner().invoke(
        app, [*command, "--output", str(tmp_path / "better.yaml"), "--firmware", "klipper"]
    )
    assert run.exit_code == 0, run.output
    assert "kinematics: rotary_delta\nshoulder_radius: 1" in json.loads(run.stdout)["firmware"]
    better = rd.load(str(tmp_path / "better.yaml"))
    others = machine.on_bed(rng, 50)
    after = np.abs(heights(better, others) - heights(machine.real, others))
    assert np.percentile(after, 95) < 3e-5
    # tolerances of lengths, and of angles: angles known to 1e-12 rad do not change
    run = CliRunner().invoke(app, [*command, "--tolerance", "0.0005 1e-12"])
    assert run.exit_code == 0, run.output
    changes = {"m": [], "rad": []}
    for each in json.loads(run.stdout)["parameters"]:
        changes[each["unit"]].append(abs(each["after"] - each["before"]))
    assert max(changes["rad"]) < 1e-9 < 1e-4 < max(changes["m"])
    run = CliRunner().invoke(app, [*command, "--tolerance", "0.0005 0.009 0.1"])
    assert run.exit_code == 1
    assert "one number for lengths [m], and one for angles [rad]" in run.output
