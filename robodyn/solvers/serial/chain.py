# SPDX-License-Identifier: Apache-2.0

"""Recognition and construction of the open chain of an arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.errors import ModelError
from robodyn.model.body import Body, Link, combine_bodies
from robodyn.model.fields import GRAVITY, copy_unchecked, replace_unchecked
from robodyn.model.joint import Joint
from robodyn.model.model import Model
from robodyn.model.placement import Placement

_NOTHING = Body(0.0, np.zeros(3), np.zeros((3, 3)))
KINDS = ("revolute", "continuous", "prismatic")


class Chain(NamedTuple):
    """Open chain of an arm: its driven joints, moving links and tip.

    Attributes:
        joints: driven joints, each on the link that the previous one moves.
        links: links that these joints move; each link's frame is its joint's at position 0.
        tip: placement of the tip on the last link.
    """

    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    tip: Placement


def chain_of(model: Model) -> Chain:
    """Return the open chain of a model: joints, links and tip.

    Raises:
        ModelError: the model is not a chain: it has closures, springs between points or branches,
            or a joint before the tip is fixed, follows another joint or is not driven.
    """
    moves = tuple(joint for joint in model.joints if joint.moves)
    fixed = model.joints[len(moves) :]
    children = tuple(joint.child for joint in model.joints)
    in_line = (
        (*(joint.parent for joint in model.joints), children[-1]) == (model.base_link, *children)
        and tuple(joint.name for joint in moves) == model.driven
        and model.joints[: len(moves)] == moves
        and len(fixed) <= 1
        and model.tip_link == children[-1]
        and not model.closures
        and not model.springs
    )
    if not in_line or not all(map(_is_plain, model.joints)):
        raise ModelError(
            f"{model.source or model.name}: no open chain of driven joints ({', '.join(KINDS)}) "
            "leads from the base to the tip, or there are springs between points; load it with "
            "the kind closed_loop",
            value=model.name,
        )
    links = {link.name: link for link in model.links}
    tip = fixed[0].at if fixed else Placement()
    return Chain(moves, tuple(links[joint.child] for joint in moves), tip)


def _is_plain(joint: Joint) -> bool:
    known = joint.kind in KINDS or not joint.moves
    return known and joint.mimic is None and joint.child_at.is_link_frame


def as_arm(model: Model) -> Model:
    """Convert the model of a chain to the standard form of an arm.

    Bodies fixed to the tip become part of the last moving link, and rotors become armatures. The
    home configuration of the result contains every joint: joints without a home position are at
    zero, or at the limit nearest to zero.

    Raises:
        ModelError: the model is not a chain, as for `chain_of`, or its home is outside the limits.
    """
    chain = chain_of(model)
    joints = tuple(
        replace_unchecked(
            joint,
            armature=joint.reflected_inertia,
            drive=replace_unchecked(joint.drive, rotor_inertia=0.0),
        )
        for joint in model.joints
    )
    links, last = {link.name: link for link in model.links}, chain.links[-1]
    tip = links[model.tip_link]
    if tip is not last and tip.has_inertia:
        links |= {
            last.name: combine_bodies(last, carried_at_tip(chain, tip)),
            tip.name: Link(tip.name),
        }
    home = dict(model.home)
    for joint in chain.joints:
        (value,) = home.setdefault(joint.name, (float(np.clip(0.0, *joint.position)),))
        lower, upper = joint.position
        if not lower - 1e-9 <= value <= upper + 1e-9:
            raise ModelError(
                f"{model.source or model.name}: home puts joint {joint.name!r} at {value:g}, "
                f"outside its limits [{lower:g}, {upper:g}]",
                value=value,
            )
    at_home = tuple((joint.name, home[joint.name]) for joint in chain.joints)
    return replace_unchecked(model, links=tuple(links.values()), joints=joints, home=at_home)


def carried_at_tip(chain: Chain, tip: Link) -> Body:
    """Return the mass properties of the tip link in the frame of the last moving link."""
    R = chain.tip.rotation.T
    body = copy_unchecked(_NOTHING, mass=tip.mass, com=tip.com, inertia=tip.inertia)
    return body.seen_from(R, -R @ chain.tip.translation)


def model_of_chain(
    name: str,
    base_link: str,
    parts: Sequence[tuple[Joint, Link]],
    tip: FloatArray,
    tip_link: str,
    *,
    gravity: ArrayLike = GRAVITY,
    home: ArrayLike | None = None,
    source: str = "",
) -> Model:
    """Create the model of a chain of joints, each with the link that it moves.

    Args:
        name: name of the arm.
        base_link: parent link of the first joint; each other joint is on the link before it.
        parts: joints and links from the base to the tip.
        tip: (4, 4) frame of the tip on the last link.
        tip_link: name of the tip link; it is a separate link unless the last link has the same
            frame.
        gravity: (3,) [m/s^2] base frame.
        home: (n,) [rad or m].
        source: file or model, for messages.

    Returns:
        The model.

    Raises:
        ModelError: there are no joints, or a part is invalid.
    """
    if not parts:
        raise ModelError(f"{source or name}: no movable joint; an arm needs at least one", value=0)
    links, joints = [Link(base_link)], []
    for joint, link in parts:
        joints.append(replace(joint, parent=links[-1].name, child=link.name))
        links.append(link)
    names = [joint.name for joint in joints]
    positions = [] if home is None else [(value,) for value in np.asarray(home).tolist()]
    model = Model(
        name=name,
        links=tuple(links),
        joints=tuple(joints),
        closures=(),
        driven=tuple(names),
        home=tuple(zip(names, positions, strict=False)),
        gravity=np.asarray(gravity),
        source=source,
    )
    return with_tip(model, Placement.of(tip), tip_link)


def with_tip(model: Model, at: Placement, tip_link: str) -> Model:
    """Return the model of a chain with another tip frame on its last moving link.

    A moving link with the same name gets the suffix `_body`.
    """
    joints = tuple(joint for joint in model.joints if joint.moves)
    own = tip_link != joints[-1].child or not at.is_link_frame
    kept = (model.base_link, *(joint.child for joint in joints))
    called = {name: f"{name}_body" if own and name == tip_link else name for name in kept}
    links = [replace(k, name=called[k.name]) for k in model.links if k.name in called]
    moved = [replace(j, parent=called[j.parent], child=called[j.child]) for j in joints]
    if own:
        name = f"{tip_link}_joint"
        while name in model.driven:
            name += "_fixed"
        moved.append(Joint(name, "fixed", moved[-1].child, tip_link, at))
        links.append(Link(tip_link))
    return replace(model, links=tuple(links), joints=tuple(moved), tip_link=tip_link)


def nameless(model: Model) -> Model:
    """Return an arm's model with numbers as names, so that comparisons ignore names."""
    joints = list(model.joints)
    if joints[-1].moves:
        joints.append(Joint("tip", "fixed", model.tip_link, ""))
    links = {link.name: link for link in (*model.links, Link(""))}
    order = (model.base_link, *(joint.child for joint in joints))
    return replace_unchecked(
        model,
        links=tuple(replace_unchecked(links[name], name=str(k)) for k, name in enumerate(order)),
        joints=tuple(
            replace_unchecked(joint, name=str(k), parent=str(k), child=str(k + 1))
            for k, joint in enumerate(joints)
        ),
        driven=tuple(map(str, range(len(model.driven)))),
        tip_link=str(len(joints)),
    )
