# SPDX-License-Identifier: Apache-2.0

"""`robodyn report paper | puma`: the papers' figures, recomputed; and files of any report."""

from __future__ import annotations

import shlex
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robodyn.cli.commands import argument, option
from robodyn.cli.session import one_line_errors, progress_bar
from robodyn.errors import InvalidInput, OutputError, UnphysicalInertiaWarning
from robodyn.mechanisms.load import load
from robodyn.report.page import write_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.report.page import Page


def command_line() -> str:
    """The running command line, as one would type it."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def write_report(page: Page, html: Path | None, png: Path | None, pdf: Path | None) -> None:
    """Write those requested of: a page, its charts to a folder, its charts to a PDF."""
    if html is not None:
        write_page(page, html)
    if png is not None or pdf is not None:
        from robodyn.report.images import write_pdf, write_png

        if png is not None:
            write_png(page.charts, png)
        if pdf is not None:
            write_pdf(page.charts, pdf, page.title)


def report(
    what: Annotated[
        str,
        argument(help="paper: the figures of the two Stewart papers; puma: those of Lee et al."),
    ],
    output: Annotated[
        Path, option(help="Folder for the page, which is named after the report.")
    ] = Path("."),
    png: Annotated[bool, option("--png", help="Also write a PNG file of each chart.")] = False,
    pdf: Annotated[bool, option("--pdf", help="Also write a PDF of the charts.")] = False,
) -> None:
    """Recompute the figures of a paper, next to what its text says about them."""
    with one_line_errors():
        if what not in _REPORTS:
            raise InvalidInput(f"no report {what!r}; known are {', '.join(_REPORTS)}", value=what)
        with progress_bar(f"report {what}", 1.0) as tell:
            page = _REPORTS[what](tell)
        _make_folder(output)
        file = output / f"{what}.html"
        write_report(
            page, file, output / what if png else None, output / f"{what}.pdf" if pdf else None
        )
    typer.echo(f"{file}: {len(page.charts)} charts, {file.stat().st_size / 1e3:.0f} kB")


def _paper(tell: Callable[[float], None]) -> Page:
    from robodyn.papers.stewart_page import paper_page

    return paper_page(_quietly("stewart_dasgupta"), command_line())


def _puma(tell: Callable[[float], None]) -> Page:
    from robodyn.papers.puma import puma_page

    return puma_page(_quietly("puma560"), command_line(), tell)


_REPORTS = {"paper": _paper, "puma": _puma}


def _quietly(model: str) -> Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)  # see `robodyn check`
        mechanism: Mechanism = load(model)
    return mechanism


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be made: {error.strerror or error}", value=str(path)
        ) from error
