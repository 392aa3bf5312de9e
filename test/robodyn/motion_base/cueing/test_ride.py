# SPDX-License-Identifier: Apache-2.0

"""A recorded ride: what is felt follows from the platform's motion, and files are checked."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app
from robodyn.formats import read_bag
from robodyn.motion_base.cueing import COLUMNS
from robodyn.poses import rotation_matrix
from robodyn.trajectories import pose_array, twist_array

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def vehicle():
    """Half a minute: a brake, two bends and a rough road."""
    time = np.arange(0.0, 30.0, 0.02)
    force = np.tile([0.0, 0.0, 9.81], (len(time), 1))
    force[:, 0] -= 2.0 * ((time > 5.0) & (time < 11.0))
    force[:, 1] += 1.5 * np.sin(0.5 * time)
    force[:, 2] += 0.4 * np.sin(9.0 * time)
    rate = np.column_stack([0.0 * time, 0.02 * np.cos(time), 0.2 * np.sin(0.4 * time)])
    return rd.VehicleMotion(time + 100.0, force, rate)


@pytest.fixture(scope="module")
def ridden(vehicle):
    parameters = rd.WashoutParameters.preset("small")
    return rd.ride(rd.load("stewart_symmetric"), vehicle, parameters, head=[0.1, 0.0, 1.1])


def write(file, vehicle):
    table = np.column_stack([vehicle.time, vehicle.force, vehicle.rate])
    np.savetxt(file, table, "%.9g", delimiter=",", header=",".join(COLUMNS), comments="")


def test_the_command_compares_presets_and_recommends_one(vehicle, tmp_path):
    """Each preset as its own ride has it; a short recording without rotation."""
    short = rd.VehicleMotion(vehicle.time[200:500], vehicle.force[200:500], vehicle.rate[200:500])
    file = tmp_path / "drive.csv"
    write(file, short)
    command = ["cue", str(file), "--model", "stewart_symmetric", "--dt", "0.02", "--compare"]
    run = CliRunner().invoke(app, [*command, "--json"])
    assert run.exit_code == 0, run.output
    reported = json.loads(run.stdout)
    rows = {each["name"]: each for each in reported["presets"]}
    assert set(rows) == {"driving", "airliner", "small", "predictive"}
    scores = [each["score"] for each in reported["presets"] if not each["problem"]]
    assert scores == sorted(scores)
    assert reported["recommended"] == reported["presets"][0]["name"]
    assert reported["axes"] == "surge, sway, heave, roll, pitch, yaw"
    m = rd.load("stewart_symmetric")
    one = rd.ride(m, rd.read_vehicle(file), rd.WashoutParameters.preset("small"), dt=0.02)
    low, high = m.position_limits.T
    least = np.minimum(one.joint_positions - low, high - one.joint_positions).min(axis=0)
    np.testing.assert_allclose(rows["small"]["distance"], least)
    assert rows["small"]["false_cues"] == one.false_cues
    assert 0.0 < rows["small"]["force_error"] < 1.5
    refused = CliRunner().invoke(app, [*command, "--html", str(tmp_path / "page.html")])
    assert refused.exit_code != 0


def test_ride_felt_force_is_the_acceleration_of_the_head(ridden):
    """By differences of the head's position."""
    dt = ridden.time[1]
    R = rotation_matrix(ridden.pose)
    heads = ridden.pose[:, :3] + R @ [0.1, 0.0, 1.1]
    acceleration = (heads[2:] - 2.0 * heads[1:-1] + heads[:-2]) / dt**2
    felt = np.einsum("kji,kj->ki", R[1:-1], acceleration + np.array([0.0, 0.0, 9.81]))
    off = np.abs(felt - ridden.felt_force[1:-1])
    # the brake's beginning is a step, which a difference smears
    assert np.quantile(off, 0.99) < 0.02
    middle = 0.5 * (R[2:] - R[:-2]) / dt @ np.swapaxes(R[1:-1], 1, 2)
    spin = np.stack([middle[:, 2, 1], middle[:, 0, 2], middle[:, 1, 0]], axis=1)
    turned = np.einsum("kji,kj->ki", R[1:-1], spin)
    assert np.quantile(np.abs(turned - ridden.felt_rate[1:-1]), 0.99) < 5e-3


def test_figures_of_merit(ridden, vehicle):
    assert ridden.time[-1] == pytest.approx(29.98, abs=0.011)
    np.testing.assert_allclose(ridden.vehicle_force[:3], vehicle.force[[0, 0, 1]], atol=0.05)
    error = ridden.felt_force - ridden.vehicle_force
    np.testing.assert_allclose(ridden.force_error, np.sqrt((error**2).mean(axis=0)))
    expected = np.corrcoef(ridden.felt_force[:, 0], ridden.vehicle_force[:, 0])[0, 1]
    assert ridden.force_correlation[0] == pytest.approx(expected)
    assert ridden.force_correlation[0] > 0.7
    assert 0.0 <= ridden.false_cues < 0.2
    vehicle = ridden.vehicle_force - [0.0, 0.0, 9.81]
    missing = np.sqrt((error**2).mean(axis=0) / (vehicle**2).mean(axis=0))
    np.testing.assert_allclose(ridden.force_missing, missing)


def test_the_range_used_is_the_share_that_limits(ridden):
    """1 at an end, whichever way the joint goes from the middle of its range."""
    low, high = ridden.mechanism.position_limits.T
    ends = np.array([ridden.joint_positions.min(axis=0), ridden.joint_positions.max(axis=0)])
    middle = 0.5 * (low + high)
    expected = np.abs(ends - middle).max(axis=0) / (high - middle)
    np.testing.assert_allclose(ridden.workspace_used, expected)


def test_a_force_along_an_axis_without_one_has_no_share(vehicle):
    still = vehicle._replace(force=vehicle.force * [1.0, 0.0, 0.0] + [0.0, 0.0, 9.81])
    found = rd.ride(rd.load("stewart_symmetric"), still, dt=0.05)
    assert np.isnan(found.force_missing).tolist() == [False, True, True]


def test_ride_trajectory_is_within_the_limits(ridden):
    path = ridden.trajectory
    at = path.sample(ridden.time[700])
    np.testing.assert_array_equal(at.configuration, ridden.pose[700])
    assert rd.check_limits(ridden.mechanism, path, dt=0.05) is None


def test_the_cue_command_writes_the_ride(vehicle, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("drive.csv", vehicle)
    read = rd.read_vehicle("drive.csv")
    np.testing.assert_allclose(read.force, vehicle.force, rtol=1e-8)
    options = ["--washout", "small", "--model", "stewart_symmetric", "-o", "out.csv", "--json"]
    done = CliRunner().invoke(app, ["cue", "drive.csv", "--head", "0.1 0 1.1", *options])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["beyond_limits"] is None
    written = np.genfromtxt("out.csv", delimiter=",", names=True)
    assert len(written) == 2999
    off = written["felt_force_x"] - written["vehicle_force_x"]
    assert np.sqrt((off**2).mean()) == pytest.approx(found["force_error"][0], rel=1e-6)
    done = CliRunner().invoke(app, ["cue", "drive.csv", "-o", "out.csv"])
    assert done.exit_code == 1
    assert "out.csv exists" in done.stderr
    # a shaker's motion at full scale is not for these legs, which do of it what they can
    wild = vehicle._replace(force=8.0 * (vehicle.force - [0.0, 0.0, 9.81]) + [0.0, 0.0, 9.81])
    write("wild.csv", wild)
    options = ["--model", "stewart_symmetric", "--predictive", "--dt", "0.05"]
    done = CliRunner().invoke(app, ["cue", "wild.csv", *options])
    assert done.exit_code == 0, done.output
    assert "all hold" in done.stdout
    assert "predictive" in done.stdout


def test_a_bag_with_a_number_that_is_none_is_refused_by_its_place(ridden, tmp_path):
    pytest.importorskip("rosbags")
    force = ridden.vehicle_force.copy()
    force[41, 1] = np.nan
    replace(ridden, vehicle_force=force).save_bag(tmp_path / "ride")
    place = r"ride: message 42 of /vehicle/imu: linear_acceleration\.y is nan"
    with pytest.raises(rd.InvalidInput, match=place):
        rd.read_vehicle(tmp_path / "ride")


def test_a_bag_in_and_out(ridden, tmp_path, monkeypatch):
    """A written bag is read again, and its felt motion is a vehicle's, too."""
    pytest.importorskip("rosbags")
    monkeypatch.chdir(tmp_path)
    ridden.save_bag("ride")
    again = rd.read_vehicle("ride")
    np.testing.assert_array_equal(again.force, ridden.vehicle_force)
    np.testing.assert_array_equal(again.rate, ridden.vehicle_rate)
    np.testing.assert_allclose(again.time, ridden.time, atol=1e-9)
    np.testing.assert_array_equal(
        rd.read_vehicle("ride", topic="/felt_imu").force, ridden.felt_force
    )
    message = read_bag(Path("ride"), lambda name, _: name == "/platform_setpoint").messages[900][2]
    np.testing.assert_allclose(pose_array(message.pose.pose), ridden.pose[900])
    twist = twist_array(message.twist.twist)
    spin = rotation_matrix(ridden.pose[900]).T @ ridden.twist[900, 3:]
    np.testing.assert_allclose(twist[3:], spin, atol=1e-12)
    everything = read_bag(Path("ride"), lambda name, _: True).messages
    topics = {topic for topic, *_ in everything}
    assert {"/robot_description", "/joint_states", "/tf"} <= topics
    states = [message for topic, _, message in everything if topic == "/joint_states"]
    m = ridden.mechanism
    positions = dict(zip(states[900].name, states[900].position, strict=True))
    expected = m.joint_states(ridden.pose[900])
    assert positions == pytest.approx(dict(zip(expected.names, expected.positions, strict=True)))
    [described] = [message for topic, _, message in everything if topic == "/robot_description"]
    assert rd.load(described.data).joint_names == m.joint_names
    frames = [message for topic, _, message in everything if topic == "/tf"][450].transforms
    placed = {(each.header.frame_id, each.child_frame_id): each.transform for each in frames}
    at = placed[m.frames].translation
    np.testing.assert_allclose([at.x, at.y, at.z], ridden.pose[900, :3])
    with pytest.raises(rd.InvalidInput, match="one topic of type sensor_msgs/msg/Imu named /imu"):
        rd.read_vehicle("ride", topic="/imu")
    done = CliRunner().invoke(app, ["cue", "ride", "-o", "ride", "--force"])
    assert done.exit_code == 1
    assert "ride exists" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time,force_x\n0,1\n", "missing column 'force_y'"),
        (",".join(COLUMNS) + "\n0,0,0,9.81,0,0,x\n", "line 2, column 'rate_z': 'x'"),
        (",".join(COLUMNS) + "\n0,0,0,9.81,0,0\n", "line 2 has 6 cells"),
        ("", "the file is empty"),
    ],
)
def test_files_that_are_none(tmp_path, text, message):
    file = tmp_path / "drive.csv"
    file.write_text(text)
    with pytest.raises(rd.InvalidInput, match=message):
        rd.read_vehicle(file)


def test_motions_that_are_none(vehicle):
    m = rd.load("stewart_symmetric")
    for bad in (
        vehicle._replace(time=vehicle.time[::-1]),
        vehicle._replace(force=vehicle.force[:-1]),
        vehicle._replace(rate=np.full_like(vehicle.rate, np.nan)),
    ):
        with pytest.raises(rd.InvalidInput):
            rd.ride(m, bad)
    with pytest.raises(rd.InvalidInput, match="increase dt"):
        rd.ride(m, vehicle, dt=1e-5)
