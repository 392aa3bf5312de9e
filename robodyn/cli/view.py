# SPDX-License-Identifier: Apache-2.0

"""`robodyn view MODEL` and `robodyn replay BAG`: show a moving mechanism in 3D in the browser."""

from __future__ import annotations

import time
import webbrowser
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer

from robodyn.cli.session import load_model, progress_bar, suppress_inertia_warnings
from robodyn.errors import InvalidInput

if TYPE_CHECKING:
    from robodyn.view.design_editor import DesignEditor
    from robodyn.view.page import ViewerPage


def view(
    model: str,
    /,
    *,
    path: str = "",
    port: int = 8080,
    host: list[str] | None = None,
    speed: float = 1.0,
    paused: bool = False,
    browser: bool = True,
    design: str = "",
    catalog: str = "",
    modes: bool = False,
) -> None:
    """Show a moving mechanism in the browser, with plots and controls.

    Args:
        path: Path to follow: a name of the papers, demo, or a waypoint file.
        speed: Simulated seconds per second.
        paused: Start paused.
        design: File of requirements; the page then has sliders for the dimensions of a family of
            machines (`robodyn view hexapod --design requirements.yaml`) and shows which
            requirements are met.
        catalog: File of actuators to choose from with --design, or `sample`.
        modes: Animate the natural modes of a mechanism with elastic drives instead of a motion.
    """
    if design:
        _edit_design(model, design, catalog, port, host, browser)
        return
    if catalog:
        raise InvalidInput(f"--catalog is {catalog}, but --design is missing", value=catalog)
    # imported here: the other commands do not need it
    from robodyn.view import (
        LiveSimulation,
        ModeAnimation,
        figure_of,
        open_modes,
        open_studio,
        paths_of,
        serve,
    )
    from robodyn.view.serving import viser_module

    viser_module()
    mechanism = load_model(model)
    figure = figure_of(model, mechanism)
    if modes:
        animation = ModeAnimation(mechanism)
        for name in animation.names:
            typer.echo(f"mode {name}")
        server = serve(port, host or ())
        page = open_modes(server, animation, figure)
        _show(server, page, f"modes of {mechanism.name}", browser)
        return
    with progress_bar(f"paths of {mechanism.name}", 1.0) as show:
        paths = paths_of(mechanism, path, show)
    live = LiveSimulation(mechanism, paths, speed=speed, repeat=True)
    live.set_playing(not paused)
    server = serve(port, host or ())
    for remark in figure.remarks:
        typer.echo(f"note: {remark}", err=True)
    page, _ = open_studio(server, live, figure)
    live.start()
    try:
        _show(server, page, mechanism.name, browser)
    finally:
        live.close()


def _edit_design(
    family: str,
    requirements: str,
    catalog: str,
    port: int,
    host: list[str] | None,
    browser: bool,
) -> None:
    """Show the design editor of a family; print the dimensions when it ends."""
    from robodyn.designing.families import FAMILIES
    from robodyn.designing.requirements import load_requirements
    from robodyn.view.design_editor import DesignEditor
    from robodyn.view.serving import serve, viser_module

    viser_module()
    if family not in FAMILIES:
        raise InvalidInput(
            f"family of --design is {family!r}, expected one of {', '.join(FAMILIES)}",
            value=family,
        )
    required = load_requirements(requirements)
    rows = FAMILIES[family].suitable_actuators(catalog) if catalog else ()
    server = serve(port, host or ())
    editor = DesignEditor(server, FAMILIES[family], required, rows)
    _show(server, editor, f"{family} for {requirements}", browser)
    for name, value in editor.parameters.items():
        typer.echo(f"{name:18} {value:.4g}")


def replay(
    bag: str,
    /,
    *,
    model: str = "",
    port: int = 8080,
    host: list[str] | None = None,
    browser: bool = True,
) -> None:
    """Show a recorded run in the browser.

    Args:
        bag: A .mcap file or a rosbag2 folder.
        model: Recorded model; by default the bag's robot_description.
    """
    from robodyn.formats.ros_packages import package_folders
    from robodyn.view import figure_of, read_run, serve
    from robodyn.view.serving import viser_module
    from robodyn.view.studio import open_projector

    viser_module()
    with suppress_inertia_warnings():
        run = read_run(bag, model)
    recording = run.replay
    # a description from others must not name files outside the packages
    figure = figure_of(run.source, run.mechanism, None if model else package_folders())
    server = serve(port, host or ())
    for remark in figure.remarks:
        typer.echo(f"note: {remark}", err=True)
    page = open_projector(server, recording, figure)
    what = f"{bag}: {recording.duration:g} s of {recording.mechanism.name}"
    _show(server, page, what, browser)


def _show(server: Any, page: ViewerPage | DesignEditor, what: str, browser: bool) -> None:
    """Serve a page until Ctrl-C."""
    from robodyn.view.serving import stop

    address = f"http://localhost:{server.get_port()}"
    with suppress(KeyboardInterrupt):
        try:
            # a reader of this line may stop this process at once
            typer.echo(f"{what}: {address}  (Ctrl-C to stop)")
            page.start()
            if browser:
                webbrowser.open(address)
            while True:
                # a signal that another thread receives does not end this sleep
                time.sleep(0.5)
        finally:
            page.close()
            stop(server)
