# SPDX-License-Identifier: Apache-2.0

"""Animation of the natural modes of a mechanism with elastic drives."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from robodyn.errors import KinematicsError
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation.figure import Figure
from robodyn.view.page import ViewerPage
from robodyn.view.snapshot import Snapshot, snapshot_of

# Duration [s] of a shown period at any frequency, and largest displacement by default, relative to
# the mechanism's size, or in radians.
PERIOD, AMPLITUDE = 2.0, 0.08


class ModeAnimation:
    """Animation of a mechanism that vibrates about home in one of its natural modes.

    All methods may be called from any thread.

    Args:
        mechanism: mechanism with elastic drives.

    Attributes:
        modes: natural modes at home.
        names: label of each mode, with its frequency and damping ratio.
        mode: index of the shown mode.
        amplitude: largest displacement, in radians or as a fraction of the mechanism's size.

    Raises:
        InvalidInput, UnderActuated, KinematicsError: as for `Mechanism.modes`.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.modes = mechanism, mechanism.modes(mechanism.home)
        rows = zip(self.modes.frequencies, self.modes.damping_ratios, strict=True)
        self.names = tuple(
            f"{k}: {frequency:.4g} Hz, damping {ratio:.2g}"
            for k, (frequency, ratio) in enumerate(rows, start=1)
        )
        self.mode, self.amplitude = 0, AMPLITUDE
        self._clock, self._since = 0.0, time.monotonic()
        self._playing, self._lock = True, threading.Lock()
        units = mechanism.coordinates.units
        self._units = np.array([1.0 if unit == "rad" else mechanism.size for unit in units])

    def snapshot(self) -> Snapshot:
        """Return the displaced mechanism at the current time of the animation."""
        with self._lock:
            now = self._now()
            mode, amplitude, playing = self.mode, self.amplitude, self._playing
        m, shape = self.mechanism, self.modes.shapes[:, mode]
        largest = float(np.abs(shape / self._units).max())
        x = amplitude * np.sin(2.0 * np.pi * now / PERIOD) / largest * shape
        message = ""
        try:
            configuration = m.advance(m.home, x)
        except KinematicsError as error:
            configuration, message = m.home, f"the amplitude is too large: {error}"
        rest = np.zeros(len(m.joint_names))
        return snapshot_of(m, now, configuration, rest, playing, message)

    def set_playing(self, playing: bool) -> None:
        """Resume or pause the animation."""
        with self._lock:
            self._clock, self._since = self._now(), time.monotonic()
            self._playing = playing

    def reset(self) -> None:
        """Restart the animation at the equilibrium."""
        with self._lock:
            self._clock, self._since = 0.0, time.monotonic()

    def _now(self) -> float:
        return self._clock + (time.monotonic() - self._since if self._playing else 0.0)


def open_modes(server: Any, animation: ModeAnimation, figure: Figure) -> ViewerPage:
    """Create a page that animates the natural modes of a mechanism.

    It has controls for mode and amplitude. The caller starts it by `ViewerPage.start`.

    Args:
        server: server of the page.
        animation: animation to show.
        figure: figure of the mechanism.

    Returns:
        The page.
    """
    page = ViewerPage(server, animation.mechanism, figure, animation)
    with page.gui.add_folder("Natural modes"):
        mode = page.gui.add_dropdown("Mode", animation.names, initial_value=animation.names[0])
        amplitude = page.gui.add_slider("Amplitude", 0.0, 0.3, 0.01, animation.amplitude)

    @mode.on_update  # type: ignore[untyped-decorator]
    def _(event: Any) -> None:
        animation.mode = animation.names.index(event.target.value)
        animation.reset()

    @amplitude.on_update  # type: ignore[untyped-decorator]
    def _(event: Any) -> None:
        animation.amplitude = event.target.value

    return page
