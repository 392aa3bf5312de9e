# SPDX-License-Identifier: Apache-2.0

"""The registered kinds of mechanism, and which of them a description belongs to.

A package adds a kind with one call, `robodyn.register_kind(Kind(...))`, or, so that every process
finds it without importing that package first, by an entry point of the group `robodyn.mechanisms`
that refers to a `Kind`.
"""

from __future__ import annotations

import warnings
from importlib import metadata

from robodyn.errors import InvalidInput, ModelError
from robodyn.mechanism.kind import Kind
from robodyn.mechanism.mechanism import Mechanism
from robodyn.model.builder import ModelBuilder
from robodyn.model.model import Model
from robodyn.solvers.serial.kind import SERIAL
from robodyn.solvers.stewart.kind import STEWART
from robodyn.solvers.tree.kind import CLOSED_LOOP

GROUP = "robodyn.mechanisms"

# Asked in this order whether a URDF is theirs; a serial arm takes what is left.
_BUNDLED = {kind.name: kind for kind in (STEWART, CLOSED_LOOP, SERIAL)}
_added: dict[str, Kind] = {}
_entry_points_read = False


def register_kind(kind: Kind) -> Kind:
    """Register a kind of mechanism, and return it.

    Registering the same kind again changes nothing. Kinds that are added are asked before the
    bundled ones whether a URDF is theirs, the latest first.

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
    """Remove a kind that was added; an unknown name is ignored."""
    _added.pop(name, None)


def kinds() -> dict[str, Kind]:
    """Return all kinds by name, in the order in which they examine a URDF."""
    _read_entry_points()
    return {**dict(reversed(_added.items())), **_BUNDLED}


def kind_of(mechanism: Mechanism) -> Kind:
    """The kind under which a mechanism is registered.

    Raises:
        InvalidInput: it is not registered.
    """
    found = _BUNDLED.get(mechanism.kind) or kinds().get(mechanism.kind)
    if found is None:
        raise InvalidInput(
            f"{mechanism.name} is of the kind {mechanism.kind!r}, which is not registered; call "
            f"robodyn.register_kind, registered are {', '.join(kinds())}",
            value=mechanism.kind,
        )
    return found


def written_model(mechanism: Mechanism) -> Model | None:
    """The model that files and figures of a mechanism show: its own, or what its kind adds to it.

    None of a kind whose mechanisms have no model of links and joints.
    """
    describe = kind_of(mechanism).adapter("written_model")
    model = mechanism.model if describe is None else describe(mechanism)
    return model if isinstance(model, Model) else None


def kind_of_urdf(builder: ModelBuilder) -> Kind:
    """The kind of mechanism that a URDF describes.

    Raises:
        ModelError: no registered kind recognizes it.
    """
    for kind in kinds().values():
        if kind.recognizes_urdf is not None and kind.recognizes_urdf(builder):
            return kind
    raise ModelError(
        f"{builder.source}: no registered kind of mechanism recognizes this URDF; registered are "
        f"{', '.join(kinds())}",
        value=builder.source,
    )


def yaml_kinds() -> tuple[str, ...]:
    """What a YAML description may give as its `type`: the bundled kinds, then those added."""
    known = {**_BUNDLED, **kinds()}
    return tuple(name for name, kind in known.items() if kind.from_yaml is not None)


def _read_entry_points() -> None:
    """Register the kinds of installed packages, once; one that fails is reported and skipped."""
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
                f"entry point {entry.name} = {entry.value} of {GROUP} is left out: {error}",
                UserWarning,
                stacklevel=3,
            )
