# SPDX-License-Identifier: Apache-2.0

"""Damaged recordings, tables, paths, meshes and other files: each is read or refused in words."""

from __future__ import annotations

import warnings
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from damages import damaged, damaged_binary, fault_of, outcome_of, pick

import robodyn as rd
from robodyn.designing.body_motions import read_recorded
from robodyn.formats.meshes import read_mesh
from robodyn.identification.calibration.zeros import read_zero_samples
from robodyn.report.cueing_page import read_criteria
from robodyn.view.bag import read_run

# Damaged files of each kind; all take some 20 s.
USUAL = {"bag": 60, "table": 60, "document": 60, "mesh": 60}
TEMPLATES = Path(rd.__file__).parent / "templates"
PATHS = Path(rd.__file__).parent / "bundled" / "paths"
# Rows of tables and messages of bags.
N = 60
BINARY = (".mcap", ".db3", ".stl", ".glb")


def csv(columns, separator=","):
    rows = zip(*(np.broadcast_to(value, N) for value in columns.values()), strict=True)
    lines = [separator.join(columns), *(separator.join(f"{x:.9g}" for x in row) for row in rows)]
    return "\n".join(lines) + "\n"


def tables(arm):
    """Texts of good CSV files with their readers."""
    t = np.linspace(0.0, 1.0, N)
    waves = {name: np.sin(t + k) for k, name in enumerate(arm.joint_names)}
    position = {f"{name}.position": wave for name, wave in waves.items()}
    effort = {f"{name}.effort": wave for name, wave in waves.items()}
    pose = dict.fromkeys(("qx", "qy", "qz"), 0.0) | {"x": np.sin(t), "y": t, "z": t, "qw": 1.0}
    wide = {
        f"{what}[{k}]": wave
        for what in ("position", "effort")
        for k, wave in enumerate(waves.values())
    }
    force = {f"force_{axis}": t for axis in "xyz"} | {f"rate_{axis}": t for axis in "xyz"}
    region = ("channel", "frequency", "modulus_low", "modulus_high", "phase_low", "phase_high")
    level = {f"level.{axis}": float(axis == "z") for axis in "xyz"}

    def recording(file):
        rd.read_recording(file, arm)

    def measurements(file):
        rd.read_measurements(file, arm)

    return [
        (csv({"time": t, **position, **effort}), recording),
        ("# " + csv({"time_ms": 1e3 * t, **position, **effort}, ";"), recording),
        (csv({"sec": 1.7e9 + t // 1, "nanosec": 1e9 * (t % 1), **wide}), recording),
        (csv({"time": t, **force}), rd.read_vehicle),
        (csv({**position, **pose}), measurements),
        (csv({**position, **level}), lambda file: read_zero_samples(file, arm)),
        (csv({"time": t, **pose}), lambda file: read_recorded("lap", file)),
        (csv(dict.fromkeys(region, 1.0 + t) | {"channel": 1.0 + t // 1}), read_criteria),
        ((TEMPLATES / "actuators.csv").read_text(), rd.load_catalog),
    ]


def documents(arm):
    """Texts of good YAML files and others of settings, with their readers."""
    xacro = (
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="n" '
        'default="2"/><xacro:property name="l" value="${0.1 * 3}"/><xacro:macro name="link" '
        'params="name mass:=1 *block"><link name="${name}"><xacro:insert_block name="block"/>'
        '</link></xacro:macro><link name="a"/><xacro:if value="${l > 0.2}"><xacro:link name="b">'
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></xacro:link></xacro:if><joint name="j" type="continuous"><parent link="a"/>'
        '<child link="b"/><origin xyz="0 0 ${l * $(arg n)}"/></joint></robot>'
    )
    catalog = (
        "actuators:\n- {name: a, stroke: 0.2 m, closed_length: 0.4, speed: 1, peak_effort: 2 kN, "
        "continuous_effort: 900, mass: 1}\n"
    )
    requirements = (TEMPLATES / "requirements.yaml").read_text().replace("{{", "{")
    return [
        *((file.read_text(), rd.load_path) for file in sorted(PATHS.glob("*.yaml"))),
        (requirements.replace("}}", "}"), rd.load_requirements),
        (catalog, rd.load_catalog),
        (xacro, rd.load),
    ]


def meshes():
    """Good meshes by ending."""
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    return [(box.export(file_type=each), f".{each}") for each in ("stl", "obj", "glb")]


def bags(folder, arm):
    """Write good bags in two storages; returns bytes, ending and readers."""
    pytest.importorskip("rosbags")
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    types = store.types
    stamp = types["builtin_interfaces/msg/Time"]
    text = Path(rd.save(arm, folder / "arm.urdf")[0]).read_text()
    vector = types["geometry_msgs/msg/Vector3"](1.0, 2.0, 3.0)
    turned = types["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)
    none = np.zeros(9)
    for plugin in StoragePlugin:
        writer = Writer(folder / plugin.name, version=9, storage_plugin=plugin)
        with writer:
            topics = {
                topic: (writer.add_connection(topic, kind, typestore=store), kind)
                for topic, kind in (
                    ("/joint_states", "sensor_msgs/msg/JointState"),
                    ("/robot_description", "std_msgs/msg/String"),
                    ("/vehicle/imu", "sensor_msgs/msg/Imu"),
                )
            }
            for k in range(N):
                now = types["std_msgs/msg/Header"](stamp(k // 10, 10**8 * (k % 10)), "base")
                row = np.sin(np.arange(6.0) + 0.1 * k)
                for topic, content in (
                    ("/joint_states", (now, list(arm.joint_names), row, row, row)),
                    ("/robot_description", (text,)),
                    ("/vehicle/imu", (now, turned, none, vector, none, vector, none)),
                ):
                    if topic == "/robot_description" and k:
                        continue
                    connection, kind = topics[topic]
                    data = store.serialize_cdr(types[kind](*content), kind)
                    writer.write(connection, k * 10**8, bytes(data))
        (file,) = (folder / plugin.name).glob("*.[md][cb]*")
        for reader in (lambda file: rd.read_recording(file, arm), rd.read_vehicle, read_run):
            yield file.read_bytes(), file.suffix, reader


def outcome(read, file):
    """Read a file, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome_of(read, file)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Good files of each kind: content, ending and reader."""
    folder, arm = tmp_path_factory.mktemp("good"), rd.load("puma560")
    files = {
        "table": [(text, ".csv", read) for text, read in tables(arm)],
        "document": [
            (text, ".xacro" if read is rd.load else ".yaml", read) for text, read in documents(arm)
        ],
        "mesh": [
            (data, ending, lambda file: read_mesh(file, np.ones(3))) for data, ending in meshes()
        ],
        "bag": list(bags(folder, arm)),
    }
    for number, (data, ending, read) in enumerate(chain.from_iterable(files.values())):
        file = folder / f"{number}{ending}"
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        assert outcome(read, file) == "accepted", file
    return files


@pytest.mark.parametrize("kind", USUAL)
def test_damaged_files_are_read_or_refused(kind, good, rng, storm, tmp_path):
    outcomes, faults = {"accepted": 0, "refused": 0}, {}
    for number in storm(USUAL[kind]):
        data, ending, read = pick(rng, good[kind])
        file = tmp_path / f"{number}{ending}"
        file.write_bytes((damaged_binary if ending in BINARY else damaged)(data, rng))
        try:
            outcomes[outcome(read, file)] += 1
        except Exception as error:
            faults.setdefault(fault_of(error), file)
        else:
            file.unlink()
    assert not faults
    assert min(outcomes.values()) > 0
