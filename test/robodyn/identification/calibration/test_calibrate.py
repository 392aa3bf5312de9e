# SPDX-License-Identifier: Apache-2.0

"""Calibration: derivatives, recovery to the bound of the noise, what is unseen, what is refused."""

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
from robodyn.identification.calibration import ALL, Frame, Frames, Freedoms, Problem, first_frames
from robodyn.poses import advance_pose, pose_difference

pytestmark = pytest.mark.slow

NOISE = 5e-5  # m and rad
SAMPLES = 30


@pytest.fixture(scope="module")
def platform():
    return rd.load("stewart_symmetric")


@pytest.fixture(scope="module")
def origins(puma):
    """An arm that no Denavit-Hartenberg table describes, as of a URDF."""
    turn = Rotation.from_rotvec([0.4, -0.3, 0.2]).as_matrix()
    joints = list(puma.model.joints)
    at = joints[2].at
    joints[2] = replace(joints[2], at=replace(at, rotation=turn @ at.rotation))
    return rd.SerialArm(replace(puma.model, joints=tuple(joints)))


def nominal(geometry):
    return np.array([each.value for each in geometry.parameters])


def composed(first, second):
    """Poses (N, 7) one after the other."""
    R = Rotation.from_quat(np.array(first)[:, 3:])
    turns = R * Rotation.from_quat(np.array(second)[:, 3:])
    place = first[:, :3] + R.apply(np.array(second)[:, :3])
    return np.hstack([place, turns.as_quat()])


class Machine:
    """A machine whose dimensions differ from its model's by some millimeters."""

    def __init__(self, m, rng, samples=SAMPLES, off=2e-3):
        self.model, self.geometry = m, geometry_of(m)
        free = np.array([not each.passive_only for each in self.geometry.parameters])
        before = nominal(self.geometry)
        self.true = before + off * free * rng.normal(size=len(before))
        if m.drives.units[0] == "m":
            reach = m.size * np.array([0.12, 0.12, 0.08, 0.12, 0.12, 0.15])
            near = np.array([m.advance(m.home, reach * rng.normal(size=6)) for _ in range(samples)])
            self.joints = m.joint_positions(near)
        else:
            low, high = np.clip(m.home[:, None] + [-1.5, 1.5], *m.position_limits.T[:, :, None]).T
            self.joints = rng.uniform(low, high, (samples, len(m.home)))
            near = m.body_pose(self.joints)
        self.placed = self.geometry.place(self.true, self.joints, near)

    def seen(self, rng, base=None, target=None, noise=NOISE):
        """Poses (N, 7) of the target by the tracker."""
        poses = self.placed.poses
        if base is not None:
            poses = composed(np.tile(base, (len(poses), 1)), poses)
        if target is not None:
            poses = composed(poses, np.tile(target, (len(poses), 1)))
        return advance_pose(poses, noise * rng.normal(size=(len(poses), 6)))

    def errors(self, found):
        return np.array([each.after for each in found.parameters]) - self.true


def efficiency(machine, found, noise=NOISE):
    """Root mean square error over the bound of Cramer and Rao, in the directions that are seen.

    With F the information at the truth, e' F e has the expectation rank(F) for an estimate that
    reaches the bound.
    """
    free = [i for i, each in enumerate(found.parameters) if each.name in found.free]
    rows = machine.placed.by_parameter[:, :, free].reshape(-1, len(free)) / noise
    error = machine.errors(found)[free]
    return np.sqrt(((rows @ error) ** 2).sum() / np.linalg.matrix_rank(rows, tol=1.0))


BASE = np.array([1.0, 2.0, 0.5, *Rotation.from_rotvec([0.3, 0.5, 2.0]).as_quat()])
TARGET = np.array([0.1, 0.05, 0.2, *Rotation.from_rotvec([0.3, -1.5, 0.2]).as_quat()])


@pytest.mark.parametrize("name", ["platform", "puma", "origins"])
def test_derivatives_are_those_of_finite_differences(name, request, rng):
    m = request.getfixturevalue(name)
    machine = Machine(m, rng, samples=3, off=5e-3)
    geometry, step = machine.geometry, 1e-6
    guess = machine.placed.poses

    def differences(change):
        """Of poses and passive readings, for a change of the parameters and the joints."""
        ends = [
            geometry.place(machine.true + s * change[0], machine.joints + s * change[1], guess)
            for s in (-step, step)
        ]
        moved = pose_difference(ends[0].poses, ends[1].poses)
        turned = ends[1].passive - ends[0].passive
        return np.hstack([moved, turned]) / (2.0 * step)

    count, n = len(machine.true), machine.joints.shape[1]
    for k in rng.permutation(count)[:18]:
        expected = np.hstack(
            [machine.placed.by_parameter[:, :, k], machine.placed.passive_by_parameter[:, :, k]]
        )
        found = differences((np.eye(count)[k], np.zeros(n)))
        np.testing.assert_allclose(expected, found, atol=1e-7)
    expected = np.hstack(
        [machine.placed.by_joint[:, :, 1], machine.placed.passive_by_joint[:, :, 1]]
    )
    np.testing.assert_allclose(expected, differences((np.zeros(count), np.eye(n)[1])), atol=1e-7)


@pytest.mark.parametrize("name", ["platform", "puma", "origins"])
def test_the_geometry_is_that_of_the_mechanism(name, request, rng):
    """Places are those of the mechanism with other dimensions, and the nominal ones change none."""
    m = request.getfixturevalue(name)
    machine = Machine(m, rng, samples=4)
    assert (
        comparison.differences(m, machine.geometry.with_geometry(nominal(machine.geometry))) == []
    )
    other = machine.geometry.with_geometry(machine.true)
    driven = machine.joints - m.drives.offsets + other.drives.offsets
    there = other.assemble(driven, machine.placed.poses if name == "platform" else None)
    np.testing.assert_allclose(
        pose_difference(other.body_pose(there), machine.placed.poses), 0.0, atol=1e-12
    )


def test_residuals_and_their_derivatives_with_displaced_frames(platform, rng):
    """Far from the solution, where the rotation's residual is large."""
    machine = Machine(platform, rng, samples=3)
    seen = advance_pose(machine.seen(rng), 0.3 * rng.normal(size=(3, 6)))
    passive = {name: rng.normal(size=3) for name in machine.geometry.passive_joints[:2]}
    samples = rd.Measurements.from_arrays(platform, machine.joints, pose=seen, passive=passive)
    frames = Frames(
        Frame(Rotation.from_quat(BASE[3:]).as_matrix(), BASE[:3]),
        Frame(Rotation.from_quat(TARGET[3:]).as_matrix(), TARGET[:3]),
        np.zeros(2),
    )
    problem = Problem(
        machine.geometry, np.full(54, 0.01), samples, "pose", frames,
        Freedoms(ALL, ALL, True), 1.0, machine.placed.poses,
    )  # fmt: skip
    at = 0.3 * rng.normal(size=problem.count)
    at[54:] *= 0.01
    jacobian = problem.evaluate(at).jacobian
    for k in [0, 5, 8, *range(54, problem.count)]:
        step = np.zeros(problem.count)
        step[k] = 1e-7 if k >= 54 else 1e-5
        ends = [problem.evaluate(at + s * step).residual for s in (-1.0, 1.0)]
        slope = (ends[0] - ends[1]) / (2.0 * step[k])
        scale = max(np.abs(slope).max(), 1e-3)
        np.testing.assert_allclose(jacobian[:, :, k] / scale, slope / scale, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "unseen"),
    # of links whose axes are parallel only the sum of d is seen; of a URDF's origins, which have
    # six numbers for each joint, what moves a frame along or about its own axis cannot be
    [("platform", 0), ("puma", 1), ("origins", 12)],
)
def test_dimensions_are_recovered_to_the_bound_of_the_noise(name, unseen, request, rng):
    """Thirty poses each; many machines of each kind are tried outside the tests."""
    m = request.getfixturevalue(name)
    ratios = []
    for _ in range(2):
        machine = Machine(m, rng)
        samples = rd.Measurements.from_arrays(m, machine.joints, pose=machine.seen(rng))
        found = rd.calibrate(m, samples, tracker="known", target="known")
        ratios.append(efficiency(machine, found))
        assert len(found.unseen) == unseen
        assert found.rmse_after["position"] < 1.2 * NOISE < 0.1 * found.rmse_before["position"]
        assert found.noise["orientation"] == pytest.approx(NOISE, rel=0.5)
        inside = [
            abs(error) < 4.0 * each.deviation
            for each, error in zip(found.parameters, machine.errors(found), strict=True)
            if each.seen
        ]
        assert np.mean(inside) > 0.95
    # 1.0 on average over many machines; the bound leaves five standard deviations of two
    assert np.sqrt(np.mean(np.square(ratios))) < 1.5


def test_frames_that_are_unknown_are_found(puma, rng):
    """Tracker and target anywhere: what is predicted is right, what they hide is named."""
    machine = Machine(puma, rng)
    seen = machine.seen(rng, BASE, TARGET)
    found = rd.calibrate(puma, rd.Measurements.from_arrays(puma, machine.joints, pose=seen))
    # an unknown tracker frame hides the first joint's zero, an unknown target the last's
    assert {"joint1.offset", "link1.d", "joint6.offset", "link6.d"} <= set(found.unseen)
    fresh = Machine(puma, rng)
    true = machine.geometry.place(machine.true, fresh.joints, fresh.placed.poses).poses
    ones = np.ones((len(true), 1))
    expected = composed(composed(ones * BASE, true), ones * TARGET)
    here = found.mechanism.body_pose(fresh.joints)
    predicted = composed(composed(ones * found.tracker, here), ones * found.target)
    apart = pose_difference(expected, predicted)
    assert np.sqrt((apart**2).mean()) < 1.5 * NOISE


def test_positions_alone_and_one_leg_alone(platform, rng):
    """A camera that sees a point; only the dimensions of the second leg may change."""
    machine = Machine(platform, rng, off=0.0)
    at = [each.name for each in machine.geometry.parameters].index("leg2.base.y")
    machine.true[at] += 3e-3
    poses = machine.geometry.place(machine.true, machine.joints, machine.placed.poses).poses
    points = composed(poses, np.tile(TARGET, (SAMPLES, 1)))[:, :3]
    points = points + NOISE * rng.normal(size=points.shape)
    samples = rd.Measurements.from_arrays(platform, machine.joints, position=points)
    found = rd.calibrate(platform, samples, tracker="known", parameters=["leg2."])
    row = found.parameters[at]
    assert row.change == pytest.approx(3e-3, abs=4.0 * row.deviation)
    assert row.deviation < 1e-3
    assert all(each.change == 0.0 for each in found.parameters if "leg2" not in each.name)
    np.testing.assert_allclose(found.target[:3], TARGET[:3], atol=2e-3)


def test_a_platform_calibrates_itself_with_its_universal_joints(platform, rng):
    """Readings of passive joints instead of a tracker; their zeros are unknown."""
    machine = Machine(platform, rng, samples=50)
    names = machine.geometry.passive_joints
    zeros = 0.01 * rng.normal(size=len(names))
    noisy = machine.placed.passive + zeros + 1e-5 * rng.normal(size=machine.placed.passive.shape)
    passive = dict(zip(names, noisy.T, strict=True))
    samples = rd.Measurements.from_arrays(platform, machine.joints, passive=passive)
    found = rd.calibrate(platform, samples)
    assert found.rmse_after["passive"] == pytest.approx(1e-5, rel=0.2)
    # the six freedoms of each of the two frames in which the joints' centers are stated
    assert len(found.unseen) == 12
    # how far the platform turns between poses does not depend on these frames
    fresh = Machine(platform, rng, samples=9)

    def turns(values):
        poses = machine.geometry.place(values, fresh.joints, fresh.placed.poses).poses
        return np.linalg.norm(pose_difference(poses[:-1], poses[1:])[:, 3:], axis=1)

    true = turns(machine.true)
    after = turns(np.array([each.after for each in found.parameters])) - true
    before = turns(nominal(machine.geometry)) - true
    assert np.linalg.norm(after) < 0.1 * np.linalg.norm(before)


def test_an_arm_whose_tool_stays_in_one_place(puma, rng):
    """No tracker: a ball in a socket, which does not show the scale of the arm."""
    machine = Machine(puma, rng)
    other, joints = machine.geometry.with_geometry(machine.true), []
    while len(joints) < SAMPLES:
        q = rng.uniform(-1.2, 1.2, 6) + np.array([0.0, -0.8, 0.5, 0.0, 0.9, 0.0])
        turn = other.body_pose(q)[3:]
        arm = Rotation.from_quat(turn).apply(TARGET[:3])
        goal = np.array([*([0.5, 0.15, 0.3] - arm), *turn])
        for _ in range(40):
            step = pose_difference(other.body_pose(q), goal)
            q = q + np.linalg.lstsq(other.jacobian(q), step, rcond=1e-3)[0]
        joints += [q] if np.abs(step).max() < 1e-12 and np.abs(q).max() < np.pi else []
    samples = rd.Measurements.from_arrays(puma, joints)
    found = rd.calibrate(puma, samples, constraint="point", target=TARGET, noise={"position": 1e-6})
    assert found.rmse_after["position"] < 1e-6 < 1e-4 < found.rmse_before["position"]
    assert "joint1.offset" in found.unseen
    assert (found.singular_values > 1000.0).sum() >= 8
    # the errors are those that the covariance allows, also where its ellipsoid is thin
    error = machine.errors(found)
    assert error @ np.linalg.solve(found.covariance, error) < 2.0 * len(error)


def test_gross_errors_do_not_spoil_a_robust_fit(puma, rng):
    machine = Machine(puma, rng)
    seen = machine.seen(rng)
    seen[[3, 17], :3] += 0.05
    samples = rd.Measurements.from_arrays(puma, machine.joints, pose=seen)
    known = {"tracker": "known", "target": "known"}
    robust = rd.calibrate(puma, samples, loss="cauchy", **known)
    plain = rd.calibrate(puma, samples, **known)
    assert efficiency(machine, robust) < 2.0 < efficiency(machine, plain)


def test_chosen_poses_are_better_than_random_ones(platform):
    chosen = rd.calibration_poses(platform, 12, candidates=60, tracker_known=True)
    assert chosen.joints.shape == (12, 6)
    low, high = platform.position_limits.T
    assert (chosen.joints > low).all()
    assert (chosen.joints < high).all()
    assert chosen.log_det > chosen.random_log_det + 5.0
    np.testing.assert_allclose(platform.joint_positions(chosen.poses), chosen.joints, atol=1e-12)


def test_tighter_tolerances_leave_less_to_measure(platform):
    """A parameter with a smaller prior deviation is known better before any measurement."""
    few = {"candidates": 20, "tracker_known": True}
    loose = rd.calibration_poses(platform, 8, tolerance=(0.01, 0.02), **few)
    tight = rd.calibration_poses(platform, 8, tolerance=(0.0001, 0.0002), **few)
    assert tight.log_det < loose.log_det
    command = ["calibrate", "stewart_symmetric", "--poses", "8", "--tolerance", "-1"]
    by_command = CliRunner().invoke(app, command)
    assert by_command.exit_code != 0
    assert "tolerance" in by_command.output + str(by_command.exception)


def test_the_command_reads_calibrates_and_saves(platform, rng, tmp_path):
    pytest.importorskip("bokeh", reason="the extra `report` is not installed")
    machine = Machine(platform, rng)
    samples = rd.Measurements.from_arrays(platform, machine.joints, pose=machine.seen(rng))
    samples.to_csv(tmp_path / "poses.csv", platform)
    output = tmp_path / "calibrated.yaml"
    run = CliRunner().invoke(
        app,
        ["calibrate", "stewart_symmetric", str(tmp_path / "poses.csv"), "--tracker", "known",
         "--target", "known", "--output", str(output), "--json",
         "--html", str(tmp_path / "page.html")],
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    reported = json.loads(run.stdout)
    assert reported["rmse_after"]["position"] < 1.4 * NOISE  # of 90 numbers: 5 standard deviations
    assert len(reported["parameters"]) == 54
    page = (tmp_path / "page.html").read_text()
    assert all(f">{name}</th>" in page for name in ("leg1.base.x", "leg6.offset"))
    better = rd.load(str(output))
    readings = platform.drives.signs * (machine.joints - platform.drives.offsets)
    lengths = better.drives.signs * readings + better.drives.offsets
    apart = pose_difference(better.assemble(lengths, machine.placed.poses), machine.placed.poses)
    assert np.abs(apart).max() < 4.0 * NOISE


def spoiled(samples, m, path, change):
    samples.to_csv(path, m)
    header, *rows = path.read_text().splitlines()
    table = np.array([[float(x) for x in row.split(",")] for row in rows])
    table, header = change(table, header)
    np.savetxt(path, table, "%.17g", ",", header=header, comments="")


def scaled(columns, factor):
    def change(table, header):
        table[:, columns] *= factor
        return table, header

    return change


WRONG = {
    "too few": (lambda t, h: (t[:4], h), "4 samples give 24 equations for 37 unknowns"),
    "at one place": (lambda t, h: (t[[0] * 12], h), "all 12 samples are at the same pose"),
    "in millimeters": (scaled(slice(6, 9), 1000.0), "tracker_unit='mm'"),
    "in degrees": (scaled(slice(0, 6), 180.0 / np.pi), "position_unit='deg'"),
    "other joints": (
        lambda t, h: (t, h.replace("joint2", "elbow")),
        "missing columns: joint2.position",
    ),
    "half a quaternion": (lambda t, h: (t, h.replace("qw", "w")), "missing columns: qw"),
    "no target": (
        lambda t, h: (t[:, :6], ",".join(h.split(",")[:6])),
        "only the driven joints were measured",
    ),
    "a hole": (lambda t, h: (np.where(t == t[5, 2], np.nan, t), h), "sample 6 has no number"),
    "no quaternions": (scaled(slice(9, 13), 2.0), "a quaternion"),
}


@pytest.mark.parametrize("case", WRONG)
def test_measurements_that_cannot_be_used_are_refused_in_one_line(case, puma, rng, tmp_path):
    change, reported = WRONG[case]
    machine = Machine(puma, rng, samples=12)
    samples = rd.Measurements.from_arrays(puma, machine.joints, pose=machine.seen(rng))
    spoiled(samples, puma, tmp_path / "poses.csv", change)
    with pytest.raises(InvalidInput) as refused:
        rd.calibrate(puma, tmp_path / "poses.csv")
    assert reported in str(refused.value)
    assert str(tmp_path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_first_frame_of_an_orientation_is_no_reflection():
    # three half turns, whose mean is a point reflection
    poses = np.hstack([np.zeros((3, 3)), np.eye(3), np.zeros((3, 1))])
    none = Frames(Frame.identity(), Frame.identity(), np.zeros(0))
    samples, free = rd.Measurements(np.zeros((3, 0))), Freedoms((), (), False)
    frames = first_frames("orientation", samples, poses, none, free)
    assert np.linalg.det(frames.base.rotation) == pytest.approx(1.0)
