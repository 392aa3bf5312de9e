# SPDX-License-Identifier: Apache-2.0

"""Reader of MJCF files: a model with closures, drives and a home configuration.

Each body keeps its frame and each joint its name. Joint positions are those of MuJoCo, including
`ref`. The poses of free and ball joints are relative to the pose in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.model.body import Link
from robodyn.model.builder import Drives, ModelBuilder
from robodyn.model.closure import Closure
from robodyn.model.geometry import Geometry, Material, Primitive
from robodyn.model.joint import Joint, Mimic
from robodyn.model.placement import Placement
from robodyn.model.spring import LinearSpring, PointSpring
from robodyn.parsing.mjcf.compiled import JOINTS, CompiledModel, frame
from robodyn.parsing.mjcf.drives import Couplings, MjcfDrives
from robodyn.parsing.mjcf.own_text import PARTS
from robodyn.parsing.own_attributes import Motor, motor_of, read_settings, with_motor
from robodyn.parsing.urdf_elements import ElementReader
from robodyn.poses import axis_motion, pose_from_matrix

# Largest group of drawn geoms; MuJoCo's viewer also hides higher groups by default.
DRAWN_GROUPS = 3


def read_mjcf(source: Path | str) -> ModelBuilder:
    """Read an MJCF file or text.

    Args:
        source: path of the file, or text.

    Returns:
        A `ModelBuilder` with links, joints, closures, drives and the home configuration.

    Raises:
        MissingExtra: the package mujoco is not installed.
        ModelError: MuJoCo rejects the model, or it has unsupported elements; the error names them.
    """
    return _Reader(CompiledModel(source)).read()


class _Reader:
    """Reader that fills a builder from an `MjModel`."""

    def __init__(self, compiled: CompiledModel) -> None:
        self._compiled, self._model = compiled, compiled.model
        self._couplings = Couplings(compiled)
        self._drives = MjcfDrives(compiled, self._couplings)
        self._home = self._drives.home
        name = bytes(self._model.names).split(b"\0")[0].decode("utf-8", "replace") or "robot"
        self._builder = ModelBuilder(name, compiled.source)
        self._own = compiled.own_text()
        self._own_joints: dict[str, Any] = self._own.get("joints", {})

    def read(self) -> ModelBuilder:
        """Add all parts of the model to a builder, and return it."""
        builder, own = self._builder, self._own
        with builder.error_source():
            for body in range(self._model.nbody):
                self._body(body)
            builder.reorder(own.get("links", ()), own.get("joints", ()))
            builder.check_tree()
            for n in self._compiled.equalities:
                self._equality(n)
        reader = ElementReader(builder.source, links=builder.links)
        for closure in own.get("closures", ()):
            element = Element("constraint", closure["constraint"])
            for part in PARTS:
                SubElement(element, part, closure[part])
            builder.add(reader.closure(element))
        with builder.error_source():
            for n, springs in self._drives.point_springs.items():
                for spring, ending in zip(springs, ("", "_damper"), strict=False):
                    self._spring(n, ending, *spring)
        self._drive()
        builder.base_link = self._link(0)
        weightless = self._compiled.disables("gravity")
        builder.gravity = np.zeros(3) if weightless else np.array(self._model.opt.gravity)
        if own.get("robot"):
            builder.gravity = None
            where = f"{builder.source}: <custom>: the <text> 'robodyn': robot"
            read_settings(builder, own["robot"], where)
        return builder

    def _link(self, body: int) -> str:
        named = self._own.get("base_link") if body == 0 else None
        return named or self._compiled.name("body", body)

    def _body(self, body: int) -> None:
        model, name = self._model, self._link(body)
        self._add_link(name, body)
        if not body:
            return
        parent = self._link(int(model.body_parentid[body]))
        place: Any = self._compiled.place(body, "body")
        joints = self._own_joints
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        fixed = f"{name}_fixed"
        if not count:
            fixed = next((joint for joint in joints if joints[joint].get("child") == name), fixed)
            self._builder.add(Joint(fixed, "fixed", parent, name, Placement.of(place)))
            return
        for n in range(first, first + count):
            anchor = frame(model.jnt_pos[n])
            last = n == first + count - 1
            centered = last and not model.jnt_pos[n].any()
            joint = self._compiled.name("joint", n)
            child = name if centered else joints.get(joint, {}).get("child", f"{name}_on_{joint}")
            if not centered:
                self._builder.add(Link(child))
                self._builder.links_with_inertia.add(child)
            self._add_joint(n, parent, child, place @ anchor)
            parent, place = child, np.linalg.inv(anchor)
        if parent != name:
            self._builder.add(Joint(fixed, "fixed", parent, name, Placement.of(place)))

    def _add_link(self, name: str, body: int) -> None:
        model, shapes = self._model, list(self._shapes(body))
        visuals = tuple(shape for shape, drawn, _ in shapes if drawn)
        collisions = tuple(shape for shape, _, touches in shapes if touches)
        mass = float(model.body_mass[body]) if body else 0.0
        com, inertia = np.zeros(3), np.zeros((3, 3))
        if mass:
            com = model.body_ipos[body]
            R = frame(com, model.body_iquat[body])[:3, :3]
            inertia = R @ np.diag(model.body_inertia[body]) @ R.T
        self._builder.add(Link(name, mass, com, inertia, visuals, collisions))
        if body:
            self._builder.links_with_inertia.add(name)

    def _add_joint(self, n: int, parent: str, child: str, place: FloatArray) -> None:
        """Add joint n of the MuJoCo model to the builder.

        `place` (4, 4) is the frame of the joint's anchor on the parent link, in the initial
        configuration `qpos0`.
        """
        model, name, builder = self._model, self._compiled.name("joint", n), self._builder
        kind, axis = JOINTS[model.jnt_type[n]], np.array(model.jnt_axis[n])
        at, own = int(model.jnt_qposadr[n]), self._own_joints.get(name, {})
        if kind in ("free", "ball"):
            builder.add(Joint(name, "floating", parent, child, Placement.of(place)))
            home = self._floating_home(at, kind, place)
            self._note_home(name, self._motor(name, own, Motor(home=home), floats=True))
            if kind == "ball":
                damping = float(model.dof_damping[model.jnt_dofadr[n]])
                stiffness = float(np.ravel(model.jnt_stiffness[n])[0])
                ball = Closure(name, "spherical", parent, child, Placement.of(place))
                builder.add(replace(ball, damping=damping, stiffness=stiffness))
            return
        slides = kind == "slide"
        sort = "prismatic" if slides else "revolute"
        back = axis_motion(sort, axis, -model.qpos0[at])
        drives, ends = self._drives, self._drives.range[n]
        if not (slides or np.isfinite(ends).any()):
            sort = "continuous"
        least, largest = drives.limits.get(n, (-np.inf, np.inf))
        limits = {"effort": max(abs(least), abs(largest)), "velocity": np.inf}
        if own:
            limits |= {"effort": np.inf} | own["limit"]
        if not limits["effort"]:
            builder.zero_limits[name] = ("effort",)
        mimic = None
        if n in self._couplings.follows:
            other, factor, offset = self._couplings.follows[n]
            mimic = Mimic(self._compiled.name("joint", other), factor, offset)
        joint = Joint(
            name,
            sort,
            parent,
            child,
            at=Placement.of(place @ back),
            axis=axis,
            mimic=mimic,
            damping=float(drives.damping[n]),
            friction=np.full(2, drives.friction[n]),
            position=np.array(ends),
            velocity=limits["velocity"] or np.inf,
            effort=limits["effort"] or np.inf,
            spring=drives.springs[n],
        )
        home = None if self._home is None else (float(self._home[at]),)
        motor = self._motor(name, own, Motor(float(drives.armature[n]), home=home))
        self._note_home(name, motor)
        params = dict(own.get("params", {}))
        if least != -largest and np.isfinite([least, largest]).all():
            params = {"least_effort": repr(least), "largest_effort": repr(largest)} | params
        builder.add(with_motor(joint, motor, params))

    def _motor(
        self, name: str, own: dict[str, Any], found: Motor, *, floats: bool = False
    ) -> Motor:
        """Return the motor data stored by robodyn's writer, or `found` if there are none."""
        if "own" not in own:
            return found
        where = f"{self._builder.source}: <custom>: the <text> 'robodyn': joint {name!r}"
        return motor_of(own["own"], where, floats=floats)

    def _note_home(self, name: str, motor: Motor) -> None:
        if motor.home is not None:
            self._builder.home[name] = motor.home

    def _floating_home(self, at: int, kind: str, place: FloatArray) -> tuple[float, ...] | None:
        """Return the keyframe's pose (7,) of a free or ball joint, relative to `place`.

        `place` (4, 4) is the frame of the joint on its parent. The result is None if there is no
        keyframe.
        """
        if self._home is None:
            return None
        if kind == "ball":
            w, *xyz = self._home[at : at + 4].tolist()
            return (0.0, 0.0, 0.0, *xyz, w)
        pose = frame(self._home[at : at + 3], self._home[at + 3 : at + 7])
        return tuple(pose_from_matrix(np.linalg.inv(place) @ pose).tolist())

    def _equality(self, n: int) -> None:
        model, kinds = self._model, self._compiled.mujoco.mjtEq
        kind, data = int(model.eq_type[n]), model.eq_data[n]
        name = self._compiled.name("equality", n)
        if kind in (int(kinds.mjEQ_JOINT), int(kinds.mjEQ_TENDON)):
            return  # a mimic joint
        if any(name in closure["equalities"] for closure in self._own.get("closures", ())):
            return  # part of a closure that is read as a whole
        if kind not in (int(kinds.mjEQ_CONNECT), int(kinds.mjEQ_WELD)):
            kind_name = kinds(kind).name.removeprefix("mjEQ_").lower()
            raise self._compiled.refuse(
                "equality",
                n,
                f"has the type {kind_name}; the supported types are connect, weld, joint and "
                "tendon",
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
        # with a torquescale of 0 a weld constrains points only
        fixed = welds and float(data[10]) != 0.0
        if not fixed:
            places = [frame(place[:3, 3]) for place in places]
        (parent, child), (at, child_at) = links, map(Placement.of, places)
        sort = "fixed" if fixed else "spherical"
        self._builder.add(Closure(name, sort, parent, child, at, child_at))

    def _spring(
        self, n: int, ending: str, law: LinearSpring, damping: float, tension_only: bool
    ) -> None:
        """Add the spring of tendon n, with the preload that robodyn's writer stored."""
        name, sites = self._compiled.name("tendon", n) + ending, self._couplings.sites_of(n)
        preload = float(self._own.get("preloads", {}).get(name, 0.0))
        if preload and law.stiffness:
            law = LinearSpring(law.stiffness, law.rest + preload / law.stiffness, preload)
        parent, child = (self._link(int(self._model.site_bodyid[site])) for site in sites)
        at, child_at = (np.array(self._model.site_pos[site]) for site in sites)
        ends = parent, child, at, child_at
        self._builder.springs.append(PointSpring(name, *ends, law, damping, tension_only))

    def _shapes(self, body: int) -> Iterator[tuple[Geometry, bool, bool]]:
        """Yield each shape of a body, whether it is visible, and whether it collides."""
        model, kinds = self._model, self._compiled.mujoco.mjtGeom
        first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
        for n in range(first, first + count):
            kind, size = int(model.geom_type[n]), model.geom_size[n].tolist()
            if kind == int(kinds.mjGEOM_SPHERE):
                form = Primitive("sphere", (size[0],))
            elif kind == int(kinds.mjGEOM_BOX):
                form = Primitive("box", tuple(2.0 * side for side in size))
            elif kind == int(kinds.mjGEOM_CYLINDER):
                form = Primitive("cylinder", (size[0], 2.0 * size[1]))
            elif kind == int(kinds.mjGEOM_CAPSULE):
                form = Primitive("capsule", (size[0], 2.0 * size[1]))
            else:
                continue
            rgba = tuple(round(float(value), 4) for value in model.geom_rgba[n])
            at = Placement.of(self._compiled.place(n, "geom"))
            touches = bool(model.geom_contype[n] or model.geom_conaffinity[n])
            drawn = int(model.geom_group[n]) < DRAWN_GROUPS
            yield Geometry(form, at, Material(color=rgba)), drawn, touches

    def _drive(self) -> None:
        """Set the builder's driven joints and home positions."""
        model, builder = self._model, self._builder
        names = {n: self._compiled.name("joint", n) for n in range(model.njnt)}
        builder.drives = Drives.of([name for n, name in names.items() if n in self._drives.limits])
        # without a keyframe, an arm starts within its limits
        if builder.home or (self._home is None and not builder.closures):
            return
        start = model.qpos0 if self._home is None else self._home
        for n, name in names.items():
            if JOINTS[model.jnt_type[n]] not in ("free", "ball"):
                builder.home[name] = (float(start[model.jnt_qposadr[n]]),)
