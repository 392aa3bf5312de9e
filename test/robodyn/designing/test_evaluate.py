# SPDX-License-Identifier: Apache-2.0

"""Evaluations against dense sampling, Monte Carlo and laws of physics."""

import json
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
import yaml
from six_legs import six_legs, with_legs
from typer.testing import CliRunner

import robodyn as rd
from robodyn.algorithms import geometry_of, motions
from robodyn.analysis import payload_at_home, reach_about_home, sine_motions
from robodyn.cli import app
from robodyn.designing import FAMILIES, rows_of
from robodyn.loading import templates
from robodyn.report.design_tables import rotor_sentences
from robodyn.report.machine_sheet import payload_map

DENSE = 20_000


def servo_hexapod():
    document = templates()["servo-hexapod"][1].write("servo")
    return rd.load(yaml.safe_load(document))


def delta(tmp_path):
    for suffix in (".yaml", ".urdf"):
        (tmp_path / f"delta{suffix}").write_text(
            templates()["delta"][1].write("delta", "delta.yaml", suffix)
        )
    return rd.load(tmp_path / "delta.yaml")


def with_rotors(m, **actuator):
    return m._made(replace(m.model, joints=tuple(
        replace(joint, drive=replace(joint.drive, **actuator), friction=np.array([2e-2, 3e-2]))
        if joint.name in m.joint_names else joint for joint in m.model.joints)))  # fmt: skip


def of(*motions, **more):
    return rd.load_requirements({"motions": list(motions)} | more)


BIG = {"heave": {"amplitude": 0.1, "frequency": 1.0},
       "surge": {"acceleration": "0.2 g", "frequency": 1.5},
       "pitch": {"amplitude": "12 deg", "frequency": 0.25, "phase": "50 deg"}}  # fmt: skip
SMALL = {"heave": {"amplitude": "12 mm", "frequency": 2.0},
         "yaw": {"amplitude": "5 deg", "frequency": 1.0, "phase": 1.0}}  # fmt: skip
TILTED = {"heave": {"amplitude": 0.05, "frequency": 2.0},
          "roll": {"amplitude": "8 deg", "frequency": 1.0, "phase": 0.4},
          "pitch": {"amplitude": "5 deg", "frequency": 1.0}}  # fmt: skip
CARRIED = {"surge": {"amplitude": 0.05, "frequency": 1.0},
           "heave": {"amplitude": 0.03, "frequency": 2.0, "phase": 0.4}}  # fmt: skip


@pytest.mark.parametrize("kind", ["platform", "servo", "servo with rotors", "delta", "3-rps"])
def test_evaluate_agrees_with_dense_sampling(kind, tmp_path):
    if kind == "platform":
        m, motion = rd.load("motion_platform"), BIG
    elif kind == "3-rps":
        dimensions = {"base_radius": 0.5, "platform_radius": 0.35, "height": 0.6}
        m, motion = FAMILIES["3-rps"].mechanism(dimensions, of(TILTED)), TILTED
        m = with_rotors(m, rotor_inertia=1e-4, lead=0.01, efficiency=0.9)
    elif kind == "delta":
        m, motion = with_rotors(delta(tmp_path), efficiency=0.85), CARRIED
    else:
        m, motion = servo_hexapod(), SMALL
        if kind == "servo with rotors":
            m = with_rotors(m, rotor_inertia=2e-7, gear_ratio=80.0, efficiency=0.8)
    load = {"mass": 0.3, "com": [0.0, 0.01, 0.02], "inertia": np.diag([3e-4, 2e-4, 1e-4]).tolist()}
    row = rd.evaluate(m, of(motion, payload=load)).motions[0]
    loaded = m.with_payload(*load.values())
    required = of(motion).motions[0]
    times = required.duration / DENSE * np.arange(DENSE)
    body = rows_of(required, times, m.body_pose(m.home))
    moving = motions.motions_of_body(loaded, *body, np.repeat(m.home[None], DENSE, axis=0))
    positions, rates, _ = motions.driven_motion(loaded, *moving)
    efforts = loaded.inverse_dynamics(*moving)
    np.testing.assert_allclose(row.positions[:, 0], positions.min(axis=0), atol=1e-6)
    np.testing.assert_allclose(row.positions[:, 1], positions.max(axis=0), atol=1e-6)
    np.testing.assert_allclose(row.speed, np.abs(rates).max(axis=0), rtol=1e-3)
    np.testing.assert_allclose(row.peak_effort, np.abs(efforts).max(axis=0), rtol=1e-3)
    rms = np.sqrt((efforts**2).mean(axis=0))
    np.testing.assert_allclose(row.rms_effort, rms, rtol=1e-3)
    torques = loaded.motor_torques(efforts, rates)
    np.testing.assert_allclose(row.peak_torque, np.abs(torques).max(axis=0), rtol=1e-3)
    np.testing.assert_allclose(row.rms_torque, np.sqrt((torques**2).mean(axis=0)), rtol=2e-3)
    power = torques * rates * [actuator.ratio for actuator in loaded.actuators]
    scale = np.abs(power).max(axis=0)
    np.testing.assert_allclose(row.peak_power, scale, rtol=3e-3)
    np.testing.assert_allclose(row.mean_power / scale, power.mean(axis=0) / scale, atol=1e-3)
    fed_back = required.duration * np.maximum(-power, 0.0).mean(axis=0)
    np.testing.assert_allclose(row.regenerated / scale, fed_back / scale, atol=3e-3)
    assert row.supply_peak == pytest.approx(power.sum(axis=1).max(), rel=3e-3)
    number = loaded.condition_number(moving.configuration).max()
    assert row.condition_number == pytest.approx(number, rel=1e-3)


@pytest.mark.parametrize("kind", ["platform", "servo", "delta"])
def test_energy_balances_without_friction_and_friction_takes_the_rest(kind, tmp_path):
    # of the trapezoidal rule, between uneven instants
    error = 1e-5
    if kind == "platform":
        m, motion, error = rd.load("motion_platform"), BIG, 1e-6
    else:
        m, motion = (servo_hexapod(), SMALL) if kind == "servo" else (delta(tmp_path), CARRIED)
        m = with_rotors(m, rotor_inertia=2e-6, gear_ratio=20.0)
    smooth = rd.evaluate(m.without_friction(), of(motion)).motions[0]
    # nothing is lost: over a cycle all drives together do no work
    assert smooth.mean_power.sum() == pytest.approx(0.0, abs=error * smooth.supply_peak)
    back = smooth.duration * smooth.supply_mean
    assert back == pytest.approx(smooth.braking, rel=10.0 * error)
    rough = rd.evaluate(m, of(motion)).motions[0]
    assert rough.mean_power.sum() > 1e-3 * rough.supply_peak


def test_held_poses_need_the_efforts_of_statics():
    m = rd.load("motion_platform")
    e = rd.evaluate(m, rd.load_requirements({"poses": [{"heave": [-0.1, 0.1]}]}))
    assert [row.name for row in e.motions] == ["poses"]
    home = m.home
    still = np.zeros(6)
    ends = [home + h * np.eye(7)[2] for h in (-0.1, 0.1)]
    efforts = np.abs([m.inverse_dynamics(pose, still, still) for pose in ends]).max(axis=0)
    np.testing.assert_allclose(e.needed.peak_effort, efforts, rtol=1e-9)
    assert e.needed.speed.max() == 0.0


def test_margins_are_on_top():
    m = rd.load("motion_platform")
    plain = rd.evaluate(m, of(BIG)).needed
    margins = {"force": 1.3, "speed": 1.2, "stroke": "10 mm"}
    more = rd.evaluate(m, of(BIG, margins=margins, rating={"duty": 0.25})).needed
    np.testing.assert_allclose(more.stroke, plain.stroke + 0.02)
    np.testing.assert_allclose(more.speed, 1.2 * plain.speed)
    np.testing.assert_allclose(more.peak_effort, 1.3 * plain.peak_effort)
    np.testing.assert_allclose(more.continuous_effort, 1.3 * 0.5 * plain.continuous_effort)


@pytest.mark.slow
def test_the_accuracy_of_poses_is_that_of_monte_carlo(random_numbers):
    m = rd.load("motion_platform")
    limits = {"accuracy": {"position": "0.05 mm", "geometry": "0.1 mm"}}
    e = rd.evaluate(m, rd.load_requirements({"poses": [{"yaw": 0.0}], **limits}))
    draws = random_numbers("poses")
    geometry = geometry_of(m)
    values = np.array([each.value for each in geometry.parameters])
    centers = [not each.name.endswith(("offset", ".h", ".u")) for each in geometry.parameters]
    lengths, moved = m.joint_positions(m.home), []
    for _ in range(1500):
        dimensions = values + 1e-4 * draws.standard_normal(len(values)) * centers
        built = geometry.with_geometry(dimensions)
        reading = lengths + 5e-5 * draws.standard_normal(6)
        moved.append(m.difference(m.home, built.forward_kinematics(reading, m.home)))
    # the standard deviation of a standard deviation of 1500 draws is 1.8 %
    np.testing.assert_allclose(e.pose_accuracy, np.std(moved, axis=0), rtol=0.08)


def test_sentences_name_what_is_missing_what_is_possible_and_what_helps():
    m = rd.load("motion_platform")
    e = rd.evaluate(m, of({"name": "jump", "heave": 0.25, "frequency": 1.0}))
    assert not e.satisfied
    speed = next(each for each in e.verdicts if each.requirement == "speed")
    assert not speed.satisfied
    text = next(text for text in e.violations if " m/s in motion 'jump'" in text)
    assert f"{speed.value - 1.0:.4g} m/s" in text
    # the stated possible part is possible, and a little more is not
    fraction = e.possible["jump"]
    for part, holds in ((0.999 * fraction, True), (1.001 * fraction, False)):
        smaller = of({"name": "jump", "heave": 0.25 * part, "frequency": 1.0})
        assert rd.evaluate(m, smaller).satisfied == holds
    assert f"{0.25 * fraction:.3g} m of heave at 1 Hz is possible" in text
    name = next(name for name in e.variants if f" {name} helps most" in text)
    value, made = e.variants[name]
    step = 0.01 if f"increasing {name}" in text else -0.01
    better = rd.evaluate(made(value * (1.0 + step)), e.requirements)
    assert better.needed.speed.max() < e.needed.speed.max()


def test_sensitivities_are_slopes():
    m = rd.load("motion_platform")
    e = rd.evaluate(m, of(BIG))
    assert set(e.variants) == {"base_scale", "platform_scale", "height"}
    value, made = e.variants["height"]
    far = rd.evaluate(made(value + 0.01), e.requirements)
    change = far.quantities["stroke"] - e.quantities["stroke"]
    assert e.sensitivities["height"]["stroke"] == pytest.approx(change / 0.01, rel=0.05)


def test_a_screw_and_a_rotor_are_named_where_they_weigh_more_than_the_load():
    m = rd.load(yaml.safe_load(templates()["hexapod"][1].write("small")))
    legs = [
        replace(leg, actuator=rd.Actuator(rotor_inertia=1.2e-4, lead=0.005))
        for leg in six_legs(m).legs
    ]
    (text,) = rotor_sentences(rd.evaluate(with_legs(m, legs), of(SMALL)))
    assert "189.5 kg at the joint" in text
    plain = [replace(leg, actuator=rd.Actuator()) for leg in six_legs(m).legs]
    assert rotor_sentences(rd.evaluate(with_legs(m, plain), of(SMALL))) == []


@pytest.mark.parametrize(
    ("limits", "requirement"),
    [
        ({"condition_number": 2.0}, "condition_number"),
        ({"joint_angle": "0.5 deg"}, "joint_angle"),
        ({"leg_clearance": "0.4 m"}, "leg_clearance"),
        ({"payload_clearance": "2 m"}, "payload_clearance"),
        ({"footprint_radius": 0.9}, "footprint_radius"),
        ({"height": "1.3 m"}, "height"),
        ({"floor": 0.1}, "floor"),
    ],
)
def test_each_limit_is_kept_or_named(limits, requirement):
    m = rd.load("motion_platform")
    load = {"mass": 1.0, "radius": 0.2, "com": [0.0, 0.0, 0.5]}
    motion = {"heave": 0.05, "frequency": 0.2}
    assert rd.evaluate(m, of(motion, payload=load)).satisfied
    e = rd.evaluate(m, of(motion, payload=load, limits=limits))
    assert [each.requirement for each in e.verdicts if not each.satisfied] == [requirement]


def test_poses_out_of_reach_are_a_violation_not_an_error():
    e = rd.evaluate(servo_hexapod(), of({"name": "far", "heave": 0.2, "frequency": 0.5}))
    assert not e.satisfied
    assert 0.0 < e.motions[0].reached < 1.0
    assert "motion 'far' is not reached at" in e.violations[0]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"motions": [{"heave": 0.1, "frequency": 1}], "natural_frequency": 12},
         "natural_frequency is 12 Hz, but the drives of motion_platform are rigid"),
        ({"motions": [{"heave": 0.1, "frequency": 1}], "limits": {"position_error": 1e-3}},
         "limits of position_error and angle_error need `accuracy`"),
    ],
)  # fmt: skip
def test_evaluate_rejects_requirements_that_do_not_fit(document, message):
    with pytest.raises(rd.InvalidInput, match=message):
        rd.evaluate(rd.load("motion_platform"), rd.load_requirements(document))


@pytest.mark.parametrize("limit", [0.9, 1.1])
def test_the_natural_frequency_is_a_requirement(limit):
    m = rd.load("motion_platform").with_drive_stiffness(1e7)
    motion = {"name": "heave", "heave": 0.05, "frequency": 0.5}
    e = rd.evaluate(m, rd.load_requirements({"motions": [motion]}))
    assert e.natural_frequencies[0] <= m.modes(m.home).frequencies[0]
    bound = limit * float(e.natural_frequencies[0])
    e = rd.evaluate(m, rd.load_requirements({"motions": [motion], "natural_frequency": bound}))
    judged = {each.requirement: each for each in e.verdicts}["natural_frequency"]
    assert judged.satisfied == (limit < 1.0)
    assert f"at least {bound:.4g} Hz" in judged.text


def test_axes_that_a_mechanism_does_not_have_are_refused():
    with pytest.raises(rd.InvalidInput, match="requires roll, but delta moves its body only in"):
        rd.evaluate(rd.load("delta"), of({"roll": 0.1, "frequency": 1.0}))
    required = of({"heave": 0.01, "frequency": 1.0}, limits={"leg_clearance": 0.01})
    with pytest.raises(rd.InvalidInput, match="has no straight legs"):
        rd.evaluate(rd.load("delta"), required)


def test_tolerances_of_dimensions_that_are_no_parameters_are_refused():
    accuracy = {"position": 1e-3, "geometry": 1e-4}
    required = of({"heave": 0.01, "frequency": 1.0}, accuracy=accuracy)
    m = rd.load("delta")
    less = rd.ClosedLoop(replace(m.model, driven=m.model.driven[:2]))
    with pytest.raises(rd.InvalidInput, match=r"accuracy\.geometry is 0\.0001 m, but"):
        rd.evaluate(less, required)
    at_home = {"poses": [{"heave": 0.0}], "accuracy": {"position": 1e-3}}
    found = rd.evaluate(m, rd.load_requirements(at_home)).pose_accuracy
    driven = m.joint_positions(m.home)
    moved = [m.body_pose(m.assemble(driven + 1e-6 * turn, m.home)) for turn in np.eye(3)]
    slopes = (np.array(moved) - m.body_pose(m.home))[:, :3] / 1e-6
    np.testing.assert_allclose(found[:3], 1e-3 * np.sqrt((slopes**2).sum(axis=0)), rtol=1e-4)
    np.testing.assert_allclose(found[3:], 0.0, atol=1e-9)


@pytest.mark.slow
def test_the_command_prints_verdicts_and_fails_with_them(tmp_path):
    file, page = tmp_path / "req.yaml", tmp_path / "page.html"
    file.write_text("motions:\n  - {name: lift, heave: 50 mm, frequency: 0.5 Hz}\n")
    run = CliRunner().invoke(app, ["evaluate", "motion_platform", str(file), "--html", str(page)])
    assert (run.exit_code, run.stderr) == (0, "")
    assert "yes: leg" in run.stdout
    text = page.read_text()
    assert all(
        f'id="{key}"' in text for key in ("verdicts", "motor", "needed", "power", "home", "held")
    )
    file.write_text("motions:\n  - {name: lift, heave: 50 mm, frequency: 5 Hz}\n")
    run = CliRunner().invoke(app, ["evaluate", "motion_platform", str(file), "--json"])
    found = json.loads(run.stdout)
    assert (run.exit_code, found["satisfied"]) == (1, False)
    assert found["motions"][0]["name"] == "lift"


def test_the_payload_over_the_workspace_is_what_the_drives_hold():
    m = rd.load("motion_platform")
    held = payload_map(m)
    middle = len(held.y) // 2, len(held.x) // 2
    assert held.mass[middle] == pytest.approx(payload_at_home(m).mass, rel=1e-9)
    # each cell outside names a leg that is too short or too long there
    lower, upper = m.position_limits.T
    for k, j in np.argwhere(np.isnan(held.mass)):
        pose = m.home + np.array([held.x[j], 0.0, held.y[k], 0.0, 0.0, 0.0, 0.0])
        end, leg = held.reason[k][j].split(" limit of ")
        length, i = m.joint_positions(pose), m.joint_names.index(leg)
        assert length[i] < lower[i] if end == "lower" else length[i] > upper[i]
    inside = np.argwhere(~np.isnan(held.mass))
    assert len(inside) > 5
    still = np.zeros(6)
    for k, j in inside:
        pose = m.home + np.array([held.x[j], 0.0, held.y[k], 0.0, 0.0, 0.0, 0.0])
        efforts = np.abs(m.with_payload(held.mass[k, j]).inverse_dynamics(pose, still, still))
        used = efforts / m.effort_limits
        assert used.max() == pytest.approx(1.0, rel=1e-9)
        assert m.joint_names[int(used.argmax())] == held.reason[k][j] or np.isclose(
            used[m.joint_names.index(held.reason[k][j])], 1.0
        )


def test_the_slice_of_a_servo_hexapod_reaches_as_far_as_its_data_sheet():
    m = rd.load("hexapod_rotary")
    rows = {row["axis"]: row["excursion"] for row in sine_motions(m)}
    held = payload_map(m)
    inside = ~np.isnan(held.mass)
    column, row = inside[:, len(held.x) // 2], inside[len(held.y) // 2]
    for places, cells, axis in ((held.y, column, "z"), (held.x, row, "x")):
        low, high = rows[axis]
        assert (cells == ((places >= low) & (places <= high))).all()


@pytest.mark.slow
def test_check_writes_a_page_of_what_a_machine_can_do(tmp_path):
    page = tmp_path / "machine.html"
    assert CliRunner().invoke(app, ["check", "motion_platform", "--html", str(page)]).exit_code == 0
    text = page.read_text()
    for section in ("sines", "held", "home", "centers", "parameters"):
        assert f'<section id="{section}">' in text
    assert "another axis at half" in text
    assert "verdicts" not in text


def test_one_stroke_explains_the_travel_ranges_of_a_published_positioner():
    """PI H-811.I2, by `cfg/H-811.i2.yaml` of the maker's PI_ROS_Driver."""
    family, required = FAMILIES["hexapod"], of({"heave": "6.5 mm", "frequency": 0.1})
    dimensions = {
        "base_radius": 0.05722415, "base_spread": np.radians(12.92705),
        "platform_radius": 0.03900397, "platform_spread": np.radians(18.81795),
        "height": 0.0883261,
    }  # fmt: skip
    need = rd.evaluate(family.mechanism(dimensions, required), required).needed
    m = family.mechanism(dimensions, required, need=need)
    stated = {"x": 0.017, "y": 0.016, "roll": np.radians(10.0), "pitch": np.radians(10.0)}
    found = {each.variable: each for each in reach_about_home(m)}
    for axis, travel in stated.items():
        for end in (-found[axis].lowest, found[axis].highest):
            assert end == pytest.approx(travel, rel=0.055)
    # the legs could yaw further than the stated 21 degrees
    assert np.degrees(found["yaw"].highest) == pytest.approx(23.85, abs=0.02)


# Joint centers [m], limits of x and y, z [m], tilt and yaw [deg], by constants.py of ts_mthexapod,
# the control software of the Rubin Observatory; legs have +-14.1 mm.
RUBIN = {
    "camera": (
        [[0.2276, 0.6538], [-0.2276, 0.6538], [-0.68, -0.1297], [-0.4523, -0.524],
         [0.4523, -0.524], [0.68, -0.1297]], [-0.525] * 6,
        [[0.4728, 0.5122], [-0.4728, 0.5122], [-0.68, 0.1533], [-0.2072, -0.6655],
         [0.2072, -0.6655], [0.68, 0.1533]], [-0.1214] * 6, -2.7584, (0.0114, 0.0131, 0.36, 0.10),
    ),
    "M2": (
        [[0.0, 1.7018], [-1.54235, -0.71921], [1.54235, -0.71921], [0.00079, 1.46049],
         [-1.50337, 0.00766], [1.50337, 0.00766]], [0.1143] * 3 + [0.2286] * 3,
        [[0.0, 1.7018], [-1.54235, -0.71921], [1.54235, -0.71921], [0.49379, 1.46049],
         [-1.25687, -0.41929], [1.25687, -0.41929]], [0.6073] * 3 + [0.2286] * 3, -0.703,
        (0.0105, 0.0089, 0.175, 0.05),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(RUBIN))
def test_the_legs_of_published_hexapods_have_the_stroke_for_each_stated_limit(name):
    base, base_z, body, body_z, pivot, (xy, z, tilt, yaw) = RUBIN[name]
    feet, tips = np.column_stack([base, base_z]), np.column_stack([body, body_z])
    none = {"mass": 0.0, "com": [0.0] * 3, "inertia": np.zeros((3, 3)).tolist()}
    legs = []
    for foot, tip in zip(feet, tips, strict=True):
        length, across = np.linalg.norm(tip - foot), np.cross(tip - foot, [0.0, 0.6, 0.8])
        legs.append({"base": foot.tolist(), "platform": (tip - [0.0, 0.0, pivot]).tolist(),
                     "universal_axis": across.tolist(),
                     "limits": {"length": [length - 0.0141, length + 0.0141]}})  # fmt: skip
    m = rd.load({
        "type": "stewart", "name": name, "home": {"xyz": [0.0, 0.0, pivot]}, "legs": legs,
        "platform": {"mass": 1.0, "com": [0.0] * 3, "inertia": np.eye(3).tolist()},
        "leg_defaults": {"lower": none, "upper": none},
    })  # fmt: skip

    def satisfied(**ranges):
        required = rd.load_requirements({"poses": [ranges]})
        e = rd.evaluate(m, required)
        home = m.joint_positions(m.home)
        return e.satisfied, max((home - e.needed.shortest).max(), (e.needed.longest - home).max())

    alone = {
        "surge": [-xy, xy], "sway": [-xy, xy], "heave": [-z, z],
        "yaw": [f"-{yaw} deg", f"{yaw} deg"],
        "roll": [f"-{tilt} deg", f"{tilt} deg"], "pitch": [f"-{tilt} deg", f"{tilt} deg"],
    }  # fmt: skip
    assert all(satisfied(**{axis: ends})[0] for axis, ends in alone.items())
    met, travel = satisfied(heave=alone["heave"], roll=alone["roll"])
    assert not met
    # heave and tilt of M2 use the legs up together, those of the camera exclude each other
    assert travel == pytest.approx(0.0141 if name == "M2" else 0.01945, abs=5e-5)


@pytest.mark.slow
def test_the_published_payload_of_a_rotary_hexapod_is_the_sum_of_what_each_motor_lifts():
    """OSH Robotics, page "Hexapod Kinematics": 148.3 kg at least and 230.9 kg on average."""
    base, torque = np.array([np.sqrt(0.15**2 - 0.05**2), 0.05]), 127.0
    tip = 0.12 * np.array([np.cos(np.pi / 4), np.sin(np.pi / 4)])
    legs = [
        {"base": [base[0], side * base[1], 0.0], "axis": [0.0, 1.0, 0.0],
         "arm": {"to": [0.4, 0.0, 0.0], "mass": 0.0}, "platform": [tip[0], side * tip[1], 0.0]}
        for side in (-1.0, 1.0)
    ]  # fmt: skip
    crank_end = base + np.array([0.4, 0.0])
    middle = np.sqrt(0.8**2 - np.sum((crank_end - tip) ** 2))
    m = rd.load({
        "type": "closed_loop", "symmetry": 3, "legs": legs,
        "platform": {"xyz": [0.0, 0.0, float(middle)], "mass": 1.0, "radius": 0.12},
        "leg_defaults": {"form": "RUS", "rod": {"length": 0.8, "mass": 0.0}},
    })  # fmt: skip
    added, balanced = [], []
    places = [(r, a) for r, n in ((0.0, 1), (0.2, 6), (0.4, 12)) for a in np.arange(n) / n]
    for r, turn in places:
        x, y = r * np.cos(2.0 * np.pi * turn), r * np.sin(2.0 * np.pi * turn)
        for end in (1.194, 0.398):
            q = m.home
            with suppress(rd.KinematicsError):  # as far as it reaches
                for fraction in (0.5, 1.0):
                    at = [fraction * x, fraction * y, middle, 0.0, 0.0, 0.0, 1.0]
                    q = m.configuration_at(at, q)
                for z in np.linspace(middle, end, 5):
                    q = m.configuration_at([x, y, z, 0.0, 0.0, 0.0, 1.0], q)
                    twists = m.jacobian(q)
                    alone = torque * np.abs(np.linalg.inv(twists)[:, 2])
                    added.append(alone.sum() / 9.81)
                    balanced.append(torque / np.abs(twists[2]).max() / 9.81)
    assert min(added) == pytest.approx(148.3, rel=0.02)
    assert np.mean(added) == pytest.approx(230.9, rel=0.05)
    # a weight without a moment loads one motor more than the others
    assert min(balanced) < 0.36 * 148.3
