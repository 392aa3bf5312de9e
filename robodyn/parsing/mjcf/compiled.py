# SPDX-License-Identifier: Apache-2.0

"""Compilation of MJCF files by MuJoCo, and rejection of unsupported elements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import ModelError, warn
from robodyn.extras import require_extra
from robodyn.parsing.mjcf.bounds import check_bounds
from robodyn.parsing.mjcf.own_text import read_own_text
from robodyn.poses import matrix_from_pose

JOINTS = ("free", "ball", "slide", "hinge")
# Flags that a file may disable without effect here; gravity and equalities are respected.
FLAGS = ("limit", "actuation", "frictionloss", "damper")


class CompiledModel:
    """Compiled MuJoCo model of a file or text.

    Attributes:
        mujoco: the package mujoco.
        model: its `MjModel`.
        source: origin of the model, for messages.

    Raises:
        MissingExtra: the package mujoco is not installed.
        ModelError: MuJoCo rejects the model (the error contains its reason), or the model has
            unsupported elements.
    """

    def __init__(self, source: Path | str) -> None:
        self.source = "MJCF text" if isinstance(source, str) else str(source)
        with require_extra(
            "mujoco", f"{self.source}: reading MJCF needs the package mujoco", self.source
        ):
            import mujoco
        self.mujoco = mujoco
        check_bounds(source, self.source)
        self.model = self._compile(source)
        self._check()

    def _compile(self, source: Path | str) -> Any:
        """Return the compiled model; leave out unreadable meshes if possible.

        Meshes are only left out if all inertias are given explicitly.
        """
        read = self.mujoco.MjModel
        try:
            if isinstance(source, str):
                return read.from_xml_string(source)
            return read.from_xml_path(str(source))
        except Exception as failure:
            reason = " ".join(str(failure).split())
            bare = self._without_assets(source)
            if bare is not None:
                return bare
            text = f"{self.source}: MuJoCo rejects the model: {reason}"
            raise ModelError(text, value=self.source) from failure

    def _without_assets(self, source: Path | str) -> Any:
        """Compile the model without geoms and their files.

        The result is None if an inertia depends on the geoms.
        """
        read, geoms = self.mujoco.MjSpec, self.mujoco.mjtGeom
        try:
            spec = (
                read.from_string(source) if isinstance(source, str) else read.from_file(str(source))
            )
            missing = [*spec.meshes, *spec.textures, *spec.hfields, *spec.skins]
            kinds = int(geoms.mjGEOM_MESH), int(geoms.mjGEOM_HFIELD)
            drawn = [geom for geom in spec.geoms if geom.meshname or int(geom.type) in kinds]
            # the world's inertia has no effect
            bodies = (geom.parent for geom in drawn)
            if not missing or not all(b.explicitinertial or b.parent is None for b in bodies):
                return None
            for geom in spec.geoms:
                geom.material = ""
            for item in [*spec.sensors, *spec.pairs, *drawn, *missing, *spec.materials]:
                spec.delete(item)
            return spec.compile()
        except Exception:
            return None

    def _check(self) -> None:
        """Reject unsupported elements that change the mechanism; warn about others."""
        model = self.model
        if model.nflex:
            raise self.refuse("flex", 0, "flexible bodies are not supported")
        for n in range(model.njnt):
            self._check_joint(n)
        for n in range(model.nbody):
            if model.body_gravcomp[n]:
                self.leave_out("body", n, "gravcomp; gravity acts on the body in full")
        if np.any(model.opt.wind) or model.opt.density or model.opt.viscosity:
            warn(f"{self.source}: ignored the medium (wind, density, viscosity)")
        off = [name for name in FLAGS if self.disables(name)]
        if off:
            warn(f"{self.source}: ignored <flag>, which disables {', '.join(off)}")
        self._warn_of_contacts()

    @property
    def equalities(self) -> list[int]:
        """Indices of the active equality constraints."""
        off = self.disables("equality")
        return [n for n in range(self.model.neq) if self.model.eq_active0[n] and not off]

    def disables(self, flag: str) -> bool:
        """Return whether the options of the file disable a feature such as `gravity`."""
        bit = int(getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{flag.upper()}"))
        return bool(self.model.opt.disableflags & bit)

    def _warn_of_contacts(self) -> None:
        """Warn that contacts between bodies are left out."""
        model = self.model
        if self.disables("contact"):
            return
        welds = np.array(model.body_weldid)
        # combine the bits of all geoms of a rigid body, as matching bits of any two geoms suffice
        bits = np.zeros((2, model.nbody), dtype=np.int64)
        for row, name in zip(bits, ("contype", "conaffinity"), strict=True):
            np.bitwise_or.at(row, model.geom_bodyid, getattr(model, f"geom_{name}"))
        meets = (bits[0][:, None] & bits[1]) | (bits[1][:, None] & bits[0])
        above = welds[model.body_parentid[welds]]
        apart = welds[:, None] != welds
        if not self.disables("filterparent"):
            beside = (above[:, None] == welds) | (welds[:, None] == above)
            apart &= ~(beside & (welds[:, None] != 0) & (welds != 0))
        pairs = {(int(a), int(b)) for a, b in np.argwhere(np.triu((meets != 0) & apart))}
        pairs -= {(int(s) >> 16, int(s) & 0xFFFF) for s in model.exclude_signature}
        for n in range(model.npair):
            bodies = model.geom_bodyid[[model.pair_geom1[n], model.pair_geom2[n]]]
            pairs.add((int(min(bodies)), int(max(bodies))))
        if pairs:
            first, second = (self.name("body", body) for body in min(pairs))
            warn(
                f"{self.source}: ignored contacts, which MuJoCo has between {len(pairs)} "
                f"pair{'s' if len(pairs) > 1 else ''} of bodies, such as {first!r} and {second!r}; "
                "here bodies pass through each other"
            )

    def _check_joint(self, n: int) -> None:
        model = self.model
        kind, first = JOINTS[model.jnt_type[n]], model.jnt_dofadr[n]
        width = {"free": 6, "ball": 3}.get(kind, 1)
        dofs = slice(first, first + width)
        if kind == "free" and np.any(model.jnt_stiffness[n]):
            self.leave_out("joint", n, "stiffness; springs of free joints are not supported")
        self.leave_out_curve("joint", n, "jnt_stiffness")
        self.leave_out_curve("joint", n, "dof_damping", dofs)
        if kind == "ball" and model.jnt_limited[n]:
            self.leave_out("joint", n, "range; the ball joint turns freely")
        names = {
            "free": ("armature", "frictionloss", "damping"),
            "ball": ("armature", "frictionloss"),
        }
        ignored = [key for key in names.get(kind, ()) if np.any(getattr(model, f"dof_{key}")[dofs])]
        if ignored:
            self.leave_out("joint", n, f"{' and '.join(ignored)} of a {kind} joint")

    def refuse(self, kind: str, n: int, reason: str) -> ModelError:
        """Create the error for an unsupported element.

        Args:
            kind: type of the element, such as `joint`.
            n: index of the element among those of this type.
            reason: end of the message.

        Returns:
            The `ModelError`, to be raised by the caller.
        """
        name = self.name(kind, n)
        return ModelError(f"{self.source}: {kind} {name!r}: {reason}", value=name)

    def leave_out(self, kind: str, n: int, what: str) -> None:
        """Warn that a property of an element, `what`, is ignored."""
        warn(f"{self.source}: {kind} {self.name(kind, n)!r}: ignored {what}")

    def leave_out_curve(self, kind: str, n: int, array: str, rows: slice | None = None) -> None:
        """Warn that the nonlinear terms of an element's stiffness or damping are ignored.

        Args:
            kind, n: type and index of the element.
            array: name of the array in `MjModel`, such as `jnt_stiffness`.
            rows: indices in the array, if these are not `n`.
        """
        if np.any(self.entry(f"{array}poly", n if rows is None else rows)):
            what = array.split("_")[1].replace("stiffness", "spring")
            self.leave_out(kind, n, f"the nonlinear part of its {what}")

    def entry(self, array: str, n: int | slice) -> Any:
        """Return element n of an array of `MjModel`; 0 if this MuJoCo lacks the array."""
        found = getattr(self.model, array, None)
        return 0.0 if found is None else found[n]

    def name(self, kind: str, n: int) -> str:
        """Return the name of element n of type `kind`; type and index if it has none."""
        number = getattr(self.mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        return self.mujoco.mj_id2name(self.model, number, n) or f"{kind}{n}"

    def place(self, n: int, kind: str) -> FloatArray:
        """Return the pose (4, 4) of an element relative to its parent body.

        `n` is the index of the element, and `kind` its type: `body`, `geom` or `site`.
        """
        return frame(getattr(self.model, f"{kind}_pos")[n], getattr(self.model, f"{kind}_quat")[n])

    def own_text(self) -> dict[str, Any]:
        """Return the data that `save` wrote into the custom text `robodyn`.

        The dictionary is empty if there is no such text.
        """
        model = self.model
        n = self.mujoco.mj_name2id(model, self.mujoco.mjtObj.mjOBJ_TEXT, "robodyn")
        if n < 0:
            return {}
        first = int(model.text_adr[n])
        data = bytes(model.text_data[first : first + int(model.text_size[n])])
        return read_own_text(data.rstrip(b"\0").decode("utf-8", "replace"), self.source)


def frame(position: ArrayLike, quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> FloatArray:
    """Convert a position (3,) and a quaternion (w, x, y, z) to a transform (4, 4)."""
    w, *xyz = np.asarray(quaternion) / np.linalg.norm(quaternion)
    return matrix_from_pose(np.concatenate([position, xyz, [w]]))
