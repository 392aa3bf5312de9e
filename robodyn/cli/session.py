# SPDX-License-Identifier: Apache-2.0

"""Shared by the commands: errors in one line, models without warnings, progress, reports."""

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
PATIENCE = 2.0


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn errors of the library into one line on standard error and exit code 1."""
    try:
        yield
    except RobodynError as error:
        typer.echo(f"error: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(1) from error


@contextmanager
def quietly() -> Iterator[None]:
    """Read models without warnings of unphysical inertias, which `robodyn check` tells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        yield


def load_quietly(model: str) -> rd.Mechanism:
    """A mechanism, `quietly`."""
    with quietly():
        mechanism: rd.Mechanism = rd.load(model)
    return mechanism


def mechanism_and_path(model: str, path: str | None) -> tuple[rd.Mechanism, str, rd.Trajectory]:
    """The mechanism, and the path with its name: by default its paper's or a demonstration."""
    from robodyn.trajectories.waypoints import default_path

    mechanism = load_quietly(model)
    name = path or default_path(mechanism)
    with progress_bar(f"path {name}", 1.0) as show:
        return mechanism, name, rd.load_path(name, mechanism, progress=show)


def writable(path: Path, force: bool) -> Path:
    """A file to write: one that exists with `force` only.

    Raises:
        OutputError: it exists.
    """
    if path.exists() and not force:
        raise OutputError(
            f"{path} exists; choose another file, or write over it with --force", value=str(path)
        )
    return path


def numbers(name: str, text: str) -> list[float] | None:
    """Numbers with spaces or commas between them; None of an empty text.

    Raises:
        InvalidInput: anything else.
    """
    try:
        return [float(part) for part in text.replace(",", " ").split()] if text else None
    except ValueError as error:
        raise InvalidInput(
            f"{name} is {text[:100]!r}, expected numbers in quotes or with commas",
            value=text,
        ) from error


def refuse_ending(option: str, path: Path | None, *endings: str) -> None:
    """Refuse a file for an option whose name does not end as its content requires.

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
    """Yield a function to report progress to; a bar appears after two seconds, on a terminal."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(what, total=total)
    started, shown = time.monotonic(), False

    def tell(done: float) -> None:
        nonlocal shown
        if not shown and console.is_terminal and time.monotonic() - started > PATIENCE:
            bar.start()
            shown = True
        if shown:
            bar.update(task, completed=done)

    try:
        yield tell
    finally:
        if shown:
            bar.stop()


def command_line() -> str:
    """The running command line, as one would type it."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def write_report(
    page: Page, html: Path | None, png: Path | None = None, pdf: Path | None = None
) -> None:
    """Write those requested of: a page, its charts to a folder, its charts to a PDF."""
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
