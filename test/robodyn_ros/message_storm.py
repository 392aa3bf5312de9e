# SPDX-License-Identifier: Apache-2.0

"""Random messages, valid and broken in every way that their types allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TransformStamped, WrenchStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64, Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

import robodyn as rd
from robodyn_ros import messages

try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None

if TYPE_CHECKING:
    from collections.abc import Callable


WILD = (np.nan, np.inf, -np.inf, 0.0, 1e-310, 1e7, -1e20, 1e155, -1.7e308, 5.0, -5.0)
STAMPS = (0, 1, -1, 10**9, 10**18, -(10**17), (2**31 - 1) * 10**9, -(2**31) * 10**9)


# Nodes begin to listen to transforms when they need one, if tf2 is installed at all.
TRANSFORMS = () if TFMessage is None else ("tf", "tf_static")


class Storm:
    """Makes messages for a mechanism; about half of them are sound."""

    def __init__(self, mechanism: rd.Mechanism, rng: np.random.Generator) -> None:
        self.mechanism, self.rng = mechanism, rng
        self.now = 0  # time of a valid stamp, set from outside or counted on
        self.last_stamp = 0  # time of the last stamp
        self.platform = mechanism.kind == "stewart"
        self.makers: dict[str, tuple[type, Callable[[], Any]]] = {
            "external_wrench": (WrenchStamped, self.wrench),
            "base_imu": (Imu, self.imu),
            "joint_commands": (JointState, self.joint_effort),
            "effort_controller/commands": (Float64MultiArray, self.efforts),
            "joint_trajectory": (JointTrajectory, self.joint_trajectory),
            "goal_joints": (JointState, self.joint_goal),
            "condition_monitor/scale": (Float64, self.scale),
            "condition_number": (Float64, self.condition_number),
            "diagnostics": (DiagnosticArray, self.diagnostics),
            "inverse_dynamics/forces": (JointState, self.joint_effort),
            "joint_states": (JointState, self.joint_state),
            "platform_state": (Odometry, self.odometry),
            "platform_trajectory": (MultiDOFJointTrajectory, self.platform_trajectory),
            "goal_pose": (PoseStamped, self.goal_pose),
            **dict.fromkeys(TRANSFORMS, (TFMessage, self.transforms)),
        }

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def spoilt(self, values: np.ndarray) -> np.ndarray:
        """The values, half of the time with some of them wild."""
        values = np.array(values, dtype=float)
        if self.chance(0.35) and values.size:
            for _ in range(self.rng.integers(1, 3)):
                values[self.rng.integers(values.size)] = self.rng.choice(WILD)
        return values

    def stamp(self, header) -> None:
        """One after the other, or repeated, stale, from the future, or from anywhere."""
        kind = self.rng.random()
        stamp = self.now
        if kind < 0.15:
            stamp -= int(self.rng.integers(0, 10**10))
        elif kind < 0.2:
            stamp += int(self.rng.integers(0, 10**12))
        elif kind < 0.25:
            stamp = int(self.rng.choice(STAMPS))
        elif kind < 0.5:
            stamp = self.last_stamp
        self.last_stamp = stamp
        header.stamp = messages.to_stamp(int(np.clip(stamp, -(2**31) * 10**9, 2**31 * 10**9 - 1)))
        if self.chance(0.02):
            # the type allows these
            header.stamp.nanosec = 2**32 - 1
            header.stamp.sec = int(self.rng.choice([header.stamp.sec, 2**31 - 1, -(2**31)]))

    def configuration(self, spread: float = 0.1) -> np.ndarray:
        n = len(self.mechanism.joint_names)
        return self.mechanism.advance(self.mechanism.home, spread * self.rng.normal(size=n))

    def names(self) -> list[str]:
        """In any order; one may be missing, unknown, or there twice."""
        names = list(self.rng.permutation(self.mechanism.joint_names))
        kind = self.rng.random()
        if kind < 0.1:
            names = names[:-1]
        elif kind < 0.2:
            names.append("elbow")
        elif kind < 0.25:
            names.append(names[0])
        elif kind < 0.3:
            names[0] = ""
        return [str(name) for name in names]

    def joint_message(self, **sizes: float) -> JointState:
        message = JointState(name=self.names())
        self.stamp(message.header)
        for field, size in sizes.items():
            count = len(message.name) + (self.chance(0.05) and 1)
            setattr(message, field, self.spoilt(size * self.rng.normal(size=count)).tolist())
        return message

    def joint_state(self) -> JointState:
        """Of a platform also with the readings that its legs have in some pose nearby."""
        message = self.joint_message(position=1.0, velocity=1.0, effort=1000.0)
        if self.platform and self.chance(0.7):
            names = list(self.mechanism.joint_names)
            lengths = self.mechanism.joint_positions(self.configuration(0.01))
            message.name, message.position = names, self.spoilt(lengths).tolist()
            for field in ("velocity", "effort"):
                values = self.spoilt(0.1 * self.rng.normal(size=6)) if self.chance(0.9) else []
                setattr(message, field, list(values))
        return message

    def joint_effort(self) -> JointState:
        return self.joint_message(effort=3000.0)

    def joint_goal(self) -> JointState:
        message = self.joint_message(position=0.3)
        if self.platform and len(message.position) == 6 and self.chance(0.5):
            lengths = self.mechanism.joint_positions(self.configuration())
            message.position = self.spoilt(lengths).tolist()
        return message

    def efforts(self) -> Float64MultiArray:
        size = 6 if self.chance(0.8) else int(self.rng.integers(0, 9))
        return Float64MultiArray(data=self.spoilt(3000.0 * self.rng.normal(size=size)).tolist())

    def scale(self) -> Float64:
        return Float64(data=float(self.spoilt(self.rng.random(1))[0]))

    def condition_number(self) -> Float64:
        return Float64(data=float(self.spoilt(np.exp(self.rng.normal(3.0, 3.0, size=1)))[0]))

    def diagnostics(self) -> DiagnosticArray:
        names = ("condition_monitor: condition number", "condition_monitor: trajectory ahead",
                 "inverse_dynamics: efforts", "", "elsewhere: anything")  # fmt: skip
        if self.chance(0.02):
            names = ("forward_simulator: simulation",)
        levels = (DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR, b"\x7f")
        message = DiagnosticArray()
        self.stamp(message.header)
        for _ in range(self.rng.integers(0, 3)):
            name, level = str(self.rng.choice(names)), levels[self.rng.integers(4)]
            message.status.append(DiagnosticStatus(name=name, level=level, message="text\n\u2028"))
        return message

    def wrench(self) -> WrenchStamped:
        message = WrenchStamped()
        message.header.frame_id = str(
            self.rng.choice(["", *self.mechanism.frames, "elsewhere", "sensor"])
        )
        values = iter(map(float, self.spoilt(100.0 * self.rng.normal(size=6))))
        for part in (message.wrench.force, message.wrench.torque):
            part.x, part.y, part.z = next(values), next(values), next(values)
        return message

    def imu(self) -> Imu:
        message = Imu()
        self.stamp(message.header)
        message.header.frame_id = str(
            self.rng.choice(["", *self.mechanism.frames, "elsewhere", "sensor"])
        )
        at_rest = np.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])
        values = iter(map(float, self.spoilt(at_rest + self.rng.normal(size=6))))
        for part in (message.linear_acceleration, message.angular_velocity):
            part.x, part.y, part.z = next(values), next(values), next(values)
        if self.chance(0.1):
            message.angular_velocity_covariance[0] = -1.0
        return message

    def pose(self) -> np.ndarray:
        if not self.platform:
            return self.spoilt(np.append(self.rng.normal(size=3), [0, 0, 0, 1]))
        return self.spoilt(self.configuration(1.0 if self.chance(0.1) else 0.1))

    def odometry(self) -> Odometry:
        message = Odometry()
        self.stamp(message.header)
        message.header.frame_id, message.child_frame_id = "base_link", "platform_link"
        messages.fill_pose(message.pose.pose, self.pose())
        messages.fill_twist(message.twist.twist, self.spoilt(self.rng.normal(size=6)))
        return message

    def goal_pose(self) -> PoseStamped:
        message = PoseStamped()
        message.header.frame_id = "base_link" if self.chance(0.7) else "elsewhere"
        messages.fill_pose(message.pose, self.pose())
        return message

    def transforms(self) -> TFMessage:
        """Between frames of any kind, of which some lead in circles or to themselves."""
        names = [*self.mechanism.frames, "elsewhere", "sensor", "/sensor", "", "world"]
        message = TFMessage()
        for _ in range(self.rng.integers(0, 4)):
            transform = TransformStamped(child_frame_id=str(self.rng.choice(names)))
            transform.header.frame_id = str(self.rng.choice(names))
            self.stamp(transform.header)
            pose = np.append(self.rng.normal(size=3), [0.0, 0.6, 0.0, 0.8])
            messages.fill_pose(transform.transform, self.spoilt(pose))
            message.transforms.append(transform)
        return message

    def times(self) -> np.ndarray:
        times = np.cumsum(self.rng.exponential(0.5, size=self.rng.integers(1, 5)))
        return self.rng.permutation(times) if self.chance(0.1) else times - times[0]

    def joint_trajectory(self) -> JointTrajectory:
        times = self.times()
        rows = np.array([self.mechanism.joint_positions(self.configuration(0.03)) for _ in times])
        motion = (rows, *(0.1 * self.rng.normal(size=(2, *rows.shape))))
        message = messages.joint_trajectory(self.mechanism.joint_names, times, motion)
        if self.chance(0.2):
            message.joint_names = self.names()
        if self.chance(0.5):
            self.stamp(message.header)
        for point in message.points:
            if self.chance(0.2):
                field = str(self.rng.choice(["positions", "velocities", "accelerations"]))
                values = self.spoilt(np.array(getattr(point, field)))
                setattr(point, field, values[: self.rng.integers(5, 8)].tolist())
        return JointTrajectory() if self.chance(0.02) else message

    def platform_trajectory(self) -> MultiDOFJointTrajectory:
        times = self.times()
        poses = np.array([self.configuration() for _ in times])
        motion = rd.trajectories.Motion(poses, *(0.3 * self.rng.normal(size=(2, len(times), 6))))
        message = messages.platform_trajectory("base_link", "platform_joint", times, motion)
        if self.chance(0.5):
            self.stamp(message.header)
        if self.chance(0.05):
            message.header.frame_id = "elsewhere"
        for point in message.points:
            kind = self.rng.random()
            if kind < 0.1:
                messages.fill_pose(point.transforms[0], self.pose())
            elif kind < 0.2:
                messages.fill_twist(point.accelerations[0], self.spoilt(np.ones(6)))
            elif kind < 0.23:
                point.velocities = []
            elif kind < 0.25:
                point.transforms *= 2
        return MultiDOFJointTrajectory() if self.chance(0.02) else message
