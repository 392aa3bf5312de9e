# SPDX-License-Identifier: Apache-2.0

"""Limits of passive joints, of mimics and of the joints at legs' ends are kept by everything."""

from __future__ import annotations

import re

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import robodyn as rd
from robodyn.algorithms import comparison, travel
from robodyn.cli import app
from robodyn.loading import templates
from robodyn.poses import rotation_matrix

LINK = """<link name="{0}"><inertial><origin xyz="{1}"/><mass value="0.3"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>
  <origin xyz="{4}"/><axis xyz="0 0 1"/>{5}</joint>"""
A, B, C, D, E = (np.array(p) for p in ((-0.1, 0), (0.1, 0), (-0.25, 0.2), (0.25, 0.2), (0, 0.4)))


def five_bar(elbow):
    """Motors at A and B, elbows at C and D within +-elbow [rad], the tool at E."""
    limit = f'<limit lower="{-elbow}" upper="{elbow}" effort="0" velocity="10"/>' if elbow else ""
    kind = "revolute" if elbow else "continuous"
    motor = '<limit lower="-1.2" upper="1.2" effort="5" velocity="5"/>'

    def at(point):
        return f"{point[0]} {point[1]} 0"

    joints = [
        ("a", "revolute", "base", "arm_a", at(A), motor),
        ("b", "revolute", "base", "arm_b", at(B), motor),
        ("c", kind, "arm_a", "rod_a", at(C - A), limit),
        ("d", kind, "arm_b", "rod_b", at(D - B), limit),
        ("tool_joint", "fixed", "rod_a", "tool", at(E - C), ""),
    ]
    ends = {"arm_a": C - A, "arm_b": D - B, "rod_a": E - C, "rod_b": E - D, "tool": E * 0}
    return (
        '<robot name="five"><link name="base"/>'
        + "".join(LINK.format(name, at(0.5 * end)) for name, end in ends.items())
        + "".join(JOINT.format(*joint) for joint in joints)
        + f"""<constraint name="e" type="revolute"><parent link="rod_a"/>
          <parent_origin xyz="{at(E - C)}"/><parent_axis xyz="0 0 1"/><child link="rod_b"/>
          <child_origin xyz="{at(E - D)}"/><child_axis xyz="0 0 1"/></constraint></robot>"""
    )


@pytest.fixture(scope="module")
def tight():
    return rd.load(five_bar(0.05))


@pytest.fixture(scope="module")
def leaving(tight):
    """A motion of both motors by 0.15 rad each way, which bends the elbows by more than 0.05."""
    goal = tight.assemble([0.15, -0.15], tight.home)
    return rd.plan_straight(tight, tight.home, goal, duration=1.0)


def elbows(motors):
    """(2,) [rad] of the elbows by circles, none of it the library's."""
    points = []
    for angle, pivot, elbow in zip(motors, (A, B), (C, D), strict=True):
        s, c = np.sin(angle), np.cos(angle)
        points.append(pivot + np.array([[c, -s], [s, c]]) @ (elbow - pivot))
    first, second = points
    way = second - first
    half = 0.5 * np.linalg.norm(way)
    up = np.array([-way[1], way[0]]) / (2.0 * half)
    tool = 0.5 * (first + second) + np.sqrt((E - C) @ (E - C) - half**2) * up
    return [
        np.arctan2(*(tool - now)[::-1]) - np.arctan2(*(E - elbow)[::-1]) - angle
        for now, elbow, angle in zip(points, (C, D), motors, strict=True)
    ]


def test_values_and_limits_are_those_of_the_description(tight):
    names = [limit.name for limit in travel.travel_limits(tight)]
    assert names == ["a", "b", "c", "d"]
    np.testing.assert_allclose(travel.travel_bounds(tight)[2:], [[-0.05, 0.05]] * 2)
    q = tight.assemble([0.1, -0.1], tight.home)
    np.testing.assert_allclose(
        travel.travel_positions(tight, q), [0.1, -0.1, *elbows([0.1, -0.1])], atol=1e-9
    )
    assert travel.within_travel(tight, tight.home)
    assert not travel.within_travel(tight, q)


def test_a_motion_that_leaves_them_is_reported_by_all_that_look_at_it(tight, leaving):
    broken = rd.check_limits(tight, leaving)
    assert (broken.joint, broken.quantity) == ("c", "position")
    assert abs(broken.limit) == 0.05
    t = np.linspace(0.0, 1.0, 4001)
    motors = tight.joint_positions(leaving.sample(t).configuration)
    first = t[next(k for k, q in enumerate(motors) if max(map(abs, elbows(q))) > 0.05)]
    assert broken.time == pytest.approx(first, abs=2e-3)
    found = rd.analyze(tight, leaving).margins()
    assert not found.hold
    assert found.first[0].joint == "c"
    run = rd.simulate(tight, rd.ComputedTorque(tight), leaving, dt=1e-3)
    assert "c" in {event.joint for event in run.events if event.kind == "limit"}
    assert {event.kind for event in run.events} == {"limit"}
    plant = rd.Plant(tight)
    assert plant.beyond_limits == ()
    plant.reset(leaving.sample(1.0).configuration)
    assert plant.beyond_limits == ("c", "d")
    with pytest.raises(rd.InfeasibleTrajectory, match=r"^c is at .* limit is -?0\.05 rad"):
        rd.time_optimal(tight, leaving, points=60)
    with pytest.raises(rd.NoPath, match=r"passive [cd] is at"):
        rd.plan_path(tight, tight.home, leaving.sample(1.0).configuration)


def test_strict_analysis_fails(tmp_path):
    (tmp_path / "five.urdf").write_text(five_bar(0.01))
    (tmp_path / "p.yaml").write_text(
        "waypoints:\n  - {xyz: [0, 0.4, 0], rpy: [0, 0, 0]}\n"
        "  - {xyz: [0, 0.45, 0], rpy: [0, 0, 0], duration: 1.0}\n"
    )
    arguments = ["analyze", str(tmp_path / "five.urdf"), "--path", str(tmp_path / "p.yaml")]
    result = CliRunner().invoke(app, [*arguments, "--strict"])
    assert result.exit_code == 1
    assert "position of c" in result.output


@pytest.mark.slow
def test_planned_motions_keep_to_passive_limits():
    m = rd.load(five_bar(0.3))
    paths = [
        rd.load_path("demo", m),
        rd.exciting_trajectory(m, duration=4.0, seed=1),
        rd.plan_path(m, m.home, m.assemble([0.12, -0.12], m.home)),
    ]
    for path in paths:
        t = np.linspace(0.0, path.duration, 600)
        motors = m.joint_positions(path.sample(t).configuration)
        assert max(abs(angle) for q in motors for angle in elbows(q)) < 0.3 + 1e-9
    platform = travel.with_cones(rd.load("stewart_symmetric"), base_cone=0.3)
    poses = rd.calibration_poses(platform, 12, settings=rd.PoseSettings(candidates=400))
    assert travel.leg_bends(platform, poses.configurations)[:, 0].max() <= 0.3


@pytest.mark.slow
@pytest.mark.parametrize(("elbow", "area"), [(0.0, 0.2200), (0.3, 0.0292), (0.05, 0.00081)])
def test_areas_are_those_of_the_motors_grid(elbow, area):
    """Squares of 2 mm (0.4 mm for 0.05 rad) that the tool meets, in its own assembly mode."""
    found = rd.workspace(rd.load(five_bar(elbow)))
    assert found.dimensions == 2
    assert abs(found.volume - area) < found.volume_error + 0.02 * area
    assert found.volume_error < 0.15 * area


@pytest.mark.slow
@pytest.mark.parametrize(("lead", "turns"), [(0.005, True), (0.005, False), (0.1, True)])
def test_drives_of_many_turns_and_mimics(lead, turns):
    """Slides of +-0.2 m on screws: a square of 0.16 m^2, for any turns of the motors."""
    ratio = lead / (2.0 * np.pi)
    most = 0.2 / ratio
    kind = "revolute" if turns else "continuous"
    motor = f'<limit lower="{-most}" upper="{most}" effort="5" velocity="100"/>' if turns else ""
    text = '<robot name="stage"><link name="base"/>'
    parent = "base"
    for axis, direction in (("x", "1 0 0"), ("y", "0 1 0")):
        for name, form, rest in (
            (f"m{axis}", kind, motor),
            (
                f"s{axis}",
                "prismatic",
                '<limit lower="-0.2" upper="0.2" effort="0" velocity="1"/>'
                f'<mimic joint="m{axis}" multiplier="{ratio!r}"/>',
            ),
        ):
            text += LINK.format(f"{name}_link", "0 0 0")
            text += JOINT.format(name, form, parent, f"{name}_link", "0 0 0", rest).replace(
                "0 0 1", direction
            )
        parent = f"s{axis}_link"
    text += "</robot>"
    m = rd.load(text, kind="closed_loop", tip_link="sy_link", driven="mx, my")
    found = rd.workspace(m)
    assert abs(found.volume - 0.16) < min(found.volume_error, 0.02)
    far = rd.plan_straight(m, m.home, m.assemble([0.21 / ratio, 0.0]), duration=2.0)
    broken = rd.check_limits(m, far, quantities=("position",))
    assert broken.joint in ("mx", "sx")
    slides = rd.check_limits(rd.load(text.replace(motor, ""), kind="closed_loop", driven="mx, my"),
        far, quantities=("position",)) if turns else broken  # fmt: skip
    assert (slides.joint, slides.limit) == ("sx", 0.2)


@pytest.fixture(scope="module")
def hexapod(tmp_path_factory):
    """A 6-UPS URDF, and the same with universal joints within +-0.05 rad about home."""
    folder = tmp_path_factory.mktemp("ups")
    free = rd.load("stewart_symmetric")
    rd.save(free, folder / "free.urdf")
    text = (folder / "free.urdf").read_text()
    names, values, _ = free.joint_states(free.home)
    for name, value in zip(names, values, strict=True):
        if "universal" in name:
            at = text.index(f'<joint name="{name}"')
            low, high = value - 0.05, value + 0.05
            limited = re.sub(
                r'lower="[^"]*" upper="[^"]*"', f'lower="{low!r}" upper="{high!r}"',
                text[at:].replace("np.float64(", "").replace(")", ""), count=1,
            )  # fmt: skip
            text = text[:at] + limited
    text = text.replace("np.float64(", "").replace(')"', '"')
    (folder / "tight.urdf").write_text(text)
    return folder, free


@pytest.mark.slow
def test_universal_joints_of_a_platform_keep_their_limits(hexapod, rng):
    folder, free = hexapod
    m = rd.load(folder / "tight.urdf")
    assert m.kind == "stewart"
    assert rd.load(folder / "free.urdf") == free
    assert len(travel.travel_limits(free)) == 6
    assert len(travel.travel_limits(m)) == 18
    # legs that lean less than sqrt(2) * 0.05 rad at the most
    found = rd.workspace(m)
    assert found.volume - found.volume_error > 0.0
    assert found.volume < 0.0025
    ways = rng.uniform(-0.08, 0.08, (4000, 3))
    poses = np.tile(free.home, (4000, 1))
    poses[:, :3] += ways
    columns = [k for k, name in enumerate(free.all_joint_names) if "universal" in name]
    angles = free.joint_states(poses).positions[:, columns]
    there = free.joint_states(free.home).positions[columns]
    kept = (np.abs(angles - there) <= 0.05).all(axis=1) & travel.within_travel(free, poses)
    np.testing.assert_array_equal(travel.within_travel(m, poses), kept)
    assert 0 < kept.sum() < 4000


@pytest.mark.slow
def test_passive_limits_are_written_and_read(hexapod, tmp_path):
    m = travel.with_cones(rd.load(hexapod[0] / "tight.urdf"), base_cone=0.3, body_cone=0.25)
    for ending in ("urdf", "yaml", "sdf", "xml"):
        if ending == "xml":
            pytest.importorskip("mujoco")
        rd.save(m, tmp_path / f"m.{ending}")
        again = rd.load(tmp_path / f"m.{ending}")
        assert comparison.differences(again, m) == []
        assert travel.cones(again) == (0.3, 0.25)
        assert again != rd.load("stewart_symmetric")


def test_cones_hold_for_platforms_and_closed_loops_alike(hexapod, rng):
    platform = rd.load("stewart_symmetric")
    loop = rd.load(hexapod[0] / "free.urdf", kind="closed_loop")
    steps = 0.1 * rng.normal(size=(40, 6))
    poses = platform.advance(platform.home, steps)
    reached = [loop.configuration_at(pose) for pose in poses]
    bends = travel.leg_bends(platform, poses)
    np.testing.assert_allclose(travel.leg_bends(loop, np.array(reached)), bends, atol=1e-6)
    for cones in ({"base_cone": 0.15}, {"body_cone": 0.2}, {"base_cone": 0.2, "body_cone": 0.2}):
        expected = travel.within_travel(travel.with_cones(platform, **cones), poses)
        found = travel.within_travel(travel.with_cones(loop, **cones), np.array(reached))
        np.testing.assert_array_equal(found, expected)
        assert expected.any()
        assert not expected.all()


@pytest.mark.slow
def test_rods_of_a_delta_lean_as_geometry_says():
    m = rd.load("delta")
    q = m.advance(m.home, np.array([0.2, -0.1, 0.05]))
    body = travel.leg_bends(m, q)[1]
    # the platform does not turn: the angle between a rod now and at home, base frame
    for k, name in enumerate(travel.leg_names(m)):
        closure = next(c for c in m.model.closures if c.name == name)
        rod = next(link for link in (closure.parent, closure.child) if link.startswith("rod"))
        ways = []
        for state in (m.home, q):
            frame = rd.matrix_from_pose(m.link_pose(state, rod))
            ways.append(frame[:3, :3])
        turned = ways[1] @ ways[0].T
        angle = np.arccos(np.clip(0.5 * (np.trace(turned) - 1.0), -1.0, 1.0))
        # a rod that also spins about itself turns by more than it leans
        assert 0.0 < body[k] <= angle + 1e-9
    tight = travel.with_cones(m, body_cone=0.05)
    assert travel.within_travel(tight, m.home)
    assert not travel.within_travel(tight, q)
    assert rd.workspace(tight, resolution=10).volume < 0.5 * rd.workspace(m, resolution=10).volume


def test_mechanisms_without_legs_have_no_cones():
    with pytest.raises(rd.InvalidInput, match="no straight legs"):
        travel.with_cones(rd.load("puma560"), 0.1)
    with pytest.raises(rd.InvalidInput, match="no straight legs"):
        rd.workspace(rd.load("fivebar"), base_cone=0.2)


@pytest.mark.parametrize(
    ("form", "rig", "end"),
    [
        ("UP", "heave-pitch-roll", 0),
        ("PU", "heave-pitch-roll", 1),
        ("U", "pitch-roll-seat", 0),
        ("SP", "four-corners", 0),
        ("RPU", "four-corners", 1),
    ],
)
def test_a_center_leg_bends_as_its_body_tilts(form, rig, end, tmp_path, rng):
    """Of a leg straight up, whose joint is a ball or universal joint at the base or at the body."""
    text = yaml.safe_load(templates()[rig][1].write(rig, "rig.yaml"))
    leg = next(each for each in text["legs"] if not each.get("driven", True))
    leg |= {"form": form, "axis": [0, 0, 1] if form == "PU" else [1, 0, 0]}
    if rig == "four-corners":  # vertical legs leave one freedom of these to the guide
        signs = [1, -1, 1, -1] if form == "SP" else [1, -1, -1, 1]
        for driven, sign in zip(text["legs"], signs, strict=False):
            driven["base"][1] += 0.2 * sign
        del text["leg_defaults"]["limits"]
    m = rd.load(text)
    configurations, tilts = [], []
    for _ in range(20):
        q = m.advance(m.home, rng.uniform(-0.02, 0.02, m.mobility))
        z = rotation_matrix(m.body_pose(q))[:, 2]
        if form == "RPU":  # the leg leans about x
            up = m.body_pose(q)[:3] - leg["base"]
            z = rotation_matrix(m.body_pose(q)).T @ (up / np.linalg.norm(up))
        configurations.append(q)
        tilts.append(np.arccos(z[2]))
    bends = travel.leg_bends(m, np.array(configurations))[:, end]
    np.testing.assert_allclose(bends[:, -1], tilts, atol=1e-7)
    cone = float(np.median(bends.max(axis=1)))
    limited = rd.load(text | {("base_cone", "body_cone")[end]: cone})
    inside = travel.within_travel(limited, np.array(configurations))
    np.testing.assert_array_equal(inside, bends.max(axis=1) <= cone)
    assert len(travel.travel_limits(limited)) == len(travel.travel_limits(m)) + bends.shape[1]
