# SPDX-License-Identifier: Apache-2.0

"""A Stewart platform as a tree in another engine: Pinocchio and MuJoCo.

Each tree has the six legs, open at the spherical joints, and the free platform. It provides its own
mass matrix, inverse dynamics and Jacobians in its own coordinates; `closed_chain` closes the loops.
"""

import sys
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from six_legs import six_legs


def frame_with_z(axis):
    """Any right-handed frame whose third axis is the given one."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[np.abs(z).argmin()])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def leg_coordinates(platform, pose):
    """For each leg its zero frame, angles about z and y of it, frame T and length."""
    R = Rotation.from_quat(pose[3:]).as_matrix()
    for leg in six_legs(platform).legs:
        S = pose[:3] + R @ leg.platform - leg.base
        zero = frame_with_z(leg.universal_axis)
        x, y, z = zero.T @ S / np.linalg.norm(S)
        q1, q2 = np.arctan2(y, x), np.arctan2(-z, np.hypot(x, y))
        T = zero @ Rotation.from_euler("ZY", [q1, q2]).as_matrix()
        yield zero, q1, q2, T, np.linalg.norm(S)


class PinocchioTree:
    """Universal joints as two revolutes in a row, spherical ones with their quaternion."""

    def __init__(self, platform):
        self.platform = platform
        description = six_legs(platform)
        self.model = model = pin.Model()
        model.gravity = pin.Motion(description.gravity, np.zeros(3))
        self.tips, self.points, self.sliders = [], [], []
        for i, (leg, joint) in enumerate(zip(description.legs, platform.base_joint, strict=True)):
            zero = frame_with_z(leg.universal_axis)
            if joint == "universal":
                place = pin.SE3(zero, np.asarray(leg.base))
                first = model.addJoint(0, pin.JointModelRZ(), place, f"u{i}")
                lower = model.addJoint(first, pin.JointModelRY(), pin.SE3.Identity(), f"v{i}")
            else:
                place = pin.SE3(np.eye(3), np.asarray(leg.base))
                lower = model.addJoint(0, pin.JointModelSpherical(), place, f"u{i}")
            upper = model.addJoint(lower, pin.JointModelPX(), pin.SE3.Identity(), f"p{i}")
            self._attach(lower, leg.lower)
            self._attach(upper, leg.upper)
            self.sliders.append(model.joints[upper].idx_v)
            self.tips.append(self._frame(f"tip{i}", upper, np.zeros(3)))
        free = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
        self._attach(free, description.platform)
        self.reference = self._frame("reference", free, np.zeros(3))
        for i, leg in enumerate(description.legs):
            self.points.append(self._frame(f"point{i}", free, leg.platform))
        self.data = model.createData()
        self.size = model.nv

    def _attach(self, joint, body):
        inertia = pin.Inertia(body.mass, body.com, body.inertia)
        self.model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())

    def _frame(self, name, joint, place):
        pose = pin.SE3(np.eye(3), np.asarray(place))
        return self.model.addFrame(pin.Frame(name, joint, 0, pose, pin.FrameType.OP_FRAME))

    def place(self, pose):
        """Set the state in which the platform has this pose (7,)."""
        q = []
        coordinates = leg_coordinates(self.platform, pose)
        for joint, (_, q1, q2, T, length) in zip(
            self.platform.base_joint, coordinates, strict=True
        ):
            turned = Rotation.from_matrix(T).as_quat()
            q += [q1, q2, length] if joint == "universal" else [*turned, length]
        self.q = np.array([*q, *pose])
        pin.computeJointJacobians(self.model, self.data, self.q)
        pin.updateFramePlacements(self.model, self.data)

    def jacobian(self, frame):
        """Linear over angular, base frame."""
        return pin.getFrameJacobian(
            self.model, self.data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )

    def drifts(self, frames, qd):
        """J' qd of each frame."""
        pin.forwardKinematics(self.model, self.data, self.q, qd, np.zeros(self.size))
        at = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        return [
            pin.getFrameClassicalAcceleration(self.model, self.data, frame, at).vector
            for frame in frames
        ]

    def mass_matrix(self):
        """Of the tree, in its own coordinates."""
        M = pin.crba(self.model, self.data, self.q)
        return np.triu(M) + np.triu(M, 1).T

    def inverse_dynamics(self, qd, qdd):
        """Efforts of the tree's joints for a motion of it."""
        return pin.rnea(self.model, self.data, self.q, qd, qdd)


class MujocoTree:
    """Tree in MuJoCo from MJCF text; a frame is a body and a point in its own axes."""

    def __init__(self, platform):
        self.platform = platform
        description = six_legs(platform)
        bodies = []
        for i, (leg, joint) in enumerate(zip(description.legs, platform.base_joint, strict=True)):
            universal = joint == "universal"
            zero = frame_with_z(leg.universal_axis) if universal else np.eye(3)
            joints = (
                '<joint type="hinge" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>'
                if universal
                else '<joint type="ball"/>'
            )
            x, y, z, w = Rotation.from_matrix(zero).as_quat()
            bodies.append(
                f'<body name="lower{i}" pos="{_text(leg.base)}" quat="{_text([w, x, y, z])}">'
                f'{joints}{_inertial(leg.lower)}<body name="upper{i}">'
                f'<joint name="slide{i}" type="slide" axis="1 0 0"/>{_inertial(leg.upper)}'
                "</body></body>"
            )
        bodies.append(f'<body name="platform"><freejoint/>{_inertial(description.platform)}</body>')
        gravity = _text(description.gravity)
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><compiler inertiafromgeom="false"/><option gravity="{gravity}"/>'
            f"<worldbody>{''.join(bodies)}</worldbody></mujoco>"
        )
        self.data = mujoco.MjData(self.model)
        self.size = self.model.nv
        body = [self.model.body(f"upper{i}").id for i in range(6)]
        top = self.model.body("platform").id
        self.tips = [(b, np.zeros(3)) for b in body]
        self.points = [(top, np.asarray(leg.platform)) for leg in description.legs]
        self.reference = (top, np.zeros(3))
        self.sliders = [self.model.joint(f"slide{i}").dofadr[0] for i in range(6)]

    def place(self, pose):
        """Set the state in which the platform has this pose (7,)."""
        q = []
        coordinates = leg_coordinates(self.platform, pose)
        for joint, (_, q1, q2, T, length) in zip(
            self.platform.base_joint, coordinates, strict=True
        ):
            x, y, z, w = Rotation.from_matrix(T).as_quat()
            q += [q1, q2, length] if joint == "universal" else [w, x, y, z, length]
        x, y, z, w = pose[3:]
        self.data.qpos = [*q, *pose[:3], w, x, y, z]
        self.data.qvel = 0.0
        mujoco.mj_forward(self.model, self.data)

    def jacobian(self, frame):
        """(6, nv) of a frame, linear over angular."""
        return self._jacobian(mujoco.mj_jac, frame)

    def _jacobian(self, function, frame):
        body, local = frame
        point = self.data.xpos[body] + self.data.xmat[body].reshape(3, 3) @ local
        linear, angular = np.zeros((3, self.size)), np.zeros((3, self.size))
        function(self.model, self.data, linear, angular, point, body)
        return np.vstack([linear, angular])

    def drifts(self, frames, qd):
        """Accelerations of frames that velocities alone cause."""
        self.data.qvel = qd
        mujoco.mj_forward(self.model, self.data)
        return [self._jacobian(mujoco.mj_jacDot, frame) @ qd for frame in frames]

    def mass_matrix(self):
        """Column by column from the inverse dynamics, minus the bias at zero acceleration."""
        zero = np.zeros(self.size)
        rest = self.inverse_dynamics(zero, zero)
        columns = [self.inverse_dynamics(zero, unit) - rest for unit in np.eye(self.size)]
        return np.column_stack(columns)

    def inverse_dynamics(self, qd, qdd):
        """Efforts of the tree's joints for a motion of it."""
        self.data.qvel = qd
        mujoco.mj_forward(self.model, self.data)
        self.data.qacc = qdd
        out = np.zeros(self.size)
        mujoco.mj_rne(self.model, self.data, 1, out)
        return out


def _text(numbers):
    return " ".join(repr(float(number)) for number in numbers)


def _inertial(body):
    xx, xy, xz, yy, yz, zz = np.asarray(body.inertia)[np.triu_indices(3)]
    return (
        f'<inertial pos="{_text(body.com)}" mass="{float(body.mass)!r}" '
        f'fullinertia="{_text([xx, yy, zz, xy, xz, yz])}"/>'
    )
