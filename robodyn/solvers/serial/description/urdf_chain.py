# SPDX-License-Identifier: Apache-2.0

"""Selection of the joints of a URDF tree that form an arm."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from robodyn.errors import ModelError
from robodyn.mechanism.option_names import Spelling, in_python
from robodyn.model.zero_configuration import ZeroConfigurationTree
from robodyn.solvers.serial.chain import KINDS

# Distance [m] at zero below which two ends are in one place.
SAME_PLACE = 1e-3


class UrdfChain(NamedTuple):
    """Chain in a URDF: base link, tip link, and the movable joints between, base first."""

    base: str
    tip: str
    joints: list[Any]


def find_chain(
    tree: ZeroConfigurationTree,
    base: str | None,
    tip: str | None,
    hold_branches: bool,
    spelling: Spelling = in_python,
) -> UrdfChain:
    """Find the chain of joints of a URDF between two links.

    By default, it leads from the root to the leaf with the most movable joints.

    Raises:
        ModelError: a link is unknown; there is no chain, or there are several equally long ones; a
            joint of the chain has an unsupported type; a joint outside the chain is movable, and
            `hold_branches` is false; the longest chain seems to end in a gripper's finger; or two
            links look like the halves of a loop that was cut open.
    """
    for name in (base, tip):
        if name is not None and name not in tree.links:
            raise ModelError(
                f"{tree.source}: no link is named {name!r}; expected one of "
                f"{', '.join(map(repr, list(tree.links)[:20]))}",
                value=name,
            )
    base = tree.root if base is None else base
    if tip is None:
        if not hold_branches:
            check_loops(tree, spelling)
        tip = _default_tip(tree, base, spelling)
    path = _path(tree, tip, base)
    if path is None:
        raise ModelError(
            f"{tree.source}: link {tip!r} is not a descendant of link {base!r}", value=(base, tip)
        )
    chain = UrdfChain(base, tip, [joint for joint in path if joint.moves])
    for joint in chain.joints:
        _check_kind(joint, tree.source, spelling)
    if not chain.joints:
        raise ModelError(
            f"{tree.source}: no movable joint between links {base!r} and {tip!r}", value=(base, tip)
        )
    if not hold_branches:
        _check_branches(tree, chain, spelling)
    return chain if not hold_branches else _hold(tree, chain)


def longest_chains(
    tree: ZeroConfigurationTree, base: str | None, spelling: Spelling
) -> dict[str, list[Any]]:
    """Return the chains to the leaves that have the most movable joints above them.

    Returns:
        Mapping from the name of each such leaf to all joints that lead to it, fixed ones included.

    Raises:
        ModelError: an end of the chain appears to be a gripper's finger.
    """
    base = tree.root if base is None else base
    parents = {joint.parent for joint in tree.above.values()}
    leaves = {}
    for link in tree.links:
        path = None if link in parents else _path(tree, link, base)
        if path is not None:
            leaves[link] = path
    most = max(_movable(path) for path in leaves.values())
    longest = {link: path for link, path in leaves.items() if _movable(path) == most}
    check_gripper(tree, longest, spelling)
    return longest


def _default_tip(tree: ZeroConfigurationTree, base: str, spelling: Spelling) -> str:
    longest = longest_chains(tree, base, spelling)
    most = _movable(next(iter(longest.values())))
    ends = {tree.body[link] for link in longest}
    if len(ends) > 1:
        raise ModelError(
            f"{tree.source}: several chains of {most} joints, to {', '.join(map(repr, longest))}; "
            f"name the tip link, {spelling('tip_link', next(iter(longest)))} or another, or take "
            f"the whole tree, {spelling('kind', 'closed_loop')}",
            value=list(longest),
        )
    return max(longest, key=lambda link: len(longest[link]))


def check_loops(tree: ZeroConfigurationTree, spelling: Spelling) -> None:
    """Raise an error if two branches end in links that look like halves of a cut loop.

    Exporters name the halves A and B, or repeat a link with a number appended to its name. An
    explicit tip avoids this check.

    Raises:
        ModelError: there are such ends; the message names them.
    """
    parents = {joint.parent for joint in tree.above.values()}
    ends = [link for link in tree.links if link not in parents and link in tree.above]
    halves: dict[str, str] = {}
    for link in ends:
        loop = _LOOP.fullmatch(link)
        repeated = _REPEATED.fullmatch(link)
        name = link
        if loop is not None:
            name = f"{loop['loop']} {loop['more']}"
        elif (
            repeated
            and repeated["name"] in ends
            and not _has_similar_branches(tree, repeated["name"], link)
        ):
            name = repeated["name"]
        other = halves.setdefault(name, link)
        if tree.body[other] != tree.body[link]:
            raise ModelError(
                f"{tree.source}: links {other!r} and {link!r} look like the two halves of a loop "
                "that was cut open to make a tree; as an arm this would move as if the loop were "
                f'not there. Close it by <constraint type="spherical"> with {other!r} and {link!r} '
                "as its parent and child, or, if there is no loop, name the tip link, "
                f"{spelling('tip_link', other)} or another",
                value=[other, link],
            )


def _has_similar_branches(tree: ZeroConfigurationTree, link: str, repeated: str) -> bool:
    """Return whether two links end similar branches of the tree, such as two fingers.

    The branches of a cut loop may be similar as well, but their ends coincide.
    """
    parents = tree.above[link].parent, tree.above[repeated].parent
    number = _REPEATED.fullmatch(parents[1])
    places = (tree.relative(end, tree.root)[:3, 3] for end in (link, repeated))
    distance = float(np.linalg.norm(np.subtract(*places)))
    return number is not None and number["name"] == parents[0] and distance > SAME_PLACE


# such as closedloop3D_1A and closedloop3D_1B, and sphere and sphere_2
_LOOP = re.compile(
    r"(?P<loop>.*(closed?[_-]?loop|loop[_-]?closure|closure).*)[AB](?P<more>([_-].*)?)",
    re.IGNORECASE,
)
_REPEATED = re.compile(r"(?P<name>.+)_\d+")


def _path(tree: ZeroConfigurationTree, link: str, base: str) -> list[Any] | None:
    """Return the joints from a base link down to a link; None if there is no such path."""
    path = []
    while link != base:
        if link not in tree.above:
            return None
        path.append(tree.above[link])
        link = tree.above[link].parent
    return path[::-1]


def _movable(path: list[Any]) -> int:
    return sum(joint.moves for joint in path)


def _check_kind(joint: Any, source: str, spelling: Spelling) -> None:
    if joint.kind not in KINDS:
        raise ModelError(
            f"{source}: joint {joint.name!r} is {joint.kind}; the joints of a chain must be "
            f"{', '.join(KINDS)} or fixed",
            value=joint.name,
        )
    if joint.mimic is not None:
        raise ModelError(
            f"{source}: joint {joint.name!r} mimics {joint.mimic.joint!r}, which is not supported "
            f"in a chain; choose a tip link above it, such as {spelling('tip_link', joint.parent)}",
            value=joint.name,
        )


def _check_branches(tree: ZeroConfigurationTree, chain: UrdfChain, spelling: Spelling) -> None:
    moving = {joint.child for joint in chain.joints}
    for joint in tree.above.values():
        beside = joint.moves and joint.child not in moving
        if beside and tree.body[joint.parent] in moving:
            raise ModelError(
                f"{tree.source}: joint {joint.name!r} is movable and not part of the chain to "
                f"{chain.tip!r}; choose a tip link behind it, such as "
                f"{spelling('tip_link', joint.child)}, make it fixed, hold it with "
                f"{spelling('hold_branches', True)}, or load the whole tree, "
                f"{spelling('kind', 'closed_loop')}",
                value=joint.name,
            )


def _hold(tree: ZeroConfigurationTree, chain: UrdfChain) -> UrdfChain:
    """Assign links outside the chain to bodies of the chain, as if rigidly attached.

    The assignment `tree.body` is changed in place. Return the chain unchanged.
    """
    kept = {tree.body[chain.base], *(joint.child for joint in chain.joints)}
    for link in tree.links:
        body = tree.body[link]
        while body not in kept and body in tree.above:
            body = tree.body[tree.above[body].parent]
        tree.body[link] = body
    return chain


_FINGER_JOINT = re.compile(r"finger|gripper|jaw|knuckle", re.IGNORECASE)
# The last link of an arm, which carries a gripper, is often named gripper_link.
_FINGER_LINK = re.compile(r"finger|jaw|knuckle", re.IGNORECASE)


def check_gripper(
    tree: ZeroConfigurationTree, longest: Mapping[str, list[Any]], spelling: Spelling
) -> None:
    """Raise an error if the last joint of an arm seems to be a gripper's finger.

    Args:
        tree: tree of the URDF.
        longest: for each leaf with the most movable joints above it, all joints down to it.
        spelling: function that formats an option for messages.

    Raises:
        ModelError: the last joint seems to be a finger; the message names the fingers, and
            candidates for the tip.
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
        f"{tree.source}: the longest chain{'s end' if several else ' ends'} in {names}, which "
        f"look{'' if several else 's'} like {'fingers' if several else 'the finger'} of a gripper, "
        "not like a joint of the arm; name the tip link: "
        f"{' or '.join(spelling('tip_link', tip) for tip in tips)}, with "
        f"{spelling('hold_branches', True)} to hold the gripper still, or, if the arm does end "
        f"there, {spelling('tip_link', leaf)}; with {spelling('kind', 'closed_loop')} the whole "
        "tree moves, including the gripper",
        value=tips,
    )


def _pairs(tree: ZeroConfigurationTree, longest: Mapping[str, list[Any]]) -> set[str]:
    """Return the last joints of branches that are prismatic and share a parent body.

    Such joints move, for example, the fingers of a gripper.
    """
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
        or _FINGER_JOINT.search(joint.name)
        or _FINGER_LINK.search(joint.child)
    )


def _other_tips(tree: ZeroConfigurationTree, link: str) -> list[str]:
    """Return up to three other leaf links that are rigidly attached to a link.

    They may be intended as tool frames.
    """
    parents = {joint.parent for joint in tree.above.values()}
    body = tree.body[link]
    return [
        name
        for name in tree.links
        if name != link and tree.body[name] == body and name not in parents
    ][:3]
