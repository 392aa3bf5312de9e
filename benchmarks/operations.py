# SPDX-License-Identifier: Apache-2.0

"""The operation counts of Turney, Mudge and Lee (1980), tables 1 to 4, and those of our kernels.

Their rules: rotation matrices, r_i, r_i + rbar_i and the axes are given; all joints are revolute,
the inertias are about principal axes and there is no load at the tip; projecting the moment on the
axis (eq. 3.21) is not counted. The rows have the names of theirs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks.operation_counting import Tally, count_operations
from robodyn.dynamics.kernels.base_motion import base_at_rest
from robodyn.dynamics.kernels.state import State
from robodyn.poses import axis_motion
from robodyn.solvers.serial.kernels import lagrange as serial_lagrange
from robodyn.solvers.serial.kernels import newton_euler as serial_newton_euler
from robodyn.solvers.serial.kernels.layout import (
    COM,
    INERTIA,
    LEVER,
    LINK_SIZE,
    MASS,
    REACH,
    ROTATION,
    SHIFT,
    SPREAD,
    WORK_SIZE,
)
from robodyn.solvers.serial.packing import pack_pseudo_inertias

GIVEN = "given"
PROJECTION = "tau_i"

_SHARED = {
    "angular_velocity": "omega_i",
    "angular_acceleration": "alpha_i",
    "rotation_operator": "A_i",
    "origin_acceleration": "a_i",
    "turned_force": "f_i",
    "add_force": "f_i",
    "lever_moment": "m (r_i + rbar_i) x abar_i",
    "passed_moment": "r_i x R f",
    "turned_moment": "R n",
    "add_moment": "add n",
    "along_axis": PROJECTION,
    **dict.fromkeys(
        ("link_rotation", "link_reach", "link_lever", "base_motion", "add_motor"),
        GIVEN,
    ),
}
NEWTON_EULER_ROWS = {
    **_SHARED,
    "carried_acceleration": "a_i",
    "com_acceleration": "abar_i",
    "inertial_force": "f_i",
    "angular_inertia": "I alpha",
    "gyroscopic_moment": "omega x I omega",
}
MODIFIED_ROWS = {
    **_SHARED,
    "carried_acceleration": "a_i",
    "levered_force": "m abar_i",
    "spread_moment": "Tr(A K sigma')",
}
LAGRANGE_ROWS = {
    "transforms": "T_j^i",
    "first_derivative": "dT/dj",
    "second_derivative": "d2T/djdk",
    "bracket": "bracket J",
    "times_pseudo_inertia": "bracket J",
    "trace_of_product": "trace",
    "add_torque": "trace",
    "gravity_moment": "gravity",
    "subtract_weight": "gravity",
    "neighbor": GIVEN,
    "add_motor": GIVEN,
    "apply_transposed": GIVEN,
}


class Formula(NamedTuple):
    """A count as printed: a n^3 + b n^2 + c n + d."""

    a: float
    b: float
    c: float
    d: float

    def __call__(self, n: int) -> int:
        """The count for n joints."""
        return round(((self.a * n + self.b) * n + self.c) * n + self.d)


def _linear(slope: float, constant: float = 0.0) -> Formula:
    return Formula(0.0, 0.0, slope, constant)


# Row -> multiplications, additions; the report's table 3.
NEWTON_EULER_REPORT = {
    "omega_i": (_linear(9), _linear(7)),
    "alpha_i": (_linear(9), _linear(9)),
    "A_i": (_linear(6), _linear(9)),
    "a_i": (_linear(18), _linear(15)),
    "abar_i": (_linear(9), _linear(9)),
    "f_i": (_linear(12, -12), _linear(9, -9)),
    "I alpha": (_linear(9), _linear(6)),
    "omega x I omega": (_linear(15), _linear(9)),
    "m (r_i + rbar_i) x abar_i": (_linear(6), _linear(3)),
    "r_i x R f": (_linear(6), _linear(3)),
    "R n": (_linear(9), _linear(6)),
    "add n": (_linear(0), _linear(15)),
}
# Table 4.
MODIFIED_REPORT = {
    "omega_i": (_linear(9), _linear(7)),
    "alpha_i": (_linear(9), _linear(9)),
    "A_i": (_linear(6), _linear(9)),
    "a_i": (_linear(18, -18), _linear(15, -15)),
    "m abar_i": (_linear(12), _linear(9)),
    "f_i": (_linear(9, -9), _linear(9, -9)),
    "Tr(A K sigma')": (_linear(6), _linear(3)),
    "m (r_i + rbar_i) x abar_i": (_linear(6), _linear(3)),
    "r_i x R f": (_linear(6), _linear(3)),
    "R n": (_linear(9), _linear(6)),
    "add n": (_linear(0), _linear(15)),
}
# Table 2.
LAGRANGE_REPORT = {
    "T_j^i": (Formula(0, 32, -32, 0), Formula(0, 24, -24, 0)),
    "dT/dj": (Formula(0, 32, -32, 0), Formula(0, 24, -24, 0)),
    "d2T/djdk": (Formula(32 / 3, 0, -32 / 3, 0), Formula(8, 0, -8, 0)),
    "bracket J": (Formula(17 / 6, 17 / 2, 209 / 3, 0), Formula(16 / 3, 0, 80 / 3, 0)),
    "trace": (Formula(0, 8, 8, 0), Formula(0, 8, 7, 0)),
    "gravity": (Formula(0, 2, 2, 0), Formula(0, 2, 1, 0)),
}
# Table 1.
REPORT_TOTAL = {
    "newton_euler": (_linear(108, -12), _linear(100, -9)),
    "modified_newton_euler": (_linear(90, -27), _linear(88, -24)),
    "lagrange": (Formula(81 / 6, 165 / 2, 5, 0), Formula(40 / 3, 58, -64 / 3, 0)),
}
REPORT_ROWS = {
    "newton_euler": NEWTON_EULER_REPORT,
    "modified_newton_euler": MODIFIED_REPORT,
    "lagrange": LAGRANGE_REPORT,
}


def count_arm(method: str, n: int) -> Tally:
    """Operations of one inverse dynamics of an arm of n revolute joints, by the report's rules."""
    chain = _report_arm(n)
    gravity = np.array([0.0, 0.0, -9.81])
    state = [np.linspace(start, start + 1.0, n) for start in (0.3, 0.5, 0.7)]
    wrench, tau = np.zeros(6), np.zeros(n)
    if method == "lagrange":
        scratch = (np.zeros((n + 1, n + 1, 4, 4)), np.zeros((n + 1, n, 4, 4)), np.zeros((4, 4, 4)))
        pseudo = pack_pseudo_inertias(chain)
        arguments: tuple[Any, ...] = (
            chain, pseudo, gravity, *state, wrench, False, *scratch, tau,
        )  # fmt: skip
        return count_operations(serial_lagrange.lagrange, *arguments, rows=LAGRANGE_ROWS)[0]
    rows = NEWTON_EULER_ROWS if method == "newton_euler" else MODIFIED_ROWS
    kernel: Any = getattr(serial_newton_euler, method)
    whole = State(*state, wrench, False, wrench, False)
    arguments = (chain, base_at_rest(gravity), whole, np.zeros((n, WORK_SIZE)), tau)
    return count_operations(kernel, *arguments, rows=rows)[0]


def _report_arm(n: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """An arm as the report assumes: standard frames, revolute joints, principal axes."""
    chain = np.zeros((n + 1, LINK_SIZE))
    chain[0, ROTATION : ROTATION + 9] = np.eye(3).ravel()
    for row in chain[1:]:
        rotation = axis_motion("revolute", np.array([1.0, 0.0, 0.0]), 0.7)[:3, :3]
        shift, com = np.array([0.4, 0.0, 0.1]), np.array([-0.2, 0.02, 0.03])
        row[ROTATION : ROTATION + 9] = rotation.ravel()
        row[SHIFT : SHIFT + 3] = shift
        row[REACH : REACH + 3] = rotation.T @ shift
        row[COM : COM + 3] = com
        row[LEVER : LEVER + 3] = rotation.T @ shift + com
        row[MASS] = 2.0
        row[INERTIA : INERTIA + 6] = 0.02, 0.0, 0.0, 0.03, 0.0, 0.04
        row[SPREAD : SPREAD + 6] = 0.025, 0.0, 0.0, 0.015, 0.0, 0.005
    return chain
