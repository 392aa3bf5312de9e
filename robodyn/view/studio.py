# SPDX-License-Identifier: Apache-2.0

"""Complete pages: for a live simulation and for a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.view.live_controls import LiveControls
from robodyn.view.page import Page

if TYPE_CHECKING:
    from robodyn.mechanisms.common.figure import Figure
    from robodyn.view.live import LiveSimulation
    from robodyn.view.recording import Recording
    from robodyn.view.snapshot import Snapshot


def open_studio(server: Any, live: LiveSimulation, figure: Figure) -> tuple[Page, LiveControls]:
    """A page with all controls of a live simulation; neither is started yet."""
    page = Page(server, live.mechanism, figure, live)
    controls = LiveControls(page, live)
    page.add_push(live.push)
    page.also_update(controls.update)
    return page, controls


def open_projector(server: Any, recording: Recording, figure: Figure) -> Page:
    """A page that plays a recording at any speed and from any time; not started yet."""
    page = Page(server, recording.mechanism, figure, recording)
    with page.gui.add_folder("Recording"):
        speed = page.gui.add_slider("Speed", 0.1, 3.0, 0.1, 1.0)
        where = page.gui.add_slider("Time [s]", 0.0, max(recording.duration, 0.01), 0.01, 0.0)
    start = recording.snapshot().time

    @speed.on_update  # type: ignore[untyped-decorator]
    def _(event: Any) -> None:
        recording.set_speed(event.target.value)

    @where.on_update  # type: ignore[untyped-decorator]
    def _(event: Any) -> None:
        if event.client is not None:
            recording.seek(event.target.value)

    def show(snapshot: Snapshot) -> None:
        where.value = round(snapshot.time - start, 2)

    page.also_update(show)
    page.update()
    page.scene.plan(recording.body_poses)
    return page
