# SPDX-License-Identifier: Apache-2.0

"""Shared by the generators of docs: Markdown tables in a page, and files that can be checked."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

MARK = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def with_tables(page: Path, tables: Mapping[str, Callable[[], str]]) -> str:
    """Return a page's text with each table between its marks generated again."""

    def fresh(found: re.Match[str]) -> str:
        name = found[2]
        return found[1] + tables[name]() + found[3] if name in tables else found[0]

    return MARK.sub(fresh, page.read_text(encoding="utf-8"))


def write_or_check(file: Path, text: str) -> int:
    """Write a file or, with --check on the command line, return 1 if it is out of date."""
    if "--check" in sys.argv[1:]:
        same = file.exists() and file.read_text(encoding="utf-8") == text
        sys.stdout.write(f"{file.name} is {'up to date' if same else 'out of date'}\n")
        return 0 if same else 1
    file.write_text(text, encoding="utf-8")
    return 0
