"""The page of a live simulation: scene, plots and every control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robodyn.view.live_controls import LiveControls
from robodyn.view.page import Page

if TYPE_CHECKING:
    from robodyn.view.figure import Figure
    from robodyn.view.live import LiveSimulation


def open_studio(server: Any, live: LiveSimulation, figure: Figure) -> tuple[Page, LiveControls]:
    """A page with all controls of a live simulation; neither of them is started."""
    page = Page(server, live.mechanism, figure, live)
    controls = LiveControls(page, live)
    page.add_push(live.push)
    page.also_update(controls.update)
    return page, controls
