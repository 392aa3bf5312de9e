# SPDX-License-Identifier: Apache-2.0

"""Mechanisms of this package in Pinocchio and MuJoCo."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

from benchmarks.engine_trees import MujocoTree, PinocchioTree
from robodyn.algorithms.description import gravity_vector


def pinocchio_arm(arm: Any) -> Any:
    """An arm without motors and friction."""
    out = pin.Model()
    out.gravity = pin.Motion(np.asarray(gravity_vector(arm)), np.zeros(3))
    parent = 0
    for joint, link in zip(arm.chain.joints, arm.chain.links, strict=True):
        kind = "Prismatic" if joint.kind == "prismatic" else "Revolute"
        along_z = np.array_equal(joint.axis, [0.0, 0.0, 1.0])
        short = "JointModelPZ" if kind == "Prismatic" else "JointModelRZ"
        axis = np.asarray(joint.axis)
        moves = (
            getattr(pin, short)() if along_z else getattr(pin, f"JointModel{kind}Unaligned")(axis)
        )
        place = pin.SE3(np.asarray(joint.at.rotation), np.asarray(joint.at.translation))
        parent = out.addJoint(parent, moves, place, joint.name)
        inertia = pin.Inertia(link.mass, np.asarray(link.com), np.asarray(link.inertia))
        out.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return out


class ClosedPinocchio:
    """The platform's tree, and its loops closed from Python as a user would."""

    def __init__(self, platform: Any, pose: Any, twist: Any, accel: Any) -> None:
        self.tree = tree = PinocchioTree(platform)
        tree.place(pose)
        self.model, self.data, self.q = tree.model, tree.data, tree.q
        self.end = np.vstack([np.zeros((18, 6)), np.eye(6)])
        K = self._closure()
        self.qd = np.linalg.solve(K, self.end @ twist)
        drifts = tree.drifts([*tree.tips, *tree.points, tree.reference], self.qd)
        drift = [drifts[i][:3] - drifts[6 + i][:3] for i in range(6)]
        drift = np.concatenate([*drift, drifts[-1]])
        self.qdd = np.linalg.solve(K, self.end @ accel - drift)

    def _closure(self) -> Any:
        tree, model, data = self.tree, self.model, self.data
        pin.computeJointJacobians(model, data, self.q)
        at = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = [
            pin.getFrameJacobian(model, data, frame, at)
            for frame in (*tree.tips, *tree.points, tree.reference)
        ]
        return np.vstack([*(J[i][:3] - J[6 + i][:3] for i in range(6)), J[12]])

    def open_tree(self) -> Any:
        """Efforts of the tree's 24 coordinates."""
        return pin.rnea(self.model, self.data, self.q, self.qd, self.qdd)

    def closed(self) -> Any:
        """Actuator forces (6,) of the closed mechanism."""
        efforts = self.open_tree()
        G = np.linalg.solve(self._closure(), self.end)
        return np.linalg.solve(G[self.tree.sliders].T, G.T @ efforts)


class MujocoPlatform:
    """The platform's tree."""

    def __init__(self, platform: Any, pose: Any, qd: Any, qdd: Any) -> None:
        self.tree = MujocoTree(platform)
        self.tree.place(pose)
        self.model, self.data = self.tree.model, self.tree.data
        # its free joint rotates in body axes, like Pinocchio's, but translates in world axes
        R = self.data.xmat[self.model.body("platform").id].reshape(3, 3)
        self.qd, self.qdd = qd.copy(), qdd.copy()
        self.qd[18:21] = R @ qd[18:21]
        self.qdd[18:21] = R @ (qdd[18:21] + np.cross(qd[21:], qd[18:21]))

    def open_tree(self) -> Any:
        """Efforts of the tree's 24 coordinates."""
        self.data.qvel = self.qd
        self.data.qacc = self.qdd
        mujoco.mj_inverse(self.model, self.data)
        return self.data.qfrc_inverse
