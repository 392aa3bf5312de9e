# SPDX-License-Identifier: Apache-2.0

"""Cueing of rigs with one to five freedoms: the filters in the axes that exist, limits, joints."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import motions
from robodyn.loading import templates
from robodyn.motion_base.machine import DriveLimits
from robodyn.poses import pose_difference

pytestmark = pytest.mark.slow

REST = np.array([0.0, 0.0, 9.81])
DT = 0.02
RIGS = {
    "heave-pitch-roll": ("heave", "roll", "pitch"),
    "four-corners": ("heave", "roll", "pitch"),
    "pitch-roll-seat": ("roll", "pitch"),
    "traction-loss": ("yaw",),
    "seat-mover": ("surge",),
}
AXES = ("surge", "sway", "heave", "roll", "pitch", "yaw")
VIOLENT = rd.WashoutParameters(
    force_gain=1.0, rotation_gain=1.0, tilt_rate=0.3, force_highpass=1.0, force_washout=0.5
)


@pytest.fixture(scope="module")
def rigs(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("rigs"), {}
    for name in RIGS:
        file = folder / f"{name}.yaml"
        file.write_text(templates()[name][1].write(name, file.name))
        made[name] = rd.load(file, strict=True)
    return made


@pytest.fixture(params=RIGS)
def rig(request, rigs):
    return rigs[request.param]


def test_axes_are_found_and_the_missing_ones_are_named(rig):
    washout = rd.ClassicalWashout(rig, DT)
    assert washout.axes == RIGS[rig.name] == rd.PredictiveCueing(rig, DT).axes
    tilts = {"surge": "pitch", "sway": "roll"}
    for axis in set(AXES) - set(washout.axes):
        assert axis in washout.text
        assert (f"without {axis}" in washout.text) <= (tilts.get(axis) not in washout.axes)


def test_small_inputs_follow_the_formula_in_the_axes_that_exist(rig):
    """By the transform of the answer to a pulse, in place axes at the reference point."""
    dt, size, w = 0.005, 1e-4, 10.0 ** np.linspace(-0.5, 1.0, 4)
    times = np.arange(0.0, 30.0, dt)
    transform, s = np.exp(-1j * np.outer(w, times)), 1j * w
    washout = rd.ClassicalWashout(rig, dt)
    tilt, translation = 2.5**2 / (s + 2.5) ** 2, s / (s + 2.5) ** 2 / (s + 0.25)
    expected = {
        "surge": 0.5 * translation, "heave": 0.5 * translation, "roll": 0.5 * tilt / 9.81,
        "pitch": -0.5 * tilt / 9.81, "yaw": 0.5 / (s + 0.5),
    }  # fmt: skip
    poses = []
    for k in range(len(times)):
        pulse = size * (k == 0)
        turn = np.array([0.0, 0.0, pulse])
        poses.append(washout.step(REST + pulse, turn).pose)
    moved = pose_difference(np.tile(washout.neutral, (len(poses), 1)), np.array(poses)) / size
    response = transform @ moved
    for axis in washout.axes:
        ratio = response[:, AXES.index(axis)] / expected[axis]
        # half a sample is the width of the triangle that the pulse is: its size is the filters'
        np.testing.assert_allclose(np.abs(ratio), 1.0, atol=1e-3)
        np.testing.assert_allclose(np.angle(ratio, deg=True), 0.0, atol=0.1)


@pytest.mark.parametrize("predicts", [False, True])
def test_no_limit_is_broken_and_what_is_returned_is_taken(rig, predicts, rng):
    head = [0.1, 0.0, 0.7]
    cueing = (
        rd.PredictiveCueing(rig, DT, head=head)
        if predicts
        else rd.ClassicalWashout(rig, DT, VIOLENT, head)
    )
    corners = np.cumsum(rng.integers(2, 100, 250))
    values = rng.uniform(-1.0, 1.0, (250, 6)) * ([10.0] * 3 + [1.0] * 3)
    rows, q, limits = [], rig.home, DriveLimits.of(rig)
    for given in values[np.searchsorted(corners, np.arange(250), side="right")]:
        cue = cueing.step(REST + given[:3], given[3:])
        joints = cueing.joints
        motion = motions.motion_of_joints(rig, *joints, q)
        q = motion.configuration
        np.testing.assert_allclose(rig.body_pose(q), cue.pose, atol=1e-6)
        np.testing.assert_allclose(rig.twist_jacobian(q) @ motion.velocity, cue.twist, atol=1e-6)
        rows.append(
            (*joints, rig.inverse_dynamics(*motion), rig.drives.effort_limits_at(joints[1]))
        )
    p, v, a, efforts, strength = (np.array(each) for each in zip(*rows, strict=True))
    assert ((p >= limits.positions[:, 0]) & (p <= limits.positions[:, 1])).all()
    assert (np.abs(v) <= limits.rates).all()
    assert (np.abs(a) <= limits.accelerations * (1.0 + 1e-9)).all()
    assert (np.abs(efforts) <= strength * (1.0 + 1e-9)).all()
    assert np.ptp(p, axis=0).max() > 0.02
    np.testing.assert_allclose(np.diff(p, axis=0), 0.5 * DT * (v[1:] + v[:-1]), atol=2e-3)
