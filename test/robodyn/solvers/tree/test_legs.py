# SPDX-License-Identifier: Apache-2.0

"""Platforms on legs from YAML alone: the machines that other descriptions and closed forms give."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml
from six_legs import six_legs

import robodyn as rd
from robodyn.errors import ModelError
from robodyn.poses import rotation_matrix


def loaded(folder, document):
    file = folder / "m.yaml"
    file.write_text(yaml.safe_dump({"type": "closed_loop", "name": "m"} | document))
    schema = Path(rd.__file__).with_name("schemas") / "closed_loop.schema.json"
    jsonschema.validate(yaml.safe_load(file.read_text()), json.loads(schema.read_text()))
    return rd.load(file, strict=True)


def body(part):
    return {"mass": part.mass, "com": part.com.tolist(), "inertia": part.inertia.tolist()}


@pytest.mark.slow
def test_six_legs_ups_are_the_platform_that_a_platforms_file_describes(tmp_path, rng):
    whole = rd.load("stewart_symmetric", kind="closed_loop")
    model = six_legs(rd.load("stewart_symmetric"))
    home = rd.load("stewart_symmetric").home
    legs = [
        {
            "form": "UPS",
            "base": leg.base.tolist(),
            "platform": leg.platform.tolist(),
            "axis": leg.universal_axis.tolist(),
            "lower": body(leg.lower),
            "upper": body(leg.upper),
        }
        for leg in model.legs
    ]
    _, rpy = rd.rpy_from_pose(home)
    plate = {"xyz": home[:3].tolist(), "rpy": rpy.tolist(), **body(model.platform)}
    m = loaded(tmp_path, {"platform": plate, "legs": legs})
    whole = type(whole)(whole.model.without_friction().without_actuators())
    assert m.mobility == whole.mobility == 6
    lengths = m.joint_positions(m.home)
    for _ in range(3):
        at = lengths + rng.uniform(-0.02, 0.02, 6)
        v, a = rng.uniform(-1.0, 1.0, (2, 6))
        expected = whole.inverse_dynamics(whole.assemble(at), v, a)
        np.testing.assert_allclose(m.inverse_dynamics(m.assemble(at), v, a), expected, rtol=1e-8)


def servo_hexapod(twin):
    """The bundled hexapod on servos by the points of its URDF."""
    joints = {joint.name: joint for joint in twin.model.joints}
    ends = {closure.parent: closure for closure in twin.model.closures}
    length, legs = float(np.linalg.norm(ends["rod1"].at.translation)), []
    for index in range(1, 7):
        servo = joints[f"servo{index}"]
        rod = next(j for j in twin.model.joints if j.parent == f"crank{index}")
        legs.append(
            {
                "base": servo.at.translation.tolist(),
                "axis": (servo.at.rotation @ servo.axis).tolist(),
                "arm": {"to": (servo.at.rotation @ rod.at.translation).tolist(), "mass": 0.02},
                "platform": ends[f"rod{index}"].child_at.translation.tolist(),
            }
        )
    return {
        "platform": {"xyz": [0, 0, 0.19], "mass": 0.6, "radius": 0.1},
        "leg_defaults": {"form": "RUS", "rod": {"length": length, "mass": 0.03}},
        "legs": legs,
    }


@pytest.mark.slow
def test_a_hexapod_on_servos_has_the_angles_of_the_bundled_one(tmp_path, rng):
    twin = rd.load("hexapod_rotary")
    m = loaded(tmp_path, servo_hexapod(twin))
    for _ in range(5):
        q = twin.advance(twin.home, rng.uniform(-0.1, 0.1, 6))
        pose, expected = twin.link_pose(q, "platform_link"), twin.joint_positions(q)
        found = m.joint_positions(m.configuration_at(pose))
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.slow
def test_a_delta_on_rails_is_where_its_rods_say(tmp_path, rng):
    """Level everywhere, and its carriages one rod away, by Pythagoras."""
    radius, plate, rod = 0.2, 0.05, 0.3
    m = loaded(
        tmp_path,
        {
            "platform": {"xyz": [0, 0, 0.2], "mass": 0.4, "radius": plate, "tool": [0, 0, -0.03]},
            "symmetry": 3,
            "legs": [
                {
                    "form": "PUS",
                    "base": [radius, 0, 0],
                    "axis": [0, 0, 1],
                    "home": 0.5,
                    "platform": [plate, 0, 0],
                    "rod": {"length": rod, "mass": 0.05, "apart": [0, 0.06, 0]},
                    "carriage": {"mass": 0.2},
                }
            ],
        },
    )
    assert (m.mobility, m.model.tip_link) == (3, "tool0")
    for _ in range(3):
        q = m.advance(m.home, rng.uniform(-0.05, 0.05, 3))
        pose = m.link_pose(q, "platform")
        np.testing.assert_allclose(rotation_matrix(pose), np.eye(3), atol=1e-9)
        angles = np.radians([0.0, 120.0, 240.0])
        away = (radius - plate) * np.stack([np.cos(angles), np.sin(angles)], axis=1) - pose[:2]
        heights = pose[2] + np.sqrt(rod**2 - (away**2).sum(axis=1))
        np.testing.assert_allclose(m.joint_positions(q), heights, atol=1e-9)


CIRCLE = {"platform": {"xyz": [0, 0, 1], "mass": 5, "radius": 0.5}, "symmetry": 4}
PAIR = [
    {"base": [1, 0.1, 0], "platform": [0.4, 0.3, 0]},
    {"base": [1, -0.1, 0], "platform": [0.4, -0.3, 0.05]},
]
BARS = {"lower": {"mass": 3, "radius": 0.03}, "upper": {"mass": 1}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "symmetry", "mobility", "idle"),
    [("UPS", 3, 6, 0), ("UPS", 4, 6, 0), ("SPS", 3, 6, 6)],
)
def test_any_number_of_legs(tmp_path, form, symmetry, mobility, idle):
    """Eight legs share the load; legs on two ball joints spin idly."""
    document = CIRCLE | {"symmetry": symmetry, "leg_defaults": {"form": form, **BARS}}
    m = loaded(tmp_path, document | {"legs": PAIR})
    assert (m.mobility, len(m.structure.idle)) == (mobility, idle)
    q, still = m.home, np.zeros(6)
    efforts = m.inverse_dynamics(q, still, still)
    np.testing.assert_allclose(m.forward_dynamics(q, still, efforts), still, atol=1e-8)


@pytest.mark.slow
def test_tripods_and_planar_platforms(tmp_path):
    plate = {"xyz": [0, 0, 0.5], "mass": 4, "radius": 0.2}
    leg = {"form": "RPS", "base": [0.3, 0, 0], "axis": [0, 1, 0], "platform": [0.2, 0, 0], **BARS}
    tripod = loaded(tmp_path, {"platform": plate, "symmetry": 3, "legs": [leg]})
    assert tripod.mobility == 3
    leg = {
        "form": "RRR",
        "base": [0.4, 0, 0],
        "axis": [0, 0, 1],
        "arm": {"to": [0, 0.25, 0], "mass": 0.3},
        "rod": {"length": 0.25, "mass": 0.2},
        "platform": [0.1, 0, 0],
        "actuator": {"rotor_inertia": 1e-5, "gear_ratio": 50},
        "passive_damping": 0.01,
    }
    planar = loaded(
        tmp_path, {"platform": plate | {"xyz": [0, 0, 0]}, "symmetry": 3, "legs": [leg]}
    )
    assert planar.mobility == 3
    assert [actuator.gear_ratio for actuator in planar.actuators] == [50.0] * 3


@pytest.mark.slow
def test_a_five_bar_is_an_arm_whose_end_another_holds(tmp_path):
    arm, rod, half = 0.2, 0.3, 0.1
    legs = [
        {"form": "RR", "name": "right", "base": [half, 0, 0], "arm": {"to": [arm, 0, 0]},
         "platform": [-rod, 0, 0]},
        {"form": "RRR", "name": "left", "base": [-half, 0, 0], "arm": {"to": [arm, 0, 0]},
         "rod": {"length": rod, "mass": 0.1}, "platform": [0, 0, 0], "home": 2.0},
    ]  # fmt: skip
    m = loaded(
        tmp_path,
        {
            "platform": {"name": "tip", "rpy": [0, 0, 2.0], "mass": 0.3, "radius": 0.1},
            "leg_defaults": {"axis": [0, 0, 1], "arm": {"mass": 0.2}},
            "legs": legs,
            "home": {"right": 1.0, "left": 2.1},
        },
    )
    assert (m.mobility, m.joint_names) == (2, ("right", "left"))
    q = m.assemble([1.1, 2.0])
    elbows = [
        np.array([x + arm * np.cos(t), arm * np.sin(t)]) for x, t in ((half, 1.1), (-half, 2.0))
    ]
    away = np.linalg.norm(m.link_pose(q, "tip")[:2] - elbows, axis=1)
    np.testing.assert_allclose(away, rod, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"legs": [PAIR[0] | {"form": "UXU"}]}, r"form is 'UXU', expected a form such as UPS"),
        ({"legs": [PAIR[0] | {"form": "U"}]}, "driven is True, expected false: a leg U has no"),
        ({"symmetry": 1.5}, "symmetry is 1.5, expected the number of copies"),
        ({"legs": [PAIR[0] | {"form": "RUS", "axis": [0, 1, 0]}]}, r"legs\[0\].arm is missing"),
        ({"legs": [PAIR[0] | {"from": "UPS"}]}, "unknown field legs.0..from; did you mean 'form'"),
        ({"legs": [PAIR[0] | {"form": "PUS", "axis": [0, 0, 0], "rod": {}}]}, r"axis is \[0.0, "),
        (
            {"legs": [PAIR[0] | {"form": "PUS", "axis": [0, 0, 1], "rod": {"length": 0.1}}]},
            "rod.length is 0.1, expected a length that reaches the platform at home",
        ),
        ({"platform": {"xyz": [0, 0, 1], "mass": 5}}, "platform.radius is missing"),
    ],
)  # fmt: skip
def test_an_invalid_leg_is_refused_by_field(tmp_path, change, reported):
    document = {"type": "closed_loop", **CIRCLE, "leg_defaults": {"form": "UPS"}, "legs": PAIR}
    file = tmp_path / "m.yaml"
    file.write_text(yaml.safe_dump(document | change))
    with pytest.raises(ModelError, match=reported):
        rd.load(file)


def tricept():
    """3UPS + UP: three driven legs, and a center leg that bears and guides."""
    bar = {"mass": 1.5, "radius": 0.02}
    legs = [
        {"form": "UPS", "axis": [-np.sin(a), np.cos(a), 0.0], "lower": bar, "upper": bar,
         "base": [0.4 * np.cos(a), 0.4 * np.sin(a), 0.0],
         "platform": [0.15 * np.cos(a), 0.15 * np.sin(a), 0.0]}
        for a in np.deg2rad([0.0, 120.0, 240.0])
    ]  # fmt: skip
    center = {"form": "UP", "driven": False, "base": [0, 0, 0], "axis": [1, 0, 0],
              "platform": [0, 0, 0], "lower": {"mass": 2.0, "radius": 0.03}}  # fmt: skip
    platform = {"xyz": [0.0, 0.0, 0.8], "mass": 10.0, "radius": 0.2}
    return rd.load({"type": "closed_loop", "platform": platform, "legs": [*legs, center]})


def test_passive_center_leg_guides_the_platform_of_a_tricept(rng):
    m = tricept()
    assert m.mobility == 3
    assert m.joint_names == ("leg1", "leg2", "leg3")
    for _ in range(5):
        q = m.advance(m.home, rng.uniform(-0.1, 0.1, 3))
        pose = m.body_pose(q)
        # the body is the sliding part: its origin stays on its own z axis through the center
        along = rd.matrix_from_pose(pose)[:3, 2]
        np.testing.assert_allclose(np.cross(pose[:3], along), 0.0, atol=1e-9)


def test_power_of_the_driven_legs_is_the_change_of_energy_with_a_passive_leg(rng):
    m = tricept()
    q = m.advance(m.home, rng.uniform(-0.1, 0.1, 3))
    u, a = rng.uniform(-0.5, 0.5, (2, 3))
    power = m.inverse_dynamics(q, u, a) @ m.joint_velocities(q, u)
    step = 1e-5
    ends = [
        sum(m.energy(m.advance(q, t * u + 0.5 * t * abs(t) * a * np.sign(t)), u + t * a))
        for t in (step, -step)
    ]
    assert (ends[0] - ends[1]) / (2.0 * step) == pytest.approx(power, rel=1e-6)
