# SPDX-License-Identifier: Apache-2.0

"""The format of Gepetto's collection of parallel robots: `robot.yaml` beside `robot.urdf`.

```yaml
closed_loop: [[frame_1A, frame_1B], [frame_2A, frame_2B]]   # frames that coincide: joints or links
type: [6d, 3d]                                              # all of a frame, or its origin
name_mot: [motor1, motor2]
```

A frame named after a joint is that of the joint's child link, as in Pinocchio. `joint_name` and
`joint_type` turn joints of the URDF into others: FIXED, SPHERICAL, or a universal joint such as
UJOINT_ZY. This package closes loops with the latter, it does not have them in its trees; so there
the tree gets a floating joint, and a closure of that type holds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.errors import ModelError
from robodyn.formats.documents import Fields
from robodyn.formats.urdf_text import UrdfDocument, read_urdf
from robodyn.mechanisms.common.urdf_model import frame_of_urdf, urdf_closures
from robodyn.mechanisms.kind import ReadOptions
from robodyn.model.closure import Closure
from robodyn.model.placement import Placement

_TOP = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_KINDS = {"6d": "fixed", "3d": "spherical"}
URDF = "robot.urdf"


def is_gepetto(document: Mapping[str, Any]) -> bool:
    """Whether a YAML document is of this format."""
    return "closed_loop" in document and "name_mot" in document


def read_gepetto(
    top: Fields, options: ReadOptions
) -> tuple[UrdfDocument, tuple[str, ...], list[Closure]]:
    """The `robot.urdf` in the document's folder, its motors, and all closures.

    Raises:
        ModelError: a field that is missing or wrong, a frame that the URDF does not have, a joint
            type that a tree cannot have here.
    """
    urdf = read_urdf((options.folder or Path()) / URDF)
    pairs = top.get("closed_loop", "a list of pairs of frames")
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list) and len(pair) == 2 for pair in pairs
    ):
        raise top.refuse("closed_loop", pairs, "a list of pairs of frames")
    kinds = top.get("type", "a list of 6d and 3d", default=["6d"] * len(pairs))
    if not isinstance(kinds, list) or len(kinds) != len(pairs):
        raise top.refuse("type", kinds, f"a list of {len(pairs)}, one for each pair of frames")
    closures = urdf_closures(urdf)
    for pair, kind in zip(pairs, (str(kind).lower() for kind in kinds), strict=True):
        if kind not in _KINDS:
            raise top.refuse("type", kind, "6d or 3d")
        first, second = (_link(top, urdf.robot, str(frame)) for frame in pair)
        closures.append(Closure(f"{pair[0]}-{pair[1]}", _KINDS[kind], first, second))
    motors = top.names("name_mot")
    return urdf, motors, [*closures, *_changed_joints(top, urdf.robot)]


def _link(top: Fields, robot: Any, frame: str) -> str:
    if frame in robot.joint_map:
        return str(robot.joint_map[frame].child)
    if frame in robot.link_map:
        return frame
    raise top.refuse("closed_loop", frame, f"the name of a joint or a link of {URDF}")


def _changed_joints(top: Fields, robot: Any) -> list[Closure]:
    """Change the types of joints in place; the closures that hold those now floating."""
    if "joint_name" not in top:
        return []
    closures = []
    names = zip(top.names("joint_name"), top.names("joint_type"), strict=False)
    for name, kind in names:
        if name not in robot.joint_map:
            raise top.refuse("joint_name", name, f"the name of a joint of {URDF}")
        joint = robot.joint_map[name]
        axes = kind.removeprefix("UJOINT_")
        if kind == "FIXED":
            joint.type = "fixed"
            continue
        universal = axes != kind and len(set(axes)) == len(axes) == 2 and set(axes) <= set(_AXES)
        if kind != "SPHERICAL" and not universal:
            raise ModelError(
                f"{top.source}: joint {name!r} shall become {kind}, expected FIXED, SPHERICAL or "
                "UJOINT_ and its two axes, such as UJOINT_ZY",
                value=kind,
            )
        # it floats, and is held at its origin
        joint.type, joint.mimic = "floating", None
        at = Placement.of(frame_of_urdf(joint.origin))
        held = Closure(name, "spherical", joint.parent, joint.child, at)
        if universal:
            first, second = (np.array(_AXES[letter]) for letter in axes)
            held = replace(held, kind="universal", axis=first, child_axis=second)
        closures.append(held)
    return closures
