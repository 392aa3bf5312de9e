# SPDX-License-Identifier: Apache-2.0

"""The quantities that a sweep computes for each state, each by one batch call of the library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robodyn.control.conditioning import weakest_directions

if TYPE_CHECKING:
    from collections.abc import Callable

    from robodyn.arrays import FloatArray
    from robodyn.mechanisms.mechanism import Mechanism
    from robodyn.sweeps.states import States


@dataclass(frozen=True)
class Settings:
    """What quantities depend on besides the state.

    Attributes:
        characteristic_length: [m] of condition numbers and singular values.
        accelerations: half-widths of the box of accelerations of `effort_extremes`.
        wrenches: (6,) [N, N m] half-widths of its box of wrenches.
        beyond_limits: whether states beyond the joints' limits are computed as well.
    """

    characteristic_length: float
    accelerations: tuple[float, ...]
    wrenches: tuple[float, ...]
    beyond_limits: bool


class Output(NamedTuple):
    """An array of results: name, dimensions beyond the sweep's own, unit, description."""

    name: str
    dims: tuple[str, ...]
    unit: str
    text: str


class Quantity(NamedTuple):
    """A quantity: the arrays it gives, and how they are computed for a batch of states."""

    outputs: Callable[[Mechanism], tuple[Output, ...]]
    compute: Callable[[Mechanism, States, Settings], tuple[FloatArray, ...]]


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


def _condition_number(m: Mechanism, s: States, given: Settings) -> tuple[FloatArray, ...]:
    return (m.condition_number(s.configuration, given.characteristic_length),)


def _singular_values(m: Mechanism, s: States, given: Settings) -> FloatArray:
    return m.singular_values(s.configuration, given.characteristic_length)


def _smallest(m: Mechanism, s: States, given: Settings) -> tuple[FloatArray, ...]:
    return (_singular_values(m, s, given)[:, -1],)


def _manipulability(m: Mechanism, s: States, given: Settings) -> tuple[FloatArray, ...]:
    return (_singular_values(m, s, given).prod(axis=-1),)


def _weakest(m: Mechanism, s: States, given: Settings) -> tuple[FloatArray, ...]:
    return (weakest_directions(m, s.configuration, given.characteristic_length),)


def _joint_positions(m: Mechanism, s: States, given: Settings) -> tuple[FloatArray, ...]:
    return (m.joint_positions(s.configuration),)


def _pose(m: Mechanism, s: States, given: Settings) -> tuple[FloatArray, ...]:
    return (m.body_pose(s.configuration),)


def _effort(m: Mechanism, s: States, given: Settings) -> tuple[FloatArray, ...]:
    return (m.inverse_dynamics(*s),)


def _effort_extremes(m: Mechanism, s: States, given: Settings) -> tuple[FloatArray, ...]:
    # Efforts are linear in accelerations and wrenches, so the extremes over a box are the value at
    # its centre plus or minus the sum of the changes along its sides. Friction, which changes with
    # the side to which a joint at rest is accelerated, counts as at the centre.
    middle = m.inverse_dynamics(*s)
    smooth = m.without_friction()
    centre = smooth.inverse_dynamics(*s)
    spread = np.zeros_like(middle)
    for field, widths in (("acceleration", given.accelerations), ("wrench", given.wrenches)):
        for i, width in enumerate(widths):
            if width:
                moved = getattr(s, field).copy()
                moved[:, i] += width
                efforts = smooth.inverse_dynamics(*s._replace(**{field: moved}))
                spread += np.abs(efforts - centre)
    return middle - spread, middle + spread


def _one(
    name: str, dims: tuple[str, ...], unit: str | Callable[[Mechanism], str], text: str
) -> Callable[[Mechanism], tuple[Output, ...]]:
    return lambda m: (Output(name, dims, unit if isinstance(unit, str) else unit(m), text),)


def _extremes(m: Mechanism) -> tuple[Output, ...]:
    over = "effort of a driven joint over the accelerations and wrenches of a box"
    return tuple(
        Output(f"effort_{end}", ("joint",), _effort_unit(m), f"{which} {over}")
        for end, which in (("min", "smallest"), ("max", "largest"))
    )


QUANTITIES = {
    "condition_number": Quantity(
        _one("condition_number", (), "1", "ratio of the Jacobian's extreme singular values"),
        _condition_number,
    ),
    "smallest_singular_value": Quantity(
        _one(
            "smallest_singular_value",
            (),
            lambda m: m.jacobian_unit,
            "smallest singular value of the Jacobian, lengths over the characteristic length",
        ),
        _smallest,
    ),
    "weakest_direction": Quantity(
        _one(
            "weakest_direction",
            ("direction",),
            "1",
            "unit vector of translation and rotation along which a platform gives way, an arm "
            "hardly moves",
        ),
        _weakest,
    ),
    "manipulability": Quantity(
        _one(
            "manipulability", (), "1", "product of the Jacobian's singular values, in units of SI"
        ),
        _manipulability,
    ),
    "joint_positions": Quantity(
        _one("joint_positions", ("joint",), position_unit, "leg lengths, or joint positions"),
        _joint_positions,
    ),
    "pose": Quantity(
        _one("pose", ("entry",), "m (x y z), 1 (qx qy qz qw)", "platform or tip in base frame"),
        _pose,
    ),
    "effort": Quantity(
        _one("effort", ("joint",), _effort_unit, "effort of a driven joint"), _effort
    ),
    "effort_extremes": Quantity(_extremes, _effort_extremes),
}
