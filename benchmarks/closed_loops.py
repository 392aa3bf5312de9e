# SPDX-License-Identifier: Apache-2.0

"""Forward dynamics of the platform with its loops closed by the other engines themselves."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

from benchmarks import engines

# MuJoCo's equality constraints are springs, here as stiff as its time step allows.
STIFF = {"solref": [0.004, 1.0], "solimp": [0.9999, 0.9999, 0.001, 0.5, 2.0]}


class ConstrainedPinocchio:
    """`constraintDynamics`: a contact in three directions at the tip of each leg."""

    def __init__(self, closed: engines.ClosedPinocchio, forces: Any) -> None:
        tree = closed.tree
        self.model, self.q, self.qd, self.reference = (
            tree.model,
            closed.q,
            closed.qd,
            tree.reference,
        )
        self.data = self.model.createData()
        self.contacts = pin.StdVec_RigidConstraintModel()
        self.states = pin.StdVec_RigidConstraintData()
        for pair in zip(tree.tips, tree.points, strict=True):
            self.contacts.append(self._contact(*pair))
            self.states.append(self.contacts[-1].createData())
        self.tau = np.zeros(self.model.nv)
        self.tau[tree.sliders] = forces
        self.settings = pin.ProximalSettings(1e-12, 1e-14, 5)
        pin.initConstraintDynamics(self.model, self.data, self.contacts, self.states)

    def _contact(self, tip: int, point: int) -> Any:
        a, b = self.model.frames[tip], self.model.frames[point]
        return pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D,
            self.model,
            a.parentJoint,
            a.placement,
            b.parentJoint,
            b.placement,
            pin.ReferenceFrame.LOCAL,
        )

    def compute(self) -> Any:
        """Accelerations of the tree's 24 coordinates."""
        return pin.constraintDynamics(
            self.model,
            self.data,
            self.q,
            self.qd,
            self.tau,
            self.contacts,
            self.states,
            self.settings,
        )

    def acceleration(self) -> Any:
        """Of the platform, (6,), in the base frame."""
        pin.forwardKinematics(self.model, self.data, self.q, self.qd, self.compute())
        at = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        return pin.getFrameClassicalAcceleration(
            self.model, self.data, self.reference, at
        ).vector.copy()


class ConstrainedMujoco:
    """`mj_step` with a `connect` between each leg's tip and its point on the platform."""

    def __init__(self, opened: engines.MujocoPlatform, legs: Any, forces: Any) -> None:
        tree = opened.tree
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "tree.xml")
            mujoco.mj_saveLastXML(str(path), tree.model)
            spec = mujoco.MjSpec.from_file(str(path))
        spec.option.timestep = 1e-3
        for i, leg in enumerate(legs):
            spec.body(f"upper{i}").add_site(name=f"tip{i}")
            spec.body("platform").add_site(name=f"point{i}", pos=np.asarray(leg.platform))
            connect = spec.add_equality(
                type=mujoco.mjtEq.mjEQ_CONNECT,
                objtype=mujoco.mjtObj.mjOBJ_SITE,
                name1=f"tip{i}",
                name2=f"point{i}",
            )
            connect.solref, connect.solimp = STIFF["solref"], STIFF["solimp"]
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.qpos, self.qvel = tree.data.qpos.copy(), opened.qd.copy()
        self.data.qfrc_applied[tree.sliders] = forces

    def step(self) -> Any:
        """One step from the same state."""
        self.data.qpos = self.qpos
        self.data.qvel = self.qvel
        mujoco.mj_step(self.model, self.data)
        return self.data.qacc

    def acceleration(self) -> Any:
        """Of the platform, (6,), in the base frame."""
        qacc = self.step().copy()
        w, x, y, z = self.qpos[-4:]
        rotation = pin.Quaternion(w, x, y, z).matrix()
        qacc[21:] = rotation @ qacc[21:]
        return qacc[18:]
