# SPDX-License-Identifier: Apache-2.0

"""Serial arm from the chain between two links of a URDF."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np

from robodyn.errors import ModelError, warn
from robodyn.formats.inertia import check_inertias, check_massless
from robodyn.mechanism.kind import ReadOptions
from robodyn.model.body import Link
from robodyn.model.builder import ModelBuilder
from robodyn.model.fields import replace_unchecked
from robodyn.model.model import Model
from robodyn.model.placement import Placement
from robodyn.model.zero_configuration import ZeroConfigurationTree
from robodyn.solvers.serial.chain import KINDS, as_arm, model_of_chain
from robodyn.solvers.serial.description.urdf_chain import find_chain


def serial_model_from_urdf(builder: ModelBuilder, options: ReadOptions) -> Model:
    """Create the model of the chain from one link of a URDF to another.

    Rigidly attached links count as one body, wherever they are on the chain. The chain starts at
    the root, which is fixed, and ends at the leaf behind the largest number of movable joints,
    unless the options or the URDF's `<robodyn>` element name other links. A warning names the parts
    of the URDF that the model does not contain.

    Raises:
        ModelError: the model has a spring between points; a link is unknown; there is no chain, or
            there are several equally long ones; a joint of the chain is a mimic, floating or
            planar joint; a joint outside the chain is movable; the last joint looks like a
            gripper's finger, or two links like the halves of a loop that was cut open; or, with
            `strict=True`, a moving link has no `<inertial>` (otherwise it is massless).
        UnphysicalInertia: with `strict=True`.
    """
    source, start = builder.source, builder.home
    if builder.springs:
        raise ModelError(
            f"{source}: spring {builder.springs[0].name!r} acts between points, but an arm has "
            "springs only at its joints; load it with the kind closed_loop",
            value=builder.springs[0].name,
        )
    own = [j.name for j in builder.joints.values() if j.kind in KINDS and j.mimic is None]
    whole = builder.model(driven=own)
    tree = ZeroConfigurationTree(whole)
    base, tip = options.base_link or builder.base_link, options.tip_link or builder.tip_link
    hold, spelling = options.hold_branches, options.spelling
    chain = find_chain(tree, base or None, tip or None, hold, spelling)
    parts, before = [], chain.base
    for joint in chain.joints:
        frame, body = tree.relative(joint.child, before), tree.merged(joint.child)
        shapes = (tree.geometry(joint.child, kind) for kind in ("visuals", "collisions"))
        link = Link(joint.child, body.mass, body.com, body.inertia, *shapes)
        parts.append((replace(joint, at=Placement.of(frame)), link))
        before = joint.child
    stated = {tree.body[link] for link in builder.links_with_inertia}
    bare = [joint.child for joint in chain.joints if joint.child not in stated]
    check_massless(source, bare, strict=options.strict)
    bodies = ((f"link {link.name!r}", link.inertia) for _, link in parts)
    check_inertias(source, bodies, strict=options.strict)
    homes = [np.clip(start.get(joint.name, (0.0,))[0], *joint.position) for joint, _ in parts]
    model = model_of_chain(
        builder.name,
        chain.base,
        parts,
        tree.relative(chain.tip, before),
        chain.tip,
        gravity=tree.relative(chain.base, whole.base_link)[:3, :3].T @ whole.gravity,
        home=homes,
        source=source,
    )
    _warn_of_left_out(tree, model, builder.drives.actuated)
    visuals, collisions = (tree.geometry(chain.base, kind) for kind in ("visuals", "collisions"))
    first = replace_unchecked(model.links[0], visuals=visuals, collisions=collisions)
    return as_arm(replace_unchecked(model, links=(first, *model.links[1:])))


def _warn_of_left_out(tree: ZeroConfigurationTree, model: Model, actuated: Collection[str]) -> None:
    """Warn about links and actuators of a URDF that are not part of the arm's model.

    Args:
        tree: tree of the URDF; its bodies include the links outside the chain that are held fixed.
        model: the arm.
        actuated: joints for which the URDF states actuators.
    """
    own = {joint.name for joint in model.joints}
    kept = {tree.body[model.base_link], *(joint.child for joint in model.joints if joint.moves)}
    links, joints = [], []
    for link in tree.links:
        if tree.body[link] not in kept:
            links.append(link)
        joint = tree.above.get(link)
        if joint is not None and joint.moves and joint.name not in own:
            joints.append(joint.name)
    driven = [name for name in joints if name in actuated]
    parts = []
    if links:
        parts.append(f"links {_list_names(links)}")
    if driven:
        parts.append(f"the actuators of joints {_list_names(driven)}")
    elif links and joints:
        parts.append(f"joints {_list_names(joints)}")
    if parts:
        warn(
            f"{model.source}: outside the chain from {model.base_link!r} to "
            f"{model.tip_link!r}, ignored {' and '.join(parts)}"
        )


def _list_names(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
