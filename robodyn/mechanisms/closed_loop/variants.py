# SPDX-License-Identifier: Apache-2.0

"""Structures of mechanisms of the same shape: found once, whatever they weigh and however they rub.

What takes long, how the loops close, what moves, and in which order the equations are eliminated,
follows from the shape alone. A payload, friction, motors or another gravity leave it as it is.
"""

from __future__ import annotations

import copyreg
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from robodyn.mechanisms.closed_loop.packing import repacked
from robodyn.mechanisms.closed_loop.structure import Structure, find_structure

if TYPE_CHECKING:
    from robodyn.model.model import Model
    from robodyn.model.placement import Placement

# Shapes that are remembered.
MOST_SHAPES = 16


@dataclass(frozen=True)
class _Shape:
    """What a structure follows from, and a model that has it."""

    key: tuple[Any, ...]
    model: Model = field(compare=False)


def structure_of(model: Model) -> Structure:
    """What `find_structure` finds, quickly where it was found of a model of this shape before.

    Raises:
        ModelError: as `find_structure`.
    """
    found = _found(_Shape(_key(model), model))
    if found.tree.model is model:
        return found
    tree = found.tree.carried_by(model)
    return replace(found, tree=tree, packed=repacked(found.packed, found.tree, tree))


def _reduced(structure: Structure) -> tuple[Any, ...]:
    return structure_of, (structure.tree.model,)


# where it is unpickled it is found anew, or what is known there
copyreg.pickle(Structure, _reduced)


@lru_cache(maxsize=MOST_SHAPES)
def _found(shape: _Shape) -> Structure:
    return find_structure(shape.model)


def _key(model: Model) -> tuple[Any, ...]:
    """All of a model but masses, friction, motors and gravity; which bodies have mass counts."""
    joints = [
        (
            joint.name, joint.kind, joint.parent, joint.child, *_place(joint.at),
            *_place(joint.child_at), joint.axis.tobytes(), joint.mimic, joint.position.tobytes(),
        )
        for joint in model.joints
    ]  # fmt: skip
    closures = [
        (
            closure.name, closure.kind, closure.parent, closure.child, *_place(closure.at),
            *_place(closure.child_at), closure.axis.tobytes(),
            None if closure.child_axis is None else closure.child_axis.tobytes(),
        )
        for closure in model.closures
    ]  # fmt: skip
    names = tuple(link.name for link in model.links)
    told = model.driven, model.independent, model.tip_link, model.home
    return (*joints, *closures, names, _with_inertia(model), *told)


def _with_inertia(model: Model) -> frozenset[str]:
    """The bodies that have mass or inertia, each by the first of its links."""
    held_by = {joint.child: joint.parent for joint in model.joints if not joint.moves}
    found = set()
    for link in model.links:
        if link.mass > 0.0 or link.inertia.any():
            name = link.name
            while name in held_by:
                name = held_by[name]
            found.add(name)
    return frozenset(found)


def _place(at: Placement) -> tuple[bytes, bytes]:
    return at.rotation.tobytes(), at.translation.tobytes()
