# SPDX-License-Identifier: Apache-2.0

"""Atomic writing: a file is replaced as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from robodyn.errors import writing


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Replace a file by the draft that is written within this context.

    A reader sees the old file or the whole new one, also if the process is interrupted.

    Yields:
        Path of the draft in the same folder, with the same ending; the file itself if it is a
        device, such as /dev/stdout.

    Raises:
        OutputError: the file cannot be written.
    """
    with writing(path):
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            yield target
            return
        draft = target.with_name(f".{target.stem}.{os.getpid()}{target.suffix}")
        try:
            draft.touch()  # an unwritable folder is an error before the content is computed
            yield draft
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> Path:
    """Write a text file with `atomic_write`, creating its folder if necessary; return its path.

    Raises:
        OutputError: the file cannot be written.
    """
    target = Path(path)
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(target) as draft:
        draft.write_text(text, encoding="utf-8")
    return target
