# SPDX-License-Identifier: Apache-2.0

"""Recordings are read as programs write them, with the values that were written, or refused."""

from __future__ import annotations

import os

import numpy as np
import pytest

import robodyn as rd
from robodyn.errors import InvalidInput
from robodyn.formats import read_columns, write_columns

TIMES = np.arange(0.0, 4.0, 0.01)
POSITION = np.stack(
    [0.3 * np.sin(1.1 * TIMES + k) + 0.1 * np.sin(2.7 * TIMES) for k in range(3)], 1
)
VELOCITY = np.stack(
    [0.33 * np.cos(1.1 * TIMES + k) + 0.27 * np.cos(2.7 * TIMES) for k in range(3)], 1
)
EFFORT = 5.0 + np.cos(np.outer(TIMES, [1.0, 1.3, 1.6]))
PLAIN = ("time", *(f"{word}{k}" for word in ("q", "dq", "tau") for k in (1, 2, 3)))
OWN = (TIMES, *POSITION.T, *VELOCITY.T, *EFFORT.T)
DEGREES = 180.0 / np.pi


@pytest.fixture(scope="module")
def delta():
    return rd.load("delta")


def named(*patterns, first=1):
    return [pattern.format(k) for pattern in patterns for k in range(first, first + 3)]


def text(header, columns, separator=",", digits="%.15g"):
    rows = ["\t".join(digits % value for value in row) for row in np.column_stack(columns)]
    return "\n".join([separator.join(header), *(r.replace("\t", separator) for r in rows)]) + "\n"


# What the file is of: its text, or bytes where it is not UTF-8.
READ = {
    "libfranka": text(
        ["time", *named("q[{}]", "q_d[{}]", "dq[{}]", "tau_J[{}]", "tau_J_d[{}]", "dtau_J[{}]",
                        "tau_ext_hat_filtered[{}]", first=0)],
        [TIMES, *POSITION.T, *(7.0 * POSITION.T), *VELOCITY.T, *EFFORT.T, *(3.0 * EFFORT.T),
         *(4.0 * EFFORT.T), *(5.0 * EFFORT.T)],
    ),
    "RTDE": text(
        ["timestamp", *named("target_q_{}", "actual_q_{}", "actual_qd_{}", "actual_current_{}",
                             first=0)],
        [TIMES, *(7.0 * POSITION.T), *OWN[1:]], " ",
    ),
    "numpy.savetxt": "# " + text(PLAIN, OWN),
    "numpy.savetxt with blanks": "# " + text(PLAIN, OWN, " "),
    "comments before the header": "% made by hand\n# a, b\n" + text(PLAIN, OWN),
    "milliseconds": text(["time_ms", *PLAIN[1:]], [1e3 * TIMES, *OWN[1:]]),
    "microseconds": text(["Time [us]", *PLAIN[1:]], [1e6 * TIMES, *OWN[1:]]),
    "nanoseconds since 1970": text(
        ["timestamp_ns", *PLAIN[1:]], [np.round(1e9 * TIMES), *OWN[1:]]
    ),
    "seconds and nanoseconds": text(
        ["header.stamp.sec", "header.stamp.nanosec",
         *named("position[{}]", "velocity[{}]", "effort[{}]", first=0)],
        [1.7e9 + np.round(100.0 * TIMES) // 100, 1e7 * (np.round(100.0 * TIMES) % 100), *OWN[1:]],
    ),
    "units in brackets": text(
        ["Time (s)", *named("Joint {} Position (rad)", "Joint {} Velocity (rad/s)",
                            "Joint {} Torque (Nm)")], OWN,
    ),
    "degrees and milliseconds": text(
        ["Time (ms)", *named("q{} [deg]", "dq{} [deg/s]", "tau{} [mNm]")],
        [1e3 * TIMES, *(DEGREES * POSITION.T), *(DEGREES * VELOCITY.T), *(1e3 * EFFORT.T)],
    ),
    "units behind names": text(
        ["time_s", *named("q{}_deg", "dq{}", "tau{}_Nm")],
        [TIMES, *(DEGREES * POSITION.T), *OWN[4:]],
    ),
    "units on a line": text(PLAIN, OWN).replace(
        "\n", "\ns" + 3 * ",rad" + 3 * ",rad/s" + 3 * ",Nm" + "\n", 1
    ),
    "PlotJuggler": text(
        ["__time", *named("/joint_states/position[{}]", "/joint_states/velocity[{}]",
                          "/joint_states/effort[{}]", first=0)], OWN,
    ),
    "measured": text(["time", *named("q_meas_{}", "qd_meas_{}", "tau_meas_{}")], OWN),
    "a rate as q_dot": text(["t", *named("q_{}", "q_dot_{}", "tau_{}")], OWN),
    "decimal commas": text(PLAIN, OWN, ";").replace(".", ","),
    "decimal commas and tabs": text(PLAIN, OWN, "\t").replace(".", ","),
    "decimal commas in quotes": text(PLAIN, OWN, ",", '"%.15g"').replace(".", ","),
    "a separator on its own line": "sep=;\n" + text(PLAIN, OWN, ";"),
    "a separator at the end": text(PLAIN, OWN).replace("\n", ",\n"),
    "quotes, a mark and CRLF": ("\ufeff" + text([f'"{name}"' for name in PLAIN], OWN)).replace(
        "\n", "\r\n"
    ),
    "rostopic echo -p": text(
        ["%time", "field.header.seq", *named("field.position{}", "field.velocity{}",
                                             "field.effort{}", first=0)],
        [np.round(1e9 * TIMES), 100.0 * TIMES, *OWN[1:]],
    ),
    "UTF-16": text(PLAIN, OWN, "\t").encode("utf-16"),
    "a degree sign of an older program": text(
        ["time", *named("q{} [°]", "dq{}", "tau{}")], [TIMES, *(DEGREES * POSITION.T), *OWN[4:]]
    ).encode("latin-1"),
}  # fmt: skip


@pytest.mark.parametrize("kind", READ)
def test_dialects_have_the_values_that_were_written(tmp_path, delta, kind):
    content, path = READ[kind], tmp_path / "r.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = rd.read_recording(path, delta)
    np.testing.assert_allclose(found.time, TIMES, atol=1e-6)
    expected = delta.drives.signs * POSITION + delta.drives.offsets
    np.testing.assert_allclose(found.position, expected, atol=1e-9)
    np.testing.assert_allclose(found.velocity, delta.drives.signs * VELOCITY, atol=1e-9)
    np.testing.assert_allclose(found.effort, EFFORT, atol=1e-9)


REFUSED = {
    "no header": (text(PLAIN, OWN).split("\n", 1)[1], "header"),
    "milliseconds without a word": (text(PLAIN, [1e3 * TIMES, *OWN[1:]]), "time_ms"),
    "nanoseconds without a word": (text(PLAIN, [1.7e18 + 1e9 * TIMES, *OWN[1:]]), "time_ns"),
    "an unknown unit": (text(["time", *named("q{} [ticks]", "tau{}")], [*OWN[:4], *OWN[7:]]),
                        "unknown unit 'ticks'"),
    "torques in percent": (text(["time", *named("q{}", "tau{} [%]")], [*OWN[:4], *OWN[7:]]),
                           "unknown unit '%' of an effort.*effort_gain"),
    "two columns of a name": (text(["time", *named("q{}", "q{}", "tau{}")], OWN),
                              "2 columns are named 'q1'"),
    "decimal commas between commas": (text(PLAIN, OWN).replace(".", ","), "semicolons"),
    "commas between thousands": (text(PLAIN, OWN, ";").replace("0.", "1.234,"), "not a number"),
    "a quote that is not closed": (text(PLAIN, OWN).replace("\n0.5,", '\n"0.5,', 1), "line 52"),
    "a cell of 200 kB": (text(PLAIN, OWN).replace("\n0.5,", f"\n{'1' * 200_000},", 1), "line 52"),
    "a line cut off": (text(PLAIN, OWN)[:-40], "cells"),
    "wanted positions alone": (text(["time", *named("q_d[{}]", "tau_J[{}]")],
                                    [*OWN[:4], *OWN[7:]]), "position"),
    "bytes": (bytes(range(256)) * 20, "as text"),
    "huge readings": (text(PLAIN, [*OWN[:4], *OWN[4:7], *(1e300 * EFFORT.T)]), "expected at most"),
    "nothing": ("", "empty"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_unreadable_csv_files_are_refused_with_the_reason(tmp_path, delta, kind):
    content, reason = REFUSED[kind]
    path = tmp_path / "r.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidInput, match=reason):
        rd.read_recording(path, delta)


def test_a_unit_that_is_given_goes_before_that_of_the_header(tmp_path, delta):
    path = tmp_path / "r.csv"
    header = ["time", *named("q{} [deg]", "tau{}")]
    path.write_text(text(header, [TIMES, *(DEGREES * POSITION.T), *EFFORT.T]))
    for unit in ("", "deg"):
        found = rd.read_recording(path, delta, position_unit=unit)
        expected = delta.drives.signs * POSITION + delta.drives.offsets
        np.testing.assert_allclose(found.position, expected, atol=1e-9)


@pytest.mark.parametrize("ending", ["csv", "mcap"])
@pytest.mark.parametrize("kind", ["pipe", "device", "circle"])
def test_endless_files_are_refused(tmp_path, delta, kind, ending):
    path = tmp_path / f"r.{ending}"
    make = {
        "pipe": lambda: os.mkfifo(path),
        "device": lambda: path.symlink_to("/dev/zero"),
        "circle": lambda: path.symlink_to(path),
    }
    make[kind]()
    for read in (rd.read_vehicle, lambda each: rd.read_recording(each, delta)):
        with pytest.raises(InvalidInput, match=path.name):
            read(path)


def test_a_pipe_in_a_folder_of_a_bag_is_refused(tmp_path, delta):
    os.mkfifo(tmp_path / "r.mcap")
    with pytest.raises(InvalidInput, match="regular file"):
        rd.read_recording(tmp_path, delta)


VEHICLE = "time,force_x,force_y,force_z,rate_x,rate_y,rate_z\n0,0,0,9.81,0,0,0\n"


@pytest.mark.parametrize(
    ("row", "value"),
    [("0.1,nan,0,9.81,0,0,0", "force_x"), ("0.1,0,0,inf,0,0,0", "force_z"),
     ("0,0,0,9.81,0,0,0", "time"), ("-5,0,0,9.81,0,0,0", "time"),
     ("nan,0,0,9.81,0,0,0", "time"), ("0.1,0,0,9.81,0,0,1e308", "rate_z"),
     ("0.1,0,0,,0,0,0", "force_z")],
)  # fmt: skip
def test_a_vehicle_has_finite_values_at_times_that_increase(tmp_path, row, value):
    path = tmp_path / "v.csv"
    path.write_text(f"{VEHICLE}{row}\n")
    with pytest.raises(InvalidInput, match=f"line 3: {value}"):
        rd.read_vehicle(path)


def test_headings_that_a_spreadsheet_would_compute_are_text(tmp_path):
    names = ["time", "=1+1", "+a", "-b", "@c", 'quoted "d", e', "f\ng"]
    path = tmp_path / "c.csv"
    values = np.random.default_rng(1).normal(size=(3, len(names)))
    write_columns(path, zip(names, values.T, strict=True))
    first = path.read_text().splitlines()[0].split(",")
    assert not any(cell.strip('"').startswith(("=", "+", "-", "@")) for cell in first)
    again = read_columns(path)
    assert again.names == [*names[:-1], "f g"]
    np.testing.assert_array_equal(again.numbers, values)


LINK = (
    '<link name="{}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="0.01" ixy="0" '
    'ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>'
)


def test_joints_of_any_name_make_no_formula(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(
        f'<robot name="arm"><link name="base"/>{LINK.format("one")}'
        '<joint name="=A1" type="revolute"><parent link="base"/><child link="one"/>'
        '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="50" velocity="2"/></joint></robot>'
    )
    arm = rd.load(path)
    goal = rd.plan_joints([0.0], [0.3], 0.5)
    rd.analyze(arm, goal).write_csv(tmp_path / "plan.csv")
    q = POSITION[:, :1]
    rd.Recording.from_arrays(arm, TIMES, q, EFFORT[:, :1]).to_csv(tmp_path / "r.csv")
    for file in (tmp_path / "plan.csv", tmp_path / "r.csv"):
        cells = file.read_text().splitlines()[0].replace('"', "").split(",")
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    found = rd.read_recording(tmp_path / "r.csv", arm)
    np.testing.assert_array_equal(found.position, q)
