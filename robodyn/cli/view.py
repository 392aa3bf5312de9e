# Copyright 2026 robodyn developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""`robodyn view MODEL`: the mechanism in 3D in the browser, moving, with plots and controls."""

from __future__ import annotations

import time
import warnings
import webbrowser
from typing import Annotated

import typer

from robodyn.errors import RobodynError, UnphysicalInertiaWarning


def view(
    model: Annotated[
        str, typer.Argument(help="Bundled name, or path to a .urdf, .xacro or .yaml file.")
    ],
    path: Annotated[
        str, typer.Option(help="Path to follow: a name of the papers, demo, or a waypoint file.")
    ] = "",
    port: Annotated[int, typer.Option(help="Port on localhost; 0 takes any that is free.")] = 8080,
    speed: Annotated[float, typer.Option(help="Simulated seconds per second.")] = 1.0,
    paused: Annotated[bool, typer.Option("--paused", help="Wait for Play.")] = False,
    browser: Annotated[bool, typer.Option(help="Open the page in the default browser.")] = True,
) -> None:
    """Show a mechanism in the browser, moving, with plots and controls."""
    try:
        _view(model, path, port, speed, paused, browser)
    except RobodynError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        pass


def _view(model: str, path: str, port: int, speed: float, paused: bool, browser: bool) -> None:
    # Imported here: the other commands do without all of it.
    from robodyn.mechanisms.load import load
    from robodyn.view.figures import figure_of
    from robodyn.view.live import LiveSimulation
    from robodyn.view.paths import paths_of
    from robodyn.view.serving import serve, stop, viser_module
    from robodyn.view.studio import open_studio

    viser_module()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalInertiaWarning)  # `robodyn check` tells them
        mechanism = load(model)
    figure = figure_of(model, mechanism)
    live = LiveSimulation(mechanism, paths_of(mechanism, path), speed=speed, repeat=True)
    live.set_playing(not paused)
    server = serve(port)
    for remark in figure.remarks:
        typer.echo(f"note: {remark}", err=True)
    page, _ = open_studio(server, live, figure)
    address = f"http://localhost:{server.get_port()}"
    typer.echo(f"{mechanism.name}: {address}  (Ctrl-C ends it)")
    live.start()
    page.start()
    try:
        if browser:
            webbrowser.open(address)
        while True:
            time.sleep(3600.0)
    finally:
        page.close()
        live.close()
        stop(server)
