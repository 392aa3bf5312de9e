# SPDX-License-Identifier: Apache-2.0

"""Stewart platforms in the registry: how their descriptions are recognised, read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.mechanisms.common.recognition import is_platform
from robodyn.mechanisms.kind import Kind

if TYPE_CHECKING:
    from robodyn.formats.urdf_text import UrdfDocument
    from robodyn.mechanisms.kind import ReadOptions
    from robodyn.mechanisms.mechanism import Mechanism


def _from_yaml(document: dict[str, Any], source: str, options: ReadOptions) -> Mechanism:
    from robodyn.mechanisms.stewart.description.from_yaml import stewart_model_from_yaml
    from robodyn.mechanisms.stewart.platform import StewartPlatform

    return StewartPlatform(stewart_model_from_yaml(document, source, options.strict))


def _from_urdf(document: UrdfDocument, options: ReadOptions) -> Mechanism:
    from robodyn.mechanisms.stewart.description.from_urdf import stewart_model_from_urdf
    from robodyn.mechanisms.stewart.platform import StewartPlatform

    return StewartPlatform(stewart_model_from_urdf(document, options.strict))


def _to_urdf(platform: Any) -> str:
    from robodyn.mechanisms.stewart.drawing import stewart_urdf

    return stewart_urdf(platform.six_legs, platform.model)


STEWART = Kind(
    "stewart",
    from_yaml=_from_yaml,
    recognises_urdf=is_platform,
    from_urdf=_from_urdf,
    to_urdf=_to_urdf,
    adapters={
        "export": "robodyn.exporting.stewart:answers",
        "model_file": "robodyn.mechanisms.stewart.description.to_yaml:write_stewart",
        "template": "robodyn.mechanisms.stewart.description.template:TEMPLATE",
        "as_closed_loop": "robodyn.mechanisms.as_closed_loop:from_tree",
    },
    example="stewart_dasgupta",
)
