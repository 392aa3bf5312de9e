# SPDX-License-Identifier: Apache-2.0

"""Topology of a model: everything except masses, friction, motors and gravity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from robodyn.model.model import Model
from robodyn.model.placement import Placement


@dataclass(frozen=True)
class ModelTopology:
    """Cache key for results that depend on a model's topology but not its masses.

    Attributes:
        key: value that is equal for all models of the same topology.
        model: a model of this topology.
    """

    key: tuple[Any, ...]
    model: Model = field(compare=False)


def shape_of(model: Model) -> ModelTopology:
    """Return the topology of a model, as a cache key.

    It consists of the joints, closures and springs with their geometry, and the names of the bodies
    that have inertia.
    """
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
    springs = [
        (spring.name, spring.parent, spring.child, spring.at.tobytes(), spring.child_at.tobytes())
        for spring in model.springs
    ]
    names = tuple(link.name for link in model.links)
    rest = model.driven, model.independent, model.tip_link, model.home
    return ModelTopology((*joints, *closures, *springs, names, _with_inertia(model), *rest), model)


def _with_inertia(model: Model) -> frozenset[str]:
    """Return the names of the bodies with inertia; a name is that of the first link."""
    held_by = {joint.child: joint.parent for joint in model.joints if not joint.moves}
    found = set()
    for link in model.links:
        if link.has_inertia:
            name = link.name
            while name in held_by:
                name = held_by[name]
            found.add(name)
    return frozenset(found)


def _place(at: Placement) -> tuple[bytes, bytes]:
    return at.rotation.tobytes(), at.translation.tobytes()
