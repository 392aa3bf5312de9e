# SPDX-License-Identifier: Apache-2.0

"""Controls of a page: functions that add them to viser's panel.

viser runs callbacks in threads of its own; what is controlled must be thread-safe. An event without
a client was caused by the program itself and is ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray
    from robodyn.view.snapshot import Snapshot, Source


_DIRECTIONS = {
    f"{sign}{axis}": (index, 1.0 if sign == "+" else -1.0)
    for index, axis in enumerate("xyz")
    for sign in "+-"
}


def add_run_controls(gui: Any, source: Source) -> dict[str, Any]:
    """Play, pause and reset."""
    buttons = gui.add_button_group("Run", ("Play", "Pause", "Reset"))

    @buttons.on_click  # type: ignore[untyped-decorator]
    def _(event: Any) -> None:
        wish = event.target.value
        if wish == "Reset":
            source.reset()
        else:
            source.set_playing(wish == "Play")

    return {"run": buttons}


def add_push_controls(
    gui: Any, push: Callable[[FloatArray], None], weight: float
) -> dict[str, Any]:
    """A push along an axis of the base; the `weight` [N] of what is pushed sets the range."""
    step = 10.0 ** np.floor(np.log10(max(weight, 1e-6)) - 1.0)
    largest = float(np.ceil(3.0 * weight / step) * step)
    with gui.add_folder("Push"):
        direction = gui.add_dropdown("Along", tuple(_DIRECTIONS), initial_value="+x")
        force = gui.add_slider(
            "Force [N]", 0.0, largest, float(step), float(np.round(0.25 * weight / step) * step)
        )
        button = gui.add_button("Push for 0.3 s")

    @button.on_click  # type: ignore[untyped-decorator]
    def _(_: Any) -> None:
        axis, sign = _DIRECTIONS[direction.value]
        wrench = np.zeros(6)
        wrench[axis] = sign * force.value
        push(wrench)

    return {"push": button, "push direction": direction, "push force": force}


class Coordinates:
    """Sliders that set the position variables of a mechanism and follow them.

    Args:
        gui: viser's.
        labels: of the sliders, with units.
        low, high: (n,) ranges of the sliders.
        steer: called with the values (n,) when a user has moved a slider.
        shown: the values (n,) of a snapshot.
    """

    def __init__(
        self,
        gui: Any,
        labels: tuple[str, ...],
        low: FloatArray,
        high: FloatArray,
        steer: Callable[[FloatArray], None],
        shown: Callable[[Snapshot], FloatArray],
    ) -> None:
        self._low, self._high = low, high
        self._shown = shown
        with gui.add_folder("Move by hand"):
            self.sliders = [
                gui.add_slider(label, float(a), float(b), _step(b - a), float(0.5 * (a + b)))
                for label, a, b in zip(labels, low, high, strict=True)
            ]

        def moved(event: Any) -> None:
            if event.client is not None:
                steer(np.array([slider.value for slider in self.sliders]))

        for slider in self.sliders:
            slider.on_update(moved)

    def show(self, snapshot: Snapshot) -> None:
        """Set the sliders to the present values."""
        values = np.clip(self._shown(snapshot), self._low, self._high)
        for slider, value in zip(self.sliders, values, strict=True):
            if abs(slider.value - value) >= 0.5 * slider.step:
                slider.value = round(float(value) / slider.step) * slider.step


def _step(span: float) -> float:
    """A power of ten that divides the span into some hundred steps."""
    return float(10.0 ** np.floor(np.log10(max(span, 1e-6) / 100.0)))
