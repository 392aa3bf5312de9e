# SPDX-License-Identifier: Apache-2.0

"""Print the tables of docs/friction.md: tracking errors with friction in plant and control.

It takes no arguments: `python docs/make_friction.py`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.actuators import Actuator
from robodyn.control import ComputedTorque
from robodyn.trajectories import arm_path

KP, KV, STEP = 100.0, 20.0, 1e-3
# Friction of the platform's legs [N].
SCREWS = (Actuator(coulomb=20.0), Actuator(coulomb=20.0, static=25.0))


def errors(plant: Any, model: Any, path: Any, period: float) -> tuple[Any, Any]:
    """Largest displacements from a path, and those half a second after its end."""
    run = rd.simulate(
        plant, ComputedTorque(model, KP, KV), path, STEP, period, duration=path.duration + 0.5
    )
    desired = path.sample(run.time).configuration
    displacement = np.abs(plant.difference(run.configuration, desired))
    return displacement.max(axis=0), displacement[-1]


def rows(mechanism: Any, path: Any, measure: Any) -> None:
    """Print a table: each combination of friction, at two rates of control."""
    smooth = mechanism.without_dry_friction()
    cases = (
        ("neither", smooth, smooth),
        ("plant and control", mechanism, mechanism),
        ("plant only", mechanism, smooth),
    )
    for label, plant, model in cases:
        for rate in (100.0, 200.0):
            largest, remaining = errors(plant, model, path, 1.0 / rate)
            print(f"| {label} | {rate:g} Hz | {measure(largest)} | {measure(remaining)} |")


def main() -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")  # the paper's inertias are the paper's
    print("PUMA 560, cubic path of 2 s: largest error, and half a second after the end")
    rows(rd.load("puma560"), arm_path("puma"), lambda e: f"{1e3 * e.max():.2g} mrad")
    platform = rd.load("stewart_dasgupta")
    for screw in SCREWS:
        driven = platform.model.driven_by(dict.fromkeys(platform.joint_names, screw))
        print(f"Dasgupta's platform, path I, {screw.coulomb:g} N and {screw.static} N at rest")
        rows(
            rd.StewartPlatform(driven),
            rd.paper_path("I"),
            lambda e: (
                f"{1e3 * np.linalg.norm(e[:3]):.2g} mm, {1e3 * np.linalg.norm(e[3:]):.2g} mrad"
            ),
        )


if __name__ == "__main__":
    main()
