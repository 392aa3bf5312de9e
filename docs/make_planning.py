# SPDX-License-Identifier: Apache-2.0

"""Draw the pictures of docs/singularity_free.md and docs/workspace.md.

`python docs/make_planning.py` writes them to docs/images; needs matplotlib.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib
import numpy as np

import robodyn as rd

matplotlib.use("Agg")
import matplotlib.pyplot as plt

IMAGES = Path(__file__).resolve().parent / "images"
START = rd.pose_from_rpy([0.1, 0.0, 0.4], [0.0, 0.0, -0.2])
GOAL = rd.pose_from_rpy([0.0, 0.0, 0.4], [-0.2, 1.0, 0.0])


def main() -> None:
    """Draw both."""
    warnings.simplefilter("ignore")
    platform = rd.load("stewart_dasgupta")
    motions = {
        "straight": rd.plan_line(START, GOAL, duration=6.0),
        "planned, limit 60": rd.plan_path(platform, START, GOAL, 60.0, duration=6.0),
    }
    figure, axes = plt.subplots(figsize=(7.0, 3.2), layout="constrained")
    for name, motion in motions.items():
        times = np.linspace(0.0, motion.duration, 1000)
        numbers = platform.condition_number(motion.sample(times).configuration)
        axes.semilogy(times / motion.duration, numbers, label=name)
    axes.set(xlabel="share of the time", ylabel="condition number")
    axes.legend(frameon=False)
    figure.savefig(IMAGES / "singularity_free.png", dpi=130)
    figure = plt.figure(figsize=(7.0, 3.6), layout="constrained")
    dexterous = {"orientations": 0.15}
    for k, (kind, options) in enumerate((("constant", {}), ("dexterous", dexterous)), start=1):
        box = [[-0.45, 0.45], [-0.45, 0.45], [0.4, 1.4]]
        region = rd.workspace(rd.load("stewart_symmetric"), kind, bounds=box, **options)
        solid = figure.add_subplot(1, 2, k, projection="3d")
        x, y, z = region.boundary.vertices.T
        solid.plot_trisurf(x, y, z, triangles=region.boundary.triangles, color="steelblue")
        solid.set(title=f"{kind}: {region.volume:.3g} m³", xlim=box[0], ylim=box[1], zlim=box[2])
    figure.savefig(IMAGES / "workspace.png", dpi=130)


if __name__ == "__main__":
    main()
