# SPDX-License-Identifier: Apache-2.0

"""A serial arm from the chain between two links of a URDF."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from robodyn.errors import LeftOutWarning, ModelError
from robodyn.formats.inertia import check_inertias, check_massless
from robodyn.formats.urdf_joints import axis
from robodyn.mechanisms.common.urdf_tree import UrdfTree, moving
from robodyn.mechanisms.serial.chain import as_arm, model_of_chain
from robodyn.mechanisms.serial.description.urdf_chain import find_chain
from robodyn.model.body import Body, Link
from robodyn.model.joint import Joint
from robodyn.model.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from robodyn.formats.urdf_text import UrdfDocument
    from robodyn.mechanisms.kind import ReadOptions
    from robodyn.model.model import Model


def serial_model_from_urdf(document: UrdfDocument, options: ReadOptions) -> Model:
    """The model of the chain from one link of a URDF to another.

    Rigidly joined links count as one body, wherever they are attached to the chain. It begins at
    the root, which is assumed fixed, and ends at the leaf behind the largest number of moving
    joints, unless the options or the URDF's `<robodyn>` name other links. A warning names what of
    the URDF is not in the model.

    Raises:
        ModelError: an unknown link, no chain or several equally long ones, a mimic, floating or
            planar joint in it, a movable joint outside it, what looks like a gripper's finger or
            like a loop cut open, and with `strict=True` a moving link without `<inertial>`, which
            is otherwise massless.
        UnphysicalInertia: with `strict=True`.
    """
    source, told, start = document.source, document.settings, document.home
    tree = UrdfTree(document)
    base, tip = options.base_link or told.base_link, options.tip_link or told.tip_link
    chain = find_chain(
        tree, source, base or None, tip or None, options.hold_branches, options.spelling
    )
    parts, before = [], chain.base
    for joint in chain.joints:
        try:
            parts.append(_part(document, tree, joint, before))
        except ModelError as error:
            raise ModelError(f"{source}: {error}", value=error.value) from error
        before = joint.child
    bare = [joint.child for joint in chain.joints if tree.merged(joint.child) is None]
    check_massless(source, bare, strict=options.strict)
    check_inertias(
        source, ((f"link {link.name!r}", link.inertia) for _, link in parts), strict=options.strict
    )
    homes = [np.clip(start.get(joint.name, (0.0,))[0], *joint.position) for joint, _ in parts]
    model = model_of_chain(
        document.robot.name,
        chain.base,
        parts,
        tree.relative(chain.tip, before),
        chain.tip,
        gravity=tree.gravity(chain.base),
        home=homes,
        source=source,
    )
    _warn_of_left_out(document, model, options.hold_branches)
    return as_arm(model)


def _part(document: UrdfDocument, tree: UrdfTree, joint: Any, before: str) -> tuple[Joint, Link]:
    """A joint of the chain, whose parent moves with the link `before`, and what it moves."""
    frame = tree.relative(joint.child, before)
    body = tree.merged(joint.child) or Body(0.0, np.zeros(3), np.zeros((3, 3)))
    at = Placement(frame[:3, :3], frame[:3, 3])
    made = Joint(joint.name, joint.type, before, joint.child, at, axis=axis(joint))
    link = Link(joint.child, body.mass, body.com, body.inertia)
    return moving(made, joint, document), link


def _warn_of_left_out(document: UrdfDocument, model: Model, held: bool) -> None:
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
