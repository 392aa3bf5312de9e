# SPDX-License-Identifier: Apache-2.0

"""Draw docs/images/time_optimal.png: what a time-optimal motion uses of its limits.

python docs/make_time_optimal.py [FILE]

Needs matplotlib.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

import robodyn as rd
from robodyn.presentation import presentation

PICTURE = Path(__file__).resolve().parent / "images" / "time_optimal.png"
# Displacements from home, as x y z [m] and roll pitch yaw [rad].
CURVE = (
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (0.06, 0.03, 0.04, 0.1, 0.0, 0.1),
    (0.0, 0.08, -0.03, 0.0, 0.1, 0.0),
    (-0.05, 0.0, 0.02, -0.1, 0.0, 0.0),
)


def draw(file: Path) -> None:
    """Efforts and rates of the legs over time, as shares of their limits."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    platform = rd.load("stewart_symmetric").with_payload(600.0)
    points = presentation.configuration_of(
        platform, presentation.values_of(platform, platform.home) + np.array(CURVE)
    )
    motion = rd.time_optimal(platform, points)
    times = np.linspace(0.0, motion.duration, 2000)
    samples = motion.sample(times)
    efforts = platform.inverse_dynamics(*samples) / platform.effort_limits
    rates = platform.joint_velocities(*samples[:2]) / platform.velocity_limits
    figure, axes = plt.subplots(2, 1, sharex=True, figsize=(9.0, 5.0), dpi=120)
    for axis, values, label in zip(axes, (efforts, rates), ("effort", "rate"), strict=True):
        axis.plot(times, values, linewidth=1.2)
        axis.axhline(1.0, color="black", linewidth=0.8, linestyle="--")
        axis.axhline(-1.0, color="black", linewidth=0.8, linestyle="--")
        axis.set_ylabel(f"{label} / limit")
        axis.grid(alpha=0.3)
    axes[0].legend([f"leg {k}" for k in range(1, 7)], ncols=6, fontsize="small", loc="lower center")
    axes[1].set_xlabel("time [s]")
    figure.tight_layout()
    figure.savefig(file)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
