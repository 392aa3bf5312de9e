# SPDX-License-Identifier: Apache-2.0

"""A serial arm from the chain between two links of a URDF."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np

from robodyn.errors import LeftOutWarning
from robodyn.formats.inertia import check_inertias, check_massless
from robodyn.formats.urdf_text import UrdfDocument
from robodyn.mechanisms.common.urdf_model import model_from_urdf
from robodyn.mechanisms.kind import ReadOptions
from robodyn.mechanisms.serial.chain import KINDS, as_arm, model_of_chain
from robodyn.mechanisms.serial.description.urdf_chain import find_chain
from robodyn.model.at_zero import TreeAtZero
from robodyn.model.body import Link
from robodyn.model.model import Model
from robodyn.model.placement import Placement


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
    source, settings, start = document.source, document.settings, document.home
    own = [j.name for j in document.robot.joints if j.type in KINDS and j.mimic is None]
    whole = model_from_urdf(document, driven=own)
    tree = TreeAtZero(whole)
    base, tip = options.base_link or settings.base_link, options.tip_link or settings.tip_link
    chain = find_chain(
        tree, source, base or None, tip or None, options.hold_branches, options.spelling
    )
    parts, before = [], chain.base
    for joint in chain.joints:
        frame, body = tree.relative(joint.child, before), tree.merged(joint.child)
        at = Placement(frame[:3, :3], frame[:3, 3])
        link = Link(joint.child, body.mass, body.com, body.inertia)
        parts.append((replace(joint, at=at), link))
        before = joint.child
    stated = {tree.body[link.name] for link in document.robot.links if link.inertial is not None}
    bare = [joint.child for joint in chain.joints if joint.child not in stated]
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
        gravity=tree.relative(chain.base, whole.base_link)[:3, :3].T @ whole.gravity,
        home=homes,
        source=source,
    )
    _warn_of_left_out(TreeAtZero(whole), model, document.drives.actuated, options.hold_branches)
    return as_arm(model)


def _warn_of_left_out(
    tree: TreeAtZero, model: Model, actuated: Collection[str], held: bool
) -> None:
    """Warn of links that neither move with the chain nor are one body with its base.

    Args:
        tree: of the URDF.
        model: the arm.
        actuated: joints that it gives actuators.
        held: whether joints beside the chain are held, so that what they carry moves with it.
    """
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
        if joint is not None and joint.moves and joint.name not in own:
            joints.append(joint.name)
    driven = [name for name in joints if name in actuated]
    parts = []
    if links:
        parts.append(f"links {_listed(links)}")
    if driven:
        parts.append(f"the actuators of joints {_listed(driven)}")
    elif links and joints:
        parts.append(f"joints {_listed(joints)}")
    if parts:
        warnings.warn(
            f"{model.source}: outside the chain from {model.base_link!r} to "
            f"{model.tip_link!r}, left out are {' and '.join(parts)}",
            LeftOutWarning,
            stacklevel=2,
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
