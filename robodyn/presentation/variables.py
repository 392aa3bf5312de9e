# SPDX-License-Identifier: Apache-2.0

"""Variables of a mechanism that a user sets by hand or varies in a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Role = Literal["position", "velocity", "acceleration", "wrench", "model"]

AXES = ("x", "y", "z")
# Names of a sweep's results; a joint with one of these names becomes `<name>_position`.
RESERVED = ("joint", "direction", "entry", "sample", "reachable", "payload")


@dataclass(frozen=True)
class Variable:
    """Variable of a mechanism's state, load or model that a user can set or sweep.

    Attributes:
        role: what it describes: `position`, `velocity`, `acceleration`, `wrench` or `model`.
        index: index of its value in the array of this quantity.
        unit: SI unit.
        text: description.
        at_least: smallest permitted value.
        neutral: value at which it has no effect; meaningless for positions.
    """

    role: Role
    index: int
    unit: str
    text: str
    at_least: float = -np.inf
    neutral: float = 0.0


def joint_variables(names: Sequence[str], units: Sequence[str]) -> dict[str, Variable]:
    """Create the variables for position, rate and acceleration of joints.

    Args:
        names: names of the n joints.
        units: units of their positions, `rad` or `m`.

    Returns:
        The variables by name. Names of joints are changed so that file formats accept them.
    """
    known = {}
    for i, (joint, unit) in enumerate(zip(names, units, strict=True)):
        name = joint.replace("/", "_")
        label = f"{name}_position" if name in RESERVED else name
        known[label] = Variable("position", i, unit, f"position of {joint}")
        known[f"{name}_rate"] = Variable("velocity", i, f"{unit}/s", f"rate of {joint}")
        text = f"acceleration of {joint}"
        known[f"{name}_accel"] = Variable("acceleration", i, f"{unit}/s^2", text)
    return known
