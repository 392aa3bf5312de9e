# SPDX-License-Identifier: Apache-2.0

"""Shared by the commands: errors in one line, models without repeated warnings, progress."""

from __future__ import annotations

import time
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from robodyn.errors import RobodynError, UnphysicalInertiaWarning
from robodyn.mechanisms.load import load
from robodyn.trajectories import load_path
from robodyn.trajectories.default_path import default_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from robodyn.mechanisms.protocol import Mechanism
    from robodyn.trajectories import Trajectory

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


def mechanism_and_path(model: str, path: str | None) -> tuple[Mechanism, str, Trajectory]:
    """The mechanism, and the path with its name: by default its paper's or a demonstration."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)  # see `robodyn check`
        mechanism = load(model)
    name = path or default_path(mechanism)
    with progress_bar(f"path {name}", 1.0) as show:
        return mechanism, name, load_path(name, mechanism, progress=show)


@contextmanager
def progress_bar(what: str, total: float) -> Iterator[Callable[[float], None]]:
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
