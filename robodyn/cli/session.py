# SPDX-License-Identifier: Apache-2.0

"""Shared by the commands: errors in one line, models without warnings, progress, reports."""

from __future__ import annotations

import os
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from robodyn.errors import InvalidInput, RobodynError, UnphysicalInertiaWarning
from robodyn.formats.ros_packages import PATH_VARIABLE
from robodyn.formats.xacro_text import arguments_of, use_arguments
from robodyn.mechanisms.load import load, use_options
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.mechanisms.option_names import on_command_line
from robodyn.report.page import Page
from robodyn.trajectories import Trajectory, load_path
from robodyn.trajectories.waypoints import default_path

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
def reading(
    *,
    base_link: str | None = None,
    tip_link: str | None = None,
    hold_branches: bool = False,
    driven: str | None = None,
    kind: str | None = None,
    base: str | None = None,
    xacro_arg: list[str] | None = None,
    package_path: list[str] | None = None,
) -> Iterator[None]:
    """How model files are read meanwhile.

    Args:
        base_link: of a URDF: the link on which the chain stands, by default the root.
        tip_link: of a URDF: the link at which the chain ends, by default behind most joints.
        hold_branches: of a URDF: joints beside the chain, as a gripper's, are held.
        driven: the driven joints, with commas between them, whatever the file says of actuators;
            all others are passive.
        kind: read the file as this kind; closed_loop takes whole trees of joints, such as hands.
        base: of such a tree: fixed, or moving freely, whatever the file says.
        xacro_arg: an argument of a .xacro file, name:=value; may be repeated.
        package_path: a folder with ROS packages that a robot refers to, such as a workspace's src;
            may be repeated. Searched before those of ROBODYN_PACKAGE_PATH.
    """
    use_options(
        base_link=base_link,
        tip_link=tip_link,
        hold_branches=hold_branches,
        driven=driven,
        kind=kind,
        base=base,
        spelling=on_command_line,
    )
    use_arguments(arguments_of(xacro_arg or ()))
    if package_path:
        known = os.environ.get(PATH_VARIABLE)
        os.environ[PATH_VARIABLE] = os.pathsep.join([*package_path, *([known] if known else [])])
    try:
        yield
    finally:
        use_options()


@contextmanager
def quietly() -> Iterator[None]:
    """Read models without warnings of unphysical inertias, which `robodyn check` tells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)
        yield


def load_quietly(model: str) -> Mechanism:
    """A mechanism, `quietly`."""
    with quietly():
        mechanism: Mechanism = load(model)
    return mechanism


def mechanism_and_path(model: str, path: str | None) -> tuple[Mechanism, str, Trajectory]:
    """The mechanism, and the path with its name: by default its paper's or a demonstration."""
    mechanism = load_quietly(model)
    name = path or default_path(mechanism)
    with progress_bar(f"path {name}", 1.0) as show:
        return mechanism, name, load_path(name, mechanism, progress=show)


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
