# SPDX-License-Identifier: Apache-2.0

"""Registration of the implementations of general functions for a kind of mechanism."""

from __future__ import annotations

from types import ModuleType

from robodyn.algorithms import comparison, conditioning, description, motions, travel
from robodyn.dynamics import joint_friction
from robodyn.presentation import presentation

GENERAL = comparison, conditioning, description, joint_friction, motions, presentation, travel


def register_variants(kind: type, *modules: ModuleType) -> None:
    """Register a kind's functions as implementations of the general ones with equal names.

    Args:
        kind: class of the mechanisms.
        modules: modules of the kind; functions that they import from elsewhere are ignored.
    """
    for general in GENERAL:
        for name, function in vars(general).items():
            for module in modules if hasattr(function, "registry") else ():
                variant = vars(module).get(name)
                if getattr(variant, "__module__", "") == module.__name__:
                    function.register(kind, variant)
