# SPDX-License-Identifier: Apache-2.0

"""Common functions of the commands: error messages, loading, progress bars and reports."""

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

# File extensions of pages; a name may also have none.
HTML = (".html", ".htm", "")
# Shorter runs show no bar [s].
BAR_AFTER = 2.0


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Print a RobodynError raised within this context, and exit with code 1.

    The message is one line on standard error.
    """
    try:
        yield
    except RobodynError as error:
        typer.echo(f"error: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(1) from error


@contextmanager
def suppress_inertia_warnings() -> Iterator[None]:
    """Suppress warnings about unphysical inertias within this context.

    `robodyn check` reports these inertias.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        yield


def load_model(model: str) -> rd.Mechanism:
    """Load a mechanism, and suppress warnings about unphysical inertias."""
    with suppress_inertia_warnings():
        mechanism: rd.Mechanism = rd.load(model)
    return mechanism


def mechanism_and_path(model: str, path: str | None) -> tuple[rd.Mechanism, str, rd.Trajectory]:
    """Load a mechanism and a path for it.

    Args:
        model: source of the mechanism, see `load`.
        path: name or file of the path; by default that of the mechanism's paper, or a
            demonstration.

    Returns:
        Mechanism, name of the path, and trajectory.
    """
    from robodyn.trajectories.waypoints import default_path

    mechanism = load_model(model)
    name = path or default_path(mechanism)
    with progress_bar(f"path {name}", 1.0) as show:
        return mechanism, name, rd.load_path(name, mechanism, progress=show)


def check_writable(path: Path, force: bool) -> Path:
    """Check that a file may be written, and return its path.

    Args:
        path: file to write.
        force: whether an existing file may be overwritten.

    Raises:
        OutputError: the file exists and `force` is False.
    """
    if path.exists() and not force:
        raise OutputError(
            f"{path} exists; choose another file, or overwrite it with --force", value=str(path)
        )
    return path


def numbers(name: str, text: str) -> list[float] | None:
    """Parse numbers separated by spaces or commas; None for an empty string.

    Args:
        name: name of the option, for messages.
        text: text to parse.

    Raises:
        InvalidInput: the text contains something else.
    """
    try:
        return [float(part) for part in text.replace(",", " ").split()] if text else None
    except ValueError as error:
        raise InvalidInput(
            f"{name} is {text[:100]!r}, expected numbers separated by commas, or by spaces and in "
            "quotes",
            value=text,
        ) from error


def check_extension(option: str, path: Path | None, *endings: str) -> None:
    """Reject a file name of an option that does not have a required extension.

    Args:
        option: name of the option, for messages.
        path: file name; None is accepted.
        endings: permitted extensions, lower case.

    Raises:
        InvalidInput: the file name has another extension.
    """
    if path is not None and path.suffix.lower() not in endings:
        expected = " or ".join(filter(None, endings))
        raise InvalidInput(
            f"{option} is {path.name!r}, expected a name that ends in {expected}", value=str(path)
        )


@contextmanager
def progress_bar(what: str, total: float = 1.0) -> Iterator[Callable[[float], None]]:
    """Show a progress bar on a terminal within this context.

    The bar appears after two seconds.

    Args:
        what: label of the bar.
        total: progress at the end.

    Yields:
        Function that reports the progress.
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
    """Return the command line of this process as a user would type it."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def write_report(
    page: Page, html: Path | None, png: Path | None = None, pdf: Path | None = None
) -> None:
    """Write a page as HTML, and its charts as PNG files and as a PDF, as requested."""
    if html is not None:
        # imported here: most runs write no report
        from robodyn.report.page import write_page

        write_page(page, html, command_line())
    if png is not None or pdf is not None:
        from robodyn.report.images import write_pdf, write_png

        if png is not None:
            write_png(page.charts, png)
        if pdf is not None:
            write_pdf(page.charts, pdf, page.title)
