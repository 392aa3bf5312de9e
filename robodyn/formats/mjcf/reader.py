# SPDX-License-Identifier: Apache-2.0

"""An MJCF file as URDF text, with closures, drives and a home, for the readers that there are.

Each body keeps its frame, each joint its name, and positions are MuJoCo's, `ref` included, but for
free and ball joints, whose pose is told from where the file has them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from robodyn.arrays import FloatArray
from robodyn.formats.mjcf.compiled import JOINTS, Refusals, compiled, mujoco_module
from robodyn.formats.mjcf.couplings import Couplings
from robodyn.formats.mjcf.drives import MjcfDrives, home_of
from robodyn.formats.mjcf.elements import add_shapes, frame, rotation
from robodyn.formats.urdf_motors import TAG
from robodyn.formats.urdf_shapes import (
    UNLIMITED,
    element,
    frame_origin,
    inertial,
    joints_in_order,
    massless,
    numbers,
    write_joint,
)

# Of a closure, as our own writer says it.
PARTS = ("parent", "parent_origin", "parent_axis", "child", "child_origin", "child_axis")


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
        self._own = own_text(mujoco, model)
        self._couplings = Couplings(mujoco, model, refusals)
        self._drives = MjcfDrives(mujoco, model, refusals, self._couplings)
        self._home = home_of(mujoco, model)

    def written(self) -> str:
        """The text."""
        for body in range(self._model.nbody):
            self._body(body)
        joints_in_order(self._robot, self._own.get("joints", ()))
        for n in range(self._model.neq):
            if self._model.eq_active0[n]:
                self._equality(n)
        for closure in self._own.get("closures", ()):
            made = element(self._robot, "constraint", **closure["constraint"])
            for part in PARTS:
                element(made, part, **closure[part])
        self._control()
        settings = {"gravity": numbers(self._model.opt.gravity), "base_link": self._link(0)}
        element(self._robot, TAG, **(self._own.get("robot") or settings))
        ElementTree.indent(self._robot)
        return ElementTree.tostring(self._robot, encoding="unicode")

    def _link(self, body: int) -> str:
        named = self._own.get("base_link") if body == 0 else None
        return named or self._refusals.name("body", body)

    def _body(self, body: int) -> None:
        model, name = self._model, self._link(body)
        link = element(self._robot, "link", name=name)
        mass = float(model.body_mass[body])
        if body and mass == 0.0:
            massless(link)
        elif body:
            R = rotation(model.body_iquat[body])
            I = R @ np.diag(model.body_inertia[body]) @ R.T  # noqa: E741
            inertial(link, mass, model.body_ipos[body], I)
        add_shapes(self._mujoco, model, body, link)
        if not body:
            return
        parent = self._link(int(model.body_parentid[body]))
        place: Any = frame(model.body_pos[body], rotation(model.body_quat[body]))
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        if not count:
            write_joint(self._robot, f"{name}_fixed", "fixed", parent, name, place)
            return
        for n in range(first, first + count):
            anchor = frame(model.jnt_pos[n])
            last = n == first + count - 1
            centred = last and not model.jnt_pos[n].any()
            child = name if centred else f"{name}_on_{self._refusals.name('joint', n)}"
            if not centred:
                massless(element(self._robot, "link", name=child))
            self._moving(n, parent, child, place @ anchor)
            parent, place = child, np.linalg.inv(anchor)
        if parent != name:
            write_joint(self._robot, f"{name}_fixed", "fixed", parent, name, place)

    def _moving(self, n: int, parent: str, child: str, place: FloatArray) -> None:
        """Write joint n, whose anchor is at `place` on the parent where the file has it."""
        model, name = self._model, self._refusals.name("joint", n)
        kind, axis = JOINTS[model.jnt_type[n]], np.array(model.jnt_axis[n])
        at = int(model.jnt_qposadr[n])
        own = self._own.get("joints", {}).get(name, {})
        if kind in ("free", "ball"):
            joint = write_joint(self._robot, name, "floating", parent, child, place)
            home = own.get("own", self._floating_home(at, kind, place))
            if home:
                element(joint, TAG, **home)
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
        drives, ends = self._drives, self._drives.range[n]
        limited = bool(np.isfinite(ends).any())
        sort = "prismatic" if kind == "slide" else ("revolute" if limited else "continuous")
        joint = write_joint(self._robot, name, sort, parent, child, place @ back)
        element(joint, "axis", xyz=numbers(axis))
        strongest = max(map(abs, drives.limits.get(n, (np.inf,))))
        limits = {"effort": strongest, "velocity": np.inf}
        if own:
            limits |= {"effort": np.inf} | own["limit"]
        # 0 says that there is none
        texts = {key: repr(value if np.isfinite(value) else 0.0) for key, value in limits.items()}
        if limited:
            lower, upper = np.clip(ends, -UNLIMITED, UNLIMITED)
            texts |= {"lower": repr(float(lower)), "upper": repr(float(upper))}
        element(joint, "limit", **texts)
        damping, friction = float(drives.damping[n]), float(drives.friction[n])
        element(joint, "dynamics", damping=repr(damping), friction=repr(friction))
        said = {"armature": repr(float(drives.armature[n]))}
        if self._home is not None:
            said["home"] = repr(float(self._home[at]))
        element(joint, TAG, **own.get("own", said))
        if n in self._couplings.follows:
            other, factor, offset = self._couplings.follows[n]
            named = self._refusals.name("joint", other)
            element(joint, "mimic", joint=named, multiplier=repr(factor), offset=repr(offset))

    def _floating_home(self, at: int, kind: str, place: FloatArray) -> dict[str, str]:
        """Where the keyframe has a free or ball joint, from where the file has it."""
        if self._home is None:
            return {}
        if kind == "ball":
            w, *xyz = self._home[at : at + 4]
            return {"home": numbers([0.0, 0.0, 0.0, *xyz, w])}
        pose = frame(self._home[at : at + 3], rotation(self._home[at + 3 : at + 7]))
        own = np.linalg.inv(place) @ pose
        turned = Rotation.from_matrix(own[:3, :3]).as_quat()
        return {"home": numbers([*own[:3, 3], *turned])}

    def _constraint(
        self,
        name: str,
        kind: str,
        parent: tuple[str, FloatArray],
        child: tuple[str, FloatArray],
        damping: float = 0.0,
    ) -> None:
        closure = element(self._robot, "constraint", name=name, type=kind, damping=repr(damping))
        for role, (link, place) in (("parent", parent), ("child", child)):
            element(closure, role, link=link)
            frame_origin(closure, place, f"{role}_origin")

    def _equality(self, n: int) -> None:
        model, kinds = self._model, self._mujoco.mjtEq
        kind, data = int(model.eq_type[n]), model.eq_data[n]
        name = self._refusals.name("equality", n)
        if kind in (int(kinds.mjEQ_JOINT), int(kinds.mjEQ_TENDON)):
            return  # a mimic joint
        if any(name in closure["equalities"] for closure in self._own.get("closures", ())):
            return  # told as a whole
        if kind not in (int(kinds.mjEQ_CONNECT), int(kinds.mjEQ_WELD)):
            kind_name = kinds(kind).name.removeprefix("mjEQ_").lower()
            raise self._refusals.refuse(
                "equality", n, f"of the type {kind_name}; read are connect, weld, joint and tendon"
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
        self._constraint(name, "fixed" if welds else "spherical", ends[0], ends[1])

    def _control(self) -> None:
        """Which joints are driven, their actuators, and where the keyframe has all of them."""
        model = self._model
        control = element(self._robot, "ros2_control", name="motors", type="system")
        start = model.qpos0 if self._home is None else self._home
        # without a keyframe, an arm starts where its limits allow it
        has_home = bool(self._robot.findall("constraint")) or self._home is not None
        for n in range(model.njnt):
            if JOINTS[model.jnt_type[n]] in ("free", "ball"):
                continue
            name, driven = self._refusals.name("joint", n), n in self._drives.limits
            value = float(start[model.jnt_qposadr[n]])
            params = self._own.get("joints", {}).get(name, {}).get("params", {})
            least, largest = self._drives.limits.get(n, (-np.inf, np.inf))
            if least != -largest and np.isfinite([least, largest]).all():
                one = {"least_effort": repr(least), "largest_effort": repr(largest)}
                params = one | params
            if not (driven or params or (has_home and value)):
                continue
            joint = element(control, "joint", name=name)
            if driven:
                element(joint, "command_interface", name="effort")
            state = element(joint, "state_interface", name="position")
            if has_home:
                element(state, "param", name="initial_value").text = repr(value)
            for key, text in params.items():
                element(joint, "param", name=key).text = text


def own_text(mujoco: Any, model: Any) -> dict[str, Any]:
    """What our own writer says beyond MJCF, in the custom text `robodyn`; empty without it."""
    n = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_TEXT, "robodyn")
    if n < 0:
        return {}
    first = int(model.text_adr[n])
    data = bytes(model.text_data[first : first + int(model.text_size[n])])
    data = json.loads(data.rstrip(b"\0").decode("utf-8"))
    return dict(data)


def _name_of(model: Any) -> str:
    """What the model is called."""
    return bytes(model.names).split(b"\0")[0].decode("utf-8", "replace") or "robot"
