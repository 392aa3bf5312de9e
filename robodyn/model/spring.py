# SPDX-License-Identifier: Apache-2.0

"""Springs at joints and between points of two links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import ModelError
from robodyn.model.fields import frozen, nonnegative_number


@dataclass(frozen=True)
class LinearSpring:
    """Spring at a joint, with the effort -stiffness (q - rest) - preload on the joint.

    Attributes:
        stiffness: [N m/rad or N/m], not negative.
        rest: [rad or m] position q at which the effort is the preload alone; 0 without a
            stiffness.
        preload: [N m or N] effort toward negative positions at rest.
    """

    stiffness: float = 0.0
    rest: float = 0.0
    preload: float = 0.0

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "stiffness", nonnegative_number("spring: stiffness", self.stiffness))
        for name in ("rest", "preload"):
            put(self, name, float(frozen(f"spring: {name}", getattr(self, name), ())))
        if not self.stiffness:
            put(self, "rest", 0.0)

    @property
    def acts(self) -> bool:
        """Whether the spring exerts an effort at any position."""
        return bool(self.stiffness or self.preload)

    @property
    def at_zero(self) -> float:
        """Effort [N m or N] that holds the joint against the spring at position 0."""
        return self.preload - self.stiffness * self.rest

    def energy(self, position: FloatArray) -> FloatArray:
        """Compute the energy (...) [J] at positions (...) [rad or m]; 0 at `rest`."""
        stretch = position - self.rest
        return (0.5 * self.stiffness * stretch + self.preload) * stretch

    @property
    def unloaded(self) -> float:
        """Position [rad or m] at which the spring exerts no effort.

        It describes the spring in formats that have no preload.
        """
        return self.rest - self.preload / self.stiffness if self.preload else self.rest

    def plus(self, other: LinearSpring) -> LinearSpring:
        """Return one spring equivalent to this one and another in parallel.

        Preloads of the two springs are ignored.
        """
        total = self.stiffness + other.stiffness
        fraction = other.stiffness / total if total else 0.0
        return LinearSpring(total, self.rest + fraction * (other.rest - self.rest))

    def measured(self, sign: float, offset: float) -> LinearSpring:
        """Return the same spring in the joint coordinate sign * (q - offset).

        q is the current coordinate; `sign` is 1 or -1.
        """
        if not self.acts:
            return self
        return LinearSpring(self.stiffness, sign * (self.rest - offset), sign * self.preload)


NO_SPRING = LinearSpring()


@dataclass(frozen=True, eq=False)
class PointSpring:
    """Spring and damper between a point of one link and a point of another.

    Its tension is stiffness * (length - rest) + preload + damping * rate, where rate is the time
    derivative of the length; a negative tension pushes. A spring that only pulls, such as a bungee,
    has no tension if this sum would be negative.

    Attributes:
        name: name of the spring.
        parent, child: names of the links.
        at, child_at: (3,) [m] ends of the spring, in the links' frames.
        spring: law of the spring, in which q is the length.
        damping: [N s/m], not negative.
        tension_only: whether the spring only pulls; it then has a stiffness and no damping.
    """

    name: str
    parent: str
    child: str
    at: FloatArray
    child_at: FloatArray
    spring: LinearSpring
    damping: float = 0.0
    tension_only: bool = False

    def __post_init__(self) -> None:
        put, where = object.__setattr__, f"spring {self.name!r}"
        for name in ("at", "child_at"):
            put(self, name, frozen(f"{where}: {name}", getattr(self, name), (3,), "m"))
        put(self, "damping", nonnegative_number(f"{where}: damping", self.damping))
        if self.parent == self.child:
            raise ModelError(f"{where}: both ends are on {self.parent!r}", value=self.parent)
        if self.tension_only and (self.damping or not self.spring.stiffness):
            raise ModelError(
                f"{where}: stiffness is {self.spring.stiffness:g} and damping {self.damping:g}, "
                "but a spring that only pulls has a stiffness and no damping; describe the "
                "damper as a separate spring",
                value=self.spring,
            )

    @property
    def slack_length(self) -> float:
        """Length [m] up to which a spring that only pulls is slack; -1 for others."""
        return self.spring.unloaded if self.tension_only else -1.0

    @property
    def law(self) -> FloatArray:
        """Stiffness [N/m], tension [N] at length 0, damping [N s/m] and slack length [m].

        They form an array (4,); for the slack length see `slack_length`.
        """
        return np.array(
            [self.spring.stiffness, self.spring.at_zero, self.damping, self.slack_length]
        )

    def energy(self, length: FloatArray) -> FloatArray:
        """Compute the energy (...) [J] at lengths (...) [m]; 0 at the length `rest`."""
        return self.spring.energy(np.maximum(length, self.slack_length))

    @property
    def ends(self) -> tuple[tuple[str, FloatArray], tuple[str, FloatArray]]:
        """Link name and point (3,) [m] on the link, for the parent and for the child."""
        return (self.parent, self.at), (self.child, self.child_at)
