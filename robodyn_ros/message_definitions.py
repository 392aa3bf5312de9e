# SPDX-License-Identifier: Apache-2.0

"""Definitions of message types as stored in bags: the text of a type and all nested types.

They are read from the `.msg` files of the installed packages, comments included, so that a reader
without these packages, such as Foxglove or PlotJuggler, can decode the bag.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any, NamedTuple

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from robodyn.errors import InvalidInput

SEPARATOR = "=" * 80
_NESTED = re.compile(r"(\w+)/(\w+)")
# Definition files have a few kB; a larger file is not one.
LARGEST = 1_000_000


class Definition(NamedTuple):
    """The definition of a message type in a bag.

    Attributes:
        text: its `.msg` file and those of all nested types, separated as by rosbag2.
        hash: `RIHS01_...` of REP-2016, which identifies a version of a type.
    """

    text: str
    hash: str


def message_class(name: str) -> Any:
    """The class of a message type `package/msg/Type`.

    Raises:
        InvalidInput: no such type is installed.
    """
    try:
        package, folder, kind = name.split("/")
        return getattr(importlib.import_module(f"{package}.{folder}"), kind)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInput(f"message type {name} is not installed: {error}", value=name) from error


def definition(name: str) -> Definition:
    """The definition of a message type `package/msg/Type`.

    Where a package has no `.msg` files, rosbags' own copy of the common types is used.

    Raises:
        InvalidInput: there is no definition.
    """
    from rosbags.typesys import Stores, TypesysError, get_types_from_msg, get_typestore

    try:
        texts = {part: _file(part) for part in _with_nested(name)}
    except (PackageNotFoundError, OSError):
        return common_definition(name)
    store = get_typestore(Stores.EMPTY)
    try:
        for part, text in texts.items():
            store.register(get_types_from_msg(text, part))
        sha = store.hash_rihs01(name)
    except TypesysError as error:
        raise InvalidInput(f"definition of {name}: {error}", value=name) from error
    first, *others = texts.items()
    more = (f"{SEPARATOR}\nMSG: {_short(part)}\n{text}" for part, text in others)
    return Definition("\n".join([first[1], *more]), sha)


def common_definition(name: str) -> Definition:
    """The definition of one of ROS 2's common types, by rosbags' own copy of it.

    Raises:
        InvalidInput: rosbags does not have this type.
    """
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.LATEST)
    if name not in store.fielddefs:
        raise InvalidInput(f"no definition of message type {name} is installed", value=name)
    return Definition(store.generate_msgdef(name, ros_version=2)[0], store.hash_rihs01(name))


def _with_nested(name: str) -> list[str]:
    """A type and all nested types, itself first, each once."""
    found = [name]
    for part in found:
        for field in message_class(part).get_fields_and_field_types().values():
            match = _NESTED.search(field)
            if match and (nested := f"{match[1]}/msg/{match[2]}") not in found:
                found.append(nested)
    return found


def _file(name: str) -> str:
    package, folder, kind = name.split("/")
    path = Path(get_package_share_directory(package), folder, f"{kind}.msg")
    if path.stat().st_size > LARGEST:
        raise InvalidInput(f"{path} is too large for a message definition", value=path)
    return path.read_text(encoding="utf-8")


def _short(name: str) -> str:
    package, _, kind = name.split("/")
    return f"{package}/{kind}"
