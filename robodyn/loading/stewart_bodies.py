"""The thirteen bodies of a Stewart platform by name, and the check of their inertias."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robodyn.loading.inertia import Finding, check_inertias, findings

if TYPE_CHECKING:
    from robodyn.stewart.model import Body, StewartModel


def named_bodies(model: StewartModel) -> list[tuple[str, Body]]:
    """Every body that moves: the platform, then the lower and the upper part of each leg."""
    lower = [(f"leg{number} lower", leg.lower) for number, leg in enumerate(model.legs, start=1)]
    upper = [(f"leg{number} upper", leg.upper) for number, leg in enumerate(model.legs, start=1)]
    return [("platform", model.platform), *lower, *upper]


def unphysical_bodies(model: StewartModel) -> list[Finding]:
    """Which bodies carry an inertia tensor that no rigid body can have."""
    return findings((name, body.inertia) for name, body in named_bodies(model))


def check_bodies(model: StewartModel, *, strict: bool) -> None:
    """Warn of unphysical inertias, or refuse them with `strict=True`.

    Raises:
        UnphysicalInertia: with `strict=True`.
    """
    bodies = ((name, body.inertia) for name, body in named_bodies(model))
    check_inertias(model.source, bodies, strict=strict)
