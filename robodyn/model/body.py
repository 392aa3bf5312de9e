# SPDX-License-Identifier: Apache-2.0

"""Rigid bodies of a model, and their combination."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from robodyn.arrays import ArrayLike, FloatArray
from robodyn.model.fields import copy_unchecked, frozen, inertia_tensor, nonnegative_number
from robodyn.model.geometry import Geometry

T = TypeVar("T", bound=Any)


@dataclass(frozen=True)
class Body:
    """Mass, center of mass and inertia of a rigid body.

    Attributes:
        mass: [kg], not negative.
        com: (3,) [m] center of mass, in the body's own frame.
        inertia: (3, 3) [kg m^2] about the center of mass, in the axes of the body's frame.
    """

    mass: float
    com: FloatArray
    inertia: FloatArray

    def __post_init__(self) -> None:
        check_body(self)

    def seen_from(self, rotation: FloatArray, origin: FloatArray) -> Body:
        """Return the body, expressed in another frame.

        Args:
            rotation: (3, 3) axes of the other frame, as columns, in the body's own frame.
            origin: (3,) [m] origin of the other frame, in the body's own frame.

        Returns:
            The same body, with center of mass and inertia in the other frame.
        """
        inertia = rotation.T @ self.inertia @ rotation
        com, inertia = rotation.T @ (self.com - origin), 0.5 * (inertia + inertia.T)
        for array in (com, inertia):
            array.setflags(write=False)
        return copy_unchecked(self, com=com, inertia=inertia)


@dataclass(frozen=True, eq=False)
class Link:
    """Rigid body with a name and geometry.

    Attributes:
        name: name of the link.
        mass: [kg], not negative; a link may be massless.
        com: (3,) [m] center of mass, link frame.
        inertia: (3, 3) [kg m^2] about the center of mass, in the axes of the link frame.
        visuals, collisions: visual and collision geometry, ignored in comparisons.
    """

    name: str
    mass: float = 0.0
    com: FloatArray = field(default_factory=lambda: np.zeros(3))
    inertia: FloatArray = field(default_factory=lambda: np.zeros((3, 3)))
    visuals: tuple[Geometry, ...] = field(default=(), compare=False, repr=False)
    collisions: tuple[Geometry, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        check_body(self, f"link {self.name!r}: ")

    @property
    def has_inertia(self) -> bool:
        """Whether the link has mass or inertia."""
        return bool(self.mass or self.inertia.any())


def check_body(item: Any, where: str = "") -> None:
    """Check mass, center of mass and inertia of a body or link, and freeze the arrays.

    Raises:
        ModelError: the mass is negative, a shape is wrong, or the inertia is not symmetric.
    """
    put = object.__setattr__
    put(item, "mass", nonnegative_number(f"{where}mass", item.mass, "kg"))
    put(item, "com", frozen(f"{where}com", item.com, (3,), "m"))
    put(item, "inertia", inertia_tensor(f"{where}inertia", item.inertia))


def combine_bodies(item: T, other: Any) -> T:
    """Return a body or link with another body fixed to it (parallel-axis theorem).

    Args:
        item: body or link that carries the other one.
        other: carried body, expressed in the same frame.

    Returns:
        A copy of `item` with the mass, center of mass and inertia of both.

    Raises:
        ModelError: a number overflows.
    """
    changes = combine(item, other)
    return replace(item, **changes) if changes else item


def combine(item: Any, other: Any) -> dict[str, Any]:
    """Compute the mass properties of a body with another body fixed to it, unchecked.

    Both bodies are expressed in the same frame.

    Returns:
        New values of the fields `mass`, `com` and `inertia` by name; fields that do not change may
        be omitted.
    """
    total = item.mass + other.mass
    if total == 0.0:
        return {"inertia": item.inertia + other.inertia} if other.inertia.any() else {}
    with np.errstate(over="ignore", invalid="ignore"):  # the new body raises
        arm = other.com - item.com
        reduced = item.mass * other.mass / total
        shift = reduced * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        com = item.com + other.mass / total * arm
        inertia = item.inertia + other.inertia + shift
    return {"mass": total, "com": com, "inertia": inertia}


def payload(mass: float, com: ArrayLike, inertia: ArrayLike | None) -> Body:
    """Create a body to be carried as a payload; by default a point mass.

    Args:
        mass: [kg].
        com: (3,) [m] center of mass, in the frame of the link that carries the payload.
        inertia: (3, 3) [kg m^2] about the center of mass, in the axes of that frame; None for a
            point mass.

    Returns:
        The body, in the frame of that link.

    Raises:
        ModelError: the mass is negative, a shape is wrong, or the inertia is not symmetric.
    """
    tensor = np.zeros((3, 3)) if inertia is None else inertia
    carried = Body.__new__(Body)
    for name, value in (("mass", mass), ("com", com), ("inertia", tensor)):
        object.__setattr__(carried, name, value)
    check_body(carried, "payload: ")
    return carried
