# SPDX-License-Identifier: Apache-2.0

"""Selection of the legs' assemblies nearest to a guess.

If floating bodies are fixed, the legs close independently, so each is searched separately: six
legs with two assemblies each need twelve attempts, not sixty-four.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.solvers.tree.closing.equations import ACCEPTED, Equations

ATTEMPTS = 12
# Largest number of coordinates of a leg whose configurations are searched.
LARGEST = 8
SEED = 15


def nearest_legs(
    equations: Equations, q: FloatArray, guess: FloatArray, held: Sequence[int]
) -> FloatArray:
    """Find the closed configuration with each leg as near as possible to a guess.

    Args:
        equations: closure equations.
        q: (positions,) closed configuration.
        guess: (positions,) guess; joint limits are respected if possible.
        held: rate indices of constant coordinates, usually those of floating bodies; if these are
            constant, each leg closes on its own.

    Returns:
        The configuration.
    """
    rng = np.random.default_rng(SEED)
    for leg in _legs(equations, q, held):
        if len(leg) > LARGEST:
            continue
        others = np.setdiff1d(np.arange(equations.tree.rates), leg)
        best, least = q, _distance(equations, q, guess, leg)
        turns = rng.uniform(-np.pi, np.pi, (ATTEMPTS - 1, len(leg)))
        for turn in (np.zeros(len(leg)), *turns) if least else ():
            start = np.array(q)
            for rate in leg:
                place = equations.tree.rate_places[rate]
                start[place] = guess[place]
            step = np.zeros(equations.tree.rates)
            step[leg] = turn
            found = equations.close(equations.stepped(start, step), others.tolist())
            if found.left > ACCEPTED:
                continue
            turned = _unwound(equations, found.q, guess, leg)
            distance = _distance(equations, turned, guess, leg)
            if distance < least * (1.0 - 1e-6):
                best, least = turned, distance
        q = best
    return q


def _legs(equations: Equations, q: FloatArray, held: Sequence[int]) -> list[list[int]]:
    """Group rates into legs whose closure equations are independent of each other.

    Return the rate indices of each leg. Coordinates in `held` and groups that contain a floating
    joint are left out.
    """
    tree = equations.tree
    _, K = equations.at(equations.stepped(q, np.full(tree.rates, 0.1)))
    fixed = set(held)
    groups: list[set[int]] = []
    for row in np.abs(K) > 1e-12:
        joined = {int(rate) for rate in np.flatnonzero(row)} - fixed
        if not joined:
            continue
        separate = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                separate.append(group)
        groups = [*separate, joined]
    single = {body.rate for body in tree.bodies[1:] if body.width == 1}
    return [sorted(group) for group in groups if group <= single]


def _unwound(
    equations: Equations, q: FloatArray, guess: FloatArray, leg: Sequence[int]
) -> FloatArray:
    """Shift joint angles of a leg by whole turns to the values nearest a guess.

    Return the shifted configuration.
    """
    out = q.copy()
    for body in equations.tree.bodies[1:]:
        turns = body.joint is not None and body.joint.kind in ("revolute", "continuous")
        if turns and body.rate in leg and body.own == body.position:
            off = out[body.own] - guess[body.own]
            out[body.own] -= 2.0 * np.pi * np.round(off / (2.0 * np.pi))
    return np.asarray(out)


def _distance(equations: Equations, q: FloatArray, guess: FloatArray, leg: Sequence[int]) -> float:
    """Return a leg's squared joint-space distance from a guess, plus a penalty.

    The distance is in scaled coordinates. The penalty is added for each joint beyond its limits.
    """
    total = 0.0
    for body in equations.tree.bodies[1:]:
        if body.rate in leg and body.joint is not None and body.width == 1:
            scale = equations.columns[body.rate]
            total += ((q[body.own] - guess[body.own]) / scale) ** 2
            lower, upper = body.joint.position
            over = max(lower - q[body.own], q[body.own] - upper, 0.0)
            total += 100.0 * (over > 1e-9)
    return total
