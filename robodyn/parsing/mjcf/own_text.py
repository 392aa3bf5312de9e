# SPDX-License-Identifier: Apache-2.0

"""The custom text `robodyn` of an MJCF file, with data that MJCF cannot represent."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from robodyn.errors import ModelError
from robodyn.formats.documents import Fields

# Fields of a closure: names of its equalities, and the elements of its <constraint>.
PARTS = ("parent", "parent_origin", "parent_axis", "child", "child_origin", "child_axis")
_TOP = ("base_link", "robot", "links", "joints", "closures", "preloads")
_JOINT = ("child", "own", "limit", "params")


def read_own_text(text: str, source: str) -> dict[str, Any]:
    """Parse and check the JSON text that robodyn's writer stored in an MJCF file.

    Args:
        text: content of the custom text `robodyn`.
        source: name of the file, for messages.

    Returns:
        The JSON object as a dictionary.

    Raises:
        ModelError: the text is not JSON, or a field is unknown or has the wrong type.
    """
    where = f"{source}: <custom>: the <text> 'robodyn'"
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as failure:
        raise ModelError(f"{where} is not JSON: {failure}", value=text[:100]) from failure
    if not isinstance(found, dict):
        raise ModelError(f"{where} is a {type(found).__name__}, expected an object", value=found)
    top = Fields(found, where)
    top.only(*_TOP)
    if "base_link" in top:
        top.text("base_link")
    if "links" in top:
        top.names("links")
    if "robot" in top:
        _texts(top, "robot")
    preloads = top.child("preloads", {})
    for name in preloads.data:
        preloads.number(name)
    joints = top.child("joints", {})
    for name in joints.data:
        joint = joints.child(name)
        joint.only(*_JOINT)
        if "child" in joint:
            joint.text("child")
        for key in ("own", "params"):
            if key in joint:
                _texts(joint, key)
        limit = joint.child("limit", {})
        limit.only("effort", "velocity")
        for key in limit.data:
            limit.number(key, at_least=0.0, above=0.0, default=math.inf)
    for closure in top.children("closures") if "closures" in top else ():
        closure.only("equalities", "constraint", *PARTS)
        closure.names("equalities")
        for key in ("constraint", *PARTS):
            _texts(closure, key)
    return found


def _texts(block: Fields, name: str) -> Mapping[str, Any]:
    inner = block.child(name)
    for key, value in inner.data.items():
        if not isinstance(value, str):
            raise inner.refuse(key, value, "a text")
    return inner.data
