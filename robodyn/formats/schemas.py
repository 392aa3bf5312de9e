# SPDX-License-Identifier: Apache-2.0

"""Bundled JSON schemas of robodyn's YAML files, for editors and validators."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from robodyn.errors import InvalidInput

_SUFFIX = ".schema.json"


def schemas() -> tuple[str, ...]:
    """Return the names of the bundled JSON schemas, such as `serial` or `waypoints`."""
    return tuple(sorted(path.name.removesuffix(_SUFFIX) for path in _folder().glob(f"*{_SUFFIX}")))


def schema_file(name: str) -> Path:
    """Return the path of a bundled JSON schema, given its name.

    Raises:
        InvalidInput: there is no schema of that name.
    """
    if name not in schemas():
        raise InvalidInput(
            f"no schema {name!r}; known schemas are {', '.join(schemas())}", value=name
        )
    return _folder() / f"{name}{_SUFFIX}"


def editor_line(name: str) -> str:
    """Return the comment line with which a YAML file refers editors to its schema."""
    return f"# yaml-language-server: $schema={schema_file(name)}\n"


def _folder() -> Path:
    return Path(str(resources.files("robodyn") / "schemas"))
