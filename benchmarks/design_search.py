# SPDX-License-Identifier: Apache-2.0

"""Compare `rd.design` with SciPy's differential evolution at ten times the evaluations.

Six requirements for each family; times are processor time.
`python -m benchmarks.design_search [FAMILY ...]`
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from scipy.optimize import differential_evolution

import robodyn as rd
from robodyn.arrays import FloatArray
from robodyn.designing.families import FAMILIES

EVALUATIONS, TIMES = 600, 10
# Value of a machine that meets its requirements worst, on the scale of logarithms.
WORST = 1e3
LARGE = {"mass": 200.0, "com": [0.0, 0.0, 0.3], "inertia": [[15, 0, 0], [0, 15, 0], [0, 0, 15]]}
SMALL = {"mass": 0.4, "com": [0.0, 0.0, 0.01]}
# For each family: payload, size of motions [m], axis of the second motion, footprint [m].
CASES: dict[str, tuple[dict[str, Any], float, str, float]] = {
    "hexapod": (LARGE, 0.1, "surge", 0.9),
    "3-rps": (LARGE, 0.1, "roll", 0.9),
    "servo-hexapod": (SMALL, 0.01, "pitch", 0.15),
    "delta": (SMALL, 0.03, "surge", 0.3),
    "linear-delta": (SMALL, 0.03, "sway", 0.3),
}


def requirements(family: str) -> list[tuple[str, dict[str, Any]]]:
    """Return six pairs of an objective and requirements."""
    payload, size, axis, footprint = CASES[family]
    turns = axis in ("roll", "pitch")
    second = {axis: 0.15 if turns else size, "frequency": 0.8}
    heave = {"heave": size, "frequency": 1.0}
    sides = {axis: [-0.1, 0.1] if turns else [-size, size], "heave": [-size, size]}
    together = {"heave": {"amplitude": size, "frequency": 1.0},
                axis: {"amplitude": second[axis], "frequency": 0.7, "phase": 1.0}}  # fmt: skip
    limits = {"footprint_radius": footprint, "condition_number": 20.0}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("peak_effort", {"motions": [heave], "limits": limits}),
        ("peak_effort", {"motions": [heave, second], "limits": limits}),
        ("speed", {"motions": [heave, second], "limits": limits | {"joint_angle": 0.7}}),
        ("peak_power", {"motions": [together], "limits": limits}),
        ("stroke", {"motions": [heave, second], "poses": [sides], "limits": limits}),
        (
            "continuous_effort",
            {"motions": [together], "limits": limits, "margins": {"force": 1.3, "stroke": 0.01}},
        ),
    ]
    return [(objective, {"payload": payload, **rest}) for objective, rest in asked]


def evolved(family: str, objective: str, required: rd.Requirements) -> tuple[float, int]:
    """Return the best value of differential evolution, and its evaluations."""
    kind = FAMILIES[family]
    lower, upper = np.array(list(kind.bounds.values())).T

    def penalized(x: FloatArray) -> float:
        values = lower + x * (upper - lower)
        parameters = dict(zip(kind.bounds, values.tolist(), strict=True))
        try:
            e = rd.evaluate(kind.mechanism(parameters, required), required, variants={})
        except rd.RobodynError:
            return 2.0 * WORST
        excess = e.excess
        if kind.telescopic:  # `design` has this constraint, too
            longest = float(e.needed.longest.max())
            excess += max(longest - 2.0 * float(e.needed.shortest.min()), 0.0) / longest
        value = e.quantities[objective] if excess <= 0.0 else np.inf
        return float(np.log(value)) if np.isfinite(value) else WORST * min(1.0 + excess, 1.9)

    size = int(2 ** np.ceil(np.log2(10 * len(lower))))  # as Sobol sequences need it
    rounds = max(1, TIMES * EVALUATIONS // size - 1)
    found = differential_evolution(
        penalized, [(0.0, 1.0)] * len(lower), popsize=10, maxiter=rounds, polish=False, rng=0,
        tol=0.0, init="sobol",
    )  # fmt: skip
    return float(np.exp(found.fun)) if found.fun < WORST else np.inf, int(found.nfev)


def main(families: list[str]) -> None:
    """Print a row for each family and requirement."""
    print("family         objective          design  evaluations  s  evolution  evaluations  ratio")
    for family in families or list(CASES):
        for objective, document in requirements(family):
            required = rd.load_requirements(document)
            start = time.process_time()
            design = rd.design(family, required, objective=objective, evaluations=EVALUATIONS)
            seconds = time.process_time() - start
            met = design.evaluation.satisfied
            own = design.evaluation.quantities[objective] if met else np.inf
            other, count = evolved(family, objective, required)
            print(f"{family:14} {objective:17} {own:8.5g} {design.examined:6} {seconds:8.1f} "
                  f"{other:9.5g} {count:7} {own / other:10.4f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
