# SPDX-License-Identifier: Apache-2.0

"""Registry of the kinds of mechanism, and recognition of a description's kind.

A package adds a kind with one call, `robodyn.register_kind(Kind(...))`, or by an entry point of the
group `robodyn.mechanisms` that refers to a `Kind`, which every process finds without an import.
"""

from __future__ import annotations

import warnings
from importlib import metadata

from robodyn.errors import InvalidInput, ModelError
from robodyn.mechanism.kind import Kind
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model import Model, ModelBuilder
from robodyn.parsing.template import Template
from robodyn.solvers.serial.kind import SERIAL
from robodyn.solvers.stewart.kind import STEWART
from robodyn.solvers.tree.kind import CLOSED_LOOP

GROUP = "robodyn.mechanisms"

# Checked in this order for a URDF; any other is a serial arm.
_BUNDLED = {kind.name: kind for kind in (STEWART, CLOSED_LOOP, SERIAL)}
_added: dict[str, Kind] = {}
_entry_points_read = False


def register_kind(kind: Kind) -> Kind:
    """Register a kind of mechanism, so that `load` can create it.

    Registering the same kind again has no effect. `load` tests whether a registered kind recognizes
    a URDF before it tests the bundled kinds, the latest first.

    Args:
        kind: kind to register.

    Returns:
        The same kind.

    Raises:
        InvalidInput: another kind has that name.
    """
    known = _BUNDLED.get(kind.name) or _added.get(kind.name)
    if known is not None and known != kind:
        raise InvalidInput(
            f"a kind of mechanism named {kind.name!r} is registered already; choose another name",
            value=kind.name,
        )
    if known is None:
        _added[kind.name] = kind
    return kind


def unregister_kind(name: str) -> None:
    """Unregister a kind of mechanism by its name; an unknown name is ignored."""
    _added.pop(name, None)


def kinds() -> dict[str, Kind]:
    """Return all registered kinds by name, in the order in which `load` tests them."""
    _read_entry_points()
    return {**dict(reversed(_added.items())), **_BUNDLED}


def templates() -> dict[str, tuple[str, Template]]:
    """Return the templates of model files, by name.

    Each value consists of the name of the kind of mechanism and the template.
    """
    found = ((kind.name, kind.adapter("template")) for kind in kinds().values())
    return {
        template.what: (name, template)
        for name, offered in found
        for template in (offered if isinstance(offered, tuple) else (offered,))
        if template is not None
    }


def kind_of(mechanism: Mechanism) -> Kind:
    """Return the registered `Kind` of a mechanism.

    Raises:
        InvalidInput: the mechanism's class is not registered.
    """
    found = _BUNDLED.get(mechanism.kind) or kinds().get(mechanism.kind)
    if found is None:
        raise InvalidInput(
            f"{mechanism.name} is of the kind {mechanism.kind!r}, which is not registered; call "
            f"robodyn.register_kind (registered kinds: {', '.join(kinds())})",
            value=mechanism.kind,
        )
    return found


def written_model(mechanism: Mechanism) -> Model | None:
    """Return the model that represents a mechanism in files and figures.

    It is `mechanism.model`, unless the kind of mechanism provides another one; None if there is no
    model of links and joints.
    """
    describe = kind_of(mechanism).adapter("written_model")
    model = mechanism.model if describe is None else describe(mechanism)
    return model if isinstance(model, Model) else None


def kind_of_urdf(builder: ModelBuilder) -> Kind:
    """Return the kind of mechanism that a URDF, SDF or MJCF file describes.

    Raises:
        ModelError: no registered kind recognizes it.
    """
    for kind in kinds().values():
        if kind.recognizes_urdf is not None and kind.recognizes_urdf(builder):
            return kind
    raise ModelError(
        f"{builder.source}: no registered kind of mechanism recognizes this URDF; registered "
        f"kinds: {', '.join(kinds())}",
        value=builder.source,
    )


def yaml_kinds() -> tuple[str, ...]:
    """Return the values of `type` that a YAML model file may have, bundled ones first."""
    known = {**_BUNDLED, **kinds()}
    return tuple(name for name, kind in known.items() if kind.from_yaml is not None)


def _read_entry_points() -> None:
    """Register the mechanism kinds of installed packages once; warn of failures."""
    global _entry_points_read
    if _entry_points_read:
        return
    _entry_points_read = True
    for entry in metadata.entry_points(group=GROUP):
        try:
            kind = entry.load()
            if not isinstance(kind, Kind):
                raise TypeError(f"it refers to {kind!r}, expected a robodyn Kind")
            register_kind(kind)
        except Exception as error:  # another package may raise anything
            warnings.warn(
                f"ignored entry point {entry.name} = {entry.value} of {GROUP}: {error}",
                UserWarning,
                stacklevel=3,
            )
