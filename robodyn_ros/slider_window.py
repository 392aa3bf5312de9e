# SPDX-License-Identifier: Apache-2.0

"""A window with a slider for each of several numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from robodyn.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from robodyn_ros.parameters import Spec

LENGTH = 420


class SliderWindow:
    """Sliders by name; `moved` is called when one is moved, `update` shows values set elsewhere.

    Raises:
        MissingExtra: Python has no tkinter, or there is no display.
    """

    def __init__(
        self, title: str, specs: Mapping[str, Spec], moved: Callable[[str, float], None]
    ) -> None:
        try:
            import tkinter as tk
        except ImportError as error:
            raise MissingExtra(
                "no window: Python has no tkinter (apt install python3-tk)"
            ) from error
        try:
            self._root = tk.Tk()
        except tk.TclError as error:
            raise MissingExtra(f"no window: {error}") from error
        self._closed = False
        self._root.title(title)
        self._root.protocol("WM_DELETE_WINDOW", self._close)
        self._scales: list[tk.Scale] = []
        self._shown: list[float] = []
        for row, (name, spec) in enumerate(specs.items()):
            tk.Label(self._root, text=spec.text, anchor="w").grid(
                row=row, column=0, padx=8, sticky="w"
            )
            assert spec.low is not None
            assert spec.high is not None
            scale = tk.Scale(
                self._root,
                from_=spec.low,
                to=spec.high,
                resolution=1e-3,
                orient="horizontal",
                length=LENGTH,
            )
            scale.set(spec.default)
            scale.configure(command=partial(_slid, moved, name))
            scale.grid(row=row, column=1, padx=8)
            self._scales.append(scale)
            self._shown.append(spec.default)
        home = {name: spec.default for name, spec in specs.items()}
        back = tk.Button(
            self._root,
            text="home",
            command=lambda: _go_home(moved, home),
        )
        back.grid(row=len(specs), column=0, padx=8, pady=8, sticky="w")
        self._status = tk.Label(self._root, anchor="w", fg="#b00020")
        self._status.grid(row=len(specs), column=1, padx=8, sticky="w")

    def update(self, values: Iterable[float], status: str) -> bool:
        """Show the values and a status line; false once the window is closed."""
        if self._closed:
            return False
        for k, (scale, value) in enumerate(zip(self._scales, values, strict=True)):
            # do not pull back a slider that is being dragged to the value it has just set
            if value != self._shown[k]:
                self._shown[k] = value
                if abs(scale.get() - value) > 1e-3:
                    scale.set(value)
        self._status.configure(text=status)
        self._root.update()
        return not self._closed

    def _close(self) -> None:
        self._closed = True
        self._root.destroy()


def _slid(moved: Callable[[str, float], None], name: str, text: str) -> None:
    moved(name, float(text))


def _go_home(moved: Callable[[str, float], None], home: Mapping[str, float]) -> None:
    for name, value in home.items():
        moved(name, value)
