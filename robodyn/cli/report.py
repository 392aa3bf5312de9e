# SPDX-License-Identifier: Apache-2.0

"""`robodyn report paper | puma`: recompute the papers' figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import robodyn as rd
from robodyn.cli.session import load_model, progress_bar, write_report
from robodyn.errors import OutputError

if TYPE_CHECKING:
    from robodyn.report.page import Page


def report(what: str, /, *, output: Path = Path("."), png: bool = False, pdf: bool = False) -> None:
    """Recompute the figures of a paper, next to the statements of its text.

    Args:
        what: paper: the figures of the two Stewart papers; puma: those of Lee et al.
        output: Folder for the page, which has the name of the report.
        png: Also write a PNG file of each chart.
        pdf: Also write a PDF of the charts.
    """
    if what not in _REPORTS:
        raise rd.InvalidInput(
            f"no report {what!r}; known reports are {', '.join(_REPORTS)}", value=what
        )
    with progress_bar(f"report {what}") as report_progress:
        page = _REPORTS[what](report_progress)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{output}: cannot be created: {error.strerror or error}", value=str(output)
        ) from error
    file = output / f"{what}.html"
    write_report(
        page, file, output / what if png else None, output / f"{what}.pdf" if pdf else None
    )
    typer.echo(f"{file}: {len(page.charts)} charts, {file.stat().st_size / 1e3:.0f} kB")


def _paper(report_progress: Callable[[float], None]) -> Page:
    from robodyn.papers.stewart_page import paper_page

    return paper_page(load_model("stewart_dasgupta"))


def _puma(report_progress: Callable[[float], None]) -> Page:
    from robodyn.papers.puma import puma_page

    return puma_page(load_model("puma560"), report_progress)


_REPORTS = {"paper": _paper, "puma": _puma}
