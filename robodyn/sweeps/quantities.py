# SPDX-License-Identifier: Apache-2.0

"""The quantities that a sweep computes for each state, each by one batch call of the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robodyn.arrays import FloatArray
from robodyn.control.conditioning import weakest_directions
from robodyn.mechanisms.mechanism import Mechanism
from robodyn.sweeps.settings import SweepSettings
from robodyn.sweeps.states import States


class Output(NamedTuple):
    """An array of results: name, dimensions beyond the sweep's own, unit, description."""

    name: str
    dims: tuple[str, ...]
    unit: str
    text: str


class Quantity(NamedTuple):
    """A quantity: the arrays it gives, and how they are computed for a batch of states."""

    outputs: Callable[[Mechanism], tuple[Output, ...]]
    compute: Callable[[Mechanism, States, SweepSettings], tuple[FloatArray, ...]]


def _one(
    name: str,
    compute: Callable[[Mechanism, States, SweepSettings], FloatArray],
    unit: str | Callable[[Mechanism], str],
    text: str,
    *dims: str,
) -> dict[str, Quantity]:
    """A quantity of one array of its name."""

    def outputs(m: Mechanism) -> tuple[Output, ...]:
        return (Output(name, dims, unit if isinstance(unit, str) else unit(m), text),)

    return {name: Quantity(outputs, lambda m, s, given: (compute(m, s, given),))}


LABELS = {
    "direction": ("x", "y", "z", "rx", "ry", "rz"),
    "entry": ("x", "y", "z", "qx", "qy", "qz", "qw"),
}


def position_unit(mechanism: Mechanism) -> str:
    """Of the driven joints."""
    return _of_joints(mechanism, "rad", "m")


def _effort_unit(mechanism: Mechanism) -> str:
    return _of_joints(mechanism, "N m", "N")


def _of_joints(mechanism: Mechanism, turning: str, sliding: str) -> str:
    units = set(mechanism.joint_units)
    if len(units) > 1:
        return f"{turning} (revolute), {sliding} (prismatic)"
    return sliding if units == {"m"} else turning


def _singular_values(m: Mechanism, s: States, given: SweepSettings) -> FloatArray:
    return m.singular_values(s.configuration, given.characteristic_length)


def _effort_extremes(m: Mechanism, s: States, given: SweepSettings) -> tuple[FloatArray, ...]:
    # Efforts are linear in accelerations and wrenches, so the extremes over a box are the value at
    # its centre plus or minus the sum of the changes along its sides. Friction, which changes with
    # the side to which a joint at rest is accelerated, counts as at the centre.
    middle = m.inverse_dynamics(*s)
    smooth = m.without_friction()
    centre = smooth.inverse_dynamics(*s)
    half_width = np.zeros_like(middle)
    for field, widths in (("acceleration", given.accelerations), ("wrench", given.wrenches)):
        for i, width in enumerate(np.asarray(widths)):
            if width:
                moved = getattr(s, field).copy()
                moved[:, i] += width
                efforts = smooth.inverse_dynamics(*s._replace(**{field: moved}))
                half_width += np.abs(efforts - centre)
    return middle - half_width, middle + half_width


def _extremes(m: Mechanism) -> tuple[Output, ...]:
    over = "effort of a driven joint over the accelerations and wrenches of a box"
    return tuple(
        Output(f"effort_{end}", ("joint",), _effort_unit(m), f"{which} {over}")
        for end, which in (("min", "smallest"), ("max", "largest"))
    )


QUANTITIES = {
    **_one(
        "condition_number",
        lambda m, s, given: m.condition_number(s.configuration, given.characteristic_length),
        "1",
        "ratio of the Jacobian's extreme singular values",
    ),
    **_one(
        "smallest_singular_value",
        lambda m, s, given: _singular_values(m, s, given)[:, -1],
        lambda m: m.jacobian_unit,
        "smallest singular value of the Jacobian, lengths over the characteristic length",
    ),
    **_one(
        "weakest_direction",
        lambda m, s, given: weakest_directions(m, s.configuration, given.characteristic_length),
        "1",
        "unit vector of translation and rotation along which a platform gives way, an arm "
        "hardly moves",
        "direction",
    ),
    **_one(
        "manipulability",
        lambda m, s, given: _singular_values(m, s, given).prod(axis=-1),
        "1",
        "product of the Jacobian's singular values, in units of SI",
    ),
    **_one(
        "joint_positions",
        lambda m, s, _: m.joint_positions(s.configuration),
        position_unit,
        "leg lengths, or joint positions",
        "joint",
    ),
    **_one(
        "pose",
        lambda m, s, _: m.body_pose(s.configuration),
        "m (x y z), 1 (qx qy qz qw)",
        "platform or tip in base frame",
        "entry",
    ),
    **_one(
        "effort",
        lambda m, s, _: m.inverse_dynamics(*s),
        _effort_unit,
        "effort of a driven joint",
        "joint",
    ),
    "effort_extremes": Quantity(_extremes, _effort_extremes),
}
