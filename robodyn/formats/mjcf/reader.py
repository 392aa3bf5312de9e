# SPDX-License-Identifier: Apache-2.0

"""An MJCF file as URDF text, with closures, drives and a home, for the readers that there are.

Each body keeps its frame, each joint its name, and positions are MuJoCo's, `ref` included, but for
free and ball joints, whose pose is told from where the file has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from robodyn.errors import ModelError
from robodyn.formats.mjcf.compiled import JOINTS, Refusals, compiled, mujoco_module
from robodyn.formats.mjcf.elements import add, frame, rotation, text_of
from robodyn.formats.mjcf.shapes import add_shapes
from robodyn.formats.urdf_motors import TAG
from robodyn.poses import rpy_of_rotation

if TYPE_CHECKING:
    from pathlib import Path

    from robodyn.arrays import FloatArray


def read_mjcf(source: Path | str) -> str:
    """URDF text of a file, or of MJCF text.

    Raises:
        MissingExtra: the package mujoco is not installed.
        ModelError: MuJoCo refuses it, or it has something that is not read here; by name.
    """
    is_text = isinstance(source, str)
    name = "MJCF text" if is_text else str(source)
    mujoco = mujoco_module(name)
    model = compiled(name, None if isinstance(source, str) else source, str(source))
    refusals = Refusals(mujoco, model, name)
    refusals.check()
    return _Writer(mujoco, model, refusals).written()


class _Writer:
    """Writes URDF text of an `MjModel`."""

    def __init__(self, mujoco: Any, model: Any, refusals: Refusals) -> None:
        self._mujoco, self._model, self._refusals = mujoco, model, refusals
        self._robot = ElementTree.Element("robot", {"name": _name_of(model)})
        self._limits = self._effort_limits()
        self._mimics = self._followers()

    def written(self) -> str:
        """The text."""
        for body in range(self._model.nbody):
            self._body(body)
        for n in range(self._model.neq):
            if self._model.eq_active0[n]:
                self._equality(n)
        self._control()
        gravity = text_of(self._model.opt.gravity)
        add(self._robot, TAG, gravity=gravity, base_link=self._link(0))
        ElementTree.indent(self._robot)
        return ElementTree.tostring(self._robot, encoding="unicode")

    def _link(self, body: int) -> str:
        return self._refusals.name("body", body)

    def _body(self, body: int) -> None:
        model, name = self._model, self._link(body)
        link = add(self._robot, "link", name=name)
        mass = float(model.body_mass[body])
        if body and mass == 0.0:
            _without_mass(link)
        elif body:
            R = rotation(model.body_iquat[body])
            I = R @ np.diag(model.body_inertia[body]) @ R.T  # noqa: E741
            inertial = add(link, "inertial")
            add(inertial, "origin", xyz=text_of(model.body_ipos[body]))
            add(inertial, "mass", value=repr(mass))
            names = {"ixx": I[0, 0], "ixy": I[0, 1], "ixz": I[0, 2]}
            names |= {"iyy": I[1, 1], "iyz": I[1, 2], "izz": I[2, 2]}
            add(inertial, "inertia", **{key: repr(float(value)) for key, value in names.items()})
        add_shapes(self._mujoco, model, body, link)
        if not body:
            return
        parent = self._link(int(model.body_parentid[body]))
        place: Any = frame(model.body_pos[body], rotation(model.body_quat[body]))
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        if not count:
            self._joint(f"{name}_fixed", "fixed", parent, name, place)
            return
        for n in range(first, first + count):
            anchor = frame(model.jnt_pos[n])
            last = n == first + count - 1
            centred = last and not model.jnt_pos[n].any()
            child = name if centred else f"{name}_on_{self._refusals.name('joint', n)}"
            if not centred:
                _without_mass(add(self._robot, "link", name=child))
            self._moving(n, parent, child, place @ anchor)
            parent, place = child, np.linalg.inv(anchor)
        if parent != name:
            self._joint(f"{name}_fixed", "fixed", parent, name, place)

    def _moving(self, n: int, parent: str, child: str, place: FloatArray) -> None:
        """Write joint n, whose anchor is at `place` on the parent where the file has it."""
        model, name = self._model, self._refusals.name("joint", n)
        kind, axis = JOINTS[model.jnt_type[n]], np.array(model.jnt_axis[n])
        at = int(model.jnt_qposadr[n])
        if kind in ("free", "ball"):
            self._joint(name, "floating", parent, child, place)
            if kind == "ball":
                damping = float(model.dof_damping[model.jnt_dofadr[n]])
                at_joint = frame(place[:3, 3], place[:3, :3])
                self._constraint(name, "spherical", (parent, at_joint), (child, np.eye(4)), damping)
            return
        back = np.eye(4)
        if kind == "hinge":
            back[:3, :3] = Rotation.from_rotvec(-model.qpos0[at] * axis).as_matrix()
        else:
            back[:3, 3] = -model.qpos0[at] * axis
        limited, (lower, upper) = bool(model.jnt_limited[n]), model.jnt_range[n]
        sort = "prismatic" if kind == "slide" else ("revolute" if limited else "continuous")
        joint = self._joint(name, sort, parent, child, place @ back)
        add(joint, "axis", xyz=text_of(axis))
        effort = self._limits.get(n, np.inf)
        if sort == "continuous" and np.isfinite(effort):
            add(joint, "limit", effort=repr(effort), velocity="0")
        elif limited:
            add(
                joint,
                "limit",
                lower=repr(float(lower)),
                upper=repr(float(upper)),
                effort=repr(effort) if np.isfinite(effort) else "0",
                velocity="0",
            )
        dof = model.jnt_dofadr[n]
        add(
            joint,
            "dynamics",
            damping=repr(float(model.dof_damping[dof])),
            friction=repr(float(model.dof_frictionloss[dof])),
        )
        add(joint, "robodyn", armature=repr(float(model.dof_armature[dof])))
        if n in self._mimics:
            other, factor, offset = self._mimics[n]
            named = self._refusals.name("joint", other)
            add(joint, "mimic", joint=named, multiplier=repr(factor), offset=repr(offset))

    def _joint(
        self, name: str, kind: str, parent: str, child: str, place: FloatArray
    ) -> ElementTree.Element:
        joint = add(self._robot, "joint", name=name, type=kind)
        add(joint, "origin", xyz=text_of(place[:3, 3]), rpy=text_of(rpy_of_rotation(place[:3, :3])))
        add(joint, "parent", link=parent)
        add(joint, "child", link=child)
        return joint

    def _constraint(
        self,
        name: str,
        kind: str,
        parent: tuple[str, FloatArray],
        child: tuple[str, FloatArray],
        damping: float = 0.0,
    ) -> None:
        closure = add(self._robot, "constraint", name=name, type=kind, damping=repr(damping))
        for role, (link, place) in (("parent", parent), ("child", child)):
            add(closure, role, link=link)
            rpy = text_of(rpy_of_rotation(place[:3, :3]))
            add(closure, f"{role}_origin", xyz=text_of(place[:3, 3]), rpy=rpy)

    def _equality(self, n: int) -> None:
        model, kinds = self._model, self._mujoco.mjtEq
        kind, data = int(model.eq_type[n]), model.eq_data[n]
        if kind == int(kinds.mjEQ_JOINT):
            return  # a mimic joint
        if kind not in (int(kinds.mjEQ_CONNECT), int(kinds.mjEQ_WELD)):
            name = kinds(kind).name.removeprefix("mjEQ_").lower()
            raise self._refusals.refuse(
                "equality", n, f"of the type {name}; read are connect, weld and joint"
            )
        welds = kind == int(kinds.mjEQ_WELD)
        ids = int(model.eq_obj1id[n]), int(model.eq_obj2id[n])
        if int(model.eq_objtype[n]) == int(self._mujoco.mjtObj.mjOBJ_SITE):
            ends = [
                (
                    self._link(int(model.site_bodyid[site])),
                    frame(
                        model.site_pos[site],
                        rotation(model.site_quat[site]) if welds else np.eye(3),
                    ),
                )
                for site in ids
            ]
        elif welds:
            turned = frame(data[3:6], rotation(data[6:10]))
            ends = [(self._link(ids[0]), turned), (self._link(ids[1]), frame(data[:3]))]
        else:
            ends = [
                (self._link(ids[0]), frame(data[:3])), (self._link(ids[1]), frame(data[3:6])),
            ]  # fmt: skip
        name = self._refusals.name("equality", n)
        self._constraint(name, "fixed" if welds else "spherical", ends[0], ends[1])

    def _followers(self) -> dict[int, tuple[int, float, float]]:
        """What joint equalities make of joints: the one followed, factor and offset."""
        model, kinds = self._model, self._mujoco.mjtEq
        found: dict[int, tuple[int, float, float]] = {}
        for n in range(model.neq):
            if not model.eq_active0[n] or int(model.eq_type[n]) != int(kinds.mjEQ_JOINT):
                continue
            first, second = int(model.eq_obj1id[n]), int(model.eq_obj2id[n])
            if second < 0:
                raise self._refusals.refuse("equality", n, "it holds a joint; leave the joint out")
            if model.eq_data[n, 2:5].any():
                raise self._refusals.refuse(
                    "equality", n, "a polynomial of joints; read are polycoef of two numbers"
                )
            constant, factor = (float(value) for value in model.eq_data[n, :2])
            own, other = (float(model.qpos0[model.jnt_qposadr[j]]) for j in (first, second))
            found[first] = second, factor, own + constant - factor * other
        return found

    def _effort_limits(self) -> dict[int, float]:
        """Largest effort [N m or N] of each joint that an actuator drives."""
        model, found = self._model, dict[int, float]()
        for n in range(model.nu):
            joint, gear = int(model.actuator_trnid[n, 0]), abs(float(model.actuator_gear[n, 0]))
            limit = np.inf
            if model.actuator_forcelimited[n]:
                limit = gear * float(np.abs(model.actuator_forcerange[n]).max())
            elif model.actuator_ctrllimited[n] and not model.actuator_biastype[n]:
                gain = abs(float(model.actuator_gainprm[n, 0]))
                limit = gear * gain * float(np.abs(model.actuator_ctrlrange[n]).max())
            if model.jnt_actfrclimited[joint]:
                limit = min(limit, float(np.abs(model.jnt_actfrcrange[joint]).max()))
            found[joint] = max(limit, found.get(joint, 0.0))
        return found

    def _control(self) -> None:
        """Which joints are driven, and where the first keyframe has all of them."""
        model = self._model
        control = add(self._robot, "ros2_control", name="motors", type="system")
        start = model.key_qpos[0] if model.nkey else model.qpos0
        closed = bool(self._robot.findall("constraint"))
        # without a keyframe, an arm starts where its limits allow it
        told = closed or bool(model.nkey)
        for n in range(model.njnt):
            if JOINTS[model.jnt_type[n]] in ("free", "ball"):
                continue
            driven = n in self._limits
            value = float(start[model.jnt_qposadr[n]])
            if not driven and not (told and value):
                continue
            joint = add(control, "joint", name=self._refusals.name("joint", n))
            if driven:
                add(joint, "command_interface", name="effort")
            state = add(joint, "state_interface", name="position")
            if told:
                add(state, "param", name="initial_value").text = repr(value)
        if closed and not self._limits:
            raise ModelError(
                f"{self._refusals.source}: no <actuator> drives a joint; a mechanism with closed "
                "loops needs one",
                value=0,
            )


def _without_mass(link: ElementTree.Element) -> None:
    """Say that a link has no mass, which its reader would warn of otherwise."""
    inertial = add(link, "inertial")
    add(inertial, "mass", value="0")
    add(inertial, "inertia", **dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), "0"))


def _name_of(model: Any) -> str:
    """What the model is called."""
    return bytes(model.names).split(b"\0")[0].decode("utf-8", "replace") or "robot"
