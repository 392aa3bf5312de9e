# SPDX-License-Identifier: Apache-2.0

"""Structures of mechanisms of the same shape: found once, whatever they weigh and however they rub.

What takes long, how the loops close, what moves, and in which order the equations are eliminated,
follows from the shape alone. A payload, friction, motors or another gravity leave it as it is.
"""

from __future__ import annotations

import copyreg
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from robodyn.mechanisms.closed_loop.packing import repacked
from robodyn.mechanisms.closed_loop.structure import Structure, find_structure
from robodyn.model.shape import ModelShape, shape_of

if TYPE_CHECKING:
    from robodyn.model.model import Model

# Shapes that are remembered.
MOST_SHAPES = 16


def structure_of(model: Model) -> Structure:
    """What `find_structure` finds, quickly where it was found of a model of this shape before.

    Raises:
        ModelError: as `find_structure`.
    """
    found = _found(shape_of(model))
    if found.tree.model is model:
        return found
    tree = found.tree.carried_by(model)
    return replace(found, tree=tree, packed=repacked(found.packed, found.tree, tree))


def _reduced(structure: Structure) -> tuple[Any, ...]:
    return structure_of, (structure.tree.model,)


# where it is unpickled it is found anew, or what is known there
copyreg.pickle(Structure, _reduced)


@lru_cache(maxsize=MOST_SHAPES)
def _found(shape: ModelShape) -> Structure:
    return find_structure(shape.model)
