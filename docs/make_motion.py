# SPDX-License-Identifier: Apache-2.0

"""Draw docs/images/motion.gif: a platform, a delta and an arm along their demonstrations.

Needs the extra `report` (matplotlib, with Pillow).
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.animation import FuncAnimation, PillowWriter

import robodyn as rd
from robodyn.presentation.presentation import outline

HERE = Path(__file__).resolve().parent
MODELS = ("stewart_symmetric", "delta", "puma560")
FRAMES, PERIOD = 48, 0.08  # number, and time of each [s]
COLORS = {True: "#1f77b4", False: "#30343b"}


def motions(name: str) -> tuple[rd.StewartPlatform, np.ndarray]:
    """A mechanism, and its configurations along its demonstration, one for each frame."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mechanism = rd.load(name)
    path = rd.load_path("demo", mechanism)
    times = np.linspace(0.0, path.duration, FRAMES, endpoint=False)
    return mechanism, path.sample(times).configuration


def draw() -> Path:
    """Write the picture."""
    moving = [motions(name) for name in MODELS]
    figure = plt.figure(figsize=(9.0, 3.2), dpi=80)
    panels = [figure.add_subplot(1, 3, i + 1, projection="3d") for i in range(3)]
    lines = []
    for axes, (mechanism, configurations) in zip(panels, moving, strict=True):
        every = [outline(mechanism, q) for q in configurations]
        points = np.concatenate([part.points for parts in every for part in parts])
        middle, reach = (points.max(0) + points.min(0)) / 2, np.ptp(points, axis=0).max() / 2
        for set_limits, center in zip(
            (axes.set_xlim, axes.set_ylim, axes.set_zlim), middle, strict=True
        ):
            set_limits(center - 0.75 * reach, center + 0.75 * reach)
        axes.set_axis_off()
        axes.set_box_aspect((1, 1, 1))
        axes.view_init(18, -60)
        axes.set_title(mechanism.name, fontsize=10, y=-0.02)
        own = [
            axes.plot(*part.points.T, color=COLORS[part.moves], lw=2.4, marker="o", ms=3)[0]
            for part in every[0]
        ]
        lines.append((own, every))
    figure.subplots_adjust(0, 0.02, 1, 1.0, wspace=0)

    def show(frame: int) -> list[object]:
        for own, every in lines:
            for line, part in zip(own, every[frame], strict=True):
                line.set_data_3d(*part.points.T)
        return [line for own, _ in lines for line in own]

    picture = HERE / "images" / "motion.gif"
    animation = FuncAnimation(figure, show, frames=FRAMES, blit=False)
    animation.save(picture, writer=PillowWriter(fps=round(1.0 / PERIOD)))
    plt.close(figure)
    return picture


if __name__ == "__main__":
    done = draw()
    print(f"{done}: {done.stat().st_size / 1e3:.0f} kB")
