# SPDX-License-Identifier: Apache-2.0

"""Springs at joints and between points of two links."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn.arrays import FloatArray
from robodyn.model.fields import frozen, not_negative


@dataclass(frozen=True)
class JointSpring:
    """Spring at a joint: its effort on the joint is -stiffness (q - rest) - preload.

    Attributes:
        stiffness: [N m/rad or N/m], not negative.
        rest: [rad or m] the position q at which the effort is the preload alone; 0 without a
            stiffness.
        preload: [N m or N] effort toward negative positions at rest.
    """

    stiffness: float = 0.0
    rest: float = 0.0
    preload: float = 0.0

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "stiffness", not_negative("spring: stiffness", self.stiffness))
        for name in ("rest", "preload"):
            put(self, name, float(frozen(f"spring: {name}", getattr(self, name), ())))
        if not self.stiffness:
            put(self, "rest", 0.0)

    @property
    def acts(self) -> bool:
        """Whether there is a spring."""
        return bool(self.stiffness or self.preload)

    @property
    def at_zero(self) -> float:
        """[N m or N] effort that holds the joint against the spring at position 0."""
        return self.preload - self.stiffness * self.rest

    def energy(self, position: FloatArray) -> FloatArray:
        """Compute the potential energy (...) [J] at positions (...) [rad or m], 0 at rest."""
        stretch = position - self.rest
        return (0.5 * self.stiffness * stretch + self.preload) * stretch

    @property
    def unloaded(self) -> float:
        """[rad or m] position at which the effort is zero, for formats without a preload."""
        return self.rest - self.preload / self.stiffness if self.preload else self.rest

    def plus(self, other: JointSpring) -> JointSpring:
        """Return the spring that acts like this one and another one, both not preloaded."""
        total = self.stiffness + other.stiffness
        share = other.stiffness / total if total else 0.0
        return JointSpring(total, self.rest + share * (other.rest - self.rest))

    def measured(self, sign: float, offset: float) -> JointSpring:
        """Return the spring for the position sign * (q - offset) instead of q; sign is 1 or -1."""
        if not self.acts:
            return self
        return JointSpring(self.stiffness, sign * (self.rest - offset), sign * self.preload)


NO_SPRING = JointSpring()
