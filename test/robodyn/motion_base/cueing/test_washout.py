# SPDX-License-Identifier: Apache-2.0

"""The washout's motion is that of its filters, and lets be felt what it is to let be felt."""

from importlib import resources

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.poses import rotation_matrix, rpy_of_rotation

pytestmark = pytest.mark.slow

# of the objective motion cueing test (ICAO 9625) [rad/s]
FREQUENCIES = 10.0 ** np.linspace(-1.0, 1.2, 12)
REST = np.array([0.0, 0.0, 9.81])
PARAMETERS = rd.WashoutParameters(
    force_gain=(0.5, 0.6, 0.4), rotation_gain=(0.7, 0.5, 0.8), force_highpass=(2.0, 2.5, 4.0),
    force_highpass_damping=(1.0, 0.8, 1.2), force_washout=(1.0, 1.1, 1.2),
    tilt_lowpass=(2.0, 3.0, 1.0), tilt_lowpass_damping=0.9, rotation_highpass=(1.1, 1.0, 1.2),
)  # fmt: skip


@pytest.fixture(scope="module")
def platform():
    return rd.load("stewart_symmetric")


def flown(washout, forces, turns):
    """Cues (k, 7), (k, 6), (k, 6) of specific forces beside gravity and of angular velocities."""
    cues = [washout.step(REST + f, w) for f, w in zip(forces, turns, strict=True)]
    return tuple(np.array(each) for each in zip(*cues, strict=True))


def displacements(washout, poses, head):
    """Positions (k, 3) of the head and roll, pitch, yaw (k, 3) from neutral, in its axes."""
    axes, turned = rotation_matrix(washout.neutral), rotation_matrix(poses)
    angles = [rpy_of_rotation(axes.T @ R) for R in turned]
    return (poses[:, :3] - washout.neutral[:3] + (turned - axes) @ head) @ axes, np.array(angles)


def analytic():
    """(12, 6, 6) from forces and angular velocities to the head's positions and to the angles."""
    s, of = 1j * FREQUENCIES[:, None], PARAMETERS.of_axes
    w, z, b = of("force_highpass"), of("force_highpass_damping"), of("force_washout")
    low, damping = of("tilt_lowpass"), of("tilt_lowpass_damping")
    fraction = low**2 / (s**2 + 2.0 * damping * low * s + low**2)
    H = np.zeros((12, 6, 6), complex)
    gain, axis = of("force_gain"), np.arange(3)
    H[:, axis, axis] = gain * s / ((s**2 + 2.0 * z * w * s + w**2) * (s + b))
    # a force forward lifts the nose, one to the left the left side; the numbers are the angles' own
    H[:, 4, 0] = -gain[0] / 9.81 * fraction[:, 1]
    H[:, 3, 1] = gain[1] / 9.81 * fraction[:, 0]
    H[:, 3 + axis, 3 + axis] = of("rotation_gain") / (s + of("rotation_highpass"))
    return H


@pytest.mark.parametrize(
    ("dt", "gain", "degrees", "limited"), [(0.01, 6e-3, 0.6, True), (1e-3, 1e-3, 0.1, False)]
)
def test_every_channel_responds_as_its_filters(platform, dt, gain, degrees, limited):
    """By the transform of what follows a pulse: that of samples of a lasting sine.

    No gain is that of another axis, and the head is beside the platform's reference point.
    """
    times, size = np.arange(0.0, 11.0, dt), 1e-4
    transform = np.exp(-1j * np.outer(FREQUENCIES, times))
    head, found = np.array([0.2, -0.1, 0.9]), np.zeros((12, 6, 6), complex)
    expected = analytic()
    # forces move and tilt, one axis by other coordinates than another; so do rates
    for inputs in ([0, 1, 2], [3, 4, 5]):
        washout = rd.ClassicalWashout(platform, dt, PARAMETERS, head, limited=limited)
        given = np.zeros((len(times), 6))
        given[0, inputs] = size
        poses, _, _ = flown(washout, given[:, :3], given[:, 3:])
        response = transform @ np.hstack(displacements(washout, poses, head)) / size
        for channel in inputs:
            rows = np.flatnonzero(expected[0, :, channel])
            found[:, rows, channel] = response[:, rows]
        untouched = ~expected[0][:, inputs].any(axis=1)
        assert np.abs(response[:, untouched]).max(initial=0.0) < 1e-3
    some = expected != 0.0
    assert some[0].sum() == 8
    ratio = found[some] / expected[some]
    np.testing.assert_allclose(np.abs(ratio), 1.0, rtol=0, atol=gain)
    np.testing.assert_allclose(np.angle(ratio, deg=True), 0.0, atol=degrees)


def test_a_lasting_force_is_felt_by_tilt_and_nothing_else(platform):
    washout = rd.ClassicalWashout(platform, 0.02, rd.WashoutParameters.preset("driving"))
    force = np.array([2.0, -1.0, 0.0])
    poses, twists, _ = flown(washout, np.tile(force, (3000, 1)), np.zeros((3000, 3)))
    axes = rotation_matrix(washout.neutral).T @ rotation_matrix(poses[-1])
    np.testing.assert_allclose((axes.T @ REST)[:2], 0.5 * force[:2], atol=1e-9)
    np.testing.assert_allclose(twists[-1], 0.0, atol=1e-4)
    assert np.linalg.norm(twists[:, 3:], axis=1).max() < 1.5 * 0.06
    # and at rest it returns
    poses, _, _ = flown(washout, np.zeros((4500, 3)), np.zeros((4500, 3)))
    np.testing.assert_allclose(poses[-1], washout.neutral, atol=1e-6)


def test_rates_and_accelerations_are_those_of_the_pose(platform, rng):
    """With a head above the platform, at full scale, tilt at the limit of its rate or not."""
    dt, count = 1e-3, 2000
    washout = rd.ClassicalWashout(platform, dt, PARAMETERS, head=[0.2, 0.1, 1.1], limited=False)
    corners = rng.uniform(-1.0, 1.0, (6, 11))
    at = np.linspace(0.0, 10.0, count)
    inputs = np.array([np.interp(at, np.arange(11), row) for row in corners]).T
    poses, twists, accels = flown(washout, 8.0 * inputs[:, :3], inputs[:, 3:])
    between = np.array(
        [platform.difference(a, b) for a, b in zip(poses[:-2], poses[2:], strict=True)]
    )
    np.testing.assert_allclose(between / (2.0 * dt), twists[1:-1], atol=2e-2)
    assert np.median(np.abs(between / (2.0 * dt) - twists[1:-1])) < 1e-5
    changes = (twists[2:] - twists[:-2]) / (2.0 * dt)
    # of piecewise linear inputs the acceleration has corners, and the cut rate of tilt steps
    assert np.quantile(np.abs(changes - accels[1:-1]), 0.95) < 1e-2


def test_the_head_stays_where_the_platform_turns_about_it(platform):
    head = np.array([0.3, 0.0, 1.2])
    washout = rd.ClassicalWashout(platform, 0.01, head=head)
    poses, _, _ = flown(washout, np.zeros((200, 3)), np.tile([0.3, -0.2, 0.1], (200, 1)))
    heads = poses[:, :3] + rotation_matrix(poses) @ head
    np.testing.assert_allclose(heads, heads[0] * np.ones((200, 1)), atol=1e-12)
    assert np.ptp(poses[:, :3], axis=0).max() > 0.05


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"force_gain": -0.1}, "must not be negative"),
        ({"tilt_rate": 0.0}, "must be positive"),
        ({"tilt_lowpass": [1.0, 2.0]}, "tilt_lowpass has shape"),
        ({"force_washout": np.nan}, "force_washout"),
    ],
)
def test_parameters_that_no_filter_has(given, message):
    with pytest.raises(rd.InvalidInput, match=message):
        rd.WashoutParameters(**given)


@pytest.mark.parametrize("name", ["hexapod_rotary", "delta"])
def test_at_rest_a_body_stays_where_it_is(name):
    """The z axis of the delta's points down."""
    washout = rd.ClassicalWashout(rd.load(name), 0.01)
    assert washout.step(REST, np.zeros(3)).pose == pytest.approx(washout.neutral, abs=1e-9)


def test_washout_refuses_a_body_on_its_side():
    tilted = described("stewart_symmetric", 0.5 * np.pi)
    with pytest.raises(rd.InvalidInput, match="its body points neither up nor down"):
        rd.ClassicalWashout(tilted, 0.01)


def described(name, roll):
    """The same mechanism with the frame of its platform turned about x by `roll`."""
    R = Rotation.from_rotvec([roll, 0.0, 0.0])
    text = yaml.safe_load((resources.files("robodyn") / "bundled" / f"{name}.yaml").read_text())
    text["home"]["rpy"] = [float(roll), 0.0, 0.0]
    for part, key in [(text["platform"], "com"), *((leg, "platform") for leg in text["legs"])]:
        part[key] = R.inv().apply(part[key]).tolist()
    inertia = np.array(text["platform"]["inertia"])
    text["platform"]["inertia"] = (R.as_matrix().T @ inertia @ R.as_matrix()).tolist()
    return rd.load(text)


@pytest.mark.slow
@pytest.mark.parametrize("predicts", [False, True])
def test_a_frame_with_z_down_changes_no_motion(predicts, rng):
    """The head, the vehicle and the legs move alike, whichever way the platform's frame points."""
    time = np.arange(0.0, 3.0, 0.05)
    force, rate = rng.normal(size=(2, 2, 3)) * np.array([[2.0], [0.2]])[:, :, None]
    phase = np.sin(2.0 * time)[:, None], np.cos(3.0 * time)[:, None]
    felt = rd.VehicleMotion(
        time, REST + phase[0] * force[0] + phase[1] * force[1], phase[0] * rate[0]
    )
    settings = rd.PredictiveParameters() if predicts else rd.WashoutParameters()
    rides = [
        rd.ride(described("stewart_symmetric", roll), felt, settings, head=head, dt=0.02)
        for roll, head in ((0.0, [0.1, 0.2, 0.9]), (np.pi, [0.1, -0.2, -0.9]))
    ]
    up, down = rides
    assert np.ptp(up.joint_positions, axis=0).max() > 0.05
    for name in ("joint_positions", "felt_force", "felt_rate", "twist", "accel"):
        np.testing.assert_allclose(getattr(down, name), getattr(up, name), atol=1e-4)
    assert down.felt_force[0, 2] > 0.0


def test_washout_is_unchanged_by_rejected_input(platform):
    with pytest.raises(
        rd.InvalidInput, match="unknown washout preset 'ship', expected one of driving"
    ):
        rd.WashoutParameters.preset("ship")
    with pytest.raises(rd.InvalidInput, match="dt"):
        rd.ClassicalWashout(platform, 0.0)
    spared, other = (rd.ClassicalWashout(platform, 0.01) for _ in range(2))
    for bad in ([np.nan, 0.0, 9.81], [0.0, 9.81]):
        with pytest.raises(rd.InvalidInput, match="specific_force"):
            spared.step(bad, np.zeros(3))
    given = [1.0, 0.0, 9.0], [0.1, 0.2, 0.3]
    for ours, theirs in zip(spared.step(*given), other.step(*given), strict=True):
        np.testing.assert_array_equal(ours, theirs)
