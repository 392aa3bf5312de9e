# SPDX-License-Identifier: Apache-2.0

"""Zeros of joints from stops and a level, on machines whose zeros are known."""

import json

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import robodyn as rd
from robodyn.cli import app
from robodyn.errors import InvalidInput
from robodyn.identification.calibration import find_zeros, read_zero_samples
from robodyn.poses import rotation_matrix

MOUNTED = rd.pose_from_rpy(np.zeros(3), [0.05, -0.04, 0.3])
INCLINED = [0.01, -0.02]
BASE = rd.pose_from_rpy(np.zeros(3), [*INCLINED, 0.0])


def samples(m, zeros, rng, spread, noise, stop_noise):
    """20 readings with the level's, and a touch of each lower stop; some joints count downwards."""
    up, readings = [], []
    home = m.joint_positions(m.home)
    while len(up) < 20:
        q = m.assemble(home + rng.uniform(-spread, spread, len(zeros)), m.home)
        R = rotation_matrix(BASE)[2] @ rotation_matrix(m.body_pose(q)) @ rotation_matrix(MOUNTED)
        up.append(9.8 * (R + rng.normal(0.0, noise, 3)))
        readings.append(m.drives.signs * (m.joint_positions(q) - m.drives.offsets) - zeros)
    at = m.drives.signs * (m.position_limits[:, 0] - m.drives.offsets) - zeros
    touched = at + rng.normal(0.0, stop_noise, len(zeros))
    stops = [(name, each, -1.0) for name, each in zip(m.joint_names, touched, strict=True)]
    return np.array(readings), np.array(up), stops


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "spread", "off", "stop"),
    [("stewart_symmetric", 0.1, 0.01, 1e-3), ("hexapod_rotary", 0.35, 0.05, 5e-3)],
)
def test_zeros_are_found_within_their_standard_deviations(name, spread, off, stop, rng):
    m = rd.load(name)
    zeros = rng.normal(0.0, off, len(m.joint_names))
    measured = samples(m, zeros, rng, spread, 1e-3, stop)
    with_stops = find_zeros(m, *measured, stop_noise=stop)
    without = find_zeros(m, *measured[:2])
    for found in (with_stops, without):
        assert found.seen.all()
        assert (np.abs(found.values - zeros) < 4.0 * found.deviations).all()
        assert found.level_residual == pytest.approx(1e-3, rel=0.4)
    assert np.abs(with_stops.values - zeros).max() < 0.4 * off
    exact = find_zeros(
        m, *samples(m, zeros, rng, spread, 0.0, 0.0), level_noise=1e-6, stop_noise=1e-6
    )
    np.testing.assert_allclose(exact.values, zeros, atol=1e-6)
    np.testing.assert_allclose(exact.inclination, INCLINED, atol=1e-5)


def test_a_level_says_nothing_of_a_platform_that_does_not_turn(rng):
    m = rd.load("delta")
    found = find_zeros(m, *samples(m, np.zeros(3), rng, 0.3, 1e-3, 0.0)[:2])
    assert not found.seen.any()


@pytest.mark.slow
def test_the_command_reads_both_kinds_of_rows(tmp_path, rng):
    m = rd.load("hexapod_rotary")
    zeros = np.array([0.05, -0.04, 0.0, 0.02, 0.03, -0.05])
    readings, up, stops = samples(m, zeros, rng, 0.35, 1e-4, 1e-3)
    rows = [",".join(f"{name}.position" for name in m.joint_names) + ",level.x,level.y,level.z,end"]
    rows += [",".join(map(str, [*q, *f, ""])) for q, f in zip(readings, up, strict=True)]
    for j, (_, reading, end) in enumerate(stops):
        rows.append("," * j + f"{reading}" + "," * (9 - j) + f"{end}")
    file = tmp_path / "zeros.csv"
    file.write_text("\n".join(rows) + "\n")
    words = ["calibrate", "hexapod_rotary", str(file), "--zeros"]
    reported = CliRunner().invoke(app, [*words, "--stop-noise", "1e-3", "--json"])
    np.testing.assert_allclose(json.loads(reported.stdout)["values"], zeros, atol=0.01)
    assert "servo6" in CliRunner().invoke(app, words).stdout


def test_wrong_samples_are_refused_in_words(tmp_path):
    m = rd.load("puma560")
    with pytest.raises(InvalidInput, match="expected one of joint1"):
        find_zeros(m, [], [], [("elbow", 0.0, 1.0)])
    with pytest.raises(InvalidInput, match="expected a level for each reading"):
        find_zeros(m, [], [])
    file = tmp_path / "half.csv"
    names = [f"{name}.position" for name in m.joint_names]
    file.write_text(",".join([*names, "level.x", "level.y", "level.z"]) + "\n,0,0,0,0,0,0,0,9.8\n")
    with pytest.raises(
        InvalidInput, match=r"sample 1 has an inclinometer reading \(level\), but not all"
    ):
        read_zero_samples(file, m)
    file.write_text(",".join(names[1:]) + "\n0,0,0,0,0\n")
    with pytest.raises(InvalidInput, match=r"missing columns: joint1\.position"):
        read_zero_samples(file, m)


@pytest.mark.slow
def test_zeros_are_written_and_shown(tmp_path, rng):
    m = rd.load("hexapod_rotary")
    readings, up, stops = samples(m, rng.normal(0.0, 0.05, 6), rng, 0.35, 1e-3, 5e-3)
    columns = [f"{name}.position" for name in m.joint_names]
    rows = [",".join([*columns, "level.x", "level.y", "level.z", "end"])]
    rows += [
        ",".join(f"{x:.9g}" for x in (*reading, *level)) + ","
        for reading, level in zip(readings, up, strict=True)
    ]
    for name, reading, _ in stops:
        cells = [f"{reading:.9g}" if name == joint else "" for joint in m.joint_names]
        rows.append(",".join([*cells, "", "", "", ""]))
    (tmp_path / "measured.csv").write_text("\n".join(rows) + "\n")
    found = find_zeros(m, *read_zero_samples(tmp_path / "measured.csv", m))
    call = ["calibrate", "hexapod_rotary", str(tmp_path / "measured.csv"), "--zeros"]
    written, page = tmp_path / "zeros.yaml", tmp_path / "page.html"
    run = CliRunner().invoke(app, [*call, "--output", str(written), "--html", str(page)])
    assert run.exit_code == 0, run.output
    joints = yaml.safe_load(written.read_text())["joints"]
    assert list(joints) == list(m.joint_names)
    np.testing.assert_allclose([each["zero"] for each in joints.values()], found.values)
    assert all(name in page.read_text() for name in m.joint_names)
    with pytest.raises(rd.InvalidInput, match="yaml"):
        found.save(tmp_path / "zeros.txt")
