# SPDX-License-Identifier: Apache-2.0

"""Declaration of a kind of mechanism: how its descriptions are recognized and read."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from robodyn.errors import InvalidInput
from robodyn.mechanism.mechanism import Mechanism
from robodyn.mechanism.option_names import Spelling, in_python
from robodyn.model.builder import ModelBuilder


@dataclass(frozen=True)
class ReadOptions:
    """Options of `load` for reading a description; each kind uses the relevant ones.

    Attributes:
        strict: reject inertia tensors that no rigid body can have, instead of warning.
        base_link, tip_link: ends of the chain in a URDF; None lets the kind choose.
        hold_branches: lock movable joints outside that chain at 0, instead of rejecting them.
        driven: names of the driven joints; None for those of the description.
        kind: kind of mechanism to read the description as; None for the recognized kind.
        base: `fixed` or `moving` base of a tree of joints; None for that of the description.
        gravity: (3,) [m/s^2] base frame; None for that of the description.
        folder: folder to which file names in the description are relative; None for text.
        spelling: function that spells an option in messages.
    """

    strict: bool = False
    base_link: str | None = None
    tip_link: str | None = None
    hold_branches: bool = False
    driven: tuple[str, ...] | None = None
    kind: str | None = None
    base: str | None = None
    gravity: tuple[float, ...] | None = None
    folder: Path | None = None
    spelling: Spelling = in_python


@dataclass(frozen=True)
class Kind:
    """Kind of mechanism, as registered with `register_kind`.

    The functions import their modules when they are called (see `import_and_call`). So registering
    a kind costs nothing, and loading one kind does not load the compiled functions of another.

    Attributes:
        name: `type` in a YAML description, and `kind` of its mechanisms.
        from_yaml: creates a mechanism from a document (the mapping in a YAML file), the name of its
            source and the options; None if the kind has no YAML form.
        recognizes_yaml: tests whether a YAML document without such a `type`, in a foreign format,
            describes this kind; None if there is no such format.
        recognizes_urdf: tests whether a builder filled from URDF, SDF or MJCF describes this kind;
            None if the kind has no such form.
        from_urdf: creates a mechanism from a recognized builder.
        to_urdf: returns the complete mechanism as URDF text, for `save`; None if not supported.
        example: name of a bundled model of this kind, used to compile its functions in advance.
        adapters: references `module:name` to functions for this kind elsewhere in this or another
            package, by the name of their use, such as `template`; imported when needed, see
            `adapter`.
    """

    name: str
    from_yaml: Callable[[dict[str, Any], str, ReadOptions], Mechanism] | None = None
    recognizes_urdf: Callable[[ModelBuilder], bool] | None = None
    from_urdf: Callable[[ModelBuilder, ReadOptions], Mechanism] | None = None
    to_urdf: Callable[[Any], str] | None = None
    example: str = ""
    recognizes_yaml: Callable[[dict[str, Any]], bool] | None = None
    adapters: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name or not self.name.isidentifier():
            raise InvalidInput(
                f"name of a kind of mechanism is {self.name!r}, expected letters, digits and "
                "underscores",
                value=self.name,
            )
        if (self.recognizes_urdf is None) != (self.from_urdf is None):
            raise InvalidInput(
                f"kind {self.name!r}: recognizes_urdf and from_urdf go together; define both or "
                "neither",
                value=self.name,
            )
        for use, reference in self.adapters.items():
            if reference.count(":") != 1:
                raise InvalidInput(
                    f"kind {self.name!r}: adapter {use!r} is {reference!r}, expected module:name",
                    value=reference,
                )

    def adapter(self, use: str) -> Any:
        """Import the function registered for a use, such as `template`; None without one."""
        return _import(self.adapters[use]) if use in self.adapters else None


def import_and_call(*references: str) -> Callable[..., Any]:
    """Return a function that imports other functions and calls them in turn.

    The first one receives the arguments of the call, each further one the result of its
    predecessor. The result is that of the last.

    Args:
        references: `module:name` of each function; imported at the call.
    """
    return partial(_call, references)


def _call(references: tuple[str, ...], *given: Any) -> Any:
    for reference in references:
        given = (_import(reference)(*given),)
    return given[0]


def _import(reference: str) -> Any:
    module, name = reference.split(":")
    return getattr(importlib.import_module(module), name)
