# SPDX-License-Identifier: Apache-2.0

"""`robodyn view MODEL`: the mechanism in 3D in the browser, moving, with plots and controls."""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from robodyn.cli.commands import argument, option
from robodyn.cli.served_page import until_interrupted, wait_for_interrupt
from robodyn.cli.session import progress_bar
from robodyn.errors import UnphysicalInertiaWarning


def view(
    model: Annotated[str, argument(help="Bundled name, or path to a .urdf, .xacro or .yaml file.")],
    path: Annotated[
        str, option(help="Path to follow: a name of the papers, demo, or a waypoint file.")
    ] = "",
    port: Annotated[int, option(help="Port on localhost; 0 picks a free one.")] = 8080,
    speed: Annotated[float, option(help="Simulated seconds per second.")] = 1.0,
    paused: Annotated[bool, option("--paused", help="Start paused.")] = False,
    browser: Annotated[bool, option(help="Open the page in the default browser.")] = True,
) -> None:
    """Show a mechanism in the browser, moving, with plots and controls."""
    with until_interrupted():
        _view(model, path, port, speed, paused, browser)


def _view(model: str, path: str, port: int, speed: float, paused: bool, browser: bool) -> None:
    # Imported here: the other commands do not need it.
    from robodyn.mechanisms.load import load
    from robodyn.view.live import LiveSimulation
    from robodyn.view.model_figure import figure_of
    from robodyn.view.paths import paths_of
    from robodyn.view.serving import serve, stop, viser_module
    from robodyn.view.studio import open_studio

    viser_module()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)  # see `robodyn check`
        mechanism = load(model)
    figure = figure_of(model, mechanism)
    with progress_bar(f"paths of {mechanism.name}", 1.0) as show:
        paths = paths_of(mechanism, path, show)
    live = LiveSimulation(mechanism, paths, speed=speed, repeat=True)
    live.set_playing(not paused)
    server = serve(port)
    for remark in figure.remarks:
        typer.echo(f"note: {remark}", err=True)
    page, _ = open_studio(server, live, figure)
    address = f"http://localhost:{server.get_port()}"
    typer.echo(f"{mechanism.name}: {address}  (Ctrl-C to stop)")
    live.start()
    page.start()
    try:
        wait_for_interrupt(address, browser)
    finally:
        page.close()
        live.close()
        stop(server)
