# SPDX-License-Identifier: Apache-2.0

"""Shared by the commands that serve a page: errors in one line, and waiting for Ctrl-C."""

from __future__ import annotations

import time
import webbrowser
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import typer

from robodyn.errors import RobodynError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def until_interrupted() -> Iterator[None]:
    """Turn errors of the library into one line and exit code 1; end quietly at Ctrl-C."""
    try:
        yield
    except RobodynError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        pass


def wait_for_interrupt(address: str, browser: bool) -> NoReturn:
    """Open the page in the default browser if wanted, and wait for KeyboardInterrupt."""
    if browser:
        webbrowser.open(address)
    while True:
        time.sleep(3600.0)
