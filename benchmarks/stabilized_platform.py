# SPDX-License-Identifier: Apache-2.0

"""A platform on a boat in a sea of 2 m, held still in the world frame by an IMU on the boat.

`python -m benchmarks.stabilized_platform [PEAK_PERIOD]`: what is left of the boat's motion.
The table of docs/machine.md. The sea has JONSWAP's spectrum (Hasselmann et al. 1973); the boat goes
with the water's surface in bow waves, less in short ones.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import robodyn as rd
from robodyn.motion_base.base.base_pose import BasePoseEstimator, ImuNoise
from robodyn.motion_base.machine.machine import Machine
from robodyn.motion_base.machine.stabilized import StabilizedSource
from robodyn.numerics import rotations_batch
from robodyn.poses import composed_pose

HEIGHT, GAMMA, GRAVITY = 2.0, 3.3, 9.81
HEADING, SHORT = np.radians(150.0), 1.8  # of the waves; [rad/s] above which the boat follows less
DT, DURATION, SETTLED, DELAY = 0.005, 240.0, 100.0, 2  # [s]; of the IMU, in samples
AXES = ("surge", "sway", "heave", "roll", "pitch", "yaw")
# By their data sheets: densities, biases that wander.
IMUS = {
    "17 ug, 0.002 deg/s per sqrt(Hz)": ImuNoise(1.7e-4, 3.5e-5, 3.1e-5, 3.9e-6),
    "60 ug, 0.007 deg/s per sqrt(Hz)": ImuNoise(5.9e-4, 1.2e-4, 1.5e-4, 3.9e-5),
}


def jonswap(w: np.ndarray, peak_period: float) -> np.ndarray:
    """Density [m^2 s] at angular frequencies."""
    peak = 2.0 * np.pi / peak_period
    width = np.where(w < peak, 0.07, 0.09)
    hump = GAMMA ** np.exp(-(((w - peak) / (width * peak)) ** 2) / 2.0)
    density = w**-5.0 * np.exp(-1.25 * (peak / w) ** 4) * hump
    return density * (HEIGHT / 4.0) ** 2 / np.trapezoid(density, w)


def boat(peak_period: float, times: np.ndarray, rng: np.random.Generator) -> tuple:
    """Pose, twist and accel (K, ...) of a boat about its mean place, and its six numbers (K, 6)."""
    w = np.linspace(0.25, 4.0, 400)
    w = w + rng.uniform(-0.5, 0.5, len(w)) * (w[1] - w[0])
    waves = np.sqrt(2.0 * jonswap(w, peak_period) * np.gradient(w)) / (1.0 + (w / SHORT) ** 4)
    waves = waves * np.exp(1j * rng.uniform(0.0, 2.0 * np.pi, len(w)))
    along, across, slope = np.cos(HEADING), np.sin(HEADING), 1j * w**2 / GRAVITY
    fractions = [1j * along + 0.0 * w, 1j * across + 0.0 * w, 1.0 + 0.0 * w,
              1.5 * across * slope, -along * slope, 0.3 * slope]  # fmt: skip
    moved = np.empty((3, len(times), 6))
    for part in np.array_split(np.arange(len(times)), 1 + len(times) // 2000):
        each = np.exp(1j * np.outer(times[part], w))
        for axis, fraction in enumerate(fractions):
            for k in range(3):
                moved[k, part, axis] = (each @ (waves * fraction * (1j * w) ** k)).real
    omega, alpha = np.empty((2, len(times), 3))
    rotations_batch.angular_motions(*np.ascontiguousarray(moved[:, :, 3:]), omega, alpha)
    pose = rd.pose_from_rpy(moved[0, :, :3], moved[0, :, 3:])
    twist, accel = np.hstack([moved[1, :, :3], omega]), np.hstack([moved[2, :, :3], alpha])
    return pose, twist, accel, moved[0]


def imu(motion: tuple, noise: ImuNoise, rng: np.random.Generator) -> np.ndarray:
    """(K, 6) specific force and angular velocity as the IMU reports them."""
    reported = rd.BaseMotion.of(*motion).rows[:, :6].copy()
    for k, white, bias in (
        (0, noise.accelerometer, noise.accelerometer_bias),
        (3, noise.gyroscope, noise.gyroscope_bias),
    ):
        shape = len(reported), 3
        reported[:, k : k + 3] += rng.normal(0.0, white / np.sqrt(2.0 * DT), shape)
        wander = np.cumsum(rng.normal(0.0, bias * np.sqrt(DT / 100.0), shape), axis=0)
        reported[:, k : k + 3] += wander + rng.normal(0.0, 10.0 * bias, 3)
    return reported


def large_hexapod() -> rd.StewartPlatform:
    """One whose legs have a stroke of 4 m, as gangways and cranes are carried by."""
    turn = np.radians([-10.0, 10.0, 110.0, 130.0, 230.0, 250.0])
    top = np.radians([-50.0, 50.0, 70.0, 170.0, 190.0, 290.0])
    text = (
        "type: stewart\nname: large_hexapod\n"
        "platform: {mass: 3000.0, com: [0, 0, 0],"
        " inertia: [[4000, 0, 0], [0, 4000, 0], [0, 0, 7000]]}\n"
        "leg_defaults:\n"
        "  lower: {mass: 200.0, com: [1, 0, 0], inertia: [[5, 0, 0], [0, 99, 0], [0, 0, 99]]}\n"
        "  upper: {mass: 100.0, com: [-1, 0, 0], inertia: [[2, 0, 0], [0, 49, 0], [0, 0, 49]]}\n"
        "  limits: {length: [4.0, 8.0], velocity: 4.0, effort: 100000.0}\n"
        "home: {xyz: [0, 0, 5.0]}\nlegs:\n"
    )
    for a, b in zip(turn, top, strict=True):
        base, platform = 4.0 * np.cos(a), 3.0 * np.cos(b)
        text += (
            f"  - {{base: [{base}, {4.0 * np.sin(a)}, 0],"
            f" platform: [{platform}, {3.0 * np.sin(b)}, 0], universal_axis: [1, 0, 0]}}\n"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "large_hexapod.yaml")
        file.write_text(text)
        return rd.load(file)


def held(peak_period: float, noise: ImuNoise) -> tuple[np.ndarray, np.ndarray]:
    """(6,) standard deviations of the boat's motion, and of the platform's in the world."""
    rng = np.random.default_rng(1)
    times = np.arange(0.0, DURATION, DT)
    *motion, moved = boat(peak_period, times, rng)
    reported, m, tick = imu(motion, noise, rng), large_hexapod(), round(DT * 1e9)
    estimator = BasePoseEstimator(noise)
    machine = Machine(m, DT, homing="assumed", enable_timeout=0.0, ease=1.0)
    machine.request("power_on")
    machine.stabilized = StabilizedSource(machine.commander, estimator)
    left = np.zeros((0, 6))
    for k in range(len(times)):
        if k >= DELAY:
            sample = reported[k - DELAY]
            estimator.step((k - DELAY) * tick, rd.BaseMotion(sample[:3], sample[3:]))
        machine.step(k * tick)
        if machine.state == "parked" and estimator.is_settled:
            machine.request("engage")
        if times[k] > SETTLED:
            there = composed_pose(motion[0][k], machine.commander.configuration)
            left = np.vstack([left, np.append(there[:3] - m.home[:3], rd.rpy_from_pose(there)[1])])
    assert machine.state == "engaged", (machine.state, machine.reason)
    return moved[times > SETTLED].std(axis=0), left.std(axis=0)


if __name__ == "__main__":
    period = float(sys.argv[1]) if len(sys.argv) > 1 else 8.0
    for name, noise in IMUS.items():
        moved, left = held(period, noise)
        sys.stdout.write(f"{name}, sea of {HEIGHT:g} m and {period:g} s\n")
        for axis, all_, rest, unit in zip(AXES, moved, left, 3 * ["m"] + 3 * ["rad"], strict=True):
            fraction = f"{100.0 * rest / all_:.2f} %"
            sys.stdout.write(f"{axis:6} {all_:.3f} {unit:3} {rest:.5f} {unit:3} {fraction:>8}\n")
