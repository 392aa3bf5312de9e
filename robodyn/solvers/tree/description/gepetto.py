# SPDX-License-Identifier: Apache-2.0

"""Reader of Gepetto's collection of parallel robots: `robot.yaml` beside `robot.urdf`.

```yaml
closed_loop: [[frame_1A, frame_1B], [frame_2A, frame_2B]]   # frames that coincide: joints or links
type: [6d, 3d]                                              # all of a frame, or its origin
name_mot: [motor1, motor2]
```

A frame named after a joint is that of the joint's child link, as in Pinocchio. `joint_name` and
`joint_type` change types of joints in the URDF: FIXED, SPHERICAL, or a universal joint such as
UJOINT_ZY. The latter exist as closures only, not as joints of trees; so the tree gets a floating
joint, constrained by a closure of that type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.errors import ModelError
from robodyn.formats.documents import Fields
from robodyn.model.builder import Drives, ModelBuilder
from robodyn.model.closure import Closure
from robodyn.model.joint import Joint
from robodyn.parsing.description import read_description

_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_KINDS = {"6d": "fixed", "3d": "spherical"}
URDF = "robot.urdf"


def is_gepetto(document: Mapping[str, Any]) -> bool:
    """Return whether a YAML document has the format of Gepetto's `robot.yaml`."""
    return "closed_loop" in document and "name_mot" in document


def read_gepetto(top: Fields, folder: Path) -> ModelBuilder:
    """Create the model builder of a document and the `robot.urdf` in its folder.

    The builder includes the motors and the closures of the document.

    Raises:
        ModelError: a field is missing or wrong, a frame does not exist in the URDF, or a joint type
            is not supported in trees.
    """
    builder = read_description(folder / URDF)
    pairs = top.get("closed_loop", "a list of pairs of frames")
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list) and len(pair) == 2 for pair in pairs
    ):
        raise top.refuse("closed_loop", pairs, "a list of pairs of frames")
    kinds = top.get("type", "a list with the values 6d or 3d", default=["6d"] * len(pairs))
    if not isinstance(kinds, list) or len(kinds) != len(pairs):
        raise top.refuse("type", kinds, f"a list of {len(pairs)}, one for each pair of frames")
    for pair, kind in zip(pairs, (str(kind).lower() for kind in kinds), strict=True):
        if kind not in _KINDS:
            raise top.refuse("type", kind, "6d or 3d")
        first, second = (_link(top, builder, str(frame)) for frame in pair)
        builder.add(Closure(f"{pair[0]}-{pair[1]}", _KINDS[kind], first, second))
    builder.drives = Drives.of(top.names("name_mot"))
    _change_joints(top, builder)
    return builder


def _link(top: Fields, builder: ModelBuilder, frame: str) -> str:
    if frame in builder.joints:
        return builder.joints[frame].child
    if frame in builder.links:
        return frame
    raise top.refuse("closed_loop", frame, f"the name of a joint or a link of {URDF}")


def _change_joints(top: Fields, builder: ModelBuilder) -> None:
    """Change joint types in the builder to those stated in the YAML document.

    A spherical or universal joint becomes a floating joint with a closure.
    """
    if "joint_name" not in top:
        return
    names = zip(top.names("joint_name"), top.names("joint_type"), strict=False)
    for name, kind in names:
        if name not in builder.joints:
            raise top.refuse("joint_name", name, f"the name of a joint of {URDF}")
        joint = builder.joints[name]
        axes = kind.removeprefix("UJOINT_")
        universal = axes != kind and len(set(axes)) == len(axes) == 2 and set(axes) <= set(_AXES)
        if kind not in ("FIXED", "SPHERICAL") and not universal:
            raise ModelError(
                f"{top.source}: joint {name!r} is to be replaced by {kind}, expected FIXED, "
                "SPHERICAL or "
                "UJOINT_ and its two axes, such as UJOINT_ZY",
                value=kind,
            )
        # floating, with its origin constrained
        changed = "fixed" if kind == "FIXED" else "floating"
        builder.joints[name] = Joint(name, changed, joint.parent, joint.child, joint.at)
        if kind == "FIXED":
            continue
        held = Closure(name, "spherical", joint.parent, joint.child, joint.at)
        if universal:
            first, second = (np.array(_AXES[letter]) for letter in axes)
            held = replace(held, kind="universal", axis=first, child_axis=second)
        builder.add(held)
