# SPDX-License-Identifier: Apache-2.0

"""What MuJoCo compiles of an MJCF file, and a refusal of what is not read here."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.errors import LeftOutWarning, MissingExtra, ModelError
from robodyn.extras import how_to_install

JOINTS = ("free", "ball", "slide", "hinge")


def mujoco_module(source: str) -> Any:
    """The package mujoco.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import mujoco
    except ImportError as failure:
        raise MissingExtra(
            f"{source}: reading MJCF needs the package mujoco: {how_to_install('mujoco')}",
            value=source,
        ) from failure
    return mujoco


def compiled(source: str, path: Path | None, text: str) -> Any:
    """The `MjModel` of a file or, where there is none, of text.

    Meshes and textures that cannot be read are left out where every body states its inertia.

    Raises:
        MissingExtra: the package mujoco is not installed.
        ModelError: MuJoCo refuses it, in one line with its reason.
    """
    mujoco = mujoco_module(source)
    try:
        if path is None:
            return mujoco.MjModel.from_xml_string(text)
        return mujoco.MjModel.from_xml_path(str(path))
    except Exception as failure:
        reason = " ".join(str(failure).split())
        bare = _without_assets(mujoco, path, text)
        if bare is not None:
            return bare
        raise ModelError(f"{source}: MuJoCo refuses it: {reason}", value=source) from failure


def _without_assets(mujoco: Any, path: Path | None, text: str) -> Any:
    """The model without geoms and their files; None if a body's inertia comes from its geoms."""
    try:
        if path is None:
            spec = mujoco.MjSpec.from_string(text)
        else:
            spec = mujoco.MjSpec.from_file(str(path))
        missing = [*spec.meshes, *spec.textures, *spec.hfields, *spec.skins]
        kinds = int(mujoco.mjtGeom.mjGEOM_MESH), int(mujoco.mjtGeom.mjGEOM_HFIELD)
        drawn = [geom for geom in spec.geoms if geom.meshname or int(geom.type) in kinds]
        if not missing or not all(_weighed(geom.parent) for geom in drawn):
            return None
        for geom in spec.geoms:
            geom.material = ""
        for item in [*spec.sensors, *spec.pairs, *drawn, *missing, *spec.materials]:
            spec.delete(item)
        return spec.compile()
    except Exception:
        return None


def _weighed(body: Any) -> bool:
    """Whether a body's inertia is stated, or of no account as it is the world."""
    return bool(body.explicitinertial) or body.parent is None


class Refusals:
    """Says what of a model is not read, by the kind and the name of the element.

    Args:
        mujoco: the package.
        model: an `MjModel`.
        source: where it came from, for messages.
    """

    def __init__(self, mujoco: Any, model: Any, source: str) -> None:
        self._mujoco, self._model, self.source = mujoco, model, source

    def check(self) -> None:
        """Refuse what would make the mechanism another one; warn of what is left out.

        Raises:
            ModelError: with the element's name.
        """
        model = self._model
        if model.nflex:
            raise self.refuse("flex", 0, "bodies are rigid here")
        for n in range(model.njnt):
            self._check_joint(n)
        for n in range(model.nbody):
            if model.body_gravcomp[n]:
                self._leave_out("body", n, "gravcomp; its weight counts in full")
        if np.any(model.opt.wind) or model.opt.density or model.opt.viscosity:
            warnings.warn(
                f"{self.source}: the medium (wind, density, viscosity) is left out",
                LeftOutWarning,
                stacklevel=2,
            )

    def _check_joint(self, n: int) -> None:
        model = self._model
        kind, first = JOINTS[model.jnt_type[n]], model.jnt_dofadr[n]
        width = {"free": 6, "ball": 3}.get(kind, 1)
        dofs = slice(first, first + width)
        if np.any(model.jnt_stiffness[n]):
            self._leave_out("joint", n, "stiffness; it has no spring here")
        names = {
            "free": ("armature", "frictionloss", "damping"),
            "ball": ("armature", "frictionloss"),
        }
        ignored = [key for key in names.get(kind, ()) if np.any(getattr(model, f"dof_{key}")[dofs])]
        if ignored:
            self._leave_out("joint", n, f"{' and '.join(ignored)} of a {kind} joint")

    def refuse(self, kind: str, n: int, reason: str) -> ModelError:
        """An error about an element."""
        return ModelError(
            f"{self.source}: {kind} {self.name(kind, n)!r}: {reason}", value=self.name(kind, n)
        )

    def _leave_out(self, kind: str, n: int, what: str) -> None:
        warnings.warn(
            f"{self.source}: {kind} {self.name(kind, n)!r}: left out is {what}",
            LeftOutWarning,
            stacklevel=3,
        )

    def name(self, kind: str, n: int) -> str:
        """The element's name, or one made of its kind and number."""
        types = self._mujoco.mjtObj
        number = {
            "body": types.mjOBJ_BODY,
            "joint": types.mjOBJ_JOINT,
            "actuator": types.mjOBJ_ACTUATOR,
            "equality": types.mjOBJ_EQUALITY,
            "tendon": types.mjOBJ_TENDON,
            "flex": types.mjOBJ_FLEX,
            "site": types.mjOBJ_SITE,
        }[kind]
        return self._mujoco.mj_id2name(self._model, number, n) or f"{kind}{n}"
