# SPDX-License-Identifier: Apache-2.0

"""A recorded ride on a platform: what it would do, and what would be felt."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.checks import as_array, as_exact
from robodyn.errors import InvalidInput
from robodyn.formats.bags import write_bag
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.motion_base.head_motion import Cue, felt_at
from robodyn.motion_base.parameters import PredictiveParameters, WashoutParameters
from robodyn.motion_base.perception import CANALS, OTOLITHS
from robodyn.motion_base.predictive import PredictiveCueing
from robodyn.motion_base.vehicle import VehicleMotion
from robodyn.motion_base.washout import ClassicalWashout
from robodyn.poses import twist_in_body
from robodyn.trajectories.sampled import MAX_KNOTS, SampledTrajectory

# What is felt the wrong way round, and by more than people notice [m/s^2].
NOTICED = 0.17
# Progress is told this often.
PARTS = 100


@dataclass(frozen=True)
class Ride:
    """What a platform does for a vehicle's motion, and what is felt on it, in the head's axes.

    Attributes:
        mechanism: the platform.
        time: (K,) [s] from the ride's beginning.
        pose: (K, 7) of the platform, base frame.
        twist: (K, 6) [m/s, rad/s] of it.
        accel: (K, 6) [m/s^2, rad/s^2] of it.
        wanted_force: (K, 3) [m/s^2] specific force in the vehicle.
        felt_force: (K, 3) [m/s^2] specific force on the platform.
        wanted_rate: (K, 3) [rad/s] angular velocity of the vehicle.
        felt_rate: (K, 3) [rad/s] angular velocity on the platform.
    """

    mechanism: Mechanism
    time: FloatArray
    pose: FloatArray
    twist: FloatArray
    accel: FloatArray
    wanted_force: FloatArray
    felt_force: FloatArray
    wanted_rate: FloatArray
    felt_rate: FloatArray

    @cached_property
    def trajectory(self) -> SampledTrajectory:
        """The platform's motion, to be followed or examined.

        Raises:
            KinematicsError: the mechanism cannot take its body there.
        """
        states = self.time, self.pose, self.twist, self.accel
        motion = self.mechanism.motion_of_body(*states, self.mechanism.home)
        return SampledTrajectory(self.mechanism, self.time, motion, of_body=True)

    @cached_property
    def joint_positions(self) -> FloatArray:
        """(K, n) of the driven joints [m or rad]."""
        return self.mechanism.joint_positions(self.trajectory.sample(self.time).configuration)

    @property
    def force_error(self) -> FloatArray:
        """(3,) [m/s^2] root of the mean square of felt less wanted force."""
        return _rms(self.felt_force - self.wanted_force)

    @property
    def rate_error(self) -> FloatArray:
        """(3,) [rad/s] likewise, of the angular velocity."""
        return _rms(self.felt_rate - self.wanted_rate)

    @property
    def perceived_force_error(self) -> FloatArray:
        """(3,) [m/s^2] root of the mean square of what the otoliths perceive of the difference."""
        return _rms(OTOLITHS.perceived(self.felt_force - self.wanted_force, self.time[1]))

    @property
    def perceived_rate_error(self) -> FloatArray:
        """(3,) [rad/s] likewise, of what the semicircular canals perceive."""
        return _rms(CANALS.perceived(self.felt_rate - self.wanted_rate, self.time[1]))

    @property
    def workspace_used(self) -> FloatArray:
        """(n,) share of each driven joint's range that the ride takes."""
        room = np.ptp(self.mechanism.position_limits, axis=1)
        return np.asarray(np.ptp(self.joint_positions, axis=0) / room)

    @property
    def force_correlation(self) -> FloatArray:
        """(3,) correlation of felt and wanted force, whatever their scale; NaN where one rests."""
        return _correlation(self.wanted_force, self.felt_force)

    @property
    def false_cues(self) -> float:
        """Share of the time at which a horizontal force is felt in the wrong sense."""
        wanted, felt = self.wanted_force[:, :2], self.felt_force[:, :2]
        opposite = (np.sign(wanted) != np.sign(felt)) & (np.abs(felt) > NOTICED)
        return float((opposite & (np.abs(wanted) > NOTICED)).any(axis=1).mean())

    def save_bag(self, folder: str | os.PathLike[str]) -> None:
        """Write it as a bag: `platform_setpoint`, `vehicle/imu` and `felt_imu`.

        Raises:
            MissingExtra: rosbags is not installed.
            OutputError: the folder cannot be written.
        """
        base, body = self.mechanism.frames
        twists = twist_in_body(self.pose, self.twist)

        def messages(types: dict[str, Any]) -> Iterator[tuple[str, int, Any]]:
            def make(kind: str, *values: Any) -> Any:
                return types[kind](*values)

            def vector(values: FloatArray) -> Any:
                return make("geometry_msgs/msg/Vector3", *values.tolist())

            unknown, nine = np.zeros(36), np.zeros(9)
            level = make("geometry_msgs/msg/Quaternion", 0.0, 0.0, 0.0, 1.0)
            # no orientation, says REP-145
            none = np.r_[-1.0, np.zeros(8)]
            for k, time in enumerate(np.round(self.time * 1e9).astype(int).tolist()):
                stamp = make("builtin_interfaces/msg/Time", *divmod(time, 1_000_000_000))

                def header(frame: str, stamp: Any = stamp) -> Any:
                    return make("std_msgs/msg/Header", stamp, frame)

                x, q = np.split(self.pose[k], [3])
                pose = make(
                    "geometry_msgs/msg/Pose",
                    make("geometry_msgs/msg/Point", *x.tolist()),
                    make("geometry_msgs/msg/Quaternion", *q.tolist()),
                )
                twist = make("geometry_msgs/msg/Twist", *map(vector, np.split(twists[k], 2)))
                with_pose = make("geometry_msgs/msg/PoseWithCovariance", pose, unknown)
                with_twist = make("geometry_msgs/msg/TwistWithCovariance", twist, unknown)
                odometry = "nav_msgs/msg/Odometry"
                setpoint = make(odometry, header(base), body, with_pose, with_twist)
                yield "/platform_setpoint", time, setpoint
                for topic, frame, force, rate in (
                    ("/vehicle/imu", "vehicle", self.wanted_force[k], self.wanted_rate[k]),
                    ("/felt_imu", body, self.felt_force[k], self.felt_rate[k]),
                ):
                    values = (level, none, vector(rate), nine, vector(force), nine)
                    yield topic, time, make("sensor_msgs/msg/Imu", header(frame), *values)

        write_bag(Path(folder), messages)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write it as CSV: time, the platform's motion, wanted and felt force and rate."""
        parts = {
            "": self.time[:, None], "pose_": self.pose, "twist_": self.twist, "accel_": self.accel,
            "wanted_force_": self.wanted_force, "felt_force_": self.felt_force,
            "wanted_rate_": self.wanted_rate, "felt_rate_": self.felt_rate,
        }  # fmt: skip
        axes = {1: ("time",), 3: "xyz", 6: ("vx", "vy", "vz", "wx", "wy", "wz")}
        axes[7] = ("x", "y", "z", "qx", "qy", "qz", "qw")
        names = [head + axis for head, values in parts.items() for axis in axes[values.shape[1]]]
        table = np.hstack(list(parts.values()))
        np.savetxt(file, table, "%.9g", delimiter=",", header=",".join(names), comments="")


def ride(
    mechanism: Mechanism,
    vehicle: VehicleMotion,
    parameters: WashoutParameters | PredictiveParameters | None = None,
    *,
    head: ArrayLike | None = None,
    dt: float = 0.01,
    progress: Callable[[float], None] | None = None,
) -> Ride:
    """Take a platform through a vehicle's motion, within the limits of its joints.

    Args:
        mechanism: the platform.
        vehicle: its motion; between samples it runs in straight lines.
        parameters: of `ClassicalWashout`, by default its own, or of `PredictiveCueing`.
        head: (3,) [m] of the driver's head in the platform's frame; its origin by default.
        dt: [s] between steps.
        progress: called with the share that is done.

    Raises:
        InvalidInput: a motion of wrong shapes, not finite or with times that do not increase.
    """
    time = as_array("time", vehicle.time, (), "s")
    if time.ndim != 1 or len(time) < 2 or (np.diff(time) <= 0.0).any():
        raise InvalidInput(
            "the times of a vehicle's motion must increase, two or more", value=vehicle.time
        )
    seat = np.zeros(3) if head is None else as_exact("head", head, (3,), "m")
    force = as_exact("force", vehicle.force, (len(time), 3), "m/s^2")
    rate = as_exact("rate", vehicle.rate, (len(time), 3), "rad/s")
    cueing: ClassicalWashout | PredictiveCueing
    if isinstance(parameters, PredictiveParameters):
        cueing = PredictiveCueing(mechanism, dt, parameters, seat)
    else:
        cueing = ClassicalWashout(mechanism, dt, parameters, seat)
    count = int((time[-1] - time[0]) / cueing.dt * (1.0 + 1e-12)) + 1
    if count > MAX_KNOTS:
        raise InvalidInput(f"{count} steps of {dt} s are more than {MAX_KNOTS}: take a longer dt")
    times: FloatArray = np.arange(count, dtype=np.float64) * cueing.dt
    wanted = [
        np.column_stack([np.interp(times, time - time[0], column) for column in values.T])
        for values in (force, rate)
    ]
    rows = []
    for k in range(count):
        if progress is not None and k % (count // PARTS + 1) == 0:
            progress(k / count)
        rows.append(cueing.step(wanted[0][k], wanted[1][k]))
    pose, twist, accel = (np.array(each) for each in zip(*rows, strict=True))
    felt, turned = felt_at(seat, Cue(pose, twist, accel))
    forces, rates = (np.asarray(each, dtype=np.float64) for each in wanted)
    return Ride(mechanism, times, pose, twist, accel, forces, felt, rates, turned)


def _correlation(one: FloatArray, other: FloatArray) -> FloatArray:
    a, b = one - one.mean(axis=0), other - other.mean(axis=0)
    size = np.sqrt(np.square(a).sum(axis=0) * np.square(b).sum(axis=0))
    rests = size < 1e-12
    return np.where(rests, np.nan, (a * b).sum(axis=0) / np.where(rests, 1.0, size))


def _rms(values: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.square(values).mean(axis=0)))
