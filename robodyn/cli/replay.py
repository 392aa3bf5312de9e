# SPDX-License-Identifier: Apache-2.0

"""`robodyn replay BAG`: a recorded run in the live view."""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from robodyn.cli.commands import argument, option
from robodyn.cli.served_page import until_interrupted, wait_for_interrupt
from robodyn.errors import UnphysicalInertiaWarning


def replay(
    bag: Annotated[str, argument(help="A .mcap file or a rosbag2 folder.")],
    model: Annotated[
        str, option(help="Model that was recorded; by default the bag's robot_description.")
    ] = "",
    port: Annotated[int, option(help="Port on localhost; 0 picks a free one.")] = 8080,
    browser: Annotated[bool, option(help="Open the page in the default browser.")] = True,
) -> None:
    """Show a recorded run in the browser."""
    with until_interrupted():
        _replay(bag, model, port, browser)


def _replay(bag: str, model: str, port: int, browser: bool) -> None:
    # Imported here: the other commands do not need it.
    from robodyn.view.bag import read_recording
    from robodyn.view.model_figure import figure_of
    from robodyn.view.serving import serve, stop, viser_module
    from robodyn.view.studio import open_projector

    viser_module()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)  # see `robodyn check`
        recording, source = read_recording(bag, model)
    figure = figure_of(source, recording.mechanism)
    server = serve(port)
    page = open_projector(server, recording, figure)
    address = f"http://localhost:{server.get_port()}"
    typer.echo(
        f"{bag}: {recording.duration:g} s of {recording.mechanism.name}: {address}  "
        "(Ctrl-C to stop)"
    )
    page.start()
    try:
        wait_for_interrupt(address, browser)
    finally:
        page.close()
        stop(server)
