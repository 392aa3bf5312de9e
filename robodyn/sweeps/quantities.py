# SPDX-License-Identifier: Apache-2.0

"""Quantities that a sweep can compute for each state."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robodyn.algorithms import conditioning, smallest_stiffness
from robodyn.arrays import FloatArray
from robodyn.control.conditioning import weakest_directions
from robodyn.mechanism.mechanism import Mechanism
from robodyn.presentation import presentation
from robodyn.sweeps.settings import SweepSettings
from robodyn.sweeps.states import States

LABELS = {
    "direction": ("x", "y", "z", "rx", "ry", "rz"),
    "entry": ("x", "y", "z", "qx", "qy", "qz", "qw"),
}


class Quantity(NamedTuple):
    """Definition of a quantity that a sweep computes for each state.

    Attributes:
        compute: function of a mechanism, N states and the settings that returns an array (N, ...),
            or k arrays (k, N, ...).
        unit: unit of the arrays, which may depend on the mechanism.
        dims: dimensions of the arrays besides those of the sweep.
        texts: description of each array, by its name.
    """

    compute: Callable[[Mechanism, States, SweepSettings], FloatArray]
    unit: str | Callable[[Mechanism], str]
    dims: tuple[str, ...]
    texts: dict[str, str]

    def unit_of(self, mechanism: Mechanism) -> str:
        """Return the unit of the quantity for a given mechanism."""
        return self.unit if isinstance(self.unit, str) else self.unit(mechanism)

    def labels(self, mechanism: Mechanism) -> dict[str, tuple[str, ...]]:
        """Return the coordinate labels of each dimension in `dims`, by dimension."""
        return {d: mechanism.joint_names if d == "joint" else LABELS[d] for d in self.dims}


def _of_joints(turning: str, sliding: str) -> Callable[[Mechanism], str]:
    """Return a function that selects a unit by the types of the driven joints."""

    def unit(mechanism: Mechanism) -> str:
        units = set(mechanism.drives.units)
        if len(units) > 1:
            return f"{turning} (revolute), {sliding} (prismatic)"
        return sliding if units == {"m"} else turning

    return unit


_EFFORT = _of_joints("N m", "N")


def _singular_values(m: Mechanism, s: States, given: SweepSettings) -> FloatArray:
    return conditioning.singular_values(m, s.configuration, given.characteristic_length)


def _effort_extremes(m: Mechanism, s: States, given: SweepSettings) -> FloatArray:
    # Efforts are linear in accelerations and wrenches, so the extremes over a box are the value at
    # its center plus or minus the sum of the changes along its sides. Friction, which changes with
    # the side to which a joint at rest is accelerated, counts as at the center.
    middle = m.inverse_dynamics(*s)
    smooth = m.without_friction()
    center = smooth.inverse_dynamics(*s)
    half_width = np.zeros_like(middle)
    for field, widths in (("acceleration", given.accelerations), ("wrench", given.wrenches)):
        for i, width in enumerate(np.asarray(widths)):
            if width:
                moved = getattr(s, field).copy()
                moved[:, i] += width
                efforts = smooth.inverse_dynamics(*s._replace(**{field: moved}))
                half_width += np.abs(efforts - center)
    return np.stack([middle - half_width, middle + half_width])


_OVER = "effort of a driven joint, over all accelerations and wrenches within given half-widths"
QUANTITIES = {
    "condition_number": Quantity(
        lambda m, s, given: m.condition_number(s.configuration, given.characteristic_length),
        "1",
        (),
        {"condition_number": "ratio of the largest to the smallest singular value of the Jacobian"},
    ),
    "smallest_singular_value": Quantity(
        lambda m, s, given: _singular_values(m, s, given)[:, -1],
        presentation.jacobian_unit,
        (),
        {
            "smallest_singular_value": "smallest singular value of the Jacobian, with lengths "
            "divided by the characteristic length"
        },
    ),
    "weakest_direction": Quantity(
        lambda m, s, given: weakest_directions(m, s.configuration, given.characteristic_length),
        "1",
        ("direction",),
        {
            "weakest_direction": "unit vector of translation and rotation in which a platform is "
            "constrained least, or in which an arm moves least"
        },
    ),
    "manipulability": Quantity(
        lambda m, s, given: _singular_values(m, s, given).prod(axis=-1),
        "1",
        (),
        {"manipulability": "product of the Jacobian's singular values, in SI units"},
    ),
    "joint_positions": Quantity(
        lambda m, s, _: m.joint_positions(s.configuration),
        _of_joints("rad", "m"),
        ("joint",),
        {"joint_positions": "leg lengths or positions of the driven joints"},
    ),
    "pose": Quantity(
        lambda m, s, _: m.body_pose(s.configuration),
        "m (x y z), 1 (qx qy qz qw)",
        ("entry",),
        {"pose": "pose of the platform or the tip, base frame"},
    ),
    "effort": Quantity(
        lambda m, s, _: m.inverse_dynamics(*s),
        _EFFORT,
        ("joint",),
        {"effort": "effort of a driven joint"},
    ),
    "effort_extremes": Quantity(
        _effort_extremes,
        _EFFORT,
        ("joint",),
        {"effort_min": f"smallest {_OVER}", "effort_max": f"largest {_OVER}"},
    ),
    "natural_frequency": Quantity(
        lambda m, s, _: m.modes(s.configuration, s.wrench).frequencies[:, 0],
        "Hz",
        (),
        {"natural_frequency": "lowest natural frequency, negative if unstable"},
    ),
    "smallest_stiffness": Quantity(
        lambda m, s, _: smallest_stiffness(m, s.configuration, s.wrench),
        "N/m",
        (),
        {"smallest_stiffness": "smallest translational stiffness of the body"},
    ),
}
