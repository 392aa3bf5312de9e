# SPDX-License-Identifier: Apache-2.0

"""Joints that follow others: mimics of mimics, and actuators on joints that follow."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from robodyn.errors import LeftOutWarning, ModelError
from robodyn.model.joint import Mimic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robodyn.model.joint import Joint


def with_leaders(joints: Sequence[Joint]) -> list[Joint]:
    """The joints where each that follows one which follows another follows that at once.

    Raises:
        ModelError: joints that follow each other in a circle.
    """
    known = {joint.name: joint for joint in joints}
    return [
        joint if joint.mimic is None else replace(joint, mimic=_leader(joint, joint.mimic, known))
        for joint in joints
    ]


def _leader(joint: Joint, mimic: Mimic, known: dict[str, Joint]) -> Mimic:
    passed = [joint.name]
    while (leader := known.get(mimic.joint)) is not None and leader.mimic is not None:
        passed.append(leader.name)
        if leader.mimic.joint in passed:
            raise ModelError(
                f"joints {', '.join(map(repr, passed))} mimic each other in a circle; let one of "
                "them move by itself",
                value=passed,
            )
        mimic = _through(mimic, leader.mimic)
    return mimic


def _through(mimic: Mimic, other: Mimic) -> Mimic:
    """What follows a joint that follows `other`, as a follower of that."""
    factor = mimic.multiplier
    return Mimic(other.joint, factor * other.multiplier, factor * other.offset + mimic.offset)


def with_driven_leaders(
    joints: Sequence[Joint], driven: Sequence[str], source: str
) -> tuple[list[Joint], tuple[str, ...]]:
    """The joints and the driven ones where each driven joint moves by itself.

    A driven joint that follows one which is not driven changes places with it, as their motion is
    the same. The actuator of one that follows a driven joint is left out, with a warning: a
    mechanism has one effort for each freedom of its joints.
    """
    known = {joint.name: joint for joint in joints}
    kept = []
    for name in driven:
        mimic = known[name].mimic if name in known else None
        if mimic is None:
            kept.append(name)
            continue
        if mimic.joint in driven or mimic.multiplier == 0.0 or mimic.joint not in known:
            warnings.warn(
                f"{source}: joint {name!r}: left out is its actuator, as the joint follows "
                f"{mimic.joint!r}{', which is driven' if mimic.joint in driven else ''}",
                LeftOutWarning,
                stacklevel=2,
            )
            continue
        factor = 1.0 / mimic.multiplier
        back = Mimic(name, factor, -mimic.offset * factor)
        for other in known.values():
            if other.name == name:
                known[name] = replace(other, mimic=None)
            elif other.name == mimic.joint:
                known[other.name] = replace(other, mimic=back)
            elif other.mimic is not None and other.mimic.joint == mimic.joint:
                known[other.name] = replace(other, mimic=_through(other.mimic, back))
        kept.append(name)
    return list(known.values()), tuple(kept)
