# SPDX-License-Identifier: Apache-2.0

"""What of a URDF is not in the arm that its chain makes: links, joints and their actuators."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from robodyn.errors import LeftOutWarning
from robodyn.mechanisms.common.urdf_tree import UrdfTree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from robodyn.formats.urdf_text import UrdfDocument
    from robodyn.model.model import Model


def warn_of_left_out(document: UrdfDocument, model: Model, held: bool) -> None:
    """Warn of links that neither move with the chain nor are one body with its base.

    Args:
        document: the URDF.
        model: the arm.
        held: whether joints beside the chain are held, so that what they carry moves with it.
    """
    tree = UrdfTree(document)
    own = {joint.name for joint in model.joints}
    kept = {tree.body[model.base_link], *(joint.child for joint in model.joints if joint.moves)}
    links, joints = [], []
    for link in tree.links:
        body = tree.body[link]
        while held and body not in kept and body in tree.above:
            body = tree.body[tree.above[body].parent]
        if body not in kept:
            links.append(link)
        joint = tree.above.get(link)
        if joint is not None and joint.type != "fixed" and joint.name not in own:
            joints.append(joint.name)
    driven = [name for name in joints if name in document.drives.actuated]
    parts = []
    if links:
        parts.append(f"links {_listed(links)}")
    if driven:
        parts.append(f"the actuators of joints {_listed(driven)}")
    elif links and joints:
        parts.append(f"joints {_listed(joints)}")
    if parts:
        warnings.warn(
            f"{document.source}: outside the chain from {model.base_link!r} to "
            f"{model.tip_link!r}, left out are {' and '.join(parts)}",
            LeftOutWarning,
            stacklevel=2,
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
