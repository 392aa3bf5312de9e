# SPDX-License-Identifier: Apache-2.0

"""Decomposition of efforts for a motion: inertia, gravity, friction, other terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.errors import InvalidInput, KinematicsError
from robodyn.presentation.nouns import nouns_of


class EffortTerms(NamedTuple):
    """Efforts for a motion, split into terms such as inertia, gravity and friction.

    Attributes:
        total: (N, n) [N or N m]; NaN if no efforts exist.
        terms: (N, n) each, by name, such as `massless` and `dynamic`, or `inertial`, `coriolis`,
            `gravity`, `friction`, `springs`.
        reactions: named tuple of arrays (N, k, 3) in the mechanism's joints; None if the kind of
            mechanism does not compute them.
    """

    total: FloatArray
    terms: Mapping[str, FloatArray]
    reactions: Any = None


def nan_where_singular(
    function: Callable[..., FloatArray], states: Sequence[FloatArray], core: tuple[int, ...]
) -> FloatArray:
    """Evaluate a function at N states; return results with NaN at singular states.

    Args:
        function: function of arrays whose first axis is the batch; raises KinematicsError at a
            singular state.
        states: arrays (N, ...), arguments of the function.
        core: shape of one result.

    Returns:
        Results (N, *core).
    """
    try:
        return function(*states)
    except KinematicsError:
        rows = np.full((len(states[0]), *core), np.nan)
    for row, state in zip(rows, zip(*states, strict=True), strict=True):
        try:
            row[...] = function(*state)
        except KinematicsError:
            continue
    return rows


@singledispatch
def formulations(mechanism: Any) -> tuple[str, ...]:
    """Return the names of inverse-dynamics formulations; the first is `exact`.

    If `massless` is one of them, `inverse_dynamics` has the keyword `formulation`.
    """
    return ("exact",)


@singledispatch
def effort_terms(
    mechanism: Any,
    configuration: FloatArray,
    velocity: FloatArray,
    acceleration: FloatArray,
    wrench: FloatArray | None = None,
    formulation: str = "exact",
) -> EffortTerms:
    """Split the efforts (N, n) of a motion into terms; NaN where no efforts exist.

    The terms are inertia, velocity (`coriolis`, centrifugal terms included), gravity, friction,
    springs and, if given, a wrench.

    Args:
        mechanism: mechanism of any kind.
        configuration: (N, nq).
        velocity, acceleration: (N, nv).
        wrench: (N, 6) [N, N m] external wrench on the body, base frame; no wrench by default.
        formulation: one of `formulations(mechanism)`.

    Returns:
        The total efforts, their terms by name, and reactions in the joints if the kind has them.

    Raises:
        InvalidInput: an unknown formulation.
    """
    if formulation not in formulations(mechanism):
        noun = nouns_of(mechanism).mechanism
        raise InvalidInput(
            f"formulation is {formulation!r}, but {'an' if noun[0] in 'aeiou' else 'a'} {noun} has "
            f"only {', '.join(formulations(mechanism))}",
            value=formulation,
        )
    q, v, change = (np.atleast_2d(part) for part in (configuration, velocity, acceleration))
    rest, core = np.zeros_like(v), (len(mechanism.joint_names),)
    smooth = mechanism._frictionless.inverse_dynamics
    held = nan_where_singular(smooth, (q, rest, rest), core)
    weight = mechanism._springless._frictionless.inverse_dynamics
    gravity = nan_where_singular(weight, (q, rest, rest), core)
    frictionless = nan_where_singular(smooth, (q, v, rest), core)
    inertial = nan_where_singular(smooth, (q, v, change), core) - frictionless
    unloaded = nan_where_singular(mechanism.inverse_dynamics, (q, v, change), core)
    terms = {
        "inertial": inertial,
        "coriolis": frictionless - held,
        "gravity": gravity,
        "friction": unloaded - frictionless - inertial,
    }
    if mechanism._springless is not mechanism:
        terms["springs"] = held - gravity
    if wrench is None:
        return EffortTerms(unloaded, terms)
    load = np.broadcast_to(wrench, (*v.shape[:-1], 6))
    total = nan_where_singular(mechanism.inverse_dynamics, (q, v, change, load), core)
    return EffortTerms(total, terms | {"wrench": total - unloaded})
