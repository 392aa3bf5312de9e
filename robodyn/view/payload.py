"""What a mechanism moves, with something to carry and without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.checks import as_scalar

if TYPE_CHECKING:
    from robodyn.mechanism import Mechanism


def with_payload(mechanism: Mechanism, mass: float) -> Mechanism:
    """The mechanism with a point mass [kg] at the platform's reference point or the arm's tip.

    Raises:
        InvalidInput: a mass below zero.
    """
    added = as_scalar("payload", mass, "kg", at_least=0.0)
    either: Any = mechanism  # both kinds carry payloads, which no controller needs to know of
    loaded: Mechanism = either.with_payload(added) if added > 0.0 else mechanism
    return loaded


def moving_mass(mechanism: Mechanism) -> float:
    """[kg] of the platform, or of all links of an arm."""
    model: Any = getattr(mechanism, "model", None)
    if mechanism.kind == "stewart":
        return float(model.platform.mass)
    return float(sum(joint.mass for joint in model.joints))
