# SPDX-License-Identifier: Apache-2.0

"""Common parts of the commands: errors in one line, models without warnings, progress, reports."""

from __future__ import annotations

import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

import robodyn as rd
from robodyn.errors import InvalidInput, OutputError, RobodynError, UnphysicalInertiaWarning

if TYPE_CHECKING:
    from robodyn.report.page import Page

# Endings of pages; a name may also have none.
HTML = (".html", ".htm", "")
# Shorter runs show no bar [s].
BAR_AFTER = 2.0


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Convert errors of the library to one line on standard error and exit code 1."""
    try:
        yield
    except RobodynError as error:
        typer.echo(f"error: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(1) from error


@contextmanager
def quietly() -> Iterator[None]:
    """Read models without warnings of unphysical inertias within this context.

    `robodyn check` reports these inertias.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        yield


def load_quietly(model: str) -> rd.Mechanism:
    """Load a mechanism without warnings of unphysical inertias."""
    with quietly():
        mechanism: rd.Mechanism = rd.load(model)
    return mechanism


def mechanism_and_path(model: str, path: str | None) -> tuple[rd.Mechanism, str, rd.Trajectory]:
    """Load a mechanism and a path, and return both with the name of the path.

    By default the path is that of its paper, or a demonstration.
    """
    from robodyn.trajectories.waypoints import default_path

    mechanism = load_quietly(model)
    name = path or default_path(mechanism)
    with progress_bar(f"path {name}", 1.0) as show:
        return mechanism, name, rd.load_path(name, mechanism, progress=show)


def writable(path: Path, force: bool) -> Path:
    """Return a path to write to, unchanged; an existing file requires `force`.

    Raises:
        OutputError: the file exists.
    """
    if path.exists() and not force:
        raise OutputError(
            f"{path} exists; choose another file, or overwrite it with --force", value=str(path)
        )
    return path


def numbers(name: str, text: str) -> list[float] | None:
    """Parse numbers separated by spaces or commas; None for an empty string.

    Raises:
        InvalidInput: the string contains something else.
    """
    try:
        return [float(part) for part in text.replace(",", " ").split()] if text else None
    except ValueError as error:
        raise InvalidInput(
            f"{name} is {text[:100]!r}, expected numbers in quotes or with commas",
            value=text,
        ) from error


def refuse_ending(option: str, path: Path | None, *endings: str) -> None:
    """Raise if the file name of an option does not have the required ending.

    Raises:
        InvalidInput: the name has another ending.
    """
    if path is not None and path.suffix.lower() not in endings:
        expected = " or ".join(filter(None, endings))
        raise InvalidInput(
            f"{option} is {path.name!r}, expected a name that ends in {expected}", value=str(path)
        )


@contextmanager
def progress_bar(what: str, total: float = 1.0) -> Iterator[Callable[[float], None]]:
    """Yield a function to report progress, which shows a bar on a terminal.

    The bar appears after two seconds.
    """
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(what, total=total)
    started, shown = time.monotonic(), False

    def report_progress(done: float) -> None:
        nonlocal shown
        if not shown and console.is_terminal and time.monotonic() - started > BAR_AFTER:
            bar.start()
            shown = True
        if shown:
            bar.update(task, completed=done)

    try:
        yield report_progress
    finally:
        if shown:
            bar.stop()


def command_line() -> str:
    """Return the running command line as a user would type it."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def write_report(
    page: Page, html: Path | None, png: Path | None = None, pdf: Path | None = None
) -> None:
    """Write a page to a file, and its charts as PNG files and as a PDF, if requested."""
    if html is not None:
        # imported here: most runs write no report
        from robodyn.report.page import write_page

        write_page(page, html)
    if png is not None or pdf is not None:
        from robodyn.report.images import write_pdf, write_png

        if png is not None:
            write_png(page.charts, png)
        if pdf is not None:
            write_pdf(page.charts, pdf, page.title)
