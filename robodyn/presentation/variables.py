# SPDX-License-Identifier: Apache-2.0

"""Variables of a mechanism that a person sets by hand or varies in a sweep."""

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
    """Variable of a mechanism's state, load or model, to set by hand or to sweep.

    Attributes:
        role: quantity of the state to which it belongs, or the model.
        index: index in the array of this quantity.
        unit: SI unit.
        text: description.
        at_least: smallest value it can have.
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
        names: (n,) of the joints.
        units: (n,) `rad` or `m` of their positions.

    Returns:
        Variable by name; names are changed so that file formats accept them.
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
