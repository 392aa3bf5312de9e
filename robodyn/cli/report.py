"""`robodyn report paper | puma`: what the papers show, computed anew; and files of any report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from robodyn.report.page import write_page

if TYPE_CHECKING:
    from robodyn.report.page import Page


def command_line() -> str:
    """How the running command was called, as one would type it."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def write_report(page: Page, html: Path | None, png: Path | None, pdf: Path | None) -> None:
    """Write a page, its charts to a folder, its charts to a PDF: those that were asked for."""
    if html is not None:
        write_page(page, html)
    if png is not None or pdf is not None:
        from robodyn.report.images import write_pdf, write_png

        if png is not None:
            write_png(page.charts, png)
        if pdf is not None:
            write_pdf(page.charts, pdf, page.title)
