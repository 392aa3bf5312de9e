# SPDX-License-Identifier: Apache-2.0

"""Sources of mechanisms: the name of a bundled model, a file, a text or a dictionary."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from robodyn.errors import ModelError, ModelNotFound
from robodyn.formats.documents import format_value, plain_document, read_yaml
from robodyn.formats.xml_text import root_tag
from robodyn.model.builder import ModelBuilder
from robodyn.parsing.description import read_description

MODELS = Path(str(resources.files("robodyn"))) / "bundled"
URDF_SUFFIXES = (".urdf", ".xacro", ".sdf", ".world", ".xml")
YAML_SUFFIXES = (".yaml", ".yml")
# all supported extensions, the last one for MJCF too
SUFFIXES = (*URDF_SUFFIXES[:-1], *YAML_SUFFIXES, ".xml")


class YamlDocument(NamedTuple):
    """Content of a YAML model file.

    Attributes:
        fields: mapping in the file.
        source: file name, for messages.
        folder: folder to which file names in the mapping are relative.
    """

    fields: dict[str, Any]
    source: str
    folder: Path


def models() -> tuple[str, ...]:
    """Return the names of the bundled models in alphabetical order."""
    return tuple(sorted(path.stem for path in MODELS.glob("*.yaml")))


def read_source(
    source: str | Path | Mapping[str, Any], xacro_args: Mapping[str, str] | None = None
) -> YamlDocument | ModelBuilder:
    """Read a bundled model, a file, text or a dictionary.

    Args:
        source: bundled name, path, URDF, SDF or MJCF text, or content of a YAML file as a
            dictionary.
        xacro_args: arguments for a .xacro file, by name.

    Returns:
        A `YamlDocument` for YAML and dictionaries; a `ModelBuilder` for URDF, SDF and MJCF.

    Raises:
        ModelNotFound: the source is neither a bundled name nor a file; the error lists the bundled
            names.
        ModelError: the source cannot be read; the error names the file, the field and its value.
        MissingExtra: the package xacro is missing for a .xacro file, or mujoco for MJCF.
    """
    if isinstance(source, (str, Path)) and str(source).strip():
        if is_text(source):
            return read_description(source)
        bundled = str(source) in models()
        path = MODELS / f"{source}.yaml" if bundled else _existing(source)
        suffix = path.suffix.lower()
        if suffix in URDF_SUFFIXES:
            return read_description(path, xacro_args)
        if suffix not in YAML_SUFFIXES:
            raise ModelError(
                f"{path}: unknown file type {path.suffix!r}, expected {', '.join(SUFFIXES)}",
                value=path.suffix,
            )
        return YamlDocument(read_yaml(path), path.name if bundled else str(path), path.parent)
    if isinstance(source, Mapping):
        name = name_of_source(source)
        return YamlDocument(plain_document(source, name), name, Path())
    raise ModelNotFound(
        f"a model is a name, a path, URDF text or a dictionary, not {format_value(source)}; "
        f"bundled models: {', '.join(models())}",
        value=source,
    )


def is_text(source: str | Path) -> bool:
    """Return whether a source is URDF, SDF or MJCF text instead of a name or path."""
    return isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<")


def name_of_source(source: str | Path | Mapping[str, Any]) -> str:
    """Return a short name of a model's source for messages, such as its path."""
    if isinstance(source, Mapping):
        return "dictionary"
    text = str(source)
    return f"{root_tag(text) or 'XML'} text" if text.lstrip().startswith("<") else text


def _existing(source: str | Path) -> Path:
    path = Path(source)
    try:
        if path.exists():
            return path
    except (OSError, ValueError):  # too long for a path, or contains a null character
        pass
    shown_name = str(source) if len(str(source)) <= 100 else str(source)[:97] + "..."
    near = difflib.get_close_matches(shown_name, models(), n=1, cutoff=0.6)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise ModelNotFound(
        f"no model or file named {shown_name!r}{hint}; bundled models: {', '.join(models())}",
        value=str(source),
    )
