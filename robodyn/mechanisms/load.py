# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""From a source, whatever it is, to a mechanism."""

from __future__ import annotations

import difflib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn.errors import ModelError, ModelNotFound
from robodyn.formats.documents import Fields, read_yaml
from robodyn.formats.urdf_text import UrdfDocument, read_urdf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robodyn.mechanisms.serial.arm import SerialArm
    from robodyn.mechanisms.stewart.platform import StewartPlatform

URDF_SUFFIXES = (".urdf", ".xacro", ".xml")
YAML_SUFFIXES = (".yaml", ".yml")


def models() -> tuple[str, ...]:
    """Names of the bundled mechanisms, to be given to `load`."""
    folder = resources.files("robodyn") / "models"
    names = (item.name for item in folder.iterdir())
    return tuple(sorted(name[:-5] for name in names if name.endswith(".yaml")))


def load(
    source: str | Path,
    *,
    strict: bool = False,
    base_link: str | None = None,
    tip_link: str | None = None,
    hold_branches: bool = False,
    xacro_args: Mapping[str, str] | None = None,
) -> StewartPlatform | SerialArm:
    """A mechanism from a bundled name, a file or URDF text.

    A URDF with a floating platform and spherical closures is a Stewart platform, any other a
    serial arm.

    Args:
        source: name of a bundled model (`models()`), path to a .urdf, .xacro, .yaml or .yml file,
            or URDF text, which starts with `<`.
        strict: refuse inertia tensors that no rigid body can have, instead of warning.
        base_link, tip_link: ends of the chain in the URDF of an arm, by default the root and the
            leaf behind the largest number of movable joints.
        hold_branches: take movable joints beside that chain as held at 0, instead of refusing.
        xacro_args: arguments of a .xacro file, by name. Its `$(find package)` looks in the folders
            of ROBODYN_PACKAGE_PATH, in a sourced ROS 2 and in the file's own checkout.

    Raises:
        ModelNotFound: neither a bundled name nor a file; lists the bundled names.
        ModelError: the description cannot be taken; names the file, the field and its value.
        UnphysicalInertia: with `strict=True`.
        MissingExtra: a .xacro file where the package xacro is not installed.
    """
    if not isinstance(source, (str, Path)) or not str(source).strip():
        raise ModelNotFound(
            f"a model is a name, a path or URDF text, not {source!r}; bundled: {_names()}",
            value=source,
        )
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return _from_urdf(read_urdf(source), strict, base_link, tip_link, hold_branches)
    if str(source) in models():
        bundled = resources.files("robodyn") / "models" / f"{source}.yaml"
        with resources.as_file(bundled) as path:
            return _from_yaml(read_yaml(path), path.name, strict)
    path = _existing(source)
    if path.suffix.lower() in YAML_SUFFIXES:
        return _from_yaml(read_yaml(path), str(path), strict)
    if path.suffix.lower() in URDF_SUFFIXES:
        document = read_urdf(path, xacro_args)
        return _from_urdf(document, strict, base_link, tip_link, hold_branches)
    raise ModelError(
        f"{path}: unknown kind of file {path.suffix!r}, expected .urdf, .xacro, .yaml or .yml",
        value=path.suffix,
    )


def _existing(source: str | Path) -> Path:
    path = Path(source)
    try:
        if path.exists():
            return path
    except (OSError, ValueError):  # a name too long for a path, or with a null in it
        pass
    shown = str(source) if len(str(source)) <= 100 else str(source)[:97] + "..."
    near = difflib.get_close_matches(shown, models(), n=1, cutoff=0.6)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise ModelNotFound(
        f"no model or file named {shown!r}{hint}; bundled: {_names()}", value=str(source)
    )


def _names() -> str:
    return ", ".join(models())


def _from_yaml(document: dict[str, Any], source: str, strict: bool) -> StewartPlatform | SerialArm:
    kind = Fields(document, source).text("type", choices=("stewart", "serial"))
    # Imported here: a platform needs nothing of an arm, and compiled kernels take time to load.
    if kind == "stewart":
        from robodyn.mechanisms.stewart.description.from_yaml import stewart_model_from_yaml
        from robodyn.mechanisms.stewart.platform import StewartPlatform

        return StewartPlatform(stewart_model_from_yaml(document, source, strict))
    from robodyn.mechanisms.serial.arm import SerialArm
    from robodyn.mechanisms.serial.description import serial_model_from_yaml

    return SerialArm(serial_model_from_yaml(document, source, strict))


def _from_urdf(
    document: UrdfDocument,
    strict: bool,
    base_link: str | None,
    tip_link: str | None,
    hold_branches: bool,
) -> StewartPlatform | SerialArm:
    if is_stewart(document):
        from robodyn.mechanisms.stewart.description.from_urdf import stewart_model_from_urdf
        from robodyn.mechanisms.stewart.platform import StewartPlatform

        return StewartPlatform(stewart_model_from_urdf(document, strict))
    from robodyn.mechanisms.serial.arm import SerialArm
    from robodyn.mechanisms.serial.description import serial_model_from_urdf

    model = serial_model_from_urdf(
        document.robot,
        document.source,
        strict,
        base_link,
        tip_link,
        motors=document.motors,
        hold_branches=hold_branches,
    )
    return SerialArm(model)


def is_stewart(document: UrdfDocument) -> bool:
    """Whether a URDF means a Stewart platform: it closes loops, or its platform floats on legs."""
    kinds = [joint.type for joint in document.robot.joints]
    return bool(document.closures) or ("floating" in kinds and kinds.count("prismatic") > 1)
