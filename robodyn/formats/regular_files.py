# SPDX-License-Identifier: Apache-2.0

"""Checked reading of regular files; reading a pipe or a device might never end."""

from __future__ import annotations

import stat
from pathlib import Path

from robodyn.errors import InvalidInput

# Largest text in bytes that is read into memory.
LARGEST = 2**31


def refuse_special_files(path: Path) -> None:
    """Reject a missing or special file, or a folder that contains a special file.

    Raises:
        InvalidInput: the path is missing, or is or contains a special file.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as failure:
        raise InvalidInput(f"{path}: there is no such file", value=str(path)) from failure
    # a name with a null character is a ValueError
    except (OSError, ValueError) as failure:
        raise InvalidInput(f"{path}: cannot be read: {failure}", value=str(path)) from failure
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InvalidInput(
            f"{path}: expected a regular file, found a pipe, a socket or a device", value=str(path)
        )
    for each in sorted(path.iterdir()) if stat.S_ISDIR(mode) else ():
        if not each.is_dir():
            refuse_special_files(each)


def read_bytes(path: Path) -> bytes:
    """Return the content of a regular file of at most `LARGEST` bytes.

    Raises:
        InvalidInput: the file does not exist, is not a regular file, is too large, or cannot be
            read.
    """
    refuse_special_files(path)
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise InvalidInput(
                f"{path}: {size} bytes, expected at most {LARGEST}: split it", value=size
            )
        return path.read_bytes()
    except OSError as failure:
        raise InvalidInput(f"{path}: cannot be read: {failure}", value=str(path)) from failure
