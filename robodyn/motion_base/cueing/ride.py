# SPDX-License-Identifier: Apache-2.0

"""A recorded ride on a platform: the platform's motion, and the forces felt."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.algorithms import motions
from robodyn.algorithms.motion import JointStates
from robodyn.analysis.limits import check_limits
from robodyn.arrays import ArrayLike, FloatArray, short_repr
from robodyn.checks import as_array, as_exact
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.formats.bags import write_bag
from robodyn.formats.output_file import atomic_write
from robodyn.loading.robot_description import exported_urdf
from robodyn.mechanism.mechanism import Mechanism
from robodyn.motion_base.cueing.parameters import PredictiveParameters, WashoutParameters
from robodyn.motion_base.cueing.perception import CANALS, OTOLITHS
from robodyn.motion_base.cueing.predictive import PredictiveCueing
from robodyn.motion_base.cueing.vehicle import VehicleMotion
from robodyn.motion_base.cueing.washout import ClassicalWashout
from robodyn.motion_base.machine.head_motion import REST, Cue
from robodyn.poses import pose_from_matrix, twist_in_body
from robodyn.presentation import presentation
from robodyn.presentation.figure import frame_in_parent
from robodyn.trajectories.sampled import MAX_KNOTS, SampledTrajectory

# Threshold [m/s^2] of a noticeable force in the wrong direction.
NOTICED = 0.17
# Root mean square [m/s^2] of a force along an axis below which it counts as zero.
RESTS = 1e-6
# Time [s] between transforms in a bag.
TRANSFORMS = 0.02
# Number of progress reports.
PARTS = 100


@dataclass(frozen=True)
class Ride:
    """Result of a ride: motion of a platform, with forces and rates felt at the head.

    Attributes:
        mechanism: mechanism that moves the platform.
        time: (K,) [s] from the start of the ride.
        pose: (K, 7) of the platform, base frame.
        twist: (K, 6) [m/s, rad/s] of the platform, base frame.
        accel: (K, 6) [m/s^2, rad/s^2] of the platform, base frame.
        vehicle_force: (K, 3) [m/s^2] specific force at the head in the vehicle, vehicle axes.
        felt_force: (K, 3) [m/s^2] specific force at the head on the platform, axes of the head.
        vehicle_rate: (K, 3) [rad/s] angular velocity of the vehicle, vehicle axes.
        felt_rate: (K, 3) [rad/s] angular velocity on the platform, axes of the head.
        axes: description of the reproduced axes, see `HeadMotion.text`.
    """

    mechanism: Mechanism
    time: FloatArray
    pose: FloatArray
    twist: FloatArray
    accel: FloatArray
    vehicle_force: FloatArray
    felt_force: FloatArray
    vehicle_rate: FloatArray
    felt_rate: FloatArray
    axes: str

    __repr__ = short_repr

    @cached_property
    def trajectory(self) -> SampledTrajectory:
        """Trajectory of the mechanism during the ride.

        Raises:
            KinematicsError: the mechanism cannot reach a pose.
        """
        states = self.time, self.pose, self.twist, self.accel
        motion = motions.motion_of_body(self.mechanism, *states, self.mechanism.home)
        return SampledTrajectory(self.mechanism, self.time, motion, of_body=True)

    @cached_property
    def problem(self) -> str:
        """Limit that the motion exceeds, or pose that is not reached; empty if there is none."""
        try:
            violation = check_limits(self.mechanism, self.trajectory, dt=float(self.time[1]))
        except KinematicsError as error:
            return str(error)
        return "" if violation is None else violation.text

    @cached_property
    def joint_positions(self) -> FloatArray:
        """Positions (K, n) of the driven joints [m or rad]."""
        return self.mechanism.joint_positions(self.trajectory.sample(self.time).configuration)

    @property
    def force_error(self) -> FloatArray:
        """Root mean square (3,) [m/s^2] over time of the felt minus the vehicle's force."""
        return rms(self.felt_force - self.vehicle_force)

    @property
    def rate_error(self) -> FloatArray:
        """Root mean square (3,) [rad/s] over time of the felt minus the vehicle's rate."""
        return rms(self.felt_rate - self.vehicle_rate)

    @property
    def perceived_force_error(self) -> FloatArray:
        """Root mean square (3,) [m/s^2] of the force error as perceived by the otoliths."""
        return rms(OTOLITHS.perceived(self.felt_force - self.vehicle_force, self.time[1]))

    @property
    def perceived_rate_error(self) -> FloatArray:
        """Root mean square (3,) [rad/s] of the rate error as perceived by the canals."""
        return rms(CANALS.perceived(self.felt_rate - self.vehicle_rate, self.time[1]))

    @property
    def workspace_used(self) -> FloatArray:
        """Largest distance (n,) of each driven joint from the middle of its range.

        It is relative to half the range: 1 at a limit. It is zero for a joint without limits.
        """
        low, high = self.mechanism.position_limits.T
        off = np.abs(2.0 * self.joint_positions - low - high).max(axis=0) / (high - low)
        return np.where(np.isfinite(high - low), off, 0.0)

    @property
    def force_missing(self) -> FloatArray:
        """Fraction (3,) of the vehicle's force that the platform does not reproduce.

        It is the root mean square of the error divided by that of the vehicle's force, minus
        gravity: 0 if the force is reproduced, 1 if it is missing, more than 1 if it has the wrong
        direction, and NaN along an axis without a force.
        """
        vehicle = rms(self.vehicle_force - REST)
        rests = vehicle < RESTS
        return np.where(rests, np.nan, self.force_error / np.where(rests, 1.0, vehicle))

    @property
    def force_correlation(self) -> FloatArray:
        """Correlation coefficients (3,) of the specific forces in vehicle and on platform.

        They are NaN along an axis on which one of the forces is constant.
        """
        return _correlation(self.vehicle_force, self.felt_force)

    @property
    def false_cues(self) -> float:
        """Fraction of time in which a horizontal force is felt in the wrong direction."""
        vehicle, felt = self.vehicle_force[:, :2], self.felt_force[:, :2]
        opposite = (np.sign(vehicle) != np.sign(felt)) & (np.abs(felt) > NOTICED)
        return float((opposite & (np.abs(vehicle) > NOTICED)).any(axis=1).mean())

    def save_bag(self, folder: str | os.PathLike[str]) -> None:
        """Write a bag with the platform's motion and the forces in vehicle and platform.

        The topics are `platform_setpoint`, `vehicle/imu` and `felt_imu`. The topics
        `robot_description`, `joint_states` and, at most fifty times a second, `/tf` describe the
        machine.

        Args:
            folder: folder to write; it must not exist.

        Raises:
            MissingExtra: rosbags is not installed.
            OutputError: the folder cannot be written.
        """
        base, body = self.mechanism.frames
        twists = twist_in_body(self.pose, self.twist)
        description, states, frames = self._machine()
        apart = max(round(TRANSFORMS / float(self.time[1] - self.time[0])), 1)

        def messages(types: dict[str, Any]) -> Iterator[tuple[str, int, Any]]:
            def make(kind: str, *values: Any) -> Any:
                return types[kind](*values)

            def vector(values: FloatArray) -> Any:
                return make("geometry_msgs/msg/Vector3", *values.tolist())

            unknown, nine = np.zeros(36), np.zeros(9)
            level = make("geometry_msgs/msg/Quaternion", 0.0, 0.0, 0.0, 1.0)
            # no orientation, by REP-145
            none = np.r_[-1.0, np.zeros(8)]
            for k, time in enumerate(np.round(self.time * 1e9).astype(int).tolist()):
                stamp = make("builtin_interfaces/msg/Time", *divmod(time, 1_000_000_000))

                def header(frame: str, stamp: Any = stamp) -> Any:
                    return make("std_msgs/msg/Header", stamp, frame)

                if description and not k:
                    yield "/robot_description", time, make("std_msgs/msg/String", description)
                joints = states.positions[k], states.velocities[k], np.zeros(0)
                names = list(states.names)
                message = make("sensor_msgs/msg/JointState", header(""), names, *joints)
                yield "/joint_states", time, message
                if k % apart == 0:
                    transforms = []
                    for (parent, child), poses in frames.items():
                        x, q = np.split(poses[k], [3])
                        placed = vector(x), make("geometry_msgs/msg/Quaternion", *q.tolist())
                        place = make("geometry_msgs/msg/Transform", *placed)
                        kind = "geometry_msgs/msg/TransformStamped"
                        transforms.append(make(kind, header(parent), child, place))
                    yield "/tf", time, make("tf2_msgs/msg/TFMessage", transforms)
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
                    ("/vehicle/imu", "vehicle", self.vehicle_force[k], self.vehicle_rate[k]),
                    ("/felt_imu", body, self.felt_force[k], self.felt_rate[k]),
                ):
                    values = (level, none, vector(rate), nine, vector(force), nine)
                    yield topic, time, make("sensor_msgs/msg/Imu", header(frame), *values)

        write_bag(Path(folder), messages)

    def _machine(self) -> tuple[str, JointStates, dict[tuple[str, str], FloatArray]]:
        """Return the URDF, joint states and link transforms of the machine.

        The transforms are poses (K, 7), keyed by the names of the parent and the child link.
        """
        m, motion = self.mechanism, self.trajectory.sample(self.time)
        states = m.joint_states(motion.configuration, motion.velocity)
        positions = dict(zip(states.names, states.positions.T, strict=True))
        floating = [presentation.floating_poses(m, q) for q in motion.configuration]
        poses = {pair: np.array([each[pair] for each in floating]) for pair in floating[0]}
        frames = {}
        for joint in presentation.figure(m).joints:
            if joint.kind != "fixed":
                frame = frame_in_parent(joint, positions, poses)
                many = np.broadcast_to(frame, (len(self.time), 4, 4))
                frames[joint.parent, joint.child] = pose_from_matrix(many)
        return exported_urdf(m), states, frames

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write a CSV file with the motion, forces and rates.

        Args:
            file: file to write.

        Raises:
            OutputError: the file cannot be written.
        """
        parts = {
            "": self.time[:, None], "pose_": self.pose, "twist_": self.twist, "accel_": self.accel,
            "vehicle_force_": self.vehicle_force, "felt_force_": self.felt_force,
            "vehicle_rate_": self.vehicle_rate, "felt_rate_": self.felt_rate,
        }  # fmt: skip
        axes = {1: ("time",), 3: "xyz", 6: ("vx", "vy", "vz", "wx", "wy", "wz")}
        axes[7] = ("x", "y", "z", "qx", "qy", "qz", "qw")
        names = [head + axis for head, values in parts.items() for axis in axes[values.shape[1]]]
        table = np.hstack(list(parts.values()))
        with atomic_write(os.fspath(file)) as draft:
            np.savetxt(draft, table, "%.9g", delimiter=",", header=",".join(names), comments="")


def ride(
    mechanism: Mechanism,
    vehicle: VehicleMotion,
    parameters: WashoutParameters | PredictiveParameters | None = None,
    *,
    head: ArrayLike | None = None,
    dt: float = 0.01,
    progress: Callable[[float], None] | None = None,
) -> Ride:
    """Compute a platform's motion for a vehicle's motion, within the joint limits.

    Args:
        mechanism: mechanism that moves the platform.
        vehicle: motion of the vehicle, linear between samples.
        parameters: parameters of `ClassicalWashout`, by default its own, or of `PredictiveCueing`.
        head: (3,) [m] position of the driver's head in the frame of the platform; its origin by
            default.
        dt: time [s] between steps.
        progress: called with the completed fraction.

    Returns:
        Motion of the platform, with forces and rates felt in vehicle and platform.

    Raises:
        InvalidInput: the motion has wrong shapes, is not finite, or its times do not increase.
    """
    time = as_array("time", vehicle.time, (), "s")
    if time.ndim != 1 or len(time) < 2 or (np.diff(time) <= 0.0).any():
        raise InvalidInput(
            "the vehicle's motion must have at least two times, in increasing order",
            value=vehicle.time,
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
        raise InvalidInput(
            f"the ride has {count} steps of {dt} s, more than {MAX_KNOTS}: increase dt"
        )
    times: FloatArray = np.arange(count, dtype=np.float64) * cueing.dt
    stimuli = [
        np.column_stack([np.interp(times, time - time[0], column) for column in values.T])
        for values in (force, rate)
    ]
    rows = []
    for k in range(count):
        if progress is not None and k % (count // PARTS + 1) == 0:
            progress(k / count)
        rows.append(cueing.step(stimuli[0][k], stimuli[1][k]))
    pose, twist, accel = (np.array(each) for each in zip(*rows, strict=True))
    felt, turned = cueing.frame.felt_in(Cue(pose, twist, accel))
    forces, rates = (np.asarray(each, dtype=np.float64) for each in stimuli)
    return Ride(
        mechanism, times, pose, twist, accel, forces, felt, rates, turned, cueing.frame.text
    )


def _correlation(one: FloatArray, other: FloatArray) -> FloatArray:
    a, b = one - one.mean(axis=0), other - other.mean(axis=0)
    size = np.sqrt(np.square(a).sum(axis=0) * np.square(b).sum(axis=0))
    rests = size < 1e-12
    return np.where(rests, np.nan, (a * b).sum(axis=0) / np.where(rests, 1.0, size))


def rms(values: FloatArray) -> FloatArray:
    """Compute the root mean square (n,) of each column of values (K, n)."""
    return np.asarray(np.sqrt(np.square(values).mean(axis=0)))
