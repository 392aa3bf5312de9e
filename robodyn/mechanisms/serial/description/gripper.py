# SPDX-License-Identifier: Apache-2.0

"""Whether the longest chain of a URDF ends in a gripper, which is no joint of the arm."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from robodyn.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robodyn.mechanisms.option_names import Spelling
    from robodyn.model.at_zero import TreeAtZero

_JOINT = re.compile(r"finger|gripper|jaw|knuckle", re.IGNORECASE)
# Makers call the last link of an arm, to which a gripper belongs, gripper_link.
_LINK = re.compile(r"finger|jaw|knuckle", re.IGNORECASE)


def check_gripper(
    tree: TreeAtZero, source: str, longest: Mapping[str, list[Any]], spelling: Spelling
) -> None:
    """Refuse to take a gripper's finger for the last joint of an arm.

    Args:
        tree: of the URDF.
        source: file name, for messages.
        longest: all joints, fixed ones too, on the way to each leaf behind most movable joints.
        spelling: how an option is written.

    Raises:
        ModelError: names the fingers, and the links that may be meant as the tip.
    """
    known = {joint.mimic.joint for joint in tree.above.values() if joint.mimic is not None}
    known |= _pairs(tree, longest)
    fingers: dict[str, Any] = {}
    for leaf, path in longest.items():
        movable = [joint for joint in path if joint.moves]
        first = len(movable)
        while first and _is_finger(movable[first - 1], known):
            first -= 1
        if 0 < first < len(movable):
            fingers[leaf] = movable[first]
    if not fingers:
        return
    names = ", ".join(f"{joint.name!r} to {leaf!r}" for leaf, joint in fingers.items())
    leaf, joint = next(iter(fingers.items()))
    several = len(fingers) > 1
    tips = [joint.parent, *_other_tips(tree, joint.parent)]
    raise ModelError(
        f"{source}: the longest chain{'s end' if several else ' ends'} in {names}, which "
        f"look{'' if several else 's'} like {'fingers' if several else 'the finger'} of a gripper, "
        "not like a joint of the arm; name the tip link: "
        f"{' or '.join(spelling('tip_link', tip) for tip in tips)}, with "
        f"{spelling('hold_branches', True)} for the gripper to stand still, or, if the arm does go "
        f"on to there, {spelling('tip_link', leaf)}; with {spelling('kind', 'closed_loop')} the "
        "whole tree moves, gripper and all",
        value=tips,
    )


def _pairs(tree: TreeAtZero, longest: Mapping[str, list[Any]]) -> set[str]:
    """Joints that slide on one body side by side, each at the end of a chain, whatever called."""
    beside: dict[str, set[str]] = {}
    for path in longest.values():
        last = next((joint for joint in reversed(path) if joint.moves), None)
        if last is not None and last.kind == "prismatic":
            beside.setdefault(tree.body[last.parent], set()).add(last.name)
    return {name for names in beside.values() if len(names) > 1 for name in names}


def _is_finger(joint: Any, known: set[str]) -> bool:
    return bool(
        joint.mimic is not None
        or joint.name in known
        or _JOINT.search(joint.name)
        or _LINK.search(joint.child)
    )


def _other_tips(tree: TreeAtZero, link: str) -> list[str]:
    """Links without inertia and children on the same body: tool frames."""
    parents = {joint.parent for joint in tree.above.values()}
    body = tree.body[link]
    return [
        name
        for name in tree.links
        if name != link and tree.body[name] == body and name not in parents
    ][:3]
