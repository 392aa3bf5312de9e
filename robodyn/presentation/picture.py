# SPDX-License-Identifier: Apache-2.0

"""Small pictures of mechanisms in parallel projection, as pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput
from robodyn.extras import require_extra
from robodyn.presentation import presentation

AZIMUTH, ELEVATION = np.deg2rad(-55.0), np.deg2rad(22.0)
BODY, FRAME, THIN = "#3366aa", "#40454d", "#999ea6"


class Camera:
    """Camera with a fixed view, which draws pictures of a moving mechanism.

    Args:
        mechanism: mechanism that is in the middle of the picture when it is at home.

    Attributes:
        width, height: [px] size of the picture.

    Raises:
        InvalidInput: the kind of mechanism provides no outline.
    """

    def __init__(self, mechanism: Any) -> None:
        parts = presentation.outline(mechanism, mechanism.home)
        if not parts:
            raise InvalidInput(
                f"{mechanism.name} cannot be drawn: its kind {mechanism.kind!r} provides no "
                "outline",
                value=mechanism.kind,
            )
        flat = project(np.concatenate([part.points for part in parts]))
        low, high = flat.min(axis=0), flat.max(axis=0)
        self.width, self.height = 320, 240
        self._middle = 0.5 * (low + high)
        room = np.maximum(high - low, 1e-6 * np.abs(high - low).max() + 1e-12)
        self._scale = 0.7 * float((np.array([self.width, self.height]) / room).min())

    def lines(
        self, mechanism: Any, configuration: FloatArray
    ) -> list[tuple[FloatArray, str, float]]:
        """Project a mechanism's outline in a configuration (nq,) to polylines.

        Returns:
            For each polyline its points (k, 2) [px] from the upper left, color, and width [px].
        """
        found = []
        for part in presentation.outline(mechanism, configuration):
            flat = (project(part.points) - self._middle) * self._scale
            points = flat * [1.0, -1.0] + 0.5 * np.array([self.width, self.height])
            if not part.moves:
                found.append((points, FRAME, 2.5))
            else:
                found.append((points, THIN, 1.0) if part.thin else (points, BODY, 2.0))
        return found

    def pixels(self, mechanism: Any, configuration: FloatArray) -> NDArray[np.uint8]:
        """Draw a picture of a mechanism in a configuration (nq,).

        Returns:
            Pixels (height, width, 3): red, green and blue, from 0 to 255.

        Raises:
            MissingExtra: matplotlib is not installed.
        """
        with require_extra("report", "pictures need matplotlib", "matplotlib"):
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.collections import LineCollection
            from matplotlib.figure import Figure
        figure = Figure((self.width / 100.0, self.height / 100.0), dpi=100.0)
        canvas: Any = FigureCanvasAgg(figure)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.axis("off")
        axes.set(xlim=(0, self.width), ylim=(self.height, 0))
        points, colors, widths = zip(*self.lines(mechanism, configuration), strict=True)
        axes.add_collection(LineCollection(points, colors=colors, linewidths=widths))
        canvas.draw()
        return np.array(canvas.buffer_rgba())[..., :3]


def project(points: FloatArray) -> FloatArray:
    """Project points (..., 3) [m] onto the picture plane by parallel projection.

    Returns:
        Coordinates (..., 2) [m] to the right and up.
    """
    x, y, z = np.moveaxis(points, -1, 0)
    right = -np.sin(AZIMUTH) * x + np.cos(AZIMUTH) * y
    near = np.cos(AZIMUTH) * x + np.sin(AZIMUTH) * y
    return np.stack([right, np.cos(ELEVATION) * z - np.sin(ELEVATION) * near], axis=-1)
