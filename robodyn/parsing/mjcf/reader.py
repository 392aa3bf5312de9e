# SPDX-License-Identifier: Apache-2.0

"""An MJCF file as URDF text, with closures, drives and a home, for the readers that there are.

Each body keeps its frame, each joint its name, and positions are MuJoCo's, `ref` included, but for
free and ball joints, whose pose is told from where the file has them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.formats.urdf_shapes import (
    TAG,
    document_text,
    element,
    frame_origin,
    inertial,
    number,
    numbers,
    put_in_order,
    write_closure,
    write_joint,
    write_motion,
)
from robodyn.parsing.mjcf.compiled import JOINTS, Compiled, frame
from robodyn.parsing.mjcf.drives import Couplings, MjcfDrives
from robodyn.parsing.mjcf.own_text import PARTS
from robodyn.poses import axis_motion, pose_from_matrix

# Geoms of higher groups are not drawn by MuJoCo's viewer either, as long as it is not told to.
DRAWN_GROUPS = 3


def read_mjcf(source: Path | str) -> str:
    """URDF text of a file, or of MJCF text.

    Raises:
        MissingExtra: the package mujoco is not installed.
        ModelError: MuJoCo refuses it, or it has something that is not read here; by name.
    """
    return _Writer(Compiled(source)).written()


class _Writer:
    """Writes URDF text of an `MjModel`."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled, self._model = compiled, compiled.model
        self._couplings = Couplings(compiled)
        self._drives = MjcfDrives(compiled, self._couplings)
        self._home = self._drives.home
        name = bytes(self._model.names).split(b"\0")[0].decode("utf-8", "replace") or "robot"
        self._robot = element(None, "robot", name=name)
        self._own = compiled.own_text()

    def written(self) -> str:
        """The text."""
        for body in range(self._model.nbody):
            self._body(body)
        for tag in ("link", "joint"):
            put_in_order(self._robot, tag, self._own.get(f"{tag}s", ()))
        for n in self._compiled.equalities:
            self._equality(n)
        for closure in self._own.get("closures", ()):
            made = element(self._robot, "constraint", **closure["constraint"])
            for part in PARTS:
                element(made, part, **closure[part])
        self._control()
        weightless = self._compiled.disables("gravity")
        gravity = np.zeros(3) if weightless else self._model.opt.gravity
        settings = {"gravity": numbers(gravity), "base_link": self._link(0)}
        element(self._robot, TAG, **(self._own.get("robot") or settings))
        return document_text(self._robot)

    def _link(self, body: int) -> str:
        named = self._own.get("base_link") if body == 0 else None
        return named or self._compiled.name("body", body)

    def _body(self, body: int) -> None:
        model, name = self._model, self._link(body)
        link = element(self._robot, "link", name=name)
        mass = float(model.body_mass[body])
        if body and mass == 0.0:
            inertial(link)
        elif body:
            R = frame(model.body_ipos[body], model.body_iquat[body])[:3, :3]
            I = R @ np.diag(model.body_inertia[body]) @ R.T  # noqa: E741
            inertial(link, mass, model.body_ipos[body], I)
        self._shapes(body, link)
        if not body:
            return
        parent = self._link(int(model.body_parentid[body]))
        place: Any = self._compiled.place(body, "body")
        told = self._own.get("joints", {})
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        fixed = f"{name}_fixed"
        if not count:
            fixed = next((joint for joint in told if told[joint].get("child") == name), fixed)
            write_joint(self._robot, fixed, "fixed", parent, name, place)
            return
        for n in range(first, first + count):
            anchor = frame(model.jnt_pos[n])
            last = n == first + count - 1
            centred = last and not model.jnt_pos[n].any()
            joint = self._compiled.name("joint", n)
            child = name if centred else told.get(joint, {}).get("child", f"{name}_on_{joint}")
            if not centred:
                inertial(element(self._robot, "link", name=child))
            self._moving(n, parent, child, place @ anchor)
            parent, place = child, np.linalg.inv(anchor)
        if parent != name:
            write_joint(self._robot, fixed, "fixed", parent, name, place)

    def _moving(self, n: int, parent: str, child: str, place: FloatArray) -> None:
        """Write joint n, whose anchor is at `place` on the parent where the file has it."""
        model, name = self._model, self._compiled.name("joint", n)
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
                ends = (parent, place, None), (child, np.eye(4), None)
                write_closure(self._robot, name, "spherical", ends, damping)
            return
        slides = kind == "slide"
        sort = "prismatic" if slides else "revolute"
        back = axis_motion(sort, axis, -model.qpos0[at])
        drives, ends = self._drives, self._drives.range[n]
        if not (slides or np.isfinite(ends).any()):
            sort = "continuous"
        joint = write_joint(self._robot, name, sort, parent, child, place @ back)
        strongest = max(map(abs, drives.limits.get(n, (np.inf,))))
        limits = {"effort": strongest, "velocity": np.inf}
        if own:
            limits |= {"effort": np.inf} | own["limit"]
        mimic = None
        if n in self._couplings.follows:
            other, factor, offset = self._couplings.follows[n]
            mimic = self._compiled.name("joint", other), factor, offset
        damping, friction = float(drives.damping[n]), float(drives.friction[n])
        write_motion(
            joint, axis, position=ends, damping=damping, friction=friction, mimic=mimic, **limits
        )
        said = {"armature": number(drives.armature[n])}
        if self._home is not None:
            said["home"] = number(self._home[at])
        element(joint, TAG, **own.get("own", said))

    def _floating_home(self, at: int, kind: str, place: FloatArray) -> dict[str, str]:
        """Where the keyframe has a free or ball joint, from where the file has it."""
        if self._home is None:
            return {}
        if kind == "ball":
            w, *xyz = self._home[at : at + 4]
            return {"home": numbers([0.0, 0.0, 0.0, *xyz, w])}
        pose = frame(self._home[at : at + 3], self._home[at + 3 : at + 7])
        return {"home": numbers(pose_from_matrix(np.linalg.inv(place) @ pose))}

    def _equality(self, n: int) -> None:
        model, kinds = self._model, self._compiled.mujoco.mjtEq
        kind, data = int(model.eq_type[n]), model.eq_data[n]
        name = self._compiled.name("equality", n)
        if kind in (int(kinds.mjEQ_JOINT), int(kinds.mjEQ_TENDON)):
            return  # a mimic joint
        if any(name in closure["equalities"] for closure in self._own.get("closures", ())):
            return  # told as a whole
        if kind not in (int(kinds.mjEQ_CONNECT), int(kinds.mjEQ_WELD)):
            kind_name = kinds(kind).name.removeprefix("mjEQ_").lower()
            raise self._compiled.refuse(
                "equality", n, f"of the type {kind_name}; read are connect, weld, joint and tendon"
            )
        welds = kind == int(kinds.mjEQ_WELD)
        ids = int(model.eq_obj1id[n]), int(model.eq_obj2id[n])
        if int(model.eq_objtype[n]) == int(self._compiled.mujoco.mjtObj.mjOBJ_SITE):
            links = [self._link(int(model.site_bodyid[id_])) for id_ in ids]
            places = [self._compiled.place(id_, "site") for id_ in ids]
        else:
            links = [self._link(id_) for id_ in ids]
            first = frame(data[3:6], data[6:10]) if welds else frame(data[:3])
            places = [first, frame(data[:3] if welds else data[3:6])]
        # with a torquescale of 0 a weld holds points only
        fixed = welds and float(data[10]) != 0.0
        if not fixed:
            places = [frame(place[:3, 3]) for place in places]
        ends = zip(links, places, (None, None), strict=True)
        write_closure(self._robot, name, "fixed" if fixed else "spherical", ends)

    def _shapes(self, body: int, link: ElementTree.Element) -> None:
        """Add a visual for each sphere, box, cylinder and capsule of a body to its link."""
        model, kinds = self._model, self._compiled.mujoco.mjtGeom
        first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
        for n in range(first, first + count):
            kind, size = int(model.geom_type[n]), [float(value) for value in model.geom_size[n]]
            if kind == int(kinds.mjGEOM_SPHERE):
                shape, sizes = "sphere", {"radius": number(size[0])}
            elif kind == int(kinds.mjGEOM_BOX):
                shape, sizes = "box", {"size": numbers(2.0 * model.geom_size[n])}
            elif kind in (int(kinds.mjGEOM_CYLINDER), int(kinds.mjGEOM_CAPSULE)):
                shape = "cylinder"
                sizes = {"radius": number(size[0]), "length": number(2.0 * size[1])}
            else:
                continue
            if model.geom_group[n] >= DRAWN_GROUPS:
                continue
            visual = element(link, "visual")
            frame_origin(visual, self._compiled.place(n, "geom"))
            element(element(visual, "geometry"), shape, **sizes)
            material = element(visual, "material", name=f"geom{n}")
            rgba = numbers([round(float(value), 4) for value in model.geom_rgba[n]])
            element(material, "color", rgba=rgba)

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
            name, driven = self._compiled.name("joint", n), n in self._drives.limits
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
